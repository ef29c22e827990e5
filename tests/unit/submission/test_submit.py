from __future__ import annotations

import json

import polars as pl
import pytest

from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.submission.receipt import read_receipt
from skillshift.submission.submit import submit, verify

ABOUT = {"name": "Mine", "model": "gpt-5-mini", "date": "2026-09-01"}


@pytest.fixture
def home(made, tmp_path):
    """A folder with the run's log in two files."""
    logs = tmp_path / "logs"
    (logs / "a").mkdir(parents=True)
    log = made.log.drop("error")
    log.head(1000).write_ndjson(logs / "a" / "per_task.jsonl")
    log.tail(1130).write_ndjson(logs / "per_task.jsonl")
    return tmp_path


def go(home, logs="logs", **options):
    return submit(str(home / logs), home / "out", salt_file=home / "my.salt", **(ABOUT | options))


def test_two_files_are_written_and_nothing_else(made, home):
    done = go(home)
    assert sorted(path.name for path in (home / "out").iterdir()) == ["results.json", "run_receipt.json"]
    assert (home / "out" / "results.json").read_bytes() == made.results.to_bytes() == done.results.to_bytes()
    receipt = read_receipt(home / "out" / "run_receipt.json")
    assert [log.name for log in receipt.logs] == ["a/per_task.jsonl", "per_task.jsonl"]
    assert all(not verdict.errors for verdict in done.verdicts)


def test_the_split_into_files_does_not_change_the_commitment(made, home):
    first = go(home).receipt.per_task_commitment
    made.log.drop("error").sample(fraction=1, shuffle=True, seed=2).write_ndjson(home / "whole.jsonl")
    assert go(home, "whole.jsonl").receipt.per_task_commitment == first


def broken_log(made, home, change):
    path = home / "broken.jsonl"
    change(made.log).write_ndjson(path)
    return path.name


