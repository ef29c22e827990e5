from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.metrics import METRICS, PERCENTILES, REASONS
from skillful_eval.sums import FURTHER, RANK_UNITS, SUMS

SHARES = [metric for metric in METRICS if metric.unit == "share"]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_divides_sums_and_is_null_over_nothing(metric):
    names = {*metric.numerator.meta.root_names(), *metric.denominator.meta.root_names()}
    assert names <= {*SUMS, *FURTHER}
    sums = dict.fromkeys(names, 0) | {"rank_unit": 1}
    assert pl.DataFrame([sums]).select(metric.value).item() is None
    assert metric.summary.endswith(".")
    assert metric.empty in REASONS


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_speaks_of_fixtures_unless_it_measures_coverage(metric):
    assert bool(metric.populations) is (metric.layer != "coverage")


def test_what_each_metric_speaks_of():
    over = {metric.name: metric.populations for metric in METRICS}
    assert over["recall@K"] == over["answerableSkipped"] == ("answerable",)
    assert over["noneRecall"] == over["abstainSkipped"] == ("abstain",)
    assert over["nonePrecision"] == over["noneF1"] == over["top1Accuracy"] == ("answerable", "abstain")


def test_shares_have_bounds():
    assert all((metric.lower, metric.upper) == (0, 1) for metric in SHARES)
    assert len(SHARES) == len(METRICS) - 4


def test_the_registry_is_documented():
    text = METRICS.documentation()
    assert all(f"**{metric.name}**" in text for metric in METRICS)
    assert METRICS["MRR"].layer == "retrieval"


def test_units_divide_by_every_rank_that_they_are_for():
    for longest, unit in enumerate(RANK_UNITS):
        assert all(unit % rank == 0 for rank in range(1, longest + 1))
    assert RANK_UNITS[-1] < 2**127 // 10**12  # a million million runs fit into 128 bits


def test_percentiles_are_no_metrics():
    assert not set(PERCENTILES) & set(METRICS.names)
