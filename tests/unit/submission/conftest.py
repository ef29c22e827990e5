"""A valid submission, made from a simulated run, and ways to break it."""

from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple

import polars as pl
import pytest

import skillshift as ss
from skillshift.submission.build import build
from skillshift.submission.checks import validate
from skillshift.submission.commitment import digest
from skillshift.submission.receipt import make_receipt

SALT = "0123456789abcdef" * 4
OFFICIAL = {"gitlab-v12": digest(b"an environment", SALT)}
ABOUT = {"name": "Mine", "model": "gpt-5-mini", "date": "2026-09-01"}


class Made(NamedTuple):
    log: pl.DataFrame
    cells: pl.DataFrame
    numbers: pl.DataFrame
    results: Any
    receipt: Any


def simulated(calls: float | None = 0.4, failed: float | None = 30) -> pl.DataFrame:
    rates = ss.Rates.flat(ss.SKILLSHIFT, SR=40, AS=9.5, ASC=calls, SFR=failed)
    return ss.simulate(rates=rates, seed=7, method="mine", model="gpt-5-mini")


def silent(log: pl.DataFrame, where: pl.Expr) -> pl.DataFrame:
    """The log with no skill called in some cells."""
    return log.with_columns(
        pl.when(where).then(0).otherwise(pl.col(name)).alias(name)
        for name in ("skill_calls", "skill_failures")
    )


def made_from(log: pl.DataFrame) -> Made:
    cells = ss.cells(log.lazy())
    numbers = ss.marginals(cells)
    results = build(numbers, cells, **ABOUT)
    receipt = make_receipt(results, log, cells, salt=SALT, logs={}, env_digests=OFFICIAL)
    return Made(log, cells, numbers, results, receipt)


@pytest.fixture(scope="session")
def made() -> Made:
    """A complete run in which one cell called no skill, so that SFR has nulls."""
    cell = (pl.col("site") == "wordpress") & (pl.col("condition") == "tgt-exec")
    return made_from(silent(simulated(), cell))


@pytest.fixture(scope="session")
def without_skills() -> Made:
    """A complete run of a method without executable skills."""
    return made_from(simulated(None, None))


@pytest.fixture(scope="session")
def remake():
    """Make everything anew from a log."""
    return made_from


@pytest.fixture
def tree(made) -> dict[str, Any]:
    """The valid document as plain data, to break."""
    return json.loads(made.results.to_bytes())


@pytest.fixture
def receipt_tree(made) -> dict[str, Any]:
    """Its receipt as plain data, to break."""
    return json.loads(made.receipt.to_bytes())


@pytest.fixture(scope="session")
def transcribed(made):
    """The valid document as one that was transcribed, with changes: path -> value, or `...` to remove it."""

    def change(changes: dict[str, Any] | None = None, *, keep_calls: bool = False) -> dict[str, Any]:
        document = json.loads(made.results.to_bytes())
        document["submission"]["provenance"]["label"] = "verified-paper"
        if not keep_calls:
            document["n"]["skill_calls"] = None
        return put(document, changes or {})

    return change


def put(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(document)
    for path, value in changes.items():
        *parents, last = path.split("/")
        inner = document
        for key in parents:
            inner = inner[key]
        if value is ...:
            del inner[last]
        else:
            inner[last] = value
    return document


@pytest.fixture(scope="session")
def changed():
    """Change a document: path with slashes -> value, or `...` to remove it."""
    return put


@pytest.fixture(scope="session")
def check():
    """Run the checks on plain data and give one verdict."""

    def run(name: str, document: dict[str, Any], receipt: dict[str, Any] | None = None, digests=None):
        raw = json.dumps(document).encode()
        sealed = None if receipt is None else json.dumps(receipt).encode()
        return next(v for v in validate(raw, sealed, digests) if v.check == name)

    return run


@pytest.fixture(scope="session")
def codes():
    """A verdict's findings as (code, severity, path)."""
    return lambda verdict: [(f.code, f.severity, f.path) for f in verdict.findings]
