"""How many shortlists a second the retriever gives, and what the runner adds, against peers: run by hand.

``python benchmarks/harness.py`` runs every contender in a process of its own, in turn, several times over,
checks that all who follow the same rules find the same, and writes medians to ``benchmarks/harness.md``. Two
sections: MetaTool's prompts over its tools (from the reference data; left out, with a message, where that is
absent) and prompts over a large synthetic corpus. A peer that is not installed is left out, with a message.
``--rounds 1 --prompts 100 --entries 2000 --metatool 1000`` gives a quick look.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

import measuring  # noqa: E402 - found beside this file, as are these
from alternating import once, rounds  # noqa: E402
from plain_retrieval import plain_shortlists  # noqa: E402
from prompts import make_metatool, make_synthetic  # noqa: E402

import skillful_eval as se  # noqa: E402
from skillful_eval.router.bm25 import Bm25Router  # noqa: E402
from skillful_eval.router.quotas import KIND_GROUPS, Quotas  # noqa: E402
from skillful_eval.router.tokens import STOP_WORDS, tokens  # noqa: E402

SLOW = 20.0
"""Seconds from which a contender is slow, and gets fewer rounds."""

WARM = 2.0
"""What takes fewer seconds is timed the second time, when libraries are loaded and expressions compiled."""

SECTIONS = {
    "metatool": ("MetaTool", Quotas(mcp=5)),
    "synthetic": ("synthetic", Quotas()),
}


def read(folder: Path) -> tuple[se.Corpus, se.Fixtures]:
    corpus = se.read_corpus(folder / "corpus.json")
    return corpus, se.read_fixtures(folder / "fixtures.jsonl", corpus)


def entry_texts(folder: Path) -> tuple[list[dict], list[str]]:
    entries = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))["entries"]
    fields = ("name", "description", "whenToUse")
    return entries, [" ".join(entry[field] for field in fields if entry.get(field)) for entry in entries]


# -- contenders: each prepares, and returns a function to time and one that lists the ids it found -----------


def ours(folder, quotas):
    """`Bm25Router.shortlist`: documented tokens, a ranking a quota group, copies collapsed, ties by id."""
    corpus, fixtures = read(folder)
    router, prompts = Bm25Router(corpus, quotas=quotas), fixtures.frame["prompt"]
    return lambda: router.shortlist(prompts), ids_of


def runner(folder, quotas, *, heuristics=True):
    """`run_router` with the same router and one repeat, to a Parquet file of runs."""
    from skillful_eval.runner import run_router

    corpus, fixtures = read(folder)
    router, out = Bm25Router(corpus, quotas=quotas), folder / f"runs-{os.getpid()}.parquet"
    return (
        lambda: run_router(router, fixtures, corpus, out=out, repeat=1, heuristics=heuristics),
        lambda _: ids_of(pl.read_parquet(out)),
    )


def runner_alone(folder, quotas):
    """The same without looking for prompts that need no capability."""
    return runner(folder, quotas, heuristics=False)


def deciding(folder, quotas):
    """The same router's `shortlist` and `decide`, without the runner."""
    corpus, fixtures = read(folder)
    router, prompts = Bm25Router(corpus, quotas=quotas), fixtures.frame["prompt"]

    def work():
        asked = fixtures.frame.select("fixture_id", "prompt", repeat=pl.lit(0, dtype=pl.Int64))
        requests = asked.hstack(router.shortlist(prompts))
        return requests.hstack(router.decide(requests))

    return work, ids_of


def ids_of(shortlists):
    return shortlists["shortlist"].cast(pl.List(pl.String)).to_list()


def bm25s_model(folder, **options):
    import bm25s

    _, texts = entry_texts(folder)
    found = tokens(pl.Series("text", texts))
    lists = token_lists(found, len(texts))
    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75, **options)
    model.index(lists, show_progress=False)
    return bm25s, model


