from __future__ import annotations

import re

import polars as pl
import pytest

from skillshift.frame.jsonl_shapes import MOST_ORDERS, Shapes, extra_type


@pytest.fixture
def shapes(probe):
    return Shapes(probe)


def matches(shapes, *lines):
    """Which lines match, in Polars' regular expressions and in Python's, which must agree."""
    found = pl.Series(lines).str.contains(shapes.pattern()).to_list()
    assert found == [re.search(shapes.pattern(), line) is not None for line in lines]
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"count": None, "flag": None, "name": None},
        {"count": 10**17},
        {"count": 2.0},
        {"run": 5},
        {"run": "05"},
        {"number": -1.25e-7},
        {"texts": ["a", "é"]},
        {"x": "y", "z": False, "n": 3, "f": 1.5, "nothing": None},
        {"a b.*$": 1, "é": 2, "": 3, "tab-_+(": 4},
    ],
)
def test_a_learned_line_matches_whole(shapes, record, changes):
    line = record(**changes)
    assert shapes.learn(line)
    assert matches(shapes, line, line.replace(", ", ",").replace(": ", ":"), f" {line}\t") == [True] * 3
    assert matches(shapes, line[:-1], f"{line}x", f"x{line}", line + line, f"{line}\r") == [False] * 5
    assert matches(shapes, "", " ", "\t") == [True] * 3


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nope",
        "[]",
        "{}",
        '{"name": "a", "flag": true}',
        '{"name": "a", "flag": true, "count": 1, "count": 1}',
        '{"name": 1, "flag": true, "count": 1}',
        '{"name": "a", "flag": 1, "count": 1}',
        '{"name": "a", "flag": true, "count": 1.5}',
        '{"name": "a", "flag": true, "count": 1e3}',
        '{"name": "a", "flag": true, "count": -0}',
        '{"name": "a", "flag": true, "count": 9223372036854775807}',
        '{"name": "a", "flag": true, "count": 1, "run": true}',
        '{"name": "a", "flag": true, "count": 1, "texts": [1]}',
        '{"name": "a", "flag": true, "count": 1, "texts": ["a", null]}',
        '{"name": "a", "flag": true, "count": 1, "number": 1e999}',
        '{"name": "a", "flag": true, "count": 1, "number": 1234567890123456}',
        '{"name": "a", "flag": true, "count": 1, "x": []}',
        '{"name": "a", "flag": true, "count": 1, "x": ["a"]}',
        '{"name": "a", "flag": true, "count": 1, "x": {}}',
        '{"name": "a", "flag": true, "count": 1, "x": NaN}',
        '{"name": "a", "flag": true, "count": 1, "x\\n": 1}',
        '{"name": "a", "flag": true, "count": 1, "_file": "x"}',
        '{"name": "a", "flag": true, "count": 1, "_record": 1}',
        "[" * 100_000,
    ],
)
def test_lines_without_a_shape(shapes, line):
    assert not shapes.learn(line)
    assert shapes.orders == set()


@pytest.mark.parametrize(
    "line",
    [
        '{"name": "a\\ud800", "flag": true, "count": 1}',
        '{"name": "\\udc00\\ud800", "flag": true, "count": 1}',
        '{"name": "\\ud800\\u0041", "flag": true, "count": 1}',
        '{"name": "\t", "flag": true, "count": 1}',
        '{"name": "\x00", "flag": true, "count": 1}',
        '{"name": "\\x", "flag": true, "count": 1}',
        '{"na\\u006de": "a", "flag": true, "count": 1}',
        '{"name": "a", "flag": true, "count": 01}',
        '{"name": "a", "flag": true, "count": 1, "x": 1}',
        '{"flag": true, "name": "a", "count": 1}',
        '{"name": "a", "flag": true, "count": 1.0}',
        '{"name": "a", "flag": true, "count": 1,}',
        '{"name": "a", "flag": True, "count": 1}',
        '{"name": "a" "flag": true, "count": 1}',
    ],
)
def test_what_the_pattern_leaves_to_others(shapes, record, line):
    assert shapes.learn(record(name="\\"))
    assert matches(shapes, line) == [False]


@pytest.mark.parametrize(
    "name",
    [
        "\\u00e9\\uABCD",
        '\\"\\\\\\/\\b\\f\\n\\r\\t',
        "\\ud83d\\ude00",
        "é\u2028\x7f\ufffd😀",
        "\\uD7ff\\ue000",
    ],
)
def test_strings_of_every_kind(shapes, name):
    line = f'{{"name": "{name}", "flag": true, "count": 1}}'
    assert shapes.learn(line)
    assert matches(shapes, line) == [True]


def test_fields_are_ready_for_what_needs_no_other_type(shapes, record):
    shapes.learn(record())
    others = record(name=None, flag=None, count=None), record(name="x", flag=False, count=-7)
    assert matches(shapes, *others) == [True, True]


def test_keys_may_come_in_several_orders_but_not_in_any_number(shapes):
    for i in range(MOST_ORDERS):
        assert shapes.learn(f'{{"name": "a", "flag": true, "count": 1, "x{i}": 1}}')
    assert not shapes.learn('{"name": "a", "flag": true, "count": 1, "more": 1}')
    assert shapes.learn('{"name": "b", "flag": true, "count": 1, "x0": null}')


def test_a_count_cannot_mix_what_a_float_would_lose_with_floats(shapes, record):
    assert shapes.learn(record(count=2.0))
    assert not shapes.learn(record(count=10**16))
    assert shapes.scan_type("count") == pl.Float64


@pytest.mark.parametrize(
    ("values", "expected"),
    [(["a"], pl.String), ([1], pl.Int64), ([1, "a"], pl.String), ([None], pl.String)],
)
def test_labels_are_read_as_what_they_are(shapes, record, values, expected):
    assert all(shapes.learn(record(run=value)) for value in values)
    assert shapes.scan_type("run") == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["null"], pl.Null),
        (["string", "null"], pl.String),
        (["flag"], pl.Boolean),
        (["short integer", "long integer"], pl.Int64),
        (["short integer", "float"], pl.Float64),
        (["whole float"], pl.Float64),
        (["long integer", "float"], None),
        (["string", "short integer"], None),
        (["other"], None),
    ],
)
def test_types_of_other_keys(types, expected):
    assert extra_type(types) == expected
