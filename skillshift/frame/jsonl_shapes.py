"""The fast way to know that JSON Lines hold no surprise: the shapes of their lines.

The *shape* of a line is the order of its keys with the JSON type of each value. Logs have few of them.
Where every line of a file matches one of a handful of shapes, each as one anchored regular expression,
every key stands there once, every required key is there, and every value has its type: nothing is left
that Polars' own reader would pass over in silence. A line without a shape says nothing against the
file; it only sends it to the strict reader.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.contract import FILE, RECORD, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ORDERS = 16
"""How many orders of keys a log may have before it is read line by line."""

_SIMPLE_STRING = r'"[^"\\\x00-\x1f]*"'
_STRING = (
    r'"(?:[^"\\\x00-\x1f]'
    r'|\\(?:["\\/bfnrt]'
    r"|u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"  # a pair of surrogates, never half of one
    r'))*"'
)
"""A string without raw control characters, with valid escapes only; the simple one has no escapes at all."""

_SPACE = r"[ \t]*"

SHORT_DIGITS = 15
"""An integer of at most so many digits is exact as a float too, so that a column may mix it with floats."""

_SHORT = rf"(?:0|-?[1-9][0-9]{{0,{SHORT_DIGITS - 1}}})"

STRING, FLAG, SHORT, LONG, WHOLE, FLOAT, NULL, STRINGS, OTHER = (
    "string", "flag", "short integer", "long integer", "whole float", "float", "null", "strings", "other",
)  # fmt: skip
"""The types of a value, finer than JSON's: what a column's type depends on."""

_PATTERNS = {
    FLAG: "true|false",
    SHORT: _SHORT,
    LONG: rf"-?[1-9][0-9]{{{SHORT_DIGITS},17}}",
    WHOLE: _SHORT + r"\.0{1,15}",
    FLOAT: rf"-?(?:0|[1-9][0-9]{{0,{SHORT_DIGITS - 1}}})(?:\.[0-9]{{1,17}})?(?:[eE][+-]?1?[0-9]{{1,2}})?",
    NULL: "null",
}


def _string_patterns(string: str) -> dict[str, str]:
    strings = rf"\[{_SPACE}(?:{string}(?:{_SPACE},{_SPACE}{string})*{_SPACE})?\]"
    return {STRING: string, STRINGS: strings}


_ADMITTED = {
    Kind.TEXT: {STRING, NULL},
    Kind.LABEL: {STRING, SHORT, LONG, NULL},
    Kind.FLAG: {FLAG, NULL},
    Kind.COUNT: {SHORT, LONG, WHOLE, NULL},
    Kind.NUMBER: {SHORT, WHOLE, FLOAT, NULL},
    Kind.TEXTS: {STRINGS, NULL},
}

_EXPECTED = {
    Kind.TEXT: {STRING, NULL},
    Kind.LABEL: {NULL},
    Kind.FLAG: {FLAG, NULL},
    Kind.COUNT: {SHORT, NULL},
    Kind.NUMBER: {SHORT, WHOLE, FLOAT, NULL},
    Kind.TEXTS: {STRINGS, NULL},
}
"""What a field's column is ready for before any of it was seen: what needs no other column type."""


def extra_type(types: Iterable[str]) -> pl.DataType | None:
    """The column type of a key that the table does not know, or null where it stays raw JSON text.

    >>> extra_type(["short integer", "null"]), extra_type(["string", "flag"])
    (Int64, None)
    """
    seen = frozenset(types) - {NULL}
    if not seen:
        return pl.Null()
    if seen == {STRING}:
        return pl.String()
    if seen == {FLAG}:
        return pl.Boolean()
    if seen <= {SHORT, LONG}:
        return pl.Int64()
    if seen <= {SHORT, WHOLE, FLOAT}:
        return pl.Float64()
    return None


