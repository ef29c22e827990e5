"""What a live router's events say: rates, causes and latency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.events_acceptance import WINDOW, acceptances
from skillful_eval.latency import BUDGET_MS, latency_sums
from skillful_eval.metrics import METRICS, PERCENTILES, RoutingMetric, RoutingRegistry
from skillful_eval.schema import DECISIONS, DEFINITIONS, DEGRADED, INJECTED, SKIPPED
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.exact import nearest_rank_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import timedelta

    from skillful_eval.events import Events
    from skillshift.frame.metric import Direction

EVENT_METRICS = RoutingRegistry("router event metrics")
"""The ratios that are taken of a live router's events."""


def _add(
    name: str,
    title: str,
    sums: tuple[str, str],
    summary: str,
    *,
    layer: str = "decision",
    better: Direction = "neither",
    empty: str = "nothing-counted",
) -> None:
    EVENT_METRICS.add(
        RoutingMetric(
            name=name,
            title=title,
            numerator=pl.col(sums[0]),
            denominator=pl.col(sums[1]),
            scale=1,
            unit="share",
            lower=0,
            upper=1,
            better=better,
            summary=summary,
            source=DEFINITIONS,
            layer=layer,
            empty=empty,
        )
    )


_add(
    "injectionRate", "Injection Rate", (INJECTED, "routes"), "Routes that injected a capability, over routes."
)
_add("abstentionRate", "Abstention Rate", (SKIPPED, "routes"), "Routes that abstained, over routes.")
_add(
    "degradationRate",
    "Degradation Rate",
    (DEGRADED, "routes"),
    "Routes without a decision because something failed, over routes.",
    better="lower",
)
_add(
    "cacheHitRate",
    "Cache Hit Rate",
    ("cache_hits", "cache_told"),
    "Routes answered from a cache, over routes.",
    layer="cache",
)
_add(
    "acceptanceUpperBound",
    "Acceptance, an Upper Bound",
    ("accepted", "suggestions"),
    "Injections after which the capability was used in the same session within the window, over "
    "injections: an upper bound, as it might have been used without the suggestion too.",
    layer="acceptance",
    better="higher",
    empty="nothing-picked",
)
_add(
    "openWindowRate",
    "Open Windows",
    ("open", "suggestions"),
    "Injections without a use whose window had not ended when the log did, over injections.",
    layer="acceptance",
    better="lower",
    empty="nothing-picked",
)
for _metric in METRICS:
    if _metric.layer in ("latency", "tokens"):
        EVENT_METRICS.add(_metric)

_TOLD = {
    "cache": ("cache_told", "routes"),
    "latency": ("latency_runs", "routes"),
    "acceptance": ("suggestions", INJECTED),
}
"""By layer: in how many routes it was recorded, and in how many it should have been."""

EVENT_REPORT = pl.Schema(
    {
        "metric": pl.String(),
        "value": pl.Float64(),
        "numerator": pl.Float64(),
        "denominator": pl.Int64(),
        "reason": pl.String(),
    }
)
"""The columns of an event report after its keys."""


def event_report(
    events: Events,
    by: Sequence[str] = (),
    *,
    budget_ms: float = BUDGET_MS,
    window: timedelta = WINDOW,
) -> pl.DataFrame:
    """Rates of decisions and cache hits, latency, tokens, and an upper bound of acceptance.

    Args:
        events: What :func:`skillful_eval.scan_events` gives; say what its ``findings`` say beside any figure.
        by: Columns of its routes that tell routers apart, such as ``runtime`` or ``corpus_fingerprint``; by
            default all routes are pooled.
        budget_ms: What ``overBudgetRate`` compares latencies with.
        window: How long after a suggestion a use counts as its acceptance.

    Returns:
        One row a key and metric: the keys, sorted; ``metric``: the names of :data:`EVENT_METRICS` in their
        order, and the percentiles of latency after its mean; ``value`` (Float64: shares from 0 to 1,
        latencies in ms), null where undefined; ``numerator`` (Float64, null for percentiles),
        ``denominator`` (Int64: what it rests on, routes or injections); ``reason`` (text, null with a value;
        ``not-recorded``: no route tells; ``partly-recorded``: some do not, and leaving them out would flatter
        the rest; ``nothing-picked``; ``nothing-counted``).

    Raises:
        UsageError: A key is no column of the routes, the window is not above 0, or the budget is no number.

    Example:
        >>> import skillful_eval as se
        >>> lines = {"kind": ["route", "capability-used"], "sessionId": ["s", "s"], "primary": ["a", None]}
        >>> times = {"ts": ["2026-01-31T09:30:00Z", "2026-01-31T09:39:00Z"], "decision": ["injected", None]}
        >>> events = se.scan_events(pl.DataFrame(lines | times | {"capabilityId": [None, "a"]}))
        >>> found = event_report(events).filter(metric="acceptanceUpperBound")
        >>> found.select("value", "numerator", "denominator").row(0)
        (1.0, 1.0, 1)
    """
    keys = _checked(events, by)
    routes = acceptances(events, window=window)
    sums = [
        pl.len().cast(pl.Int64).alias("routes"),
        *((pl.col("decision") == kind).sum().cast(pl.Int64).alias(kind) for kind in DECISIONS),
        pl.col("cache_hit").sum().cast(pl.Int64).alias("cache_hits"),
        pl.col("cache_hit").count().cast(pl.Int64).alias("cache_told"),
        pl.col("accepted").count().cast(pl.Int64).alias("suggestions"),
        pl.col("accepted").sum().cast(pl.Int64),
        pl.col("open").sum().cast(pl.Int64),
        *latency_sums(budget_ms),
        *(
            part
            for name in ("tokens_in", "tokens_out")
            for part in (pl.col(name).sum(), pl.col(name).count().cast(pl.Int64).alias(f"{name}_runs"))
        ),
        *(nearest_rank_value(pl.col("latency_ms"), q).alias(name) for name, q in PERCENTILES.items()),
    ]
    table = routes.group_by(keys).agg(sums).sort(keys) if keys else routes.select(sums)
    table = table.with_row_index("_place")
    parts: list[pl.DataFrame] = []
    for metric in EVENT_METRICS:
        parts.append(_rows(table, metric, keys))
        if metric.name == "latencyMean":
            parts += [_percentile(table, metric, name, keys) for name in PERCENTILES]
    order = pl.concat(parts).with_row_index("_order").sort("_place", "_order")
    return order.select(*keys, *EVENT_REPORT)


