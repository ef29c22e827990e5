"""From answers to decisions: the one definition of when a router abstains, picks, or has no decision."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import polars as pl

from skillful_eval.schema import DECISIONS, DEGRADED, INJECTED, NONE, SKIPPED
from skillshift.frame.errors import UsageError, shorten

MALFORMED = "malformed"
"""The cause where an answer is not as documented, or chose what was not offered."""

CHOSE_NONE, BELOW_FLOOR = ABSTENTIONS = ("none", "winner-floor")
"""Why an answer is an abstention: ``none`` was chosen or its probability reaches the none threshold; the
winner's probability is below its floor."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When an answer is an abstention.

    Attributes:
        none: It abstains where the probability of ``none`` is this or more.
        winner: It abstains where the winner's probability is less than this.

    Raises:
        UsageError: One of them is not a number from 0 to 1.

    Example:
        >>> Thresholds(none=0.5)
        Thresholds(none=0.5, winner=0.25)
    """

    none: float = 0.4
    winner: float = 0.25

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or math.isnan(value) or not 0 <= value <= 1:
                raise UsageError(
                    f"threshold {field.name}: found {shorten(value)}, expected a probability, 0 to 1"
                )
            object.__setattr__(self, field.name, float(value))


def judged(thresholds: Thresholds) -> list[pl.Expr]:
    """The decisions that answers stand for.

    Args:
        thresholds: The thresholds.

    Returns:
        As :func:`judged_by`.

    Example:
        >>> answer = {"cause": None, "detail": None, "choice": "a", "none_p": 0.4, "winner_p": 0.6}
        >>> schema = {"cause": pl.String, "detail": pl.String}
        >>> frame = pl.DataFrame([{**answer, "shortlist": ["a"]}], schema_overrides=schema)
        >>> frame.select(judged(Thresholds())).row(0)
        ('skipped', None, 'none', None)
    """
    return judged_by(pl.lit(thresholds.none), pl.lit(thresholds.winner))


def offered() -> pl.Expr:
    """Whether the choice is ``none`` or in the shortlist (Boolean), of ``choice`` and ``shortlist``."""
    listed = pl.col("shortlist").cast(pl.List(pl.String)).list.contains(pl.col("choice"))
    return ((pl.col("choice") == NONE) | listed).fill_null(False)


def judged_by(none: pl.Expr, winner: pl.Expr, was_offered: pl.Expr | None = None) -> list[pl.Expr]:
    """As :func:`judged`, with thresholds that may differ from row to row.

    Args:
        none: The none threshold (Float64).
        winner: The winner's floor (Float64).
        was_offered: What :func:`offered` gives, where it was computed before; for it ``shortlist`` is needed.

    Returns:
        Expressions over the columns of :data:`~skillful_eval.router.answers.ANSWERS` and ``shortlist`` (list
        of ids, coded or text): ``decision`` (Enum), ``chosen`` (text; null unless injected), ``reason``
        (text: the cause where degraded, one of :data:`ABSTENTIONS` where skipped, null where injected),
        ``detail`` (text, null where there is nothing to add). In this order: a cause degrades; so does a
        choice that was not offered, and a missing probability (``malformed``); ``none``, or a probability of
        none at the threshold or above it, abstains; so does a winner below its floor; any other is injected.
    """
    choice, none_p, winner_p = pl.col("choice"), pl.col("none_p"), pl.col("winner_p")
    is_offered = offered() if was_offered is None else was_offered
    unknown = pl.any_horizontal(*(p.is_null() | p.is_nan() for p in (none_p, winner_p)))
    failed = pl.col("cause").is_not_null()
    wrong = ~is_offered | unknown
    abstains = (choice == NONE) | (none_p >= none)
    below = winner_p < winner
    reason = (
        pl.when(failed)
        .then("cause")
        .when(wrong)
        .then(pl.lit(MALFORMED))
        .when(abstains)
        .then(pl.lit(CHOSE_NONE))
        .when(below)
        .then(pl.lit(BELOW_FLOOR))
    )
    decision = (
        pl.when(failed | wrong)
        .then(pl.lit(DEGRADED))
        .when(abstains | below)
        .then(pl.lit(SKIPPED))
        .otherwise(pl.lit(INJECTED))
    )
    detail = (
        pl.when(failed)
        .then("detail")
        .when(choice.is_null())
        .then(pl.lit("chose nothing"))
        .when(~is_offered)
        .then(pl.format("chose {}, which was not offered", choice.str.slice(0, 100)))
        .when(unknown)
        .then(pl.lit("no probability for its choice or for none"))
    )
    injected = ~(failed | wrong | abstains | below)
    return [
        decision.cast(pl.Enum(DECISIONS)).alias("decision"),
        pl.when(injected).then("choice").alias("chosen"),
        reason.alias("reason"),
        detail.alias("detail"),
    ]
