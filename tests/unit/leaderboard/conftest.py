"""Leaderboard documents that pass every check, and folders of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift as ss
from skillshift.submission.build import build
from skillshift.submission.commitment import digest
from skillshift.submission.jsontext import parse
from skillshift.submission.receipt import make_receipt
from skillshift.submission.sheet import Sheet
from skillshift.submission.slots import OFFICIAL_COUNTS

if TYPE_CHECKING:
    from pathlib import Path

SALT = "0123456789abcdef" * 4
MIXED = "mixed (A / B)"
NO_SKILLS = "Not applicable: the method has no executable skills."
NOT_PRINTED = "The paper prints no such numbers."


def slots_of(value: float | None) -> dict[str, Any]:
    """Ten equal numbers, so that every identity holds."""
    return {group: dict.fromkeys(names, value) for group, names in OFFICIAL_COUNTS.items()} | {
        "overall": value
    }


def a_document(
    name: str = "Mine",
    *,
    model: str = "gpt-5-mini",
    date: str = "2026-09-01",
    label: str = "verified-paper",
    calls: Any = None,
    reasons: dict[str, str] | None = None,
    **values: float | None,
) -> dict[str, Any]:
    """A transcribed document with one value a metric; SR=None and the like for nulls."""
    numbers = {"SR": 40.0, "AS": 7.5, "ASC": 0.5, "SFR": 20.0} | values
    why = {metric: NOT_PRINTED for metric, value in numbers.items() if value is None}
    return {
        "schema_version": "1.0",
        "submission": {
            "name": name,
            "date": date,
            "contact": None,
            "method": {"name": f"{name} method", "description": None, "paper_url": None, "code_url": None},
            "model": {"id": model, "temperature": None, "vision": None},
            "provenance": {"label": label, "source": "a paper", "code_released": False},
            "repro_command": None,
        },
        "harness_version": "n/a",
        "metrics": {metric: slots_of(value) for metric, value in numbers.items()},
        "n": {**{group: dict(counts) for group, counts in OFFICIAL_COUNTS.items()}, "skill_calls": calls},
        "reasons": why | (reasons or {}),
        "notes": None,
    }


def parsed(tree: dict[str, Any]) -> Sheet:
    return Sheet(parse(json.dumps(tree).encode(), "test"))


@pytest.fixture(scope="session")
def document():
    return a_document


@pytest.fixture(scope="session")
def sheet():
    """The same as the checks see it."""
    return lambda *args, **options: parsed(a_document(*args, **options))


@pytest.fixture
def board_folder(tmp_path):
    """Write documents into a folder, by file name."""

    def write(**files: Any) -> Path:
        folder = tmp_path / "board"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            path = folder / f"2026-09-01--{name}--model.json"
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return folder

    return write


def own_run(
    name: str, *, date: str = "2026-09-01", sr: float = 40, calls: float | None = 0.02, seed: int = 7
):
    """A self-reported document and its receipt, of a simulated run."""
    rates = ss.Rates.flat(ss.SKILLSHIFT, SR=sr, AS=8, ASC=calls, SFR=None if calls is None else 25)
    log = ss.simulate(rates=rates, seed=seed, method=name, model="gpt-5-mini")
    if calls is not None:
        silent = pl.col("condition") == "tgt-exec"
        names = ("skill_calls", "skill_failures")
        log = log.with_columns(pl.when(silent).then(0).otherwise(pl.col(n)).alias(n) for n in names)
    cells = ss.cells(log.lazy())
    results = build(ss.marginals(cells), cells, name=name, model="gpt-5-mini", date=date)
    receipt = make_receipt(
        results, log, cells, salt=SALT, logs={}, env_digests={"gitlab": digest(b"x", SALT)}
    )
    return results.to_bytes(), receipt.to_bytes()


@pytest.fixture(scope="session")
def few_calls():
    """A run with few calls, and none under one condition."""
    return own_run("Few")


@pytest.fixture(scope="session")
def hostile():
    """Text that tries to be markup everywhere."""
    return "<b>&*_`|[x](http://e.vil) @all #1 \\ $y$ {z} % ~^ \u6539\u00e9\u00f8"
