"""One line of JSON Lines: the record in it, or every reason why there is none."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from skillshift.frame.contract import FILE, RECORD, Field, Table
from skillshift.frame.errors import TEXT_WIDTH, Violation
from skillshift.frame.jsonl_values import CONVERTERS, BadLineError, Number, cut
from skillshift.frame.lines import as_text, is_comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_OBJECT = "one JSON object a line"
_ABSENT = object()

CODES = {
    "encoding.utf8": "text in UTF-8",
    "json.syntax": f"{_OBJECT}, in valid JSON",
    "json.object": f"{_OBJECT}, no other value",
    "json.cut": f"{_OBJECT}; the last line of the file is cut",
    "json.constant": "a number or null: JSON has no NaN and no Infinity",
    "json.surrogate": "whole characters, not half of a surrogate pair",
    "json.duplicate-key": "each key once",
    "json.reserved-key": f"any name but {FILE} and {RECORD}: readers add these columns",
}
"""The reason codes of lines that hold no record of any table, and what each asks for."""


class _ConstantError(ValueError):
    pass


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


# An object becomes a tuple, which nothing else in JSON does: it keeps a key that stands there twice.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_float=Number, parse_constant=_refuse_constant)
# Python refuses to convert thousands of digits; then integers stay as they are written too.
_LONG_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=Number, parse_float=Number, parse_constant=_refuse_constant
)
_RAW = json.JSONDecoder(parse_int=str, parse_float=str)
_KEY = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*")')
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,")


class RecordParser:
    """Finds the record of a table in a line.

    Args:
        table: The table whose fields the record must have.
    """

    def __init__(self, table: Table) -> None:
        self._names = frozenset(table.names)
        self._fields = [(f, CONVERTERS[f.kind]) for f in table.fields]

    def parse(self, line: bytes) -> tuple[dict[str, Any], dict[str, str]]:
        """The record in a line.

        Args:
            line: The line, with its line feed unless it is the file's last and has none.

        Returns:
            The values of the table's fields that the record has, in the fields' types; and the other keys,
            each with the raw JSON text of its value.

        Raises:
            BadLineError: The line holds no such record.
        """
        text = _decoded(line)
        try:
            return self._parts(text, _object(text, line))
        except RecursionError as error:
            why = Violation(
                code="json.syntax", found=cut(as_text(line)), expected=f"{_OBJECT}, not nested this deeply"
            )
            raise BadLineError(why) from error

    def _parts(self, text: str, record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        known: dict[str, Any] = {}
        wrong: list[Violation] = []
        for field, convert in self._fields:
            value = record.get(field.name, _ABSENT)
            if value is None:
                known[field.name] = None
            elif value is not _ABSENT:
                try:
                    known[field.name] = convert(value, field)
                except BadLineError as error:
                    found = cut(raw_values(text, [field.name])[field.name])
                    wrong += [replace(why, found=found) for why in error.violations]
            elif field.required:
                wrong.append(self._missing(field, record))
        if wrong:
            raise BadLineError(*wrong)
        if len(known) == len(record):
            return known, {}
        return known, raw_values(text, [key for key in record if key not in known])

    def _missing(self, field: Field, record: dict[str, Any]) -> Violation:
        near = _nearest(field.name, tuple(key for key in record if key not in self._names))
        keys = ", ".join(record)
        return Violation(
            code=f"{field.name}.missing-key",
            field=field.name,
            found=f"no such key (keys: {cut(keys)})" if keys else "no such key, the object is empty",
            expected=f"the key with {field.kind.value}" + (" or null" if field.nullable else ""),
            hint="" if near is None else f"the key {near!r} is near to it",
        )


@lru_cache(maxsize=64)  # what one line lacks, the others mostly lack too
def _nearest(name: str, keys: tuple[str, ...]) -> str | None:
    return next(iter(difflib.get_close_matches(name, keys, n=1)), None)


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not line.endswith(b"\n"):
            raise BadLineError(_cut_line(line)) from error
        found = f"the byte 0x{line[error.start]:02x} as byte {error.start + 1} of the line"
        why = Violation(
            code="encoding.utf8", found=found, expected="text in UTF-8", hint="save the file as UTF-8"
        )
        raise BadLineError(why) from error


def _object(text: str, line: bytes) -> dict[str, Any]:
    try:
        pairs = _pairs(text)
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
            found=cut(as_text(line)),
            expected=f"{_OBJECT}; at column {error.colno}: {error.msg}",
            hint="comments are not allowed here" if is_comment(line) else "",
        )
        raise BadLineError(why) from error
    if not isinstance(pairs, tuple):
        raise BadLineError(Violation(code="json.object", found=cut(text.strip()), expected=_OBJECT))
    if "\\u" in text and _ESCAPED_SURROGATE.search(text) and not all(map(_is_whole, _strings(pairs))):
        why = Violation(
            code="json.surrogate",
            found=cut(as_text(line)),
            expected=r"whole characters: \ud800 to \udfff in pairs",
        )
        raise BadLineError(why)
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
    if FILE in record or RECORD in record:
        why = Violation(
            code="json.reserved-key",
            field=FILE if FILE in record else RECORD,
            found="the key",
            expected="any other name: readers add this column",
        )
        raise BadLineError(why)
    return record


def _pairs(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (json.JSONDecodeError, _ConstantError):
        raise
    except ValueError:
        return _LONG_DECODER.decode(text)


def _cut_line(line: bytes) -> Violation:
    return Violation(
        code="json.cut",
        found=as_text(line)[-TEXT_WIDTH // 2 :] + " at the end of the file",
        expected=f"{_OBJECT}; the last line is cut",
        hint="the log may still be being written, or its copy was interrupted",
    )


def _field_of_constant(text: str) -> str | None:
    record = record_in(text)
    pairs = record.items() if record else ()
    constants = (key for key, value in pairs if isinstance(value, float) and not math.isfinite(value))
    return next(filter(_is_whole, constants), None)


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


def raw_values(text: str, keys: Sequence[str]) -> dict[str, str]:
    """The raw JSON text of some values of the object in a line, which must be valid JSON with each key once.

    >>> raw_values('{"a": 1.50, "b": {"c": []}}', ["b", "a"])
    {'b': '{"c": []}', 'a': '1.50'}
    """
    if "\\" not in text:
        places = {key: text.find(f'"{key}"') for key in keys}
        # Without escapes, what stands there only once stands there as the key.
        if all(text.rfind(f'"{key}"') == at for key, at in places.items()):
            return {key: _raw_value(text, at + len(key) + 2)[0] for key, at in places.items()}
    every: dict[str, str] = {}
    at = text.index("{") + 1
    while key := _KEY.match(text, at):
        every[json.loads(key[1])], end = _raw_value(text, key.end())
        comma = _COMMA.match(text, end)
        at = comma.end() if comma else len(text)
    return {key: every[key] for key in keys}


def _raw_value(text: str, after_key: int) -> tuple[str, int]:
    colon = _COLON.match(text, after_key)
    start = colon.end() if colon else after_key
    _, end = _RAW.raw_decode(text, start)
    return text[start:end], end
