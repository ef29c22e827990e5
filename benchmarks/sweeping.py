"""How long a sweep over thresholds takes, against one pass a pair and one cross join: run by hand.

``python benchmarks/sweeping.py`` runs every contender in a process of its own, in turn, several times over,
checks that all find the same sums, and writes medians to ``benchmarks/sweeping.md``. ``--rounds 1`` gives a
quick look. The first two start from answers that were read; the last is a whole sweep of a recording that is
in memory, with its ranking, its answers and its verdicts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

import measuring  # noqa: E402 - found beside this file

import skillful_eval as se  # noqa: E402
from skillful_eval.corpus import make_corpus  # noqa: E402
from skillful_eval.recording.document import Entry, Recording  # noqa: E402
from skillful_eval.router.answers import ANSWERS  # noqa: E402
from skillful_eval.scopes import scopes_of  # noqa: E402
from skillful_eval.sweep_rows import judged_rows  # noqa: E402
from skillful_eval.sweep_thresholds import MOST_INJECTED, Grid, ThresholdSums, decided  # noqa: E402

REPEATS, IDS, LENGTH = 5, 2_000, 15
SIZES = {"large": (100_000, 100), "small": (10_000, 20), "whole": (100_000, 100)}
"""Runs, and thresholds of each kind."""

TIMED = 100
"""How many pairs the pass a pair is timed for."""

OURS = "skillful_eval: every pair at once, to the gate's verdicts"
LOOP = "Polars: judge and sum, one pass a pair"
CROSS = "Polars: one lazy query over pairs x runs (streaming)"
WHOLE = "skillful_eval.sweep: from a recording to every verdict"
SECTIONS = {"large": (OURS, LOOP), "small": (OURS, LOOP, CROSS), "whole": (WHOLE,)}


def make(runs: int):
    """A corpus, fixtures (a fifth of them to abstain from), and an answer of a model for every repeat."""
    random = np.random.default_rng(1)
    names = [f"id-{number}" for number in range(IDS)]
    entries = [
        {"id": name, "kind": "skill", "name": name, "description": "", "runtime": "r"} for name in names
    ]
    head = {"capturedAt": "", "fingerprint": "unknown", "sanitised": False}
    corpus = make_corpus(head | {"excludedCount": 0, "redactedCount": 0}, entries, "corpus")
    count = runs // REPEATS
    gold = [["none"] if number % 5 == 0 else [names[number % IDS]] for number in range(count)]
    prompts = [f"prompt {number}" for number in range(count)]
    fixtures = pl.DataFrame({"id": prompts, "group": "g", "prompt": prompts, "gold": gold})
    fixtures = se.read_fixtures(fixtures, corpus, name="dev")
    first = np.arange(count) % IDS
    offered = (first[:, None] + random.integers(0, 3, count)[:, None] + np.arange(LENGTH)) % IDS
    place = np.minimum(random.geometric(0.6, (count, REPEATS)) - 1, LENGTH - 1)
    chosen = np.take_along_axis(offered, place, axis=1).ravel()
    fixture = np.repeat(np.arange(count), REPEATS)
    known = pl.Series(names, dtype=pl.Enum(names))
    frame = pl.DataFrame(
        {
            "fixture_id": pl.Series(prompts).gather(fixture),
            "repeat": np.tile(np.arange(REPEATS), count),
            "shortlist": known.gather(offered[fixture].ravel()).reshape((runs, LENGTH)).arr.to_list(),
            "choice": known.gather(chosen).cast(pl.String),
            "none_p": random.beta(1, 2, runs).round(4),
            "winner_p": random.beta(3, 2, runs).round(4),
            "response_index": np.tile(np.arange(REPEATS), count),
        }
    ).with_columns(
        config=pl.lit("only"),
        skip=pl.lit(None, dtype=pl.String),
        **{name: pl.lit(None, dtype=ANSWERS[name]) for name in ("cause", "detail")},
    )
    return frame, fixtures, corpus


def recording_of(frame) -> Recording:
    """The answers as a recording: a response for every fixture and repeat."""
    columns = ("fixture_id", "repeat", "choice", "none_p", "winner_p")
    responses: dict[str, dict[int, dict]] = {}
    for fixture, repeat, choice, none, winner in frame.select(columns).rows():
        primary = {"choice": choice, "probabilities": {choice: winner, "none": none}}
        responses.setdefault(fixture, {})[repeat] = {"answers": {"primary": primary}}
    # A fixture's prompt is its id here.
    return Recording({name: Entry(name, own) for name, own in responses.items()}, "recording")


def thresholds(number: int) -> tuple[float, ...]:
    return tuple(float(f"{(place + 0.5) / number:.4f}") for place in range(number))


def ours(frame, fixtures, corpus, grid) -> tuple[int, ...]:
    sums = ThresholdSums.of(frame, grid, scopes_of(fixtures.frame, groups=True, kinds=True), fixtures, corpus)
    (block,) = sums.blocks(len(grid.pairs))
    judged_rows(sums, se.CRITERIA, range(1), block)
    numerators = (sums.rows(name, "all", range(1), block)["numerator"].sum() for name in METRICS)
    return tuple(int(total) for total in numerators)


METRICS = ("top1Accuracy", "noneF1", "agreementRate")
NONE, FLOOR = 1, 3
"""Two odd numbers, as choices of ids are even."""


def judged(none: pl.Expr, winner: pl.Expr) -> list[pl.Expr]:
    """The sums of a fixture's runs that the numerators need."""
    skipped = (pl.col("none_p") >= none) | (pl.col("winner_p") < winner)
    choice = pl.when(pl.col("none_p") >= none).then(NONE).when(skipped).then(FLOOR).otherwise("choice")
    right = (~skipped & pl.col("picked_gold")).sum().cast(pl.Int64)
    abstained = (skipped & pl.col("abstain")).sum().cast(pl.Int64)
    return [
        (right + abstained).alias("top1"),
        (2 * abstained).alias("f1"),
        (choice.min() == choice.max()).cast(pl.Int64).alias("alike"),
    ]


