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
import heapq
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter, defaultdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

import measuring  # noqa: E402 - found beside this file

import skillful_eval as se  # noqa: E402
from skillful_eval.router.bm25 import Bm25Router  # noqa: E402
from skillful_eval.router.quotas import KIND_GROUPS, Quotas  # noqa: E402
from skillful_eval.router.tokens import STOP_WORDS, tokens  # noqa: E402

SLOW = 20.0
"""Seconds from which a contender is slow, and gets fewer rounds."""

SECTIONS = {
    "metatool": ("MetaTool", Quotas(mcp=5)),
    "synthetic": ("synthetic", Quotas()),
}


# -- data ----------------------------------------------------------------------------------------------------


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


WORD = re.compile(r"[^\W_]+")
CAMEL, ACRONYM = re.compile(r"([^\W\d_A-Z]|\d)([A-Z])"), re.compile(r"([A-Z])([A-Z][a-z])")
SUFFIX = re.compile(r"\.(?:md|markdown|toml|json|yaml|yml|txt)\s*$", re.IGNORECASE)


def plain_tokens(text):
    text = SUFFIX.sub("", unicodedata.normalize("NFC", text))
    text = ACRONYM.sub(r"\1 \2", CAMEL.sub(r"\1 \2", text)).lower()
    return [word for word in WORD.findall(text) if word not in STOP_WORDS]


def plain_index(members):
    """The postings of a group, in the order of its ids."""
    lengths = [counts.total() for _, counts in members]
    average, holders, postings = sum(lengths) / len(members), Counter(), defaultdict(list)
    for _, counts in members:
        holders.update(counts.keys())
    for place, ((_, counts), length) in enumerate(zip(members, lengths, strict=True)):
        for term, f in counts.items():
            rarity = math.log(1 + (len(members) - holders[term] + 0.5) / (holders[term] + 0.5))
            postings[term].append((place, rarity * (f / (1.2 * (0.25 + 0.75 * length / average) + f))))
    return postings


def plain_best(asked, quota, members, postings):
    """The picks of a group."""
    scores = defaultdict(float)
    for term in asked:
        for place, score in postings.get(term, ()):
            scores[place] += score
    heap = [(-score, place) for place, score in scores.items()]
    heapq.heapify(heap)
    zeros = (place for place in range(len(members)) if place not in scores)
    seen, picks = set(), []
    while len(picks) < quota:
        score, place = heapq.heappop(heap) if heap else (0.0, next(zeros, None))
        if place is None:
            break
        entry = members[place][0]
        if (entry["kind"], entry["description"]) not in seen:
            seen.add((entry["kind"], entry["description"]))
            picks.append((score, entry["id"]))
    return picks


def plain_loop(folder, quotas):
    """A plain Python loop with the same rules: regular expressions, dictionaries of postings, a heap."""
    entries, texts = entry_texts(folder)
    prompts, groups = prompts_of(folder).to_list(), defaultdict(list)
    for entry, text in sorted(zip(entries, texts, strict=True), key=lambda pair: pair[0]["id"]):
        groups[KIND_GROUPS[entry["kind"]]].append((entry, Counter(plain_tokens(text))))
    indices = [(quotas[group], members, plain_index(members)) for group, members in groups.items()]

    def work():
        found = []
        for prompt in prompts:
            asked = plain_tokens(prompt)
            picks = [pick for one in indices for pick in plain_best(asked, *one)]
            found.append([name for _, name in sorted(picks)])
        return found

    return work, lambda found: found


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


def measure(name: str, section: str, folder: Path) -> None:
    """In a process of its own: seconds, processor seconds, peak memory, and a digest of what was found."""
    started = time.perf_counter()
    try:
        work, list_ids = CONTENDERS[name](folder, SECTIONS[section][1])
    except ImportError as error:
        print(json.dumps({"absent": str(error).splitlines()[0]}))
        return
    prepared = time.perf_counter() - started
    started, used = time.perf_counter(), time.process_time()
    found = work()
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    mb = measuring._peak() / 1024  # noqa: SLF001 - the benchmarks' own
    digest = hashlib.sha256(json.dumps(list_ids(found)).encode()).hexdigest() if list_ids else ""
    result = {"seconds": seconds, "processor": processor, "mb": mb, "prepared": prepared, "digest": digest}
    print(json.dumps(result))


def once(name: str, section: str, folder: Path) -> dict[str, float | str]:
    command = [sys.executable, __file__, "--one", name, "--section", section, "--folder", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"absent": f"failed: {last}"}
    return json.loads(done.stdout.splitlines()[-1])


def rounds(section: str, folder: Path, count: int, slow_count: int) -> dict[str, list[dict]]:
    results: dict[str, list[dict]] = {name: [] for name in CONTENDERS}
    absent: set[str] = set()
    for number in range(count):
        for name, found in results.items():
            slow = bool(found) and found[0]["seconds"] > SLOW
            if name in absent or (slow and number >= slow_count):
                continue
            one = once(name, section, folder)
            if "absent" in one:
                absent.add(name)
                print(f"{section}: {name}: left out ({one['absent']})", flush=True)
                continue
            found.append(one)
            print(f"{section} {number + 1}: {name}: {one['seconds']:.3f} s, {one['mb']:,.0f} MB", flush=True)
    return {name: found for name, found in results.items() if found}


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
    ratios = sorted(
        100 * (ran["seconds"] / alone["seconds"] - 1)
        for ran, alone in zip(results.get(name, ()), results["ours"], strict=False)
    )
    if not ratios:
        return ""
    return (
        f"\nThe {name} adds {statistics.median(ratios):.0f} % to what the shortlists cost (median of the "
        f"rounds; {ratios[0]:.0f} to {ratios[-1]:.0f} %).\n"
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
takes over {SLOW:.0f} s gets fewer rounds.

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
            results = rounds(section, folder, options.rounds, options.slow_rounds)
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
