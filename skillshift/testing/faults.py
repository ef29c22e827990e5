"""The faults that a per-task log is refused for: one definition of each, with its reason code.

Each kind turns a valid record into the text of a line that must be refused. Suites parametrise over
:data:`FAULTS`, or draw from it by :func:`skillshift.testing.faulty_jsonl`.

>>> from skillshift.grid import SKILLSHIFT
>>> FAULTS["steps-negative"].code, FAULTS["literal-nan"].code
('steps.negative', 'json.constant')
>>> FAULTS["success-as-text"].line({"uid": "a", "success": True}, SKILLSHIFT)
'{"uid": "a", "success": "fail"}'
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from skillshift.frame.contract import Kind
from skillshift.schema import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillshift.grid import Grid

    Record = Mapping[str, Any]
    Break = Callable[[Record, Grid], str]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One way in which a line of a per-task log can be wrong.

    Attributes:
        name: What to call it, such as ``steps-negative``.
        code: The reason code that the refusal must carry.
        field: The field that the refusal must point at; None where the line as a whole is wrong.
        line: From a valid record and its grid, the text of the broken line. Encode it with
            ``errors="surrogateescape"``: a byte that is not UTF-8 stands as a lone surrogate.
        cut: Whether the fault is that the file ends here, so that it only makes sense in the last line.
    """

    name: str
    code: str
    field: str | None
    line: Break
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was put into a file, and where it must be reported.

    Attributes:
        kind: The name of its :class:`FaultKind`.
        line: The 1-based line of the file.
        field: The field that the refusal must point at; None where the line as a whole is wrong.
        code: The reason code that the refusal must carry.
    """

    kind: str
    line: int
    field: str | None
    code: str


def json_line(record: Record) -> str:
    """A record as one line of JSON, characters beyond ASCII as they are."""
    return json.dumps(dict(record), ensure_ascii=False)


def _set(**changes: Any) -> Break:
    return lambda record, _grid: json_line({**record, **changes})


def _measured(**changes: Any) -> Break:
    """Changes in a record that counts, whatever the record was."""
    return _set(**({"success": True, "steps": 1, "error": None} | changes))


def _raw(field: str, text: str) -> Break:
    """A value that a JSON writer would not write."""
    marker = "\N{OBJECT REPLACEMENT CHARACTER}"
    return lambda record, _grid: json_line({**record, field: marker}).replace(f'"{marker}"', text)


def _text(change: Callable[[str], str]) -> Break:
    return lambda record, _grid: change(json_line(record))


def _without(field: str) -> Break:
    return lambda record, _grid: json_line({key: value for key, value in record.items() if key != field})


def _renamed(field: str, change: Callable[[str], str]) -> Break:
    """A name that is almost the grid's; where the change changes nothing, a trailing blank."""

    def line(record: Record, _grid: Grid) -> str:
        name = str(record[field])
        return json_line({**record, field: change(name) if change(name) != name else f"{name} "})

    return line


def _uid(of: Callable[[Record, Grid], str]) -> Break:
    return lambda record, grid: json_line({**record, "uid": of(record, grid)})


def _beyond(record: Record, grid: Grid) -> str:
    return f"skillshift.{record['site']}.v1.{grid.websites[record['site']]}"


_WRONG_TYPES: Final[Mapping[Kind, Mapping[str, Any]]] = {
    Kind.TEXT: {"number": 7, "flag": True, "list": ["a"], "object": {"a": "b"}},
    Kind.LABEL: {"flag": True, "list": ["a"]},
    Kind.FLAG: {"text": "fail", "zero": 0, "one": 1, "reward": 0.5, "quoted": "true"},
    Kind.COUNT: {"text": "3", "flag": True, "list": [3], "empty-text": ""},
}


def _field_faults() -> Iterator[FaultKind]:
    """What the fields' definitions imply."""
    for field in FIELDS:
        name = field.name
        if field.required:
            yield FaultKind(f"{name}-absent", f"{name}.missing-key", name, _without(name))
        if not field.nullable and field.required:
            yield FaultKind(f"{name}-null", f"{name}.missing", name, _set(**{name: None}))
            yield FaultKind(f"{name}-empty", f"{name}.missing", name, _set(**{name: ""}))
        for what, value in _WRONG_TYPES[field.kind].items():
            yield FaultKind(f"{name}-as-{what}", f"{name}.type", name, _set(**{name: value}))
        if field.kind is Kind.COUNT:
            yield FaultKind(f"{name}-fraction", f"{name}.fraction", name, _set(**{name: 2.5}))
            yield FaultKind(f"{name}-beyond-64-bits", f"{name}.range", name, _set(**{name: 2**63}))


