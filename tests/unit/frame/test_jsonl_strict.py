from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift.frame import jsonl_strict
from skillshift.frame.errors import SHOWN, InputError
from skillshift.frame.jsonl_strict import decoded, read_strictly


@pytest.fixture
def read(probe):
    def strictly(path, *, comments=False, keep=False):
        return read_strictly(str(path), probe, comments=comments, keep=keep)

    return strictly


def test_records_become_columns(put, read, record):
    found = read(put("a.jsonl", [record(), "", record(x="y", number=1), record(run=5, x=None)]))
    assert (found.refused, found.counts, found.types) == ([], Counter(), {"x": {"string", "null"}})
    assert_frame_equal(
        found.frame,
        pl.DataFrame(
            {
                "name": ["a"] * 3,
                "flag": [True] * 3,
                "count": [3] * 3,
                "number": [None, 1.0, None],
                "run": [None, None, "5"],
                "x": [None, '"y"', None],
                "_record": [0, 1, 2],
            }
        ),
        check_column_order=False,
    )


def test_chunks_make_no_difference(put, read, record, monkeypatch):
    path = put(
        "a.jsonl", [record(count=i) for i in range(4)] + [record(y=[1]), record(note="n"), record(y=2)]
    )
    whole = read(path)
    monkeypatch.setattr(jsonl_strict, "CHUNK", 2)
    assert_frame_equal(read(path).frame, whole.frame, check_column_order=False)


def test_refused_lines_are_counted_beyond_those_that_are_shown(put, read, record):
    found = read(put("a.jsonl", [record(), *["{}"] * 50, "nope"]))
    assert len(found.refused) == SHOWN
    assert [one.line for one in found.refused] == list(range(2, 2 + SHOWN))
    assert found.counts == {
        "name.missing-key": 50,
        "flag.missing-key": 50,
        "count.missing-key": 50,
        "json.syntax": 1,
    }


def test_kept_refusals_keep_everything_and_the_records_beside_them(put, read, record):
    path = put("a.jsonl", [record(count=1), *["{}"] * 50, '{"name": "b"}', record(count=2), "[1]"])
    found = read(path, keep=True)
    assert len(found.refused) == 52
    one = found.refused[50]
    assert (one.file, one.line, one.raw, one.record) == (str(path), 52, '{"name": "b"}', {"name": "b"})
    assert [(why.file, why.line, why.code) for why in one.violations] == [
        (str(path), 52, "flag.missing-key"),
        (str(path), 52, "count.missing-key"),
    ]
    assert found.refused[51].record is None
    assert found.frame.select("count", "_record").rows() == [(1, 0), (2, 52)]


def test_comments(put, read, record):
    path = put("a.jsonl", ["# one", record(), " # two", record()])
    assert read(path, comments=True).frame["_record"].to_list() == [0, 1]
    found = read(path, keep=True)
    assert [one.line for one in found.refused] == [1, 3]
    # A refused comment takes no number: line numbers pass over it.
    assert found.frame["_record"].to_list() == [0, 1]


@pytest.mark.parametrize("content", ["\n \n", "\ufeff", "\ufeff\n", "# only\n"])
def test_a_log_without_records(put, read, content):
    with pytest.raises(InputError, match=r"a\.jsonl: holds no record"):
        read(put("a.jsonl", content), comments=True)


def test_the_last_line_may_be_refused_as_cut_only_in_its_own_file(put, read, record):
    assert read(put("a.jsonl", f"{record()}\n{record()[:9]}")).counts == {"json.cut": 1}
    assert read(put("b.jsonl", f"{record()}\n{record()[:9]}\n")).counts == {"json.syntax": 1}


def test_raw_text_gets_its_type():
    raw = pl.DataFrame(
        {
            "text": ['"a\\u00e9"', None],
            "flag": ["true", None],
            "whole": ["-0", "9223372036854775807"],
            "number": ["1", "0.30000000000000004"],
            "raw": ["[1]", '"x"'],
            "nothing": pl.Series([None, None], dtype=pl.String),
        }
    )
    types = {
        "text": pl.String(), "flag": pl.Boolean(), "whole": pl.Int64(), "number": pl.Float64(), "raw": None,
        "nothing": pl.Null(), "elsewhere": pl.String(),
    }  # fmt: skip
    assert_frame_equal(
        decoded(raw, types),
        pl.DataFrame(
            {
                "text": ["aé", None],
                "flag": [True, None],
                "whole": [0, 2**63 - 1],
                "number": [1.0, 0.30000000000000004],
                "raw": ["[1]", '"x"'],
                "nothing": [None, None],
            }
        ),
    )
