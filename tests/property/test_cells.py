"""Cells are what the oracle says, whatever the order, the form and the split of the records."""

import hashlib
import io
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import skillshift as ss
from skillshift.testing import (
    assert_cells_equal,
    grids,
    jsonl_bytes,
    logs,
    oracle_cells,
    oracle_verdict,
    oracle_violations,
    runs,
    to_frame,
)

INCOMPLETE = st.sampled_from(("undefined", "scored"))


@st.composite
def grid_and_log(draw, **options):
    grid = draw(grids())
    return grid, draw(logs(grid, **options))


def as_bytes(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


# -- equality with the oracle ----------------------------------------------------------------------------


@given(grid_and_log(), INCOMPLETE)
def test_cells_are_the_oracles(pair, incomplete):
    grid, log = pair
    found = ss.cells(to_frame(log), grid=grid, incomplete=incomplete)
    # A cell's value is one division of integers, so it is the very nearest double.
    assert_cells_equal(found, oracle_cells(log, grid=grid, incomplete=incomplete), ulps=0)


@given(grid_and_log())
def test_cells_stand_in_the_order_of_runs_and_grid(pair):
    grid, log = pair
    names = ("website", "condition")
    expected = oracle_cells(log, grid=grid)
    keys = list(expected[0])[: list(expected[0]).index("website")]
    found = ss.cells(to_frame(log), grid=grid).select(*keys, *names).rows()
    assert found == [tuple(row[name] for name in (*keys, *names)) for row in expected]


@given(grid_and_log())
def test_runs_may_be_told_apart_by_columns_of_ones_own(pair):
    grid, log = pair
    own = [
        {
            **{key: value for key, value in record.items() if key not in ("method", "model", "run", "trial")},
            "config": "/".join(str(record.get(key)) for key in ("method", "model", "run", "trial")),
        }
        for record in log
    ]
    found = ss.cells(to_frame(own), grid=grid, by=["config"])
    assert_cells_equal(found, oracle_cells(own, grid=grid, by=["config"]))


@given(grid_and_log(max_runs=1), st.data(), st.sampled_from(("first", "last")))
def test_of_a_task_scored_twice_one_record_counts(pair, data, keep):
    grid, log = pair
    scored = [record for record in log if "error" not in record]
    again = data.draw(st.lists(st.sampled_from(scored), max_size=4)) if scored else []
    other = [{**record, "steps": record["steps"] + 1, "success": not record["success"]} for record in again]
    twice = data.draw(st.permutations([*log, *other]))
    once = {}
    for record in twice if keep == "last" else reversed(twice):
        place = (record["site"], record["condition"], record["uid"])
        once[(*place, id(record)) if "error" in record else place] = record
    found = ss.cells(to_frame(twice), grid=grid, on_duplicates=keep)
    assert_cells_equal(found, oracle_cells(list(once.values()), grid=grid))


# -- what is refused -------------------------------------------------------------------------------------


BREAKS = [
    {"uid": None},
    {"uid": ""},
    {"site": None},
    {"condition": None},
    {"success": None, "error": None},
    {"steps": None, "error": None},
    {"steps": -1},
    {"skill_calls": -2},
    {"skill_failures": -2},
    {"skill_calls": 1, "skill_failures": 2},
    {"skill_calls": None},
    {"skill_failures": None},
    {"skill_calls": None, "skill_failures": None},
    {"skill_calls": 3, "skill_failures": 1},
    {"error": ""},
    {"error": "crash"},
    {"error": None, "success": True, "steps": 1},
    {"site": "gitlab "},
    {"condition": "SRC"},
    {"uid": "skillshift.gitlab.v1.0"},
    {"uid": "skillshift.gitlab.v2.5"},
    {"uid": "skillshift.magento.v1.17"},
    {"uid": "skillshift.gitlab.v1.99999999999999999999"},
    {"uid": "another"},
    {"uid": "0"},
    {"method": None},
    {"method": ""},
    {"run": None},
    {"trial": None},
    {"condition": "src"},
    {"site": "gitlab"},
    {},
]
"""Changes to a record; some break it, some break the log, some break nothing."""


@st.composite
def broken_logs(draw):
    grid, log = draw(grid_and_log(max_runs=2))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(log) - 1))
        change = draw(st.sampled_from(BREAKS))
        changed = {**log[at], **{k: v for k, v in change.items() if k in log[at] or k == "error"}}
        log = [*log, changed] if draw(st.booleans()) else [*log[:at], changed, *log[at + 1 :]]
    return grid, log


