"""The corpora and prompts that retrieval is timed on: MetaTool's, and synthetic ones made from a seed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from skillful_eval.router.quotas import KIND_GROUPS
from skillful_eval.router.tokens import STOP_WORDS

ROOT = Path(__file__).resolve().parent.parent


def reference() -> Path:
    given = os.environ.get("SKILLSHIFT_REFERENCE")
    return Path(given) if given else ROOT.parent / "shared" / "reference"


def make_metatool(folder: Path, count: int) -> str:
    """MetaTool's corpus, and as many of its fixtures; says why not where it is absent."""
    source = reference() / "metatool"
    if not source.is_dir():
        return f"no reference data: {source} does not exist; set SKILLSHIFT_REFERENCE to the folder"
    (folder / "corpus.json").write_bytes((source / "corpus.json").read_bytes())
    lines = [
        line
        for name in ("dev", "holdout")
        for line in (source / f"fixtures.{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    (folder / "fixtures.jsonl").write_text("\n".join(lines[:count]) + "\n", encoding="utf-8")
    return ""


def make_synthetic(folder: Path, prompts: int, entries: int) -> None:
    """Entries and prompts of words that are as often as in a language; one entry in five is a copy."""
    random = np.random.default_rng(1)
    syllables = np.array([c + v for c in "bcdfghklmnprstvz" for v in "aeiou"])
    parts = random.integers(0, len(syllables), (30_000, 4))
    lengths = random.integers(2, 5, len(parts))
    made = ["".join(syllables[row[:n]]) for row, n in zip(parts, lengths, strict=True)]
    words = np.array([*sorted(STOP_WORDS), *dict.fromkeys(made)])
    weights = 1 / np.arange(1, len(words) + 1)
    steps = np.cumsum(weights / weights.sum())

    def text(count: int) -> list[str]:
        return words[np.searchsorted(steps, random.random(count) * steps[-1])].tolist()

    kinds = random.choice(list(KIND_GROUPS), entries, p=[0.6, 0.25, 0.1, 0.04, 0.01]).tolist()
    made_entries = []
    for number, kind in enumerate(kinds):
        entry = {
            "id": f"r:{kind}:s:{number * 7919 % entries:06d}",
            "kind": kind,
            "name": "-".join(text(3)),
            "description": " ".join(text(int(random.integers(15, 60)))),
            "runtime": "r",
        }
        if random.random() < 0.75:
            entry["whenToUse"] = " ".join(text(int(random.integers(8, 30))))
        if made_entries and random.random() < 0.2:
            entry = made_entries[int(random.integers(len(made_entries)))] | {"id": entry["id"]}
        made_entries.append(entry)
    head = {
        "capturedAt": "",
        "fingerprint": "unknown",
        "sanitised": False,
        "excludedCount": 0,
        "redactedCount": 0,
    }
    (folder / "corpus.json").write_text(json.dumps(head | {"entries": made_entries}))
    with (folder / "fixtures.jsonl").open("w") as file:
        for number in range(prompts):
            gold = made_entries[int(random.integers(entries))]
            own = random.permutation(gold["description"].split())[: int(random.integers(2, 10))].tolist()
            asked = " ".join([*own, *text(int(random.integers(3, 25)))])
            row = {"id": f"f{number:06d}", "group": "all", "prompt": asked, "gold": [gold["id"]]}
            file.write(json.dumps(row) + "\n")
