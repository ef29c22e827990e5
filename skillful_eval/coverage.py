"""Coverage: which fixtures a configuration did not run, or ran less often than the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.keys import report_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored


def uncovered(scored: Scored, by: Sequence[str] | None = None) -> pl.DataFrame:
    """The fixtures that make metrics undefined: without a run, or with fewer repeats than others.

    Args:
        scored: Scored runs.
        by: The columns that tell configurations apart, as :func:`skillful_eval.report` takes them.

    Returns:
        One row a key and fixture that lacks runs, in the order of the keys and of the fixtures: the keys,
        ``fixture_id``, ``group`` (text), ``abstain`` (Boolean), ``repeats`` (Int64, 0 without a run),
        ``expected`` (Int64, those of the fixture with most).

    Raises:
        UsageError: As :func:`skillful_eval.report`.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> scored = se.score(runs, holdout, corpus)
        >>> uncovered(scored).is_empty()
        True
    """
    keys = report_keys(scored, by)
    counts = scored.runs.group_by(*keys, "fixture").agg(pl.len().cast(pl.Int64).alias("repeats"))
    most = pl.col("repeats").max().alias("expected")
    of_key = counts.group_by(keys).agg(most).sort(keys) if keys else counts.select(most)
    fixtures = (
        scored.fixtures.lazy().with_row_index("fixture").select("fixture", "fixture_id", "group", "abstain")
    )
    return (
        of_key.join(fixtures, how="cross", maintain_order="left_right")
        .join(counts, on=[*keys, "fixture"], how="left", nulls_equal=True, maintain_order="left")
        .with_columns(pl.col("repeats").fill_null(0))
        .filter(pl.col("repeats") < pl.col("expected"))
        .select(*keys, "fixture_id", "group", "abstain", "repeats", "expected")
        .collect()
    )
