"""The marginals check: official task counts, the identity of the three means, one pattern of nulls, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.exact import Interval, half_up
from skillshift.submission.calls import average_of, calls_of, overall_average
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.sheet import MISSING, is_count
from skillshift.submission.slots import (
    CONDITION_SLOTS,
    CONDITIONS,
    METRIC_NAMES,
    OFFICIAL_COUNTS,
    OVERALL,
    OVERALL_SLOT,
    SLOTS,
    WEBSITE_SLOTS,
    WEBSITES,
    Slot,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.submission.sheet import Sheet

SIDES = {WEBSITES: WEBSITE_SLOTS, CONDITIONS: CONDITION_SLOTS, OVERALL: (OVERALL_SLOT,)}
"""The three ways to average a metric's eighteen cells."""


def check_marginals(sheet: Sheet) -> Verdict:
    """Check what must hold between a document's numbers."""
    findings = [*_counts(sheet)]
    unchecked = []
    for metric in METRIC_NAMES:
        findings += _identity(sheet, metric)
        findings += _nulls(sheet, metric)
        sides = [side for side, slots in SIDES.items() if sheet.intervals(metric, slots) is None]
        if sides and not sheet.is_null(metric):
            unchecked.append(f"{metric}: the identity without {' and '.join(sides)}")
    findings += _sums_of_calls(sheet)
    if sheet.mixed:
        if sheet.total_calls is not None:
            unchecked.append("n.skill_calls against ASC: the entry pools several models")
    else:
        findings += _calls_by_average(sheet)
    return Verdict("marginals", tuple(findings), unchecked=tuple(unchecked))


def _counts(sheet: Sheet) -> Iterator[Finding]:
    for group, official in OFFICIAL_COUNTS.items():
        for name, planned in official.items():
            found = sheet.at("n", group, name)
            if found is not MISSING and (not is_count(found) or found != planned):
                yield Finding(
                    code="marginals.count",
                    path=f"n.{group}.{name}",
                    found=show(found),
                    expected=str(planned),
                    why="a submission rests on every task of the benchmark, and each just once",
                )


def _identity(sheet: Sheet, metric: str) -> Iterator[Finding]:
    means = {
        side: Interval.mean(intervals)
        for side, slots in SIDES.items()
        if (intervals := sheet.intervals(metric, slots)) is not None
    }
    everything = list(means.values())
    if not everything or everything[0].meets(*everything[1:]):
        return
    # Where two of three agree, the third is the one to look at.
    odd = [
        side
        for side in means
        if len(means) == len(SIDES)
        and (rest := [mean for other, mean in means.items() if other != side])[0].meets(*rest[1:])
    ]
    names = {WEBSITES: "the websites' mean", CONDITIONS: "the conditions' mean", OVERALL: "overall"}
    yield Finding(
        code="marginals.identity",
        path=f"metrics.{metric}.{odd[0]}" if len(odd) == 1 else f"metrics.{metric}",
        found=", ".join(f"{names[side]} {_span(mean)}" for side, mean in means.items()),
        expected="a number that they have in common",
        why="all of them average the same eighteen cells, so within 0.005 a printed number they are one; "
        f"they miss each other by {half_up(everything[0].gap(*everything[1:]), 4)}",
    )


def _span(interval: Interval) -> str:
    return f"{half_up(interval.lower, 4)} to {half_up(interval.upper, 4)}"


def _nulls(sheet: Sheet, metric: str) -> Iterator[Finding]:
    if sheet.is_null(metric):
        return
    nulls = {
        side: sum(sheet.value(metric, slot) is None for slot in slots)
        for side, slots in SIDES.items()
        if not _not_printed(sheet, metric, slots)
    }
    if len({count > 0 for count in nulls.values()}) > 1:
        yield Finding(
            code="marginals.null-pattern",
            path=f"metrics.{metric}",
            found=", ".join(f"{count} of {len(SIDES[side])} {side} null" for side, count in nulls.items()),
            expected="nulls among the websites, the conditions and overall alike, or among none",
            why="an undefined cell makes its website, its condition and the overall value undefined",
        )


def _not_printed(sheet: Sheet, metric: str, slots: tuple[Slot, ...]) -> bool:
    """Whether the source of a transcribed entry did not print a side at all, and the reasons say so."""
    explained = metric in sheet.reasons or all(slot.key(metric) in sheet.reasons for slot in slots)
    return not sheet.self_reported and explained and sheet.is_null(metric, slots)


def _sums_of_calls(sheet: Sheet) -> Iterator[Finding]:
    calls = sheet.calls
    if OVERALL_SLOT not in calls:
        return
    for side in (WEBSITES, CONDITIONS):
        slots = SIDES[side]
        total = sum(calls.get(slot, 0) for slot in slots)
        if all(slot in calls for slot in slots) and total != calls[OVERALL_SLOT]:
            yield Finding(
                code="marginals.calls-sum",
                path=f"n.skill_calls.{side}",
                found=f"a sum of {total:,}",
                expected=f"{calls[OVERALL_SLOT]:,}, as n.skill_calls.overall says",
                why="every call was made on one website and under one condition",
            )


def _calls_by_average(sheet: Sheet) -> Iterator[Finding]:
    """What the counts of calls say about ASC, and ASC about a total."""
    for slot in SLOTS:
        if slot not in sheet.calls:
            continue
        average = sheet.interval("ASC", slot)
        counted = average_of(slot, sheet.calls[slot])
        if slot == OVERALL_SLOT:
            counted = overall_average(sheet.calls) or counted
        if average is not None and not average.meets(counted):
            yield Finding(
                code="marginals.calls-average",
                path=slot.path("ASC"),
                found=show(sheet.value("ASC", slot)),
                expected=f"{_figure(counted)}, by the {sheet.calls[slot]:,} calls at {slot.calls_path}",
                why="ASC is skill calls over tasks, averaged over the cells",
            )
    total, printed = sheet.total_calls, calls_of(sheet, OVERALL_SLOT)
    if sheet.calls or total is None or printed is None:
        return
    if not printed.lower <= total <= printed.upper:
        low, high = -(-printed.lower.numerator // printed.lower.denominator), int(printed.upper)
        yield Finding(
            code="marginals.calls-total",
            path="n.skill_calls",
            found=f"{total:,}",
            expected=f"{low:,} to {high:,}, by the printed ASC",
            why="ASC is skill calls over tasks, averaged over the cells",
        )


def _figure(interval: Interval) -> str:
    ends = sorted({half_up(interval.lower), half_up(interval.upper)}, key=float)
    return " to ".join(ends)
