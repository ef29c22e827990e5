"""Strict JSON for documents that strangers send: bounded, nothing passed over, numbers keep their form.

Reading refuses what a lenient reader swallows: a key twice, NaN, numbers beyond a double, lone
surrogates, documents that are too long or too deep. Each refusal is one :class:`InputError`.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from skillshift.frame.errors import InputError, shorten

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

MAX_BYTES = 2**19
"""The longest document that is read; real ones have a few thousand bytes."""

MAX_DEPTH = 32
"""The deepest nesting that is read; real documents have four levels."""

MAX_DIGITS = 64
"""The longest number that is read, in characters."""

_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")


class Number(Decimal):
    """A number that is written as it was read: 16.90 stays 16.90, 1e2 stays 1e2.

    Attributes:
        literal: The number's text in the document.

    >>> total = Number("16.90")
    >>> total == Decimal("16.9"), total.literal
    (True, '16.90')
    """

    literal: str

    def __new__(cls, literal: str) -> Self:
        """Take a number's text."""
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any], /) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.literal,)

    @classmethod
    def of(cls, value: float | Decimal) -> Self:
        """Take a number from Python; a float goes through its shortest text.

        Raises:
            ValueError: It is not a finite number.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise ValueError("not a number")  # noqa: TRY004 - pydantic reports ValueError, not TypeError
        number = cls(repr(value) if isinstance(value, int | float) else str(value))
        if not number.is_finite():
            raise ValueError("not a finite number")
        return number

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Numbers only: text that looks like one is refused."""
        from pydantic_core import PydanticCustomError, core_schema

        def check(value: Any) -> Number:
            try:
                return cls.of(value)
            except ValueError as error:
                raise PydanticCustomError("number_type", "Input should be a number") from error

        return core_schema.no_info_plain_validator_function(check)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """In JSON it is a number."""
        return {"type": "number"}


def read_bytes(source: str | Path | bytes) -> tuple[bytes, str]:
    """A document's bytes, and how messages name it; never more bytes than a document may have.

    Raises:
        InputError: The file cannot be read, or is too long.
    """
    if isinstance(source, bytes):
        raw, name = source, "document"
    else:
        name = str(source)
        try:
            with Path(source).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{name}: cannot be read: {reason}") from error
    if len(raw) > MAX_BYTES:
        raise InputError(
            f"{name}: found more than {MAX_BYTES:,} bytes, expected a document of a few thousand;"
            " is this a log or an archive?"
        )
    return raw, name


def parse(raw: bytes, name: str) -> dict[str, Any]:
    """Parse a document strictly.

    Args:
        raw: The document, UTF-8 with or without a byte order mark.
        name: How messages name it.

    Returns:
        The document; numbers with a fraction or an exponent are :class:`Number`, the others int.

    Raises:
        InputError: It is not UTF-8 or not JSON, is no object, is nested too deeply, has a key twice, a
            number that no double holds, NaN or Infinity, or text that UTF-8 cannot write.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start + 1} is not UTF-8, expected a JSON document") from error
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise InputError(f"{name}: found {depth:,} levels of nesting, expected at most {MAX_DEPTH}")
    try:
        tree = json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_number,
            parse_int=_integer,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from error
    except InputError as error:
        raise InputError(printable(f"{name}: {error}")) from error
    if not isinstance(tree, dict):
        raise InputError(printable(f"{name}: found {shorten(tree)}, expected one JSON object"))
    broken = next((text for text in _texts(tree) if not is_utf8(text)), None)
    if broken is not None:
        found = printable(shorten(broken))
        raise InputError(f"{name}: found the text {found} with half a character (a lone surrogate)")
    return tree


def printable(text: str) -> str:
    r"""Text that a terminal takes for nothing but text: whatever is not printable is escaped.

    >>> printable("name \x1b[2J")
    'name \\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode-escape").decode() for c in text)


def dump(value: Any) -> str:
    """Write a document: two blanks a level, keys in their order, text unescaped, numbers as they were read.

    >>> print(dump({"SR": Number("16.90"), "n": {}, "notes": None}))
    {
      "SR": 16.90,
      "n": {},
      "notes": null
    }
    """
    return _dump(value, "\n")


def _dump(value: Any, newline: str) -> str:
    inner = newline + "  "
    if isinstance(value, dict):
        items = [f"{_text(key)}: {_dump(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{(',' + inner).join(items)}{newline}}}" if items else "{}"
    if isinstance(value, list | tuple):
        items = [_dump(item, inner) for item in value]
        return f"[{inner}{(',' + inner).join(items)}{newline}]" if items else "[]"
    if isinstance(value, Decimal):
        return Number.of(value).literal
    return _text(value)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _depth(text: str) -> int:
    brackets = _BRACKETS.findall(_STRINGS.sub("", text))
    return max(accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"the key {shorten(twice)} occurs twice in one object, expected once")
    return made


def _number(literal: str) -> Number:
    if len(literal) > MAX_DIGITS:
        raise InputError(f"found a number of {len(literal):,} characters, expected at most {MAX_DIGITS}")
    double = float(literal)
    try:
        number = Number(literal)
    except InvalidOperation:  # an exponent that not even Decimal holds
        number = None
    if number is None or isinf(double) or (double == 0) != (number == 0):
        raise InputError(f"found the number {literal}, expected one that a double holds")
    return number


def _integer(literal: str) -> int | Number:
    number = _number(literal)
    return number if literal == "-0" else int(number)


def _constant(literal: str) -> NoReturn:
    raise InputError(f"found {literal}, expected a number or null")


def _texts(tree: Any) -> list[str]:
    found: list[str] = []
    rest = [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            found.extend(value)
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
    return found


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can write a text: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
