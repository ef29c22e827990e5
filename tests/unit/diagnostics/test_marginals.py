"""From cells to marginals: unweighted means, what they rest on, and their published decimals."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift import SKILLSHIFT, Grid, cells, datasets, marginals
from skillshift.diagnostics.marginals import GROUPS, MARGINALS, run_keys
from skillshift.diagnostics.summing import COUNTS
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.exact import half_up
from skillshift.metrics import METRICS

ONE = Grid("one", {"shop": 1}, ["src", "tgt"])


def made(grid, sums):
    """A cells frame of complete cells with these sums: (tasks, successes, steps, calls, failures) a cell."""
    names = [(site, condition) for site, condition, _ in grid.cells()]
    rows = [
        {
            "website": site,
            "condition": condition,
            "planned": tasks,
            "attempted": tasks,
            "errored": 0,
            "scored": tasks,
            "missing": 0,
            "complete": True,
            "successes": successes,
            "steps": steps,
            "skill_calls": calls,
            "skill_failures": failures,
        }
        for (site, condition), (tasks, successes, steps, calls, failures) in zip(names, sums, strict=True)
    ]
    reason = pl.when(pl.col("skill_calls") == 0).then(pl.lit("no-skill-calls")).alias("reason")
    return pl.DataFrame(rows).with_columns(*(m.value for m in METRICS), reason)


def slot(numbers, metric="SR", name="overall"):
    return numbers.filter(metric=metric, slot=name).row(0, named=True)


# -- the shape -------------------------------------------------------------------------------------------


def test_there_is_a_row_a_run_metric_and_slot_in_table_order(grid, complete, frame):
    numbers = marginals(cells(frame(complete(run="2") + complete(run="1")), grid=grid))
    slots = [("website", "big"), ("website", "small"), ("condition", "near"), ("condition", "far")]
    slots.append(("overall", "overall"))
    assert numbers.select("run", "metric", "group", "slot").rows() == [
        (run, metric, *where) for run in "12" for metric in METRICS.names for where in slots
    ]
    assert tuple(numbers["group"].unique(maintain_order=True)) == GROUPS


def test_the_columns_have_their_types(grid, complete, frame):
    numbers = marginals(cells(frame(complete()), grid=grid))
    assert numbers.schema == MARGINALS
    assert list(MARGINALS) == [
        "metric",
        "group",
        "slot",
        "value",
        "published",
        "pooled",
        "denominator",
        *COUNTS,
        "skill_calls",
        "min_cell_calls",
        "low_count",
        "incomplete",
        "lower",
        "upper",
        "reason",
    ]


def test_a_grid_of_one_cell_has_three_slots_of_the_same_value(frame, complete):
    grid = Grid("g", {"big": 1}, ["near"])
    numbers = marginals(cells(frame(complete()[:1]), grid=grid))
    assert numbers.height == 12
    assert numbers.filter(metric="SR")["value"].to_list() == [100.0] * 3


# -- means and pooled values -----------------------------------------------------------------------------


def test_no_mean_is_weighted_by_tasks(grid):
    numbers = marginals(made(grid, [(3, 3, 3, 3, 0), (3, 0, 6, 3, 3), (2, 2, 2, 2, 0), (2, 0, 4, 6, 3)]))
    assert slot(numbers, "SR", "big")["value"] == 50.0
    assert slot(numbers, "SR", "near")["value"] == 100.0
    assert slot(numbers, "AS")["value"] == 1.5
    assert slot(numbers, "SFR")["value"] == (0 + 100 + 0 + 50) / 4
    assert slot(numbers, "SFR")["pooled"] == 100 * 6 / 14
    assert slot(numbers, "SFR")["denominator"] == 14
    assert slot(numbers, "SR")["denominator"] == 10


def test_table_1_s_macro_average_is_not_its_task_weighted_one():
    """SR of AWM: 35.29 is the mean of the three websites; weighted by their tasks it would be 30.21."""
    row = datasets.table1().filter(method="AWM", metric="SR").row(0, named=True)
    websites = {name: Fraction(row[name]) for name in SKILLSHIFT.website_names}
    assert half_up(sum(websites.values()) / 3) == row["overall"] == "35.29"
    weighted = sum(rate * SKILLSHIFT.websites[name] for name, rate in websites.items()) / sum(
        SKILLSHIFT.websites.values()
    )
    assert half_up(weighted) == "30.21"


def test_both_stand_side_by_side_under_their_own_names():
    """The same through cells, of ten thousand times the tasks, so that the printed rates come out."""
    large = Grid(
        "large", {name: 10_000 * n for name, n in SKILLSHIFT.websites.items()}, SKILLSHIFT.conditions
    )
    row = datasets.table1().filter(method="AWM", metric="SR").row(0, named=True)
    sums = []
    for site, _, tasks in large.cells():
        successes = Fraction(row[site]) * tasks / 100
        assert successes.denominator == 1
        sums.append((tasks, int(successes), tasks, 0, 0))
    numbers = marginals(made(large, sums))
    overall = slot(numbers)
    assert overall["published"] == "35.29"
    assert f"{overall['pooled']:.4f}" == "30.2113"
    for site in SKILLSHIFT.website_names:
        assert slot(numbers, name=site)["published"] == row[site]
        assert slot(numbers, name=site)["pooled"] == pytest.approx(slot(numbers, name=site)["value"])


# -- published decimals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "steps", "published"),
    [
        (200, 201, "1.01"),  # 1.005, which a double holds a little low
        (200, 203, "1.02"),  # 1.015
        (8, 1, "0.13"),  # 0.125, where half-to-even gives 0.12
        (8, 3, "0.38"),
        (40, 107, "2.68"),  # 2.675
        (3, 1, "0.33"),
        (3, 2, "0.67"),
        (1, 0, "0.00"),
        (1000, 4_999, "5.00"),
        (1000, 9_995, "10.00"),  # 9.995
        (200, 2 * 10**15 + 1, "10000000000000.01"),
    ],
)
def test_a_value_is_published_half_up_from_its_sums(tasks, steps, published):
    grid = Grid("g", {"shop": tasks}, ["src"])
    numbers = marginals(made(grid, [(tasks, 0, steps, 0, 0)]))
    assert numbers.filter(metric="AS")["published"].to_list() == [published] * 3


def test_a_mean_of_ratios_is_rounded_from_all_their_sums():
    # 1.00 and 1.01: their mean is exactly 1.005; as doubles it is below.
    numbers = marginals(made(ONE, [(100, 0, 100, 0, 0), (100, 0, 101, 0, 0)]))
    assert slot(numbers, "AS")["value"] < 1.005 + 1e-12
    assert slot(numbers, "AS")["published"] == "1.01"
    # A third and two thirds and a tie besides: 0.005 = (1/300 + 2/300) / 2.
    numbers = marginals(made(ONE, [(300, 0, 1, 0, 0), (300, 0, 2, 0, 0)]))
    assert slot(numbers, "AS")["published"] == "0.01"
    # One below the tie.
    numbers = marginals(made(ONE, [(300, 0, 1, 0, 0), (301, 0, 2, 0, 0)]))
    assert slot(numbers, "AS")["published"] == "0.00"


@given(
    st.lists(
        st.tuples(st.sampled_from([1, 3, 7, 8, 32, 40, 125, 160, 200, 400]), st.integers(0, 10**5)),
        min_size=6,
        max_size=6,
    )
)
def test_published_values_are_those_of_exact_arithmetic(ratios):
    grid = Grid("g", {"a": 1, "b": 1, "c": 1}, ["x", "y"])
    numbers = marginals(made(grid, [(tasks, 0, steps, 0, 0) for tasks, steps in ratios]))
    exact = [Fraction(steps, tasks) for tasks, steps in ratios]
    assert slot(numbers, "AS")["published"] == half_up(sum(exact) / 6)
    assert slot(numbers, "AS", "b")["published"] == half_up(sum(exact[2:4]) / 2)
    assert slot(numbers, "AS", "y")["published"] == half_up(sum(exact[1::2]) / 3)


# -- what is undefined -----------------------------------------------------------------------------------


def test_a_null_cell_nulls_its_website_its_condition_and_the_whole_and_nothing_else(grid, complete, frame):
    numbers = marginals(cells(frame(complete()[1:]), grid=grid))
    for metric in METRICS.names:
        found = numbers.filter(metric=metric)
        assert found.filter(pl.col("value").is_null())["slot"].to_list() == ["big", "near", "overall"]
        assert found.filter(pl.col("incomplete"))["slot"].to_list() == ["big", "near", "overall"]
        assert set(found.filter(pl.col("value").is_null())["reason"]) == {"incomplete"}
        assert found.filter(pl.col("value").is_not_null())["reason"].null_count() == 2
        assert (found["pooled"].is_null() == found["value"].is_null()).all()
        assert (found["published"].is_null() == found["value"].is_null()).all()


def test_a_cell_without_calls_leaves_the_pooled_rate_defined(grid):
    numbers = marginals(made(grid, [(3, 1, 3, 0, 0), (3, 1, 3, 4, 1), (2, 1, 2, 10, 1), (2, 1, 2, 6, 0)]))
    rate = numbers.filter(metric="SFR").select("slot", "value", "pooled", "denominator", "reason").rows()
    assert rate == [
        ("big", None, 25.0, 4, "no-skill-calls"),
        ("small", 5.0, 100 / 16, 16, None),
        ("near", None, 10.0, 10, "no-skill-calls"),
        ("far", 12.5, 10.0, 10, None),
        ("overall", None, 10.0, 20, "no-skill-calls"),
    ]
    calls = numbers.filter(metric="ASC")
    assert calls["value"].to_list() == [2 / 3, 4.0, 2.5, (4 / 3 + 3) / 2, (4 / 3 + 5 + 3) / 4]
    assert calls["reason"].null_count() == 5


def test_a_slot_without_any_call_has_no_pooled_rate_either(grid):
    numbers = marginals(made(grid, [(3, 1, 3, 0, 0), (3, 1, 3, 0, 0), (2, 1, 2, 10, 1), (2, 1, 2, 6, 0)]))
    found = slot(numbers, "SFR", "big")
    assert (found["value"], found["pooled"], found["denominator"]) == (None, None, 0)
    assert (found["skill_calls"], found["min_cell_calls"], found["low_count"]) == (0, 0, True)


def test_a_method_without_skills_has_two_metrics(grid, complete, frame):
    numbers = marginals(cells(frame(complete(skills=False)), grid=grid))
    skills = numbers.filter(pl.col("metric").is_in(["ASC", "SFR"]))
    assert set(skills["reason"]) == {"not-applicable"}
    empty = ("value", "published", "pooled")
    assert [skills[name].null_count() for name in empty] == [10] * 3
    assert numbers["skill_calls"].null_count() == numbers["min_cell_calls"].null_count() == 20
    assert not numbers["low_count"].any()
    assert numbers.filter(metric="SR")["value"].null_count() == 0
    assert numbers.filter(metric="ASC")["denominator"].to_list() == [6, 4, 5, 5, 10]
    assert numbers.filter(metric="SFR")["denominator"].null_count() == 5


@pytest.mark.parametrize(
    ("skills", "incomplete", "sr", "sfr"),
    [
        (True, "undefined", "incomplete", "incomplete"),
        (False, "undefined", "incomplete", "not-applicable"),
        (True, "scored", "nothing-scored", "nothing-scored"),
        (False, "scored", "nothing-scored", "not-applicable"),
    ],
)
def test_of_several_reasons_the_strongest_is_named(grid, complete, frame, *, skills, incomplete, sr, sfr):
    records = [r for r in complete(skills=skills) if (r["site"], r["condition"]) != ("big", "near")]
    numbers = marginals(cells(frame(records), grid=grid, incomplete=incomplete))
    assert (slot(numbers, "SR")["reason"], slot(numbers, "SFR")["reason"]) == (sr, sfr)


def test_values_over_what_was_scored_are_marked(grid, complete, frame):
    numbers = marginals(cells(frame(complete()[1:]), grid=grid, incomplete="scored"))
    assert numbers["value"].null_count() == 0
    assert numbers["incomplete"].to_list() == [True, False, True, False, True] * 4
    assert slot(numbers, "SR", "big")["value"] == (0 + 100 / 3) / 2
    assert slot(numbers, "SR", "big")["pooled"] == 100 / 5
    assert slot(numbers, "SR", "big")["denominator"] == 5


# -- bounds and counts -----------------------------------------------------------------------------------


def test_bounds_hold_if_every_missing_task_failed_or_succeeded(grid, complete, frame):
    records = [complete()[0] | {"error": "down"}, *complete()[1:-1]]
    numbers = marginals(cells(frame(records), grid=grid))
    # big / near: 0 of 2, one errored; small / far: 1 of 1, one missing.
    assert (slot(numbers, "SR", "near")["lower"], slot(numbers, "SR", "near")["upper"]) == (
        (0 + 50) / 2,
        (100 / 3 + 50) / 2,
    )
    assert slot(numbers)["lower"] == pytest.approx((0 + 100 / 3 + 50 + 50) / 4)
    assert slot(numbers)["upper"] == pytest.approx((100 / 3 + 100 / 3 + 50 + 100) / 4)
    assert slot(numbers, "SR", "small")["lower"] == 50.0
    assert numbers.filter(pl.col("metric") != "SR").select("lower", "upper").null_count().row(0) == (15, 15)
    assert {name: slot(numbers)[name] for name in COUNTS} == {
        "planned": 10,
        "attempted": 9,
        "errored": 1,
        "scored": 8,
        "missing": 1,
    }


def test_of_a_complete_run_both_bounds_are_the_value(grid, complete, frame):
    found = marginals(cells(frame(complete()), grid=grid)).filter(metric="SR")
    assert found["lower"].to_list() == found["upper"].to_list() == found["value"].to_list()


@pytest.mark.parametrize(("calls", "low"), [(0, True), (1, True), (14, True), (15, False), (16, False)])
def test_a_failure_rate_on_fewer_than_thirty_calls_in_its_slot_is_flagged(calls, low):
    numbers = marginals(made(ONE, [(1, 0, 1, calls, 0), (1, 0, 1, calls, 0)]))
    found = slot(numbers, "SFR")
    assert (found["skill_calls"], found["min_cell_calls"], found["low_count"]) == (2 * calls, calls, low)
    assert slot(numbers, "SFR", "src")["low_count"]
    assert not numbers.filter(pl.col("metric") != "SFR")["low_count"].any()


def test_the_smallest_cell_s_calls_are_told(grid):
    numbers = marginals(made(grid, [(3, 0, 3, 40, 0), (3, 0, 3, 7, 0), (2, 0, 2, 9, 0), (2, 0, 2, 50, 0)]))
    assert numbers.filter(metric="SFR")["min_cell_calls"].to_list() == [7, 9, 9, 7, 7]


# -- what is refused -------------------------------------------------------------------------------------


def test_another_kind_of_frame_is_refused(grid, complete, frame):
    table = cells(frame(complete()), grid=grid)
    with pytest.raises(InputError, match="expected a frame with a column 'website'"):
        marginals(frame(complete()))
    with pytest.raises(InputError, match="it lacks steps, SR"):
        marginals(table.drop("steps", "SR"))
    with pytest.raises(InputError, match="expected a frame with a column 'metric', found none"):
        run_keys(pl.DataFrame(), "metric")


@pytest.mark.parametrize(
    "broken",
    [
        lambda t: t.clear(),
        lambda t: t.head(-1),
        lambda t: t.filter(pl.int_range(pl.len()) != 2),
        lambda t: t.sort("condition", "website"),
        lambda t: pl.concat([t.slice(1), t.head(1)]),
        lambda t: pl.concat([t, t.head(1)]),
        lambda t: t.with_columns(website=pl.lit("big")),
        lambda t: pl.concat([t, t]),
        lambda t: t.drop("run"),
        lambda t: pl.concat([t.head(4), t.tail(4).reverse()]),
        lambda t: t.with_columns(pl.Series("run", ["1", "1", "1", "2", "2", "2", "2", "2"])),
    ],
)
def test_cells_that_are_not_whole_grids_in_order_are_refused(grid, complete, frame, broken):
    table = cells(frame(complete(run="1") + complete(run="2")), grid=grid)
    with pytest.raises(InputError, match="not whole grids in order"):
        marginals(broken(table))


def test_whole_runs_may_be_left_out(grid, complete, frame):
    table = cells(frame(complete(run="1") + complete(run="2") + complete(run="3", skills=False)), grid=grid)
    whole = marginals(table)
    kept = pl.col("run") != "2"
    assert marginals(table.filter(kept)).equals(whole.filter(kept))


@pytest.mark.parametrize("key", ["metric", "slot", "value", "published", "low_count"])
def test_run_keys_that_the_marginals_need_themselves_are_refused(grid, complete, frame, key):
    table = cells(frame(complete(**{key: "x"})), grid=grid, by=[key])
    with pytest.raises(UsageError, match=f"'{key}' cannot be a run key"):
        marginals(table)


def test_many_runs_are_each_what_they_are_alone(grid, complete, frame):
    records = [r for n in range(50) for r in complete(run=f"{n:02}", skills=n % 3 > 0)]
    numbers = marginals(cells(frame(records), grid=grid))
    assert numbers.height == 50 * 20
    for n in (0, 1, 49):
        alone = marginals(cells(frame(complete(skills=n % 3 > 0)), grid=grid))
        assert numbers.filter(run=f"{n:02}").drop("run").equals(alone)
