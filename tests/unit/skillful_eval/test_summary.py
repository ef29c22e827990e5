"""The report against the oracle, and its rules one by one."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillful_eval import testing as sst
from skillful_eval.corpus import make_corpus
from skillful_eval.fixtures import read_fixtures
from skillful_eval.metrics import METRICS, REASONS
from skillful_eval.scoring import score
from skillful_eval.summary import REPORT, report
from skillshift.frame.errors import UsageError


def value(frame, metric, scope="all", column="value", **keys):
    rows = frame.filter(metric=metric, scope=scope, **keys)
    assert rows.height == 1, (metric, scope, keys)
    return rows[column].item()


def parts(frame, metric, scope="all"):
    row = frame.filter(metric=metric, scope=scope).row(0, named=True)
    return row["numerator"], row["denominator"], row["fixtures"]


# -- by hand -------------------------------------------------------------------------------------------------


def test_every_metric_of_one_whole_run_by_hand(scored_of, whole):
    found = report(scored_of(*(row | {"latency_ms": 10.0 * i} for i, row in enumerate(whole, 1))))
    all_ = found.filter(scope="all")
    assert dict(all_.select("metric", "value").rows()) == {
        "recall@K": 2 / 3,
        "recall@1": 0.0,
        "recall@2": 2 / 3,
        "recall@3": 2 / 3,
        "MRR": 1 / 3,
        "goldInShortlistRate": 0.5,
        "meanShortlistLength": 2.0,
        "top1Accuracy": 0.5,
        "abstentionCorrectness": 0.75,
        "wrongPickNotOffered": 0.0,
        "wrongPickOffered": 0.25,
        "nonePrecision": 1.0,
        "noneRecall": 1.0,
        "noneF1": 1.0,
        "degradedRate": 0.25,
        "offListRate": 0.0,
        "answerableInjected": 2 / 3,
        "answerableSkipped": 0.0,
        "answerableDegraded": 1 / 3,
        "abstainInjected": 0.0,
        "abstainSkipped": 1.0,
        "abstainDegraded": 0.0,
        "agreementRate": None,
        "latencyMean": 25.0,
        "latencyP50": 20.0,
        "latencyP95": 40.0,
        "latencyP99": 40.0,
        "latencyMax": 40.0,
        "overBudgetRate": 0.0,
        "tokensInMean": None,
        "tokensOutMean": None,
        "runCoverage": 1.0,
        "fixtureCoverage": 1.0,
    }
    assert all_["metric"].to_list()[:6] == [
        "recall@K",
        "recall@1",
        "recall@2",
        "recall@3",
        "MRR",
        "goldInShortlistRate",
    ]
    assert parts(found, "MRR") == (1.0, 3, 3)
    assert parts(found, "goldInShortlistRate") == (2.0, 4, 3)
    assert parts(found, "noneF1") == (2.0, 2, 1)
    assert parts(found, "latencyP95") == (None, 4, 4)


def test_the_frame_is_tidy(scored_of, whole):
    found = report(scored_of(*whole))
    assert found.schema == REPORT
    assert found["scope"].unique(maintain_order=True).to_list() == [
        "all",
        "group:coding",
        "group:mcp",
        "group:trivial",
        "kind:skill",
        "kind:mcp",
        "kind:agent",
    ]
    assert (found["value"].is_null() == found["reason"].is_not_null()).all()
    assert set(found["reason"].drop_nulls()) <= set(REASONS)


def test_a_fixture_with_gold_of_several_kinds_counts_in_each(scored_of, whole):
    found = report(scored_of(*whole))
    assert parts(found, "recall@K", "kind:skill") == (2.0, 2, 2)
    assert parts(found, "recall@K", "kind:mcp") == (1.0, 2, 2)
    assert parts(found, "recall@K", "kind:agent") == (1.0, 1, 1)


def test_scopes_can_be_left_out(scored_of, whole):
    scored = scored_of(*whole)
    assert set(report(scored, groups=False, kinds=False)["scope"]) == {"all"}
    assert "kind:mcp" not in report(scored, kinds=False)["scope"]
    assert "group:mcp" not in report(scored, groups=False)["scope"]


def test_a_degraded_run_never_makes_a_router_look_better(scored_of, run_of):
    picks = scored_of(
        run_of("thanks", ["a:db"], "injected", "a:db"), run_of("undo", ["a:undo"], "injected", "a:undo")
    )
    fails = scored_of(run_of("thanks", [], "degraded"), run_of("undo", ["a:undo"], "injected", "a:undo"))
    # Two of four fixtures lack runs, so look at the groups that are whole.
    good, bad = report(picks), report(fails)
    for metric in ("noneRecall", "top1Accuracy", "abstentionCorrectness"):
        assert value(good, metric, "group:trivial") == value(bad, metric, "group:trivial") == 0.0
    assert value(bad, "nonePrecision", "group:trivial") is None
    assert value(bad, "degradedRate", "group:trivial") == 1.0


def test_a_budget_is_exceeded_beyond_it(scored_of, whole):
    scored = scored_of(*(row | {"latency_ms": 10.0 * i} for i, row in enumerate(whole, 1)))
    assert value(report(scored, budget_ms=20), "overBudgetRate") == 0.5
    assert value(report(scored, budget_ms=19.99), "overBudgetRate") == 0.75
    for wrong in (-1, float("nan"), "20", True):
        with pytest.raises(UsageError, match="budget_ms"):
            report(scored, budget_ms=wrong)


# -- undefined -----------------------------------------------------------------------------------------------


def test_a_scope_without_a_kind_of_fixture_says_so(scored_of, whole):
    found = report(scored_of(*whole))
    assert value(found, "recall@K", "group:trivial", "reason") == "no-answerable-fixtures"
    assert value(found, "recall@1", "group:trivial", "reason") == "no-answerable-fixtures"
    assert value(found, "noneRecall", "group:coding", "reason") == "no-abstain-fixtures"
    assert value(found, "nonePrecision", "group:coding", "reason") == "nothing-abstained"
    assert value(found, "offListRate", "group:trivial", "reason") == "nothing-picked"


def test_a_configuration_that_only_retrieves_has_layer_one_only(scored_of, whole):
    rows = [row | {"decision": None, "chosen": None, "reason": None} for row in whole]
    found = report(scored_of(*rows))
    assert value(found, "recall@K") == 2 / 3
    for metric in METRICS:
        if metric.layer in ("decision", "stability"):
            assert value(found, metric.name, column="reason") == "retrieval-only"
            assert value(found, metric.name) is None


def test_a_fixture_without_a_run_makes_what_counts_it_undefined(scored_of, whole):
    without_abstain = report(scored_of(*whole[:3]))
    assert value(without_abstain, "recall@K") == 2 / 3
    assert value(without_abstain, "top1Accuracy", column="reason") == "missing-fixtures"
    assert value(without_abstain, "noneRecall", column="reason") == "missing-fixtures"
    assert value(without_abstain, "top1Accuracy", "group:coding") == 0.5
    assert value(without_abstain, "fixtureCoverage") == 0.75
    assert parts(without_abstain, "runCoverage") == (3.0, 4, 3)

    without_store = report(scored_of(whole[0], whole[1], whole[3]))
    assert value(without_store, "recall@K", column="reason") == "missing-fixtures"
    assert value(without_store, "recall@1", column="reason") == "missing-fixtures"
    assert parts(without_store, "recall@K") == (2.0, 2, 2)
    assert value(without_store, "recall@K", "group:coding") == 1.0
    assert value(without_store, "recall@K", "kind:mcp", "reason") == "missing-fixtures"
    assert value(without_store, "noneRecall") == 1.0
    assert value(without_store, "fixtureCoverage", "group:mcp") == 0.0


def test_fewer_repeats_make_what_counts_them_undefined(scored_of, whole):
    again = [row | {"repeat": 1} for row in whole]
    found = report(scored_of(*whole, *again[:3]))
    assert value(found, "recall@K") == 2 / 3
    assert value(found, "noneRecall", column="reason") == "missing-repeats"
    assert value(found, "agreementRate", column="reason") == "missing-repeats"
    assert parts(found, "runCoverage") == (7.0, 8, 4)
    assert parts(found, "fixtureCoverage") == (3.0, 4, 4)


def test_repeats_are_those_of_each_configuration(scored_of, whole):
    rows = [row | {"config": "a", "repeat": repeat} for row in whole for repeat in range(3)]
    found = report(scored_of(*rows, *(row | {"config": "b"} for row in whole)))
    assert found.filter(scope="all", metric="recall@K")["value"].to_list() == [2 / 3, 2 / 3]
    assert value(found, "agreementRate", column="reason", config="b") == "one-repeat"
    assert value(found, "runCoverage", config="b") == 1.0


def test_coverage_is_that_of_each_configuration(scored_of, whole):
    rows = [row | {"config": "a"} for row in whole] + [whole[0] | {"config": "b"}]
    found = report(scored_of(*rows))
    assert value(found, "recall@K", config="a") == 2 / 3
    assert value(found, "recall@K", config="b") is None
    assert value(found, "recall@K", "group:mcp", "denominator", config="b") == 0
    assert found["config"].to_list() == sorted(found["config"].to_list())
    # The longest shortlist of b has three ids, and so has that of a.
    assert found.filter(scope="all", config="b", metric="recall@3").height == 1


def test_agreement_needs_repeats_and_responses_of_their_own(scored_of, whole):
    again = [row | {"repeat": 1} for row in whole]
    assert value(report(scored_of(*whole)), "agreementRate", column="reason") == "one-repeat"
    found = report(scored_of(*whole, *again))
    assert parts(found, "agreementRate") == (3.0, 4, 4)  # the degraded fixture decided nothing
    answered = [row | {"response_index": i} for i, rows in enumerate((whole, again)) for row in rows]
    assert value(report(scored_of(*answered)), "agreementRate") == 0.75
    answered[-1]["response_index"] = 0
    found = report(scored_of(*answered))
    assert value(found, "agreementRate", column="reason") == "reused-responses"
    assert value(found, "agreementRate", "group:coding") == 1.0
    answered[-1]["response_index"] = None  # an abstention may have had no request
    assert value(report(scored_of(*answered)), "agreementRate") == 0.75
    answered[4]["response_index"] = None
    found = report(scored_of(*answered))
    assert value(found, "agreementRate", column="reason") == "unrecorded-responses"
    assert value(found, "agreementRate", "group:mcp") == 0.0


def test_latency_of_some_runs_only_is_not_latency(scored_of, whole):
    rows = [row | {"latency_ms": 5.0 if row["fixture_id"] != "store" else None} for row in whole]
    found = report(scored_of(*rows))
    for metric in ("latencyMean", "latencyP50", "latencyMax", "overBudgetRate"):
        assert value(found, metric, column="reason") == "partly-recorded"
        assert value(found, metric) is None
        assert value(found, metric, column="denominator") == 3
        assert value(found, metric, "group:coding") == (0.0 if metric == "overBudgetRate" else 5.0)
    assert value(report(scored_of(*whole)), "latencyP50", column="reason") == "not-recorded"


def test_replayed_runs_have_no_latency_and_say_why(scored_of, whole):
    found = report(scored_of(*(row | {"latency_reason": "replayed"} for row in whole)))
    for metric in ("latencyMean", "latencyP95", "overBudgetRate"):
        assert value(found, metric) is None
        assert value(found, metric, column="reason") == "replayed"
    found = report(scored_of(*(row | {"latency_reason": "batched"} for row in whole)))
    assert value(found, "latencyP95", column="reason") == "not-recorded"


def test_tokens_of_some_runs_only_are_no_mean_but_their_sum_is_told(scored_of, whole):
    rows = [row | {"tokens_in": 10 if row["fixture_id"] != "store" else None} for row in whole]
    found = report(scored_of(*rows))
    assert parts(found, "tokensInMean") == (30.0, 3, 3)
    assert value(found, "tokensInMean") is None
    assert value(found, "tokensInMean", column="reason") == "partly-recorded"
    assert value(found, "tokensInMean", "group:coding") == 10.0
    assert value(found, "tokensOutMean", column="reason") == "not-recorded"


def test_an_all_abstain_set(fixtures_of, runs_of, run_of, corpus):
    fixtures = fixtures_of([("a", "g", ["none"]), ("b", "g", ["none"])])
    found = report(score(runs_of(run_of("a"), run_of("b", [], "degraded")), fixtures, corpus))
    assert set(found["scope"]) == {"all", "group:g"}
    assert value(found, "recall@K", column="reason") == "no-answerable-fixtures"
    assert value(found, "noneRecall") == 0.5
    assert value(found, "nonePrecision") == 1.0


# -- exact ---------------------------------------------------------------------------------------------------


def test_reciprocal_ranks_are_summed_exactly(fixtures_of, runs_of, corpus, run_of):
    fixtures = fixtures_of([(f"f{i}", "g", ["style"]) for i in range(6)])
    others = [id_ for id_ in corpus.entries["id"] if id_ != "a:style"]
    rows = [run_of(f"f{i}", [*others[:i], "a:style"]) for i in range(6)]
    found = report(score(runs_of(*rows), fixtures, corpus))
    exact = sum(Fraction(1, i) for i in range(1, 7)) / 6
    assert value(found, "MRR") == pytest.approx(float(exact), rel=1e-15)
    assert value(found, "MRR", column="numerator") == pytest.approx(2.45, rel=1e-15)


def test_all_hits_at_the_first_place_are_exactly_one(fixtures_of, runs_of, corpus, run_of):
    fixtures = fixtures_of([(f"f{i}", "g", ["style"]) for i in range(49)])
    rows = [run_of(f"f{i}", ["a:style"]) for i in range(49)]
    found = report(score(runs_of(*rows), fixtures, corpus))
    assert value(found, "MRR") == 1.0


def test_latencies_are_summed_exactly_in_any_order(scored_of, whole):
    latencies = [0.1, 0.2, 0.3, 1e8]
    means = set()
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        rows = [whole[i] | {"latency_ms": latencies[i]} for i in order]
        means.add(value(report(scored_of(*rows)), "latencyMean"))
    assert means == {(1e8 + 0.6) / 4}


# -- oracle --------------------------------------------------------------------------------------------------


@given(sst.evaluations(), st.sampled_from([0, 1_000]))
def test_the_report_is_the_oracle_s(evaluation, budget):
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    found = report(score(sst.to_runs(evaluation.runs), fixtures, corpus), budget_ms=budget)
    sst.assert_reports_equal(found, sst.oracle_report(*evaluation, budget_ms=budget))
    sst.assert_routing_identities(found)


@settings(max_examples=10)
@given(evaluation=sst.evaluations(), chance=st.randoms(use_true_random=False))
def test_order_and_other_configurations_change_nothing(evaluation, chance):
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    alone = report(score(sst.to_runs(evaluation.runs), fixtures, corpus))
    both = [row | {"config": config} for row in evaluation.runs for config in "ab"]
    chance.shuffle(both)
    found = report(score(sst.to_runs(both), fixtures, corpus))
    for config in "ab":
        assert found.filter(config=config).drop("config").equals(alone)


# -- keys ----------------------------------------------------------------------------------------------------


def test_configurations_are_never_pooled(scored_of, whole):
    rows = [row | {"config": config, "model": model} for row in whole for config, model in ("ax", "bx", "cy")]
    scored = scored_of(*rows)
    for by in ([], ["model"]):
        with pytest.raises(UsageError, match="would pool"):
            report(scored, by=by)
    assert report(scored, by=["model", "config"]).columns[:2] == ["model", "config"]


def test_a_key_of_one_s_own_will_do_where_it_tells_configurations_apart(scored_of, whole):
    rows = [row | {"config": c, "quota": q} for row in whole for c, q in (("a", 8), ("b", 6))]
    found = report(scored_of(*rows), by=["quota"])
    assert found["quota"].unique(maintain_order=True).to_list() == [6, 8]


def test_keys_that_cannot_be_are_refused(scored_of, whole):
    scored = scored_of(*whole)
    for by, text in (
        (["nope"], "no column 'nope'"),
        (["model"], "no column 'model'"),
        (["decision"], "does not tell configurations apart"),
        (["fixture_id"], "does not tell configurations apart"),
        (["reason"], "does not tell configurations apart"),
    ):
        with pytest.raises(UsageError, match=text):
            report(scored, by=by)


def test_a_key_can_be_null(scored_of, whole):
    rows = [row | {"config": c, "model": m} for row in whole for c, m in (("a", None), ("b", "x"))]
    found = report(scored_of(*rows), by=["config", "model"])
    assert value(found, "recall@K", config="a") == 2 / 3
    assert value(found, "MRR", config="a") == 1 / 3
    assert found.filter(config="a", metric="recall@2", scope="all")["value"].item() == 2 / 3


def test_wide_latencies_keep_their_percentiles(scored_of, whole):
    rows = [row | {"latency_ms": 1.0, "config": c, "model": None} for row in whole for c in "ab"]
    rows[0]["latency_ms"] = 9.0
    found = report(scored_of(*rows), by=["config"])
    assert value(found, "latencyMax", config="a") == 9.0
    assert value(found, "latencyMax", config="b") == 1.0


def test_long_shortlists_have_a_long_curve(head, runs_of, run_of):
    entries = [
        {"id": f"i{i}", "kind": "skill", "name": f"n{i}", "description": "", "runtime": "x"}
        for i in range(90)
    ]
    corpus = make_corpus(head, entries, "x")
    frame = pl.DataFrame({"id": ["a"], "group": ["g"], "prompt": ["p"], "gold": [["n79"]]})
    fixtures = read_fixtures(frame, corpus)
    runs = runs_of(run_of("a", [f"i{i}" for i in range(90)]))
    found = report(score(runs, fixtures, corpus))
    assert value(found, "recall@79") == 0.0
    assert value(found, "recall@80") == 1.0
    assert value(found, "recall@90") == 1.0
    assert value(found, "MRR") == pytest.approx(1 / 80, rel=1e-15)


def test_the_most_tokens_of_all_are_summed_exactly(scored_of, run_of):
    most = 2**32 - 1
    rows = [run_of("undo", repeat=repeat, tokens_in=most, tokens_out=most) for repeat in range(9)]
    found = report(scored_of(*rows), kinds=False)
    assert parts(found, "tokensInMean") == parts(found, "tokensOutMean") == (9 * most, 9, 1)
