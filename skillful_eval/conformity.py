"""Runs against fixtures and corpus: ids become numbers, and every run is held to the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.schema import CONFIG, RUNS, config_keys
from skillshift.frame.contract import FILE, RECORD, Rule, any_violated, check, collect
from skillshift.frame.errors import SHOWN, ContractError, Violation, shorten
from skillshift.frame.lines import line_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures

_SUGGESTED_OF = 1_000
"""A message suggests the nearest of so many known fixtures; comparing with more would take seconds."""

_UNKNOWN = "_unknown"


def prepared(runs: pl.LazyFrame, fixtures: Fixtures, corpus: Corpus) -> pl.LazyFrame:
    """Put the ids of conformed runs on numbers, and mark the runs that break the contract.

    Args:
        runs: Conformed runs.
        fixtures: The fixtures that they may name.
        corpus: The corpus whose ids they may name.

    Returns:
        The runs with ``_fixture`` (UInt32, the fixture's row number), ``_chosen`` (UInt32) and ``_shortlist``
        (list of integers), the ids' row numbers in the corpus, null where unknown; ``_violated`` (Boolean).
    """
    known = pl.Enum(fixtures.frame["fixture_id"])
    ids = pl.Enum(corpus.entries["id"])
    coded = runs.with_columns(
        pl.col("fixture_id").cast(known, strict=False).to_physical().cast(pl.UInt32).alias("_fixture"),
        pl.col("chosen").cast(ids, strict=False).to_physical().cast(pl.UInt32).alias("_chosen"),
        pl.col("shortlist")
        .cast(pl.List(ids), strict=False)
        .list.eval(pl.element().to_physical())
        .alias("_shortlist"),
    )
    return coded.with_columns(any_violated(_rules(runs, fixtures, corpus)).alias("_violated"))


def _rules(runs: pl.LazyFrame, fixtures: Fixtures, corpus: Corpus) -> list[Rule]:
    names = tuple(fixtures.frame["fixture_id"]) if fixtures.frame.height <= _SUGGESTED_OF else ()
    columns = set(runs.collect_schema().names())
    return [
        *RUNS.all_rules(columns - {"shortlist"}),
        # Asked of the numbers, because asking it of the texts would have Polars keep them.
        Rule("shortlist.missing", "shortlist", pl.col("_shortlist").is_null(), RUNS["shortlist"].kind.value),
        Rule(
            "fixture_id.unknown",
            "fixture_id",
            pl.col("_fixture").is_null() & pl.col("fixture_id").is_not_null(),
            f"a fixture of {fixtures.name}",
            known=names,
        ),
        Rule(
            "chosen.unknown",
            "chosen",
            pl.col("_chosen").is_null() & pl.col("chosen").is_not_null(),
            f"an id of {corpus.source}",
        ),
        Rule(
            "shortlist.unknown",
            _UNKNOWN,
            pl.col("_shortlist").list.eval(pl.element().null_count()).list.first() > 0,
            f"ids of {corpus.source}",
            "it lacks these; score runs with the corpus that they were made with",
        ),
    ]


def check_runs(compact: pl.DataFrame, coded: pl.LazyFrame, fixtures: Fixtures, corpus: Corpus) -> None:
    """Refuse runs that break the contract, one by one or together.

    Args:
        compact: What was collected of :func:`prepared`.
        coded: Its plan, run again only to locate what is wrong.
        fixtures: The fixtures.
        corpus: The corpus.

    Raises:
        ContractError: A run breaks a row rule; the same fixture and repeat of a configuration occurs twice; a
            configuration has decisions in some of its runs only.
    """
    if RECORD not in coded.collect_schema().names():
        coded = coded.with_row_index(RECORD)
    if compact["_violated"].any():
        _refuse(coded.filter("_violated"), _rules(coded, fixtures, corpus), corpus)
    key = [*config_keys(compact.columns), "_fixture", "repeat"]
    # Equal keys have equal hashes, so without equal hashes there is no run twice.
    hashed = pl.sum_horizontal(pl.col(name).hash(seed) for seed, name in enumerate(key))
    hashes = collect(compact.lazy().select(hashed)).to_series()
    if hashes.n_unique() < compact.height and compact.select(key).is_duplicated().any():
        raise _twice(coded, key)
    _check_decisions(compact, coded)


def _refuse(wrong: pl.LazyFrame, rules: Sequence[Rule], corpus: Corpus) -> None:
    lacking = pl.col("shortlist").cast(pl.List(pl.String)).list.set_difference(corpus.entries["id"].implode())
    try:
        check(wrong.with_columns(lacking.alias(_UNKNOWN)), rules, RUNS.name)
    except ContractError as error:
        named = [
            replace(one, field="shortlist") if one.field == _UNKNOWN else one for one in error.violations
        ]
        raise ContractError(error.table, error.counts, named) from None


def _twice(coded: pl.LazyFrame, key: Sequence[str]) -> ContractError:
    places = [name for name in (FILE, RECORD) if name in coded.collect_schema().names()]
    firsts = [pl.col(name).first().over(key).alias(f"_first{name}") for name in places]
    again = (
        coded.select(*key, "fixture_id", *places)
        .filter(pl.len().over(key) > 1)
        .with_columns(*firsts)
        .filter(pl.struct(places) != pl.struct(pl.col(f"_first{name}").alias(name) for name in places))
    )
    count, rows = collect(again.select(pl.len())).item(), collect(again.head(SHOWN)).to_dicts()
    here = [(row.get(FILE), row[RECORD]) for row in rows]
    first = [(row.get(f"_first{FILE}"), row[f"_first{RECORD}"]) for row in rows]
    lines = line_numbers(here + first)
    violations = [
        Violation(
            code="run.duplicate",
            file=there[0],
            line=lines[there],
            field="repeat",
            found=f"repeat {row['repeat']} of {shorten(row['fixture_id'])} again",
            expected="each repeat of a fixture once in a configuration; the first is at "
            + Violation(code="", file=earlier[0], line=lines[earlier]).where,
            hint=f"several routers need a column {CONFIG}",
        )
        for row, there, earlier in zip(rows, here, first, strict=True)
    ]
    return ContractError(RUNS.name, {"run.duplicate": count}, violations)


def _check_decisions(compact: pl.DataFrame, coded: pl.LazyFrame) -> None:
    by = config_keys(compact.columns)
    counts = [pl.col("decision").null_count().alias("_null"), pl.len().alias("_runs")]
    table = collect(compact.lazy().group_by(by).agg(counts)) if by else compact.select(counts)
    mixed = table.filter((pl.col("_null") > 0) & (pl.col("_null") < pl.col("_runs")))
    if not mixed.height:
        return
    inside = (
        coded.join(mixed.lazy().select(pl.col(by).cast(pl.String)), on=by, how="semi", maintain_order="left")
        if by
        else coded
    )
    rule = Rule(
        "decision.mixed",
        "decision",
        pl.col("decision").is_null(),
        "a decision in every run of a configuration, or null in every one",
        "null means that the configuration only retrieves; a failure is degraded",
    )
    check(inside, [rule], RUNS.name)
