"""Latency: nearest-rank percentiles by scope. Means and shares are ratios of sums like any other metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.metrics import PERCENTILES
from skillful_eval.sums import NANOSECONDS
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.exact import nearest_rank_value

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


def percentiles(runs: pl.LazyFrame, keys: Sequence[str], scopes: Scopes) -> pl.DataFrame:
    """The nearest-rank percentiles of latency in every scope.

    Args:
        runs: Scored runs.
        keys: The keys.
        scopes: The scopes.

    Returns:
        One row a key and scope that has runs: the keys, ``scope``, and one column (Float64, ms) a percentile
        of :data:`~skillful_eval.metrics.PERCENTILES`; null where a run has no latency: what was not measured
        is never skipped.
    """
    signature = pl.lit(scopes.signature).gather(pl.col("fixture"))
    # Sorted once; the sort within each group then finds its values in order.
    ordered = runs.select(*keys, signature.alias("signature"), "latency_ms").sort("latency_ms")
    ranked = [nearest_rank_value(pl.col("latency_ms"), q).alias(name) for name, q in PERCENTILES.items()]
    return pl.concat(
        pl.collect_all(
            ordered.join(layer.lazy(), on="signature", maintain_order="left")
            .group_by(*keys, "scope")
            .agg(ranked)
            for layer in scopes.layers()
        )
    )
