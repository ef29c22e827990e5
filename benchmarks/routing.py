"""How long routing runs take to become a report, against peers: run by hand.

``python benchmarks/routing.py`` makes the data, runs every contender in a process of its own, in turn,
several times over, checks that all find the same, and writes medians to ``benchmarks/routing.md``. A peer
that is not installed is left out, with a message. ``--runs 20000`` gives a quick look.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

from alternating import once, rounds  # noqa: E402 - found beside this file
from routing_data import CONFIGS, GOLDS, LENGTH, REPEATS, make  # noqa: E402

SLOW = 30.0
"""Seconds from which a contender is slow, and gets fewer rounds."""


def golds_of(folder: Path) -> pl.DataFrame:
    return pl.read_ndjson(folder / "fixtures.jsonl").select(fixture_id="id", gold="gold")


# -- contenders: each is given the folder, prepares what is common, and returns a function to time -----------
# Every timed function returns (runs with a hit, sum of reciprocal ranks).


def bare(folder):
    """The comparison alone: coded ids, one unrolled expression; hits, reciprocal ranks and golds found."""
    golds = golds_of(folder)
    ids = pl.read_parquet_schema(folder / "coded.parquet")["shortlist"].inner
    expected = golds.select(
        "fixture_id",
        *(pl.col("gold").list.get(i, null_on_oob=True).cast(ids).alias(f"g{i}") for i in range(GOLDS)),
    )

    def work():
        place = [pl.col("shortlist").list.get(i, null_on_oob=True) for i in range(LENGTH)]
        hits = [pl.any_horizontal(one == pl.col(f"g{g}") for g in range(GOLDS)) for one in place]
        rank = pl.coalesce(*(pl.when(hit).then(pl.lit(i, pl.UInt8)) for i, hit in enumerate(hits, 1)))
        found = sum(
            pl.any_horizontal(one == pl.col(f"g{g}") for one in place).fill_null(value=False).cast(pl.UInt8)
            for g in range(GOLDS)
        )
        counts = (
            pl.scan_parquet(folder / "coded.parquet")
            .select("fixture_id", "shortlist")
            .join(expected.lazy(), on="fixture_id", how="left")
            .select(rank=rank, found=found)
            .group_by("rank")
            .agg(pl.len(), pl.col("found").cast(pl.Int64).sum())
            .filter(pl.col("rank").is_not_null())
            .collect(engine="streaming")
        )
        return counts["len"].sum(), (counts["len"] / counts["rank"]).sum()

    return work


def ours(folder, kind):
    import skillful_eval as se

    corpus = se.read_corpus(folder / "corpus.json")
    fixtures = se.read_fixtures(folder / "fixtures.jsonl", corpus)

    def work():
        scored = se.score(se.scan_runs(folder / f"{kind}.parquet"), fixtures, corpus)
        found = se.report(scored).filter(scope="all")
        return tuple(found.filter(metric=name)["numerator"].sum() for name in ("recall@K", "MRR"))

    return work


def two_metrics(folder):
    """Scored runs and the two metrics alone: contract checked, every quantity of a run taken; coded ids."""
    import skillful_eval as se

    corpus = se.read_corpus(folder / "corpus.json")
    fixtures = se.read_fixtures(folder / "fixtures.jsonl", corpus)

    def work():
        scored = se.score(se.scan_runs(folder / "coded.parquet"), fixtures, corpus)
        ranks = scored.runs.filter(pl.col("rank").is_not_null()).group_by("rank").len().collect()
        return ranks["len"].sum(), (ranks["len"] / ranks["rank"]).sum()

    return work


def report_coded(folder):
    """The whole report, contract checked: both layers, by group and kind, stability, latency; coded ids."""
    return ours(folder, "coded")


def report_text(folder):
    """The same with ids as text."""
    return ours(folder, "text")


def numpy_flat(folder):
    """numpy on flat arrays of codes."""
    golds = golds_of(folder)
    ids = pl.read_parquet_schema(folder / "coded.parquet")["shortlist"].inner
    fixtures = pl.Enum(golds["fixture_id"])
    table = np.full((golds.height, GOLDS), -1, dtype=np.int64)
    for i in range(GOLDS):
        column = golds["gold"].list.get(i, null_on_oob=True).cast(ids).to_physical().cast(pl.Int64)
        table[:, i] = column.fill_null(-1).to_numpy()

    def work():
        frame = pl.read_parquet(folder / "coded.parquet", columns=["fixture_id", "shortlist"])
        codes = frame["shortlist"].list.explode().to_physical().to_numpy().reshape(-1, LENGTH)
        expected = table[frame["fixture_id"].cast(fixtures).to_physical().to_numpy()]
        hit = np.zeros(codes.shape, dtype=bool)
        for i in range(GOLDS):
            hit |= codes == expected[:, i : i + 1]
        found = hit.any(axis=1)
        return int(found.sum()), float((1 / (hit.argmax(axis=1)[found] + 1)).sum())

    return work


def plain_loop(folder):
    """A loop over rows, sets of golds."""
    golds = {row["fixture_id"]: set(row["gold"]) for row in golds_of(folder).to_dicts()}

    def work():
        frame = pl.read_parquet(folder / "text.parquet", columns=["fixture_id", "shortlist"])
        hits, reciprocal = 0, 0.0
        for fixture, shortlist in frame.iter_rows():
            expected = golds[fixture]
            for place, one in enumerate(shortlist, 1):
                if one in expected:
                    hits += 1
                    reciprocal += 1 / place
                    break
        return hits, reciprocal

    return work


def as_dicts(folder):
    golds = {row["fixture_id"]: dict.fromkeys(row["gold"], 1) for row in golds_of(folder).to_dicts()}
    frame = pl.read_parquet(folder / "text.parquet", columns=["fixture_id", "shortlist"])
    qrels, run = {}, {}
    for number, (fixture, shortlist) in enumerate(frame.iter_rows()):
        query = str(number)
        qrels[query] = golds[fixture]
        run[query] = {one: float(LENGTH - place) for place, one in enumerate(shortlist)}
    return qrels, run


def pytrec_eval(folder):
    """pytrec_eval: success and reciprocal rank, with the dictionaries that it takes."""
    import pytrec_eval as peer

    def work():
        qrels, run = as_dicts(folder)
        found = peer.RelevanceEvaluator(qrels, {f"success.{LENGTH}", "recip_rank"}).evaluate(run).values()
        return sum(one[f"success_{LENGTH}"] for one in found), sum(one["recip_rank"] for one in found)

    return work


def ir_measures(folder):
    """ir_measures: Success@15 and RR, with the dictionaries that it takes."""
    import ir_measures as peer

    success, rank = peer.Success @ LENGTH, peer.RR

    def work():
        qrels, run = as_dicts(folder)
        found = peer.calc_aggregate([success, rank], qrels, run)
        return found[success] * len(run), found[rank] * len(run)

    return work


def ranx(folder):
    """ranx: hit rate and reciprocal rank, with its own Qrels and Run; compiled before the clock starts."""
    import ranx as peer

    metrics = [f"hit_rate@{LENGTH}", "mrr"]
    # Compiling takes it longer than the work; it is done once, before the clock starts.
    peer.evaluate(peer.Qrels({"q": {"a": 1}}), peer.Run({"q": {"a": 1.0}}), metrics)

    def work():
        qrels, run = as_dicts(folder)
        found = peer.evaluate(peer.Qrels(qrels), peer.Run(run), metrics)
        return found[metrics[0]] * len(run), found["mrr"] * len(run)

    return work


CONTENDERS = {
    "bare expression": bare,
    "recall and MRR alone": two_metrics,
    "report, coded ids": report_coded,
    "report, ids as text": report_text,
    "numpy, flat arrays": numpy_flat,
    "plain loop": plain_loop,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}


# -- measuring -----------------------------------------------------------------------------------------------


def measure(name: str, folder: Path) -> None:
    """In a process of its own: seconds, processor seconds, peak memory, and what was found."""
    try:
        work = CONTENDERS[name](folder)
    except ImportError as error:
        print(json.dumps({"absent": str(error)}))
        return
    started, used = time.perf_counter(), time.process_time()
    hits, reciprocal = work()
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    print(
        json.dumps(
            {
                "seconds": seconds,
                "processor": processor,
                "mb": peak_mb(),
                "hits": float(hits),
                "rr": float(reciprocal),
            }
        )
    )


def peak_mb() -> float:
    """The most memory that this process has held; what its parent held before it is left aside."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def agree(results: dict[str, list[dict[str, float]]]) -> None:
    expected = results["bare expression"][0]
    for name, found in results.items():
        for one in found:
            assert abs(one["hits"] - expected["hits"]) < 0.5, (name, one, expected)
            assert abs(one["rr"] - expected["rr"]) < 1e-6 * expected["rr"], (name, one, expected)


