"""The marginal identity: mean(websites) == mean(conditions) == overall.

All three are means over the same cells, so they are the same number. On computed values that holds to a
few units in the last place; on printed values within what the decimals allow, since each printed number
stands for itself plus or minus half a unit of its last decimal, and so does the mean of such numbers.

A verdict is ``holds``, ``violated`` or ``undefined``. A violated or undefined one has a reason:

- ``means-differ``: the three means cannot be the same number;
- ``null-pattern``: the nulls contradict each other. An undefined cell makes its website, its condition and
  the overall value undefined, so either all three groups have a null or none has;
- ``not-finite``: a computed value is NaN or infinite;
- why the numbers are undefined, as the marginals say it; of printed ones, ``not-applicable`` where ``--``
  stands in their places, else ``not-given``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import polars as pl

from skillshift.diagnostics.marginals import GROUPS, run_keys
from skillshift.diagnostics.printed import (
    MEANS,
    OVERALL,
    UNIT,
    limit,
    printed_means,
    share,
    spread,
    which,
)
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.exact import PUBLISHED_DECIMALS, half_up, half_up_ratio
from skillshift.grid import SKILLSHIFT, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

DETECTS: Final = {group: f"detects_{group}" for group in GROUPS}
"""The column of each group's detection limit."""

_NEEDED: Final = ("metric", "group", "slot", "value", "reason")
_RESULTS: Final = (*MEANS.values(), "verdict", "difference", "tolerance", "reason")
_MEAN_DECIMALS: Final = PUBLISHED_DECIMALS + 2  # two more than printed, so that a mean is told from its parts
_NULLS: Final = [pl.col(mean).is_null() for mean in MEANS.values()]


def identity(numbers: pl.DataFrame, *, tolerance_ulps: int | None = None) -> pl.DataFrame:
    """Check the marginal identity on computed values, for every run and metric.

    Args:
        numbers: Marginals: the run keys (every column before ``metric``), then ``metric``, ``group``,
            ``slot`` (text), ``value`` (Float64) and ``reason`` (text), one row a slot, all slots of a run.
        tolerance_ulps: By how many ulps the means may differ; one ulp is 2**-52 of the largest of the three.
            By default half an ulp for every addition and division between the cells and the means
            (cells + websites + conditions of them), and two for the cells themselves: rounding cannot
            exceed that.

    Returns:
        One row a run and metric, in their order: the run keys, ``metric``, ``websites`` and ``conditions``
        (Float64, the unweighted means of those values; null where one of them is null), ``overall``,
        ``verdict``, ``difference`` and ``tolerance`` (Float64, in the metric's unit: the largest difference
        between two of the three, and the most that is allowed; null where one is null or not finite), and
        ``reason`` (null where the identity holds).

    Raises:
        InputError: A column is missing or of another type, a run lacks a slot that another has or has one
            twice, or a group is unknown.
        UsageError: ``tolerance_ulps`` is negative.

    >>> slots = [("website", "shop"), ("condition", "src"), ("condition", "tgt"), ("overall", "overall")]
    >>> numbers = pl.DataFrame(
    ...     [("SR", *slot, value, None) for slot, value in zip(slots, [50.0, 40.0, 60.0, 50.0])],
    ...     schema={"metric": str, "group": str, "slot": str, "value": float, "reason": str},
    ...     orient="row",
    ... )
    >>> identity(numbers)["verdict"].to_list()
    ['holds']
    """
    if tolerance_ulps is not None and tolerance_ulps < 0:
        raise UsageError(f"tolerance_ulps {tolerance_ulps}: expected a whole number from 0")
    by = _run_and_metric(numbers)
    means = list(MEANS.values())
    sites, conditions = pl.col("_slots_website"), pl.col("_slots_condition")
    rounding = (sites * conditions + sites + conditions) // 2 + 2
    ulps = rounding if tolerance_ulps is None else pl.lit(tolerance_ulps)
    finite = pl.all_horizontal(pl.col(mean).is_finite() for mean in means)
    largest = pl.max_horizontal(pl.col(mean).abs() for mean in means)
    difference, tolerance = pl.col("difference"), pl.col("tolerance")
    return (
        _three_means(numbers, by)
        .with_columns(pl.when(finite).then(spread()).alias("difference"))
        .with_columns(pl.when(difference.is_not_null()).then(ulps * 2.0**-52 * largest).alias("tolerance"))
        .with_columns(
            _broken=pl.when(~finite)
            .then(pl.lit("not-finite"))
            .when(difference > tolerance)
            .then(pl.lit("means-differ"))
        )
        .with_columns(_judged())
        .select(*by, *_RESULTS)
    )