@dataclass(slots=True)
class Shapes:
    """The shapes learned so far for one table.

    Attributes:
        table: What the lines must hold.
        orders: The orders of keys that were seen.
        types: The types that each key's values had, for the table's fields also those that may come.
        escapes: Whether any line had a backslash; without one, the pattern is a smaller one.
        kinds: The kind of each of the table's fields.
    """

    table: Table
    orders: set[tuple[str, ...]] = field(default_factory=set)
    types: dict[str, set[str]] = field(default_factory=dict)
    escapes: bool = False
    kinds: dict[str, Kind] = field(init=False)
    _known: set[tuple[tuple[str, str], ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.kinds = {f.name: f.kind for f in self.table.fields}

    def learn(self, line: str) -> bool:
        """Learn the shape of one line.

        Returns:
            Whether the line has a shape, as far as can be told without holding it against the pattern.
        """
        self.escapes = self.escapes or "\\" in line
        pairs = _top_level(line)
        if pairs is None:
            return False
        if pairs in self._known:
            return True
        order = tuple(key for key, _ in pairs)
        required = {f.name for f in self.table.fields if f.required}
        if len(set(order)) != len(order) or not required <= set(order) or {FILE, RECORD} & set(order):
            return False
        if order not in self.orders and len(self.orders) == MOST_ORDERS:
            return False
        grown = {key: self._grown(key, type_) for key, type_ in pairs}
        if any(types is None for types in grown.values()):
            return False
        self.orders.add(order)
        self.types.update({key: types for key, types in grown.items() if types is not None})
        self._known.add(pairs)
        return True

    def _grown(self, key: str, type_: str) -> set[str] | None:
        if any(ord(mark) < ord(" ") or mark in '"\\' for mark in key):
            return None
        kind = self.kinds.get(key)
        types = self.types.get(key, _EXPECTED[kind] if kind else set()) | {type_}
        if kind is None:
            return types if STRINGS not in types and extra_type(types) is not None else None
        if not types <= _ADMITTED[kind] or (kind is Kind.COUNT and {LONG, WHOLE} <= types):
            return None
        return types

    def pattern(self) -> str:
        """One regular expression that matches the lines of these shapes and blank lines, whole."""
        patterns = _PATTERNS | _string_patterns(_STRING if self.escapes else _SIMPLE_STRING)
        values = {key: "|".join(patterns[t] for t in sorted(types)) for key, types in self.types.items()}
        pairs = {key: f'"{_literal(key)}"{_SPACE}:{_SPACE}(?:{value})' for key, value in values.items()}
        between = f"{_SPACE},{_SPACE}"
        lines = [
            rf"{_SPACE}\{{{_SPACE}{between.join(pairs[key] for key in order)}{_SPACE}\}}{_SPACE}"
            for order in sorted(self.orders)
        ]
        return rf"^(?:[ \t]?|{'|'.join(lines)})$"

    def scan_type(self, key: str) -> pl.DataType:
        """The type that a column must have while Polars reads it."""
        kind, types = self.kinds.get(key), self.types[key]
        if kind is None:
            return extra_type(types) or pl.String()
        if kind is Kind.COUNT and WHOLE in types:
            return pl.Float64()
        if kind is Kind.LABEL and STRING not in types and types & {SHORT, LONG}:
            return pl.Int64()
        return kind.dtype


def _literal(key: str) -> str:
    # Python's `re.escape` uses escapes that Polars' regular expressions lack; \xHH is in both.
    return re.sub(r"[^\w]", lambda mark: rf"\x{ord(mark[0]):02x}" if mark[0].isascii() else mark[0], key)


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=_Number, parse_float=_Number)


def _top_level(line: str) -> tuple[tuple[str, str], ...] | None:
    try:
        pairs = _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None
    return tuple((key, _type_of(value)) for key, value in pairs) if isinstance(pairs, tuple) else None


def _type_of(value: Any) -> str:
    if isinstance(value, _Number):
        return next((t for t in (SHORT, LONG, WHOLE, FLOAT) if re.fullmatch(_PATTERNS[t], value)), OTHER)
    if isinstance(value, str):
        return STRING
    if isinstance(value, bool):
        return FLAG
    if value is None:
        return NULL
    if isinstance(value, list) and all(type(item) is str for item in value):
        return STRINGS
    return OTHER
