"""The standard error of a published success rate: the largest that its marginals and counts allow.

SR's cells are shares of tasks, so running a cell again spreads it by p(1 - p)/n, and the overall value, the
mean of eighteen cells, by the sum of these over 18 squared. A document publishes no cells, but the sum of
p(1 - p)/n is concave, so it has one largest value among all the cells that give the published marginals.

What it covers is running the same tasks again: the benchmark's tasks are fixed, and a task that a method
always solves or never solves spreads less than its share suggests. Both make this an upper bound. It says
nothing about other tasks. Metrics that are means of counts (AS, ASC) have a spread that neither their value
nor their number of tasks determines.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from skillshift.metrics import SR
from skillshift.submission.sheet import is_count
from skillshift.submission.slots import CONDITION_SLOTS, OVERALL_SLOT, WEBSITE_SLOTS, WEBSITES

if TYPE_CHECKING:
    from skillshift.submission.sheet import Sheet
    from skillshift.submission.slots import Slot

PROPORTION = SR
"""The metric that is a share of its tasks, so that its value and counts bound its spread."""


def variance_at_most(sheet: Sheet) -> Fraction | None:
    """The variance of a document's overall SR, at most.

    With websites r, conditions c of mean m, and n tasks a cell of each website (mean N), the cells of largest
    spread are p = r + n (c - m) / N; with conditions alone they are p = 1/2 - (1/2 - c) n / N.

    Args:
        sheet: The document, with its own counts ``n.websites``.

    Returns:
        The variance in squared units of the metric (percentage points), up to the rounding of the published
        numbers; null where the overall value or a website's count is missing.
    """
    tasks = _tasks(sheet)
    overall = _shares(sheet, (OVERALL_SLOT,))
    if tasks is None or overall is None:
        return None
    websites, conditions = _shares(sheet, WEBSITE_SLOTS), _shares(sheet, CONDITION_SLOTS)
    rows, columns = len(WEBSITE_SLOTS), len(CONDITION_SLOTS)
    mean = Fraction(sum(tasks), rows)
    if websites is not None:
        total = sum((columns * r * (1 - r) / n for r, n in zip(websites, tasks, strict=True)), Fraction())
        if conditions is not None:
            middle = sum(conditions, Fraction()) / columns
            total -= sum(((c - middle) ** 2 for c in conditions), Fraction()) * rows / mean
    else:
        # The overall value alone allows what six conditions at that value do.
        each = conditions if conditions is not None else overall * columns
        most = sum((Fraction(1, n) for n in tasks), Fraction())
        total = sum((most - (1 - 2 * c) ** 2 * rows / mean for c in each), Fraction()) / 4
    scale = PROPORTION.scale
    return max(total, Fraction()) * scale**2 / (rows * columns) ** 2


def _tasks(sheet: Sheet) -> list[int] | None:
    found = [sheet.at("n", WEBSITES, slot.name) for slot in WEBSITE_SLOTS]
    return found if all(is_count(n) and n > 0 for n in found) else None


def _shares(sheet: Sheet, slots: tuple[Slot, ...]) -> list[Fraction] | None:
    """The slots' values as shares from 0 to 1; null where one is missing or no share."""
    values = [sheet.value(PROPORTION.name, slot) for slot in slots]
    shares = [Fraction(v) / PROPORTION.scale for v in values if isinstance(v, Decimal)]
    whole = len(shares) == len(slots) and all(0 <= share <= 1 for share in shares)
    return shares if whole else None
