"""The report: every metric in every scope, from sums that are taken a fixture and rolled up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.keys import report_keys
from skillful_eval.latency import BUDGET_MS, latency_sums
from skillful_eval.metrics import LATENCY_MEAN, METRICS, PERCENTILES, REASONS, RECALL, RoutingMetric
from skillful_eval.rollup import fixtures_of, scope_sums
from skillful_eval.scopes import scopes_of
from skillful_eval.sums import POPULATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored

REPORT = pl.Schema(
    {
        "scope": pl.String(),
        "metric": pl.String(),
        "value": pl.Float64(),
        "numerator": pl.Float64(),
        "denominator": pl.Int64(),
        "fixtures": pl.Int64(),
        "reason": pl.String(),
    }
)
"""The columns of a report after its keys."""


def report(
    scored: Scored,
    by: Sequence[str] | None = None,
    *,
    groups: bool = True,
    kinds: bool = True,
    budget_ms: float = BUDGET_MS,
) -> pl.DataFrame:
    """Every metric of both layers, stability, latency, tokens and coverage, in every scope.

    Args:
        scored: What :func:`skillful_eval.score` gives.
        by: The columns of the runs that tell configurations apart; by default ``config`` where they have it,
            else none: all runs are one configuration.
        groups: Whether each fixture group is a scope (``group:coding``).
        kinds: Whether each kind of gold is a scope (``kind:mcp``); a fixture with gold of several kinds
            counts in each, one that must be abstained from in none.
        budget_ms: What ``overBudgetRate`` compares latencies with.

    Returns:
        One row a key, scope and metric: the keys, sorted; ``scope`` (``all``, then groups by name, then
        kinds); ``metric``: the names of :data:`skillful_eval.metrics.METRICS` in their order, ``recall@1``,
        ``recall@2``, ... after ``recall@K`` up to the configuration's longest shortlist, and the percentiles
        of latency after its mean; ``value`` (Float64: shares from 0 to 1, latencies in ms), null where
        undefined; ``numerator`` (Float64, null for percentiles) and ``denominator`` (Int64): what the value
        rests on, in runs, golds or fixtures as the metric says, also where it is undefined; ``fixtures``
        (Int64: distinct fixtures behind the denominator; repeats of one fixture are not independent);
        ``reason`` (text: a code of :data:`skillful_eval.metrics.REASONS` where ``value`` is null, else null).

    Raises:
        UsageError: ``by`` is no list of columns of text, whole numbers, or true and false; a column is one of
            a run's or an output's own, or begins with an underscore; configurations would be pooled; the
            budget is no number.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> scored = se.score(runs, holdout, corpus)
        >>> found = report(scored, by=["config"]).filter(scope="all", metric="recall@K")
        >>> found.select("config", "numerator", "denominator", "fixtures").rows()
        [('narrow-8', 42.0, 54, 18), ('wide-20', 48.0, 54, 18)]
    """
    keys = report_keys(scored, by)
    runs, configurations = _numbered(scored.runs, keys)
    scopes = scopes_of(scored.fixtures, groups=groups, kinds=kinds)
    table, curve = scope_sums(runs, scopes, latency_sums(budget_ms))
    parts: list[pl.DataFrame] = []
    for metric in METRICS:
        parts.append(_rows(table, metric))
        if metric.name == RECALL.name:
            parts.append(_points(curve))
        if metric.name == LATENCY_MEAN.name:
            parts += [_percentile(table, name) for name in PERCENTILES]
    found = pl.concat(parts).with_row_index("_order").sort("_place", "_order")
    places = table.select("_place", "_key", "scope").join(configurations, on="_key", maintain_order="left")
    return found.join(places, on="_place", how="left", maintain_order="left").select(*keys, *REPORT)


def named_rows(table: pl.DataFrame, curve: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of one metric of a report, from sums.

    Args:
        table: Sums, and
        curve: the same for every rank, as :func:`skillful_eval.rollup.scope_sums` gives them.
        name: A metric of :data:`~skillful_eval.metrics.METRICS`, a percentile of latency, or a point of the
            recall curve.

    Returns:
        One row a row of the table, or of the curve at the point's rank: ``_place``, then the columns of
        :data:`REPORT` without the scope.
    """
    if name in METRICS:
        return _rows(table, METRICS[name])
    if name in PERCENTILES:
        return _percentile(table, name)
    return _points(curve).filter(pl.col("metric") == name)


