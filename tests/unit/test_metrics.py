"""The four diagnostics, each the ratio that the paper defines."""

from __future__ import annotations

import polars as pl
import pytest

import skillshift as ss
from skillshift.metrics import FLAG, LOW_COUNT, METRICS, OF_SKILLS, REASONS

SUMS = pl.DataFrame(
    {
        "successes": [3, 0, 0, 0],
        "steps": [40, 7, 0, 0],
        "skill_calls": [5, 0, None, 0],
        "skill_failures": [2, 0, None, 0],
        "scored": [4, 2, 2, 0],
    }
)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("SR", [75.0, 0.0, 0.0, None]),
        ("AS", [10.0, 3.5, 0.0, None]),
        ("ASC", [1.25, 0.0, None, None]),
        ("SFR", [40.0, None, None, None]),
    ],
)
def test_each_is_its_ratio_and_null_where_there_is_nothing_to_divide_by(name, values):
    assert SUMS.select(METRICS[name].value)[name].to_list() == values


def test_they_stand_in_table_order():
    assert METRICS.names == ("SR", "AS", "ASC", "SFR")
    assert OF_SKILLS == ("ASC", "SFR")


def test_percentages_are_bounded_and_counts_are_not():
    assert {m.name: (m.scale, m.lower, m.upper) for m in METRICS} == {
        "SR": (100, 0, 100),
        "AS": (1, 0, None),
        "ASC": (1, 0, None),
        "SFR": (100, 0, 100),
    }
    assert {m.name: m.better for m in METRICS} == {
        "SR": "higher",
        "AS": "lower",
        "ASC": "neither",
        "SFR": "lower",
    }


def test_each_is_documented():
    text = METRICS.documentation()
    for metric in METRICS:
        assert f"**{metric.name}** ({metric.title})" in text
        assert metric.summary in text


def test_reasons_and_flag():
    assert list(REASONS) == ["incomplete", "not-applicable", "nothing-scored", "no-skill-calls"]
    assert LOW_COUNT == 30
    assert FLAG == "\u26a0\ufe0e"


# -- what holds of every registered metric, also of one that is added tomorrow ---------------------------

SUMS_OF_A_CELL = {
    "website": ["a"] * 3,
    "scored": [4, 4, 0],
    "successes": [1, 0, 0],
    "steps": [10, 0, 0],
    "skill_calls": [3, 0, 0],
    "skill_failures": [1, 0, 0],
}


@pytest.mark.parametrize("metric", METRICS, ids=METRICS.names)
def test_a_metric_is_null_exactly_where_its_denominator_is_empty(metric):
    sums = pl.DataFrame(SUMS_OF_A_CELL)
    found = metric.evaluate(sums)
    empty = sums.select(metric.denominator.alias("empty") == 0)["empty"]
    assert found["value"].is_null().equals(empty, check_names=False)
    assert found["denominator"].equals(sums.select(metric.denominator.alias("denominator"))["denominator"])


@pytest.mark.parametrize("metric", METRICS, ids=METRICS.names)
def test_a_metric_keeps_its_bounds_and_is_documented(metric):
    values = metric.evaluate(pl.DataFrame(SUMS_OF_A_CELL))["value"].drop_nulls()
    assert values.min() >= metric.lower
    assert metric.upper is None or values.max() <= metric.upper
    assert all((metric.title, metric.unit, metric.summary, metric.source))
    assert f"**{metric.name}**" in METRICS.documentation()


@pytest.mark.parametrize("metric", METRICS, ids=METRICS.names)
def test_a_metric_is_a_column_of_cells_and_ten_rows_of_marginals(metric):
    log = ss.simulate(rates=ss.Rates.flat(ss.SKILLSHIFT, SR=40, AS=8, ASC=2, SFR=20), seed=1, method="m")
    cells = ss.cells(log)
    assert cells[metric.name].null_count() == 0
    assert ss.marginals(cells).filter(metric=metric.name).height == 3 + 6 + 1
