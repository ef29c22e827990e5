"""The oracle by hand: it is what the report is held against, so figures here are literals."""

from fractions import Fraction

import pytest

from skillful_eval.testing.facts import expectations, folded
from skillful_eval.testing.oracle import oracle_report
from skillful_eval.testing.oracle_events import oracle_acceptances, oracle_event_report
from skillshift.frame.errors import InputError

ENTRIES = [
    {"id": "a:undo", "kind": "skill", "name": "ops:Undo"},
    {"id": "b:undo", "kind": "skill", "name": "ops-undo"},
    {"id": "a:plan", "kind": "skill", "name": "plan"},
    {"id": "a:planner", "kind": "agent", "name": "Plan"},
    {"id": "a:db", "kind": "mcp", "name": "db"},
]
FIXTURES = [
    {"id": "undo", "group": "coding", "gold": ["ops:undo"]},
    {"id": "plan", "group": "coding", "gold": ["PLAN", "db"]},
    {"id": "thanks", "group": "trivial", "gold": ["none"]},
]


def run(fixture, shortlist=(), decision="skipped", chosen=None, **other):
    return {
        "fixture_id": fixture,
        "repeat": 0,
        "shortlist": list(shortlist),
        "decision": decision,
        "chosen": chosen,
        **other,
    }


RUNS = [
    run("undo", ["a:plan", "a:plan", "b:undo"], "injected", "a:undo", latency_ms=10.0),
    run("plan", ["a:db", "a:plan"], "injected", "b:undo", latency_ms=20.0),
    run("thanks", ["a:db"], "degraded", latency_ms=30.0),
]


def rows(runs, scope="all", **options):
    found = oracle_report(ENTRIES, FIXTURES, runs, **options)
    return {row["metric"]: row for row in found if row["scope"] == scope}


def test_names_are_folded():
    assert folded("Ops:Un-Do") == "ops-un-do"


def test_gold_by_name_is_every_id_and_by_id_is_that_one():
    fixtures = [
        {"id": "name", "group": "g", "gold": ["OPS-undo"]},
        {"id": "id", "group": "g", "gold": ["a:undo"]},
        {"id": "both", "group": "g", "gold": ["a:undo", "ops-undo", "plan"]},
    ]
    name, id_, both = expectations(ENTRIES, fixtures)
    assert name.answers == (frozenset({"a:undo", "b:undo"}),)
    assert id_.answers == (frozenset({"a:undo"}),)
    assert both.answers == (frozenset({"a:undo", "b:undo"}), frozenset({"a:plan", "a:planner"}))
    assert both.kinds == ("skill", "agent")


def test_gold_that_nothing_carries_is_refused():
    with pytest.raises(InputError, match=r'fixture "x": gold "redo" is in no entry'):
        expectations(ENTRIES, [{"id": "x", "group": "g", "gold": ["redo"]}])


def test_layer_one_by_hand():
    found = rows(RUNS)
    assert found["recall@K"]["value"] == 1
    assert found["recall@1"]["value"] == Fraction(1, 2)
    assert found["recall@2"]["value"] == 1
    # b:undo is second among the distinct ids; a:db is first.
    assert found["MRR"]["value"] == Fraction(3, 4)
    # One name of one, and two of two.
    assert (found["goldInShortlistRate"]["numerator"], found["goldInShortlistRate"]["denominator"]) == (3, 3)
    assert found["meanShortlistLength"]["value"] == 2


def test_layer_two_by_hand():
    found = rows(RUNS)
    assert found["top1Accuracy"]["value"] == Fraction(1, 3)
    assert found["abstentionCorrectness"]["value"] == Fraction(2, 3)
    assert found["wrongPickOffered"]["value"] == Fraction(1, 3)
    assert found["wrongPickNotOffered"]["value"] == 0
    assert found["offListRate"]["value"] == 1
    # A degraded run is a miss of abstaining, and no abstention.
    assert (found["noneRecall"]["value"], found["noneF1"]["value"]) == (0, 0)
    assert (found["nonePrecision"]["value"], found["nonePrecision"]["reason"]) == (None, "nothing-abstained")
    assert found["abstainDegraded"]["value"] == 1


