"""How long logs take to become diagnostics, against peers: run by hand.

``python benchmarks/diagnostics.py`` makes the data (in ``benchmarks/data``, about half a GB), runs every
contender in a process of its own, in turn, several times over, checks that all find the same, and writes
medians to ``benchmarks/README.md``. A peer that is not installed is left out, with a message. ``--quick``
takes a hundredth of the data; names of sections take only those; both write nothing. Peers: ``pip install
-r benchmarks/requirements.txt``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # a checkout need not be installed

from loops import loop, strict_json  # noqa: E402
from measuring import facts, report, table  # noqa: E402
from records import KEYS, NUMBERS, SCHEMA, grid_of, make, records  # noqa: E402

import skillshift as ss  # noqa: E402  # after the path

# -- contenders: each is given the folder and the sizes, and returns a function to time ----------------------
# Every timed function returns what all of its section must find: successes, steps, calls, failures, records.
# Names of skillshift are looked up before, as that is when its modules are imported.

SUMS = ("successes", "steps", "skill_calls", "skill_failures", "scored")


def _bare(lazy):
    sums = [pl.col(name).sum() for name in NUMBERS]
    found = lazy.group_by(KEYS).agg(*sums, pl.len()).collect(engine="streaming")
    return found.select(pl.col(*NUMBERS, "len").cast(pl.Int64).sum()).row(0)


def bare(file):
    return lambda folder, _: lambda: _bare(pl.scan_parquet(folder / file))


def ours(file, step, size="parquet"):
    """A step of the library from the file on: ``sums``, which has every row rule, or ``cells``."""

    def prepare(folder, sizes):
        grid, scan, run = grid_of(sizes[size]), ss.scan_per_task, getattr(ss, step)
        return lambda: run(scan(folder / file), grid=grid).select(SUMS).sum().row(0)

    return prepare


def duckdb_group_by(file):
    def prepare(folder, _):
        import duckdb

        sums = ", ".join(f"sum({name}::BIGINT)" for name in NUMBERS)
        query = f"select {sums}, count(*) from '{folder / file}' group by site, condition"  # noqa: S608
        return lambda: tuple(int(sum(column)) for column in zip(*duckdb.sql(query).fetchall(), strict=True))

    return prepare


def pandas_group_by(file):
    def prepare(folder, _):
        import pandas as pd

        def work():
            frame = pd.read_parquet(folder / file, columns=[*KEYS, *NUMBERS])
            found = frame.groupby(KEYS)[list(NUMBERS)].sum()
            return (*(int(found[name].sum()) for name in NUMBERS), len(frame))

        return work

    return prepare


def _model(grid, *, unique):
    model = ss.per_task_model(grid)
    return (
        type("Unique", (model,), {"Config": type("Config", (), {"unique": ["uid", *KEYS]})})
        if unique
        else model
    )


def pandera_eager(file, *, unique):
    def prepare(folder, sizes):
        model = _model(grid_of(sizes["parquet"]), unique=unique)
        same_findings()
        return lambda: _bare(model.validate(pl.read_parquet(folder / file), lazy=True).lazy())

    return prepare


def same_findings():
    """Check that pandera finds in bad records what skillshift finds."""
    from pandera.errors import SchemaErrors

    grid, log, row = grid_of(1800), records(1800, canonical=False), pl.int_range(pl.len())
    bad = log.with_columns(
        uid=pl.when(row % 31 == 1).then(pl.lit("")).otherwise("uid"),
        success=pl.when(row % 17 == 2).then(None).otherwise("success"),
        steps=pl.when(row % 13 == 3).then(-1).otherwise("steps"),
        skill_failures=pl.when(row % 11 == 4).then(pl.col("skill_calls") + 1).otherwise("skill_failures"),
    )
    for frame, unique in ((bad, False), (pl.concat([log, log[:7]]), True)):
        try:
            _model(grid, unique=unique).validate(frame, lazy=True)
        except SchemaErrors as error:
            theirs = sorted(error.failure_cases.group_by("check").len()["len"])
        try:
            ss.cells(frame, grid=grid)
        except ss.ContractError as error:
            # Of a doubled task, pandera counts both records.
            found = sorted(count * (2 if unique else 1) for count in error.counts.values())
        if theirs != found:
            sys.exit(f"pandera found {theirs}, skillshift {found}")


def bare_jsonl(folder, _):
    return lambda: _bare(pl.scan_ndjson(folder / "log.jsonl", schema=SCHEMA))


def jsonl_loop(library):
    def prepare(folder, sizes):
        loads = strict_json if library == "json" else __import__(library).loads
        return lambda: loop(folder / "log.jsonl", loads, sizes["jsonl"] // 18)

    return prepare


def hive(folder, _, *, step):
    cells, marginals, scan = ss.cells, ss.marginals, ss.scan_per_task

    def work():
        found = cells(scan(folder / "hive"))
        if step == "marginals":
            marginals(found)
        return found.select(SUMS).sum().row(0)

    return work


def hive_loop(folder, _):
    cells, marginals, scan = ss.cells, ss.marginals, ss.scan_per_task

    def work():
        found = []
        for part in sorted((folder / "hive").iterdir()):
            made = cells(scan(part / "log.parquet"))
            marginals(made)
            found.append(made.select(SUMS).sum().row(0))
        return tuple(sum(column) for column in zip(*found, strict=True))

    return work


def one_run(folder, _, *, step):
    """One run in memory, in a process that has done so before."""
    frame = pl.read_parquet(folder / "hive" / "run=0000" / "log.parquet", hive_partitioning=False)
    run = (lambda: ss.cells(frame)) if step == "cells" else (lambda: ss.marginals(ss.cells(frame)))

    def work():
        times = []
        for _again in range(50):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return (statistics.median(times),)

    return work


def in_memory(step):
    return lambda folder, sizes: one_run(folder, sizes, step=step)


def in_hive(step):
    return lambda folder, sizes: hive(folder, sizes, step=step)


BARE = "Polars: scan and group-by alone"
SECTIONS = {
    "parquet": {
        BARE: bare("free.parquet"),
        "skillshift: every row rule and the sums (`ss.sums`)": ours("free.parquet", "sums"),
        "skillshift: every rule and duplicates, to cells (`ss.cells`)": ours("free.parquet", "cells"),
        "DuckDB: scan and group-by alone": duckdb_group_by("free.parquet"),
        "pandas: read and group-by alone": pandas_group_by("free.parquet"),
        "pandera: eager validation by the same row rules, then the group-by": pandera_eager(
            "free.parquet", unique=False
        ),
        "pandera: the same with uniqueness": pandera_eager("free.parquet", unique=True),
    },
    "canonical": {
        BARE: bare("canonical.parquet"),
        "skillshift: every row rule and the sums (`ss.sums`)": ours("canonical.parquet", "sums"),
        "skillshift: every rule and duplicates, to cells (`ss.cells`)": ours("canonical.parquet", "cells"),
    },
    "jsonl": {
        BARE: bare_jsonl,
        "skillshift: every check, to cells (`ss.scan_per_task`, `ss.cells`)": ours(
            "log.jsonl", "cells", "jsonl"
        ),
        "json: a loop with the same checks": jsonl_loop("json"),
        "orjson: a loop with the same checks, but keys may be doubled": jsonl_loop("orjson"),
    },
    "runs": {
        "skillshift: cells": in_hive("cells"),
        "skillshift: cells and marginals": in_hive("marginals"),
        "skillshift: cells and marginals, a loop over the runs": hive_loop,
    },
    "one": {
        "skillshift: cells": in_memory("cells"),
        "skillshift: cells and marginals": in_memory("marginals"),
    },
}
TITLES = {
    "parquet": "{parquet:,} records of Parquet, free-form uids, one complete run",
    "canonical": "The same with canonical uids, whose site and index are checked",
    "jsonl": "{jsonl:,} lines of JSON Lines, canonical uids, one complete run",
    "runs": "{runs:,} runs of 2,130 records in hive partitions",
    "one": "One run of 2,130 records in memory, after import",
}
NEEDS = {"DuckDB": "duckdb", "pandas": "pandas", "orjson": "orjson"}


def installed(section: str) -> list[str]:
    names = []
    for name in SECTIONS[section]:
        needs = NEEDS.get(name.partition(":")[0])
        if needs and importlib.util.find_spec(needs) is None:
            print(f"left out, not installed: {name}")
        else:
            names.append(name)
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data; writes nothing")
    parser.add_argument("--job", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        folder, sizes, (section, name) = Path(given.job[0]), *map(json.loads, given.job[1:])
        report(SECTIONS[section][name](folder, sizes), times_itself=section == "one")
        return
    folder = HERE / "data" / ("quick" if given.quick else "full")
    sizes = make(folder, 100 if given.quick else 1)
    command = [sys.executable, __file__, "--job", str(folder), json.dumps(sizes)]
    parts = []
    for section in given.sections or SECTIONS:
        made = table(command, section, installed(section))
        parts.append(f"## {TITLES[section].format(**sizes)}\n\n{made}\n")
    text = "\n".join(parts)
    print(text)
    if not given.quick and not given.sections:
        head = (HERE / "head.md").read_text(encoding="utf-8")
        (HERE / "README.md").write_text(f"{head}\n{facts()}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
