"""Layer 2, run by run: whether a pick is a gold, whether it was offered, and which decisions are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.schema import INJECTED, SKIPPED

if TYPE_CHECKING:
    from skillful_eval.retrieval import Targets

_KINDS = 2
"""How many kinds of decision a choice can be: a pick or an abstention."""


def decided(to: Targets) -> list[pl.Expr]:
    """What each run's decision was worth.

    Args:
        to: The golds.

    Returns:
        Expressions over runs with ``_fixture`` (UInt32), ``_chosen`` (UInt32, null where nothing was),
        ``_shortlist`` (list of integers), ``decision`` (Enum) and ``reason`` (Categorical), both may be null:
        ``picked_gold`` (Boolean: the chosen id is one of the fixture's golds), ``listed`` (Boolean: it is in
        the shortlist; both null where nothing was chosen), ``choice`` (UInt64: equal for equal decisions,
        that is kind, and id or reason; null where degraded or not decided).
    """
    golds = to.golds.select(_pair("fixture", "code")).to_series().unique()
    chosen = pl.col("_chosen")
    # Which number a reason gets is of no matter: it is only compared with others of this frame.
    reason = pl.col("reason").to_physical().cast(pl.UInt64) + 1
    is_gold = _pair("_fixture", "_chosen").is_in(golds.implode())
    is_listed = pl.col("_shortlist").list.contains(chosen)
    return [
        pl.when(chosen.is_not_null()).then(is_gold).alias("picked_gold"),
        pl.when(chosen.is_not_null()).then(is_listed).alias("listed"),
        pl.when(pl.col("decision") == INJECTED)
        .then(chosen.cast(pl.UInt64) * _KINDS)
        .when(pl.col("decision") == SKIPPED)
        .then(reason.fill_null(0) * _KINDS + 1)
        .alias("choice"),
    ]


def _pair(fixture: str, code: str) -> pl.Expr:
    """A fixture and an id as one number."""
    return pl.col(fixture).cast(pl.UInt64) * 2**32 + pl.col(code).cast(pl.UInt64)
