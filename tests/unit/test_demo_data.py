"""The demonstration logs: made as they say, complete, and with the traps that they are there to show."""

from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
import pytest

from skillshift.grid import SKILLSHIFT
from skillshift.schema import per_task

METHODS = ["demo-code", "demo-few", "demo-tips"]
FEW_CALLS = 30


@pytest.fixture(scope="module")
def demo(root):
    return root / "data" / "demo"


@pytest.fixture(scope="module")
def files(demo):
    return {path.parent.name: path for path in sorted((demo / "runs").glob("*/per_task.jsonl"))}


@pytest.fixture(scope="module")
def records(files):
    schema = {f.name: f.kind.dtype for f in per_task(SKILLSHIFT).fields if f.name not in ("error", "trial")}
    return pl.concat([pl.read_ndjson(path, schema=schema) for path in files.values()])


@pytest.fixture(scope="module")
def cells(records):
    return records.group_by("method", "site", "condition", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("tasks"),
        pl.col("skill_calls", "skill_failures").sum(),
        pl.col("skill_calls").null_count().cast(pl.Int64).alias("without"),
    )


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_committed_script_makes_the_committed_bytes(root, demo, files, tmp_path, threads):
    done = subprocess.run(
        [sys.executable, demo / "generate.py", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root), "POLARS_MAX_THREADS": threads},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    committed = {path.relative_to(demo / "runs"): path.read_bytes() for path in files.values()}
    assert made == committed


def test_there_are_three_complete_runs(files, records, cells):
    assert list(files) == METHODS
    per_task(SKILLSHIFT).validate(records.lazy())
    for method in METHODS:
        own = cells.filter(method=method)
        assert own.select("site", "condition", "tasks").rows() == list(SKILLSHIFT.cells())
    assert not records.select("site", "condition", "uid", "method").is_duplicated().any()


def test_they_say_that_they_are_simulated(files, demo):
    for method, path in files.items():
        own = pl.read_ndjson(path)
        assert own.select("method", "model", "run").unique().rows() == [(method, "simulated", "1")]
        assert method.startswith("demo-")
    assert "simulated" in (demo / "README.md").read_text("utf-8").splitlines()[0]


def test_they_are_small(files):
    assert sum(path.stat().st_size for path in files.values()) < 1_200_000


def test_one_method_is_defined_everywhere_and_rests_on_few_calls_somewhere(cells, demo):
    own = cells.filter(method="demo-code")
    assert (own["skill_calls"] > 0).all()
    websites = dict(own.group_by("site").agg(pl.col("skill_calls").sum()).rows())
    assert websites["wordpress"] < FEW_CALLS <= min(websites["gitlab"], websites["magento"])
    assert f"rests on {websites['wordpress']} calls in 474 tasks" in (demo / "README.md").read_text("utf-8")


def test_one_method_has_cells_without_a_call(cells):
    own = cells.filter(method="demo-few")
    none = own.filter(skill_calls=0)
    assert none["site"].to_list() == ["wordpress"] * 3
    assert own["without"].sum() == 0


def test_one_method_has_no_executable_skills(records, cells):
    own = cells.filter(method="demo-tips")
    assert (own["without"] == own["tasks"]).all()
    assert records.filter(method="demo-tips")["skill_failures"].null_count() == SKILLSHIFT.tasks


def test_the_trap_in_the_readme_is_there(cells, demo):
    own = cells.filter(method="demo-code", condition="src-exec")
    macro = (100 * own["skill_failures"] / own["skill_calls"]).mean()
    pooled = 100 * own["skill_failures"].sum() / own["skill_calls"].sum()
    assert own.filter(site="wordpress").select("skill_calls", "skill_failures").rows() == [(1, 1)]
    readme = " ".join((demo / "README.md").read_text("utf-8").split())
    assert (
        f"is {macro:.2f} on {own['skill_calls'].sum()} calls, while {pooled:.2f} % of those calls" in readme
    )
