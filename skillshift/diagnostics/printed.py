"""Printed numbers in whole units: the three means that the identity compares, and what a slip does to them.

Everything is integer arithmetic. With w websites and c conditions the means are counted in units of
0.01 / (w * c), so that all three are whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from skillshift.diagnostics.marginals import GROUPS
from skillshift.diagnostics.table import NOT_APPLICABLE
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.exact import PUBLISHED_DECIMALS, printed_number, printed_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillshift.grid import Grid

OVERALL: Final = GROUPS[-1]
"""The group of one slot, and that slot."""

MEANS: Final = dict(zip(GROUPS, ("websites", "conditions", OVERALL), strict=True))
"""The column of each group's mean: the three numbers that are one."""

UNIT: Final = 10**PUBLISHED_DECIMALS
"""How many printed units make 1: slips and detection limits are counted in units of 0.01."""


def share(grid: Grid) -> int:
    """How many of the units that the means are counted in make one printed unit."""
    return len(grid.websites) * len(grid.conditions)


def printed_means(table: pl.DataFrame, grid: Grid, results: Iterable[str]) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a wide table of printed numbers with their three means.

    Args:
        table: A column of text or numbers for each website, condition and ``overall``; the rest are keys.
        grid: Whose websites and conditions.
        results: The names that the caller's columns will have.

    Returns:
        The keys, the means (Int128, null where one of their numbers is), ``_row`` (the row's position) and
        ``_why`` (``not-applicable`` where every number that is not there is ``--``, else null); and the
        names of the keys.

    Raises:
        InputError: A column is missing or of another type, or a number is not one with two decimals.
        UsageError: The grid uses one name for two slots, or a key has the name of a result.
    """
    slots = [*grid.website_names, *grid.condition_names, OVERALL]
    keys = _check_columns(table, grid, slots, results)
    text = table.select(*keys, *(pl.col(slot).cast(pl.String) for slot in slots)).with_row_index("_row")
    _check_numbers(text, slots, keys)
    sites, conditions = len(grid.websites), len(grid.conditions)
    blank = pl.any_horizontal(pl.col(slot).is_null() for slot in slots)
    rows = text.select(
        "_row",
        *keys,
        _total(grid.website_names, conditions).alias(MEANS["website"]),
        _total(grid.condition_names, sites).alias(MEANS["condition"]),
        _total((OVERALL,), sites * conditions).alias(MEANS[OVERALL]),
        _why=pl.when(~blank).then(pl.lit("not-applicable")),
    )
    return rows, keys


def spread() -> pl.Expr:
    """The largest difference between two of the three means; null where one is null."""
    means = [pl.col(mean) for mean in MEANS.values()]
    defined = pl.all_horizontal(mean.is_not_null() for mean in means)
    return pl.when(defined).then(pl.max_horizontal(means) - pl.min_horizontal(means))


def limit(group: str, grid: Grid, *, up: bool) -> pl.Expr:
    """The smallest slip of one of a group's numbers that shows where the identity holds, in printed units.

    Args:
        group: Which number slips.
        grid: Whose websites and conditions.
        up: Whether the number is printed too high, or too low.
    """
    own = pl.col(MEANS[group])
    others = [mean for name, mean in MEANS.items() if name != group]
    # The mean has to be more than one unit away from the farther of the other two.
    room = share(grid) + (pl.min_horizontal(others) - own if up else own - pl.max_horizontal(others))
    # One of n numbers moves their mean by an n-th of its slip.
    numbers = {"website": len(grid.websites), "condition": len(grid.conditions), OVERALL: 1}[group]
    return (room // (share(grid) // numbers) + 1).cast(pl.Int64)


def which(row: Mapping[str, object], keys: Sequence[str]) -> str:
    """Name a row by its keys in a message."""
    return ", ".join(f"{key} {shorten(row[key])}" for key in keys) or "the only one"


def _check_columns(table: pl.DataFrame, grid: Grid, slots: list[str], results: Iterable[str]) -> list[str]:
    """The names of the keys."""
    twice = [name for name in slots if slots.count(name) > 1]
    if twice:
        raise UsageError(
            f"grid {grid.name!r}: two slots are named {twice[0]!r}; a wide table cannot hold both"
        )
    absent = [name for name in slots if name not in table.columns]
    if absent:
        raise InputError(
            f"the printed table: no column {absent[0]!r}, expected one for each slot: {', '.join(slots)}"
        )
    for slot in slots:
        dtype = table.schema[slot]
        if not (dtype.is_numeric() or isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null)):
            raise InputError(f"the printed table: column {slot!r} is {dtype}, expected text or numbers")
    keys = [name for name in table.columns if name not in slots]
    clash = [name for name in keys if name in set(results) or name.startswith("_")]
    if clash:
        raise UsageError(f"the printed table: the key column {clash[0]!r} has a result's name; rename it")
    return keys


def _check_numbers(text: pl.DataFrame, slots: list[str], keys: list[str]) -> None:
    for slot in slots:
        given = pl.col(slot).is_not_null() & (pl.col(slot) != NOT_APPLICABLE)
        wrong = text.filter(given & printed_units(pl.col(slot)).is_null())
        if wrong.height:
            row = wrong.row(0, named=True)
            where = f"the printed table, row {row['_row'] + 1} ({which(row, keys)}), column {slot!r}"
            try:
                printed_number(row[slot])
            except InputError as error:
                raise InputError(
                    f"{where}: {error}; a blank is null, not applicable is {NOT_APPLICABLE!r}"
                ) from error


def _total(slots: tuple[str, ...], weight: int) -> pl.Expr:
    # A null in the sum is a null mean: the default would skip it.
    return pl.sum_horizontal((printed_units(pl.col(slot)) for slot in slots), ignore_nulls=False) * weight
