"""Values as people read them: decimals by unit, half-up; the counts beside; a reason where undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.events_rates import EVENT_METRICS
from skillful_eval.metrics import LATENCY_MEAN, METRICS, PERCENTILES, RECALL
from skillful_eval.rendering.document import UNDEFINED, decimals
from skillful_eval.sums import POPULATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillful_eval.metrics import RoutingMetric

PLACES = {"share": 3, "ids": 2, "ms": 1, "tokens": 1}
"""How many decimals a value of each unit is shown with."""


WITHOUT = tuple(f"no-{population}-fixtures" for population in POPULATIONS)
"""The reasons that a scope has none of the fixtures that a metric speaks of."""


def metric_of(name: str) -> RoutingMetric:
    """The metric whose unit and layer a row of a report has."""
    if name in METRICS:
        return METRICS[name]
    if name in EVENT_METRICS:
        return EVENT_METRICS[name]
    return LATENCY_MEAN if name in PERCENTILES else RECALL


def value_text(name: str, value: float | None) -> str:
    """A value with the decimals of its metric's unit."""
    return decimals(value, PLACES[metric_of(name).unit])


def count_text(value: float | None) -> str:
    """A numerator: whole where it is, else with two decimals; empty where there is none."""
    if value is None:
        return ""
    return f"{int(value):,}" if value.is_integer() else decimals(value, 2)


def cell_text(row: dict[str, Any]) -> str:
    """A value with what it rests on, such as ``0.750 (9/12)``; or why there is none, if there could be."""
    if row["value"] is None:
        return (
            UNDEFINED
            if not row["denominator"] and row["reason"] in WITHOUT
            else f"{UNDEFINED} {row['reason']}"
        )
    of = f"{row['denominator']:,}"
    counts = of if row["numerator"] is None else f"{count_text(row['numerator'])}/{of}"
    return f"{value_text(row['metric'], row['value'])} ({counts})"


def value_columns(rows: pl.DataFrame) -> list[pl.Series]:
    """What a report's rows say, as text: value, numerator, denominator, unit; and reason, if there is any."""
    told = rows.select("metric", "value", "numerator", "denominator").rows()
    columns = {
        "value": [value_text(metric, value) for metric, value, _, _ in told],
        "numerator": [count_text(numerator) for _, _, numerator, _ in told],
        "denominator": [f"{denominator:,}" for _, _, _, denominator in told],
        "unit": [metric_of(metric).unit for metric, _, _, _ in told],
    }
    reasons = rows["reason"].fill_null("")
    return _texts(columns.items()) + ([reasons.rename("reason")] if (reasons != "").any() else [])


def _texts(columns: Iterable[tuple[str, list[str]]]) -> list[pl.Series]:
    return [pl.Series(name, texts, dtype=pl.String) for name, texts in columns]
