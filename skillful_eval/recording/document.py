"""Recordings: what an endpoint answered, by the task text that was sent and the repeat."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.documents import FlawError, not_json, parse_json, read_text, trail
from skillful_eval.recording.lines import JOURNAL, WHAT, ids, journal_of, read_lines
from skillful_eval.recording.redaction import fits, hidden
from skillful_eval.recording.responses import Response, WrongError, checked, text, whole, wrong
from skillful_eval.router.answers import CANDIDATES
from skillful_eval.router.prompts import WITHHELD
from skillful_eval.sanitise.views import MARK
from skillshift.frame.errors import InputError, shorten
from skillshift.frame.writing import dump_json

if TYPE_CHECKING:
    from collections.abc import Mapping

REPEAT = "repeat"
"""The field of a response that says which repeat it answered; without it, its position does."""

_EXPECTED = "one JSON object of fixtures, each with task and responses"


@dataclass(frozen=True, slots=True)
class Entry:
    """The responses to one fixture.

    Attributes:
        task: The task text that was sent, redacted where it was recorded here.
        responses: The responses by repeat, in that order. Beside the fields of a response, one may have
            ``candidates``: the ids that were offered, in order.
    """

    task: str
    responses: Mapping[int, Response]


@dataclass(frozen=True, eq=False)
class Recording:
    """Recorded responses.

    Attributes:
        entries: What was recorded, by fixture id, in the order of the ids.
        source: The file, for messages.
        finished: Whether it is a finished document; otherwise it is the journal of an interrupted run.
    """

    entries: Mapping[str, Entry]
    source: str
    finished: bool = True
    _by_task: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_task: dict[str, list[str]] = {}
        # Where several fixtures have one text, the one with most responses answers for the rest.
        for fixture, entry in sorted(self.entries.items(), key=lambda item: -len(item[1].responses)):
            if _tells(entry.task):
                by_task.setdefault(entry.task, []).append(fixture)
        object.__setattr__(self, "_by_task", {task: tuple(fixtures) for task, fixtures in by_task.items()})

    @property
    def responses(self) -> int:
        """How many responses there are."""
        return sum(len(entry.responses) for entry in self.entries.values())

    def lookup(self, task: str, fixture: str, repeat: int) -> tuple[Response, int] | None:
        """The response to a request.

        The task text decides, whatever fixture it belongs to; where several fixtures have it, that very one
        is preferred. Where the text does not tell all (it was withheld, or something was redacted), it must
        be the same fixture, and the text the same wherever the recording shows it.

        Args:
            task: The task text that is sent.
            fixture: The fixture's id.
            repeat: Which repetition, from 0.

        Returns:
            The response and the repeat that it was recorded for: that repeat where there is one, or else
            another one, which is thereby used again. None where nothing was recorded for the text.

        Example:
            >>> answers = {"primary": {"choice": "none", "probabilities": {"none": 1}}}
            >>> entry = Entry("tidy up", {0: {"answers": answers}, 1: {"answers": answers}})
            >>> recording = Recording({"tidy": entry}, "recording.json")
            >>> recording.lookup("tidy up", "tidy", 2)[1], recording.lookup("tidy", "tidy", 0)
            (0, None)
        """
        entry = self._entry(task, fixture)
        if entry is None:
            return None
        if repeat not in entry.responses:
            repeats = list(entry.responses)
            repeat = repeats[repeat % len(repeats)]
        return entry.responses[repeat], repeat

    def lacking(self, fixture: str, repeat: int) -> str:
        """What a message says of a request that :meth:`lookup` finds nothing for."""
        return f"{self.source}: no response to fixture {shorten(fixture)}, repeat {repeat}"

    def _entry(self, task: str, fixture: str) -> Entry | None:
        own = self.entries.get(fixture) or self.entries.get(hidden(fixture))
        if own is not None and (own.task == task or (MARK in own.task and fits(own.task, task))):
            return own
        same = self._by_task.get(task, ())
        return self.entries[same[0]] if same else None

    def document(self) -> dict[str, Any]:
        """The document, as JSON values."""
        return {
            fixture: {
                "task": entry.task,
                "responses": [{**response, REPEAT: repeat} for repeat, response in entry.responses.items()],
            }
            for fixture, entry in self.entries.items()
        }

    def text(self) -> str:
        """The document's text; the same responses give the same text."""
        return dump_json(self.document())


def _tells(task: str) -> bool:
    """Whether a recorded text is all that was sent, so that it identifies the task."""
    return task != WITHHELD and MARK not in task


