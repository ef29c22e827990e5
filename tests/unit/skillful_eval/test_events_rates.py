from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone

import polars as pl
import pytest

from skillful_eval.events import scan_events
from skillful_eval.events_acceptance import acceptances
from skillful_eval.events_rates import EVENT_METRICS, event_causes, event_report
from skillshift.frame.errors import UsageError

NINE = datetime(2026, 1, 31, 9, tzinfo=timezone.utc)  # noqa: UP017  # 3.11 has both


def at(minutes):
    return (NINE + timedelta(minutes=minutes)).isoformat()


def route(minutes, decision="injected", primary="a", **other):
    return {
        "kind": "route",
        "ts": at(minutes),
        "sessionId": "s",
        "runtime": "r",
        "decision": decision,
        "primary": primary if decision == "injected" else None,
        "reason": None,
        "error": None,
        "latencyMs": 100.0,
        "cacheHit": False,
        **other,
    }


def use(minutes, capability="a", **other):
    return {
        "kind": "capability-used",
        "ts": at(minutes),
        "sessionId": "s",
        "capabilityId": capability,
        **other,
    }


def read(*events):
    return scan_events(pl.DataFrame(list(events), infer_schema_length=None))


def values(frame):
    return {row["metric"]: (row["value"], row["denominator"], row["reason"]) for row in frame.to_dicts()}


def test_rates_of_decisions_and_cache_hits():
    events = read(
        route(0), route(1, cacheHit=True), route(2, "skipped"), route(3, "degraded"), route(4, "degraded")
    )
    found = values(event_report(events))
    assert found["injectionRate"] == (0.4, 5, None)
    assert found["abstentionRate"] == (0.2, 5, None)
    assert found["degradationRate"] == (0.4, 5, None)
    assert found["cacheHitRate"] == (0.2, 5, None)
    assert found["tokensInMean"] == (None, 0, "not-recorded")


def test_the_metrics_are_those_of_the_registry_with_the_percentiles():
    names = event_report(read(route(0)))["metric"].to_list()
    assert [name for name in names if name in EVENT_METRICS] == list(EVENT_METRICS.names)
    assert [name for name in names if name not in EVENT_METRICS] == [
        "latencyP50", "latencyP95", "latencyP99", "latencyMax",
    ]  # fmt: skip


def test_latency_is_nearest_rank_and_exact():
    found = values(event_report(read(*(route(i, latencyMs=float(i)) for i in range(1, 11))), budget_ms=8))
    assert found["latencyMean"] == (5.5, 10, None)
    assert (found["latencyP50"][0], found["latencyP95"][0], found["latencyMax"][0]) == (5, 10, 10)
    assert found["overBudgetRate"] == (0.2, 10, None)


def test_what_some_routes_do_not_tell_is_undefined():
    events = read(route(0), route(1, latencyMs=None, cacheHit=None), route(2, sessionId=None))
    found = values(event_report(events))
    for name in ("latencyMean", "latencyP95", "overBudgetRate", "cacheHitRate", "acceptanceUpperBound"):
        assert found[name] == (None, 2, "partly-recorded")
    silent = values(event_report(read(route(0, latencyMs=None, cacheHit=None, sessionId=None))))
    for name in ("latencyMean", "latencyP95", "cacheHitRate", "acceptanceUpperBound"):
        assert silent[name] == (None, 0, "not-recorded")


def test_no_routes_and_no_injections_are_undefined():
    empty = values(event_report(read(route(0, "maybe"))))
    assert empty["injectionRate"] == (None, 0, "nothing-counted")
    assert empty["acceptanceUpperBound"] == (None, 0, "nothing-picked")
    assert empty["latencyP50"][0] is None
    assert event_report(read(route(0, "maybe")), ["runtime"]).height == 0
    skipped = values(event_report(read(route(0, "skipped"))))
    assert skipped["acceptanceUpperBound"] == (None, 0, "nothing-picked")


def test_routers_are_told_apart_by_keys():
    events = read(route(0, runtime="b"), route(1, "skipped", runtime="a"), route(2, runtime="a"))
    found = event_report(events, ["runtime"]).filter(metric="injectionRate")
    assert found.select("runtime", "value", "denominator").rows() == [("a", 0.5, 2), ("b", 1.0, 1)]


