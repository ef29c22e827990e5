"""What must hold of every submission, whatever the run, the document or the log."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillshift as ss
from skillshift.frame.errors import InputError
from skillshift.submission.build import build
from skillshift.submission.checks import is_valid, validate
from skillshift.submission.commitment import COMMITTED, canonical_form
from skillshift.submission.document import read_results
from skillshift.submission.jsontext import dump, parse
from skillshift.submission.receipt import make_receipt
from skillshift.submission.submit import submit, verify

SALT = "0123456789abcdef" * 4
ABOUT = {"name": "Mine", "model": "gpt-5-mini", "date": "2026-09-01"}
CELLS = [(site, condition) for site, condition, _ in ss.SKILLSHIFT.cells()]
FEW = settings(max_examples=15)


@st.composite
def complete_runs(draw) -> pl.DataFrame:
    """A complete run at any rates, with some cells all solved, none solved, or without a skill called."""
    skills = draw(st.booleans())
    rates = ss.Rates.flat(
        ss.SKILLSHIFT,
        SR=draw(st.integers(0, 100)),
        AS=draw(st.integers(1, 40)),
        ASC=draw(st.sampled_from([0, 0.005, 0.02, 0.3, 1, 5])) if skills else None,
        SFR=draw(st.integers(0, 100)) if skills else None,
    )
    log = ss.simulate(rates=rates, seed=draw(st.integers(0, 2**32)), method="any")
    for column, value in (("success", True), ("success", False), ("skill_calls", 0)):
        cells = draw(st.sets(st.sampled_from(CELLS), max_size=4))
        here = pl.any_horizontal(
            pl.lit(value=False), *((pl.col("site") == site) & (pl.col("condition") == c) for site, c in cells)
        )
        if column == "success":
            log = log.with_columns(pl.when(here).then(value).otherwise(pl.col("success")).alias("success"))
        elif skills:
            names = ("skill_calls", "skill_failures")
            log = log.with_columns(
                pl.when(here).then(0).otherwise(pl.col(name)).alias(name) for name in names
            )
    return log


@FEW
@given(complete_runs())
def test_any_complete_run_gives_a_submission_that_validates(log):
    cells = ss.cells(log.lazy())
    numbers = ss.marginals(cells)
    results = build(numbers, cells, **ABOUT)
    receipt = make_receipt(results, log, cells, salt=SALT, logs={}, env_digests={})
    verdicts = {v.check: v for v in validate(results, receipt)}
    assert is_valid(list(verdicts.values()))
    assert verdicts["granularity"].findings == (), "its own rates can occur"
    assert {f.code for f in verdicts["ranges"].findings} <= {"ranges.low-count"}
    assert verdicts["coverage"].findings == verdicts["schema"].findings == ()
    flagged = {f.path for f in verdicts["ranges"].findings}
    low = numbers.filter(pl.col("low_count") & pl.col("value").is_not_null())
    assert len(flagged) == low.height
    assert [v.status for v in verify(receipt, log.lazy(), salt=SALT)] == ["passed", "passed"]


@FEW
@given(
    complete_runs(), st.integers(0, 2129), st.sampled_from(["gone", "errored", "twice", "negative", "null"])
)
def test_any_run_that_is_not_one_complete_run_is_refused_before_a_file_is_written(
    tmp_path_factory, log, row, fault
):
    here = pl.int_range(pl.len()) == row
    broken = {
        "gone": lambda: log.filter(~here),
        "errored": lambda: log.with_columns(
            pl.when(here).then(pl.lit("crash")).otherwise("error").alias("error")
        ),
        "twice": lambda: pl.concat([log, log.filter(here)]),
        "negative": lambda: log.with_columns(pl.when(here).then(-1).otherwise("steps").alias("steps")),
        "null": lambda: log.with_columns(pl.when(~here).then("success").alias("success")),
    }[fault]()
    home = tmp_path_factory.mktemp("refused")
    with pytest.raises(InputError):
        submit(broken.lazy(), home / "out", salt_file=home / "my.salt", **ABOUT)
    assert not list(home.iterdir())


@pytest.fixture(scope="module")
def raw():
    log = ss.simulate(rates=ss.Rates.flat(ss.SKILLSHIFT, SR=40, AS=9.5, ASC=0.1, SFR=30), seed=3, method="m")
    cells = ss.cells(log.lazy())
    return build(ss.marginals(cells), cells, **ABOUT).to_bytes()


@given(data=st.data())
@settings(max_examples=150)
def test_whatever_the_bytes_there_are_verdicts_or_one_clear_error(raw, data):
    text = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        pieces = [
            b"",
            b"null",
            b"{",
            b"]",
            b'"',
            b"\\",
            b"-1",
            b"1e999",
            b"0.5",
            b'"x"',
            b"NaN",
            b"\xff",
            b",",
            b"\xed\xa0\x80",
        ]
        text[start:end] = data.draw(st.sampled_from(pieces) | st.binary(max_size=8))
    try:
        verdicts = validate(bytes(text))
    except InputError:
        return
    assert [str(v) for v in verdicts]
    try:
        assert read_results(bytes(text)).to_bytes() == bytes(text)
    except InputError:
        assert verdicts[0].check == "schema"
        assert verdicts[0].status == "failed"
    else:
        assert verdicts[0].status == "passed"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.data())
def test_any_value_anywhere_never_crashes_a_check(raw, data):
    tree = json.loads(raw)
    inner = tree
    while True:
        key = data.draw(st.sampled_from(sorted(inner)))
        if not isinstance(inner[key], dict) or not inner[key] or data.draw(st.booleans()):
            inner[key] = data.draw(values)
            break
        inner = inner[key]
    for verdict in validate(json.dumps(tree).encode()):
        assert verdict.status in ("passed", "failed", "not checked")
        assert str(verdict).replace("\n", "").isprintable()


@given(st.dictionaries(st.text(max_size=5), values, max_size=5), st.sampled_from([None, 0, 1, 4]))
def test_any_json_is_parsed_as_the_standard_library_parses_it(tree, indent):
    for ensure_ascii in (True, False):
        text = json.dumps(tree, indent=indent, ensure_ascii=ensure_ascii)
        parsed = parse(text.encode(), "document")
        assert json.loads(dump(parsed)) == json.loads(text)
        assert parse(dump(parsed).encode(), "document") == parsed


records = st.fixed_dictionaries(
    {
        "uid": st.text(st.characters(codec="utf-8"), min_size=1, max_size=6),
        "site": st.sampled_from(["gitlab", "magento"]),
        "condition": st.sampled_from(["src", "tgt"]),
        "success": st.booleans() | st.none(),
        "steps": st.integers(0, 2**40) | st.none(),
        "skill_calls": st.integers(0, 9) | st.none(),
        "skill_failures": st.integers(0, 9) | st.none(),
        "error": st.none() | st.text(st.characters(codec="utf-8"), max_size=6),
    }
)
SCHEMA = {
    "uid": pl.String, "site": pl.String, "condition": pl.String, "success": pl.Boolean, "steps": pl.Int64,
    "skill_calls": pl.Int64, "skill_failures": pl.Int64, "error": pl.String,
}  # fmt: skip


@given(st.lists(records, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_canonical_form_is_a_set_of_records_and_nothing_else(rows, random):
    form = canonical_form(pl.DataFrame(rows, schema=SCHEMA))
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert canonical_form(pl.DataFrame(shuffled, schema=SCHEMA)) == form
    half = len(rows) // 2
    halves = [pl.DataFrame(part, schema=SCHEMA) for part in (rows[:half], rows[half:])]
    assert canonical_form(pl.concat(halves[::-1])) == form
    assert form.count(b"\n") == len(rows) + 2


@given(st.lists(records, min_size=1, max_size=6), records, st.sampled_from(COMMITTED), st.data())
def test_changing_any_field_changes_the_form(rows, other, field, data):
    at = data.draw(st.integers(0, len(rows) - 1))
    changed = [dict(row) for row in rows]
    changed[at][field] = other[field]
    same = sorted(map(repr, rows)) == sorted(map(repr, changed))
    forms = [canonical_form(pl.DataFrame(table, schema=SCHEMA)) for table in (rows, changed)]
    assert (forms[0] == forms[1]) is same