_LINE_FAULTS: Final = (
    FaultKind("cut-line", "json.cut", None, _text(lambda text: text[: len(text) // 2]), cut=True),
    FaultKind("cut-before-brace", "json.cut", None, _text(lambda text: text[:-1]), cut=True),
    FaultKind("trailing-comma", "json.syntax", None, _text(lambda text: f"{text[:-1]},}}")),
    FaultKind("comment", "json.syntax", None, _text(lambda text: f"# {text}")),
    FaultKind("comment-after", "json.syntax", None, _text(lambda text: f"{text} // done")),
    FaultKind("single-quotes", "json.syntax", None, _text(lambda text: text.replace('"', "'"))),
    FaultKind("two-objects", "json.syntax", None, _text(lambda text: f"{text} {text}")),
    FaultKind("prose", "json.syntax", None, _text(lambda _: "Traceback (most recent call last):")),
    FaultKind("literal-nan", "json.constant", "steps", _raw("steps", "NaN")),
    FaultKind("literal-infinity", "json.constant", "skill_calls", _raw("skill_calls", "Infinity")),
    FaultKind("literal-minus-infinity", "json.constant", "note", _raw("note", "-Infinity")),
    FaultKind("list", "json.object", None, _text(lambda text: f"[{text}]")),
    FaultKind("null", "json.object", None, _text(lambda _: "null")),
    FaultKind("number", "json.object", None, _text(lambda _: "3")),
    FaultKind("text", "json.object", None, _text(lambda _: '"a record"')),
    FaultKind("not-utf8", "encoding.utf8", None, _set(note="caf\udce9")),
    FaultKind("half-a-surrogate-pair", "json.surrogate", None, _raw("note", r'"\ud83d"')),
    FaultKind("readers-own-column", "json.reserved-key", "_file", _set(_file="log.jsonl")),
    FaultKind("empty-object", "uid.missing-key", "uid", _text(lambda _: "{}")),
    FaultKind(
        "key-twice", "json.duplicate-key", "success", _text(lambda text: f'{text[:-1]}, "success": false}}')
    ),
    FaultKind(
        "other-key-twice", "json.duplicate-key", "a", _text(lambda text: f'{text[:-1]}, "a": 1, "a": 1}}')
    ),
)

_RECORD_FAULTS: Final = (
    FaultKind("success-null", "success.missing", "success", _measured(success=None)),
    FaultKind("steps-null", "steps.missing", "steps", _measured(steps=None)),
    FaultKind("steps-negative", "steps.negative", "steps", _set(steps=-1)),
    FaultKind("steps-too-large", "steps.too-large", "steps", _set(steps=2**32)),
    FaultKind(
        "calls-too-large", "skill_calls.too-large", "skill_calls", _set(skill_calls=2**62, skill_failures=0)
    ),
    FaultKind(
        "calls-negative", "skill_calls.negative", "skill_calls", _set(skill_calls=-1, skill_failures=-1)
    ),
    FaultKind(
        "failures-negative",
        "skill_failures.negative",
        "skill_failures",
        _set(skill_calls=2, skill_failures=-2),
    ),
    FaultKind(
        "failures-above-calls",
        "skill_failures.above-calls",
        "skill_failures",
        _set(skill_calls=1, skill_failures=2),
    ),
    FaultKind("calls-half", "skill_calls.half", "skill_calls", _set(skill_calls=2, skill_failures=None)),
    FaultKind("failures-half", "skill_calls.half", "skill_calls", _set(skill_calls=None, skill_failures=0)),
    FaultKind("error-empty", "error.empty", "error", _set(error="")),
)

_GRID_FAULTS: Final = (
    *(
        FaultKind(f"{field}-{how}", f"{field}.unknown", field, _renamed(field, change))
        for field in ("site", "condition")
        for how, change in {
            "unknown": lambda name: f"not-{name}",
            "other-case": str.swapcase,
            "trailing-blank": lambda name: f"{name} ",
            "decomposed": lambda name: unicodedata.normalize("NFD", name),
        }.items()
    ),
    FaultKind("uid-of-other-site", "uid.site", "uid", _uid(lambda r, _: f"skillshift.not-{r['site']}.v1.0")),
    FaultKind("uid-out-of-range", "uid.range", "uid", _uid(_beyond)),
    FaultKind("uid-far-out-of-range", "uid.range", "uid", _uid(lambda r, g: f"{_beyond(r, g)}{'9' * 20}")),
)

FAULTS: Final[Mapping[str, FaultKind]] = {
    kind.name: kind for kind in (*_LINE_FAULTS, *_field_faults(), *_RECORD_FAULTS, *_GRID_FAULTS)
}
"""Every fault of a single line, by name."""
