"""The assertions hold of a right report, and each thing that can be wrong is found and named."""

import math
from fractions import Fraction

import polars as pl
import pytest

import skillful_eval as se
from skillful_eval import testing as sst

ENTRIES = [
    {"id": one, "kind": "skill", "name": one, "description": "", "runtime": "r"} for one in ("undo", "plan")
]
FIXTURES = [
    {"id": "f", "group": "g", "prompt": "undo it", "gold": ["undo"]},
    {"id": "n", "group": "g", "prompt": "thanks", "gold": ["none"]},
]
RUNS = [
    {
        "fixture_id": fixture,
        "repeat": 0,
        "shortlist": ["plan", "undo"],
        "decision": decision,
        "chosen": chosen,
        "config": "c",
    }
    for fixture, decision, chosen in (("f", "injected", "plan"), ("n", "skipped", None))
]


@pytest.fixture(scope="module")
def report():
    corpus = sst.to_corpus(ENTRIES)
    return se.report(se.score(sst.to_runs(RUNS), sst.to_fixtures(FIXTURES, corpus), corpus))


def changed(report, metric, **values):
    """The report with other values in the row of all fixtures."""
    here = (pl.col("metric") == metric) & (pl.col("scope") == "all")
    return report.with_columns(
        pl.when(here).then(pl.lit(value, dtype=report.schema[name])).otherwise(name).alias(name)
        for name, value in values.items()
    )


def message(assertion, *args):
    with pytest.raises(AssertionError) as caught:
        assertion(*args)
    return str(caught.value)


def test_a_right_report_passes(report):
    sst.assert_routing_identities(report)
    sst.assert_null_semantics(report)
    sst.assert_reports_equal(report, sst.oracle_report(ENTRIES, FIXTURES, RUNS))
    sst.assert_reports_equal(report.reverse(), report)


@pytest.mark.parametrize(
    ("metric", "values", "text"),
    [
        ("MRR", {"value": 0.51}, "value: found 0.51, expected 0.5"),
        ("MRR", {"value": None}, "value: found null, expected 0.5"),
        ("MRR", {"denominator": 2}, "denominator: found 2, expected 1"),
        ("agreementRate", {"reason": "nothing-counted"}, "reason: found 'nothing-counted'"),
    ],
)
def test_a_difference_is_named(report, metric, values, text):
    found = message(sst.assert_reports_equal, changed(report, metric, **values), report)
    assert f"config c, scope all, metric {metric}" in found
    assert text in found


def test_an_exact_value_is_shown_beside_its_double(report):
    exact = sst.oracle_report(ENTRIES, FIXTURES, RUNS)
    found = message(sst.assert_reports_equal, changed(report, "MRR", value=0.25), exact)
    assert "found 0.25, expected 0.5 (1/2)" in found


def test_rows_of_one_side_only_and_rows_twice_are_named(report):
    less = report.filter(pl.col("metric") != "MRR")
    assert "metric MRR: only left" in message(sst.assert_reports_equal, report, less)
    assert "metric MRR: only right" in message(sst.assert_reports_equal, less, report)
    assert "found again" in message(sst.assert_reports_equal, pl.concat([report, report]), report)
    assert "expected 'scope' among them" in message(sst.assert_reports_equal, report.drop("scope"), report)
    assert "... and" in message(sst.assert_reports_equal, report.clear(), report)


def test_a_last_bit_is_no_difference(report):
    sst.assert_reports_equal(changed(report, "MRR", value=math.nextafter(0.5, 1)), report)
    assert message(
        lambda: sst.assert_reports_equal(changed(report, "MRR", value=0.5 + 1e-15), report, ulps=1)
    )


@pytest.mark.parametrize(
    ("metric", "numerator", "text"),
    [
        ("top1Accuracy", 0.0, "as wrong picks: found 2.0, expected 1.0"),
        ("recall@2", 0.0, "recall at the longest shortlist, as recall@K: found 0.0"),
        ("recall@1", 3.0, "hits that never fall"),
        ("MRR", 1.5, "MRR: found 1.5 reciprocal ranks"),
        ("MRR", 0.25, "MRR: found 0.25 reciprocal ranks"),
        ("answerableInjected", 2.0, "decided answerable runs: found 2.0, expected 1"),
        ("abstainInjected", 2.0, "decided runs that must abstain: found 3.0"),
        ("noneF1", 1.0, "F1's numerator: found 2.0, expected 1.0"),
    ],
)
def test_a_broken_identity_is_named(report, metric, numerator, text):
    found = message(sst.assert_routing_identities, changed(report, metric, numerator=numerator))
    assert "config c, scope all" in found
    assert text in found


@pytest.mark.parametrize(
    ("metric", "denominator", "text"),
    [("top1Accuracy", 3, "decided runs: found 2"), ("noneF1", 3, "F1's denominator: found 2, expected 3")],
)
def test_denominators_must_fit_too(report, metric, denominator, text):
    broken = changed(report, metric, denominator=denominator)
    assert text in message(sst.assert_routing_identities, broken)


@pytest.mark.parametrize(
    "values",
    [
        {"value": None},
        {"reason": "one-repeat"},
        {"value": None, "reason": "because"},
        {"denominator": 0},
        {"value": math.nan},
        {"value": -0.5},
        {"fixtures": -1},
    ],
)
def test_a_null_or_a_value_that_cannot_be_is_named(report, values):
    found = message(sst.assert_null_semantics, changed(report, "MRR", **values))
    assert "config c, scope all, metric MRR: found value" in found


def test_the_oracle_s_rows_keep_what_the_assertions_ask():
    rows = sst.oracle_report(ENTRIES, FIXTURES, RUNS)
    sst.assert_routing_identities(rows)
    sst.assert_null_semantics(rows)
    assert {type(row["value"]) for row in rows} == {Fraction, type(None)}
