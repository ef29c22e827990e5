"""Latency: nearest-rank percentiles by scope. Means and shares are ratios of sums like any other metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillful_eval.metrics import PERCENTILES
from skillful_eval.sums import NANOSECONDS
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.exact import nearest_rank_of

if TYPE_CHECKING:
    import numpy.typing as npt

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


def percentiles(runs: pl.DataFrame, scopes: Scopes) -> pl.DataFrame:
    """The nearest-rank percentiles of latency in every scope.

    Args:
        runs: One row a run that has a latency: ``_key`` (UInt32), ``signature`` (UInt32), ``latency_ms``
            (Float64).
        scopes: The scopes.

    Returns:
        One row a key and scope that has such runs: ``_key``, ``scope``, and one column (Float64, ms) a
        percentile of :data:`~skillful_eval.metrics.PERCENTILES`.
    """
    latency = runs["latency_ms"].to_numpy()
    # Sorted once for all scopes; a stable sort by the scopes' numbers then keeps the latencies in order.
    order = np.argsort(latency)
    key, signature = runs["_key"].to_numpy()[order], runs["signature"].to_numpy()[order]
    latency = latency[order]
    parts = [_layer(key, signature, latency, number, names) for number, names in scopes.layers()]
    return pl.concat(parts)


def _layer(
    key: npt.NDArray[np.uint32],
    signature: npt.NDArray[np.uint32],
    latency: npt.NDArray[np.float64],
    number: pl.Series,
    names: pl.Series,
) -> pl.DataFrame:
    """The percentiles of scopes that share no run, from runs in the order of their latencies."""
    # One more scope for the runs that are in none of these.
    scopes = len(names) + 1
    scope_of = number.fill_null(len(names)).to_numpy()
    greatest = (int(key.max(initial=0)) + 1) * scopes - 1
    # The fewer bits, the quicker the sort.
    bits = np.min_scalar_type(greatest)
    place = key.astype(bits) * bits.type(scopes) + scope_of.astype(bits)[signature]
    by_scope = np.argsort(place, kind="stable")
    count = pl.Series("count", np.bincount(place, minlength=greatest + 1), dtype=pl.Int64)
    table = pl.DataFrame([count]).with_columns(
        (pl.col("count").cum_sum() - pl.col("count")).alias("first"),
        pl.int_range(pl.len()).alias("place"),
    )
    table = table.filter((pl.col("count") > 0) & (pl.col("place") % scopes < len(names)))
    ranked = table.select(
        (pl.col("first") + nearest_rank_of(pl.col("count"), q) - 1).alias(name)
        for name, q in PERCENTILES.items()
    )
    return table.select(
        (pl.col("place") // scopes).cast(pl.UInt32).alias("_key"),
        pl.lit(names).gather(pl.col("place") % scopes).alias("scope"),
        *(pl.Series(rank.name, latency[by_scope[rank.to_numpy()]]) for rank in ranked),
    )
