"""A small corpus, fixtures on it, and runs to score."""

from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.fixtures import read_fixtures
from skillful_eval.scoring import score

# Two copies of one capability, spelled differently; one name in two kinds; one of each other kind.
ENTRIES = [
    ("a:undo", "skill", "ops:Undo", "claude-code"),
    ("b:undo", "skill", "ops-undo", "codex"),
    ("a:plan", "skill", "plan", "claude-code"),
    ("a:planner", "agent", "plan", "claude-code"),
    ("a:db", "mcp", "db", "claude-code"),
    ("a:lint", "command", "lint", "claude-code"),
    ("a:style", "rule", "style", "claude-code"),
]
HEAD = {
    "capturedAt": "2026-01-01",
    "fingerprint": "unknown",
    "sanitised": False,
    "excludedCount": 0,
    "redactedCount": 0,
}
FIXTURES = [
    ("undo", "coding", ["ops:undo"]),
    ("plan", "coding", ["PLAN", "db"]),
    ("store", "mcp", ["db"]),
    ("thanks", "trivial", ["none"]),
]


@pytest.fixture
def head():
    return dict(HEAD)


@pytest.fixture
def entries():
    return [
        {"id": id_, "kind": kind, "name": name, "description": f"Does {name}.", "runtime": runtime}
        for id_, kind, name, runtime in ENTRIES
    ]


@pytest.fixture
def corpus(head, entries):
    return make_corpus(head, entries, "corpus.json")


@pytest.fixture
def fixtures_of(corpus):
    def make(rows, name="dev"):
        records = [
            {"id": id_, "group": group, "prompt": f"about {id_}", "gold": gold} for id_, group, gold in rows
        ]
        return read_fixtures(pl.DataFrame(records), corpus, name=name)

    return make


@pytest.fixture
def fixtures(fixtures_of):
    return fixtures_of(FIXTURES)


def run(fixture_id, shortlist=(), decision="skipped", chosen=None, **other):
    return {
        "fixture_id": fixture_id,
        "repeat": 0,
        "shortlist": list(shortlist),
        "decision": decision,
        "chosen": chosen,
        "reason": None,
        **other,
    }


SCHEMA = {
    "fixture_id": pl.String,
    "repeat": pl.Int64,
    "shortlist": pl.List(pl.String),
    "decision": pl.String,
    "chosen": pl.String,
    "reason": pl.String,
}


@pytest.fixture
def run_of():
    return run


@pytest.fixture
def runs_of():
    def make(*rows):
        return pl.DataFrame(list(rows), schema_overrides=SCHEMA) if rows else pl.DataFrame(schema=SCHEMA)

    return make


@pytest.fixture
def scored_of(runs_of, fixtures, corpus):
    def make(*rows, among=None):
        return score(runs_of(*rows), among or fixtures, corpus)

    return make


@pytest.fixture
def whole():
    """One run of every fixture: a hit at 2, a wrong pick with gold offered, a degraded one, an abstention."""
    return [
        run("undo", ["a:plan", "b:undo", "a:undo"], "injected", "a:undo"),
        run("plan", ["a:lint", "a:planner"], "injected", "a:lint"),
        run("store", ["a:lint"], "degraded", reason="timeout"),
        run("thanks", ["a:lint"], "skipped", reason="none"),
    ]
