"""Errors: bounded, located, and readable as text, as a frame and as JSON."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import polars as pl
import pytest

from skillshift.frame.errors import (
    KEPT,
    REASONS,
    SHOWN,
    TEXT_WIDTH,
    ContractError,
    InputError,
    UsageError,
    Violation,
    shorten,
)


def violation(n: int) -> Violation:
    return Violation(
        code="steps.negative",
        file="runs/a.jsonl",
        line=n,
        field="steps",
        found=str(-n),
        expected="a whole number from 0",
    )


def test_every_error_about_input_is_an_input_error():
    assert issubclass(UsageError, InputError)
    assert issubclass(ContractError, InputError)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    ("file", "line", "where"),
    [(None, None, "?"), (None, 7, "row 7"), ("a.jsonl", None, "a.jsonl"), ("a.jsonl", 7, "a.jsonl:7")],
)
def test_a_violation_says_where_it_is_as_far_as_known(file, line, where):
    assert Violation(code="c", file=file, line=line).where == where


def test_a_violation_is_one_line_that_says_what_and_what_to_do():
    whole = Violation(
        code="uid.type", file="a", line=2, field="uid", found="7", expected="text", hint="write it as text"
    )
    assert whole.finding == "a:2: uid: found 7, expected text [uid.type]"
    assert str(whole) == f"{whole.finding} (write it as text)"
    assert (
        str(Violation(code="json.cut", expected="a whole object")) == "?: expected a whole object [json.cut]"
    )


def test_a_report_shows_twenty_and_counts_the_rest():
    error = ContractError("log", {"steps.negative": 1234}, [violation(n) for n in range(1, 101)])
    lines = str(error).split("\n")
    assert len(error.violations) == SHOWN == 20
    assert [v.line for v in error.violations] == list(range(1, 21))
    assert lines[0] == "log: 1,234 violations (steps.negative 1,234)"
    assert len(lines) == 1 + SHOWN + 1
    assert lines[-1] == "  ... and 1,214 more violations"


def reasons(n, *, line, file="runs/a.jsonl"):
    return [Violation(code=f"f{i}.type", file=file, line=line, field=f"f{i}", expected="x") for i in range(n)]


def test_a_report_shows_twenty_records_whatever_is_wrong_with_each():
    found = [one for line in range(1, 51) for one in reasons(7, line=line)]
    error = ContractError("log", {f"f{i}.type": 50 for i in range(7)}, found)
    assert error.violations == tuple(found[: 7 * SHOWN])
    lines = str(error).split("\n")
    assert len(lines) == 1 + SHOWN * (REASONS + 1) + 1
    assert lines[1] == "  runs/a.jsonl:1: f0: expected x [f0.type]"
    assert lines[1 + REASONS] == "  runs/a.jsonl:1: ... and 2 more reasons"
    assert lines[-2].startswith(f"  runs/a.jsonl:{SHOWN}: ")
    assert lines[-1] == "  ... and 210 more violations"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  # our own bytes


def test_the_reasons_of_a_record_stand_together_and_one_more_is_one():
    found = [*reasons(2, line=1), *reasons(1, line=1, file="b"), *reasons(REASONS - 1, line=1)]
    error = ContractError("log", {"x": len(found) + 1}, found)
    assert [v.file for v in error.violations] == ["runs/a.jsonl"] * (REASONS + 1) + ["b"]
    assert str(error).split("\n")[1 + REASONS :] == [
        "  runs/a.jsonl:1: ... and 1 more reason",
        "  b:1: f0: expected x [f0.type]",
        "  ... and 1 more violation",
    ]


def test_what_stands_nowhere_is_a_record_of_its_own():
    found = reasons(SHOWN + 5, line=None, file=None)
    error = ContractError("log", {"x": SHOWN + 5}, found)
    assert error.violations == tuple(found[:SHOWN])
    assert "reason" not in str(error)


def test_a_report_is_bounded_however_much_is_wrong_with_one_record():
    error = ContractError("log", {"json.duplicate-key": 10_000}, reasons(10_000, line=1))
    assert len(error.violations) == KEPT
    assert len(str(error).split("\n")) == 1 + REASONS + 2
    assert str(error).endswith(f"... and {10_000 - KEPT:,} more violations")


def test_a_hint_that_several_records_share_is_said_once():
    shared = [Violation(code="a", line=n, expected="x", hint="look up y") for n in range(3)]
    other = Violation(code="b", line=9, expected="z", hint="look up z")
    lines = str(ContractError("log", {"a": 40, "b": 1}, [*shared, other])).split("\n")
    assert lines[5:] == ["  ... and 37 more violations", "Hint: look up y.", "Hint: look up z."]
    assert lines[1] == "  row 0: expected x [a]"


@pytest.mark.parametrize("shown", [1, SHOWN])
def test_a_report_that_shows_everything_mentions_no_rest(shown):
    error = ContractError("log", {"steps.negative": shown}, [violation(n + 1) for n in range(shown)])
    assert "more" not in str(error)
    assert str(error).startswith(f"log: {shown} violation{'s' if shown > 1 else ''} (")


def test_counts_come_by_size_then_by_name():
    error = ContractError("log", {"b": 2, "c": 9, "a": 2}, [])
    assert list(error.counts.items()) == [("c", 9), ("a", 2), ("b", 2)]
    assert error.total == 13


def test_as_a_frame_every_violation_is_a_row_of_fixed_types():
    error = ContractError("log", {"steps.negative": 2}, [violation(3), Violation(code="json.cut")])
    frame = error.to_frame()
    assert frame.schema == pl.Schema(
        {
            "code": pl.String,
            "file": pl.String,
            "line": pl.Int64,
            "field": pl.String,
            "found": pl.String,
            "expected": pl.String,
            "hint": pl.String,
        }
    )
    assert frame.row(0) == (
        "steps.negative",
        "runs/a.jsonl",
        3,
        "steps",
        "-3",
        "a whole number from 0",
        "",
    )
    assert frame.row(1) == ("json.cut", None, None, None, "", "", "")
    assert ContractError("log", {}, []).to_frame().schema == frame.schema


def test_as_json_it_says_the_same_with_sorted_keys():
    error = ContractError("log", {"steps.negative": 30}, [violation(n) for n in range(30)])
    document = json.loads(error.to_json())
    assert document["table"] == "log"
    assert document["total"] == 30
    assert document["counts"] == {"steps.negative": 30}
    assert document["violations"] == error.to_frame().to_dicts()
    assert error.to_json() == json.dumps(document, sort_keys=True, indent=2)


def test_it_survives_the_way_back_from_another_process():
    error = ContractError("log", {"steps.negative": 30}, [violation(n) for n in range(30)])
    back = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert str(back) == str(error)
    assert (back.table, back.counts, back.violations) == (error.table, error.counts, error.violations)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("fail", '"fail"'),
        ("café", '"café"'),
        ('say "hi"\n', '"say \\"hi\\"\\n"'),
        (0.5, "0.5"),
        (float("nan"), "NaN"),
        (None, "null"),
        (False, "false"),
        ([1, "a"], '[1, "a"]'),
    ],
)
def test_found_values_are_shown_as_json_shows_them(value, text):
    assert shorten(value) == text


def test_found_values_take_no_more_than_a_line():
    long = shorten("x" * 10_000)
    assert len(long) == TEXT_WIDTH
    assert long.endswith("...")
    assert shorten("x" * (TEXT_WIDTH - 2)) == '"' + "x" * (TEXT_WIDTH - 2) + '"'
    assert len(shorten(["a"] * 10_000)) == TEXT_WIDTH


def test_found_values_of_any_type_can_be_shown():
    assert shorten(object).startswith('"<class')


def test_the_module_needs_no_dataframe_library(root):
    code = "import sys, skillshift.frame.errors; print({*sys.modules} & {'polars', 'pyarrow', 'pandera'})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert out.stdout.strip() == "set()"
