"""The logs that the diagnostics are timed on: complete runs, made from a seed."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import skillshift as ss

if TYPE_CHECKING:
    from pathlib import Path

WEBSITES, CONDITIONS = ("gitlab", "magento", "wordpress"), ss.SKILLSHIFT.condition_names
KEYS = ["site", "condition"]
COUNTS = ("steps", "skill_calls", "skill_failures")
NUMBERS = ("success", *COUNTS)
SCHEMA = {"uid": pl.String, "site": pl.String, "condition": pl.String, "success": pl.Boolean} | dict.fromkeys(
    COUNTS, pl.Int64
)


def grid_of(rows: int) -> ss.Grid:
    """The grid on which so many rows are one complete run."""
    return ss.Grid("benchmark", dict.fromkeys(WEBSITES, rows // 18), CONDITIONS)


def records(rows: int, *, canonical: bool) -> pl.DataFrame:
    """One complete run, its records in any order."""
    random = np.random.default_rng(1)
    each = rows // 18
    rows = each * 18
    cell = np.repeat(np.arange(18), each)
    calls = random.poisson(0.3, rows)
    frame = pl.DataFrame(
        {
            "site": pl.Series(WEBSITES).gather(cell // 6),
            "condition": pl.Series(CONDITIONS).gather(cell % 6),
            "index": np.tile(np.arange(each), 18),
            "success": random.random(rows) < 0.35,
            "steps": random.integers(1, 30, rows),
            "skill_calls": calls,
            "skill_failures": random.binomial(calls, 0.3),
        }
    )
    free = pl.format("task-{}", pl.col("index").cast(pl.String).str.zfill(6))
    uid = pl.format("skillshift.{}.v1.{}", "site", "index") if canonical else free
    return frame.select(uid.alias("uid"), *KEYS, *NUMBERS).sample(fraction=1, shuffle=True, seed=1)


def make(folder: Path, scale: int) -> dict[str, int]:
    """The files of every section, unless they are there; the rows or runs of each."""
    sizes = {"parquet": 20_000_000 // scale, "jsonl": 2_000_000 // scale, "runs": max(10, 1000 // scale)}
    # In a process of its own: a parent that once was large makes its children look large.
    maker = multiprocessing.get_context("spawn").Process(target=_make, args=(folder, sizes))
    maker.start()
    maker.join()
    if maker.exitcode:
        raise SystemExit(maker.exitcode)
    return sizes


def _make(folder: Path, sizes: dict[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, canonical in (("free", False), ("canonical", True)):
        file = folder / f"{name}.parquet"
        if not file.exists():
            whole = file.with_suffix(".part")
            records(sizes["parquet"], canonical=canonical).write_parquet(whole)
            whole.rename(file)
    log = folder / "log.jsonl"
    if not log.exists():
        whole = log.with_suffix(".part")
        records(sizes["jsonl"], canonical=True).write_ndjson(whole)
        whole.rename(log)
    one = ss.simulate(rates=ss.Rates.flat(ss.SKILLSHIFT, SR=40, AS=8, ASC=0.5, SFR=20), seed=1, method="m")
    for run in range(sizes["runs"]):
        part = folder / "hive" / f"run={run:04d}"
        part.mkdir(parents=True, exist_ok=True)
        if not (part / "log.parquet").exists():
            one.select(list(SCHEMA)).write_parquet(part / "log.parquet")
