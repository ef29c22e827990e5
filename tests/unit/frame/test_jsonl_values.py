from __future__ import annotations

import pytest

from skillshift.frame.contract import Field, Kind
from skillshift.frame.jsonl_values import CONVERTERS, BadLineError, Number, cut, type_of


def convert(value, kind):
    return CONVERTERS[kind](value, Field("x", kind, "", hint="do this"))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Kind.TEXT, "", ""),
        (Kind.LABEL, "01", "01"),
        (Kind.LABEL, 7, "7"),
        (Kind.LABEL, Number("9" * 30), "9" * 30),
        (Kind.FLAG, False, False),
        (Kind.COUNT, -(2**63), -(2**63)),
        (Kind.COUNT, Number("2.0"), 2),
        (Kind.COUNT, Number("-0.0"), 0),
        (Kind.COUNT, Number("0e999999999"), 0),
        (Kind.COUNT, Number("1.5e1"), 15),
        (Kind.COUNT, Number("9007199254740993.0"), 9007199254740993),
        (Kind.COUNT, Number("9223372036854775807.000"), 2**63 - 1),
        (Kind.NUMBER, 3, 3.0),
        (Kind.NUMBER, Number("1e-400"), 0.0),
        (Kind.NUMBER, Number("0.1"), 0.1),
        (Kind.TEXTS, [], []),
        (Kind.TEXTS, ["a"], ["a"]),
    ],
)
def test_what_a_field_takes(kind, value, expected):
    found = convert(value, kind)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        (Kind.TEXT, 1, "x.type"),
        (Kind.TEXT, Number("1.5"), "x.type"),
        (Kind.TEXT, True, "x.type"),
        (Kind.LABEL, True, "x.type"),
        (Kind.LABEL, Number("1.0"), "x.type"),
        (Kind.LABEL, ["a"], "x.type"),
        (Kind.FLAG, 0, "x.type"),
        (Kind.FLAG, 1, "x.type"),
        (Kind.FLAG, "true", "x.type"),
        (Kind.FLAG, Number("0.5"), "x.type"),
        (Kind.COUNT, True, "x.type"),
        (Kind.COUNT, "3", "x.type"),
        (Kind.COUNT, (("a", 1),), "x.type"),
        (Kind.COUNT, Number("2.7"), "x.fraction"),
        (Kind.COUNT, Number("1e-400"), "x.fraction"),
        (Kind.COUNT, Number("-1e-999999999"), "x.fraction"),
        (Kind.COUNT, Number("9007199254740993.5"), "x.fraction"),
        (Kind.COUNT, 2**63, "x.range"),
        (Kind.COUNT, -(2**63) - 1, "x.range"),
        (Kind.COUNT, Number("9223372036854775808.0"), "x.range"),
        (Kind.COUNT, Number("1e400"), "x.range"),
        (Kind.COUNT, Number("1e99999999999999999999"), "x.range"),
        (Kind.COUNT, Number("9" * 5000), "x.range"),
        (Kind.NUMBER, "1", "x.type"),
        (Kind.NUMBER, False, "x.type"),
        (Kind.NUMBER, Number("-1e400"), "x.range"),
        (Kind.TEXTS, "a", "x.type"),
        (Kind.TEXTS, ["a", 1], "x.type"),
        (Kind.TEXTS, ["a", None], "x.type"),
        (Kind.TEXTS, [Number("1.5")], "x.type"),
    ],
)
def test_what_a_field_refuses(kind, value, code):
    with pytest.raises(BadLineError) as caught:
        convert(value, kind)
    (why,) = caught.value.violations
    assert (why.code, why.field) == (code, "x")
    assert why.hint == ("do this" if code in ("x.type", "x.fraction") else "")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('"1"', "string"),
        ("true", "flag"),
        ("false", "flag"),
        ("null", "null"),
        ("-0", "short integer"),
        ("9" * 15, "short integer"),
        ("-" + "9" * 15, "short integer"),
        ("1" + "0" * 15, "long integer"),
        (str(2**63 - 1), "long integer"),
        (str(-(2**63)), "long integer"),
        (str(2**63), "other"),
        ("9" * 5000, "other"),
        ("1.0", "float"),
        ("1e300", "float"),
        ("1e400", "other"),
        ("[]", "other"),
        ("{}", "other"),
    ],
)
def test_types(raw, expected):
    assert type_of(raw) == expected


def test_a_message_stays_on_a_line():
    assert cut("x" * 80) == "x" * 80
    assert cut("x" * 81) == "x" * 77 + "..."