def _numbered(runs: pl.LazyFrame, keys: Sequence[str]) -> tuple[pl.LazyFrame, pl.DataFrame]:
    """The runs with the number of their key, and the keys in order; numbers are quicker to group by."""
    if not keys:
        number = pl.lit(0, dtype=pl.UInt32).alias("_key")
        return runs.with_columns(number), pl.select(number)
    configurations = runs.select(keys).unique().sort(keys).with_row_index("_key").collect()
    numbered = runs.join(configurations.lazy(), on=keys, how="left", nulls_equal=True, maintain_order="left")
    return numbered, configurations


def _rows(table: pl.DataFrame, metric: RoutingMetric, name: pl.Expr | None = None) -> pl.DataFrame:
    """A metric's rows, one a row of a table of sums; under its own name or another."""
    reason = _reason(metric)
    return table.select(
        "_place",
        (pl.lit(metric.name) if name is None else name).alias("metric"),
        pl.when(reason.is_null()).then(metric.value).alias("value"),
        metric.total.alias("numerator"),
        metric.denominator.cast(pl.Int64).alias("denominator"),
        pl.col(fixtures_of(metric)).alias("fixtures"),
        reason.alias("reason"),
    )


def point_name() -> pl.Expr:
    """The name of a curve's row as a metric: ``recall@1``, ``recall@2``, ..."""
    return pl.format("recall@{}", "rank")


def _points(curve: pl.DataFrame) -> pl.DataFrame:
    """The points of the recall curve."""
    return _rows(curve, RECALL, name=point_name())


def _percentile(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """As the mean's rows, but a percentile has no numerator."""
    return _rows(table, LATENCY_MEAN, name=pl.lit(name)).with_columns(
        pl.when(pl.col("value").is_not_null()).then(table[name]).alias("value"),
        pl.lit(None, dtype=pl.Float64).alias("numerator"),
    )


def _reason(metric: RoutingMetric) -> pl.Expr:
    """Why a metric is undefined: the first of :data:`REASONS` that holds, else null."""
    over = metric.populations
    needs_decisions = metric.layer in ("decision", "stability")
    is_latency, is_stability = metric.layer == "latency", metric.layer == "stability"
    is_recorded = is_latency or metric.layer == "tokens"
    told = pl.col("latency_runs") if is_latency else metric.denominator
    cases: dict[str, pl.Expr | bool] = {
        f"no-{population}-fixtures": over == (population,) and pl.col(f"expected_{population}") == 0
        for population in POPULATIONS
    }
    cases |= {
        "retrieval-only": needs_decisions and pl.col("retrieval_only"),
        "replayed": is_latency and (pl.col("latency_runs") == 0) & (pl.col("replayed") > 0),
        "not-recorded": is_latency and pl.col("latency_runs") == 0,
        "missing-fixtures": pl.any_horizontal(False, *(pl.col(f"lacking_{one}") > 0 for one in over)),
        "missing-repeats": pl.any_horizontal(False, *(pl.col(f"short_{one}") > 0 for one in over)),
        "one-repeat": is_stability and pl.col("most") <= 1,
        "reused-responses": is_stability and pl.col("reused") > 0,
        "unrecorded-responses": is_stability and pl.col("unrecorded") > 0,
        "partly-recorded": is_recorded and told < pl.col("runs"),
        metric.empty: metric.denominator == 0,
    }
    return pl.coalesce(
        *(pl.when(cases[code]).then(pl.lit(code)) for code in REASONS if cases.get(code, False) is not False),
        pl.lit(None, dtype=pl.String),
    )