def token_lists(found, count):
    columns = found["token"].to_list()
    ends = np.cumsum(np.bincount(found["text"].to_numpy(), minlength=count)).tolist()
    return [columns[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def prompts_of(folder):
    return pl.read_ndjson(folder / "fixtures.jsonl")["prompt"]


def bm25s_alone(folder, quotas):
    """bm25s: its own `tokenize` and `retrieve`, one ranking of all entries, as many as ours lists at most."""
    library, model = bm25s_model(folder)
    prompts, stop_words = prompts_of(folder).to_list(), sorted(STOP_WORDS)
    k = listed(folder, quotas)

    def work():
        asked = library.tokenize(prompts, stopwords=stop_words, show_progress=False)
        return model.retrieve(asked, k=k, show_progress=False)

    return work, None


def bm25s_ours(folder, quotas):
    """bm25s: `retrieve` with our tokens, the making of which is timed too."""
    _, model = bm25s_model(folder)
    return retrieving(folder, quotas, model), None


def bm25s_numba(folder, quotas):
    """The same with bm25s's compiled backend; compiled before the clock starts."""
    _, model = bm25s_model(folder, backend="numba")
    work = retrieving(folder, quotas, model)
    work()
    return work, None


def retrieving(folder, quotas, model):
    prompts, k = prompts_of(folder), listed(folder, quotas)

    def work():
        asked = token_lists(tokens(prompts), prompts.len())
        return model.retrieve(asked, k=k, show_progress=False)

    return work


def listed(folder, quotas):
    """How many a shortlist of ours has at most: what a ranking without quotas is asked for."""
    entries, _ = entry_texts(folder)
    present = {KIND_GROUPS[entry["kind"]] for entry in entries}
    return min(len(entries), sum(quota for group, quota in quotas.by_group.items() if group in present))


def plain_loop(folder, quotas):
    """A plain Python loop with the same rules: regular expressions, dictionaries of postings, a heap."""
    entries, texts = entry_texts(folder)
    return plain_shortlists(entries, texts, prompts_of(folder).to_list(), quotas), lambda found: found


CONTENDERS = {
    "ours": ours,
    "ours with decisions": deciding,
    "runner": runner,
    "runner without heuristics": runner_alone,
    "bm25s alone": bm25s_alone,
    "bm25s, our tokens": bm25s_ours,
    "bm25s, numba, our tokens": bm25s_numba,
    "plain loop": plain_loop,
}


# -- measuring -----------------------------------------------------------------------------------------------


def timed(work):
    started, used = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - started, time.process_time() - used, found


def measure(name: str, section: str, folder: Path) -> None:
    """In a process of its own: seconds, processor seconds, peak memory, and a digest of what was found."""
    started = time.perf_counter()
    try:
        work, list_ids = CONTENDERS[name](folder, SECTIONS[section][1])
    except ImportError as error:
        print(json.dumps({"absent": str(error).splitlines()[0]}))
        return
    prepared = time.perf_counter() - started
    seconds, processor, found = timed(work)
    if seconds < WARM:
        seconds, processor, found = timed(work)
    mb = measuring._peak() / 1024  # noqa: SLF001 - the benchmarks' own
    digest = hashlib.sha256(json.dumps(list_ids(found)).encode()).hexdigest() if list_ids else ""
    result = {"seconds": seconds, "processor": processor, "mb": mb, "prepared": prepared, "digest": digest}
    print(json.dumps(result))


def agree(results: dict[str, list[dict]]) -> None:
    digests = {one["digest"]: name for name, found in results.items() for one in found if one["digest"]}
    if len(digests) != 1:
        sys.exit(f"the contenders that follow the same rules found different shortlists: {digests}")


def table(results: dict[str, list[dict]], prompts: int) -> str:
    base = statistics.median(one["seconds"] for one in results["ours"])
    lines = [
        "| contender | rounds | a second | seconds, median | range | processor | before | peak MB | / ours |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, found in results.items():
        medians = {
            what: statistics.median(one[what] for one in found)
            for what in ("seconds", "processor", "prepared", "mb")
        }
        seconds = sorted(one["seconds"] for one in found)
        lines.append(
            f"| {name} | {len(found)} | {prompts / medians['seconds']:,.0f} | {medians['seconds']:.3f} "
            f"| {seconds[0]:.3f} to {seconds[-1]:.3f} | {medians['processor']:.3f} "
            f"| {medians['prepared']:.2f} | {medians['mb']:,.0f} | {medians['seconds'] / base:.2f} |"
        )
    return "\n".join(lines)


def added(results: dict[str, list[dict]], name: str) -> str:
    """What the runner adds, round by round."""
    more = [
        ran["seconds"] - alone["seconds"]
        for ran, alone in zip(results.get(name, ()), results["ours"], strict=False)
    ]
    if not more:
        return ""
    extra = statistics.median(more)
    shares = [
        f"{100 * extra / statistics.median(one['seconds'] for one in results[peer]):.0f} % of {peer}"
        for peer in ("ours", "bm25s alone")
        if peer in results
    ]
    return (
        f"\nThe {name} adds {1000 * extra:.0f} ms (median of the rounds; {1000 * min(more):.0f} to "
        f"{1000 * max(more):.0f} ms): {', '.join(shares)}.\n"
    )


def page(sections: list[str]) -> str:
    notes = "\n".join(f"- **{name}**: {work.__doc__.strip()}" for name, work in CONTENDERS.items())
    libraries = ", ".join(f"{name} {version(name)}" for name in ("polars", "numpy", "bm25s"))
    return f"""# Speed of retrieval and of the runner

Written by `python benchmarks/harness.py`. Every contender runs in a process of its own, in turn with the
others. Corpus and prompts are read and indices built before the clock starts ("before", in seconds, with
reading the corpus); all prompts are asked at once. Ours, with and without decisions, the runner and the plain
loop found the same shortlists to the last id; bm25s does less: it knows neither quota groups nor copies, and
leaves equal scores in any order. "processor" is processor seconds, which a busy machine disturbs less; what
takes over {SLOW:.0f} s gets fewer rounds, and what takes less than {WARM:.0f} s is timed the second time.

{chr(10).join(sections)}
{notes}

{libraries}, Python {platform.python_version()}, {os.cpu_count()} processors, {platform.system()}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metatool", type=int, default=21_631, help="MetaTool's prompts")
    parser.add_argument("--prompts", type=int, default=1_000, help="synthetic prompts")
    parser.add_argument("--entries", type=int, default=26_000, help="synthetic entries")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-rounds", type=int, default=2, help=f"rounds of what takes over {SLOW:.0f} s")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--one", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--section", choices=SECTIONS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.section, options.folder)
        return
    sections = []
    for section, (title, quotas) in SECTIONS.items():
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            if section == "synthetic":
                make_synthetic(folder, options.prompts, options.entries)
            elif missing := make_metatool(folder, options.metatool):
                print(f"{title}: left out ({missing})", flush=True)
                continue
            asked = ("--section", section, "--folder", str(folder))
            results = rounds(
                CONTENDERS,
                lambda name, asked=asked: once([__file__, "--one", name, *asked]),
                count=options.rounds,
                slow_count=options.slow_rounds,
                slow=SLOW,
            )
            corpus, fixtures = read(folder)
        agree(results)
        prompts, entries = fixtures.frame.height, corpus.entries.height
        sections.append(
            f"## {prompts:,} {title} prompts over {entries:,} entries, quotas {quotas.text}\n\n"
            f"{table(results, prompts)}\n"
            f"{added(results, 'runner')}{added(results, 'runner without heuristics')}"
        )
    text = page(sections)
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