@pytest.mark.parametrize(
    ("uses", "accepted"),
    [
        ([], False),
        ([use(0)], True),
        ([use(5)], True),
        ([use(10)], True),
        ([use(10.001)], False),
        ([use(-0.001)], False),
        ([use(5, "b")], False),
        ([use(5, sessionId="t")], False),
        ([use(5, sessionId=None)], False),
        ([use(-1), use(11), use(9), use(8, "b")], True),
    ],
)
def test_acceptance_is_a_use_in_the_session_within_ten_minutes(uses, accepted):
    found = acceptances(read(route(0), *uses))
    assert found["accepted"].to_list() == [accepted]
    assert values(event_report(read(route(0), *uses)))["acceptanceUpperBound"] == (float(accepted), 1, None)


def test_the_first_use_is_told_and_one_use_may_follow_several_suggestions():
    found = acceptances(read(use(9, via="menu"), route(3), use(8, via="tool"), route(0), route(8.5)))
    assert found.select("used_at", "via").rows() == [
        (NINE + timedelta(minutes=8), "tool"),
        (NINE + timedelta(minutes=8), "tool"),
        (NINE + timedelta(minutes=9), "menu"),
    ]


def test_what_was_not_suggested_cannot_be_accepted():
    found = acceptances(read(route(0, "skipped"), route(0, sessionId=None), use(1), use(1, sessionId=None)))
    assert found.select("accepted", "used_at").rows() == [(None, None), (None, None)]


def test_suggestions_whose_window_was_not_over_are_counted():
    events = read(route(0), route(15), route(20), use(21), use(24, "b"))
    found = values(event_report(events))
    assert found["acceptanceUpperBound"][0] == pytest.approx(2 / 3)
    assert found["openWindowRate"] == (0.0, 3, None)
    assert values(event_report(read(route(0), route(15), route(20))))["openWindowRate"] == (2 / 3, 3, None)
    # A window that ends with the log is over: both its ends belong to it.
    assert acceptances(read(route(0), use(10, "b")))["open"].to_list() == [False]
    assert acceptances(read(route(0.001), use(10, "b")))["open"].to_list() == [True]


def test_the_window_is_an_option():
    events = read(route(0), use(11))
    assert values(event_report(events, window=timedelta(minutes=11)))["acceptanceUpperBound"][0] == 1
    for wrong in (timedelta(0), 600, None):
        with pytest.raises(UsageError, match="window: found"):
            event_report(events, window=wrong)


def test_acceptance_is_what_a_plain_loop_finds():
    rng = random.Random(7)  # noqa: S311
    ids, sessions = ["a", "b"], ["s", "t", None]
    for _ in range(20):
        routes = [
            route(rng.randrange(40), rng.choice(["injected", "skipped"]), rng.choice(ids))
            | {"sessionId": rng.choice(sessions)}
            for _ in range(15)
        ]
        uses = [use(rng.randrange(40), rng.choice(ids), sessionId=rng.choice(sessions)) for _ in range(15)]
        expected = [
            None
            if one["primary"] is None or one["sessionId"] is None
            else any(
                timedelta(0)
                <= datetime.fromisoformat(other["ts"]) - datetime.fromisoformat(one["ts"])
                <= timedelta(minutes=10)
                and (other["sessionId"], other["capabilityId"]) == (one["sessionId"], one["primary"])
                for other in uses
            )
            for one in routes
        ]
        assert acceptances(read(*routes, *uses))["accepted"].to_list() == expected


def test_causes_are_the_reason_else_the_error():
    events = read(
        route(0),
        route(1, "skipped", reason="none"),
        route(2, "skipped", reason="none"),
        route(3, "skipped", reason="short"),
        route(4, "degraded", error="timeout"),
        route(5, "degraded", reason="upstream", error="500"),
        route(6, "degraded", reason=" "),
    )
    assert event_causes(events).rows() == [
        ("skipped", "none", 2, 3),
        ("skipped", "short", 1, 3),
        ("degraded", None, 1, 3),
        ("degraded", "timeout", 1, 3),
        ("degraded", "upstream", 1, 3),
    ]
    assert event_causes(events, ["runtime"]).columns[0] == "runtime"


@pytest.mark.parametrize("by", [["router"], ["runtime", "runtime"], ["latency_ms"], "runtime"])
def test_keys_are_checked(by):
    for call in (event_report, event_causes):
        with pytest.raises(UsageError, match="by: found"):
            call(read(route(0)), by)
