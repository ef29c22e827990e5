from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.criteria import CRITERIA, Criterion
from skillful_eval.fixtures import read_fixtures
from skillful_eval.gating import gate, refuse_unfit, tried
from skillful_eval.scoring import score
from skillful_eval.summary import REPORT, report
from skillshift.frame.errors import InputError, UsageError


def rows(*values, **keys):
    """A report: rows of metric, value, numerator, denominator, reason."""
    return pl.DataFrame(
        [
            keys | {"scope": scope, "metric": metric, "value": value, "numerator": None}
            | {"denominator": denominator, "fixtures": denominator, "reason": reason}
            for scope, metric, value, denominator, reason in values
        ],
        schema=dict.fromkeys(keys, pl.String) | dict(REPORT),
    )  # fmt: skip


RECALL = Criterion("recall@K", minimum=0.9)
SLOW = Criterion("latencyP95", maximum=1500)


@pytest.mark.parametrize(
    ("value", "verdict", "shortfall", "reason"),
    [
        (0.9, "passed", 0, None),
        (27 / 30, "passed", 0, None),
        (1.0, "passed", 0, None),
        (0.875, "failed", 0.025, "below-minimum"),
        (0.0, "failed", 0.9, "below-minimum"),
    ],
)
def test_a_minimum_is_met_from_the_minimum_on(value, verdict, shortfall, reason):
    row = gate(rows(("all", "recall@K", value, 30, None)), [RECALL]).row(0, named=True)
    assert (row["criterion"], row["minimum"], row["maximum"]) == ("recall@K", 0.9, None)
    assert (row["value"], row["verdict"], row["reason"]) == (value, verdict, reason)
    assert row["shortfall"] == pytest.approx(shortfall)
    assert (row["denominator"], row["fixtures"]) == (30, 30)


@pytest.mark.parametrize(
    ("value", "verdict", "shortfall", "reason"),
    [
        (1500.0, "passed", 0, None),
        (3.0, "passed", 0, None),
        (1500.5, "failed", 0.5, "above-maximum"),
    ],
)
def test_a_maximum_is_met_up_to_the_maximum(value, verdict, shortfall, reason):
    row = gate(rows(("all", "latencyP95", value, 30, None)), [SLOW]).row(0, named=True)
    assert (row["minimum"], row["maximum"]) == (None, 1500)
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    assert row["shortfall"] == pytest.approx(shortfall)


@pytest.mark.parametrize(
    ("value", "denominator", "said", "reason"),
    [
        (None, 0, "one-repeat", "one-repeat"),
        (None, 7, None, "undefined"),
        (float("nan"), 7, None, "not-finite"),
        (float("inf"), 7, None, "not-finite"),
        (1.0, 0, None, "zero-denominator"),
        (1.0, None, None, "zero-denominator"),
    ],
)
def test_what_is_undefined_fails_with_its_reason(value, denominator, said, reason):
    report = rows(
        ("all", "recall@K", value, denominator, said), ("all", "latencyP95", value, denominator, said)
    )
    for row in gate(report, [RECALL, SLOW]).to_dicts():
        assert (row["value"], row["shortfall"]) == (None, None)
        assert (row["verdict"], row["reason"]) == ("failed", reason)


def test_what_the_report_lacks_fails():
    there = ("all", "recall@K", 1.0, 9, None)
    asked = [SLOW, Criterion("recall@K", minimum=0.5, scope="group:coding"), RECALL]
    found = gate(rows(there), asked)
    assert found["verdict"].to_list() == ["failed", "failed", "passed"]
    assert found["reason"].to_list() == ["not-in-report", "not-in-report", None]


def test_a_criterion_speaks_of_its_scope_only():
    report = rows(("all", "recall@K", 1.0, 9, None), ("kind:mcp", "recall@K", 0.5, 2, None))
    found = gate(report, [RECALL, Criterion("recall@K", minimum=0.9, scope="kind:mcp")])
    assert found.select("scope", "value", "verdict").rows() == [
        ("all", 1.0, "passed"),
        ("kind:mcp", 0.5, "failed"),
    ]
    assert tried(found).select("verdict", "criteria", "met", "blocked_by").rows() == [
        ("failed", 2, 1, ["recall@K in kind:mcp"])
    ]


