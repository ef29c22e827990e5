"""A journal's lines: one response each, written as it came."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.documents import FlawError, canonical, located, not_json, parse_json
from skillful_eval.recording.redaction import digest
from skillful_eval.recording.responses import Response, WrongError, checked, text, whole, wrong
from skillful_eval.router.answers import CANDIDATES
from skillshift.frame.append import TornLineWarning
from skillshift.frame.errors import InputError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

JOURNAL = ".journal.jsonl"
"""What is added to a recording's name for the file that the responses are first written to."""

WHAT = "a recording"
CHECK = "check"
"""The field of a line that tells whether the others are as they were written: a digest of them."""

_EXPECTED = f"one JSON object with fixture, repeat, task, candidates, asked, response and {CHECK}"


def journal_of(path: str | Path) -> Path:
    """The journal beside a recording.

    >>> str(journal_of("out/recording.json"))
    'out/recording.json.journal.jsonl'
    """
    return Path(f"{path}{JOURNAL}")


@dataclass(frozen=True, slots=True)
class Line:
    """One response, and what it is the response to.

    Attributes:
        fixture: The fixture's id, or what stands for it.
        repeat: Which repetition of the fixture was asked for, from 0.
        task: The task text that was sent, redacted.
        candidates: The ids that were offered, in order.
        asked: A digest of everything else that was sent.
        response: The response, redacted.
    """

    fixture: str
    repeat: int
    task: str
    candidates: tuple[str, ...]
    asked: str
    response: Response

    @property
    def key(self) -> tuple[str, int]:
        """What tells lines apart."""
        return self.fixture, self.repeat

    def kept(self) -> Response:
        """The response as a recording keeps it: with the candidates that it is about."""
        return {**self.response, CANDIDATES: list(self.candidates)}

    def text(self) -> str:
        """The line, without its end."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields |= {"candidates": list(self.candidates)}
        return canonical(fields | {CHECK: digest(canonical(fields))})


def read_line(content: str) -> Line:
    """Read one line.

    Raises:
        FlawError: As :func:`~skillful_eval.documents.parse_json`.
        json.JSONDecodeError: It is not JSON.
        WrongError: A field is missing or has the wrong type, or the line was changed since it was written.
    """
    record = parse_json(content)
    if type(record) is not dict:
        raise wrong("", shorten(record), _EXPECTED)
    missing = [name for name in (*Line.__dataclass_fields__, CHECK) if name not in record]
    if missing:
        raise wrong(missing[0], "nothing", "a value")
    where = f"fixture {shorten(record['fixture'])}, repeat {shorten(record['repeat'])}"
    try:
        response = checked(record["response"])
    except WrongError as error:
        raise error.within(where) from None
    line = Line(
        fixture=text("fixture", record["fixture"]),
        repeat=whole("repeat", record["repeat"]),
        task=text("task", record["task"]),
        candidates=ids("candidates", record["candidates"]),
        asked=text("asked", record["asked"]),
        response=response,
    )
    if record[CHECK] != digest(canonical({name: value for name, value in record.items() if name != CHECK})):
        raise wrong(
            where,
            "a line that was changed after it was written",
            "it as it was: put it back, or take the line out, and that response will be asked for again",
        )
    return line


def ids(place: str, value: Any) -> tuple[str, ...]:
    """A list of ids.

    Raises:
        WrongError: It is something else.
    """
    if type(value) is not list:
        raise wrong(place, shorten(value), "a list of ids")
    return tuple(text(place, item) for item in value)


def read_lines(path: Path) -> Iterator[tuple[int, Line]]:
    """Read a journal, as it may be left by a process that was killed.

    A last line that was cut off is passed over, with a :class:`~skillshift.frame.append.TornLineWarning`.

    Args:
        path: The journal.

    Yields:
        The number of a line in the file, from 1, and the line.

    Raises:
        InputError: The file cannot be read, or a line is not as it was written.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; expected {WHAT}") from error
    for number, content in enumerate(lines, start=1):
        if not content.strip():
            continue
        try:
            line = read_line(content.decode())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            if number == len(lines):
                warnings.warn(
                    f"{path}:{number}: ended in the middle of a response, as a write that was cut off leaves "
                    "it; that response is not used",
                    TornLineWarning,
                    stacklevel=2,
                )
                return
            if isinstance(error, UnicodeDecodeError):
                raise InputError(f"{path}:{number}: not UTF-8 text; expected {_EXPECTED}") from error
            raise InputError(not_json(path, error, _EXPECTED, line=number)) from error
        except FlawError as error:
            raise InputError(
                f"{path}:{number}: {located(error)}; nothing of this recording was used"
            ) from error
        except WrongError as error:
            raise InputError(f"{path}:{number}: {error}; nothing of this recording was used") from error
        yield number, line
