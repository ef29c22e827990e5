"""The sections that the readable formats share, as frames of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.diagnostics.marginals import double_text
from skillshift.diagnostics.summing import COUNTS
from skillshift.frame.tables import Section
from skillshift.metrics import FLAG, LOW_COUNT, METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.report.content import Report


MOST_CELLS = 54
"""How many incomplete cells a readable report lists: those of three whole runs."""


def sections(report: Report) -> list[Section]:
    """What a report shows as tables.

    Run keys that are the same in every run are left to the notes. Sections that would say nothing are left
    out: incomplete cells where there are none, pooled values where every macro average is defined.
    """
    keys = report.varying_keys
    numbers = pl.DataFrame(report.table).drop(report.constant_keys)
    made = [
        Section("Diagnostics", numbers, "metric", keys),
        Section("Coverage", _coverage(report, keys), keys[-1] if keys else "runs"),
    ]
    if report.unfinished.height:
        made.append(Section(_unfinished_title(report), _unfinished(report, keys), "condition", keys))
    if report.pooled.height:
        made.append(Section("Pooled over the calls of a slot", _pooled(report, keys), "slot", keys))
    return made


def _coverage(report: Report, keys: Sequence[str]) -> pl.DataFrame:
    label = [] if keys else [pl.lit("one run").alias("runs")]
    return report.coverage.select(
        *label,
        *keys,
        pl.format("{} of {}", "complete_cells", "cells").alias("complete cells"),
        *(pl.col(name).cast(pl.String) for name in COUNTS),
    )


def _unfinished_title(report: Report) -> str:
    more = report.unfinished.height - MOST_CELLS
    return "Incomplete cells" + (
        f" (the first {MOST_CELLS}; {more} more in cells.parquet)" if more > 0 else ""
    )


def _unfinished(report: Report, keys: Sequence[str]) -> pl.DataFrame:
    return report.unfinished.head(MOST_CELLS).select(
        *keys, "website", "condition", *(pl.col(name).cast(pl.String) for name in COUNTS)
    )


def _pooled(report: Report, keys: Sequence[str]) -> pl.DataFrame:
    units = {metric.name: metric.unit for metric in METRICS}
    return report.pooled.select(
        *keys,
        "metric",
        "slot",
        pl.concat_str(
            double_text("pooled"),
            pl.when(pl.col("denominator") < LOW_COUNT).then(pl.lit(f" {FLAG}")).otherwise(pl.lit("")),
        ).alias("pooled"),
        pl.col("denominator").cast(pl.String).alias("calls"),
        pl.col("min_cell_calls").cast(pl.String).alias("calls in smallest cell"),
        pl.col("metric").replace_strict(units, return_dtype=pl.String).alias("unit"),
    )
