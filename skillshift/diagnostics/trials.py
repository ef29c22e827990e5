"""Several trials of one run: the mean over the complete ones, and how far they spread."""

from __future__ import annotations

import polars as pl

from skillshift.diagnostics.marginals import MARGINALS, run_keys
from skillshift.frame.errors import InputError

TRIAL = "trial"


def over_trials(numbers: pl.DataFrame) -> pl.DataFrame:
    """The mean and spread of every number over a run's complete trials.

    Args:
        numbers: Marginals whose run keys have ``trial``.

    Returns:
        One row a run (without ``trial``), metric and slot, in their order: the run keys, ``metric``,
        ``group``, ``slot``; ``trials`` and ``complete_trials`` (Int64; a trial is complete where the slot's
        every cell is); ``mean``, ``standard_deviation`` (of the sample, so over n - 1; null for fewer than
        two trials), ``minimum``, ``maximum`` (Float64, in the metric's unit, over the complete trials);
        ``reason``: why ``mean`` is null, ``incomplete`` where no trial is complete, else the reason of an
        undefined complete trial. An undefined trial is not passed over.

    Raises:
        InputError: The marginals have no ``trial`` among their run keys.

    Example:
        >>> slot = {"metric": ["SR"] * 2, "group": ["overall"] * 2, "slot": ["overall"] * 2}
        >>> numbers = pl.DataFrame({
        ...     "trial": ["0", "1"], **slot, "value": [40.0, 44.0], "incomplete": [False, False],
        ...     "reason": pl.Series([None, None], dtype=pl.String),
        ... })
        >>> over_trials(numbers).select("complete_trials", "mean", "minimum", "maximum").row(0)
        (2, 42.0, 40.0, 44.0)
    """
    by = run_keys(numbers, "metric")
    if TRIAL not in by:
        raise InputError(f"expected {TRIAL!r} among the run keys, found {', '.join(by) or 'none'}")
    keys = [*(key for key in by if key != TRIAL), *list(MARGINALS)[:3]]
    complete = pl.col("incomplete").not_()
    values = pl.col("value").filter(complete)
    # Lists keep the order of the trials, so the same trials give the same bytes.
    rolled = (
        numbers.sort(TRIAL, maintain_order=True)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("trials"),
            complete.sum().cast(pl.Int64).alias("complete_trials"),
            values.alias("_values"),
            values.is_null().any().alias("_undefined"),
            pl.col("reason").filter(complete & pl.col("value").is_null()).first().alias("_why"),
        )
    )
    none = pl.col("complete_trials") == 0
    shown = pl.when(~none & ~pl.col("_undefined"))
    listed = pl.col("_values").list
    # From the first value, so that equal trials spread by exactly 0.
    spread = listed.eval(pl.element() - pl.element().first()).list.std()
    order = numbers.select(keys).unique(maintain_order=True)
    return order.join(
        rolled.select(
            *keys,
            "trials",
            "complete_trials",
            shown.then(listed.mean()).alias("mean"),
            shown.then(spread).alias("standard_deviation"),
            shown.then(listed.min()).alias("minimum"),
            shown.then(listed.max()).alias("maximum"),
            pl.when(none).then(pl.lit("incomplete")).otherwise("_why").alias("reason"),
        ),
        on=keys,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
