"""What the oracle knows of one fixture and of one run, in plain Python: gold, ranks, and right or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillful_eval.schema import INJECTED, KINDS, NONE, SKIPPED
from skillshift.frame.errors import InputError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Record = Mapping[str, Any]


def folded(name: str) -> str:
    """What a name stands for.

    >>> folded("ops:Undo") == folded("ops-undo")
    True
    """
    return name.replace(":", "-").lower()


@dataclass(frozen=True, slots=True)
class Expected:
    """What one fixture expects.

    Attributes:
        fixture: The fixture's id.
        group: Its group.
        answers: For each distinct gold name, the ids that are this answer; empty where it must abstain.
        kinds: The kinds of those ids, in the order of reports.
    """

    fixture: str
    group: str
    answers: tuple[frozenset[str], ...]
    kinds: tuple[str, ...]

    @property
    def ids(self) -> frozenset[str]:
        """Every id that is right."""
        return frozenset().union(*self.answers)


def expectations(entries: Iterable[Record], fixtures: Iterable[Record]) -> list[Expected]:
    """What each fixture expects of a corpus.

    Args:
        entries: The corpus' entries: ``id``, ``kind``, ``name``.
        fixtures: The fixtures: ``id``, ``group``, ``gold`` (names or ids, or exactly ``["none"]``).

    Raises:
        InputError: No entry carries a gold.
    """
    corpus = list(entries)
    return [_expected(corpus, fixture) for fixture in fixtures]


def _expected(entries: Sequence[Record], fixture: Record) -> Expected:
    answers: dict[str, set[str]] = {}
    for gold in fixture["gold"] if fixture["gold"] != [NONE] else []:
        outright = [entry for entry in entries if entry["id"] == gold]
        named = [entry for entry in entries if folded(entry["name"]) == folded(gold)]
        if not outright and not named:
            raise InputError(f"fixture {shorten(fixture['id'])}: gold {shorten(gold)} is in no entry")
        # A gold that is an id means what that entry's name means, and the same answer as that name.
        meaning = folded(outright[0]["name"] if outright else gold)
        answers.setdefault(meaning, set()).update(entry["id"] for entry in outright + named)
    right = {one for ids in answers.values() for one in ids}
    kinds = {entry["kind"] for entry in entries if entry["id"] in right}
    return Expected(
        fixture["id"],
        fixture["group"],
        tuple(frozenset(ids) for ids in answers.values()),
        tuple(kind for kind in KINDS if kind in kinds),
    )


@dataclass(frozen=True, slots=True)
class Run:
    """One run held against its fixture.

    Attributes:
        record: The run as it was recorded.
        expected: What its fixture expects.
        shortlist: The distinct ids of its shortlist, each at its first place.
    """

    record: Record
    expected: Expected
    shortlist: tuple[str, ...]

    @classmethod
    def of(cls, record: Record, expected: Expected) -> Run:
        """Hold a recorded run against what its fixture expects."""
        return cls(record, expected, tuple(dict.fromkeys(record["shortlist"])))

    @property
    def answerable(self) -> bool:
        """Whether the fixture expects a capability."""
        return bool(self.expected.answers)

    @property
    def rank(self) -> int | None:
        """The first right id's place among the distinct ids, from 1."""
        right = self.expected.ids
        return next((place for place, one in enumerate(self.shortlist, 1) if one in right), None)

    @property
    def found(self) -> int:
        """How many answers the shortlist reaches through any of their ids."""
        return sum(not ids.isdisjoint(self.shortlist) for ids in self.expected.answers)

    @property
    def decision(self) -> str | None:
        """What was decided; None in a run that only retrieves."""
        return self.record.get("decision")

    @property
    def right_pick(self) -> bool:
        """Whether it picked a right id."""
        return self.decision == INJECTED and self.record["chosen"] in self.expected.ids

    @property
    def wrong_pick(self) -> bool:
        """Whether it picked a wrong id although there was a right one."""
        return self.answerable and self.decision == INJECTED and not self.right_pick

    @property
    def off_list(self) -> bool:
        """Whether it picked an id that the shortlist did not offer."""
        return self.decision == INJECTED and self.record["chosen"] not in self.shortlist

    @property
    def choice(self) -> tuple[str, str | None] | None:
        """What must be equal for two repeats to agree; None where nothing was decided."""
        if self.decision == INJECTED:
            return INJECTED, self.record["chosen"]
        return (SKIPPED, self.record.get("reason")) if self.decision == SKIPPED else None
