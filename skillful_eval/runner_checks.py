"""What a router gives is held to its protocol, before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.router.protocol import OUTCOMES
from skillful_eval.schema import DEGRADED, RUNS, SKIPPED
from skillshift.frame.contract import Rule, check
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    from skillful_eval.corpus import Corpus

_RULES = tuple(rule for rule in RUNS.rules if set(rule.violated.meta.root_names()) <= set(OUTCOMES))


def checked_shortlists(router: Any, shortlists: Any, height: int, schema: pl.Schema) -> pl.DataFrame:
    """Shortlists as the protocol has them.

    Raises:
        UsageError: They are something else, or name an id that the corpus lacks.
    """
    what = f"{type(router).__name__}.shortlist"
    found = _conformed(what, shortlists, height, schema, "ids of the corpus")
    ids, scores = found["shortlist"], found["scores"]
    wrong = (ids.is_null() | (ids.list.len() != scores.list.len()).fill_null(True)).sum()
    if ids.explode(empty_as_null=False, keep_nulls=False).null_count():
        lacks = pl.col("shortlist").list.eval(pl.element().null_count()).list.first() > 0
        wrong += found.filter(lacks).height
    if wrong:
        raise UsageError(f"{what}: {wrong:,} of {height:,} prompts have no list of ids with a score each")
    return found


def checked_outcomes(router: Any, outcomes: Any, height: int, corpus: Corpus) -> pl.DataFrame:
    """Decisions as the protocol has them.

    Raises:
        UsageError: They are something else.
        ContractError: One breaks the contract of the runs, or chooses what the corpus lacks.
    """
    what = f"{type(router).__name__}.decide"
    found = _conformed(what, outcomes, height, OUTCOMES, "decisions")
    ids = pl.Enum(corpus.entries["id"])
    decision = pl.col("decision")
    rules = (
        *_RULES,
        Rule(
            "chosen.unknown",
            "chosen",
            pl.col("chosen").is_not_null() & pl.col("chosen").cast(ids, strict=False).is_null(),
            f"an id of {corpus.source}",
        ),
        Rule(
            "reason.missing",
            "reason",
            decision.is_in([SKIPPED, DEGRADED]) & pl.col("reason").is_null(),
            f"why the run was skipped or {DEGRADED}",
        ),
    )
    check(found.lazy(), rules, what)
    return found


def _conformed(what: str, given: Any, height: int, schema: pl.Schema, expected: str) -> pl.DataFrame:
    if not isinstance(given, pl.DataFrame):
        raise UsageError(f"{what}: found {type(given).__name__}, expected a Polars DataFrame")
    lacks = [name for name in schema if name not in given.columns]
    if lacks:
        raise UsageError(f"{what}: lacks the column {lacks[0]}; expected {', '.join(schema)}")
    if given.height != height:
        raise UsageError(f"{what}: found {given.height:,} rows, expected {height:,}, one for each in order")
    found = given.select(schema.names())
    if found.schema == schema:
        return found
    try:
        return found.cast(schema)
    except pl.exceptions.PolarsError as error:
        first = str(error).partition("\n")[0]
        raise UsageError(f"{what}: expected {expected}, with the types of the protocol: {first}") from error
