"""Whether a live router's suggestions were taken up: an upper bound, as nobody asked the users."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from skillful_eval.events import Events

WINDOW = timedelta(minutes=10)
"""How long after a suggestion a use of the capability counts as its acceptance."""


def acceptances(events: Events, *, window: timedelta = WINDOW) -> pl.DataFrame:
    """Whether each suggestion was followed by a use of the capability: an upper bound of its acceptance.

    A use is matched by an as-of join: the first one of the injected capability in the same session, from the
    suggestion to the end of the window, both ends included. One use can follow several suggestions.

    Args:
        events: What :func:`skillful_eval.scan_events` gives.
        window: How long after a suggestion a use counts.

    Returns:
        The routes in their order, with ``used_at`` (Datetime, UTC: the first use, null where there was none),
        ``via`` (text, how), ``accepted`` (Boolean: whether there was one; null where nothing was injected or
        the session is not known), ``open`` (Boolean: not used, and the window ends after the last event).

    Raises:
        UsageError: The window is not above 0.

    Example:
        >>> import skillful_eval as se
        >>> lines = {"kind": ["route", "capability-used"], "sessionId": ["s", "s"], "primary": ["a", None]}
        >>> times = {"ts": ["2026-01-31T09:30:00Z", "2026-01-31T09:39:00Z"], "decision": ["injected", None]}
        >>> events = se.scan_events(pl.DataFrame(lines | times | {"capabilityId": [None, "a"]}))
        >>> acceptances(events)["accepted"].to_list()
        [True]
        >>> acceptances(events, window=timedelta(minutes=5))["accepted"].to_list()
        [False]
    """
    if not isinstance(window, timedelta) or window <= timedelta(0):
        raise UsageError(f"window: found {shorten(window)}, expected a timedelta above 0")
    routes, uses = events.routes.collect(), events.uses.collect()
    by = ["session_id", "chosen"]
    used = uses.select("ts", "session_id", chosen="capability_id", used_at="ts", via="via").sort(
        "ts", maintain_order=True
    )
    suggested = pl.col("chosen").is_not_null() & pl.col("session_id").is_not_null()
    end = pl.max_horizontal(*(pl.lit(one["ts"].max(), dtype=routes.schema["ts"]) for one in (routes, uses)))
    return (
        routes.with_row_index("_route")
        .sort("ts", maintain_order=True)
        .join_asof(
            used, on="ts", by=by, strategy="forward", tolerance=window, coalesce=True, check_sortedness=False
        )
        .sort("_route")
        .drop("_route")
        .with_columns(
            pl.when(suggested).then(pl.col("used_at").is_not_null()).alias("accepted"),
            (suggested & pl.col("used_at").is_null() & (pl.col("ts") + window > end)).alias("open"),
        )
    )
