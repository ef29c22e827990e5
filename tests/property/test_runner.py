"""Whatever is interrupted, and however the requests are batched: the same bytes, and nothing asked twice."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval.corpus import make_corpus
from skillful_eval.router.protocol import OUTCOMES, shortlist_schema
from skillful_eval.runner import run_router

HEAD = {
    "capturedAt": "2026-01-01",
    "fingerprint": "unknown",
    "sanitised": False,
    "excludedCount": 0,
    "redactedCount": 0,
}
ENTRIES = [
    {"id": f"id-{n}", "kind": "skill", "name": f"name-{n}", "description": "x", "runtime": "r"}
    for n in range(5)
]
PROMPTS = ["roll back the release", "thanks!", "store the backup of today", "/help", "write a long letter"]
CORPUS = make_corpus(HEAD, ENTRIES, "corpus.json")
FIXTURES = se.read_fixtures(
    pl.DataFrame(
        [
            {"id": f"f{n}", "group": "g", "prompt": prompt, "gold": ["name-0"]}
            for n, prompt in enumerate(PROMPTS)
        ]
    ),
    CORPUS,
    name="set",
)


class Router:
    """Decides by the fixture and the repeat alone; breaks off after so many slices."""

    settings = {"router": "fake"}  # noqa: RUF012 - read only

    def __init__(self, batch, slices):
        self.batch, self.slices, self.asked = batch, slices, []

    def shortlist(self, prompts):
        ids = [[f"id-{len(prompt) % 5}", f"id-{(len(prompt) + 1) % 5}"] for prompt in prompts]
        return pl.DataFrame(
            {"shortlist": ids, "scores": [[2.0, 1.0]] * len(ids)}, schema=shortlist_schema(CORPUS)
        )

    def decide(self, requests):
        if not self.slices:
            raise KeyboardInterrupt
        self.slices -= 1
        self.asked += requests.select("fixture_id", "repeat").rows()
        nothing = {name: pl.lit(None, dtype=dtype) for name, dtype in OUTCOMES.items()}
        place = pl.col("repeat") % 2
        chosen = pl.col("shortlist").list.get(place).cast(pl.String)
        told = {"decision": pl.lit("injected"), "chosen": chosen, "tokens_in": pl.col("repeat")}
        return requests.with_columns(**nothing | told).select(OUTCOMES.names()).cast(OUTCOMES)


@pytest.fixture(autouse=True)
def _at_one_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


def run(router, out, repeat, *, heuristics, keep_every_s=0.0):
    options = {"repeat": repeat, "heuristics": heuristics, "keep_every_s": keep_every_s}
    return run_router(router, FIXTURES, CORPUS, out=out, **options)


attempts = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 3), st.sampled_from([0.0, 1000.0])), max_size=4
)


@given(
    attempts=attempts, repeat=st.integers(1, 4), heuristics=st.booleans(), last=st.none() | st.integers(1, 9)
)
def test_interruptions_and_batches_leave_no_trace(attempts, repeat, heuristics, last):
    with tempfile.TemporaryDirectory() as folder:
        whole, out = Path(folder, "whole.parquet"), Path(folder, "runs.parquet")
        expected = Router(None, -1)
        run(expected, whole, repeat, heuristics=heuristics)
        asked, done = [], False
        for batch, slices, keep_every_s in attempts:
            router = Router(batch, slices)
            try:
                run(router, out, repeat, heuristics=heuristics, keep_every_s=keep_every_s)
                done = True
            except KeyboardInterrupt:
                pass
            asked += router.asked
            if done:
                break
        if not done:
            router = Router(last, -1)
            summary = run(router, out, repeat, heuristics=heuristics)
            assert summary.resumed == len(asked)
            asked += router.asked
        assert out.read_bytes() == whole.read_bytes()
        assert len(asked) == len(set(asked))
        assert sorted(asked) == sorted(expected.asked)
        assert sorted(os.listdir(folder)) == ["runs.parquet", "whole.parquet"]  # noqa: PTH208
