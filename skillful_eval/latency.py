"""Latency: nearest-rank percentiles by scope. Means and shares are ratios of sums like any other metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.metrics import PERCENTILES
from skillful_eval.sums import NANOSECONDS
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.exact import nearest_rank_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scopes import Scopes

BUDGET_MS = 2000
"""The default budget of a run, in milliseconds."""


def latency_sums(budget_ms: float) -> list[pl.Expr]:
    """What is summed of latencies over a group of runs: whole nanoseconds, as sums of floats are not exact.

    Args:
        budget_ms: The budget.

    Raises:
        UsageError: The budget is not a number of milliseconds from 0.
    """
    if isinstance(budget_ms, bool) or not isinstance(budget_ms, int | float) or not budget_ms >= 0:
        raise UsageError(f"budget_ms: found {shorten(budget_ms)}, expected milliseconds, from 0")
    latency = pl.col("latency_ms")
    return [
        (latency * NANOSECONDS).round().cast(pl.Int64).sum().alias("latency_ns"),
        latency.count().cast(pl.Int64).alias("latency_runs"),
        (latency > budget_ms).sum().cast(pl.Int64).alias("over_budget"),
    ]


def percentiles(runs: pl.LazyFrame, keys: Sequence[str], scopes: Scopes) -> list[pl.LazyFrame]:
    """The nearest-rank percentiles of latency in every scope.

    Args:
        runs: Scored runs, with ``signature``.
        keys: The keys.
        scopes: The scopes.

    Returns:
        Plans of frames with one row a key and scope that has runs: the keys, ``scope``, and one column
        (Float64, ms) a percentile of :data:`~skillful_eval.metrics.PERCENTILES`; null where a run has no
        latency: what was not measured is never skipped.
    """
    latency = pl.col("latency_ms")
    # Sorted once for all percentiles.
    ordered = pl.when(latency.null_count() == 0).then(latency.sort().implode())
    ranked = [
        latency.list.get(nearest_rank_of(latency.list.len(), q) - 1, null_on_oob=True).alias(name)
        for name, q in PERCENTILES.items()
    ]
    return [
        runs.select(*keys, pl.lit(number).gather(pl.col("signature")).alias("scope"), "latency_ms")
        .filter(pl.col("scope").is_not_null())
        .group_by(*keys, "scope")
        .agg(ordered)
        .select(*keys, pl.lit(names).gather(pl.col("scope")), *ranked)
        for number, names in scopes.layers()
    ]
