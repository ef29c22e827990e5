"""How many skill calls a slot can have had, by what a document prints: exact, from ASC and the counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from skillshift.frame.exact import Interval
from skillshift.submission.slots import OVERALL, WEBSITE_SLOTS, WEBSITE_TASKS

if TYPE_CHECKING:
    from skillshift.submission.sheet import Sheet
    from skillshift.submission.slots import Slot


def average_of(slot: Slot, calls: int) -> Interval:
    """What a slot's ASC can be where its tasks made so many calls.

    A website's cells have one number of tasks, so its ASC follows from the count; elsewhere it depends on
    which website's tasks made the calls.
    """
    sizes = [WEBSITE_TASKS[name] * slot.cells for name in slot.websites]
    return Interval(Fraction(calls, max(sizes)), Fraction(calls, min(sizes)))


def overall_average(calls: dict[Slot, int]) -> Interval | None:
    """What the overall ASC is by the websites' counts; null where one is missing."""
    if not all(slot in calls for slot in WEBSITE_SLOTS):
        return None
    each = [average_of(slot, calls[slot]) for slot in WEBSITE_SLOTS]
    return Interval.mean(each)


def calls_of(sheet: Sheet, slot: Slot) -> Interval | None:
    """How many calls a slot can have had by its printed ASC; null where none is printed.

    Of a website the printed number bounds the count from both sides; of a condition, and overall where not
    all websites print one, so does the number of tasks of the largest and the smallest website.
    """
    if slot.group == OVERALL:
        each = [calls_of(sheet, website) for website in WEBSITE_SLOTS]
        known = [interval for interval in each if interval is not None]
        if len(known) == len(each):
            return Interval(
                sum((i.lower for i in known), Fraction()), sum((i.upper for i in known), Fraction())
            )
    average = sheet.interval("ASC", slot)
    if average is None or average.upper < 0:
        return None
    sizes = [WEBSITE_TASKS[name] * slot.cells for name in slot.websites]
    return Interval(max(average.lower, Fraction()) * min(sizes), average.upper * max(sizes))


def most_calls(sheet: Sheet, slot: Slot) -> int | None:
    """The most calls that a slot can have had, by all that a document says of one run.

    Returns:
        The count itself where the document has it; else the least upper bound from the printed ASC of the
        slot and the total; null where nothing bounds it, or the entry pools several runs.
    """
    if slot in sheet.calls:
        return sheet.calls[slot]
    if sheet.mixed:
        return None
    printed = calls_of(sheet, slot)
    bounds = [] if printed is None else [int(printed.upper)]
    if sheet.total_calls is not None:
        bounds.append(sheet.total_calls)
    return min(bounds, default=None)
