"""The per-task record's contract: fields, row rules, and what a uid says."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillshift as ss
from skillshift.frame.contract import count_violations
from skillshift.frame.errors import ContractError, UsageError
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.schema import FIELDS, PER_TASK, RUN_KEYS, TASK, per_task, task
from skillshift.testing import oracle_violations

EXAMPLE = {
    "uid": "skillshift.gitlab.v1.9",
    "site": "gitlab",
    "condition": "tgt-exec",
    "success": False,
    "steps": 10,
    "skill_calls": 1,
    "skill_failures": 1,
}
"""The benchmark's own example of a record."""

SCHEMA = {f.name: f.kind.dtype for f in FIELDS}


def frame(*records):
    names = dict.fromkeys(name for record in records for name in record)
    return pl.DataFrame(list(records), schema={name: SCHEMA.get(name) for name in names})


def codes(*records, grid=SKILLSHIFT):
    try:
        per_task(grid).validate(frame(*records).lazy())
    except ContractError as error:
        return error.counts
    return {}


def test_the_benchmark_s_own_example_is_a_record():
    assert codes(EXAMPLE) == {}


def test_fields_run_keys_and_optional_ones():
    assert [f.name for f in FIELDS if f.required] == list(EXAMPLE)
    assert [f.name for f in FIELDS if not f.required] == ["error", *RUN_KEYS]
    assert all(f.about.endswith(".") for f in FIELDS)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"uid": None}, "uid.missing"),
        ({"uid": ""}, "uid.missing"),
        ({"site": None}, "site.missing"),
        ({"condition": ""}, "condition.missing"),
        ({"success": None}, "success.missing"),
        ({"steps": None}, "steps.missing"),
        ({"steps": -1}, "steps.negative"),
        ({"skill_calls": -1, "skill_failures": -1}, "skill_calls.negative"),
        ({"skill_failures": -1}, "skill_failures.negative"),
        ({"steps": 2**32}, "steps.too-large"),
        ({"skill_calls": 2**63 - 1, "skill_failures": 0}, "skill_calls.too-large"),
        ({"skill_failures": 2}, "skill_failures.above-calls"),
        ({"skill_calls": None}, "skill_calls.half"),
        ({"skill_failures": None}, "skill_calls.half"),
        ({"error": ""}, "error.empty"),
        ({"method": None}, "method.missing"),
        ({"model": ""}, "model.missing"),
        ({"run": None}, "run.missing"),
        ({"trial": None}, "trial.missing"),
        ({"site": "github"}, "site.unknown"),
        ({"site": "GitLab"}, "site.unknown"),
        ({"site": "gitlab "}, "site.unknown"),
        ({"condition": "tgt_exec"}, "condition.unknown"),
        ({"uid": "skillshift.magento.v1.9"}, "uid.site"),
        ({"uid": "skillshift.gitlab.v1.162"}, "uid.range"),
        ({"uid": "skillshift.gitlab.v2.0000162"}, "uid.range"),
        ({"uid": "skillshift.gitlab.v1.99999999999999999999999999"}, "uid.range"),
    ],
)
def test_a_record_that_breaks_a_rule_is_refused(change, code):
    assert code in codes(EXAMPLE | change)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 0},
        {"steps": 2**32 - 1, "skill_calls": 2**32 - 1, "skill_failures": 2**32 - 1},
        {"skill_calls": 0, "skill_failures": 0},
        {"skill_calls": None, "skill_failures": None},
        {"error": "TimeoutError", "success": None, "steps": None},
        {"error": "TimeoutError", "skill_calls": None, "skill_failures": None},
        {"error": " "},
        {"uid": "skillshift.gitlab.v1.0"},
        {"uid": "skillshift.gitlab.v2.161"},
        {"uid": "skillshift.gitlab.v1.000161"},
        {"uid": "skillshift.gitlab.v3.999"},
        {"uid": "skillshift.magento.v3.9"},
        {"uid": "skillshift.gitlab.v1.+999"},
        {"uid": "skillshift.gitlab.v1.-5"},
        {"uid": "skillshift.gitlab.v1.9 "},
        {"uid": "skillshift.gitlab.v1."},
        {"uid": "skillshift.gitlab.v1.9\n"},
        {"uid": "Skillshift.gitlab.v1.999"},
        {"uid": "xskillshift.gitlab.v1.999"},
        {"uid": "gitlab-999"},
        {"uid": "999"},
    ],
)
def test_a_record_that_breaks_none_is_taken(change):
    assert codes(EXAMPLE | change) == {}


