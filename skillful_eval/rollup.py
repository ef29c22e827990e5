"""The sums of every scope: taken a fixture, rolled up to signatures, then to scopes, and completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.latency import percentiles
from skillful_eval.metrics import METRICS
from skillful_eval.schema import REPLAYED
from skillful_eval.stability import reused, unanimous, unrecorded
from skillful_eval.sums import ABSTAIN, ANSWERABLE, POPULATIONS, RANK_UNITS, SUMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.metrics import RoutingMetric
    from skillful_eval.scopes import Scopes

_GREATEST = ("most", "longest")
"""The columns of which the greatest counts, not the sum: repeats of a fixture, and length of a shortlist."""


def fixtures_of(metric: RoutingMetric) -> str:
    """The column that counts the fixtures behind a metric."""
    return f"_fixtures_{metric.name}"


def scope_sums(
    runs: pl.LazyFrame, scopes: Scopes, latencies: Sequence[pl.Expr]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every sum that a metric divides, for every key and scope.

    Args:
        runs: Scored runs, with ``_key`` (UInt32), the number of their key.
        scopes: The scopes.
        latencies: The sums of latencies.

    Returns:
        One row a key and scope, sorted, whether it has runs or not: ``_place`` (its number), ``_key``,
        ``scope``, the sums (Int64; ``reciprocal_ranks`` in parts of ``rank_unit``, both Int128), the
        coverage and the percentiles of latency. And the same once for every rank up to the key's longest
        shortlist, with ``rank``, where ``hits`` are those up to that rank.
    """
    signature = pl.lit(scopes.signature).gather(pl.col("fixture")).alias("signature")
    plans = [
        _by_signature(_by_fixture(runs, latencies).with_columns(signature)),
        runs.filter(pl.col("rank").is_not_null())
        .group_by("_key", signature, "rank")
        .agg(pl.len().cast(pl.Int64).alias("first")),
        runs.filter(pl.col("latency_ms").is_not_null()).select("_key", signature, "latency_ms"),
    ]
    by_signature, ranked, timed = pl.collect_all(plans)
    ranks = (
        ranked.join(scopes.members, on="signature")
        .group_by("_key", "scope", "rank")
        .agg(pl.col("first").sum())
    )
    table = _completed(by_signature, ranks, scopes)
    table = table.join(percentiles(timed, scopes), on=["_key", "scope"], how="left", maintain_order="left")
    return table, _curve(table, ranks)


def _by_fixture(runs: pl.LazyFrame, latencies: Sequence[pl.Expr]) -> pl.LazyFrame:
    tokens = ("tokens_in", "tokens_out")
    return (
        runs.group_by("_key", "fixture")
        .agg(
            pl.len().cast(pl.Int64).alias("runs"),
            pl.col("length").max().cast(pl.Int64).alias("longest"),
            *(one.aggregation for one in SUMS.values()),
            *latencies,
            *(pl.col(name).sum() for name in tokens),
            *(pl.col(name).count().cast(pl.Int64).alias(f"{name}_runs") for name in tokens),
            (pl.col("latency_reason") == REPLAYED).sum().cast(pl.Int64).alias("replayed"),
            unanimous().cast(pl.Int64),
            reused().cast(pl.Int64),
            unrecorded().cast(pl.Int64),
        )
        .with_columns(
            (pl.col("decided") > 0).cast(pl.Int64).alias("decided_fixtures"),
            pl.col("runs").max().over("_key").alias("most"),
        )
    )


def _by_signature(by_fixture: pl.LazyFrame) -> pl.LazyFrame:
    short = pl.col("runs") < pl.col("most")
    expects = {ANSWERABLE: pl.col("answerable_runs") > 0, ABSTAIN: pl.col("answerable_runs") == 0}
    names = by_fixture.collect_schema().names()
    summed = [name for name in names if name not in ("_key", "signature", "fixture", *_GREATEST)]
    counted = [
        *((short & one).alias(f"short_{population}") for population, one in expects.items()),
        *(one.alias(f"present_{population}") for population, one in expects.items()),
        (~short).alias("whole_fixtures"),
        *((metric.denominator > 0).alias(fixtures_of(metric)) for metric in METRICS if _is_of_runs(metric)),
    ]
    return by_fixture.group_by("_key", "signature").agg(
        *(pl.col(name).sum() for name in summed),
        *(one.sum().cast(pl.Int64) for one in counted),
        *(pl.col(name).max() for name in _GREATEST),
    )


def _is_of_runs(metric: RoutingMetric) -> bool:
    return metric.layer != "coverage"


def _completed(by_signature: pl.DataFrame, ranks: pl.DataFrame, scopes: Scopes) -> pl.DataFrame:
    """Every key with every scope; what has no run counts 0."""
    on = ["_key", "scope"]
    summed = [name for name in by_signature.columns if name not in ("_key", "signature", *_GREATEST)]
    by_scope = (
        by_signature.join(scopes.members, on="signature")
        .group_by(on)
        .agg(pl.col(name).sum() for name in summed)
    )
    of_key = _of_key(by_signature)
    part = pl.col("rank_unit") // pl.col("rank").cast(pl.Int128)
    reciprocal = (
        ranks.join(of_key, on="_key")
        .group_by(on)
        .agg((pl.col("first").cast(pl.Int128) * part).sum().alias("reciprocal_ranks"))
    )
    joined = (
        of_key.sort("_key")
        .join(scopes.table, how="cross", maintain_order="left_right")
        .with_row_index("_place")
        .join(by_scope, on=on, how="left", maintain_order="left")
        .join(reciprocal, on=on, how="left", maintain_order="left")
    )
    expected = pl.sum_horizontal(f"expected_{population}" for population in POPULATIONS)
    return (
        joined.with_columns(pl.col(*summed, "reciprocal_ranks").fill_null(0))
        .with_columns(
            *(
                (pl.col(f"expected_{population}") - pl.col(f"present_{population}")).alias(
                    f"lacking_{population}"
                )
                for population in POPULATIONS
            ),
            expected.alias("expected_fixtures"),
            (expected * pl.col("most")).alias("expected_runs"),
        )
        .with_columns(
            (pl.sum_horizontal(f"present_{population}" for population in POPULATIONS)).alias(
                fixtures_of(metric)
            )
            for metric in METRICS
            if not _is_of_runs(metric)
        )
    )


def _of_key(by_signature: pl.DataFrame) -> pl.DataFrame:
    """What holds for a key in every scope: repeats, longest shortlist, whether it only retrieves."""
    units = pl.Series("rank_unit", RANK_UNITS, dtype=pl.Int128)
    return (
        by_signature.group_by("_key")
        .agg(
            *(pl.col(name).max() for name in _GREATEST),
            (pl.col("decided").sum() == 0).alias("retrieval_only"),
        )
        .with_columns(pl.lit(units).gather(pl.col("longest").clip(upper_bound=len(RANK_UNITS) - 1)))
    )


def _curve(table: pl.DataFrame, ranks: pl.DataFrame) -> pl.DataFrame:
    """The table once for every rank up to the key's longest shortlist, with the hits up to that rank."""
    on = ["_key", "scope", "rank"]
    return (
        table.drop("hits")
        .with_columns(pl.int_ranges(1, pl.col("longest") + 1, dtype=pl.UInt32).alias("rank"))
        .explode("rank", empty_as_null=False)
        .join(ranks, on=on, how="left", maintain_order="left")
        .with_columns(pl.col("first").fill_null(0).cum_sum().over("_place").alias("hits"))
    )
