"""Event logs of a live router: read into frames of routes and uses, with what could not be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.events_schema import (
    EVENT_KINDS,
    EVENTS,
    JUDGED,
    RANKING,
    ROUTE,
    ROUTES,
    SCORES,
    USE,
    USES,
    time_of,
)
from skillful_eval.findings import findings_frame
from skillful_eval.schema import INJECTED
from skillshift.frame.contract import FILE, RECORD, Rule, collect
from skillshift.frame.errors import InputError, Violation
from skillshift.frame.reading import Refused, refuse_rows, scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillful_eval.findings import Finding

_RANKING = "a list of objects with id (text) and noul (a number)"

_ODD = r'"id"\s*:\s*[^\s"]|"noul"\s*:\s*[^\s0-9-]'
"""What Polars would turn into an id or a score in silence."""

_UNREADABLE = pl.Schema(
    {
        "file": pl.String(),
        "line": pl.Int64(),
        "code": pl.String(),
        "field": pl.String(),
        "found": pl.String(),
        "expected": pl.String(),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """A live router's events.

    Attributes:
        routes: One row a routed prompt, in the order of the log; a LazyFrame over rows in memory: ``ts``
            (Datetime, UTC), ``runtime``, ``session_id``, ``prompt_hash`` (text), ``prompt_chars`` (Int64),
            ``corpus_fingerprint`` (text), ``candidate_count`` (Int64), ``shortlist`` (list of text),
            ``decision``, ``primary``, ``chosen``, ``reason`` (text; ``chosen`` is the primary where it was
            injected, else null), ``none_p``, ``winner_p``, ``latency_ms`` (Float64), ``tokens_in``,
            ``tokens_out`` (Int64), ``cache_hit`` (Boolean), ``error`` (text), ``scores`` (list of ``id`` and
            ``score``: the log's ranking). All but ``ts`` and ``decision`` are null where it does not say.
        uses: One row a use of a capability, likewise: ``ts``, ``runtime``, ``session_id``, ``capability_id``,
            ``via``.
        others: Events of other kinds, which were passed over: ``kind`` (text), ``events`` (Int64).
        unreadable: One row a reason why a line could not be read: ``file``, ``line`` (Int64), ``code``,
            ``field``, ``found``, ``expected`` (text); those lines are in no other frame.
        lines: How many lines with something on them the logs have.
    """

    routes: pl.LazyFrame
    uses: pl.LazyFrame
    others: pl.DataFrame
    unreadable: pl.DataFrame
    lines: int

    @property
    def unreadable_lines(self) -> int:
        """How many lines could not be read."""
        return _lines(self.unreadable)

    def findings(self) -> pl.DataFrame:
        """What a reader of any figure from these events must know.

        Returns:
            One row a finding, as :data:`skillful_eval.findings.FINDINGS`: ``events.unreadable`` (lines that
            are left out of every figure), ``events.other-kind`` (events that were passed over).
        """
        found: list[Finding] = []
        if self.unreadable.height:
            count = self.unreadable_lines
            file, line, code, *_ = self.unreadable.row(0)
            where = Violation(code=code, file=file, line=line).where
            text = (
                f"{count:,} of {self.lines:,} lines could not be read and are in no figure; "
                f"the first is {where} [{code}]"
            )
            found.append(("events.unreadable", "events", count, text))
        found += [
            ("events.other-kind", kind, count, f"of the kind {kind}, which is not read: {count:,}")
            for kind, count in self.others.rows()
        ]
        return findings_frame(found)


def scan_events(source: Any) -> Events:
    """Read event logs of a live router. Lines that cannot be read are left out, located and counted.

    Args:
        source: JSON Lines logs as :func:`skillful_eval.scan_runs` takes them, with the fields of
            :data:`skillful_eval.events_schema.EVENTS` (camelCase) and ``ranking``, a list of objects with
            ``id`` and ``noul``; or a frame with such columns.

    Returns:
        The events: routes, uses, and what was passed over.

    Raises:
        ContractError: A column is missing or has a wrong type in a Parquet file or a frame.
        InputError: A file is missing, empty, not readable or not what its name says; or there is none.

    Example:
        >>> route = {"kind": "route", "ts": "2026-01-31T09:30:00Z", "decision": "skipped", "sessionId": "s"}
        >>> events = scan_events(pl.DataFrame([route, route | {"decision": "maybe"}]))
        >>> events.routes.collect().height, events.unreadable["code"].to_list()
        (1, ['decision.unknown'])
    """
    refused: list[Refused] = []
    frame = scan(source, EVENTS, refused=refused)
    names = frame.collect_schema().names()
    frame = frame.with_columns(
        pl.lit(None, dtype=f.kind.dtype).alias(f.name) for f in EVENTS.fields if f.name not in names
    )
    ours = pl.col("kind").is_in(EVENT_KINDS)
    others = collect(
        frame.filter(~ours).group_by("kind").agg(pl.len().cast(pl.Int64).alias("events")).sort("kind")
    )
    rules = EVENTS.all_rules(frame.collect_schema().names())
    read = collect(refuse_rows(frame.filter(ours | pl.col("kind").is_null()), rules, EVENTS, refused))
    read = _with_scores(read, refused).with_columns(time_of(pl.col("ts")))
    unreadable = _unreadable(refused)
    places = [name for name in (FILE, RECORD) if name in read.columns]
    chosen = pl.when(pl.col("decision") == INJECTED).then("primary").alias("chosen")
    routes = read.lazy().filter(pl.col("kind") == ROUTE)
    uses = read.lazy().filter(pl.col("kind") == USE)
    return Events(
        routes=routes.select("ts", *_renamed(ROUTES), chosen, "scores", *places),
        uses=uses.select("ts", *_renamed(USES), *places),
        others=others,
        unreadable=unreadable,
        lines=read.height + int(others["events"].sum()) + _lines(unreadable),
    )


def _renamed(fields: Mapping[str, str]) -> list[pl.Expr]:
    return [pl.col(theirs).alias(ours) for ours, theirs in fields.items()]


def _lines(unreadable: pl.DataFrame) -> int:
    return unreadable.select("file", "line").n_unique()


def _unreadable(refused: list[Refused]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            (one.file, one.line, why.code, why.field, why.found, why.expected)
            for one in refused
            for why in one.violations
        ],
        schema=_UNREADABLE,
        orient="row",
    ).sort("file", "line", maintain_order=True)


def _with_scores(read: pl.DataFrame, refused: list[Refused]) -> pl.DataFrame:
    """The ranking as ``scores``; events whose ranking is none join the refused ones."""
    if RANKING not in read.columns:
        return read.with_columns(pl.lit(None, dtype=SCORES).alias("scores"))
    if read.schema[RANKING] == pl.String:
        read = _decoded(read, refused)
    dtype = read.schema[RANKING]
    inner = dtype.inner if isinstance(dtype, pl.List) else None
    if dtype != pl.Null and not (isinstance(inner, pl.Struct) and {"id", "noul"} <= set(inner.to_schema())):
        raise InputError(f"{EVENTS.name}: {RANKING}: found a column of {dtype}, expected {_RANKING}")
    read = read.with_columns(pl.col(RANKING).cast(JUDGED))
    one = pl.element().struct
    wrong = (one["id"].is_null() | one["noul"].is_null() | ~one["noul"].is_finite()).any()
    kept = collect(
        refuse_rows(read.lazy(), [_rule(pl.col(RANKING).list.eval(wrong).list.first())], EVENTS, refused)
    )
    return kept.with_columns(
        pl.col(RANKING).list.eval(one.rename_fields(["id", "score"])).cast(SCORES).alias("scores")
    )


def _rule(wrong: pl.Expr) -> Rule:
    return Rule(f"{RANKING}.type", RANKING, wrong, _RANKING)


def _decoded(read: pl.DataFrame, refused: list[Refused]) -> pl.DataFrame:
    """The ranking's raw JSON text as lists; only where something is odd is each looked at by itself."""
    decoded = pl.col(RANKING).str.json_decode(JUDGED)
    if not read[RANKING].str.contains(_ODD).any():
        try:
            return read.with_columns(decoded)
        except pl.exceptions.ComputeError:
            pass  # one of them is no list of objects: which, shows below
    wrong = pl.Series("_wrong", [text is not None and not _is_ranking(text) for text in read[RANKING]])
    kept = refuse_rows(read.with_columns(wrong).lazy(), [_rule(pl.col("_wrong"))], EVENTS, refused)
    return collect(kept.drop("_wrong")).with_columns(decoded)


def _is_ranking(text: str) -> bool:
    value = json.loads(text)
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("id"), str) and type(one.get("noul")) in (int, float)
        for one in value
    )
