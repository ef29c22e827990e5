"""From cells to marginals: unweighted means over websites, conditions and the whole grid.

A marginal over an undefined cell is undefined; skipping the cell would break the identity of the three
means. The pooled (task-weighted) value stands beside it under its own name.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from skillshift.diagnostics.summing import COUNTS, OUTPUTS, check_keys
from skillshift.frame.contract import collect
from skillshift.frame.errors import InputError
from skillshift.frame.exact import PUBLISHED_DECIMALS, half_up
from skillshift.frame.metric import ratio
from skillshift.metrics import LOW_COUNT, METRICS, OF_SKILLS, REASONS, SFR, SR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.metric import Metric

GROUPS = ("website", "condition", "overall")
"""The three groups of slots, in table order."""

MARGINALS = pl.Schema(
    {
        "metric": pl.String(),
        "group": pl.String(),
        "slot": pl.String(),
        "value": pl.Float64(),
        "published": pl.String(),
        "pooled": pl.Float64(),
        "denominator": pl.Int64(),
        **{name: pl.Int64() for name in COUNTS},
        "skill_calls": pl.Int64(),
        "min_cell_calls": pl.Int64(),
        "low_count": pl.Boolean(),
        "incomplete": pl.Boolean(),
        "lower": pl.Float64(),
        "upper": pl.Float64(),
        "reason": pl.String(),
    }
)
"""The columns of a marginals frame after the run keys."""

_SURE = 1e-6
"""A value this near to a half in its last published place is rounded from its exact sums instead."""

_EXACT_FROM = 1e6
"""So is one above this, where the double's own error comes near to that."""


def run_keys(frame: pl.DataFrame, first: str) -> list[str]:
    """The run keys of an output frame: the columns before its first own one.

    Args:
        frame: A cells or marginals frame.
        first: ``website`` or ``metric``.

    Raises:
        InputError: The frame has no such column, so it is another kind of frame.
    """
    if first not in frame.columns:
        raise InputError(
            f"expected a frame with a column {first!r}, found {', '.join(frame.columns) or 'none'}"
        )
    return frame.columns[: frame.columns.index(first)]


def marginals(cells: pl.DataFrame) -> pl.DataFrame:
    """The ten numbers of each metric on SkillShift's grid, or as many as the grid has slots.

    A website's value is the unweighted mean of its cells, a condition's that of its, the overall value that
    of all cells. None is weighted by tasks.

    Args:
        cells: What :func:`skillshift.cells` gives: every cell of the grid for every run.

    Returns:
        One row a run, metric and slot, in the order of the runs, of SR, AS, ASC, SFR, and of websites,
        conditions, overall: the run keys; ``metric``, ``group`` (website, condition, overall), ``slot``;
        ``value`` (Float64, in the metric's unit); ``published`` (text: half-up to two decimals from the
        exact sums); ``pooled`` (Float64, the ratio of the slot's sums, so weighted by tasks or calls);
        ``denominator`` (Int64, the tasks or calls behind it); ``planned``, ``attempted``, ``errored``,
        ``scored``, ``missing`` (Int64, tasks); ``skill_calls``, ``min_cell_calls`` (Int64, in the slot and in
        its smallest cell; null where the method has no executable skills); ``low_count`` (an SFR on fewer
        than 30 calls); ``incomplete`` (a cell lacks scored tasks); ``lower``, ``upper`` (SR if every missing
        task failed, and if every one succeeded; null for other metrics); ``reason`` (why ``value`` is null,
        one of :data:`skillshift.metrics.REASONS`; null where there is a value).

        ``value`` is null where a cell's is. ``pooled`` is null where a cell is ``incomplete``, where the
        method has no executable skills, or where the slot has no denominator.

    Raises:
        InputError: The frame is no cells frame, or a run lacks cells of the grid.

    Example:
        >>> from skillshift import Grid, cells
        >>> log = pl.DataFrame({
        ...     "uid": ["a", "a"], "site": ["shop", "shop"], "condition": ["src", "tgt"],
        ...     "success": [True, False], "steps": [3, 5], "skill_calls": [1, 0], "skill_failures": [1, 0],
        ... })
        >>> numbers = marginals(cells(log, grid=Grid("one", {"shop": 1}, ["src", "tgt"])))
        >>> numbers.filter(metric="SR").select("slot", "published").rows()
        [('shop', '50.00'), ('src', '100.00'), ('tgt', '0.00'), ('overall', '50.00')]
        >>> numbers.filter(metric="SFR", slot="overall").select("value", "pooled", "reason").row(0)
        (None, 100.0, 'no-skill-calls')
    """
    by = run_keys(cells, "website")
    check_keys(by, MARGINALS)
    placed = _placed(cells, by)
    slots = _slots(placed, cells["website"].n_unique(), cells["condition"].n_unique())
    rolled = slots.group_by("_run", "_slot").agg(
        pl.col(*by, "group", "slot").first(),
        pl.col(*COUNTS).sum(),
        pl.col("complete").all().not_().alias("incomplete"),
        pl.col("skill_calls").is_null().any().alias("_none"),
        pl.col("skill_calls").sum().alias("_calls"),
        pl.col("skill_calls").min().alias("_min_calls"),
        pl.col("reason").unique().alias("_reasons"),
        ratio(100 * pl.col("successes"), pl.col("planned")).alias("_lower"),
        ratio(100 * (pl.col("successes") + pl.col("planned") - pl.col("scored")), pl.col("planned")).alias(
            "_upper"
        ),
        *(expression for metric in METRICS for expression in _of_cells(metric)),
    )
    order = ["_run", "_metric", "_slot"]
    per_metric = [
        rolled.select("_run", pl.lit(i).alias("_metric"), "_slot", *by, *_SHARED, *_of_metric(metric))
        for i, metric in enumerate(METRICS)
    ]
    made = pl.concat(per_metric).sort(order).select(*order, *by, *_columns())
    table = collect(_published(made), engine="in-memory")
    return _rounded(table).select(*by, *MARGINALS)