def table(results: dict[str, list[dict[str, float]]]) -> str:
    def median(name, what):
        return statistics.median(one[what] for one in results[name])

    of = ("bare expression", "recall and MRR alone", "report, coded ids")
    others = [median(name, "seconds") for name in of]
    lines = [
        "| contender | rounds | seconds (median) | range | processor | peak MB | / bare | / two | / report |",
        "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in results.items():
        seconds = sorted(one["seconds"] for one in found)
        lines.append(
            f"| {name} | {len(found)} | {median(name, 'seconds'):.2f} "
            f"| {seconds[0]:.2f} to {seconds[-1]:.2f} "
            f"| {median(name, 'processor'):.2f} | {median(name, 'mb'):,.0f} "
            f"| {' | '.join(format(median(name, 'seconds') / other, '.1f') for other in others)} |"
        )
    return "\n".join(lines)


def page(results: dict[str, list[dict[str, float]]], runs: int) -> str:
    notes = "\n".join(f"- **{name}**: {CONTENDERS[name].__doc__.strip()}" for name in results)
    return f"""# Speed of routing reports

Written by `python benchmarks/routing.py`: {runs:,} runs with shortlists of {LENGTH} and 1 to {GOLDS} golds
a fixture, {CONFIGS} configurations with {REPEATS} repeats each, from Parquet. Every contender runs in a
process of its own, in turn with the others; corpus and fixtures are read before the clock starts. All
contenders found the same number of hits and the same sum of reciprocal ranks. Our report does far more than
these two. The last three columns divide the median seconds by those of the bare expression, of recall and MRR
alone, and of our report on coded ids; "processor" is processor seconds, which a busy machine disturbs less.
What takes over {SLOW:.0f} s gets fewer rounds.

{table(results)}

{notes}

Polars {pl.__version__}, Python {platform.python_version()}, {os.cpu_count()} processors, {platform.system()}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--ids", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-rounds", type=int, default=2, help=f"rounds of what takes over {SLOW:.0f} s")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--one", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.folder)
        return
    if options.folder:
        make(options.folder, options.runs, options.ids)
        return
    with tempfile.TemporaryDirectory() as home:
        # In a process of its own, so that its memory is free again for the contenders.
        sizes = ["--runs", str(options.runs), "--ids", str(options.ids)]
        subprocess.run([sys.executable, __file__, "--folder", home, *sizes], check=True)
        results = rounds(
            CONTENDERS,
            lambda name: once([__file__, "--one", name, "--folder", home]),
            count=options.rounds,
            slow_count=options.slow_rounds,
            slow=SLOW,
        )
    agree(results)
    text = page(results, options.runs)
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