def scored(frame, fixtures, corpus) -> pl.LazyFrame:
    runs = se.score(decided(frame, MOST_INJECTED).lazy(), fixtures, corpus).runs
    return runs.select("fixture", "none_p", "winner_p", "abstain", "picked_gold", "choice").collect().lazy()


def one_pass_a_pair(frame, fixtures, corpus, grid) -> tuple[float, tuple[int, ...]]:
    """Extrapolated where there are more pairs than are timed; then it tells no sums."""
    start = time.perf_counter()
    runs = scored(frame, fixtures, corpus)
    before = time.perf_counter() - start
    some = grid.pairs[:: max(1, len(grid.pairs) // TIMED)]
    if len(grid.pairs) <= SIZES["small"][1] ** 2:
        some = grid.pairs
    start = time.perf_counter()
    totals = np.zeros(len(METRICS), dtype=np.int64)
    for none, winner in some:
        sums = runs.group_by("fixture").agg(judged(pl.lit(none), pl.lit(winner)))
        totals += np.array(sums.select(pl.col("top1", "f1", "alike").sum()).collect().row(0))
    passes = (time.perf_counter() - start) * len(grid.pairs) / len(some)
    return before + passes, tuple(map(int, totals)) if some is grid.pairs or len(some) == len(
        grid.pairs
    ) else ()


def cross_join(frame, fixtures, corpus, grid) -> tuple[int, ...]:
    pairs = pl.LazyFrame(grid.pairs, schema=["none", "winner"], orient="row").with_row_index("pair")
    runs = scored(frame, fixtures, corpus).join(pairs, how="cross")
    sums = runs.group_by("pair", "fixture").agg(judged(pl.col("none"), pl.col("winner")))
    by_pair = sums.group_by("pair").agg(pl.col("top1", "f1", "alike").sum())
    return by_pair.select(pl.col("top1", "f1", "alike").sum()).collect(engine="streaming").row(0)


def work(section: str, name: str) -> None:
    runs, number = SIZES[section]
    frame, fixtures, corpus = make(runs)
    grid = Grid(thresholds(number), thresholds(number))
    # The same small job first, so that nobody pays for imports.
    few = frame.head(REPEATS * 100)
    if name == WHOLE:
        options = {"none_thresholds": grid.none, "winner_floors": grid.winner, "repeat": REPEATS}
        se.sweep(fixtures, corpus, recording=recording_of(few), repeat=REPEATS)
        recording = recording_of(frame)
        start = time.perf_counter()
        se.sweep(fixtures, corpus, recording=recording, **options)
        seconds = time.perf_counter() - start
        measuring.report(lambda: (seconds,), times_itself=True)
        return
    ours(few, fixtures, corpus, Grid(grid.none[:2], grid.winner[:2]))
    if name == LOOP:
        seconds, _ = one_pass_a_pair(frame, fixtures, corpus, grid)
        measuring.report(lambda: (seconds,), times_itself=True)
        return
    contender = {OURS: ours, CROSS: cross_join}[name]
    start = time.perf_counter()
    contender(frame, fixtures, corpus, grid)
    seconds = time.perf_counter() - start
    measuring.report(lambda: (seconds,), times_itself=True)


def check() -> None:
    """All contenders find the same sums on the small size."""
    runs, number = SIZES["small"]
    made = make(runs)
    grid = Grid(thresholds(number), thresholds(number))
    found = {ours(*made, grid), one_pass_a_pair(*made, grid)[1], cross_join(*made, grid)}
    assert len(found) == 1, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=measuring.ROUNDS)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("job", nargs="?")
    given = parser.parse_args()
    if given.job:
        work(*json.loads(given.job))
        return
    measuring.ROUNDS = given.rounds
    check()
    command = [sys.executable, str(Path(__file__).resolve())]
    about = (
        "`python benchmarks/sweeping.py` writes this page. Each contender starts from recorded answers in "
        f"memory ({REPEATS} repeats a fixture, shortlists of {LENGTH}) and includes the scoring of runs; all "
        "find the same sums, which the script checks on the smaller size. The first also holds every pair "
        "against the six built-in criteria; the others only sum three numerators."
    )
    parts = [
        "# Sweeps",
        "",
        about,
        "",
        measuring.facts(),
    ]
    for section, names in SECTIONS.items():
        runs, number = SIZES[section]
        title = f"## {number**2:,} pairs of thresholds over {runs:,} recorded runs"
        if section == "whole":
            title += ", end to end"
        parts += [title, "", measuring.table(command, section, names), ""]
        if section == "large":
            told = (
                f"One pass a pair is timed for {TIMED} of the pairs and extrapolated; the cross join would "
                f"have {number**2 * runs:,} rows and is left to the smaller size."
            )
            parts += [told, ""]
    given.out.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
