"""Configurations held against criteria: one row a configuration, and which of them is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.gating import FAILED, PASSED, gate
from skillful_eval.metrics import RECALL
from skillful_eval.schema import CONFIG
from skillful_eval.scopes import ALL
from skillful_eval.summary import REPORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.criteria import Criterion
    from skillful_eval.sweep_thresholds import ThresholdSums

DENOMINATOR = "_denominator"
"""What is added to a value's column for the column of what it rests on."""

BEST_FIRST = {
    "verdict": True,
    "criteria_met": True,
    "shortfall": False,
    "shortlist": False,
    CONFIG: False,
}
"""The columns that order configurations, and whether the greater is better: ``passed`` before ``failed``, the
more criteria met, the smaller shortfall, the smaller shortlist; then by name, so that the order is one."""

WORST = 1.0
"""The shortfall of a criterion whose value is undefined, which is also that of a share of 0."""


def column_of(criterion: Criterion) -> str:
    """The column of a criterion's value: the metric, with the scope in brackets where that is not all.

    >>> from skillful_eval.criteria import Criterion
    >>> column_of(Criterion("recall@K", minimum=0.9, scope="kind:mcp"))
    'recall@K[kind:mcp]'
    """
    return criterion.metric if criterion.scope == ALL else f"{criterion.metric}[{criterion.scope}]"


def judged_rows(
    sums: ThresholdSums, criteria: Sequence[Criterion], keys: range, block: range
) -> pl.DataFrame:
    """Hold keys and pairs of thresholds against criteria.

    Args:
        sums: Their sums.
        criteria: What is asked for.
        keys: The keys, one after the other.
        block: The numbers of the none thresholds, one after the other.

    Returns:
        One row a key and pair, in order: for every criterion its value (Float64, null where undefined) and
        denominator (Int64), see :func:`column_of`; ``criteria``, ``criteria_met`` (Int64), ``blocked_by``
        (list of text: each criterion that is not met, and the reason code), ``shortfall`` (Float64),
        ``verdict`` (text).
    """
    # The first is there for every key, so that none is forgotten whatever the criteria ask for.
    asked = dict.fromkeys([(RECALL.name, ALL), *((one.metric, one.scope) for one in criteria)])
    rows = pl.concat([sums.rows(metric, scope, keys, block) for metric, scope in asked])
    report = rows.select(pl.col("_place").alias(CONFIG), *REPORT)
    verdicts = gate(report, criteria)
    of_criteria = [verdicts.gather_every(len(criteria), number) for number in range(len(criteria))]
    columns: dict[str, pl.Series] = {}
    for criterion, own in zip(criteria, of_criteria, strict=True):
        columns[column_of(criterion)] = own["value"]
        columns[column_of(criterion) + DENOMINATOR] = own["denominator"]
    parts = [own.select(_facts(n)) for n, own in enumerate(of_criteria)]
    facts = pl.concat(parts, how="horizontal")
    numbers = range(len(criteria))
    met = pl.sum_horizontal(pl.col(f"met_{n}").cast(pl.Int64) for n in numbers)
    return pl.DataFrame(columns).hstack(
        facts.select(
            pl.lit(len(criteria), dtype=pl.Int64).alias("criteria"),
            met.alias("criteria_met"),
            pl.concat_list(f"blocked_{n}" for n in numbers).list.drop_nulls().alias("blocked_by"),
            pl.sum_horizontal(f"shortfall_{n}" for n in numbers).alias("shortfall"),
            pl.when(met == len(criteria)).then(pl.lit(PASSED)).otherwise(pl.lit(FAILED)).alias("verdict"),
        )
    )


def _facts(number: int) -> list[pl.Expr]:
    """Of one criterion's verdicts: whether it is met, what blocks it, by which part the limit is missed."""
    met = pl.col("verdict") == PASSED
    where = pl.when(pl.col("scope") == ALL).then(pl.lit("")).otherwise(pl.format(" in {}", "scope"))
    missed = pl.coalesce(1 - pl.col("value") / pl.col("minimum"), 1 - pl.col("maximum") / pl.col("value"))
    return [
        met.alias(f"met_{number}"),
        pl.when(~met)
        .then(pl.concat_str("criterion", where, pl.lit(": "), "reason"))
        .alias(f"blocked_{number}"),
        pl.when(met).then(0.0).otherwise(missed.fill_null(WORST)).alias(f"shortfall_{number}"),
    ]


def best_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Configurations in the order of :data:`BEST_FIRST`."""
    return rows.sort(list(BEST_FIRST), descending=list(BEST_FIRST.values()))
