"""The sections that the readable formats share, as frames of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.diagnostics.marginals import double_text
from skillshift.metrics import METRICS

if TYPE_CHECKING:
    from skillshift.report.content import Report


def sections(report: Report) -> list[tuple[str, pl.DataFrame, str]]:
    """Each section's title, its frame of text, and the column after which numbers stand.

    Sections that would say nothing are left out: pooled values where every macro average is defined.
    """
    made = [
        ("Diagnostics", pl.DataFrame(report.table), "metric"),
        ("Coverage", _coverage(report), "run" if not report.by else report.by[-1]),
    ]
    if report.pooled.height:
        made.append(("Pooled over the calls of a slot", _pooled(report), "slot"))
    return made


def _coverage(report: Report) -> pl.DataFrame:
    counted = report.coverage
    if not report.by:
        counted = counted.select(pl.lit("all records").alias("run"), pl.all())
    keys = list(report.by) or ["run"]
    return counted.select(
        *keys,
        pl.format("{} of {}", "complete_cells", "cells").alias("complete cells"),
        *(pl.col(name).cast(pl.String) for name in ("planned", "attempted", "errored", "scored", "missing")),
    )


def _pooled(report: Report) -> pl.DataFrame:
    units = {metric.name: metric.unit for metric in METRICS}
    return report.pooled.select(
        *report.by,
        "metric",
        "slot",
        double_text("pooled").alias("pooled"),
        pl.col("denominator").cast(pl.String).alias("calls"),
        pl.col("min_cell_calls").cast(pl.String).alias("calls in smallest cell"),
        pl.col("metric").replace_strict(units, return_dtype=pl.String).alias("unit"),
    )
