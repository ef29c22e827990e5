"""Simulated logs: the rates asked for, the same from one seed, valid on any grid, whole or unfinished."""

from __future__ import annotations

import errno
import json
import math
import os
from dataclasses import replace
from hashlib import sha256

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.rates import PrintedRates, Rates
from skillshift.schema import PER_TASK, per_task
from skillshift.simulation import simulate, write_logs

RATES = Rates.flat(SKILLSHIFT, SR=40, AS=9.5, ASC=0.5, SFR=12)
BIG = Grid("big", {"a": 40_000, "b": 20_000}, ["x", "y"])
GOLDEN = "9c193a536859ba23011b9585343dfe0cc55a7494d4a320b160ac414bb01f7983"
VARIED = Rates(
    SR=PrintedRates({"a": 30, "b": 50}, {"x": 48, "y": 32}, 40),
    AS=PrintedRates({"a": 8, "b": 12}, {"x": 9, "y": 11}, 10),
    ASC=PrintedRates({"a": 1.5, "b": 0.5}, {"x": 1.2, "y": 0.8}, 1),
    SFR=PrintedRates({"a": 10, "b": 30}, {"x": 15, "y": 25}, 20),
)


def log(**options):
    return simulate(**{"rates": RATES, "seed": 1, "method": "m", **options})


def test_a_complete_run_is_every_task_once_in_grid_order():
    frame = log()
    cells = frame.group_by("site", "condition", maintain_order=True).len()
    assert cells.rows() == list(SKILLSHIFT.cells())
    assert frame["uid"].n_unique() == 2 * (162 + 114 + 79)
    per_task(SKILLSHIFT).validate(frame.lazy())
    assert dict(frame.schema) == {
        "uid": pl.String,
        "site": pl.String,
        "condition": pl.String,
        "success": pl.Boolean,
        "steps": pl.Int64,
        "skill_calls": pl.Int64,
        "skill_failures": pl.Int64,
        "error": pl.String,
        "method": pl.String,
        "model": pl.String,
    }
    assert frame.drop("error").null_count().sum_horizontal().item() == 0
    assert frame["error"].null_count() == frame.height


def test_uids_are_canonical_on_the_benchmark_s_grid():
    frame = log()
    versions = frame.group_by("condition", maintain_order=True).agg(
        pl.col("uid").str.extract(r"^skillshift\.[a-z]+\.(v[12])\.[0-9]+$").unique().alias("version")
    )
    assert versions["version"].to_list() == [["v1"]] * 3 + [["v2"]] * 3
    assert log(grid=BIG, rates=VARIED)["uid"][40_000] == "big.a.0"


def test_run_keys_are_those_given():
    frame = log(model="no model", run=3, trial="b")
    assert frame.select("method", "model", "run", "trial").unique().rows() == [("m", "no model", "3", "b")]
    assert "trial" not in log(run="x").columns


@pytest.mark.parametrize("site", ["a", "b"])
@pytest.mark.parametrize("condition", ["x", "y"])
def test_each_cell_has_its_rates(site, condition):
    cell = log(grid=BIG, rates=VARIED).filter(site=site, condition=condition)
    n, steps, calls = cell.height, cell["steps"], cell["skill_calls"]
    success, average = VARIED.SR.cell(site, condition) / 100, float(VARIED.AS.cell(site, condition))
    called, failing = float(VARIED.ASC.cell(site, condition)), VARIED.SFR.cell(site, condition) / 100
    # Five standard errors: the seed is fixed, so that this passes always or never.
    assert abs(cell["success"].mean() - success) < 5 * math.sqrt(success * (1 - success) / n)
    assert abs(steps.mean() - average) < 5 * math.sqrt((average - 1) / n)
    assert steps.var() == pytest.approx(average - 1, rel=0.05)
    assert abs(calls.mean() - called) < 5 * math.sqrt(called / n)
    failed = cell["skill_failures"].sum() / calls.sum()
    assert abs(failed - failing) < 5 * math.sqrt(failing * (1 - failing) / calls.sum())


def test_what_is_drawn_of_a_task_is_not_correlated():
    cell = log(grid=BIG, rates=VARIED).filter(site="a", condition="x")
    rest = cell.with_columns(pl.col("success").cast(pl.Int64), plain=pl.int_range(pl.len()))
    for one, other in (("success", "steps"), ("success", "skill_calls"), ("steps", "plain")):
        assert abs(rest.select(pl.corr(one, other)).item()) < 5 / math.sqrt(cell.height)


