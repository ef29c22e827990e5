"""The sums step: the only step that sees rows. One group-by takes the sums and counts violations."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from skillshift.frame.contract import any_violated, check, collect, collect_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.contract import Rule

UInts: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
"""An array of unsigned 64-bit integers."""

VIOLATIONS = "_violations"
"""The column of a grouped frame that counts the records that break a rule."""


def grouped_sums(
    frame: pl.LazyFrame, keys: Sequence[str], sums: Sequence[pl.Expr], rules: Sequence[Rule]
) -> pl.LazyFrame:
    """Plan the sums of each group and, in the same pass, how many records break a rule.

    Rules that speak of the keys alone hold for whole groups, so they are left to
    :func:`check_grouped`: that spares a comparison a row.

    Args:
        frame: Conformed records.
        keys: The grouping columns.
        sums: The aggregations, each named.
        rules: The row rules.

    Returns:
        A plan with the keys, the sums and ``_violations`` (Int64).
    """
    row_rules = [rule for rule in rules if not _of_groups(rule, keys)]
    violated = any_violated(row_rules).cast(pl.Int64).sum() if row_rules else pl.lit(0, dtype=pl.Int64)
    return frame.group_by(keys).agg(*sums, violated.alias(VIOLATIONS))


def check_grouped(
    grouped: pl.DataFrame, frame: pl.LazyFrame, keys: Sequence[str], rules: Sequence[Rule], table: str
) -> pl.DataFrame:
    """Raise if the grouped result shows a violation; else give it back without the count.

    Args:
        grouped: The collected :func:`grouped_sums`.
        frame: The records, read again only to locate what is wrong.
        keys: The grouping columns.
        rules: The same rules.
        table: The table's name in messages.

    Returns:
        The keys and sums.

    Raises:
        ContractError: A record breaks a rule; counted and located.
    """
    group_rules = [rule for rule in rules if _of_groups(rule, keys)]
    wrong = grouped[VIOLATIONS].sum() > 0
    if group_rules and not wrong:
        wrong = bool(grouped.select(any_violated(group_rules).any()).item())
    if wrong:
        check(frame, rules, table)
    return grouped.drop(VIOLATIONS)


def _of_groups(rule: Rule, keys: Sequence[str]) -> bool:
    return set(rule.violated.meta.root_names()) <= set(keys)


def total(column: str, where: pl.Expr | None = None) -> pl.Expr:
    """The exact sum of an integer or boolean column in Int64, over the rows that count.

    Polars sums Int32 in 32 bits and booleans in unsigned ones, which wrap.
    """
    values = pl.col(column).cast(pl.Int64)
    return (values if where is None else values.filter(where)).sum().alias(column)


def collect_beside(column: pl.LazyFrame, *plans: pl.LazyFrame) -> tuple[UInts, list[pl.DataFrame]]:
    """Run a plan that makes one value a row, and others that make little, over the same rows.

    Rows that are costly to make, such as those of JSON Lines, are made once, and memory holds those that
    the one plan has seen and another has not. Parquet is read by each plan for itself, which is as quick,
    as they have few columns in common, and holds nothing.

    Args:
        column: A plan with one column without nulls (UInt64).
        plans: The other plans.

    Returns:
        The column's values in any order, and the other plans' frames.

    Raises:
        InputError: As :func:`skillshift.frame.contract.collect_all`.
    """
    batches: list[UInts] = []

    def take(batch: pl.DataFrame) -> None:
        batches.append(batch.to_series().to_numpy())

    # Collected as a frame, the column would not keep pace with a plan that it shares its rows with.
    sink = column.sink_batches(take, lazy=True, maintain_order=False)
    if reads_columns(column):
        frames = [collect(plan) for plan in plans]
        collect_all([sink])
    else:
        _, *frames = collect_all([sink, *plans])
    return np.concatenate([np.empty(0, np.uint64), *batches]), frames


def reads_columns(frame: pl.LazyFrame) -> bool:
    """Whether the rows come from Parquet alone, of which a second plan reads only what it needs."""
    sources = {name.lower() for name in re.findall(r"(\w+) SCAN", frame.explain(optimized=False))}
    return sources - {"python"} == {"parquet"}  # the readers' guard against changing files is Python


def sort(values: UInts) -> None:
    """Sort in place; many values as two halves in two threads, for which NumPy lets go of its lock."""
    if len(values) < _MANY:
        values.sort()
        return
    half = len(values) // 2
    values.partition(half)
    with ThreadPoolExecutor(2) as threads:
        for part in (values[:half], values[half:]):
            threads.submit(part.sort)


_MANY = 1 << 20
