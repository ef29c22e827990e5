"""Stability: whether a fixture's decision was the same in every repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.keys import report_keys
from skillful_eval.schema import INJECTED, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored


def unanimous() -> pl.Expr:
    """Over one fixture's runs: every one decided, and alike. A degraded repeat is no decision."""
    choice = pl.col("choice")
    return ((choice.null_count() == 0) & (choice.min() == choice.max())).alias("unanimous")


def reused() -> pl.Expr:
    """Over one fixture's runs: whether one recorded response answered more than one of them."""
    answered = pl.col("response_index").drop_nulls()
    return (answered.n_unique() < answered.len()).alias("reused")


def unrecorded() -> pl.Expr:
    """Over one fixture's runs: whether a pick does not say which recorded response it rests on, as others do.

    It may rest on one that answered another repeat, so it is no measured repeat.
    """
    index = pl.col("response_index")
    silent = (pl.col("decision") == INJECTED) & index.is_null()
    return (silent.any() & index.is_not_null().any()).alias("unrecorded")


def unstable(scored: Scored, by: Sequence[str] | None = None) -> pl.DataFrame:
    """The fixtures whose decision was not the same in every repeat.

    Args:
        scored: Scored runs.
        by: The columns that tell configurations apart, as :func:`skillful_eval.report` takes them.

    Returns:
        One row a key and unstable fixture, sorted: the keys, ``fixture_id``, ``group`` (text), ``repeats``
        (Int64), ``decisions`` (list of text, in the order of the repeats: the kind, and after a colon the id
        or the reason; the kind alone where there is none). Configurations that only retrieve, and fixtures
        with one repeat, are not listed.

    Raises:
        UsageError: As :func:`skillful_eval.report`.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> scored = se.score(runs, holdout, corpus)
        >>> unstable(scored).group_by("config").len().sort("config").rows()
        [('narrow-8', 4), ('wide-20', 2)]
    """
    keys = report_keys(scored, by)
    detail = pl.when(pl.col("decision") == SKIPPED).then("reason").otherwise(pl.coalesce("chosen", "reason"))
    shown = pl.concat_str("decision", detail.str.strip_chars(), separator=":", ignore_nulls=True)
    return (
        scored.runs.filter(pl.col("decision").is_not_null())
        .sort("repeat", maintain_order=True)
        .group_by(*keys, "fixture")
        .agg(
            pl.first("fixture_id", "group"),
            pl.len().cast(pl.Int64).alias("repeats"),
            shown.alias("decisions"),
            unanimous().alias("_unanimous"),
        )
        .filter(~pl.col("_unanimous") & (pl.col("repeats") > 1))
        .sort(*keys, "fixture")
        .drop("fixture", "_unanimous")
        .collect()
    )
