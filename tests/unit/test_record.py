"""One record checked in plain Python: the same verdicts as the contract's own expressions."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.frame.errors import ContractError
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.record import as_line, check_record, is_broken
from skillshift.schema import PER_TASK, per_task

LOG = Path("runs/mine/per_task.jsonl")
GOOD = {
    "uid": "skillshift.gitlab.v1.9",
    "site": "gitlab",
    "condition": "tgt-exec",
    "success": False,
    "steps": 10,
    "skill_calls": 1,
    "skill_failures": 1,
}
OTHER_GRID = Grid("odd", {"gitlab": 3, "a.b": 1, "skillshift": 12}, ["src", "tgt exec"])
INFERRED = Grid("seen", {"gitlab": 3}, ["src"], inferred=True)

uids = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.builds(
        "{}.{}.{}.{}".format,
        st.sampled_from(["skillshift", "Skillshift", "other"]),
        st.sampled_from(["gitlab", "magento", "wordpress", "a.b", "skillshift", ""]),
        st.sampled_from(["v1", "v2", "v3", "v", "V1"]),
        st.one_of(
            st.sampled_from(
                ["0", "00", "2", "3", "78", "79", "0161", "162", "9\n", " 1", "+1", "-1", "", "1.0", "\uff19"]
            ),
            st.integers(0, 200).map(str),
            st.integers(0, 10**40).map(str),
        ),
    ),
)
counts = st.one_of(st.none(), st.integers(-2, 4))
records = st.fixed_dictionaries(
    {
        "uid": uids,
        "site": st.sampled_from([None, "", "gitlab", "magento", "wordpress", "a.b", "skillshift", "GitLab"]),
        "condition": st.sampled_from([None, "", "src", "tgt-exec", "tgt exec", "src "]),
        "success": st.sampled_from([None, True, False]),
        "steps": counts,
        "skill_calls": counts,
        "skill_failures": counts,
        "error": st.sampled_from([None, "", "no answer"]),
        "method": st.sampled_from([None, "", "m"]),
        "model": st.sampled_from([None, "", "m"]),
        "run": st.sampled_from([None, "", "1"]),
        "trial": st.sampled_from([None, "", "1"]),
    }
)


def codes(record, grid=SKILLSHIFT, **options):
    with pytest.raises(ContractError) as raised:
        check_record(record, grid, LOG, **options)
    return sorted(raised.value.counts)


@pytest.mark.parametrize("grid", [SKILLSHIFT, OTHER_GRID, INFERRED], ids=lambda grid: grid.name)
@pytest.mark.parametrize(
    "index",
    ["0", "3", "161", "162", "0161", "0162", "0" * 5_000 + "2", "9" * 5_000, "9\n", "\n9", "\uff19", ""],
)
@pytest.mark.parametrize("site", ["gitlab", "magento"])
def test_plain_python_and_the_contract_s_expressions_agree_on_odd_uids(index, site, grid):
    assert_agreement({**GOOD, "uid": f"skillshift.gitlab.v1.{index}", "site": site}, grid)


@given(records, st.sampled_from([SKILLSHIFT, OTHER_GRID, INFERRED]))
def test_plain_python_and_the_contract_s_expressions_agree(record, grid):
    assert_agreement(record, grid)


def assert_agreement(given_, grid):
    table = per_task(grid)
    schema = {f.name: f.kind.dtype for f in table.fields}
    record = {name: given_.get(name) for name in schema}
    frame = pl.DataFrame([record], schema=schema)
    for rule in table.all_rules(frame.columns):
        said = frame.select(rule.violated.fill_null(value=False)).item()
        assert is_broken(rule, record, grid) == said, rule.code


@given(records)
def test_the_check_finds_exactly_what_the_contract_finds(record):
    table = per_task()
    frame = pl.LazyFrame([record], schema={f.name: f.kind.dtype for f in table.fields})

    def counted(check):
        try:
            check()
        except ContractError as error:
            return error.counts
        return {}

    assert counted(lambda: check_record(record, SKILLSHIFT, LOG)) == counted(lambda: table.validate(frame))


def test_a_good_record_is_written_as_the_benchmark_shows_it():
    line = as_line(check_record(GOOD, SKILLSHIFT, LOG))
    assert line == (
        '{"uid": "skillshift.gitlab.v1.9", "site": "gitlab", "condition": "tgt-exec", "success": false,'
        ' "steps": 10, "skill_calls": 1, "skill_failures": 1}'
    )


def test_keys_are_written_in_one_order():
    given_ = {"zeta": 1, "run": 3, "alpha": None, **dict(reversed(GOOD.items())), "error": None}
    assert list(check_record(given_, SKILLSHIFT, LOG)) == [*GOOD, "error", "run", "alpha", "zeta"]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"steps": -1}, "steps.negative", "steps: found -1, expected a whole number from 0"),
        ({"steps": 2.5}, "steps.fraction", "steps: found 2.5, expected a whole number"),
        ({"steps": float("nan")}, "steps.type", "steps: found NaN, expected a whole number"),
        ({"steps": True}, "steps.type", "steps: found true, expected a whole number"),
        ({"steps": "10"}, "steps.type", 'steps: found "10", expected a whole number'),
        ({"steps": 2**63}, "steps.range", "expected a number of at most 64 bits"),
        ({"steps": 1e300}, "steps.range", "expected a number of at most 64 bits"),
        ({"steps": None}, "steps.missing", "steps: found null"),
        ({"success": 1}, "success.type", "success: found 1, expected true or false"),
        ({"success": "fail"}, "success.type", 'success: found "fail", expected true or false'),
        ({"success": None}, "success.missing", "success: found null"),
        ({"uid": 9}, "uid.type", "uid: found 9, expected text"),
        ({"uid": "\ud800"}, "uid.surrogate", "expected valid Unicode"),
        ({"uid": ""}, "uid.missing", 'uid: found "", expected text, not empty'),
        ({"uid": "skillshift.magento.v1.9"}, "uid.site", "uid: found"),
        ({"uid": "skillshift.gitlab.v2.162"}, "uid.range", "gitlab 0 to 161"),
        ({"site": "gitlap"}, "site.unknown", 'the nearest is "gitlab"'),
        ({"condition": "TGT-exec"}, "condition.unknown", 'differs from "tgt-exec" only by case'),
        ({"skill_failures": 2}, "skill_failures.above-calls", "skill_failures: found 2"),
        ({"skill_calls": None}, "skill_calls.half", "skill_calls: found null"),
        ({"error": ""}, "error.empty", 'error: found ""'),
        ({"method": ""}, "method.missing", 'method: found ""'),
        ({"method": 3}, "method.type", "method: found 3, expected text"),
        ({"run": 1.0}, "run.type", "run: found 1.0, expected text or a whole number"),
        ({"cost": float("inf")}, "cost.type", "expected one text, finite number, true, false or null"),
        ({"cost": [1]}, "cost.type", "cost: found [1]"),
        ({"cost": Decimal(1)}, "cost.type", "cost: found"),
        ({"cost": 2**70}, "cost.range", "cost: found"),
        ({"note": "\udfff"}, "note.surrogate", "expected valid Unicode"),
        ({"": 1}, ".type", "a column's name"),
        ({"_file": "x"}, "_file.reserved", "expected another name"),
        ({7: "x"}, "7.type", "a column's name as text"),
    ],
)
def test_what_breaks_a_rule_is_named(change, code, message):
    with pytest.raises(ContractError) as raised:
        check_record({**GOOD, **change}, SKILLSHIFT, LOG)
    assert code in raised.value.counts
    assert message in str(raised.value)
    assert f"{LOG}: " in str(raised.value)


@pytest.mark.parametrize("name", GOOD)
def test_a_required_key_that_is_absent_is_named(name):
    assert codes({key: value for key, value in GOOD.items() if key != name}) == [f"{name}.missing-key"]


def test_every_violation_is_told():
    assert codes({**GOOD, "steps": -1, "skill_failures": -1, "site": "x", "success": "no"}) == [
        "site.unknown",
        "skill_failures.negative",
        "steps.negative",
        "success.type",
    ]


def test_an_errored_record_may_leave_its_measurements_null():
    record = {**GOOD, "success": None, "steps": None, "error": "no answer"}
    assert check_record(record, SKILLSHIFT, LOG) == record


def test_numpy_s_scalars_and_whole_floats_become_plain_numbers():
    record = {
        **GOOD,
        "success": np.bool_(True),
        "steps": np.int32(4),
        "skill_calls": np.float64(2.0),
        "skill_failures": 1.0,
        "reward": np.float32(0.5),
    }
    line = as_line(check_record(record, SKILLSHIFT, LOG))
    assert json.loads(line) == {
        **GOOD,
        "success": True,
        "steps": 4,
        "skill_calls": 2,
        "skill_failures": 1,
        "reward": 0.5,
    }
    assert '"steps": 4,' in line
    assert '"skill_calls": 2,' in line


def test_a_partial_record_is_checked_as_far_as_it_goes():
    assert check_record({"method": "m"}, SKILLSHIFT, LOG, partial=True) == {"method": "m"}
    assert codes({"method": "", "trial": 1.5}, partial=True) == ["method.missing", "trial.type"]
    assert codes({"uid": "skillshift.gitlab.v1.9", "site": "magento"}, partial=True) == ["uid.site"]


def test_a_grid_without_ranges_takes_any_index():
    record = {**GOOD, "uid": "skillshift.gitlab.v1.5000", "condition": "src"}
    assert check_record(record, INFERRED, LOG) == record
    assert codes({**record, "uid": "skillshift.gitlab.v1.3"}, OTHER_GRID) == ["uid.range"]


def test_every_rule_of_the_contract_can_be_decided():
    blank = dict.fromkeys(PER_TASK.names)
    for rule in per_task(SKILLSHIFT).all_rules(PER_TASK.names):
        assert isinstance(is_broken(rule, blank, SKILLSHIFT), bool)
