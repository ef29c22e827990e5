"""How long logs take to become diagnostics, against peers: run by hand.

``python benchmarks/diagnostics.py`` makes the data (in ``benchmarks/data``, about 1 GB), runs every
contender in a process of its own, in turn, several times over, checks that all find the same, and writes
medians to ``benchmarks/README.md``. A peer that is not installed is left out, with a message. ``--quick``
takes a hundredth of the data; names of sections take only those. Peers: ``pip install duckdb pandas orjson``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # a checkout need not be installed

import skillshift as ss  # noqa: E402  # after the path

WEBSITES, CONDITIONS = ("gitlab", "magento", "wordpress"), ss.SKILLSHIFT.condition_names
KEYS = ["site", "condition"]
NUMBERS = ("success", "steps", "skill_calls", "skill_failures")
SCHEMA = {"uid": pl.String, "site": pl.String, "condition": pl.String, "success": pl.Boolean} | dict.fromkeys(
    NUMBERS[1:], pl.Int64
)
ROUNDS = 5
SLOW = 20.0
"""Seconds from which a contender is slow, and gets two rounds only."""


# -- data ----------------------------------------------------------------------------------------------------


def grid_of(rows: int) -> ss.Grid:
    """The grid on which so many rows are one complete run."""
    return ss.Grid("benchmark", dict.fromkeys(WEBSITES, rows // 18), CONDITIONS)


def records(rows: int, *, canonical: bool, shuffled: bool = True) -> pl.DataFrame:
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
    uid = pl.format("skillshift.{}.v1.{}", "site", "index") if canonical else pl.format("task-{}", "index")
    frame = frame.select(uid.alias("uid"), *KEYS, *NUMBERS)
    return frame.sample(fraction=1, shuffle=True, seed=1) if shuffled else frame


def make(folder: Path, scale: int) -> dict[str, int]:
    """The files of every section, unless they are there; the rows of each."""
    sizes = {"parquet": 20_000_000 // scale, "jsonl": 2_000_000 // scale, "runs": max(10, 1000 // scale)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, canonical in (("free", False), ("canonical", True)):
        if not (folder / f"{name}.parquet").exists():
            records(sizes["parquet"], canonical=canonical).write_parquet(folder / f"{name}.parquet")
    if not (folder / "log.jsonl").exists():
        records(sizes["jsonl"], canonical=True).write_ndjson(folder / "log.jsonl")
    one = ss.simulate(rates=ss.Rates.flat(ss.SKILLSHIFT, SR=40, AS=8, ASC=0.5, SFR=20), seed=1, method="m")
    one = one.select(list(SCHEMA))
    for run in range(sizes["runs"]):
        part = folder / "hive" / f"run={run:04d}"
        if not part.exists():
            part.mkdir(parents=True)
            one.write_parquet(part / "log.parquet")
    return sizes


# -- contenders: each is given the folder and the sizes, and returns a function to time ----------------------
# Every timed function returns what all of its section must find: successes, steps, calls, failures, records.


def _bare(lazy):
    sums = [pl.col(name).cast(pl.Int64).sum() for name in NUMBERS]
    found = lazy.group_by(KEYS).agg(*sums, pl.len().cast(pl.Int64)).collect(engine="streaming")
    return found.select(*NUMBERS, "len").sum().row(0)


def _found(cells):
    return cells.select("successes", "steps", "skill_calls", "skill_failures", "scored").sum().row(0)


def bare(file):
    """Polars: the scan and the group-by alone"""
    return lambda folder, _: lambda: _bare(pl.scan_parquet(folder / file))


def row_rules(file):
    """skillshift: every row rule but the uids' own, in the pass of the sums"""

    def prepare(folder, sizes):
        grid = grid_of(sizes["parquet"])
        sums = ["successes", "steps", "skill_calls", "skill_failures", "scored"]
        return lambda: ss.sums(pl.scan_parquet(folder / file), grid=grid).select(sums).sum().row(0)

    return prepare


def everything(file):
    """skillshift: every rule, uids and duplicates too, to cells"""

    def prepare(folder, sizes):
        grid = grid_of(sizes["parquet"])
        return lambda: _found(ss.cells(pl.scan_parquet(folder / file), grid=grid))

    return prepare


