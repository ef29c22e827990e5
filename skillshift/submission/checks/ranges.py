"""The ranges check: published decimals, each metric's bounds, and what an SFR rests on."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from skillshift.frame.exact import PUBLISHED_DECIMALS
from skillshift.metrics import LOW_COUNT, METRICS
from skillshift.submission.calls import most_calls
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.sheet import is_published
from skillshift.submission.slots import SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.submission.sheet import Sheet


def check_ranges(sheet: Sheet) -> Verdict:
    """Check each number for itself."""
    rates = [slot for slot in SLOTS if isinstance(sheet.value("SFR", slot), Decimal)]
    silent = [slot for slot in rates if slot not in sheet.calls and not _is_low(most_calls(sheet, slot))]
    unchecked = (
        [f"whether {len(silent)} SFR values rest on {LOW_COUNT} calls or more: no count by slot is given"]
        if silent
        else []
    )
    return Verdict(
        "ranges",
        (*_values(sheet), *_low_counts(sheet), *_unreported(sheet)),
        unchecked=tuple(unchecked),
    )


def _values(sheet: Sheet) -> Iterator[Finding]:
    for metric in METRICS:
        bounds = f"from {metric.lower:g}" + ("" if metric.upper is None else f" to {metric.upper:g}")
        for slot in SLOTS:
            value, path = sheet.value(metric.name, slot), slot.path(metric.name)
            if not isinstance(value, Decimal):
                continue
            if not is_published(value):
                yield Finding(
                    code="ranges.decimals",
                    path=path,
                    found=show(value),
                    expected=f"a number with {PUBLISHED_DECIMALS} decimals",
                    why="that is what a submission publishes, and more would narrow down single tasks",
                )
            if value < metric.lower or (metric.upper is not None and value > metric.upper):
                yield Finding(
                    code="ranges.bounds",
                    path=path,
                    found=show(value),
                    expected=f"a number {bounds} ({metric.unit})",
                    why=metric.summary,
                )
            elif metric.name == "AS" and value == 0:
                yield Finding(
                    code="ranges.no-steps",
                    severity="warning",
                    path=path,
                    found=show(value),
                    expected="a number above 0",
                    why="an agent that takes no step at all solves nothing; were steps recorded?",
                )


def _low_counts(sheet: Sheet) -> Iterator[Finding]:
    for slot in SLOTS:
        rate, calls = sheet.value("SFR", slot), most_calls(sheet, slot)
        if not isinstance(rate, Decimal) or not _is_low(calls):
            continue
        counted = slot in sheet.calls
        yield Finding(
            code="ranges.low-count",
            severity="warning",
            path=slot.path("SFR"),
            found=f"{show(rate)} on {'' if counted else 'at most '}{calls} skill call{'s' * (calls != 1)}",
            expected=f"{LOW_COUNT} calls or more for a steady rate",
            why="a few calls more or less would move it far; it is flagged wherever it is shown"
            + ("" if counted else f" (the bound follows from {_bound(sheet)})"),
        )


def _is_low(calls: int | None) -> bool:
    return calls is not None and calls < LOW_COUNT


def _bound(sheet: Sheet) -> str:
    total = "" if sheet.total_calls is None else " and the total of skill calls"
    return f"the printed ASC, the official task counts{total}"


def _unreported(sheet: Sheet) -> Iterator[Finding]:
    if sheet.self_reported and sheet.total_calls is None and not sheet.is_null("ASC"):
        yield Finding(
            code="ranges.calls-unreported",
            path="n.skill_calls",
            found=show(sheet.at("n", "skill_calls"))
            if sheet.at("n", "skill_calls") is None
            else "nothing usable",
            expected="the counts of skill calls by website, condition and overall, or at least their total",
            why=f"without them nobody can tell an SFR on fewer than {LOW_COUNT} calls from a steady one",
        )