def test_rates_are_clipped_to_what_is_possible():
    grid = Grid("g", {"a": 500, "b": 500}, ["x", "y"])
    rates = Rates(
        SR=PrintedRates({"a": 20, "b": 100}, {"x": 100, "y": 20}, 60),
        AS=PrintedRates({"a": 0.1, "b": 0.3}, {"x": 0.2, "y": 0.2}, 0.2),
        ASC=PrintedRates({"a": 9, "b": 9}, {"x": 9, "y": 9}, 9),
        SFR=PrintedRates({"a": 20, "b": 100}, {"x": 100, "y": 20}, 60),
    )
    frame = log(grid=grid, rates=rates)
    assert frame["steps"].unique().to_list() == [1]
    assert frame["skill_calls"].unique().to_list() == [1]
    best = frame.filter(site="b", condition="x")
    assert best["success"].all()
    assert best["skill_failures"].sum() == 500
    assert not frame.filter(site="a", condition="y")["success"].all()


def test_calls_stay_within_steps_and_failures_within_calls():
    frame = log(rates=Rates.flat(SKILLSHIFT, SR=40, AS=3, ASC=2, SFR=50))
    assert (frame["skill_calls"] <= frame["steps"]).all()
    assert (frame["skill_failures"] <= frame["skill_calls"]).all()
    assert frame["steps"].min() == 1


def test_without_executable_skills_both_counts_are_null_and_the_rest_is_the_same():
    frame = log(rates=replace(RATES, ASC=None, SFR=None))
    assert frame["skill_calls"].null_count() == frame["skill_failures"].null_count() == frame.height
    counts = ("skill_calls", "skill_failures")
    assert_frame_equal(frame.drop(counts), log().drop(counts))


def test_no_calls_are_zeros():
    frame = log(rates=Rates.flat(SKILLSHIFT, SR=0, AS=2, ASC=0, SFR=0))
    assert frame.select("skill_calls", "skill_failures").unique().rows() == [(0, 0)]
    assert not frame["success"].any()


def test_one_seed_is_one_log_and_runs_differ():
    assert_frame_equal(log(), log())
    drawn = ("success", "steps", "skill_calls")
    for change in ({"seed": 2}, {"seed": -1}, {"method": "n"}, {"model": "n"}, {"run": 1}, {"trial": 1}):
        assert not log(**change).select(drawn).equals(log().select(drawn))
    assert not log(run="1").select(drawn).equals(log(trial="1").select(drawn))
    cells = log().partition_by("site", "condition")
    assert not cells[0].select(drawn).equals(cells[1].select(drawn))


def test_a_log_stays_as_it_is():
    # This must not change: what was made from a seed would be another log.
    frame = log(run="1", trial="2", missing=0.1, errored=0.2, retried=0.5)
    assert sha256(repr(frame.rows()).encode()).hexdigest() == GOLDEN


def test_a_cell_does_not_depend_on_the_others():
    grid = Grid("big", {"b": 500, "c": 7}, ["z", "y"])
    part = Grid("big", {"b": 300}, ["y"])
    frame = log(grid=grid, rates=Rates.flat(grid, SR=40, AS=9, ASC=1, SFR=10))
    alone = log(grid=part, rates=Rates.flat(part, SR=40, AS=9, ASC=1, SFR=10))
    assert_frame_equal(frame.filter(site="b", condition="y").head(300), alone)


def test_missing_tasks_are_left_out_and_the_others_unchanged():
    whole, part = log(grid=BIG, rates=VARIED), log(grid=BIG, rates=VARIED, missing=0.25)
    key = ("site", "condition", "uid")
    assert_frame_equal(whole.join(part.select(key), on=key, how="semi", maintain_order="left"), part)
    assert abs(part.height / whole.height - 0.75) < 5 * math.sqrt(0.25 * 0.75 / whole.height)
    assert log(missing=1).is_empty()


def test_errored_tasks_have_no_measurement_unless_they_are_retried():
    whole, part = log(grid=BIG, rates=VARIED), log(grid=BIG, rates=VARIED, errored=0.2)
    failed = part.filter(pl.col("error").is_not_null())
    assert part.height == whole.height
    assert (
        failed.select("success", "steps", "skill_calls", "skill_failures").null_count().row(0)
        == (failed.height,) * 4
    )
    assert abs(failed.height / whole.height - 0.2) < 5 * math.sqrt(0.16 / whole.height)
    retried = log(grid=BIG, rates=VARIED, errored=0.2, retried=1)
    assert retried.height == whole.height + failed.height
    assert_frame_equal(retried.filter(pl.col("error").is_null()), whole)
    again = retried.filter(pl.len().over("site", "condition", "uid") == 2)
    assert again["error"].is_null().to_list() == [False, True] * failed.height
    half = log(grid=BIG, rates=VARIED, errored=0.2, retried=0.5)
    assert failed.height < half.height - whole.height + failed.height < 2 * failed.height
    per_task(BIG).validate(half.lazy())


def test_shares_go_together():
    frame = log(missing=0.3, errored=0.3, retried=0.4)
    per_task(SKILLSHIFT).validate(frame.lazy())
    assert log(errored=1).filter(pl.col("error").is_null()).is_empty()
    assert set(log(missing=0.3)["uid"]) == set(frame["uid"])