INVALID = {
    "a task missing": lambda log: log.drop("error").head(2129),
    "a task errored": lambda log: log.with_columns(
        error=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit("crash"))
    ),
    "a task twice": lambda log: pl.concat([log, log.head(1)]).drop("error"),
    "failures above calls": lambda log: log.drop("error").with_columns(
        skill_failures=pl.col("skill_calls") + 1
    ),
    "an unknown site": lambda log: log.drop("error").with_columns(site=pl.lit("reddit")),
    "no steps": lambda log: log.drop("error", "steps"),
    "two runs": lambda log: log.drop("error").with_columns(
        method=pl.lit("a") + (pl.int_range(pl.len()) % 2).cast(pl.String)
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_or_incomplete_run_is_refused_before_a_file_is_written(made, home, case):
    name = broken_log(made, home, INVALID[case])
    before = sorted(home.iterdir())
    with pytest.raises(InputError):
        go(home, name)
    assert sorted(home.iterdir()) == before


@pytest.mark.parametrize(
    "about",
    [
        {"name": "a/b"},
        {"date": "2026-13-01"},
        {"code_url": "x"},
        {"model": " "},
        {"notes": "\udcff"},
        {"contact": "a\udcff"},
        {"description": "\udcff"},
        {"repro_command": "\udcff"},
        {"code_url": "https://a/\udcff"},
    ],
)
def test_a_wrong_field_is_refused_before_a_file_is_written(home, about):
    before = sorted(home.iterdir())
    with pytest.raises(InputError, match="the submission: 1 problem"):
        go(home, **about)
    assert sorted(home.iterdir()) == before


@pytest.mark.parametrize("field", ["name", "model", "method"])
def test_half_a_character_is_refused_wherever_a_name_holds_it(home, field):
    with pytest.raises(InputError, match=rf"{field}.*lone surrogate"):
        go(home, **{field: "a\udcff"})


@pytest.mark.parametrize("digests", [{"x": "bad"}, {"x\udcff": None}, [1]])
def test_a_wrong_digest_is_refused_and_no_salt_is_left(home, digests):
    before = sorted(home.iterdir())
    with pytest.raises(InputError, match="the receipt: 1 problem"):
        go(home, env_digests=digests)
    assert sorted(home.iterdir()) == before


def test_no_submission_without_its_salt(home):
    with pytest.raises(InputError, match="the salt cannot be written"):
        submit(str(home / "logs"), home / "out", salt_file=home / "absent" / "my.salt", **ABOUT)
    assert not (home / "out").exists()


def test_a_failed_submission_leaves_an_earlier_one_as_it_was(made, home):
    go(home)
    earlier = {path.name: path.read_bytes() for path in (home / "out").iterdir()}
    with pytest.raises(InputError):
        go(home, broken_log(made, home, INVALID["a task missing"]))
    assert {path.name: path.read_bytes() for path in (home / "out").iterdir()} == earlier


def test_a_salt_in_the_published_folder_is_refused(home):
    with pytest.raises(UsageError, match="must stay with you"):
        submit(str(home / "logs"), home / "out", salt_file=home / "out" / "my.salt", **ABOUT)
    assert not (home / "out").exists()


@pytest.mark.parametrize("out", ["logs", "."])
def test_a_log_in_the_published_folder_is_refused(home, out):
    before = sorted(home.rglob("*"))
    with pytest.raises(UsageError, match="what you publish"):
        submit(str(home / "logs"), home / out, salt_file=home.parent / "my.salt", **ABOUT)
    assert sorted(home.rglob("*")) == before


def test_a_frame_has_no_files_to_digest(made, home):
    done = submit(made.log.lazy(), home / "out", salt_file=home / "my.salt", **ABOUT)
    assert done.receipt.logs == []


def test_verify_settles_a_dispute(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    assert [v.status for v in verify(done.receipt, str(home / "logs"), salt=salt)] == ["passed", "passed"]
    assert [v.status for v in verify(done.receipt, made.log.lazy(), salt=salt)] == ["passed", "passed"]


def test_verify_tells_a_changed_judgement_by_digest_and_numbers(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    flipped = made.log.with_columns(success=pl.col("success") ^ (pl.int_range(pl.len()) == 3))
    commitment, aggregate = verify(done.receipt, flipped.lazy(), salt=salt)
    assert [f.code for f in commitment.findings] == ["commitment.digest"]
    assert {f.path for f in aggregate.findings} >= {"metrics.SR.websites.gitlab", "metrics.SR.conditions.src"}
    relabelled = made.log.with_columns(uid=pl.col("uid").str.replace(r"\.v[12]\.", ".v1."))
    commitment, aggregate = verify(done.receipt, relabelled.lazy(), salt=salt)
    assert (commitment.status, aggregate.status) == ("failed", "passed")


def test_verify_tells_a_wrong_salt_and_a_lost_record(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    commitment, aggregate = verify(done.receipt, made.log.lazy(), salt="0" * 64)
    assert (commitment.status, aggregate.status) == ("failed", "passed")
    commitment, aggregate = verify(done.receipt, made.log.head(2129).lazy(), salt=salt)
    assert [f.code for f in commitment.findings] == ["commitment.records", "commitment.digest"]
    assert aggregate.status == "failed"


def test_verify_of_two_runs_says_so_once_and_compares_no_numbers(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    both = pl.concat([made.log, made.log.with_columns(model=pl.lit("other"))])
    commitment, aggregate = verify(done.receipt, both.lazy(), salt=salt)
    assert commitment.findings[0].code == "commitment.runs"
    assert "found 2 runs in the log" in str(commitment.findings[0])
    assert "expected one" in str(commitment.findings[0])
    assert (aggregate.status, aggregate.findings) == ("not checked", ())


def test_verify_compares_the_run_keys_which_the_digest_does_not_bind(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    other = made.log.with_columns(model=pl.lit("other"))
    commitment, aggregate = verify(done.receipt, other.lazy(), salt=salt)
    assert [(f.code, f.path) for f in commitment.findings] == [("commitment.run", "run.model")]
    assert 'found "other" in the log, expected "gpt-5-mini"' in str(commitment.findings[0])
    assert aggregate.status == "passed"
    commitment, _ = verify(done.receipt, made.log.drop("model").lazy(), salt=salt)
    assert [(f.path, f.found) for f in commitment.findings] == [("run.model", "nothing in the log")]


def test_verify_of_records_that_give_no_numbers_still_tells_the_commitment(made, home):
    done = go(home)
    salt = (home / "my.salt").read_text().strip()
    twice = pl.concat([made.log, made.log.head(1)])
    commitment, aggregate = verify(done.receipt, twice.lazy(), salt=salt)
    assert (commitment.status, aggregate.status) == ("failed", "not checked")
    assert "task.duplicate" in aggregate.unchecked[0]


def test_verify_of_what_is_no_log_is_an_error(home):
    done = go(home)
    (home / "no.jsonl").write_text(json.dumps({"a": 1}))
    with pytest.raises(ContractError):
        verify(done.receipt, str(home / "no.jsonl"), salt="0" * 64)
