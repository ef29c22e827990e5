"""The same records give the same bytes: whatever their order, their files and the number of threads."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys

import polars as pl
import pytest

import skillshift as ss
from skillshift.frame.console import FINDING

OUTPUTS = ("cells.parquet", "marginals.parquet", "report.md")


def records():
    """Eight runs on the benchmark's grid: whole, incomplete, with errors, quiet, without skills."""
    made = []
    for n in range(8):
        keys = {"method": f"m{n % 4}", "run": str(n)}
        for site, condition, planned in ss.SKILLSHIFT.cells():
            for i in range(planned):
                calls = (i * (n + 3)) % 7 if n % 4 else None
                if n == 5 and condition == "tgt":
                    calls = 0
                record = {
                    "uid": f"skillshift.{site}.v{1 + i % 2}.{i}",
                    "site": site,
                    "condition": condition,
                    "success": (i * i + n) % 3 == 0,
                    "steps": (i * 13 + n * 7) % 31,
                    "skill_calls": calls,
                    "skill_failures": calls and (i + n) % (calls + 1),
                    "error": None,
                    **keys,
                }
                if n % 6 == 1 and i % 50 == 7:
                    continue
                failed = record | {"error": "down", "success": None, "steps": None}
                if n % 6 == 2 and i % 40 == 3:
                    made.append(failed)
                made.append(failed if n % 6 == 3 and i == 11 else record)
    return made


def as_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def as_parquet(rows, path, **options):
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path, **options)


def whole(rows, folder):
    """One file, in order."""
    (folder / "log.jsonl").write_text(as_lines(rows), encoding="utf-8")


def split(rows, folder):
    """Several files of several formats, every key in another order."""
    rows = [dict(reversed(row.items())) for row in random.Random(1).sample(rows, len(rows))]  # noqa: S311
    cuts = [rows[:7], rows[7:3_000], rows[3_000:10_000], rows[10_000:]]
    (folder / "a b").mkdir()
    (folder / "a b" / "0.jsonl").write_text(as_lines(cuts[0]), encoding="utf-8")
    (folder / "z.jsonl").write_text("\ufeff" + as_lines(cuts[1]).replace("\n", "\r\n"), encoding="utf-8")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(as_lines(cuts[2]).encode()))
    as_parquet(cuts[3], folder / "m.parquet", row_group_size=1_000)


def columns(rows, folder):
    """One Parquet file of small groups, backwards."""
    as_parquet(rows[::-1], folder / "log.parquet", row_group_size=3_000)


SHAPES = ((whole, "1", {}), (split, "2", {"POLARS_IDEAL_MORSEL_SIZE": "512"}), (columns, "5", {}))


@pytest.fixture(scope="module")
def reports(tmp_path_factory, root):
    """What the command wrote and printed, for each shape of the logs, each in a process of its own."""
    rows, found = records(), []
    for shape, threads, more in SHAPES:
        home = tmp_path_factory.mktemp(shape.__name__)
        (home / "logs").mkdir()
        shape(rows, home / "logs")
        command = [
            sys.executable,
            "-m",
            "skillshift.cli",
            "report",
            "logs",
            "--out",
            "out",
            "--format",
            "json",
        ]
        environment = {**os.environ, "PYTHONPATH": str(root), "POLARS_MAX_THREADS": threads, **more}
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == FINDING, done.stderr
        written = {path.name: path.read_bytes() for path in (home / "out").iterdir()}
        found.append((written, done.stdout))
    return found


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_has_the_same_bytes(reports, name):
    assert len({written[name] for written, _ in reports}) == 1


def test_what_is_printed_is_the_same(reports):
    assert len({printed for _, printed in reports}) == 1


def test_only_the_manifest_names_the_files(reports):
    manifests = [json.loads(written["manifest.json"]) for written, _ in reports]
    inputs = [manifest.pop("inputs") for manifest in manifests]
    assert manifests[0] == manifests[1] == manifests[2]
    assert [len(files) for files in inputs] == [1, 4, 1]
    assert {sum(file["records"] for file in files) for files in inputs} == {len(records())}
    for written, _ in reports:
        for name in OUTPUTS:
            assert b".jsonl" not in written[name]
            assert b"log.parquet" not in written[name]


def test_the_logs_hold_what_could_make_a_difference(reports):
    numbers = pl.Series([row["reason"] for row in json.loads(reports[0][1])["marginals"]])
    assert set(numbers) == {None, "incomplete", "not-applicable", "no-skill-calls"}
