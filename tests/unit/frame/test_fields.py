"""Kinds: which column types a field takes without a guess."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift.frame.fields import Field, Kind, Rule

TEXTS = (pl.String(), pl.Categorical(), pl.Enum(["apple", "pear"]))
INTEGERS = (pl.Int8(), pl.Int32(), pl.Int64(), pl.UInt8(), pl.UInt32(), pl.UInt64(), pl.Int128())
FLOATS = (pl.Float32(), pl.Float64())
OTHERS = (
    pl.Boolean(),
    pl.Date(),
    pl.Datetime(),
    pl.Duration(),
    pl.Binary(),
    pl.Decimal(10, 2),
    pl.Struct({"a": pl.Int64()}),
    pl.List(pl.String()),
    pl.List(pl.Int64()),
    pl.Object(),
)
ACCEPTED = {
    Kind.TEXT: TEXTS,
    Kind.LABEL: TEXTS + INTEGERS,
    Kind.FLAG: (pl.Boolean(),),
    Kind.COUNT: INTEGERS + FLOATS,
    Kind.NUMBER: INTEGERS + FLOATS,
    Kind.TEXTS: (pl.List(pl.String()), pl.List(pl.Categorical()), pl.List(pl.Enum(["a"]))),
}


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_takes_the_types_that_need_no_guess(kind):
    everything = {*TEXTS, *INTEGERS, *FLOATS, *OTHERS, *ACCEPTED[Kind.TEXTS]}
    assert {dtype for dtype in everything if kind.accepts(dtype)} == set(ACCEPTED[kind])
    assert kind.accepts(pl.Null())
    assert kind.accepts(kind.dtype)


def test_text_is_what_is_read_as_text():
    assert {kind for kind in Kind if kind.is_text} == {Kind.TEXT, Kind.LABEL}
    assert all(kind.dtype == pl.String for kind in Kind if kind.is_text)


def test_fields_and_rules_are_fixed():
    with pytest.raises(AttributeError):
        Field("a", Kind.TEXT, "").name = "b"
    rule = Rule("a.b", "a", pl.lit(value=False), "")
    with pytest.raises(AttributeError):
        rule.code = "c"
    assert {rule: "kept"}[rule] == "kept"
