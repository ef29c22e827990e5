"""Quotas: how many candidates each group of kinds may contribute to a shortlist."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from skillful_eval.schema import KINDS
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.nearest import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHARED = "command+rule"

KIND_GROUPS: dict[str, str] = {kind: _SHARED if kind in _SHARED.split("+") else kind for kind in KINDS}
"""The quota group of every kind of capability: commands and rules share one."""

GROUPS = tuple(dict.fromkeys(KIND_GROUPS.values()))
"""The quota groups, in the order in which outputs list them."""

LARGEST = 1_000_000
"""The largest quota: no corpus has more capabilities of a kind."""

MOST_COMBINATIONS = 100_000
"""How many quotas the ranges of a sweep may span."""

_FORM = f"GROUP=NUMBER with GROUP one of {', '.join(GROUPS)}"
_RANGE_FORM = "GROUP=FIRST:LAST or GROUP=FIRST:LAST:STEP, LAST included"


@dataclass(frozen=True, slots=True)
class Quotas:
    """How many candidates of each quota group a shortlist takes, at most; unused quota is not given away.

    Attributes:
        skill: Of skills.
        mcp: Of MCP servers and their tools.
        agent: Of agents.
        command_rule: Of commands and rules together.

    Raises:
        UsageError: A quota is no whole number from 0.

    >>> Quotas(skill=8).text, Quotas(skill=8)["mcp"]
    ('skill=8,mcp=4,agent=3,command+rule=2', 4)
    """

    skill: int = 6
    mcp: int = 4
    agent: int = 3
    command_rule: int = 2

    DEFAULT: ClassVar[Quotas]

    def __post_init__(self) -> None:
        for group, value in self.by_group.items():
            if type(value) is not int or not 0 <= value <= LARGEST:
                raise UsageError(
                    f"quota {group}: found {shorten(value)}, expected a whole number from 0 to {LARGEST:,}"
                )

    def __getitem__(self, group: str) -> int:
        """The quota of one of :data:`GROUPS`."""
        return self.by_group[group]

    @property
    def by_group(self) -> Mapping[str, int]:
        """The quotas by group, in the order of :data:`GROUPS`."""
        return {group: getattr(self, field) for group, field in _FIELDS.items()}

    @property
    def text(self) -> str:
        """The quotas as :func:`parse_quotas` reads them, always in the same order."""
        return ",".join(f"{group}={value}" for group, value in self.by_group.items())

    @property
    def total(self) -> int:
        """The longest shortlist that they allow."""
        return sum(self.by_group.values())


_FIELDS = dict(zip(GROUPS, (field.name for field in fields(Quotas)), strict=True))
"""The attribute that holds each group's quota."""

DEFAULT = Quotas.DEFAULT = Quotas()
"""Skill 6, MCP 4, agent 3, command and rule together 2."""


def parse_quotas(texts: Iterable[str]) -> Quotas:
    """Read quotas from the command line.

    Args:
        texts: Texts such as ``skill=6`` or ``skill=6,mcp=4``. A group that none names has its quota of
            :data:`DEFAULT`.

    Returns:
        The quotas.

    Raises:
        UsageError: A text has another form, names an unknown group or one that was named before, or its
            number is no whole number from 0.

    >>> parse_quotas(["skill=8,mcp=2", "agent=0"]).text
    'skill=8,mcp=2,agent=0,command+rule=2'
    """
    return _quotas({group: _number(group, value) for group, value in _settings(texts, _FORM)})


def parse_ranges(texts: Iterable[str]) -> list[Quotas]:
    """Read ranges of quotas from the command line.

    Args:
        texts: As :func:`parse_quotas` takes them, and ``skill=4:14`` (every quota from 4 to 14) or
            ``skill=4:14:2`` (every second one).

    Returns:
        The quotas of every combination; the last group that has a range changes quickest.

    Raises:
        UsageError: As :func:`parse_quotas`; a range is empty or has more than three numbers; its step is 0;
            the ranges span more than :data:`MOST_COMBINATIONS` combinations.

    >>> [one.text for one in parse_ranges(["skill=4:8:4", "mcp=1:2"])][:2]
    ['skill=4,mcp=1,agent=3,command+rule=2', 'skill=4,mcp=2,agent=3,command+rule=2']
    """
    ranges = {group: _range(group, value) for group, value in _settings(texts, f"{_FORM}, or {_RANGE_FORM}")}
    count = 1
    for values in ranges.values():
        count *= len(values)
    if count > MOST_COMBINATIONS:
        raise UsageError(
            f"quotas: the ranges span {count:,} combinations, expected at most {MOST_COMBINATIONS:,}; "
            "give fewer values, or a step"
        )
    ordered = {group: ranges[group] for group in GROUPS if group in ranges}
    return [_quotas(dict(zip(ordered, values, strict=True))) for values in product(*ordered.values())]


def _quotas(by_group: Mapping[str, int]) -> Quotas:
    return Quotas(**{_FIELDS[group]: value for group, value in by_group.items()})


def _settings(texts: Iterable[str], form: str) -> list[tuple[str, str]]:
    """Groups and what is set for them, each group once."""
    found: dict[str, str] = {}
    for text in (part for given in texts for part in given.split(",")):
        group, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not group or not value:
            raise UsageError(f"quota: found {shorten(text)}, expected {form}, several parted by commas")
        if group not in GROUPS:
            raise UsageError(f"quota: found the group {shorten(group)}, expected {form}; {_meant(group)}")
        if group in found:
            raise UsageError(f"quota {group}: given twice, {found[group]} and {value}; give it once")
        found[group] = value
    return list(found.items())


def _meant(group: str) -> str:
    """What to do about an unknown group."""
    kind = group.lower()
    if kind in KIND_GROUPS and KIND_GROUPS[kind] != kind:
        return f"{kind} shares the quota {KIND_GROUPS[kind]} with its neighbour: write {KIND_GROUPS[kind]}="
    return suggest(group, GROUPS) or "no group is near it"


def _number(group: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text):
        raise UsageError(
            f"quota {group}: found {shorten(text)}, expected a whole number from 0 to {LARGEST:,}"
        )
    return int(text)


def _range(group: str, text: str) -> range:
    parts = [_number(group, part.strip()) for part in text.split(":")]
    if len(parts) == 1:
        return range(parts[0], parts[0] + 1)
    first, last, *rest = parts
    step = rest[0] if rest else 1
    if len(rest) > 1 or step == 0 or last < first:
        raise UsageError(
            f"quota {group}: found the range {shorten(text)}, expected {_RANGE_FORM}, "
            "FIRST no larger than LAST and STEP from 1"
        )
    return range(first, last + 1, step)