def test_what_a_record_lacks_or_names_wrongly_is_told_once():
    assert codes(EXAMPLE | {"site": "", "condition": ""}) == {"condition.missing": 1, "site.missing": 1}
    assert codes(EXAMPLE | {"uid": "skillshift.magento.v1.999"}) == {"uid.site": 1}
    assert codes(EXAMPLE | {"site": "github"}) == {"site.unknown": 1}


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"site": "gitlba"}, 'the nearest is "gitlab"'),
        ({"condition": "tgt_exec"}, 'the nearest is "tgt-exec"'),
        ({"site": "GitLab"}, 'differs from "gitlab" only by case'),
        ({"condition": " src"}, 'differs from "src" only by case, outer blanks'),
        ({"skill_calls": None}, "no call made is 0"),
    ],
)
def test_messages_say_what_to_do(change, hint):
    with pytest.raises(ContractError) as caught:
        per_task().validate(frame(EXAMPLE | change).lazy())
    assert hint in str(caught.value)


def test_unicode_forms_that_look_the_same_are_told_apart():
    grid = Grid("g", {"caf\u00e9": 1}, ["src"])
    record = EXAMPLE | {"uid": "a", "site": "cafe\u0301", "condition": "src"}
    with pytest.raises(ContractError, match="Unicode form"):
        per_task(grid).validate(frame(record).lazy())


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pl.Series("uid", [9]), "uid.type"),
        (pl.Series("success", [1]), "success.type"),
        (pl.Series("success", [0.5]), "success.type"),
        (pl.Series("success", ["fail"]), "success.type"),
        (pl.Series("steps", ["10"]), "steps.type"),
        (pl.Series("steps", [2.5]), "steps.fraction"),
        (pl.Series("method", [3]), "method.type"),
    ],
)
def test_wrong_types_are_refused_with_a_hint(column, code):
    with pytest.raises(ContractError) as caught:
        PER_TASK.conform(frame(EXAMPLE).with_columns(column).lazy())
    assert caught.value.counts == {code: 1}
    hints = {"uid.type": "must be written as text", "success.type": "for rewards, decide on a threshold"}
    assert hints.get(code, "") in str(caught.value)


def test_an_inferred_grid_has_no_range():
    grid = Grid("inferred", {"gitlab": 1}, ["tgt-exec"], inferred=True)
    assert codes(EXAMPLE, grid=grid) == {}
    assert codes(EXAMPLE | {"uid": "skillshift.magento.v1.9"}, grid=grid) == {"uid.site": 1}


def test_the_contract_of_a_grid_is_made_once():
    assert (per_task() is per_task(SKILLSHIFT)) is True
    assert ss.PerTask is ss.per_task_model()
    assert ss.PerTask.__name__ == "PerTask"
    assert ss.per_task_model(Grid("g", {"a": 1}, ["x"])) is not ss.PerTask


@pytest.mark.parametrize(
    ("uids", "tasks"),
    [
        (("skillshift.gitlab.v1.9", "skillshift.gitlab.v2.9", "skillshift.gitlab.v1.0009"), 1),
        (("skillshift.gitlab.v1.0", "skillshift.gitlab.v2.00"), 1),
        (("skillshift.gitlab.v1.1", "skillshift.gitlab.v1.10", "skillshift.gitlab.v1.100"), 3),
        (("skillshift.gitlab.v3.9", "skillshift.gitlab.v1.9"), 2),
        (("skillshift.gitlab.v1.+9", "skillshift.gitlab.v1.9", "9", "09", "#9", "v1.9"), 6),
        (("skillshift.gitlab.v1.", "skillshift.gitlab.v1.0", "skillshift.gitlab.v2."), 3),
        (("skillshift.gitlab.v1." + "0" * 80 + "7", "skillshift.gitlab.v2.7"), 1),
        (("skillshift.gitlab.v1.1" + "0" * 80, "skillshift.gitlab.v2.1" + "0" * 80), 1),
    ],
)
def test_which_uids_are_one_task(uids, tasks):
    assert pl.DataFrame({"uid": uids}).select(task()).n_unique() == tasks
    assert pl.DataFrame({"uid": uids}).select(task()).columns == [TASK]


VALUES = {
    "uid": [
        "a",
        "",
        None,
        "skillshift.a.v1.0",
        "skillshift.a.v2.9",
        "skillshift.b.v1.1",
        "skillshift.a.v3.9",
    ],
    "site": ["a", "b", "A", "", None],
    "condition": ["x", "X", "", None],
    "success": [True, False, None],
    "steps": [0, 1, -1, None],
    "skill_calls": [0, 2, -1, None],
    "skill_failures": [0, 1, 3, -1, None],
    "error": ["boom", "", None],
    "method": ["m", "", None],
}


@given(
    st.lists(
        st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()}),
        min_size=1,
        max_size=5,
    )
)
def test_the_rules_find_what_the_oracle_finds(records):
    grid = Grid("g", {"a": 2, "b": 2}, ["x"])
    table = per_task(grid)
    conformed = table.conform(frame(*records).lazy())
    found = count_violations(conformed, table.all_rules(conformed.collect_schema().names()))
    assert found == oracle_violations(records, grid, by=["method"])


@pytest.mark.parametrize("grid", ["infer", "skillshift", None])
def test_what_is_no_grid_is_refused(grid):
    with pytest.raises(UsageError, match="expected a Grid"):
        per_task(grid)
