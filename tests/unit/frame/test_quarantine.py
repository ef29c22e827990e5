from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from skillshift.frame.errors import InputError, Violation
from skillshift.frame.quarantine import Refused, refuse_rows, write_quarantine
from skillshift.frame.reading import scan


def refused(file, line, *codes, raw="raw"):
    why = tuple(
        Violation(code=code, file=file, line=line, field="f", found="1", expected="2") for code in codes
    )
    return Refused(file, line, raw, why, None)


def read(path):
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_a_reason_in_the_order_of_files_and_lines(tmp_path):
    path = tmp_path / "bad.jsonl"
    many = [
        refused("b", 1, "x"),
        refused("a", 10, "x", "y", raw="é\\xff"),
        refused("a", 9, "z"),
        refused(None, 3, "w"),
    ]
    write_quarantine(path, many)
    rows = read(path)
    assert [(row["file"], row["line"], row["code"]) for row in rows] == [
        (None, 3, "w"), ("a", 9, "z"), ("a", 10, "x"), ("a", 10, "y"), ("b", 1, "x"),
    ]  # fmt: skip
    assert rows[2] == {
        "file": "a", "line": 10, "code": "x", "field": "f", "found": "1", "expected": "2", "raw": "é\\xff",
    }  # fmt: skip


def test_an_earlier_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "bad.jsonl"
    path.write_text("earlier")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_quarantine(path, [refused("a", 1, "x")])
    assert [one.name for one in tmp_path.iterdir()] == ["bad.jsonl"]
    assert path.read_text() == "earlier"


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(InputError, match="bad"):
        write_quarantine(tmp_path / "no" / "bad.jsonl", [])


def test_rows_that_break_a_rule_are_taken_out_with_their_lines(put, record, probe, negative):
    path = put("a.jsonl", ["", record(count=-1, x=1.5), record(count=None), "", record(count=-2.0), record()])
    out = []
    kept = refuse_rows(scan(path, probe), [negative], probe, out)
    assert kept.select("count", "_record").collect().rows() == [(None, 1), (3, 3)]
    assert [(one.file, one.line, one.raw) for one in out] == [
        (str(path), 2, record(count=-1, x=1.5)),
        (str(path), 5, record(count=-2.0)),
    ]
    assert out[0].record == {"name": "a", "flag": True, "count": -1, "x": 1.5}
    (why,) = out[0].violations
    assert (why.code, why.file, why.line, why.found) == ("count.negative", str(path), 2, "-1")
    assert why.expected == negative.expected


def test_a_row_that_breaks_two_rules_is_refused_once(probe, negative):
    frame = pl.LazyFrame({"name": ["", "b"], "flag": [None, None], "count": [-1, 1]})
    out = []
    rules = [negative, *probe.all_rules(["name", "count"])]
    kept = refuse_rows(scan(frame, probe), rules, probe, out)
    assert kept.select("name").collect().rows() == [("b",)]
    (one,) = out
    assert (one.file, one.line) == (None, 1)
    assert [why.code for why in one.violations] == ["count.negative", "name.missing"]
    assert [why.hint for why in one.violations] == ["", "write the name as text"]
    assert json.loads(one.raw) == {"name": "", "flag": None, "count": -1}


def test_rows_of_parquet(tmp_path, probe, negative):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"name": ["a", "b"], "flag": [True] * 2, "count": [1, -1]}).write_parquet(path)
    out = []
    refuse_rows(scan(path, probe), [negative], probe, out)
    assert [(one.file, one.line, json.loads(one.raw)["name"]) for one in out] == [(str(path), 2, "b")]


def test_without_rules_or_offenders_nothing_changes(probe, negative):
    frame = pl.LazyFrame({"name": ["a"], "flag": [True], "count": [1]})
    out = []
    assert refuse_rows(frame, [], probe, out) is frame
    assert refuse_rows(frame, [negative], probe, out).collect().rows() == [("a", True, 1)]
    assert out == []


def test_a_log_that_is_gone(put, record, probe, negative):
    path = put("a.jsonl", [record(count=-1)])
    frame = scan(path, probe)
    Path(path).unlink()
    with pytest.raises(InputError, match="is gone"):
        refuse_rows(frame, [negative], probe, [])