def test_every_configuration_is_judged_in_the_order_of_the_report():
    good, bad = (
        rows(("all", "recall@K", value, 9, None), config=name) for name, value in (("b", 1), ("a", 0))
    )
    found = gate(pl.concat([good, bad]), [RECALL, SLOW])
    assert found.select("config", "criterion", "verdict").rows() == [
        ("b", "recall@K", "passed"),
        ("b", "latencyP95", "failed"),
        ("a", "recall@K", "failed"),
        ("a", "latencyP95", "failed"),
    ]
    assert tried(found).rows() == [
        ("b", "failed", 2, 1, ["latencyP95"]),
        ("a", "failed", 2, 0, ["recall@K", "latencyP95"]),
    ]
    assert tried(gate(good, [RECALL])).rows() == [("b", "passed", 1, 1, [])]


def test_a_null_key_is_a_configuration_too():
    one = rows(("all", "recall@K", 1.0, 9, None), model=None)
    assert gate(one, [RECALL])["verdict"].to_list() == ["passed"]


def test_the_criteria_that_are_built_in():
    asked = {(one.metric, one.minimum, one.maximum, one.scope) for one in CRITERIA}
    assert asked == {
        ("recall@K", 0.9, None, "all"),
        ("top1Accuracy", 0.8, None, "all"),
        ("noneRecall", 0.9, None, "all"),
        ("noneF1", 0.8, None, "all"),
        ("agreementRate", 0.9, None, "all"),
        ("latencyP95", None, 1500, "all"),
    }


def test_scored_runs_pass_and_an_unmeasured_agreement_does_not(run_of, scored_of):
    right = [
        run_of("undo", ["b:undo"], "injected", "b:undo", latency_ms=9.0),
        run_of("plan", ["a:plan"], "injected", "a:plan", latency_ms=9.0),
        run_of("store", ["a:db"], "injected", "a:db", latency_ms=9.0),
        run_of("thanks", reason="none", latency_ms=9.0),
    ]
    twice = right + [one | {"repeat": 1} for one in right]
    assert set(gate(report(scored_of(*twice)))["verdict"]) == {"passed"}
    once = gate(report(scored_of(*right))).filter(verdict="failed")
    assert once.select("criterion", "reason").rows() == [("agreementRate", "one-repeat")]


def test_a_configuration_that_only_retrieves_fails_what_it_does_not_do(run_of, scored_of):
    runs = [run_of(name, ["b:undo", "a:plan", "a:db"], None) for name in ("undo", "plan", "store", "thanks")]
    found = gate(report(scored_of(*runs)))
    reasons = dict(found.select("criterion", "reason").rows())
    assert reasons == {
        "recall@K": None,
        "top1Accuracy": "retrieval-only",
        "noneRecall": "retrieval-only",
        "noneF1": "retrieval-only",
        "agreementRate": "retrieval-only",
        "latencyP95": "not-recorded",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.head(0), "no rows"),
        (lambda one: one.drop("denominator"), "no column 'denominator'"),
        (lambda one: one.with_columns(pl.col("value").cast(pl.String)), "value: found a column of String"),
        (lambda one: pl.concat([one, one]), "recall@K in all stands there twice"),
    ],
)
def test_a_report_that_is_none_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        gate(change(rows(("all", "recall@K", 1.0, 9, None))), [RECALL])


@pytest.mark.parametrize("criteria", [[], ["recall@K"], [RECALL, None]])
def test_criteria_that_are_none_are_refused(criteria):
    with pytest.raises(UsageError, match="criteria: found"):
        gate(rows(("all", "recall@K", 1.0, 9, None)), criteria)


# -- sets that confirm nothing ---------------------------------------------------------------------------


@pytest.fixture
def provenance_of(run_of, scored_of):
    def make(**said):
        return scored_of(run_of("undo", **said)).provenance

    return make


