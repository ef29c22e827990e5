"""Ranks by a metric, and the ranks that the data cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from skillshift.frame.errors import UsageError
from skillshift.frame.exact import half_up
from skillshift.leaderboard.spread import PROPORTION, variance_at_most
from skillshift.metrics import METRICS, SFR
from skillshift.submission.slots import OVERALL_SLOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillshift.frame.metric import Metric
    from skillshift.leaderboard.folder import Entry

CONFIDENCE = 0.95
"""How sure a rank interval is to hold an entry's rank."""

REFUSED: Mapping[str, str] = {
    SFR.name: "it is a share of the calls that a method chose to make, so a method that hardly calls a skill"
    " can have any value by a few calls, and one that calls none has no value at all"
}
"""The metrics that are no sort key, and why."""

SORT_KEYS = tuple(metric.name for metric in METRICS if metric.name not in REFUSED)
"""What a leaderboard can be sorted by."""

SINGLE, MIXED = "single-model", "mixed-model"
RANKINGS = (SINGLE, MIXED)
"""The rankings of a leaderboard: an entry that pools several models is never ranked against one of one."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry at its place.

    Attributes:
        entry: The entry.
        ranking: Which of :data:`RANKINGS` it is ranked in.
        rank: Its rank, 1 for the first; equal published values share one. Null where the value is.
        best: The best rank that the data cannot tell from it; null where there is no standard error.
        worst: The worst such rank; null where ``best`` is.
        standard_error: The largest standard error that the document allows, in the metric's unit; null where
            it allows none to be derived.
    """

    entry: Entry
    ranking: str
    rank: int | None
    best: int | None
    worst: int | None
    standard_error: float | None


def sort_metric(name: str) -> Metric:
    """The metric of a sort key.

    Raises:
        UsageError: The metric is no sort key, with the reason, or there is no such metric.

    >>> sort_metric("SR").better
    'higher'
    """
    if name in REFUSED:
        raise UsageError(
            f"a leaderboard is never sorted by {name}: {REFUSED[name]}. Sort by one of {', '.join(SORT_KEYS)}"
        )
    if name not in SORT_KEYS:
        raise UsageError(f"found the sort key {name!r}, expected one of {', '.join(SORT_KEYS)}")
    return METRICS[name]


def ranked(entries: Iterable[Entry], metric: Metric) -> list[Ranked]:
    """Rank entries by their overall value, single-model and mixed-model ones apart.

    Args:
        entries: The entries.
        metric: What they are ranked by. Where lower is better the lowest comes first, else the highest.

    Returns:
        The single-model entries, then the mixed-model ones, each in order: by value, ties by name, then the
        newest first; undefined values last. Ranks are counted within the two apart.
    """
    found = list(entries)
    return [
        placed
        for ranking in RANKINGS
        for placed in _ranking([e for e in found if ranking_of(e) == ranking], metric, ranking)
    ]


def ranking_of(entry: Entry) -> str:
    """Which of :data:`RANKINGS` an entry is ranked in."""
    return MIXED if entry.mixed else SINGLE


def overall(entry: Entry, metric: Metric) -> Decimal | None:
    """An entry's published overall value; null where it has none."""
    value = entry.sheet.value(metric.name, OVERALL_SLOT)
    return value if isinstance(value, Decimal) else None


def published(value: Decimal) -> str:
    """A published number as it is shown: always two decimals, JSON drops their zeros.

    >>> published(Decimal("16.9"))
    '16.90'
    """
    return half_up(Fraction(value))


def _ranking(entries: Sequence[Entry], metric: Metric, ranking: str) -> list[Ranked]:
    sign = 1 if metric.better == "lower" else -1

    def key(entry: Entry) -> tuple[bool, Decimal, str, str, int, str, str]:
        value = overall(entry, metric)
        newest = -entry.date.toordinal()
        at = Decimal() if value is None else sign * value
        return value is None, at, entry.name.casefold(), entry.name, newest, entry.model, entry.file

    order = sorted(entries, key=key)
    values = [value for entry in order if (value := overall(entry, metric)) is not None]
    errors = [_standard_error(entry, metric) for entry in order]
    low, high = rank_intervals([float(sign * value) for value in values], errors[: len(values)])
    placed = []
    for i, (entry, error) in enumerate(zip(order, errors, strict=True)):
        known = i < len(values)
        sure = known and error is not None
        placed.append(
            Ranked(
                entry,
                ranking,
                rank=values.index(values[i]) + 1 if known else None,
                best=low[i] if sure else None,
                worst=high[i] if sure else None,
                standard_error=error,
            )
        )
    return placed


def _standard_error(entry: Entry, metric: Metric) -> float | None:
    variance = variance_at_most(entry.sheet) if metric is PROPORTION else None
    return None if variance is None else sqrt(variance)


def rank_intervals(values: Sequence[float], errors: Sequence[float | None]) -> tuple[list[int], list[int]]:
    """The ranks that each value may have, by what the standard errors can tell apart.

    A value is told apart from another where they differ by more than z times the standard error of their
    difference. Each is compared with all the others, so z is taken for :data:`CONFIDENCE` over all these
    comparisons together (Bonferroni): the interval then holds the value's rank with at least that confidence.
    Runs over the same fixed tasks are independent of each other.

    Args:
        values: The values, the best lowest.
        errors: Their standard errors; a null is never told apart from anything.

    Returns:
        The best and the worst rank of each value.

    >>> rank_intervals([-41.0, -40.0, -20.0], [1.0, 1.0, 1.0])
    ([1, 1, 3], [2, 2, 3])
    """
    n = len(values)
    z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * max(1, n - 1)))
    at = np.array(values, dtype=np.float64)
    variance = np.array([np.nan if e is None else e**2 for e in errors], dtype=np.float64)
    apart = (at[:, None] - at[None, :]) / z
    reach = np.sqrt(variance[:, None] + variance[None, :])
    # A comparison with NaN is false, so what has no standard error is told apart from nothing.
    best = 1 + (apart > reach).sum(axis=1)
    worst = n - (-apart > reach).sum(axis=1)
    return best.tolist(), worst.tolist()