def identity_printed(table: pl.DataFrame, *, grid: Grid = SKILLSHIFT) -> pl.DataFrame:
    """Check the marginal identity on printed numbers, and say what the check cannot see.

    Each number stands for itself plus or minus 0.005, always: fewer decimals shown are zeros dropped. The
    mean of such numbers is known to plus or minus 0.005 too, so the three means have a point in common
    where no two of them differ by more than 0.01.

    Args:
        table: The printed numbers in wide form, one row a method and metric: a column for each website, each
            condition and ``overall``, as text (numbers go through their shortest text, so that 16.9 is
            16.90); null for a blank, ``--`` for not applicable. All other columns are keys, kept.
        grid: Whose websites and conditions the columns are.

    Returns:
        One row a row of ``table``: the keys; ``websites`` and ``conditions`` (text, the means of the printed
        numbers to four decimals) and ``overall`` (text); ``verdict``; ``difference`` and ``tolerance`` (text:
        the largest difference between two of the three, and the most that printing allows; null where one is
        null); ``reason`` (null where the identity holds); ``detects_website``, ``detects_condition`` and
        ``detects_overall`` (Int64, in units of 0.01): every slip of at least that size in one such number,
        up or down, is detected, and in one of the two directions a smaller one is not. Null unless the
        identity holds. See :func:`detection_limits` for each direction.

    Raises:
        InputError: A column is missing, or a number is not one with at most two decimals.
        UsageError: The grid uses one name for two slots, or a key has the name of a result.

    >>> shop = Grid("shops", {"shop": 9}, ("src", "tgt"))
    >>> row = pl.DataFrame({"metric": "SR", "shop": "1.98", "src": "1.47", "tgt": "2.48", "overall": "1.97"})
    >>> identity_printed(row, grid=shop).select("conditions", "verdict", "detects_condition").row(0)
    ('1.9750', 'holds', 2)
    """
    rows, keys = printed_means(table, grid, (*_RESULTS, *DETECTS.values()))
    common = pl.lit(share(grid) * UNIT)
    allowed = pl.lit(half_up(Fraction(1, UNIT), _MEAN_DECIMALS))
    texts = [
        half_up_ratio(pl.col(mean), common, 1, PUBLISHED_DECIMALS if mean == OVERALL else _MEAN_DECIMALS)
        for mean in MEANS.values()
    ]
    return _judge_printed(rows, grid).select(
        *keys,
        *texts,
        "verdict",
        half_up_ratio(spread(), common, 1, _MEAN_DECIMALS).alias("difference"),
        pl.when(spread().is_not_null()).then(allowed).alias("tolerance"),
        "reason",
        *(pl.max_horizontal(_limits(group, grid)).alias(column) for group, column in DETECTS.items()),
    )


def detection_limits(table: pl.DataFrame, *, grid: Grid = SKILLSHIFT) -> pl.DataFrame:
    """The smallest slip in one printed number that the identity check detects, for each direction.

    The limits follow from the printed numbers: a slip in one of n websites moves their mean by an n-th of
    itself, so it shows once the mean is more than one unit away from the farther of the other two. Several
    slips can cancel each other, and no check of sums can see that.

    Args:
        table: As :func:`identity_printed` takes it.
        grid: Whose websites and conditions the columns are.

    Returns:
        Three rows a row of ``table``: the keys, ``group`` (website, condition, overall), ``up`` and ``down``
        (Int64, in units of 0.01): a number of that group printed too high (too low) is detected if, and
        only if, it is wrong by at least so much. Null unless the identity holds.

    Raises:
        InputError: As :func:`identity_printed`.
        UsageError: The grid uses one name for two slots, or a key is named ``group``, ``up`` or ``down``.

    >>> shop = Grid("shops", {"shop": 9}, ("src", "tgt"))
    >>> row = pl.DataFrame({"metric": "SR", "shop": "1.98", "src": "1.47", "tgt": "2.48", "overall": "1.97"})
    >>> detection_limits(row, grid=shop).rows()
    [('SR', 'website', 1, 2), ('SR', 'condition', 2, 2), ('SR', 'overall', 2, 1)]
    """
    rows, keys = printed_means(table, grid, ("group", "up", "down", "verdict", "reason"))
    judged = _judge_printed(rows, grid)
    limits = [
        judged.select("_row", *keys, pl.lit(group).alias("group"), *_limits(group, grid)) for group in GROUPS
    ]
    return pl.concat(limits).sort("_row", maintain_order=True).drop("_row")


