"""Granularity: which published success rates complete cells of the official counts can average to.

A cell's SR is a whole number of its tasks, so a website's is one of a few hundred fractions, and most
numbers with two decimals lie between two of them. Everything is computed in integers, and allows for
cells that were rounded to two decimals before they were averaged. It warns; it never fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import ceil, floor, lcm
from typing import TYPE_CHECKING

from skillshift.frame.exact import PUBLISHED_DECIMALS, half_up
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.sheet import is_published
from skillshift.submission.slots import (
    CONDITION_SLOTS,
    OVERALL,
    SLOTS,
    WEBSITE_SLOTS,
    WEBSITE_TASKS,
    Slot,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillshift.submission.sheet import Sheet

METRIC = "SR"
UNITS = 10**PUBLISHED_DECIMALS
"""Printed units in 1: everything below counts in hundredths of a percent."""

HALF = Fraction(1, 2)

WHOLE = 100 * UNITS
"""100 %, in printed units."""


def check_granularity(sheet: Sheet) -> Verdict:
    """Warn of success rates that no complete run of one model can have."""
    if sheet.mixed:
        return Verdict(
            "granularity", unchecked=("the entry pools several models, so its cells are larger",), ran=False
        )
    findings = []
    for slot in SLOTS:
        value = sheet.value(METRIC, slot)
        if isinstance(value, Decimal) and is_published(value) and 0 <= value <= 100:  # noqa: PLR2004 - percent
            printed = int(value * UNITS)
            if not can_occur(slot, printed):
                findings.append(_finding(slot, printed, show(value)))
    return Verdict("granularity", tuple(findings))


def can_occur(slot: Slot, printed: int) -> bool:
    """Whether complete cells can average to a published number.

    Args:
        slot: The slot.
        printed: The published success rate in hundredths of a percent, from 0 to 10,000.

    Returns:
        Whether some number of solved tasks gives it, with the cells averaged as they are or rounded to two
        decimals first; overall also where the websites or conditions were rounded and then averaged. An
        exact half may have been rounded either way.
    """
    if _near(_exact_sums(slot), printed) or _near(_rounded_sums(slot), printed):
        return True
    return slot.group == OVERALL and _from_rounded_sides(printed)


def _from_rounded_sides(printed: int) -> bool:
    """Whether the mean of published websites or conditions gives an overall number."""
    # Solved and unsolved tasks are alike, so a number near 100 % is as one near 0 with few sums to try.
    low = min(printed, WHOLE - printed)
    for side in (WEBSITE_SLOTS, CONDITION_SLOTS):
        most = min(len(side) * (low + 1), WHOLE)
        bits = 1
        for slot in side:
            bits = _plus_any(bits, [value for value in range(most + 1) if can_occur(slot, value)])
        if _near(_Sums(bits, Fraction(1, len(side))), low):
            return True
    return False


def neighbours(slot: Slot, printed: int) -> tuple[str, str]:
    """The nearest success rates below and above a number that no complete cells average to.

    >>> neighbours(Slot("websites", "gitlab"), 2300)
    ('22.94', '23.05')
    """
    sums = _exact_sums(slot)
    at = Fraction(printed) / sums.unit
    first_above = floor(at) + 1
    below = (sums.bits & ((1 << first_above) - 1)).bit_length() - 1
    rest = sums.bits >> first_above
    above = first_above + (rest & -rest).bit_length() - 1
    return half_up(below * sums.unit / UNITS), half_up(above * sums.unit / UNITS)


def _finding(slot: Slot, printed: int, shown: str) -> Finding:
    below, above = neighbours(slot, printed)
    cells = " or ".join(str(WEBSITE_TASKS[name]) for name in slot.websites)
    return Finding(
        code="granularity.unattainable",
        severity="warning",
        path=slot.path(METRIC),
        found=f"{shown}, which lies between {below} and {above}",
        expected=f"a mean of {slot.cells} cells of {cells} tasks",
        why="the value cannot come from complete cells of the official counts",
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Which sums can occur: bit s is set where s units can; a unit is in hundredths of a percent."""

    bits: int
    unit: Fraction


def _near(sums: _Sums, printed: int) -> bool:
    """Whether a sum that can occur is printed so: it is at most half a printed unit away."""
    low, high = (printed - HALF) / sums.unit, (printed + HALF) / sums.unit
    first, last = max(0, ceil(low)), floor(high)
    return last >= first and (sums.bits >> first) & ((1 << (last - first + 1)) - 1) != 0


@cache
def _exact_sums(slot: Slot) -> _Sums:
    """The sums of the slot's cells, each a whole number of tasks."""
    common = lcm(*(WEBSITE_TASKS[name] for name in slot.websites))
    bits = 1
    for name in slot.websites:
        tasks = WEBSITE_TASKS[name]
        bits = _plus_multiples(bits, common // tasks, tasks * len(slot.conditions))
    return _Sums(bits, Fraction(WHOLE, common * slot.cells))


@cache
def _rounded_sums(slot: Slot) -> _Sums:
    """The same with each cell rounded to two decimals first."""
    bits = 1
    for name in slot.websites:
        cells = _rounded_cells(WEBSITE_TASKS[name])
        for _ in slot.conditions:
            bits = _plus_any(bits, cells)
    return _Sums(bits, Fraction(1, slot.cells))


@cache
def _rounded_cells(tasks: int) -> tuple[int, ...]:
    """What a cell of so many tasks can print, an exact half either way."""
    exact = [Fraction(WHOLE * solved, tasks) for solved in range(tasks + 1)]
    return tuple(sorted({p for x in exact for p in range(ceil(x - HALF), floor(x + HALF) + 1)}))


def _plus_multiples(bits: int, step: int, most: int) -> int:
    """Add any of 0, step, 2 step, ..., most steps to each sum: doubling needs few shifts."""
    done = 0
    while done < most:
        more = min(done + 1, most - done)
        bits |= bits << (step * more)
        done += more
    return bits


def _plus_any(bits: int, values: Iterable[int]) -> int:
    found = 0
    for value in values:
        found |= bits << value
    return found