def duckdb_group_by(file):
    """DuckDB: the group-by alone"""

    def prepare(folder, _):
        import duckdb

        sums = ", ".join(f"sum({name}::BIGINT)" for name in NUMBERS)
        query = f"select {sums}, count(*) from '{folder / file}' group by site, condition"  # noqa: S608
        return lambda: tuple(int(sum(column)) for column in zip(*duckdb.sql(query).fetchall(), strict=True))

    return prepare


def pandas_group_by(file):
    """pandas: the group-by alone"""

    def prepare(folder, _):
        import pandas as pd

        def work():
            frame = pd.read_parquet(folder / file, columns=[*KEYS, *NUMBERS])
            found = frame.groupby(KEYS)[list(NUMBERS)].sum()
            return (*(int(found[name].sum()) for name in NUMBERS), len(frame))

        return work

    return prepare


def pandera_eager(file, *, unique):
    """pandera: eager validation by the same rules"""

    def prepare(folder, sizes):
        model = ss.per_task_model(grid_of(sizes["parquet"]))
        if unique:
            config = type("Config", (), {"unique": ["uid", *KEYS]})
            model = type("Unique", (model,), {"Config": config})

        def work():
            frame = model.validate(pl.read_parquet(folder / file), lazy=True)
            return _bare(frame.lazy())

        return work

    return prepare


def bare_jsonl(folder, _):
    return lambda: _bare(pl.scan_ndjson(folder / "log.jsonl", schema=SCHEMA))


def jsonl(folder, sizes):
    grid = grid_of(sizes["jsonl"])
    return lambda: _found(ss.cells(ss.scan_per_task(folder / "log.jsonl"), grid=grid))


def jsonl_loop(loads):
    """A loop over the lines with the same checks, in plain Python."""

    def prepare(folder, sizes):
        planned = sizes["jsonl"] // 18
        read = _strict_json if loads == "json" else __import__("orjson").loads

        def work():
            totals, seen = [0, 0, 0, 0, 0], set()
            with (folder / "log.jsonl").open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    _check(read(line), seen, planned, number, totals)
            return tuple(totals)

        return work

    return prepare


def _strict_json(line):
    return json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _no_constant(name):
    raise ValueError(name)


def _check(record, seen, planned, number, totals):
    uid, site, condition = record["uid"], record["site"], record["condition"]
    success, steps = record["success"], record["steps"]
    calls, failures = record["skill_calls"], record["skill_failures"]
    prefix, named, version, index = uid.split(".")
    task = (site, condition, int(index))
    if (
        type(uid) is not str
        or site not in WEBSITES
        or condition not in CONDITIONS
        or type(success) is not bool
        or type(steps) is not int
        or steps < 0
        or type(calls) is not int
        or type(failures) is not int
        or not 0 <= failures <= calls
        or prefix != "skillshift"
        or named != site
        or version not in ("v1", "v2")
        or task[2] >= planned
        or task in seen
    ):
        raise ValueError(f"line {number}")
    seen.add(task)
    for i, value in enumerate((success, steps, calls, failures, 1)):
        totals[i] += value


def _hive(folder):
    return ss.scan_per_task(folder / "hive")


def hive_cells(folder, _):
    return lambda: _found(ss.cells(_hive(folder)))


def hive_marginals(folder, _):
    def work():
        cells = ss.cells(_hive(folder))
        ss.marginals(cells)
        return _found(cells)

    return work


def hive_loop(folder, _):
    def work():
        found = []
        for part in sorted((folder / "hive").iterdir()):
            cells = ss.cells(ss.scan_per_task(part / "log.parquet"))
            ss.marginals(cells)
            found.append(_found(cells))
        return tuple(sum(column) for column in zip(*found, strict=True))

    return work


def one_run(step):
    def prepare(folder, _):
        frame = pl.read_parquet(folder / "hive" / "run=0000" / "log.parquet")
        work = (lambda: ss.cells(frame)) if step == "cells" else (lambda: ss.marginals(ss.cells(frame)))
        for _warm in range(5):
            work()
        times = []
        for _run in range(50):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        middle = statistics.median(times)
        return lambda: (middle,)

    return prepare


