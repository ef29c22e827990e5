from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.submission.commitment import (
    COMMITTED,
    canonical_form,
    check_salt,
    digest,
    file_digest,
    keep_salt,
    read_salt,
    salt_for,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "submission"
SALT = "0123456789abcdef" * 4
DTYPES = [pl.String, pl.String, pl.String, pl.Boolean, pl.Int64, pl.Int64, pl.Int64, pl.String]


def load(vector: str) -> tuple[dict, pl.DataFrame]:
    document = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
    found = next(v for v in document["vectors"] if v["name"] == vector)
    schema = dict(zip(document["fields"], DTYPES, strict=True))
    return found, pl.DataFrame(found["records"], schema=schema, orient="row")


NAMES = [v["name"] for v in json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))["vectors"]]


def form_by_hand(records: pl.DataFrame) -> str:
    """The documented form in plain Python."""

    def written(value):
        if value is None:
            return "\\N"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")

    def key(row):
        return [(v is not None, v.encode() if isinstance(v, str) else v or 0) for v in row]

    rows = sorted(records.select(COMMITTED).rows(), key=key)
    lines = [
        "skillshift per-task form 1",
        "\t".join(COMMITTED),
        *("\t".join(map(written, row)) for row in rows),
    ]
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_vectors(name):
    vector, records = load(name)
    assert canonical_form(records).decode() == vector["form"] == form_by_hand(records)
    by_hand = hashlib.sha256(f"{vector['salt']}\n{vector['form']}".encode()).hexdigest()
    assert digest(vector["form"].encode(), vector["salt"]) == vector["digest"] == f"sha256:{by_hand}"


def test_a_whole_run_is_written_as_by_hand_and_quickly(made):
    canonical_form(made.log)
    started = time.perf_counter()
    form = canonical_form(made.log)
    assert time.perf_counter() - started < 0.5
    assert form.decode() == form_by_hand(made.log)
    assert form.count(b"\n") == 2130 + 2


def test_the_digest_can_be_recomputed_with_sha256sum(made, tmp_path):
    keep_salt(tmp_path / "my.salt", SALT)
    form = canonical_form(made.log)
    (tmp_path / "form.txt").write_bytes(form)
    command = "cat my.salt form.txt | sha256sum"
    told = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S602
    assert digest(form, read_salt(tmp_path / "my.salt")) == f"sha256:{told.stdout.split()[0]}"


def test_order_and_other_columns_change_nothing(made):
    other = made.log.select(reversed(made.log.columns)).sample(fraction=1, shuffle=True, seed=1)
    assert canonical_form(other.with_columns(extra=pl.lit(1))) == canonical_form(made.log)
    assert canonical_form(made.log.lazy()) == canonical_form(made.log)


def test_a_log_without_an_error_column_has_no_errors(made):
    assert made.log["error"].null_count() == made.log.height
    assert canonical_form(made.log.drop("error")) == canonical_form(made.log)


def test_types_that_mean_the_same_give_the_same_form(made):
    other = made.log.with_columns(
        pl.col("site", "condition").cast(pl.Categorical), pl.col("steps").cast(pl.Int16)
    )
    assert canonical_form(other) == canonical_form(made.log)


def test_what_is_no_log_is_refused(made):
    with pytest.raises(ContractError, match="steps"):
        canonical_form(made.log.drop("steps"))


CHANGES = {
    "condition": pl.lit("tgt-perc"),
    "site": pl.lit("elsewhere"),
    "uid": pl.col("uid") + " ",
    "success": ~pl.col("success"),
    "steps": pl.col("steps") + 1,
    "skill_calls": pl.col("skill_calls") + 1,
    "skill_failures": pl.lit(None, dtype=pl.Int64),
    "error": pl.lit(""),
}


@pytest.mark.parametrize("field", COMMITTED)
@pytest.mark.parametrize("row", [0, 1_000, 2_129])
def test_changing_any_listed_field_of_any_record_changes_the_digest(made, field, row):
    here = pl.int_range(pl.len()) == row
    changed = made.log.with_columns(pl.when(here).then(CHANGES[field]).otherwise(pl.col(field)).alias(field))
    assert not changed.equals(made.log)
    assert digest(canonical_form(changed), SALT) != digest(canonical_form(made.log), SALT)


def test_no_two_logs_share_a_form():
    """Separators within text cannot imitate separators between fields."""
    template = {
        "site": "s",
        "condition": "c",
        "success": None,
        "steps": None,
        "skill_calls": None,
        "skill_failures": None,
    }
    texts = ["a", "a\tb", "a\\tb", "a\\\tb", "a\nb", "\\N", "N", "", "\\", "\\\\", "a\rb"]
    frames = [pl.DataFrame([{"uid": u, "error": e, **template}]) for u in texts for e in [*texts, None]]
    assert len({canonical_form(frame) for frame in frames}) == len(frames)


def test_another_salt_gives_another_digest():
    assert digest(b"x", SALT) != digest(b"x", SALT[::-1])


@pytest.mark.parametrize(
    "salt", ["", "abc", SALT.upper(), SALT + "0", SALT[:-1] + "g", SALT + "\n", "\u0660" * 64]
)
def test_what_is_no_salt_is_refused_without_repeating_it(salt):
    with pytest.raises(InputError, match="64 hexadecimal digits") as error:
        check_salt(salt)
    assert len(salt) < 4 or salt not in str(error.value)
    with pytest.raises(InputError):
        digest(b"x", salt)


def test_a_file_is_digested_as_its_bytes(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 3_000_000)
    assert file_digest(path, SALT) == digest(path.read_bytes(), SALT)
    with pytest.raises(InputError, match="cannot be read"):
        file_digest(tmp_path / "absent", SALT)


def test_the_salt_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "my.salt"
    old = os.umask(0)
    try:
        salt = salt_for(path, tmp_path / "out")
        assert not path.exists()
        keep_salt(path, salt)
        keep_salt(path, salt)
    finally:
        os.umask(old)
    assert re.fullmatch("[0-9a-f]{64}", salt)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert salt_for(path, tmp_path / "out") == read_salt(path) == salt
    other = salt_for(tmp_path / "other.salt", tmp_path / "out")
    assert other != salt
    with pytest.raises(InputError, match="made in the meantime"):
        keep_salt(path, other)
    assert read_salt(path) == salt


@pytest.mark.parametrize("inside", ["out/my.salt", "out/deep/my.salt", "out/../out/my.salt", "out"])
def test_the_salt_is_never_kept_in_what_is_published(tmp_path, inside):
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="must stay with you"):
        salt_for(tmp_path / inside, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_nor_through_a_link(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").symlink_to(tmp_path / "out")
    with pytest.raises(UsageError, match="must stay with you"):
        salt_for(tmp_path / "elsewhere" / "my.salt", tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"", b"secret\n", SALT.encode() * 2, b"\xff" * 64, SALT.encode() + b"\nmore"]
)
def test_a_file_that_holds_something_else_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "my.salt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"my\.salt: the salt: found"):
        salt_for(path, tmp_path / "out")
    assert path.read_bytes() == content


def test_a_salt_that_cannot_be_kept_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="the salt cannot be written"):
        keep_salt(tmp_path / "absent" / "my.salt", SALT)
    with pytest.raises(InputError, match="the salt cannot be read"):
        read_salt(tmp_path / "my.salt")


def test_a_salt_with_a_windows_line_end_is_read(tmp_path):
    (tmp_path / "my.salt").write_bytes(SALT.encode() + b"\r\n")
    assert read_salt(tmp_path / "my.salt") == SALT
