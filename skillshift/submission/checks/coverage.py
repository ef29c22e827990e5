"""The coverage check: ten slots a metric, every null explained, no zero in the place of a null."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.submission.calls import most_calls
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.sheet import MISSING
from skillshift.submission.slots import CONDITIONS, METRIC_NAMES, SLOTS, WEBSITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.submission.sheet import Sheet
    from skillshift.submission.slots import Slot

CALL_METRICS = ("ASC", "SFR")
"""The metrics that only a method with executable skills has."""


def check_coverage(sheet: Sheet) -> Verdict:
    """Check that every slot is there, and that null and zero mean what they say."""
    return Verdict("coverage", (*_slots(sheet), *_reasons(sheet), *_meanings(sheet)))


def _slots(sheet: Sheet) -> Iterator[Finding]:
    for metric in METRIC_NAMES:
        for slot in SLOTS:
            if sheet.at("metrics", metric, *slot.parts) is MISSING:
                yield Finding(
                    code="coverage.slot-missing",
                    path=slot.path(metric),
                    found="nothing",
                    expected="a number, or null with a reason",
                    why="a metric has ten slots: three websites, six conditions, overall",
                )
            elif sheet.value(metric, slot) is None and not _explained(sheet, metric, slot):
                yield Finding(
                    code="coverage.null-without-reason",
                    path=slot.path(metric),
                    found="null",
                    expected=f"an entry {metric} or {slot.key(metric)} in reasons",
                    why="a reader cannot tell undefined from not measured",
                )
        yield from _unknown_slots(sheet, "metrics", metric)
    yield from _unknown_slots(sheet, "n")
    yield from _unknown_slots(sheet, "n", "skill_calls")


def _unknown_slots(sheet: Sheet, *place: str) -> Iterator[Finding]:
    for group in (WEBSITES, CONDITIONS):
        known = {slot.name for slot in SLOTS if slot.group == group}
        given = sheet.at(*place, group)
        for name in given if isinstance(given, dict) else ():
            if name not in known:
                yield Finding(
                    code="coverage.slot-unknown",
                    path=".".join((*place, group, name)),
                    found=show(given[name]),
                    expected=f"only {', '.join(sorted(known))}",
                    why="the benchmark has no such slot",
                )


def _explained(sheet: Sheet, metric: str, slot: Slot) -> bool:
    return metric in sheet.reasons or slot.key(metric) in sheet.reasons


def _reasons(sheet: Sheet) -> Iterator[Finding]:
    covered = {metric: [(metric, slot) for slot in SLOTS] for metric in METRIC_NAMES}
    covered |= {slot.key(metric): [(metric, slot)] for metric in METRIC_NAMES for slot in SLOTS}
    for key, reason in sheet.reasons.items():
        path = f"reasons.{key}"
        if key not in covered:
            yield Finding(
                code="coverage.reason-unknown",
                path=path,
                found=show(key),
                expected="a metric such as ASC, or a slot such as SFR.websites.wordpress or SFR.overall",
                why="it explains no slot",
            )
            continue
        if isinstance(reason, str) and not reason.strip():
            yield Finding(
                code="coverage.reason-blank",
                path=path,
                found=show(reason),
                expected="a sentence that says why",
                why="a blank reason explains nothing",
            )
        if not any(sheet.value(metric, slot) is None for metric, slot in covered[key]):
            yield Finding(
                code="coverage.reason-without-null",
                path=path,
                found=show(reason),
                expected="no reason, since there is no null that it explains",
                why="either the reason is left over or a number stands where null belongs",
            )


def _meanings(sheet: Sheet) -> Iterator[Finding]:
    for slot in SLOTS:
        calls = sheet.calls.get(slot)
        if calls is not None:
            yield from _by_count(sheet, slot, calls)
        elif sheet.total_calls == 0:
            yield from _by_count(sheet, slot, 0)
        elif sheet.total_calls is not None and sheet.total_calls < slot.cells and not sheet.mixed:
            yield from _without_calls(sheet, slot, sheet.total_calls, "at most ")
        else:
            yield from _by_printed(sheet, slot)
        if sheet.self_reported:
            yield from _own_run(sheet, slot)


def _by_count(sheet: Sheet, slot: Slot, calls: int) -> Iterator[Finding]:
    yield from _without_calls(sheet, slot, calls)
    if sheet.value("ASC", slot) is None:
        yield Finding(
            code="coverage.average-null-with-count",
            path=slot.path("ASC"),
            found=f"null with {calls} skill call{'s' * (calls != 1)} counted",
            expected="a number: no call made is 0",
            why="ASC is null only where the method has no executable skills, and then nothing is counted",
        )


def _without_calls(sheet: Sheet, slot: Slot, calls: int, bound: str = "") -> Iterator[Finding]:
    rate = sheet.value("SFR", slot)
    if rate not in (None, MISSING) and calls < slot.cells:
        zero = "a 0 would claim that no skill ever failed" if rate == 0 else "there is no denominator"
        yield Finding(
            code="coverage.rate-without-calls",
            path=slot.path("SFR"),
            found=f"{show(rate)} on {bound}{calls} skill call{'s' * (calls != 1)}",
            expected="null with a reason",
            why=f"its {_cells(slot)} each need a call for the mean to be defined, and {zero}",
        )


def _by_printed(sheet: Sheet, slot: Slot) -> Iterator[Finding]:
    rate, average = sheet.value("SFR", slot), sheet.value("ASC", slot)
    if rate in (None, MISSING) or average != 0:
        return
    hidden = "it may hide up to 0.005 calls a task, so a rate is possible"
    if not sheet.mixed:
        at_most = most_calls(sheet, slot)
        hidden = f"it hides at most {at_most} calls, fewer than the {_cells(slot)} that each need one"
    yield Finding(
        code="coverage.rate-beside-zero-average",
        severity="warning",
        path=slot.path("SFR"),
        found=f"{show(rate)} beside an ASC of {show(average)}",
        expected="null with a reason, if no skill was called",
        why=f"{hidden}; the counts by slot in n.skill_calls would settle it",
    )


def _own_run(sheet: Sheet, slot: Slot) -> Iterator[Finding]:
    for metric in METRIC_NAMES:
        value = sheet.value(metric, slot)
        if value is None and metric not in CALL_METRICS:
            yield Finding(
                code="coverage.incomplete-run",
                path=slot.path(metric),
                found="null",
                expected="a number",
                why="every complete run has it, and only complete runs are published",
            )
    rate, average = sheet.value("SFR", slot), sheet.value("ASC", slot)
    if average is None and rate not in (None, MISSING):
        yield Finding(
            code="coverage.rate-without-average",
            path=slot.path("SFR"),
            found=f"{show(rate)} beside an ASC of null",
            expected="null, or an ASC",
            why="a run that counted failed calls counted calls",
        )


def _cells(slot: Slot) -> str:
    return f"{slot.cells} cells"
