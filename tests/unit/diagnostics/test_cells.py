"""From records to cells: every cell of the grid, with its counts, sums, values and reason."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift import Grid, cells
from skillshift.diagnostics.cells import measure
from skillshift.diagnostics.summing import COUNTS, SUMS
from skillshift.frame.errors import ContractError, InputError, UsageError

VALUES = ["SR", "AS", "ASC", "SFR"]
COLUMNS = ["website", "condition", *COUNTS, "complete", *SUMS, *VALUES, "reason"]


def cell(table, website="big", condition="near"):
    return table.filter(website=website, condition=condition).row(0, named=True)


def without(records, *, site="big", condition="near", index=0):
    uid = f"skillshift.{site}.v1.{index}"
    return [r for r in records if (r["uid"], r["condition"]) != (uid, condition)]


def changed(records, *, site="big", condition="near", index=0, **changes):
    uid = f"skillshift.{site}.v1.{index}"
    return [r | (changes if (r["uid"], r["condition"]) == (uid, condition) else {}) for r in records]


# -- complete runs ---------------------------------------------------------------------------------------


def test_a_complete_run_has_every_cell_with_its_counts_sums_and_values(grid, complete, frame):
    table = cells(frame(complete()), grid=grid)
    assert table.columns == COLUMNS
    assert table.select("website", "condition").rows() == [
        ("big", "near"),
        ("big", "far"),
        ("small", "near"),
        ("small", "far"),
    ]
    assert cell(table, "big", "far") == {
        "website": "big",
        "condition": "far",
        "planned": 3,
        "attempted": 3,
        "errored": 0,
        "scored": 3,
        "missing": 0,
        "complete": True,
        "successes": 1,
        "steps": 9,
        "skill_calls": 6,
        "skill_failures": 3,
        "SR": 100 / 3,
        "AS": 3.0,
        "ASC": 2.0,
        "SFR": 50.0,
        "reason": None,
    }


def test_the_columns_have_their_types(grid, complete, frame):
    schema = cells(frame(complete(method="m", trial=1)), grid=grid).schema
    assert list(schema) == ["method", "trial", *COLUMNS]
    assert {schema[name] for name in (*COUNTS, *SUMS)} == {pl.Int64}
    assert {schema[name] for name in VALUES} == {pl.Float64}
    assert {schema[name] for name in ("method", "trial", "website", "condition", "reason")} == {pl.String}
    assert schema["complete"] == pl.Boolean


def test_average_steps_are_over_failed_tasks_too(grid, complete, frame):
    records = [r | {"success": False} for r in complete()]
    table = cells(frame(records), grid=grid)
    assert cell(table)["SR"] == 0.0
    assert cell(table)["AS"] == 3.0


def test_the_benchmark_s_grid_is_the_default():
    record = {
        "uid": "skillshift.gitlab.v1.9",
        "site": "gitlab",
        "condition": "tgt-exec",
        "success": False,
        "steps": 10,
        "skill_calls": 1,
        "skill_failures": 1,
    }
    table = cells(pl.DataFrame([record]))
    assert table.height == 18
    assert table["planned"].sum() == 2_130
    assert table["scored"].sum() == 1


# -- what is undefined, and why --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "reason", "values"),
    [
        ((2, 1), None, [100 / 3, 3.0, 2.0, 50.0]),
        ((0, 0), "no-skill-calls", [100 / 3, 3.0, 0.0, None]),
        ((None, None), "not-applicable", [100 / 3, 3.0, None, None]),
    ],
)
def test_zero_undefined_and_not_applicable_are_three_things(grid, complete, frame, *, calls, reason, values):
    records = [r | dict(zip(("skill_calls", "skill_failures"), calls, strict=True)) for r in complete()]
    found = cell(cells(frame(records), grid=grid))
    assert ([found[name] for name in VALUES], found["reason"]) == (values, reason)


@pytest.mark.parametrize(
    ("incomplete", "values", "reason"),
    [("undefined", [None] * 4, "incomplete"), ("scored", [0.0, 3.5, 2.5, 60.0], None)],
)
def test_an_incomplete_cell_has_values_only_where_they_are_asked_for(
    grid, complete, frame, *, incomplete, values, reason
):
    found = cell(cells(frame(without(complete())), grid=grid, incomplete=incomplete))
    assert [found[name] for name in (*COUNTS, "complete")] == [3, 2, 0, 2, 1, False]
    assert ([found[name] for name in VALUES], found["reason"]) == (values, reason)


def test_a_cell_without_any_scored_record_has_none_even_then(grid, complete, frame):
    records = [r for r in complete() if (r["site"], r["condition"]) != ("big", "near")]
    found = cell(cells(frame(records), grid=grid, incomplete="scored"))
    assert [found[name] for name in (*COUNTS, "complete")] == [3, 0, 0, 0, 3, False]
    assert ([found[name] for name in VALUES], found["reason"]) == ([None] * 4, "nothing-scored")


def test_no_value_is_ever_nan(grid, complete, frame):
    records = [r | {"skill_calls": 0, "skill_failures": 0} for r in complete()]
    table = cells(frame(without(records)), grid=grid, incomplete="scored")
    assert not table.select(pl.col(VALUES).is_nan().any()).transpose().to_series().any()


def test_a_run_without_any_scored_record_says_nothing_of_its_skills(grid, complete, frame):
    records = [r | {"error": "down", "skill_calls": None, "skill_failures": None} for r in complete()]
    table = cells(frame(records), grid=grid)
    assert table["skill_calls"].to_list() == [0] * 4
    assert set(table["reason"]) == {"incomplete"}


@pytest.mark.parametrize(("calls", "shown"), [(0, 0), (5, 5), (None, None)])
def test_one_scored_record_tells_whether_its_method_has_skills(grid, complete, frame, calls, shown):
    one = [complete()[0] | {"skill_calls": calls, "skill_failures": calls}]
    table = cells(frame(one), grid=grid)
    assert table["skill_calls"].to_list() == [shown, *[None if shown is None else 0] * 3]


def test_errored_records_count_nowhere_in_the_sums(grid, complete, frame):
    plain = cells(frame(complete()), grid=grid)
    retried = complete() + changed(complete(), error="down", success=True, steps=99)[:1]
    assert cells(frame(retried), grid=grid).equals(plain)


def test_many_errors_of_one_task_are_one_errored_task(grid, complete, frame):
    lost = without(complete())
    wrong = [r | {"error": "down"} for r in complete()[:1]]
    versions = [w | {"uid": uid} for w in wrong for uid in ("skillshift.big.v1.0", "skillshift.big.v2.00")]
    found = cell(cells(frame(lost + versions * 2), grid=grid))
    assert (found["errored"], found["scored"], found["missing"]) == (1, 2, 0)


def test_lost_cells_are_incomplete_whatever_was_scored_in_them(grid, complete, frame):
    lost = pl.DataFrame({"method": ["m"], "site": ["big"], "condition": ["near"]})
    measured = measure(frame(complete(method="m")), grid=grid, lost=lost)
    assert measured.cells["complete"].to_list() == [False, True, True, True]
    assert measured.cells["reason"].to_list() == ["incomplete", None, None, None]
    assert measured.cells["missing"].to_list() == [0] * 4


def test_lost_cells_are_found_by_keys_that_are_numbers(grid, complete, frame):
    lost = pl.DataFrame({"seed": ["7"], "site": ["big"], "condition": ["near"]})
    measured = measure(frame(complete(seed=7)), grid=grid, lost=lost, by=["seed"])
    assert measured.cells["complete"].to_list() == [False, True, True, True]


# -- what is refused -------------------------------------------------------------------------------------


def test_no_records_are_no_run(grid, complete, frame):
    with pytest.raises(InputError, match="no records"):
        cells(frame(complete()).clear(), grid=grid)


def test_what_breaks_the_contract_is_refused_and_located(grid, complete, frame):
    records = frame(changed(changed(complete(), steps=-1), index=2, skill_failures=9))
    with pytest.raises(ContractError) as caught:
        cells(records.lazy(), grid=grid)
    assert caught.value.counts == {"skill_failures.above-calls": 1, "steps.negative": 1}
    assert [(v.line, v.code) for v in caught.value.violations] == [
        (1, "steps.negative"),
        (3, "skill_failures.above-calls"),
    ]


def test_more_tasks_than_the_grid_plans_are_refused(grid, complete, frame):
    extra = [complete()[0] | {"uid": f"extra {i}"} for i in range(2)]
    with pytest.raises(ContractError, match=r"5 tasks in big / near, expected at most 3") as caught:
        cells(frame(complete() + extra), grid=grid)
    assert caught.value.counts == {"cell.too-many": 1}
    errored = [r | {"error": "down"} for r in extra]
    with pytest.raises(ContractError, match=r"5 tasks in big / near"):
        cells(frame(complete() + errored), grid=grid)


def test_too_many_tasks_are_bounded_too(complete, frame):
    many = Grid("many", {"shop": 1}, [f"c{i}" for i in range(40)])
    records = [
        complete()[0] | {"uid": uid, "site": "shop", "condition": condition}
        for condition in many.condition_names
        for uid in "ab"
    ]
    with pytest.raises(ContractError) as caught:
        cells(frame(records), grid=many)
    assert caught.value.counts == {"cell.too-many": 40}
    assert len(caught.value.violations) == 20


@pytest.mark.parametrize("lazy", [True, False])
def test_a_run_that_mixes_null_and_counted_calls_is_refused(grid, complete, frame, lazy):
    mixed = changed(complete(run="2"), index=1, skill_calls=None, skill_failures=None)
    records = frame(complete(run="1", skills=False) + mixed)
    with pytest.raises(ContractError) as caught:
        cells(records.lazy() if lazy else records, grid=grid)
    assert caught.value.counts == {"skill_calls.mixed": 1}
    assert caught.value.violations[0].line == 12
    assert "no call made is 0" in str(caught.value)


def test_runs_with_and_without_skills_may_stand_in_one_log(grid, complete, frame):
    table = cells(frame(complete(run="1", skills=False) + complete(run="2")), grid=grid)
    assert table.filter(run="1")["ASC"].null_count() == 4
    assert table.filter(run="2")["ASC"].null_count() == 0


def test_an_errored_record_without_calls_mixes_nothing(grid, complete, frame):
    errored = complete()[0] | {"error": "down", "skill_calls": None, "skill_failures": None}
    assert cells(frame([*complete(), errored]), grid=grid)["complete"].all()


@pytest.mark.parametrize("option", [{"incomplete": "partial"}, {"on_duplicates": "middle"}])
def test_unknown_options_are_told_with_the_known_ones(grid, complete, frame, option):
    (name,) = option
    with pytest.raises(UsageError, match=f"{name}: found .*, expected one of"):
        cells(frame(complete()), grid=grid, **option)