def agrees(grid, log):
    """The library refuses what the oracle refuses, for one of its reasons; else both have the same cells."""
    verdict = oracle_verdict(log, grid)
    if verdict is None:
        assert_cells_equal(ss.cells(to_frame(log), grid=grid), oracle_cells(log, grid=grid))
        return
    with pytest.raises(ss.ContractError) as caught:
        ss.cells(to_frame(log), grid=grid)
    violations = oracle_violations(log, grid)
    if violations:
        assert caught.value.counts.items() <= violations.items(), (caught.value.counts, violations)
    else:
        assert list(caught.value.counts) == [verdict]


@given(broken_logs())
def test_what_the_oracle_refuses_is_refused_and_nothing_else(pair):
    agrees(*pair)


@pytest.mark.parametrize("change", BREAKS, ids=str)
@given(grid_and_log(max_runs=2), st.data())
@settings(max_examples=settings().max_examples // 4)
def test_each_change_is_judged_as_by_the_oracle(change, pair, data):
    grid, log = pair
    at = data.draw(st.integers(0, len(log) - 1))
    log[at] = {**log[at], **{k: v for k, v in change.items() if k in log[at] or k == "error"}}
    agrees(grid, log)


DOTTED = ss.Grid("dots", {"shop.example": 3, "shop": 2}, ("src",))


@pytest.mark.parametrize(
    "uids",
    [
        ("skillshift.shop.example.v1.0", "skillshift.shop.example.v2.1"),
        ("skillshift.shop.example.v1.1", "skillshift.shop.example.v2.01"),
        ("skillshift.shop.example.v1.3",),
        ("skillshift.shop.v1.1",),
        ("skillshift.shop.example.v3.7", "skillshift.shop.example"),
        ("#1", "skillshift.shop.example.v1.1", "1"),
    ],
    ids=" ".join,
)
def test_a_website_with_dots_has_canonical_uids_too(uids):
    record = {"site": "shop.example", "condition": "src", "success": True, "steps": 1}
    agrees(DOTTED, [{**record, "skill_calls": None, "skill_failures": None, "uid": uid} for uid in uids])


# -- invariance ------------------------------------------------------------------------------------------


@given(grid_and_log(), st.data(), INCOMPLETE)
def test_order_chunks_and_laziness_change_no_byte(pair, data, incomplete):
    grid, log = pair
    frame = to_frame(log)
    found = as_bytes(ss.cells(frame, grid=grid, incomplete=incomplete))
    order = data.draw(st.permutations(range(frame.height)))
    cut = data.draw(st.integers(0, frame.height))
    other = frame[list(order)].select(reversed(frame.columns))
    chunked = pl.concat([other.head(cut), other.tail(frame.height - cut)], rechunk=False)
    assert as_bytes(ss.cells(chunked, grid=grid, incomplete=incomplete)) == found
    assert as_bytes(ss.cells(chunked.lazy(), grid=grid, incomplete=incomplete)) == found


@given(grid_and_log(), st.data())
def test_the_split_into_files_and_their_format_change_no_byte(tmp_path_factory, pair, data):
    grid, log = pair
    folder = tmp_path_factory.mktemp("split")
    found = as_bytes(ss.cells(to_frame(log), grid=grid))
    cut = data.draw(st.integers(1, len(log)))
    parts = [part for part in (log[:cut], log[cut:]) if part]
    for n, part in enumerate(parts):
        (folder / f"{n}.jsonl").write_bytes(data.draw(jsonl_bytes(part)))
    to_frame(log).write_parquet(folder / "whole.parquet")
    split = [folder / f"{n}.jsonl" for n in range(len(parts))]
    assert as_bytes(ss.cells(ss.scan_per_task(split), grid=grid)) == found
    assert as_bytes(ss.cells(ss.scan_per_task(split[::-1]), grid=grid)) == found
    assert as_bytes(ss.cells(ss.scan_per_task(folder / "whole.parquet"), grid=grid)) == found


@given(grid_and_log(), st.data())
def test_the_types_of_other_writers_change_no_byte(pair, data):
    grid, log = pair
    frame = to_frame(log)
    texts = st.sampled_from((pl.Categorical(), pl.Enum(sorted({*frame["site"], "zzz"}, reverse=True))))
    other = frame.with_columns(
        pl.col("site").cast(data.draw(texts)),
        pl.col("condition").cast(pl.Categorical()),
        pl.col("steps", "skill_failures").cast(data.draw(st.sampled_from((pl.Int16, pl.UInt32, pl.Float64)))),
    )
    assert as_bytes(ss.cells(other, grid=grid)) == as_bytes(ss.cells(frame, grid=grid))


THREADS = """
import hashlib, io, sys
import skillshift as ss
cells = ss.cells(ss.scan_per_task(sys.argv[1]))
numbers = ss.marginals(cells)
for frame in (cells, numbers):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    print(hashlib.sha256(buffer.getvalue()).hexdigest())
"""


def test_the_number_of_threads_changes_no_byte(tmp_path):
    sites = [
        (site, condition, i) for site, condition, planned in ss.SKILLSHIFT.cells() for i in range(planned)
    ]
    rows = [
        {
            "uid": f"skillshift.{site}.v1.{i}",
            "site": site,
            "condition": condition,
            "success": (i * 7 + run) % 3 == 0,
            "steps": (i * i + run) % 23,
            "skill_calls": (i + run) % 5,
            "skill_failures": (i + run) % 5 // 2,
            "run": f"r{run}",
        }
        for run in range(20)
        for site, condition, i in sites
    ]
    to_frame(rows).sample(fraction=1, shuffle=True, seed=1).write_parquet(
        tmp_path / "log.parquet", row_group_size=5_000
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", THREADS, str(tmp_path / "log.parquet")],
            env={**os.environ, "POLARS_MAX_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "5")
    }
    assert len(said) == 1
    here = ss.cells(ss.scan_per_task(tmp_path / "log.parquet"))
    assert hashlib.sha256(as_bytes(here)).hexdigest() in said.pop()


# -- additivity and locality -----------------------------------------------------------------------------


@given(grid_and_log(), st.data())
def test_the_sums_of_two_halves_are_those_of_the_whole(pair, data):
    grid, log = pair
    frame = to_frame(log)
    half = data.draw(st.lists(st.booleans(), min_size=frame.height, max_size=frame.height))
    whole = ss.sums(frame, grid=grid)
    parts = [ss.sums(part, grid=grid) for part in (frame.filter(half), frame.filter(~pl.Series(half)))]
    names = whole.columns[: whole.columns.index("condition") + 1]
    merged = pl.concat(parts).group_by(names).agg(pl.exclude(names).sum()).sort(names)
    assert merged.equals(whole)
    assert merged.schema == whole.schema


@given(st.data(), INCOMPLETE)
def test_another_task_changes_no_other_cell(data, incomplete):
    grid = data.draw(grids())
    run = data.draw(runs(grid))
    added = data.draw(st.sampled_from(run))
    rest = [record for record in run if record is not added]
    # Without a scored record nobody knows whether the method has skills; that is the run's, not a cell's.
    assume(any("error" not in record for record in rest))
    elsewhere = (pl.col("website") != added["site"]) | (pl.col("condition") != added["condition"])
    before, after = (
        ss.cells(to_frame(log), grid=grid, incomplete=incomplete).filter(elsewhere) for log in (rest, run)
    )
    assert before.equals(after)