def _rows(table: pl.DataFrame, metric: RoutingMetric, keys: Iterable[str]) -> pl.DataFrame:
    told, should = (pl.col(name) for name in _TOLD.get(metric.layer, ("routes", "routes")))
    reason = pl.coalesce(
        pl.when((told == 0) & (should > 0)).then(pl.lit("not-recorded")),
        pl.when(told < should).then(pl.lit("partly-recorded")),
        pl.when(metric.denominator == 0).then(pl.lit(metric.empty)),
        pl.lit(None, dtype=pl.String),
    )
    return table.select(
        "_place",
        *keys,
        pl.lit(metric.name).alias("metric"),
        pl.when(reason.is_null()).then(metric.value).alias("value"),
        metric.total.alias("numerator"),
        metric.denominator.cast(pl.Int64).alias("denominator"),
        reason.alias("reason"),
    )


def _percentile(table: pl.DataFrame, mean: RoutingMetric, name: str, keys: Iterable[str]) -> pl.DataFrame:
    return _rows(table, mean, keys).with_columns(
        pl.lit(name).alias("metric"),
        pl.when(pl.col("value").is_not_null()).then(table[name]).alias("value"),
        pl.lit(None, dtype=pl.Float64).alias("numerator"),
    )


def event_causes(events: Events, by: Sequence[str] = ()) -> pl.DataFrame:
    """Why a live router abstained or failed.

    Args:
        events: What :func:`skillful_eval.scan_events` gives.
        by: As :func:`event_report` takes it.

    Returns:
        One row a key, decision and cause, the most frequent first: the keys; ``decision`` (text: ``skipped``
        or ``degraded``); ``cause`` (text: the event's reason, else its error; null where it tells neither);
        ``routes`` (Int64); ``of`` (Int64: the key's routes with that decision).

    Raises:
        UsageError: A key is no column of the routes.

    Example:
        >>> import skillful_eval as se
        >>> line = {"kind": "route", "ts": "2026-01-31T09:30:00Z", "decision": "degraded", "error": "timeout"}
        >>> event_causes(se.scan_events(pl.DataFrame([line]))).rows()
        [('degraded', 'timeout', 1, 1)]
    """
    keys = _checked(events, by)
    cause = pl.coalesce(_filled("reason"), _filled("error")).alias("cause")
    order = pl.col("decision").cast(pl.Enum(DECISIONS))
    return (
        events.routes.filter(pl.col("decision") != INJECTED)
        .group_by(*keys, "decision", cause)
        .agg(pl.len().cast(pl.Int64).alias("routes"))
        .with_columns(pl.col("routes").sum().over(*keys, "decision").alias("of"))
        .sort(*keys, order, -pl.col("routes"), "cause")
        .collect()
    )


def _filled(name: str) -> pl.Expr:
    return pl.when(pl.col(name).str.strip_chars() != "").then(name)


def _checked(events: Events, by: Sequence[str]) -> list[str]:
    schema: dict[str, Any] = dict(events.routes.collect_schema())
    keys = list(by)
    texts = [name for name, dtype in schema.items() if dtype == pl.String and _is_key(name)]
    wrong = [name for name in keys if name not in texts]
    if isinstance(by, str) or wrong or len(set(keys)) != len(keys):
        raise UsageError(
            f"by: found {shorten(by)}, expected a list of distinct columns among {', '.join(texts)}"
        )
    return keys


def _is_key(name: str) -> bool:
    """Whether no output has a column of that name, and it is no working column."""
    return not name.startswith("_") and name not in {*EVENT_REPORT, "decision", "cause"}