@pytest.mark.parametrize("name", ["missing", "errored", "retried"])
@pytest.mark.parametrize("value", [-0.1, 1.01, float("nan"), "0.5", True])
def test_what_is_no_chance_is_refused(name, value):
    with pytest.raises(InputError, match=f"{name}: found .*, expected a chance from 0 to 1"):
        log(**{name: value})


@pytest.mark.parametrize("seed", [1.0, "1", True, None])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(UsageError, match="seed: found"):
        log(seed=seed)


@pytest.mark.parametrize(
    "change", [{"method": ""}, {"method": 1}, {"model": ""}, {"run": 1.5}, {"trial": True}]
)
def test_what_is_no_run_key_is_refused(change):
    (name,) = change
    with pytest.raises(InputError, match=f"{name}: found .*, expected text"):
        log(**change)


def test_more_steps_than_can_be_drawn_in_reasonable_time_are_refused():
    with pytest.raises(InputError, match="AS of gitlab under src is above 10,000 steps a task"):
        log(rates=Rates.flat(SKILLSHIFT, SR=40, AS=10_001, ASC=None, SFR=None))


def test_rates_that_miss_a_cell_are_refused():
    with pytest.raises(InputError, match="no rate for the website 'a'"):
        log(grid=BIG)


# -- writing -------------------------------------------------------------------------------------------------


def test_logs_are_written_one_a_method(tmp_path):
    two = pl.concat([log(method="one"), log(method="zwei ✓"), log(method="one", model="other")])
    files = write_logs(two, tmp_path / "runs")
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        "runs/one/per_task.jsonl",
        "runs/zwei ✓/per_task.jsonl",
    ]
    assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == sorted(files)
    lines = files[0].read_text("utf-8").splitlines()
    assert len(lines) == 2 * 2_130
    first = json.loads(lines[0])
    assert list(first) == [*PER_TASK.names[:7], "method", "model"]
    back = pl.read_ndjson(files[1], schema={name: log().schema[name] for name in first})
    assert_frame_equal(back, log(method="zwei ✓").drop("error"))


def test_errors_are_written_where_there_are_some(tmp_path):
    frame = log(errored=0.5)
    (file,) = write_logs(frame, tmp_path)
    back = pl.read_ndjson(file, schema=frame.schema)
    assert_frame_equal(back, frame)


def test_nulls_of_required_columns_are_written(tmp_path):
    (file,) = write_logs(log(rates=replace(RATES, ASC=None, SFR=None)), tmp_path)
    assert '"skill_calls":null,"skill_failures":null' in file.read_text().splitlines()[0]


def test_files_that_exist_are_replaced_only_if_asked(tmp_path):
    (file,) = write_logs(log(), tmp_path)
    before = file.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        write_logs(log(seed=2), tmp_path)
    with pytest.raises(InputError, match="exists already"):
        write_logs(pl.concat([log(method="another"), log(seed=2)]), tmp_path)
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]
    write_logs(log(seed=2), tmp_path, overwrite=True)
    assert file.read_bytes() != before


@pytest.mark.parametrize("method", ["..", ".", "a/b", "a\\b", "C:", "a\0b"])
def test_a_method_that_cannot_name_a_folder_is_refused(tmp_path, method):
    with pytest.raises(InputError, match="cannot name a folder"):
        write_logs(log(method=method), tmp_path / "runs")
    assert not list(tmp_path.iterdir())


def test_records_that_break_the_contract_are_not_written(tmp_path):
    with pytest.raises(ContractError, match=r"steps\.negative"):
        write_logs(log().with_columns(steps=pl.lit(-1)), tmp_path / "runs")
    with pytest.raises(InputError, match="no records"):
        write_logs(log(missing=1), tmp_path / "runs")
    with pytest.raises(InputError, match="no method column"):
        write_logs(log().drop("method"), tmp_path / "runs")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_one_message(tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_logs(log(), tmp_path / "runs")


def test_a_failure_half_way_leaves_earlier_files_as_they_were(tmp_path, monkeypatch):
    files = write_logs(pl.concat([log(method="one"), log(method="two")]), tmp_path)
    before = [file.read_bytes() for file in files]
    write = pl.DataFrame.write_ndjson

    def fill_the_disk(frame, file):
        if "two" in frame["method"]:
            file.write_text('{"uid": "skill')
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(frame, file)

    monkeypatch.setattr(pl.DataFrame, "write_ndjson", fill_the_disk)
    with pytest.raises(InputError, match="No space left on device"):
        write_logs(pl.concat([log(method=m, seed=2) for m in ("one", "two")]), tmp_path, overwrite=True)
    assert [file.read_bytes() for file in files] == before
    assert sorted(entry for entry in tmp_path.rglob("*") if entry.is_file()) == files
