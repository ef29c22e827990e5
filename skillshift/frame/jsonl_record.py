"""One line of JSON Lines: the record in it, or every reason why there is none."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NoReturn

from skillshift.frame.contract import FILE, RECORD, Field, Kind, Table
from skillshift.frame.errors import TEXT_WIDTH, Violation, shorten
from skillshift.frame.jsonl_shapes import FLAG, FLOAT, LONG, NULL, OTHER, SHORT, SHORT_DIGITS, STRING
from skillshift.frame.lines import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 19
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_OBJECT = "one JSON object a line"


class BadLineError(Exception):
    """A line that holds no record of the table.

    Attributes:
        violations: Why, without file and line.
    """

    def __init__(self, *violations: Violation) -> None:
        super().__init__(*violations)
        self.violations = violations


class _Number(str):
    """A number as it is written: what a float would lose of it decides."""

    __slots__ = ()


class _ConstantError(ValueError):
    pass


def _integer(text: str) -> int | _Number:
    # Python refuses to convert thousands of digits; nothing beyond Int64 is needed as a number.
    return int(text) if len(text) < _INT64_DIGITS else _Number(text)


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


# An object becomes a tuple, which nothing else in JSON does: it keeps a key that stands there twice.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=_integer, parse_float=_Number, parse_constant=_refuse_constant
)
_RAW = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)
_SPACE = re.compile(r"[ \t\r\n]*")


def parse(line: bytes, table: Table) -> tuple[dict[str, Any], dict[str, str]]:
    """The record in a line.

    Args:
        line: The line, with its line feed unless it is the file's last and has none.
        table: The table whose fields the record must have.

    Returns:
        The values of the table's fields that the record has, in the fields' types; and the other keys,
        each with the raw JSON text of its value.

    Raises:
        BadLineError: The line holds no such record.
    """
    text = _decoded(line)
    record = _object(text, line)
    known = {}
    wrong: list[Violation] = []
    for field in table.fields:
        if field.name not in record:
            if field.required:
                wrong.append(_missing(field, record))
            continue
        try:
            known[field.name] = _value(record[field.name], field)
        except BadLineError as error:
            found = raw_values(text)[field.name]
            wrong += [replace(why, found=_cut(found)) for why in error.violations]
    if wrong:
        raise BadLineError(*wrong)
    if len(known) == len(record):
        return known, {}
    return known, {key: raw for key, raw in raw_values(text).items() if key not in known}


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not line.endswith(b"\n"):
            raise BadLineError(_cut_line(line)) from error
        found = f"the byte 0x{line[error.start]:02x} as byte {error.start + 1} of the line"
        why = Violation(code="encoding.utf8", found=found, expected="text in UTF-8")
        raise BadLineError(why) from error


def _object(text: str, line: bytes) -> dict[str, Any]:
    try:
        pairs = _DECODER.decode(text)
    except _ConstantError as error:
        why = Violation(
            code="json.constant",
            field=_field_of_constant(text),
            found=str(error),
            expected="a number or null",
            hint="JSON has no NaN and no Infinity",
        )
        raise BadLineError(why) from error
    except json.JSONDecodeError as error:
        end = text.rstrip()
        if not line.endswith(b"\n") and (not end.endswith("}") or error.pos >= len(end)):
            raise BadLineError(_cut_line(line)) from error
        why = Violation(
            code="json.syntax",
            found=shorten(as_text(line)),
            expected=f"{_OBJECT}; at column {error.colno}: {error.msg}",
        )
        raise BadLineError(why) from error
    except RecursionError as error:
        why = Violation(
            code="json.syntax", found=shorten(as_text(line)), expected=f"{_OBJECT}, not nested this deeply"
        )
        raise BadLineError(why) from error
    if not isinstance(pairs, tuple):
        raise BadLineError(Violation(code="json.object", found=_cut(text.strip()), expected=_OBJECT))
    record = dict(pairs)
    if len(record) != len(pairs):
        twice = (key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise BadLineError(
            *(
                Violation(
                    code="json.duplicate-key", field=key, found="the key twice", expected="each key once"
                )
                for key in twice
            )
        )
    if _ESCAPED_SURROGATE.search(text) and not all(map(_is_whole, _strings(pairs))):
        why = Violation(
            code="json.surrogate",
            found=shorten(as_text(line)),
            expected=r"whole characters: \ud800 to \udfff in pairs",
        )
        raise BadLineError(why)
    reserved = [name for name in (FILE, RECORD) if name in record]
    if reserved:
        why = Violation(
            code="json.reserved-key",
            field=reserved[0],
            found="the key",
            expected="any other name: readers add this column",
        )
        raise BadLineError(why)
    return record


def _cut_line(line: bytes) -> Violation:
    return Violation(
        code="json.cut",
        found=shorten(as_text(line)[-TEXT_WIDTH // 2 :]) + " at the end of the file",
        expected=f"{_OBJECT}; the last line is cut",
        hint="was the log still being written, or its copy interrupted?",
    )


def _field_of_constant(text: str) -> str | None:
    record = record_in(text)
    pairs = record.items() if record else ()
    return next((key for key, value in pairs if isinstance(value, float) and not math.isfinite(value)), None)


def record_in(text: str) -> dict[str, Any] | None:
    """What of a refused line can be read, where that is an object."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, tuple | list):
            waiting += one


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= mark <= "\udfff" for mark in text)


def _missing(field: Field, record: dict[str, Any]) -> Violation:
    near = difflib.get_close_matches(field.name, record, n=1)
    keys = ", ".join(record)
    return Violation(
        code=f"{field.name}.missing-key",
        field=field.name,
        found=f"no such key (keys: {_cut(keys)})" if keys else "no such key, the object is empty",
        expected=f"the key with {field.kind.value}" + (" or null" if field.nullable else ""),
        hint=f"is it {near[0]!r}?" if near else "",
    )


def _value(value: Any, field: Field) -> Any:
    return None if value is None else _CONVERTERS[field.kind](value, field)


def _text(value: Any, field: Field) -> str:
    if type(value) is str:
        return value
    raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))


def _label(value: Any, field: Field) -> str:
    if type(value) is int or (isinstance(value, _Number) and value.lstrip("-").isdigit()):
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
    return type(value) is int or isinstance(value, _Number)


def _whole(value: Any, field: Field) -> int:
    if not _is_number(value):
        raise BadLineError(_wrong(field, "type", field.kind.value, field.hint))
    if isinstance(value, int):
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


_CONVERTERS: dict[Kind, Callable[[Any, Field], Any]] = {
    Kind.TEXT: _text,
    Kind.LABEL: _label,
    Kind.FLAG: _flag,
    Kind.COUNT: _whole,
    Kind.NUMBER: _number,
    Kind.TEXTS: _texts,
}


def _wrong(field: Field, what: str, expected: str, hint: str = "") -> Violation:
    return Violation(code=f"{field.name}.{what}", field=field.name, expected=expected, hint=hint)


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + "..."


def raw_values(text: str) -> dict[str, str]:
    """The raw JSON text of each value of the object in a line, which must be valid JSON.

    >>> raw_values('{"a": 1.50, "b": {"c": []}}')
    {'a': '1.50', 'b': '{"c": []}'}
    """
    raw: dict[str, str] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _RAW.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _RAW.raw_decode(text, start)
        raw[key] = text[start:end]
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return raw


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


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
