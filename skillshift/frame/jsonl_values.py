"""The values of a JSON Lines record: a table's fields in their types, or why one is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from skillshift.frame.contract import Field, Kind
from skillshift.frame.errors import TEXT_WIDTH, Violation
from skillshift.frame.jsonl_shapes import FLAG, FLOAT, LONG, NULL, OTHER, SHORT, SHORT_DIGITS, STRING

_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 19


class BadLineError(Exception):
    """A line that holds no record of the table.

    Attributes:
        violations: Why, without file and line.
    """

    def __init__(self, *violations: Violation) -> None:
        super().__init__(*violations)
        self.violations = violations


class Number(str):
    """A number as it is written: what a float would lose of it decides."""

    __slots__ = ()


Converter = Callable[[Any, Field], Any]
"""From a value that is not null to the field's type."""


def _text(value: Any, field: Field) -> str:
    if type(value) is str:
        return value
    raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))


def _label(value: Any, field: Field) -> str:
    if type(value) is int or (isinstance(value, Number) and value.lstrip("-").isdigit()):
        return str(value)
    return _text(value, field)


def _flag(value: Any, field: Field) -> bool:
    if isinstance(value, bool):
        return value
    raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))


def _texts(value: Any, field: Field) -> list[str]:
    if isinstance(value, list) and all(type(item) is str for item in value):
        return value
    raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))


def _number(value: Any, field: Field) -> float:
    if not _is_number(value):
        raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))
    number = float(value)
    if math.isinf(number):
        raise BadLineError(_wrong(field, "range", "a number that a 64-bit float can hold"))
    return number


def _is_number(value: Any) -> bool:
    return type(value) is int or isinstance(value, Number)


def _whole(value: Any, field: Field) -> int:
    if not _is_number(value):
        raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))
    if isinstance(value, int) and value in _INT64:
        return value
    out_of_range = BadLineError(_wrong(field, "range", f"{field.kind.value} of at most 64 bits"))
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise out_of_range from error
    if not number:
        return 0
    if number.adjusted() >= _INT64_DIGITS:
        raise out_of_range
    if number.adjusted() < 0 or number != number.to_integral_value():
        raise BadLineError(_wrong(field, "fraction", field.kind.value, field.hint))
    if int(number) not in _INT64:
        raise out_of_range
    return int(number)


def _wrong(field: Field, what: str, expected: str, hint: str = "") -> Violation:
    return Violation(code=f"{field.name}.{what}", field=field.name, expected=expected, hint=hint)


CONVERTERS: dict[Kind, Converter] = {
    Kind.TEXT: _text,
    Kind.LABEL: _label,
    Kind.FLAG: _flag,
    Kind.COUNT: _whole,
    Kind.NUMBER: _number,
    Kind.TEXTS: _texts,
}
"""For each kind what makes a value one, or raises :class:`BadLineError` where that would lose or guess.

To say what was found is left to the caller."""


def type_of(raw: str) -> str:
    """The type of a value from its raw JSON text, as :mod:`~skillshift.frame.jsonl_shapes` tells types.

    >>> type_of('"x"'), type_of("12"), type_of("1e3"), type_of("[1]")
    ('string', 'short integer', 'float', 'other')
    """
    first = raw[0]
    if first in '"tfn':
        return {'"': STRING, "t": FLAG, "f": FLAG, "n": NULL}[first]
    if first in "{[":
        return OTHER
    if raw.lstrip("-").isdigit():
        digits = len(raw.lstrip("-"))
        if digits <= SHORT_DIGITS:
            return SHORT
        return LONG if digits <= _INT64_DIGITS and int(raw) in _INT64 else OTHER
    return FLOAT if math.isfinite(float(raw)) else OTHER


def cut(text: str) -> str:
    """Raw text as a message shows it: never more than a line."""
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + "..."
