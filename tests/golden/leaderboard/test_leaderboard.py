"""A small board in every text format, and a new entry's comment, as they stood when somebody last looked.

``SKILLSHIFT_UPDATE_GOLDEN=1 pytest tests/golden/leaderboard`` rewrites them; look at the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

import skillshift as ss
from skillshift.leaderboard.board import read_board
from skillshift.leaderboard.check import check_new
from skillshift.leaderboard.comment import comment
from skillshift.leaderboard.formats import render
from skillshift.submission.build import build
from skillshift.submission.receipt import make_receipt
from skillshift.submission.slots import OFFICIAL_COUNTS

HERE = Path(__file__).parent
GOLDEN = {
    "board.txt": ("table", ()),
    "board.md": ("markdown", ()),
    "board.html": ("html", ("SFR",)),
    "board.tex": ("latex", ("SFR",)),
    "board.csv": ("csv", ("ASC", "SFR")),
}


def transcribed(name, date, values, *, model="gpt-5-mini", label="verified-paper", reasons=None):
    """A document with one number a metric in all its ten slots."""
    about = {
        "name": name,
        "date": date,
        "contact": None,
        "method": {"name": name, "description": None, "paper_url": None, "code_url": None},
        "model": {"id": model, "temperature": None, "vision": None},
        "provenance": {"label": label, "source": "made up for this test", "code_released": False},
        "repro_command": None,
    }
    counts = {group: dict(slots) for group, slots in OFFICIAL_COUNTS.items()}
    metrics = {
        metric: {**{group: dict.fromkeys(slots, value) for group, slots in counts.items()}, "overall": value}
        for metric, value in zip(("SR", "AS", "ASC", "SFR"), values, strict=True)
    }
    return {
        "schema_version": "1.0",
        "submission": about,
        "harness_version": "n/a",
        "metrics": metrics,
        "n": {**counts, "skill_calls": None},
        "reasons": reasons or {},
        "notes": None,
    }


def own_run():
    """A run with so few calls that some conditions are flagged, and one that called none."""
    log = ss.simulate(
        rates=ss.Rates.flat(ss.SKILLSHIFT, SR=41.5, AS=8.25, ASC=0.05, SFR=20), seed=11, method="own"
    )
    silent = pl.col("condition") == "src-exec"
    calls = (pl.when(silent).then(0).otherwise(pl.col(n)).alias(n) for n in ("skill_calls", "skill_failures"))
    log = log.with_columns(*calls)
    cells = ss.cells(log.lazy())
    results = build(ss.marginals(cells), cells, name="Own <run>", model="gpt-5-mini", date="2026-09-01")
    return results, make_receipt(results, log, cells, salt="0123456789abcdef" * 4, logs={}, env_digests={})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    no_skills = dict.fromkeys(("ASC", "SFR"), "Not applicable: workflows in prompts, no executable skills.")
    unprinted = dict.fromkeys(("AS", "SFR"), "Its paper reports SR and ASC only.")
    documents = {
        "2026-08-01--alpha--gpt-5-mini": transcribed("Alpha", "2026-08-01", (41.5, 7.0, 0.12, 30.5)),
        "2026-08-02--alpha--gpt-5-mini": transcribed("Alpha", "2026-08-02", (41.5, 7.1, 0.0, 0.0)),
        "2026-08-01--beta--gpt-5-mini": transcribed(
            "Beta & Co", "2026-08-01", (35.0, 6.0, None, None), reasons=no_skills
        ),
        "2026-08-01--gamma--big_model": transcribed(
            "Gamma", "2026-08-01", (44.44, None, 0.5, None), model="big_model", reasons=unprinted
        ),
        "2026-08-01--mix--mixed": transcribed(
            "Mix", "2026-08-01", (90.0, 5.0, 1.0, 2.0), model="mixed (A / B)", label="reported-only"
        ),
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    results, receipt = own_run()
    (folder / "2026-09-01--own-run--gpt-5-mini.json").write_bytes(results.to_bytes())
    (folder / "2026-09-01--own-run--gpt-5-mini.receipt.json").write_bytes(receipt.to_bytes())
    (folder / "README.md").write_text("# Entries\n")
    return folder


def same(name: str, found: str) -> None:
    path = HERE / name
    if os.environ.get("SKILLSHIFT_UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GOLDEN)
def test_the_board(folder, name):
    fmt, metrics = GOLDEN[name]
    same(name, render(read_board(folder, metrics=metrics), fmt).decode())


def test_the_comment(folder, monkeypatch):
    monkeypatch.chdir(folder)
    same("comment.md", comment(check_new(".", "2026-09-01--own-run--gpt-5-mini.json", sort="SR")))