def read_recording(path: str | Path) -> Recording:
    """Read a recording: the document, or the journal that an interrupted run left.

    Args:
        path: The document. Where there is none, the journal beside it is read. A name that ends in
            ``.journal.jsonl`` is a journal's.

    Returns:
        The recording. Unknown fields are passed over.

    Raises:
        InputError: The file cannot be read, is not strict JSON, holds no response or the same repeat twice,
            or a field is missing or has the wrong type; with file, fixture and number of the response.

    Example:
        >>> import tempfile
        >>> said = '{"answers": {"primary": {"choice": "none", "probabilities": {"none": 1}}}}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "recording.json"
        ...     _ = file.write_text('{"tidy": {"task": "tidy up", "responses": [' + said + "]}}")
        ...     recording = read_recording(file)
        >>> recording.responses, recording.entries["tidy"].task
        (1, 'tidy up')
    """
    target = Path(path)
    if target.name.endswith(JOURNAL):
        return _from_journal(target)
    journal = journal_of(target)
    if not target.exists() and journal.is_file():
        return _from_journal(journal)
    return _from_document(target)


def _from_document(path: Path) -> Recording:
    try:
        document = parse_json(read_text(path, WHAT))
    except json.JSONDecodeError as error:
        raise InputError(not_json(path, error, _EXPECTED)) from error
    except FlawError as error:
        raise InputError(": ".join([str(path), *_place(error.path), str(error)])) from error
    if type(document) is not dict or not document:
        raise InputError(f"{path}: found {shorten(document)}, expected {_EXPECTED}, at least one")
    entries: dict[str, Entry] = {}
    for fixture in sorted(document):
        try:
            name = text("id", fixture)
            entries[name] = _entry(document[name])
        except WrongError as error:
            raise InputError(f"{path}: fixture {shorten(fixture)}: {error}") from error
    return Recording(entries, str(path))


def _place(path: tuple[str | int, ...]) -> list[str]:
    """Where in a document something is, for messages."""
    fixture, number, fields = path[:1], path[2:3], path[3:]
    return [
        *(f"fixture {shorten(name)}" for name in fixture),
        *(f"response {place + 1}" for place in number if isinstance(place, int)),
        *([trail(fields)] if fields else []),
    ]


def _entry(value: Any) -> Entry:
    if type(value) is not dict:
        raise wrong("", shorten(value), "an object with task and responses")
    for name in ("task", "responses"):
        if name not in value:
            raise wrong(name, "nothing", "a value")
    given = value["responses"]
    if type(given) is not list or not given:
        raise wrong("responses", shorten(given), "a list of at least one response")
    responses: dict[int, Response] = {}
    for number, response in enumerate(given, start=1):
        try:
            repeat, kept = _response(response, number - 1)
            if repeat in responses:
                raise wrong(REPEAT, f"{repeat} again", "another repeat in each response")
        except WrongError as error:
            raise error.within(f"response {number}") from None
        responses[repeat] = kept
    return Entry(text("task", value["task"]), dict(sorted(responses.items())))


def _response(value: Any, position: int) -> tuple[int, Response]:
    kept = checked(value)
    if CANDIDATES in value:
        kept[CANDIDATES] = list(ids(CANDIDATES, value[CANDIDATES]))
    return whole(REPEAT, value.get(REPEAT, position)), kept


def _from_journal(path: Path) -> Recording:
    tasks: dict[str, str] = {}
    responses: dict[str, dict[int, Response]] = {}
    lines: dict[tuple[str, int], int] = {}
    for number, line in read_lines(path):
        where = f"{path}:{number}: fixture {shorten(line.fixture)}, repeat {line.repeat}"
        if (first := lines.setdefault(line.key, number)) != number:
            raise InputError(f"{where}: stands in line {first} too, expected once; take one of the lines out")
        if tasks.setdefault(line.fixture, line.task) != line.task:
            raise InputError(
                f"{where}: found another task than in the lines before, expected one a fixture: this journal "
                "is of runs with different settings, and no recording can be made of it"
            )
        responses.setdefault(line.fixture, {})[line.repeat] = line.kept()
    if not lines:
        raise InputError(f"{path}: found no response, expected {WHAT}: the run was interrupted too early")
    entries = {
        fixture: Entry(tasks[fixture], dict(sorted(responses[fixture].items())))
        for fixture in sorted(responses)
    }
    return Recording(entries, str(path), finished=False)
