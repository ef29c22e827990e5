"""Run a router over fixtures: every prompt shortlisted once, every repeat decided, the runs written whole."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.router.protocol import BATCHED, OUTCOMES, shortlist_schema
from skillful_eval.runner_checks import checked_pieces, checked_shortlists
from skillful_eval.runner_metadata import config_name, metadata
from skillful_eval.runner_parts import ROW, open_parts
from skillful_eval.runner_summary import RunSummary, summarise
from skillful_eval.schema import CONFIG, SKIPPED
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures
    from skillful_eval.router.protocol import Router
    from skillful_eval.runner_parts import Parts

KEEP_EVERY_S = 1.0
"""Decisions are kept so often, as far as the router hands them over."""


def run_router(
    router: Router,
    fixtures: Fixtures,
    corpus: Corpus,
    *,
    out: str | PathLike[str],
    repeat: int = 3,
    heuristics: bool = True,
    config: str | None = None,
    tuned_on: str | None = None,
    facts: Mapping[str, str] = MappingProxyType({}),
    packages: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
    written: Callable[[], object] | None = None,
    keep_every_s: float = KEEP_EVERY_S,
) -> RunSummary:
    """Run a router over fixtures and write the runs.

    While it runs, what was decided is kept in whole parts in the folder ``<out>.parts``; after an
    interruption, a kill too, the same call decides only what is missing. At the end the runs are put in
    place of ``out`` at once, and the parts are removed. The same decisions give the same bytes, however
    often it was interrupted, apart from the time in ``made_at``, which the environment's
    ``SOURCE_DATE_EPOCH`` sets.

    Args:
        router: The router.
        fixtures: The fixtures, resolved in the corpus.
        corpus: The corpus that the router chooses from.
        out: The Parquet file that is written.
        repeat: How many times every fixture is decided, from 1.
        heuristics: Whether prompts that need no capability (:mod:`skillful_eval.router.heuristics`) are
            skipped before the router is asked; they keep their shortlist. Where the router tells latencies
            and tokens, a skipped run has its share of the look at all prompts, and no tokens.
        config: The name of the configuration; by default one made of the router's settings.
        tuned_on: The names or digests of the sets that the configuration was tuned on, with commas.
        facts: What else tells this run from another, names and values, such as the digest of the recording
            that answers; written beside the router's settings.
        packages: Names of installed packages whose versions the file tells, beside this one and Polars.
        progress: Is told how many runs are decided, of how many, as they are.
        written: Is called when the file is in place and the parts are still there.
        keep_every_s: How many seconds of decisions a kill may lose, of those that the router has handed over:
            at once where it streams (:class:`~skillful_eval.router.protocol.StreamingRouter`), else at the
            end of every slice. An interruption loses none of these.

    Returns:
        What was decided, counted. The file has one row a fixture and repeat, in the fixtures' order:
        ``fixture_id`` (text), ``repeat`` (Int64, from 0), ``shortlist`` (list of Enum, the corpus' ids),
        the columns of :data:`skillful_eval.router.protocol.OUTCOMES`, and ``config`` (text).
        ``decision`` is null throughout where the router only retrieves. ``latency_ms`` is null where
        ``latency_reason`` says why. Its key-value metadata has what
        :data:`skillful_eval.schema.PROVENANCE` names, ``configuration``, ``versions``, ``latency`` (JSON)
        and ``made_at`` (UTC); where the fixtures came from one regular file also ``fixture_file`` (its name,
        no folders) and ``fixture_file_digest`` (``sha256:`` of its bytes), which a run that goes on need not
        share with its beginning.

    Raises:
        UsageError: An argument cannot be used; the parts are those of another run or of one that is going
            on; the router gives something other than shortlists and decisions.
        InputError: The file cannot be written; where that can be found out at the start, it is.

    Example:
        >>> import tempfile
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> from skillful_eval.router.bm25 import Bm25Router
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     summary = run_router(Bm25Router(corpus), holdout, corpus, out=f"{folder}/runs.parquet")
        >>> summary.runs, summary.degraded
        (75, 0)
    """
    _check(fixtures, corpus, repeat, config, tuned_on)
    settings = dict(router.settings)
    name = config or config_name(settings, heuristics=heuristics)
    told = metadata(
        fixtures,
        corpus,
        settings=settings,
        repeat=repeat,
        heuristics=heuristics,
        facts=facts,
        tuned_on=tuned_on,
        packages=packages,
    )
    run = {
        **{f"router.{key}": value for key, value in settings.items()},
        **facts,
        "fixture_set": fixtures.name,
        "fixture_digest": fixtures.digest,
        "fixture_order": _order(fixtures),
        "corpus_digest": corpus.digest,
        "repeat": str(repeat),
        "heuristics": str(heuristics),
        "config": name,
        "tuned_on": tuned_on or "",
    }
    with open_parts(out, run) as parts:
        requests, skipped, skipping_ms = _requests(
            router, fixtures, corpus, repeat, parts, heuristics=heuristics
        )
        before = parts.done.height
        outcomes = _decided(
            router,
            corpus,
            requests,
            skipped,
            parts,
            skipping_ms=skipping_ms,
            progress=progress,
            keep_every_s=keep_every_s,
        )
        ids = pl.Series(CONFIG, [name]).new_from_index(0, requests.height)
        runs = requests.select("fixture_id", "repeat", "shortlist").hstack([*outcomes.get_columns(), ids])
        latency = {"latency": json.dumps(_latency(runs), sort_keys=True)}
        parts.finish(runs, told | latency)
        if written is not None:
            written()
        parts.clear()
    return summarise(runs, parts.out, fixtures=fixtures.frame.height, resumed=before)


def _check(fixtures: Fixtures, corpus: Corpus, repeat: int, config: str | None, tuned_on: str | None) -> None:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise UsageError(f"repeat: found {shorten(repeat)}, expected a whole number from 1")
    for name, text in (("config", config), ("tuned_on", tuned_on)):
        if text is not None and not text.strip():
            raise UsageError(f"{name}: found {shorten(text)}, expected a name")
    if fixtures.corpus is not corpus and fixtures.corpus.digest != corpus.digest:
        raise UsageError(
            f"{fixtures.name}: resolved in the corpus {fixtures.corpus.source}, not in {corpus.source}; "
            "read the fixtures with the corpus that they are run with"
        )


def _order(fixtures: Fixtures) -> str:
    """Parts number the runs, so the fixtures' order, which their digest does not cover, matters too."""
    text = json.dumps(fixtures.frame["fixture_id"].to_list())
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _requests(
    router: Router, fixtures: Fixtures, corpus: Corpus, repeat: int, parts: Parts, *, heuristics: bool
) -> tuple[pl.DataFrame, pl.Series, float]:
    """One row a run with its shortlist; why heuristics skip it (null where it is to be decided); their time.

    The time is in milliseconds a prompt.
    """
    prompts = fixtures.frame.select("fixture_id", "prompt")
    distinct = prompts.select(pl.col("prompt").unique(maintain_order=True))
    schema = shortlist_schema(corpus)
    shortlists = parts.shortlists(schema, distinct.height)
    if shortlists is None:
        shortlists = checked_shortlists(router, router.shortlist(distinct["prompt"]), distinct.height, schema)
        if router.batch is not None:
            parts.keep_shortlists(shortlists)
    which = pl.int_range(prompts.height, dtype=pl.UInt32, eager=True)
    if distinct.height < prompts.height:
        numbered = distinct.with_row_index("which")
        which = prompts.join(numbered, on="prompt", how="left", maintain_order="left")["which"]
    reasons = pl.Series("reason", [None], dtype=pl.String).new_from_index(0, prompts.height)
    began = time.perf_counter()
    if heuristics:
        from skillful_eval.router.heuristics import heuristic

        reasons = heuristic(distinct["prompt"]).cast(pl.String).gather(which)
    skipping_ms = (time.perf_counter() - began) * 1000 / prompts.height
    fixture = pl.int_range(prompts.height * repeat, eager=True) // repeat
    numbers = pl.int_range(prompts.height * repeat, eager=True) % repeat
    requests = prompts[fixture].hstack([numbers.cast(pl.Int64).alias("repeat")])
    requests = requests.hstack(shortlists[which.gather(fixture)].get_columns())
    return requests, reasons.gather(fixture), skipping_ms


def _decided(
    router: Router,
    corpus: Corpus,
    requests: pl.DataFrame,
    skipped: pl.Series,
    parts: Parts,
    *,
    skipping_ms: float,
    progress: Callable[[int, int], None] | None,
    keep_every_s: float,
) -> pl.DataFrame:
    """The outcome of every request, in order."""
    rows = pl.DataFrame({ROW: pl.int_range(requests.height, dtype=pl.UInt32, eager=True), "reason": skipped})
    passed = rows.filter(pl.col("reason").is_null())
    missing = passed[ROW]
    if parts.done.height:
        missing = missing.filter(~missing.is_in(parts.done[ROW].implode()))
    total = passed.height
    if progress is not None:
        progress(total - missing.len(), total)
    # A router that takes all at once is through at once: that is written as the output itself.
    keeps = router.batch is not None
    slices, pending, kept_at = [parts.done], [], time.monotonic()
    asked = requests if missing.len() == requests.height else requests[missing]
    done = total - missing.len()
    try:
        with closing(checked_pieces(router, asked, corpus)) as pieces:
            for numbers, outcomes in pieces:
                if numbers.len():
                    pending.append(outcomes.insert_column(0, missing.gather(numbers)))
                if keeps and pending and time.monotonic() - kept_at >= keep_every_s:
                    slices.append(pl.concat(pending))
                    parts.keep(slices[-1])
                    pending, kept_at = [], time.monotonic()
                if progress is not None and numbers.len():
                    done += numbers.len()
                    progress(done, total)
    finally:
        if pending:
            slices.append(pl.concat(pending))
            if keeps:
                parts.keep(slices[-1])
    decided = pl.concat(slices)
    return _complete(router, rows, decided if decided[ROW].is_sorted() else decided.sort(ROW), skipping_ms)


def _complete(router: Router, rows: pl.DataFrame, decided: pl.DataFrame, skipping_ms: float) -> pl.DataFrame:
    """Put what heuristics skip between what was decided; a router that decides nothing skips nothing."""
    undecided = decided["decision"].null_count()
    if 0 < undecided < decided.height:
        raise UsageError(
            f"{type(router).__name__}.decide: found no decision in {undecided:,} of {decided.height:,} runs, "
            "expected one in every run, or in none where it only retrieves; a failure is degraded"
        )
    decided = decided.select(OUTCOMES.names())
    if decided.height == rows.height:
        return decided
    retrieves = decided.height > 0 and undecided == decided.height
    passed = rows["reason"].is_null()
    alone = rows.filter(~passed).with_columns(
        decision=pl.lit(None if retrieves else SKIPPED, dtype=OUTCOMES["decision"]),
        reason=pl.lit(None, dtype=pl.String) if retrieves else pl.col("reason"),
        **_costs_of_asking_nothing(decided, skipping_ms),
    )
    both = pl.concat([decided, alone.drop(ROW)], how="diagonal")
    # The place of each run in that: the decided ones come first, then the skipped ones, each in order.
    place = pl.when("passed").then(pl.col("passed").cum_sum() - 1)
    other = decided.height + (~pl.col("passed")).cum_sum() - 1
    return both[pl.DataFrame({"passed": passed}).select(place.otherwise(other)).to_series()]


def _costs_of_asking_nothing(decided: pl.DataFrame, skipping_ms: float) -> dict[str, pl.Expr]:
    """What a skipped run costs, of what others tell: its share of the look at all prompts, and no tokens."""
    counts = (name for name in ("tokens_in", "tokens_out") if decided[name].count())
    costs = {name: pl.lit(0, dtype=OUTCOMES[name]) for name in counts}
    if decided["latency_ms"].count():
        return costs | {"latency_ms": pl.lit(skipping_ms, dtype=OUTCOMES["latency_ms"])}
    reasons = decided["latency_reason"].drop_nulls()
    return costs | {"latency_reason": pl.lit(reasons[0] if reasons.len() else BATCHED)}


def _latency(runs: pl.DataFrame) -> dict[str, Any]:
    """How many runs have a latency, and why others have none."""
    why = pl.col("latency_reason").fill_null("not measured")
    counted = runs.group_by(
        pl.when(pl.col("latency_ms").is_null()).then(why).otherwise(pl.lit("measured")).alias("latency")
    ).agg(pl.len().cast(pl.Int64))
    return dict(counted.sort("latency").rows())
