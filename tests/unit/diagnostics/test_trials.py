"""Several trials of one run: mean and spread over the complete ones."""

from __future__ import annotations

import statistics

import polars as pl
import pytest

from skillshift import cells, marginals, over_trials
from skillshift.frame.errors import InputError
from skillshift.metrics import METRICS

COLUMNS = {
    "metric": pl.String,
    "group": pl.String,
    "slot": pl.String,
    "trials": pl.Int64,
    "complete_trials": pl.Int64,
    "mean": pl.Float64,
    "standard_deviation": pl.Float64,
    "minimum": pl.Float64,
    "maximum": pl.Float64,
    "reason": pl.String,
}


@pytest.fixture
def trials(grid, complete, frame):
    """A function that makes the marginals of trials, each with its number of successes in big / near."""

    def of(*successes, leave_out=(), quiet=(), **keys):
        records = []
        for trial, solved in enumerate(successes):
            records += [
                r
                | (
                    {"success": r["uid"][-1] < str(solved)}
                    if (r["site"], r["condition"]) == ("big", "near")
                    else {}
                )
                | ({"skill_calls": 0, "skill_failures": 0} if trial in quiet else {})
                for r in complete(trial=trial, **keys)[trial in leave_out :]
            ]
        return marginals(cells(frame(records), grid=grid))

    return of


def slot(table, metric="SR", name="near"):
    return table.filter(metric=metric, slot=name).row(0, named=True)


def test_there_is_a_row_a_run_metric_and_slot(trials):
    table = over_trials(trials(1, 2, method="m"))
    assert table.schema == pl.Schema({"method": pl.String, **COLUMNS})
    assert table["metric"].unique(maintain_order=True).to_list() == list(METRICS.names)
    assert table.filter(metric="SR")["slot"].to_list() == ["big", "small", "near", "far", "overall"]


def test_mean_and_spread_are_those_of_the_values(trials):
    numbers = trials(0, 1, 3)
    values = numbers.filter(metric="SR", slot="near")["value"].to_list()
    assert len(set(values)) == 3
    found = slot(over_trials(numbers))
    assert (found["trials"], found["complete_trials"], found["reason"]) == (3, 3, None)
    assert found["mean"] == pytest.approx(statistics.mean(values), rel=1e-15)
    assert found["standard_deviation"] == pytest.approx(statistics.stdev(values), rel=1e-12)
    assert (found["minimum"], found["maximum"]) == (min(values), max(values))


def test_equal_trials_do_not_spread(trials):
    found = over_trials(trials(1, 1, 1))
    assert set(found["standard_deviation"]) == {0.0}
    assert found["mean"].to_list() == trials(1).drop("trial")["value"].to_list()


def test_one_trial_has_a_mean_and_no_spread(trials):
    found = slot(over_trials(trials(1)))
    assert found["mean"] == pytest.approx((100 / 3 + 50) / 2)
    assert found["standard_deviation"] is None


def test_only_complete_trials_count_and_the_others_are_told(trials):
    table = over_trials(trials(1, 3, 2, leave_out=[1]))
    found = slot(table)
    assert (found["trials"], found["complete_trials"], found["reason"]) == (3, 2, None)
    assert found["mean"] == pytest.approx(((100 / 3 + 50) / 2 + (200 / 3 + 50) / 2) / 2)
    assert slot(table, name="far")["complete_trials"] == 3


def test_where_no_trial_is_complete_there_is_no_mean(trials):
    found = slot(over_trials(trials(1, 2, leave_out=[0, 1])))
    assert (found["trials"], found["complete_trials"], found["reason"]) == (2, 0, "incomplete")
    assert [found[name] for name in ("mean", "standard_deviation", "minimum", "maximum")] == [None] * 4


def test_an_undefined_trial_is_not_passed_over(trials):
    table = over_trials(trials(1, 2, quiet=[1]))
    found = slot(table, "SFR")
    assert (found["complete_trials"], found["mean"], found["reason"]) == (2, None, "no-skill-calls")
    assert [found[name] for name in ("standard_deviation", "minimum", "maximum")] == [None] * 3
    assert slot(table, "ASC")["reason"] is None


def test_an_undefined_trial_that_is_incomplete_too_does_not_count(trials):
    found = slot(over_trials(trials(1, 2, quiet=[1], leave_out=[1])), "SFR")
    assert (found["complete_trials"], found["reason"]) == (1, None)
    assert found["mean"] is not None


def test_a_method_without_skills_is_not_applicable(trials):
    found = slot(over_trials(trials(1, 2, skills=False)), "SFR")
    assert (found["mean"], found["reason"]) == (None, "not-applicable")


def test_values_over_what_was_scored_are_of_no_complete_trial(grid, complete, frame):
    records = complete(trial=0)[1:] + complete(trial=1)
    numbers = marginals(cells(frame(records), grid=grid, incomplete="scored"))
    found = slot(over_trials(numbers))
    assert (found["trials"], found["complete_trials"]) == (2, 1)
    assert found["mean"] == numbers.filter(trial="1", metric="SR", slot="near")["value"].item()


def test_runs_keep_their_trials_apart_and_their_order(trials):
    numbers = pl.concat([trials(1, 2, method="z"), trials(3, method="a")])
    table = over_trials(numbers)
    assert table["method"].unique(maintain_order=True).to_list() == ["z", "a"]
    assert table.filter(method="z")["trials"].unique().to_list() == [2]
    assert table.filter(method="a")["trials"].unique().to_list() == [1]


def test_the_order_of_the_trials_changes_no_bit(trials):
    numbers = trials(0, 1, 3)
    backwards = pl.concat(reversed(numbers.partition_by("trial", maintain_order=True)))
    assert over_trials(backwards).equals(over_trials(numbers))


def test_without_trials_there_is_nothing_to_take_over(grid, complete, frame):
    numbers = marginals(cells(frame(complete(method="m")), grid=grid))
    with pytest.raises(InputError, match="expected 'trial' among the run keys, found method"):
        over_trials(numbers)
    with pytest.raises(InputError, match="expected 'trial' among the run keys, found none"):
        over_trials(numbers.drop("method"))
    with pytest.raises(InputError, match="expected a frame with a column 'metric'"):
        over_trials(frame(complete(trial=1)))
