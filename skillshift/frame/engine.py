"""The sums step: the only step that sees rows. One group-by takes the sums and counts violations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import any_violated, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.contract import Rule

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
