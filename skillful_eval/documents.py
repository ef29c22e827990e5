"""JSON documents: strict reading, and the canonical text."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillshift.frame.errors import TEXT_WIDTH, InputError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator


class FlawError(ValueError):
    """JSON text that parsers read in different ways, or not at all.

    Attributes:
        path: The keys and positions that lead to the flaw, as far as known.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


def parse_json(text: str) -> Any:
    """Parse JSON text; keys that stand twice and constants such as NaN are refused.

    Raises:
        FlawError: There is such a key or constant, a number with thousands of digits, or too much nesting.
        json.JSONDecodeError: The text is not JSON.

    >>> try:
    ...     parse_json('{"a": [{"b": 1}, {"b": 1, "b": 2}]}')
    ... except FlawError as flaw:
    ...     print(flaw, flaw.path)
    the key "b" stands twice in one object ({"b": 2}) ('a', 1)
    """
    flaws: list[tuple[object, str]] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) != len(pairs):
            twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            flaws.append((record, f"the key {shorten(twice)} stands twice in one object ({shorten(record)})"))
        return record

    def constant(name: str) -> object:
        flaws.append((found := _Constant(), f"found {name}, which is not JSON"))
        return found

    def whole(digits: str) -> object:
        try:
            return int(digits)
        except ValueError:
            flaws.append(
                (
                    found := _Constant(),
                    f"found a whole number of {len(digits.lstrip('-')):,} digits; {_SHORTER}",
                )
            )
            return found

    try:
        try:
            tree = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
        except json.JSONDecodeError:
            raise
        except ValueError:
            # A number is too long for an int; only then is it worth the time to look at each of them.
            flaws.clear()
            tree = json.loads(text, object_pairs_hook=unique, parse_constant=constant, parse_int=whole)
    except RecursionError:
        raise FlawError(f"nested too deeply; {_FLATTER}", _deepest(text)) from None
    if flaws:
        flaw, message = flaws[0]
        raise FlawError(message, next((path for path, value in _walk(tree) if value is flaw), ()))
    return tree


_SHORTER = "expected one as short as counts are"
_FLATTER = "expected a few levels of lists and objects"

_KNOWN = 3
"""How many keys and positions lead to what is nested too deeply; further ones tell nothing."""

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]')


def _deepest(text: str) -> tuple[str | int, ...]:
    """What leads to the deepest place of a text, as far as :data:`_KNOWN`."""
    path: list[str | int] = []
    depth = deepest = 0
    found: tuple[str | int, ...] = ()
    key = ""
    for piece in _PIECE.findall(text):
        if piece in "[{":
            if depth < _KNOWN:
                path.append(0 if piece == "[" else "")
            depth += 1
            if depth > deepest:
                deepest, found = depth, tuple(path)
        elif piece in "]}":
            depth -= 1
            del path[max(depth, 0) :]
        elif depth > _KNOWN or not path:
            continue
        elif piece == "," and isinstance(path[-1], int):
            path[-1] += 1
        elif piece == ":":
            path[-1] = key
        elif piece.startswith('"'):
            with suppress(ValueError):  # nobody has parsed what comes after the deepest place
                key = json.loads(piece)
    return found


def located(flaw: FlawError) -> str:
    """What is wrong with a document, after the keys and positions that lead there.

    >>> located(FlawError("found NaN", ("entries", 3, "score")))
    'entries.3.score: found NaN'
    """
    where = trail(flaw.path)
    return f"{where}: {flaw}" if where else str(flaw)


def trail(path: tuple[str | int, ...]) -> str:
    """Keys and positions for a message, separated by full stops; long ones are cut."""
    # A lone surrogate is shown as its escape, or the message itself could not be printed.
    names = (str(name)[:TEXT_WIDTH].encode("utf-8", "backslashreplace").decode() for name in path)
    return ".".join(names)


class _Constant:
    """What stands for a constant that JSON does not have."""

    def __repr__(self) -> str:
        return "?"


def _walk(tree: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    left: list[tuple[tuple[str | int, ...], Any]] = [((), tree)]
    while left:
        path, value = left.pop()
        yield path, value
        if isinstance(value, dict):
            left += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            left += [((*path, place), item) for place, item in enumerate(value)]


def read_text(path: str | Path, what: str) -> str:
    """Read a file of UTF-8 text, with or without a byte-order mark.

    Args:
        path: The file.
        what: What it should be, for messages.

    Raises:
        InputError: The file cannot be read, or is not such text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; expected {what}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error}); expected {what}") from error
    except ValueError as error:  # a null byte in the name
        raise InputError(f"{shorten(str(path))}: cannot be read: {error}; expected {what}") from error


def read_json(path: str | Path, what: str, expected: str) -> Any:
    """Read a file that holds one JSON document, strictly.

    Args:
        path: The file.
        what: What it should be, in a few words.
        expected: What should be in it.

    Raises:
        InputError: The file cannot be read, or is not strict JSON.
    """
    text = read_text(path, what)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise InputError(not_json(path, error, expected)) from error
    except FlawError as error:
        raise InputError(f"{path}: {located(error)}; the whole must be {expected}") from error


def not_json(path: str | Path, error: json.JSONDecodeError, expected: str, *, line: int = 1) -> str:
    """Say where text is not JSON; ``line`` is the file's line in which the text begins."""
    where = f"{path}:{error.lineno + line - 1}:{error.colno}"
    return f"{where}: not JSON: {error.msg}; expected {expected}"


def encodes(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, and so can be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(value: Any) -> str:
    """Canonical JSON: keys sorted, no white space between tokens, text escaped only where JSON demands it.

    >>> canonical({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
