"""Misses: the runs that went wrong, each with what went wrong first on its way from prompt to pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.gold import resolve
from skillful_eval.keys import report_keys
from skillful_eval.schema import DEGRADED, INJECTED, RUNS, SKIPPED
from skillshift.frame.contract import collect
from skillshift.frame.errors import InputError, shorten
from skillshift.frame.lines import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored

NOT_OFFERED, NOT_CHOSEN, ABSTAINED, PICKED, FAILED = MISSES = (
    "gold-not-offered",
    "gold-not-chosen",
    "abstained-wrongly",
    "picked-wrongly",
    "degraded",
)
"""What can go wrong, in the order in which it is asked; the first that holds is named."""

MEANINGS = {
    NOT_OFFERED: "no gold was in the shortlist",
    NOT_CHOSEN: "a gold was in the shortlist, something else was chosen",
    ABSTAINED: "a gold was in the shortlist, the router abstained",
    PICKED: "the router must abstain, something was chosen",
    FAILED: "no decision, because something failed",
}

SCORES = "scores"
"""The column of the runs that may hold what retrieval scored, also beyond the shortlist: a list of ``id`` and
``score``; in JSON Lines a list of objects."""

_SCORED_ID = pl.List(pl.Struct({"id": pl.String(), "score": pl.Float64()}))

_WHAT = "a list of objects with id (text) and score (number)"

_ELEMENTS = 5_000_000
"""How many scores are ranked at a time; more would only cost memory."""


def misses(scored: Scored, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Every run that went wrong, and why.

    Args:
        scored: Scored runs. Where they have a column ``scores`` (list of ``id`` (text) and ``score``
            (number), the higher the better; in JSON Lines a list of objects) with what retrieval scored, the
            rank that the gold would have had is told.
        by: The columns that tell configurations apart, as :func:`skillful_eval.report` takes them.

    Returns:
        One row a run that went wrong, sorted by key, miss, fixture and repeat: the keys; ``miss`` (text: the
        first of :data:`MISSES` that holds); ``fixture_id``, ``group`` (text); ``repeat`` (Int64); ``gold``
        (list of text, as written); ``rank`` (UInt32, the first gold's place in the shortlist, null where none
        is there); ``would_rank`` (Int64, the first gold's place among all that was scored, ties by id; null
        where the gold was offered, not scored, or no scores were recorded); ``decision``, ``chosen``,
        ``reason``, ``prompt`` (text). Runs of a configuration that only retrieves can only lack the gold. A
        run that picked a gold which its shortlist did not offer is listed: retrieval missed it all the same.

    Raises:
        InputError: ``scores`` is not such a list, or a score is no finite number.
        UsageError: As :func:`skillful_eval.report`.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> scored = se.score(se.scan_runs(datasets.path("routing/runs/holdout.parquet")), holdout, corpus)
        >>> found = misses(scored).filter(config="wide-20")
        >>> found["miss"].value_counts(sort=True).rows()
        [('gold-not-offered', 6), ('gold-not-chosen', 1)]
    """
    keys = report_keys(scored, by)
    schema = scored.runs.collect_schema()
    scores = [SCORES] if schema.get(SCORES, pl.Null()) != pl.Null() else []
    missed = collect(
        scored.runs.with_row_index("_run")
        .with_columns(_miss().alias("miss"))
        .filter(pl.col("miss").is_not_null())
        .select("_run", *keys, "miss", "fixture", "fixture_id", "group", "repeat", "rank", *_DECIDED, *scores)
    )
    would = (
        _would_rank(missed, scored) if scores else missed.select("_run", would_rank=pl.lit(None, pl.Int64))
    )
    of_fixture = scored.fixtures.with_row_index("fixture").select("fixture", "gold", "prompt")
    place = pl.col("miss").cast(pl.Enum(MISSES))
    return (
        missed.join(would, on="_run", how="left")
        .join(of_fixture, on="fixture", how="left")
        .sort(*keys, place, "fixture", "repeat", "_run")
        .select(*keys, *_OWN)
    )


_DECIDED = ("decision", "chosen", "reason")
_OWN = (
    "miss",
    "fixture_id",
    "group",
    "repeat",
    "gold",
    "rank",
    "would_rank",
    *_DECIDED,
    "prompt",
)


def _miss() -> pl.Expr:
    """What went wrong first, else null."""
    answerable, decision = ~pl.col("abstain"), pl.col("decision")
    cases = {
        NOT_OFFERED: answerable & pl.col("rank").is_null(),
        NOT_CHOSEN: answerable & (decision == INJECTED) & ~pl.col("picked_gold"),
        ABSTAINED: answerable & (decision == SKIPPED),
        PICKED: pl.col("abstain") & (decision == INJECTED),
        FAILED: decision == DEGRADED,
    }
    return pl.coalesce(pl.when(cases[miss]).then(pl.lit(miss)) for miss in MISSES)


def _would_rank(missed: pl.DataFrame, scored: Scored) -> pl.DataFrame:
    """The rank of the first gold among everything that was scored, of the runs that did not offer it."""
    told = missed.filter((pl.col("miss") == NOT_OFFERED) & pl.col(SCORES).is_not_null())
    try:
        lacking = told.select("_run", "fixture", "fixture_id", "repeat", _decoded(missed.schema[SCORES]))
    except pl.exceptions.ComputeError as error:
        raise InputError(f"{RUNS.name}: {SCORES}: {first_line(error)}; expected {_WHAT}") from error
    _check(lacking)
    golds = resolve(scored.fixtures, scored.provenance.corpus.entries).select("fixture", "id")
    elements = int(lacking[SCORES].list.len().sum())
    rows = max(1, lacking.height * _ELEMENTS // max(elements, 1))
    parts = [_ranked(part, golds) for part in lacking.iter_slices(rows)]
    return pl.concat(parts) if parts else _ranked(lacking, golds)


def _ranked(lacking: pl.DataFrame, golds: pl.DataFrame) -> pl.DataFrame:
    exploded = lacking.explode(SCORES, empty_as_null=False).unnest(SCORES)
    # An id that was scored twice stands at its better place.
    best = exploded.group_by("_run", "fixture", "id").agg(pl.col("score").max())
    better = pl.struct(-pl.col("score"), "id").rank("ordinal").over("_run").cast(pl.Int64)
    return (
        best.with_columns(better.alias("would_rank"))
        .join(golds, on=["fixture", "id"])
        .group_by("_run")
        .agg(pl.col("would_rank").min())
    )


def _check(lacking: pl.DataFrame) -> None:
    one = pl.element().struct
    wrong = (one["id"].is_null() | one["score"].is_null() | ~one["score"].is_finite()).any()
    bad = lacking.filter(pl.col(SCORES).list.eval(wrong).list.first())
    if bad.height:
        fixture, repeat = bad.select("fixture_id", "repeat").row(0)
        raise InputError(
            f"{RUNS.name}: {SCORES}: repeat {repeat} of {shorten(fixture)} has a score without an id, or an "
            f"id without a finite score, as have {bad.height - 1:,} more runs; expected {_WHAT}"
        )


def _decoded(dtype: pl.DataType) -> pl.Expr:
    column = pl.col(SCORES)
    if dtype == pl.String:
        return column.str.json_decode(_SCORED_ID)
    inner = dtype.inner if isinstance(dtype, pl.List) else None
    if isinstance(inner, pl.Struct) and {"id", "score"} <= {field.name for field in inner.fields}:
        return column.cast(_SCORED_ID)
    raise InputError(f"{RUNS.name}: {SCORES}: found a column of type {dtype}, expected {_WHAT}")
