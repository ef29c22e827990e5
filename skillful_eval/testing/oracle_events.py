"""The oracle of a live router's events: what was accepted, and every rate, in plain Python.

>>> route = {"kind": "route", "ts": "2026-01-31T09:30:00Z", "decision": "injected", "primary": "a"}
>>> use = {"kind": "capability-used", "ts": "2026-01-31T09:40:00Z", "capabilityId": "a", "sessionId": "s"}
>>> oracle_acceptances([route | {"sessionId": "s"}, use])
[True]
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from skillful_eval.events_schema import ROUTE, USE
from skillful_eval.schema import DECISIONS, DEGRADED, INJECTED, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Record = Mapping[str, Any]

_WINDOW = timedelta(minutes=10)


def oracle_acceptances(events: Iterable[Record], *, window: timedelta = _WINDOW) -> list[bool | None]:
    """Whether each injected capability was used in the same session within the window, both ends included.

    Args:
        events: Valid events in the log's fields, times as ISO 8601 text.
        window: How long after the suggestion a use counts.

    Returns:
        One value a route, in the order of the events; None where nothing was injected or the session is not
        known.
    """
    log = list(events)
    uses = [event for event in log if event["kind"] == USE]
    return [_accepted(route, uses, window) for route in log if route["kind"] == ROUTE]


def _accepted(route: Record, uses: Iterable[Record], window: timedelta) -> bool | None:
    if route["decision"] != INJECTED or route.get("sessionId") is None:
        return None
    return any(
        use.get("sessionId") == route["sessionId"]
        and use["capabilityId"] == route["primary"]
        and timedelta(0) <= _time(use) - _time(route) <= window
        for use in uses
    )


def _time(event: Record) -> datetime:
    return datetime.fromisoformat(event["ts"])


def oracle_event_report(
    events: Iterable[Record], *, window: timedelta = _WINDOW
) -> dict[str, tuple[Fraction | None, int, int, str | None]]:
    """The rates that :func:`skillful_eval.event_report` must give for all routes together.

    Args:
        events: As for :func:`oracle_acceptances`.
        window: As there.

    Returns:
        By metric (the shares of decisions, of cache hits, of acceptance): value (None where undefined),
        numerator, denominator and reason.
    """
    log = list(events)
    routes = [event for event in log if event["kind"] == ROUTE]
    counts = {decision: sum(one["decision"] == decision for one in routes) for decision in DECISIONS}
    hits = [one["cacheHit"] for one in routes if one.get("cacheHit") is not None]
    accepted = [one for one in oracle_acceptances(log, window=window) if one is not None]
    rates = {
        "injectionRate": (counts[INJECTED], len(routes), len(routes), "nothing-counted"),
        "abstentionRate": (counts[SKIPPED], len(routes), len(routes), "nothing-counted"),
        "degradationRate": (counts[DEGRADED], len(routes), len(routes), "nothing-counted"),
        "cacheHitRate": (sum(hits), len(hits), len(routes), "nothing-counted"),
        "acceptanceUpperBound": (sum(accepted), len(accepted), counts[INJECTED], "nothing-picked"),
    }
    return {name: _rate(*parts) for name, parts in rates.items()}


def _rate(top: int, told: int, of: int, empty: str) -> tuple[Fraction | None, int, int, str | None]:
    """A share, defined only where everything that should tell it does."""
    if told == of > 0:
        return Fraction(top, told), top, told, None
    return None, top, told, empty if of == 0 else "not-recorded" if told == 0 else "partly-recorded"
