"""The faults that corpora, fixtures, runs and event logs are refused for: one definition of each.

Each kind turns a valid record into the text of a line (in a corpus: of an entry) that must be refused.
Suites parametrise over :data:`FAULTS`, or draw from it by :func:`skillful_eval.testing.faulty_jsonl` and
:func:`skillful_eval.testing.faulty_corpora`.

>>> FAULTS["runs", "latency_ms-negative"].code, FAULTS["fixtures", "gold-none-beside"].code
('latency_ms.range', 'gold.none-beside')
>>> FAULTS["runs", "repeat-negative"].line({"fixture_id": "f", "repeat": 0})
'{"fixture_id": "f", "repeat": -1}'
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from skillful_eval.events_schema import EVENTS, RANKING, ROUTE, USE
from skillful_eval.schema import (
    DEGRADED,
    FIXTURES,
    INJECTED,
    LATENCY_LIMIT_MS,
    NONE,
    REPLAYED,
    RUNS,
    SKIPPED,
    TOKEN_LIMIT,
)
from skillful_eval.snapshot import FIELDS as ENTRY_FIELDS
from skillful_eval.snapshot import REQUIRED
from skillshift.frame.contract import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillshift.frame.contract import Table

    Record = Mapping[str, Any]
    Break = Callable[[Record], str]

Source = Literal["corpus", "fixtures", "runs", "events"]
"""What a fault can be in."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One way in which a record of a file can be wrong.

    Attributes:
        of: The file: ``corpus``, ``fixtures``, ``runs`` or ``events``.
        name: What to call it, such as ``repeat-negative``; unique among those of its file.
        code: The reason code that the refusal must carry.
        field: The field that the refusal must point at; None where the record as a whole is wrong.
        line: From a valid record, the text of the broken one. Encode it with ``errors="surrogateescape"``:
            a byte that is not UTF-8 stands as a lone surrogate.
        cut: Whether the fault is that the file ends here, so that it only makes sense in the last line.
    """

    of: Source
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
        line: The 1-based line of the file; in a corpus, the number of the entry.
        field: The field that the refusal must point at; None where the record as a whole is wrong.
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
    return lambda record: json_line({**record, **changes})


def _without(field: str) -> Break:
    return lambda record: json_line({key: value for key, value in record.items() if key != field})


def _text(change: Callable[[str], str]) -> Break:
    return lambda record: change(json_line(record))


_WRONG_TYPES: Final[Mapping[Kind, Mapping[str, Any]]] = {
    Kind.TEXT: {"number": 7, "flag": True, "list": ["a"], "object": {"a": "b"}},
    Kind.LABEL: {"flag": True, "list": ["a"]},
    Kind.FLAG: {"text": "true", "zero": 0, "one": 1},
    Kind.COUNT: {"text": "3", "flag": True, "list": [3], "empty-text": ""},
    Kind.NUMBER: {"text": "3.5", "flag": True, "list": [3.5]},
    Kind.TEXTS: {"text": "a", "number": 7, "object": {"a": "b"}, "list-of-numbers": [7]},
}


def _of_table(of: Source, table: Table) -> Iterator[FaultKind]:
    """What every file of lines can have, and what the fields' definitions imply."""
    first = table.fields[0].name
    yield FaultKind(of, "cut-line", "json.cut", None, _text(lambda text: text[: len(text) // 2]), cut=True)
    yield FaultKind(of, "prose", "json.syntax", None, lambda _: "Traceback (most recent call last):")
    yield FaultKind(of, "trailing-comma", "json.syntax", None, _text(lambda text: f"{text[:-1]},}}"))
    yield FaultKind(of, "list", "json.object", None, _text(lambda text: f"[{text}]"))
    yield FaultKind(of, "literal-nan", "json.constant", "x", _text(lambda text: f'{text[:-1]}, "x": NaN}}'))
    yield FaultKind(of, "not-utf8", "encoding.utf8", None, _set(note="caf\udce9"))
    twice = _text(lambda text: f'{text[:-1]}, "{first}": "again"}}')
    yield FaultKind(of, "key-twice", "json.duplicate-key", first, twice)
    for field in table.fields:
        name = field.name
        if field.required:
            yield FaultKind(of, f"{name}-absent", f"{name}.missing-key", name, _without(name))
        if not field.nullable:
            yield FaultKind(of, f"{name}-null", f"{name}.missing", name, _set(**{name: None}))
        for what, value in _WRONG_TYPES[field.kind].items():
            yield FaultKind(of, f"{name}-as-{what}", f"{name}.type", name, _set(**{name: value}))
        if field.kind is Kind.COUNT:
            yield FaultKind(of, f"{name}-fraction", f"{name}.fraction", name, _set(**{name: 2.5}))
            yield FaultKind(of, f"{name}-negative", f"{name}.negative", name, _set(**{name: -1}))


def _fixture_faults() -> Iterator[FaultKind]:
    for name, code, field, changes in (
        ("prompt-blank", "prompt.empty", "prompt", {"prompt": " \t"}),
        ("gold-empty", "gold.empty", "gold", {"gold": []}),
        ("gold-blank", "gold.blank", "gold", {"gold": [" "]}),
        ("gold-none-beside", "gold.none-beside", "gold", {"gold": [NONE, NONE]}),
        ("gold-unknown", "gold.unknown", "gold", {"gold": ["no such capability"]}),
    ):
        yield FaultKind("fixtures", name, code, field, _set(**changes))


def _number_faults(of: Source, latency: str, *probabilities: str) -> Iterator[FaultKind]:
    for name, value in (("negative", -0.5), ("too-long", LATENCY_LIMIT_MS * 2)):
        yield FaultKind(of, f"{latency}-{name}", f"{latency}.range", latency, _set(**{latency: value}))
    counted = (RUNS if of == "runs" else EVENTS).fields
    for field in (one.name for one in counted if one.name.startswith("tokens")):
        yield FaultKind(
            of, f"{field}-too-large", f"{field}.too-large", field, _set(**{field: TOKEN_LIMIT + 1})
        )
    for field in probabilities:
        for name, value in (("negative", -0.1), ("above-one", 1.1)):
            yield FaultKind(of, f"{field}-{name}", f"{field}.range", field, _set(**{field: value}))


_EXCUSED = "latency_reason.beside-latency"


def _run_faults() -> Iterator[FaultKind]:
    strange = "no such id"
    for name, code, field, changes in (
        ("decision-unknown", "decision.unknown", "decision", {"decision": "maybe", "chosen": None}),
        ("chosen-missing", "chosen.missing", "chosen", {"decision": INJECTED, "chosen": None}),
        ("chosen-unknown", "chosen.unknown", "chosen", {"decision": INJECTED, "chosen": strange}),
        ("fixture-unknown", "fixture_id.unknown", "fixture_id", {"fixture_id": strange}),
        ("shortlist-unknown", "shortlist.unknown", "shortlist", {"shortlist": [strange]}),
        ("latency-and-reason", _EXCUSED, "latency_reason", {"latency_ms": 1.0, "latency_reason": REPLAYED}),
    ):
        yield FaultKind("runs", name, code, field, _set(**changes))
    for decision in (SKIPPED, DEGRADED):

        def chosen(record: Record, decision: str = decision) -> str:
            return json_line({**record, "decision": decision, "chosen": record["fixture_id"]})

        name = f"chosen-{decision}"
        yield FaultKind("runs", name, "chosen.without-injection", "chosen", chosen)
    yield from _number_faults("runs", "latency_ms", "none_p", "winner_p")


def _event_faults() -> Iterator[FaultKind]:
    injected = {"kind": ROUTE, "decision": INJECTED}
    for name, code, field, changes in (
        ("ts-without-zone", "ts.unknown", "ts", {"ts": "2026-01-31T09:30:00"}),
        ("ts-in-seconds", "ts.unknown", "ts", {"ts": 1_769_851_800}),
        ("decision-unknown", "decision.unknown", "decision", {"kind": ROUTE, "decision": "maybe"}),
        ("decision-null", "decision.unknown", "decision", {"kind": ROUTE, "decision": None}),
        ("primary-missing", "primary.missing", "primary", {**injected, "primary": None}),
        ("capability-missing", "capabilityId.missing", "capabilityId", {"kind": USE, "capabilityId": ""}),
        ("ranking-of-texts", f"{RANKING}.type", RANKING, {RANKING: ["a"]}),
    ):
        yield FaultKind("events", name, code, field, _set(**changes))
    yield from _number_faults("events", "latencyMs", "noneP", "confidence")


def _corpus_faults() -> Iterator[FaultKind]:
    yield FaultKind("corpus", "entry-as-text", "entry.type", None, lambda _: '"an entry"')
    yield FaultKind("corpus", "kind-unknown", "kind.unknown", "kind", _set(kind="skills"))
    for field in ENTRY_FIELDS:
        if field in REQUIRED:
            yield FaultKind("corpus", f"{field}-absent", f"{field}.missing", field, _without(field))
        for what, value in (("number", 7), ("null", None), ("list", ["a"])):
            yield FaultKind("corpus", f"{field}-as-{what}", f"{field}.type", field, _set(**{field: value}))
    for field in ("id", "name"):
        yield FaultKind("corpus", f"{field}-blank", f"{field}.empty", field, _set(**{field: " "}))
        yield FaultKind("corpus", f"{field}-none", f"{field}.reserved", field, _set(**{field: NONE}))


FAULTS: Final[Mapping[tuple[Source, str], FaultKind]] = {
    (kind.of, kind.name): kind
    for kinds in (
        _corpus_faults(),
        _of_table("fixtures", FIXTURES),
        _fixture_faults(),
        _of_table("runs", RUNS),
        _run_faults(),
        _of_table("events", EVENTS),
        _event_faults(),
    )
    for kind in kinds
}
"""Every fault of a single record, by its file and name."""


def faults_of(of: Source) -> tuple[FaultKind, ...]:
    """The faults of one kind of file.

    >>> len(faults_of("runs")) > len(faults_of("corpus")) > 10
    True
    """
    return tuple(kind for kind in FAULTS.values() if kind.of == of)
