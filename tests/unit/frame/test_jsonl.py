from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift.frame import jsonl
from skillshift.frame.errors import SHOWN, ContractError
from skillshift.frame.jsonl import JsonLines
from skillshift.frame.sources import find_logs


@pytest.fixture
def check(probe):
    def checked(*paths, keep=False):
        return JsonLines.check(find_logs(paths), probe, comments=False, keep=keep)

    return checked


def frame(checked, *paths):
    parts = checked.scan(find_logs(paths))
    return pl.concat([part.frame.collect() for part in parts], how="diagonal")


@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ([{}], True),
        ([{"run": 7, "number": 1, "texts": ["x"], "more": 1.5}], True),
        ([{"count": 2.0}, {"count": 1}], True),
        ([{"more": {}}], False),
        ([{"more": 1}, {"more": ""}], False),
        ([{"number": 5e-324}], False),
    ],
)
def test_polars_reads_what_is_plain(put, check, record, changes, plain):
    path = put("a.jsonl", [record(**change) for change in changes])
    checked = check(path)
    assert (str(path) in checked.plain, str(path) in checked.strict) == (plain, not plain)
    assert frame(checked, path).height == len(changes)


@pytest.mark.parametrize("other", [2, 2.5, None, "y", True, [1], 10**16, 10**400])
@pytest.mark.parametrize("nested", [False, True])
def test_a_key_that_is_no_field_has_one_type_or_stays_text(put, check, record, other, nested):
    """The second log decides; whichever reader each of them needs."""
    more = {"z": []} if nested else {}
    paths = [put("1.jsonl", [record(x=1), record(x=None)]), put("2.jsonl", [record(x=other, **more)])]
    checked = check(*paths)
    assert (str(paths[0]) in checked.plain) == (checked.types["x"] is not None)
    expected = {
        "2": ([1, None, 2], pl.Int64),
        "2.5": ([1.0, None, 2.5], pl.Float64),
        "None": ([1, None, None], pl.Int64),
        "y": (["1", None, '"y"'], pl.String),
        "True": (["1", None, "true"], pl.String),
        "[1]": (["1", None, "[1]"], pl.String),
        str(10**16): ([1, None, 10**16], pl.Int64),
        str(10**400): (["1", None, str(10**400)], pl.String),
    }[str(other)]
    column = frame(checked, *paths)["x"]
    assert (column.to_list(), column.dtype) == expected


def test_bad_records_of_all_logs_are_counted_and_located_in_order(put, check, record):
    paths = [put("2.jsonl", [record(), "{}"]), put("1.jsonl", ["[1]"]), put("3.jsonl", [record()])]
    with pytest.raises(ContractError) as caught:
        check(*paths)
    assert caught.value.counts["json.object"] == 1
    assert [(v.file, v.line, v.code) for v in caught.value.violations] == [
        (str(paths[1]), 1, "json.object"),
        (str(paths[0]), 2, "name.missing-key"),
        (str(paths[0]), 2, "flag.missing-key"),
        (str(paths[0]), 2, "count.missing-key"),
    ]
    kept = check(*paths, keep=True)
    assert [(one.file, one.line) for one in kept.refused] == [(str(paths[1]), 1), (str(paths[0]), 2)]
    assert frame(kept, *paths)["_file"].to_list() == [str(paths[0]), str(paths[2])]


def test_the_first_twenty_bad_lines_are_told_with_every_reason(put, check, record):
    path = put("a.jsonl", [record(), *["{}"] * 50])
    with pytest.raises(ContractError) as caught:
        check(path)
    assert [(v.line, v.field) for v in caught.value.violations] == [
        (line, field) for line in range(2, 2 + SHOWN) for field in ("name", "flag", "count")
    ]
    assert caught.value.total == 150
    assert str(caught.value).endswith(f"... and {150 - 3 * SHOWN} more violations")


def test_neighbours_are_scanned_together_and_order_is_kept(put, check, record):
    paths = [
        put("1.jsonl", [record(count=1)] * 2),
        put("2.jsonl", [record(count=2), "", record(count=2)]),
        put("3.jsonl", [record(count=3, m={})]),
        put("4.jsonl", [record(count=4)]),
    ]
    checked = check(*paths)
    parts = checked.scan(find_logs(paths))
    assert [[log.path for log in part.logs] for part in parts] == [
        [str(paths[0]), str(paths[1])], [str(paths[2])], [str(paths[3])],
    ]  # fmt: skip
    assert frame(checked, *paths).select("count", "_record").rows() == [
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
        (3, 0),
        (4, 0),
    ]


def test_logs_with_marks_in_their_names(put, check, record):
    path = put("a [1]*/{b}?.jsonl", [record()])
    checked = check(path)
    assert list(checked.plain) == [str(path)]
    assert frame(checked, path)["_file"].to_list() == [str(path)]


def test_both_readers_give_one_frame(put, check, record, monkeypatch):
    paths = [
        put(
            "1.jsonl",
            [record(name='"\\é\u2028', run=5), record(count=2.0, note="x", run="05"), record(m=None)],
        ),
        put("2.jsonl.gz", [record(number=5e-199, m=1), record(texts=["", "\x00"], m=2.5)]),
    ]
    fast = check(*paths)
    assert len(fast.plain) == 2
    monkeypatch.setattr(jsonl, "_survey", lambda *_: {})
    slow = check(*paths)
    assert len(slow.strict) == 2
    assert_frame_equal(frame(fast, *paths), frame(slow, *paths), check_column_order=False)


def test_a_field_that_the_folders_name_need_not_be_in_the_records(put, check, record):
    lines = ['{"flag": true, "count": 1}']
    paths = [put("name=x/1.jsonl", lines), put("name=y/2.jsonl", lines), put("z/3.jsonl", [record()])]
    checked = check(*paths)
    assert len(checked.plain) == 3
    assert frame(checked, *paths)["name"].to_list() == ["x", "y", "a"]
    with pytest.raises(ContractError, match=r"name\.missing-key"):
        check(paths[0], put("z/4.jsonl", lines))