def test_latency_by_hand():
    found = rows(RUNS, budget_ms=20)
    assert found["latencyMean"]["value"] == 20
    assert [found[f"latency{name}"]["value"] for name in ("P50", "P95", "P99", "Max")] == [20, 30, 30, 30]
    assert found["overBudgetRate"]["value"] == Fraction(1, 3)
    unmeasured = rows([*RUNS[:2], run("thanks")])
    assert {unmeasured[name]["reason"] for name in ("latencyMean", "latencyMax")} == {"partly-recorded"}
    assert unmeasured["tokensInMean"]["reason"] == "not-recorded"


def test_agreement_by_hand():
    again = [one | {"repeat": 1} for one in RUNS]
    assert rows(RUNS)["agreementRate"]["reason"] == "one-repeat"
    found = rows([*RUNS, *again])["agreementRate"]
    assert (found["value"], found["numerator"]) == (Fraction(2, 3), 2)
    again[0] = run("undo", decision="skipped") | {"repeat": 1}
    assert rows([*RUNS, *again])["agreementRate"]["numerator"] == 1
    replayed = [one | {"response_index": 0} for one in [*RUNS, *again]]
    assert rows(replayed)["agreementRate"]["reason"] == "reused-responses"


def test_coverage_by_hand():
    found = rows(RUNS[:2])
    assert found["runCoverage"]["value"] == found["fixtureCoverage"]["value"] == Fraction(2, 3)
    assert found["top1Accuracy"]["reason"] == "missing-fixtures"
    assert found["recall@K"]["value"] == 1
    assert rows([*RUNS, RUNS[0] | {"repeat": 1}])["recall@K"]["reason"] == "missing-repeats"


def test_scopes_by_hand():
    found = oracle_report(ENTRIES, FIXTURES, RUNS)
    assert list(dict.fromkeys(row["scope"] for row in found)) == [
        "all", "group:coding", "group:trivial", "kind:skill", "kind:mcp", "kind:agent",
    ]  # fmt: skip
    assert rows(RUNS, "group:trivial")["recall@K"]["reason"] == "no-answerable-fixtures"
    assert rows(RUNS, "kind:mcp")["recall@K"]["denominator"] == 1


def test_retrieval_only_by_hand():
    found = rows([one | {"decision": None, "chosen": None} for one in RUNS])
    assert {found[name]["reason"] for name in ("top1Accuracy", "agreementRate")} == {"retrieval-only"}
    assert found["MRR"]["value"] == Fraction(3, 4)


def test_configurations_by_hand():
    found = oracle_report(ENTRIES, FIXTURES, [one | {"config": c} for one in RUNS for c in "ba"])
    assert list(dict.fromkeys(row["config"] for row in found)) == ["a", "b"]
    assert len(found) == 2 * len(oracle_report(ENTRIES, FIXTURES, RUNS))


def route(minute, decision="injected", **other):
    time = {"kind": "route", "ts": f"2026-01-31T09:{minute:02}:00Z", "decision": decision}
    return {**time, "primary": "a", "sessionId": "s", **other}


def use(minute, capability="a", session="s"):
    time = {"kind": "capability-used", "ts": f"2026-01-31T09:{minute:02}:00Z"}
    return {**time, "capabilityId": capability, "sessionId": session}


@pytest.mark.parametrize(
    ("uses", "accepted"),
    [
        ([use(30)], True),
        ([use(40)], True),
        ([use(41)], False),
        ([use(29)], False),
        ([use(31, "b")], False),
        ([use(31, session="t")], False),
        ([use(31, "b"), use(32)], True),
    ],
)
def test_acceptance_by_hand(uses, accepted):
    assert oracle_acceptances([*uses, route(30)]) == [accepted]


def test_event_rates_by_hand():
    log = [route(0, cacheHit=True), route(1, "skipped", cacheHit=False), route(2, sessionId=None), use(3)]
    assert oracle_event_report(log) == {
        "injectionRate": (Fraction(2, 3), 2, 3, None),
        "abstentionRate": (Fraction(1, 3), 1, 3, None),
        "degradationRate": (0, 0, 3, None),
        "cacheHitRate": (None, 1, 2, "partly-recorded"),
        "acceptanceUpperBound": (None, 1, 1, "partly-recorded"),
    }
    assert oracle_event_report([use(1)])["injectionRate"] == (None, 0, 0, "nothing-counted")
    assert oracle_event_report([route(1, "skipped")])["acceptanceUpperBound"][3] == "nothing-picked"