@pytest.mark.parametrize("said", ["dev", "digest"])
def test_a_set_that_was_tuned_on_is_refused(provenance_of, fixtures, said):
    tuned_on = fixtures.digest if said == "digest" else said
    for declared in ({"tuned_on": tuned_on}, {"tuned_on": tuned_on, "fixture_set": "another"}):
        provenance = provenance_of(config="wide", **declared)
        with pytest.raises(InputError, match=r"dev: refused: 1 runs.*wide.*tuned on this set.*holdout"):
            gate(rows(("all", "recall@K", 1.0, 9, None)), [RECALL], provenance=provenance)


@pytest.mark.parametrize(
    "tuned_on",
    [
        "DEV",
        "dev.jsonl",
        "sets/dev.jsonl.gz",
        "C:\\sets\\Dev.parquet",
        "train, dev",
        "train,DEV.jsonl , more",
    ],
)
def test_a_set_that_was_tuned_on_is_known_however_it_is_written(provenance_of, tuned_on):
    with pytest.raises(InputError, match="tuned on this set"):
        refuse_unfit(provenance_of(tuned_on=tuned_on))


def test_its_digest_is_known_in_a_list(provenance_of, fixtures):
    with pytest.raises(InputError, match="tuned on this set"):
        refuse_unfit(provenance_of(tuned_on=f"train,{fixtures.digest.upper()}"))


@pytest.mark.parametrize("tuned_on", ["", ",", "dev-2", "my-dev", "dev/other", ".jsonl", "fixtures.dev"])
def test_another_set_is_not_refused(provenance_of, tuned_on):
    refuse_unfit(provenance_of(tuned_on=tuned_on, fixture_set=""))


@pytest.mark.parametrize(
    ("said", "unchecked"),
    [
        ({}, 1),
        ({"tuned_on": "train"}, 1),
        ({"fixture_set": "dev"}, 1),
        ({"tuned_on": "train", "fixture_set": "dev"}, 0),
        ({"tuned_on": "train", "fixture_digest": "x"}, 0),
    ],
)
def test_runs_that_tell_too_little_to_be_refused_are_counted(provenance_of, said, unchecked):
    assert provenance_of(**said).unchecked_runs == unchecked


@pytest.mark.parametrize("field", ["fixture_set", "fixture_digest"])
def test_a_set_under_another_name_that_was_tuned_on_is_refused(provenance_of, fixtures, field):
    own = {"fixture_set": "first-draft", "fixture_digest": fixtures.digest}
    with pytest.raises(InputError, match="tuned on this set"):
        refuse_unfit(provenance_of(**own, tuned_on=own[field]))


def test_runs_on_other_fixtures_or_with_another_corpus_are_refused(provenance_of):
    with pytest.raises(InputError, match=r'made on other fixtures.*fixture_digest "sha256:00"'):
        refuse_unfit(provenance_of(fixture_digest="sha256:00"))
    with pytest.raises(InputError, match=r'with another corpus.*corpus_fingerprint "old"'):
        refuse_unfit(provenance_of(corpus_fingerprint="old"))


def test_runs_that_were_tuned_elsewhere_or_say_nothing_are_judged(provenance_of, fixtures, corpus):
    for said in (
        {},
        {"tuned_on": "train"},
        {"tuned_on": None, "fixture_set": None, "fixture_digest": None, "corpus_fingerprint": None},
        {"tuned_on": "train", "fixture_set": "dev", "fixture_digest": fixtures.digest},
        {"corpus_fingerprint": corpus.digest},
    ):
        found = gate(rows(("all", "recall@K", 1.0, 9, None)), [RECALL], provenance=provenance_of(**said))
        assert found["verdict"].to_list() == ["passed"]


def test_a_corpus_is_known_by_its_maker_s_fingerprint_too(head, entries, run_of, runs_of, fixtures):
    corpus = make_corpus(head | {"fingerprint": "made-elsewhere"}, entries, "corpus.json")
    fixtures = read_fixtures(fixtures.frame.rename({"fixture_id": "id"}).drop("kinds"), corpus, name="dev")
    runs = runs_of(run_of("undo", corpus_fingerprint="made-elsewhere"))
    refuse_unfit(score(runs, fixtures, corpus).provenance)