def _placed(cells: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The cells with their run's number and their places in the grid; every run must have every cell."""
    lacking = [name for name in ("website", "condition", *OUTPUTS) if name not in cells.columns]
    if lacking:
        raise InputError(
            f"expected a cells frame, but it lacks {', '.join(lacking)}; skillshift.cells makes one"
        )
    websites, conditions = cells["website"].n_unique(), cells["condition"].n_unique()
    size = websites * conditions
    row = pl.int_range(cells.height, eager=True)
    # In whole grids in their order, every run repeats the first one's places under one set of keys.
    whole = cells.height > 0 and cells.height % size == 0
    whole = whole and all(_repeats(cells[name], row % size) for name in ("website", "condition"))
    whole = whole and all(_repeats(cells[name], row - row % size) for name in by)
    whole = whole and all(
        _repeats(cells[name][:size], place)
        for name, place in (
            ("website", row[:size] - row[:size] % conditions),
            ("condition", row[:size] % conditions),
        )
    )
    firsts = row.filter(row % size == 0)
    whole = whole and not (cells.select(by)[firsts].is_duplicated().any() if by else len(firsts) > 1)
    if not whole:
        raise InputError(
            f"the cells are not whole grids in order: {cells.height} rows for {websites} websites and "
            f"{conditions} conditions; filter whole runs, give each run once, and keep the order that "
            "skillshift.cells gives"
        )
    return cells.with_columns(
        (row // size).alias("_run"),
        (row % size // conditions).alias("_website"),
        (row % conditions).alias("_condition"),
    )


def _repeats(column: pl.Series, of: pl.Series) -> bool:
    """Whether every value is the one that stands at the given row."""
    return bool(column.eq_missing(column.gather(of)).all())


def _slots(placed: pl.DataFrame, websites: int, conditions: int) -> pl.LazyFrame:
    """Each cell once a slot that it belongs to: its website, its condition, and the whole."""
    cells = placed.lazy()
    return pl.concat(
        [
            cells.with_columns(group=pl.lit("website"), slot="website", _slot="_website"),
            cells.with_columns(
                group=pl.lit("condition"), slot="condition", _slot=websites + pl.col("_condition")
            ),
            cells.with_columns(
                group=pl.lit("overall"),
                slot=pl.lit("overall"),
                _slot=pl.lit(websites + conditions, dtype=pl.Int64),
            ),
        ]
    )


_PARTS = ("_values", "_numerators", "_denominators")


@cache
def _of_cells(metric: Metric) -> tuple[pl.Expr, ...]:
    """A metric's values, numerators and denominators over a slot's cells, as lists in the grid's order.

    The mean of a list does not depend on the number of threads, which that of a group may.
    """
    parts = (pl.col(metric.name), metric.numerator, metric.denominator)
    return tuple(part.alias(f"_{metric.name}{name}") for part, name in zip(parts, _PARTS, strict=True))


_SHARED = (
    "group", "slot", *COUNTS, "incomplete", "_none", "_calls", "_min_calls", "_reasons", "_lower", "_upper",
)  # fmt: skip
"""What a slot has once for all metrics."""


@cache
def _of_metric(metric: Metric) -> tuple[pl.Expr, ...]:
    """What a slot has for each metric, under names that are the same for all of them."""
    return (
        pl.lit(metric.name).alias("metric"),
        pl.lit(metric.scale, dtype=pl.Int64).alias("_scale"),
        pl.lit(metric.name in OF_SKILLS).alias("_of_skills"),
        pl.lit(metric is SFR).alias("_is_sfr"),
        pl.lit(metric is SR).alias("_is_sr"),
        *(pl.col(f"_{metric.name}{part}").alias(part) for part in _PARTS),
    )


@cache
def _columns() -> tuple[pl.Expr, ...]:
    is_sfr, reasons = pl.col("_is_sfr"), pl.col("_reasons")
    none = pl.col("_none") & pl.col("_of_skills")
    has = {code: reasons.list.contains(code) for code in REASONS if code != "not-applicable"}
    has["no-skill-calls"] &= is_sfr
    reason = pl.coalesce(
        pl.when(none).then(pl.lit("not-applicable")),
        *(pl.when(here).then(pl.lit(code)) for code, here in has.items()),
    )
    denominator = pl.when(~(none & is_sfr)).then(pl.col("_denominators").list.sum())
    hidden = none | has["incomplete"] | (denominator == 0)
    calls = pl.when(~pl.col("_none"))
    pooled = ratio(pl.col("_numerators").list.sum() * pl.col("_scale"), denominator)
    return (
        pl.col("metric", "group", "slot"),
        pl.when(reason.is_null()).then(pl.col("_values").list.mean()).alias("value"),
        pl.when(~hidden).then(pooled).alias("pooled"),
        denominator.alias("denominator"),
        *(pl.col(count) for count in COUNTS),
        calls.then(pl.col("_calls")).alias("skill_calls"),
        calls.then(pl.col("_min_calls")).alias("min_cell_calls"),
        (is_sfr & ~pl.col("_none") & (pl.col("_calls") < LOW_COUNT)).alias("low_count"),
        pl.col("incomplete"),
        *(
            pl.when("_is_sr").then(pl.col(f"_{bound}").list.mean()).alias(bound)
            for bound in ("lower", "upper")
        ),
        reason.alias("reason"),
        pl.col("_numerators", "_denominators", "_scale"),
    )


def _published(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add the published decimals as the double gives them, and where that is not sure."""
    scaled = pl.col("value") * 10**PUBLISHED_DECIMALS
    near = ((scaled - scaled.floor() - 0.5).abs() < _SURE) | (pl.col("value") > _EXACT_FROM)
    return table.with_columns(double_text("value").alias("published"), near.alias("_near"))


def double_text(column: str) -> pl.Expr:
    """A double's text to the published decimals, half-up; near a half the double itself decides."""
    unit = 10**PUBLISHED_DECIMALS
    digits = (pl.col(column) * unit + 0.5).floor().cast(pl.Int64)
    decimals = (digits % unit).cast(pl.String).str.zfill(PUBLISHED_DECIMALS)
    return pl.concat_str(digits // unit, pl.lit("."), decimals)


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    """Round the values that the double is not sure of from their exact sums."""
    if not table["_near"].any():
        return table
    unsure = table.with_row_index("_row").filter("_near")
    exact = [
        half_up(_mean_of_ratios(row["_numerators"], row["_denominators"], row["_scale"]))
        for row in unsure.select("_numerators", "_denominators", "_scale").to_dicts()
    ]
    return table.with_columns(table["published"].scatter(unsure["_row"], exact))


def _mean_of_ratios(numerators: Sequence[int], denominators: Sequence[int], scale: int) -> Fraction:
    ratios = [Fraction(scale * n, d) for n, d in zip(numerators, denominators, strict=True)]
    return sum(ratios, Fraction(0)) / len(ratios)