def _run_and_metric(numbers: pl.DataFrame) -> list[str]:
    absent = [name for name in _NEEDED if name not in numbers.columns]
    if absent:
        raise InputError(
            f"the marginals: no column {absent[0]!r} (columns: {', '.join(numbers.columns) or 'none'}),"
            " expected what skillshift.marginals gives"
        )
    if not numbers.schema["value"].is_numeric():
        raise InputError(f"the marginals: value is {numbers.schema['value']}, expected Float64")
    return [*run_keys(numbers, "metric"), "metric"]


def _three_means(numbers: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Each run and metric with its means (null where a slot is), its counts of slots, and ``_why``."""
    aggregates = [pl.len().alias("_rows"), pl.col("reason").drop_nulls().first().alias("_why")]
    for group, mean in MEANS.items():
        mine = pl.col("group") == group
        value = pl.col("value").filter(mine).cast(pl.Float64)
        aggregates += [
            # A mean skips nulls; here a null is a slot without a value, and then there is no mean.
            pl.when(value.null_count() == 0).then(value.mean()).alias(mean),
            mine.cast(pl.Int64).sum().alias(f"_slots_{group}"),
            pl.col("slot").filter(mine).n_unique().cast(pl.Int64).alias(f"_names_{group}"),
        ]
    groups = numbers.group_by(by, maintain_order=True).agg(aggregates)
    slots = {group: pl.col(f"_slots_{group}") for group in GROUPS}
    whole = pl.all_horizontal(
        pl.col("_rows") == pl.sum_horizontal(slots.values()),
        slots[OVERALL] == 1,
        *(slots[group] >= 1 for group in GROUPS),
        *(slots[group] == slots[group].max() for group in GROUPS),
        *(slots[group] == pl.col(f"_names_{group}") for group in GROUPS),
    )
    partial = groups.filter(~whole)
    if partial.height:
        row = partial.row(0, named=True)
        counts = ", ".join(f"{row[f'_slots_{group}']} of group {group}" for group in GROUPS)
        raise InputError(
            f"the marginals of {which(row, by)}: {row['_rows']} rows ({counts}), expected each website and"
            " condition of the grid and overall, once each; give all rows that skillshift.marginals gave,"
            " with all run keys"
        )
    return groups


def _judge_printed(rows: pl.DataFrame, grid: Grid) -> pl.DataFrame:
    broken = pl.when(spread() > share(grid)).then(pl.lit("means-differ"))
    return rows.with_columns(_broken=broken).with_columns(_judged())


def _judged() -> list[pl.Expr]:
    """``verdict`` and ``reason`` of three means, given ``_broken`` (what is wrong with them) and ``_why``."""
    undefined, contradictory = pl.all_horizontal(_NULLS), pl.any_horizontal(_NULLS)
    reason = (
        pl.when(undefined)
        .then(pl.col("_why").fill_null("not-given"))
        .when(contradictory)
        .then(pl.lit("null-pattern"))
        .otherwise(pl.col("_broken"))
    )
    verdict = (
        pl.when(undefined)
        .then(pl.lit("undefined"))
        .when(reason.is_null())
        .then(pl.lit("holds"))
        .otherwise(pl.lit("violated"))
    )
    return [verdict.alias("verdict"), reason.alias("reason")]


def _limits(group: str, grid: Grid) -> list[pl.Expr]:
    holds = pl.when(pl.col("verdict") == "holds")
    return [holds.then(limit(group, grid, up=up)).alias("up" if up else "down") for up in (True, False)]
