"""What a router gives is held to its protocol, before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillful_eval.router.protocol import OUTCOMES, StreamingRouter
from skillful_eval.router.streaming import stream_of
from skillful_eval.schema import DEGRADED, RUNS, SKIPPED
from skillshift.frame.contract import Rule, check
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from skillful_eval.corpus import Corpus
    from skillful_eval.router.streaming import Piece

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


def checked_pieces(router: Any, requests: pl.DataFrame, corpus: Corpus) -> Generator[Piece, None, None]:
    """What a router decides, piece by piece, as the protocol has it: every row once, in the end all.

    Closing the iterator closes the router's.

    Raises:
        UsageError: The router's batch, or what it gives, is something else.
        ContractError: As :func:`checked_outcomes`.
    """
    what = f"{type(router).__name__}.{'stream' if isinstance(router, StreamingRouter) else 'decide'}"
    left = np.ones(requests.height, dtype=bool)
    if not requests.height:
        return
    pieces = stream_of(router, requests)
    try:
        for numbers, outcomes in pieces:
            if not len(numbers):
                yield pl.Series(dtype=pl.UInt32), OUTCOMES.to_frame()
                continue
            rows = _numbered(what, numbers, left)
            left[rows.to_numpy()] = False
            yield rows, checked_outcomes(what, outcomes, rows.len(), corpus)
    finally:
        close = getattr(pieces, "close", None)  # an iterator that is no generator may have none
        if close is not None:
            close()
    if left.any():
        raise UsageError(
            f"{what}: ended with {int(left.sum()):,} of {left.size:,} rows missing, the first of them "
            f"{int(left.argmax())}; expected every row once"
        )


def _numbered(what: str, numbers: Any, left: Any) -> pl.Series:
    """The numbers of a piece's rows, if they are such that are left."""
    try:
        rows = pl.Series(numbers).cast(pl.UInt32)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise UsageError(f"{what}: found {shorten(numbers)}, expected the numbers of rows, from 0") from error
    twice = rows.is_null() | rows.is_duplicated() | (rows >= left.size)
    if not twice.any():
        twice = pl.Series(~left[rows.to_numpy()])
    if twice.any():
        raise UsageError(
            f"{what}: found the row number {rows.filter(twice)[0]}, expected each below {left.size:,} once"
        )
    return rows


def checked_outcomes(what: str, outcomes: Any, height: int, corpus: Corpus) -> pl.DataFrame:
    """Decisions as the protocol has them.

    Args:
        what: What gave them, for messages.
        outcomes: What it gave.
        height: How many there must be.
        corpus: What can be chosen.

    Raises:
        UsageError: They are something else.
        ContractError: One breaks the contract of the runs, or chooses what the corpus lacks.
    """
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
