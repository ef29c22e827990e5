"""The routing runs that reports are timed on, made from a seed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

LENGTH, GOLDS, CONFIGS, REPEATS = 15, 3, 10, 5
KINDS = ("skill", "mcp", "agent", "command", "rule")


def make(folder: Path, runs: int, ids: int) -> None:
    """A corpus, fixtures with 1 to 3 golds, and runs with shortlists of 15, coded and as text."""
    random = np.random.default_rng(1)
    fixtures = max(1, runs // (CONFIGS * REPEATS))
    names = [f"runtime:skill:global:capability-{number:05d}" for number in range(ids)]
    entries = [
        {
            "id": name,
            "kind": KINDS[i % 5],
            "name": f"name-{i}",
            "description": "It does.",
            "runtime": "runtime",
        }
        for i, name in enumerate(names)
    ]
    head = {
        "capturedAt": "",
        "fingerprint": "unknown",
        "sanitised": False,
        "excludedCount": 0,
        "redactedCount": 0,
    }
    (folder / "corpus.json").write_text(json.dumps(head | {"entries": entries}))
    golds = np.argsort(random.random((fixtures, 64)), axis=1)[:, :GOLDS] + random.integers(
        0, ids - 64, (fixtures, 1)
    )
    counts = random.integers(1, GOLDS + 1, fixtures)
    with (folder / "fixtures.jsonl").open("w") as file:
        for i in range(fixtures):
            gold = [names[code] for code in golds[i, : counts[i]]]
            row = {"id": f"fixture-{i:06d}", "group": f"group-{i % 7}", "prompt": f"prompt {i}", "gold": gold}
            file.write(json.dumps(row) + "\n")
    number = np.arange(fixtures * CONFIGS * REPEATS)
    fixture = number % fixtures
    # Shortlists lie in the gold's neighbourhood, so that hits are common and at every rank.
    start, step = random.integers(0, 50, len(number)), random.integers(1, 5, len(number))
    codes = (golds[fixture, 0] + start - 25)[:, None] + step[:, None] * (np.arange(LENGTH) - LENGTH // 2)
    flat = pl.Series("shortlist", names).gather((codes % ids).ravel())
    shortlists = flat.reshape((len(number), LENGTH)).arr.to_list()
    decision = pl.Series(["injected", "skipped", "degraded"]).gather(
        random.choice(3, len(number), p=[0.75, 0.2, 0.05])
    )
    frame = pl.DataFrame(
        {
            "fixture_id": pl.Series([f"fixture-{i:06d}" for i in range(fixtures)]).gather(fixture),
            "repeat": number // fixtures % REPEATS,
            "config": pl.Series([f"config-{i}" for i in range(CONFIGS)]).gather(
                number // fixtures // REPEATS
            ),
            "shortlist": shortlists,
            "decision": decision,
            "latency_ms": random.gamma(3, 200, len(number)).round(3),
        }
    )
    picked = pl.when(decision == "injected").then(pl.col("shortlist").list.get(0))
    text = frame.with_columns(
        picked.alias("chosen"), pl.when(decision != "injected").then(pl.lit("none")).alias("reason")
    )
    text.write_parquet(folder / "text.parquet")
    ids_type = pl.Enum(names)
    text.with_columns(
        pl.col("shortlist").cast(pl.List(ids_type)), pl.col("chosen").cast(ids_type)
    ).write_parquet(folder / "coded.parquet")