SECTIONS = {
    "parquet": {
        "Polars: scan and group-by alone": bare("free.parquet"),
        "skillshift: sums with every row rule (`ss.sums`)": row_rules("free.parquet"),
        "skillshift: all rules, uids and duplicates (`ss.cells`)": everything("free.parquet"),
        "DuckDB: scan and group-by alone": duckdb_group_by("free.parquet"),
        "pandas: read and group-by alone": pandas_group_by("free.parquet"),
        "pandera: eager validation, then the group-by": pandera_eager("free.parquet", unique=False),
        "pandera: the same with uniqueness": pandera_eager("free.parquet", unique=True),
    },
    "canonical": {
        "Polars: scan and group-by alone": bare("canonical.parquet"),
        "skillshift: sums with every row rule (`ss.sums`)": row_rules("canonical.parquet"),
        "skillshift: all rules, uids and duplicates (`ss.cells`)": everything("canonical.parquet"),
    },
    "jsonl": {
        "Polars: scan and group-by alone": bare_jsonl,
        "skillshift: every check (`scan_per_task`, `cells`)": jsonl,
        "json loop with the same checks": jsonl_loop("json"),
        "orjson loop, which lets duplicate keys pass": jsonl_loop("orjson"),
    },
    "runs": {
        "skillshift: cells": hive_cells,
        "skillshift: cells and marginals": hive_marginals,
        "skillshift: a loop over the runs": hive_loop,
    },
    "one": {
        "skillshift: cells": one_run("cells"),
        "skillshift: cells and marginals": one_run("marginals"),
    },
}
TITLES = {
    "parquet": "{parquet:,} records of Parquet, free-form uids, one complete run",
    "canonical": "The same with canonical uids, whose site and index are checked",
    "jsonl": "{jsonl:,} lines of JSON Lines, canonical uids",
    "runs": "{runs:,} runs of 2,130 records in hive partitions",
    "one": "One run of 2,130 records in memory, after import",
}
NEEDS = {"DuckDB": "duckdb", "pandas": "pandas", "orjson": "orjson", "pandera": "pandera"}


# -- measuring -----------------------------------------------------------------------------------------------


def measured(folder: Path, sizes: dict[str, int], section: str, name: str) -> dict[str, object]:
    """Run one contender in a process of its own: its seconds, the peak memory, and what it found."""
    job = json.dumps([str(folder), sizes, section, name])
    done = subprocess.run([sys.executable, __file__, "--job", job], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout)


def work(job: str) -> None:
    folder, sizes, section, name = json.loads(job)
    timed = SECTIONS[section][name](Path(folder), sizes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = timed()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if section == "one":
        seconds, found = found[0], ()
    print(
        json.dumps({"seconds": seconds, "peak": peak / 1024, "own": (peak - before) / 1024, "found": found})
    )


def section_table(folder: Path, sizes: dict[str, int], section: str) -> str:
    names = []
    for name in SECTIONS[section]:
        needs = NEEDS.get(name.split(":")[0].split(" ")[0])
        if needs and importlib.util.find_spec(needs) is None:
            print(f"left out, not installed: {name}")
        else:
            names.append(name)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    peaks: dict[str, list[float]] = {name: [] for name in names}
    found = set()
    for turn in range(ROUNDS):
        for name in names:
            if turn >= 2 and seconds[name][0] > SLOW:
                continue
            result = measured(folder, sizes, section, name)
            print(f"{section} {turn + 1} {name}: {result['seconds']:.3f} s", flush=True)
            seconds[name].append(result["seconds"])
            peaks[name].append(result["own"])
            found.add(tuple(result["found"]))
    if len(found) != 1:
        sys.exit(f"{section}: the contenders found different numbers: {found}")
    base = statistics.median(seconds[names[0]])
    lines = [
        f"## {TITLES[section].format(**sizes)}",
        "",
        "| | seconds (median) | ratio to the first | least to most | memory beyond imports, MB | rounds |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in names:
        times = seconds[name]
        lines.append(
            f"| {name} | {statistics.median(times):.3f} | {statistics.median(times) / base:.2f} "
            f"| {min(times):.3f} to {max(times):.3f} | {statistics.median(peaks[name]):,.0f} | {len(times)} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data; writes nothing")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        work(given.job)
        return
    folder = HERE / "data" / ("quick" if given.quick else "full")
    sizes = make(folder, 100 if given.quick else 1)
    tables = [section_table(folder, sizes, section) for section in given.sections or SECTIONS]
    text = "\n".join(tables)
    print(text)
    if not given.quick and not given.sections:
        head = (HERE / "head.md").read_text(encoding="utf-8")
        facts = (
            f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
            f"Polars {pl.__version__}; medians over {ROUNDS} alternating rounds, each in a process "
            f"of its own (two rounds for what takes over {SLOW:.0f} seconds).\n"
        )
        (HERE / "README.md").write_text(f"{head}\n{facts}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
