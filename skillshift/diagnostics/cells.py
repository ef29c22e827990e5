"""From records to cells: every cell of the grid for every run, with its counts, sums and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift.diagnostics.summing import (
    COUNTS,
    SCORED,
    SUMS,
    by_cell,
    cell_names,
    cell_records,
    cell_sums,
    one_pass,
)
from skillshift.diagnostics.tasks import (
    OnDuplicates,
    check_mixed,
    drop_duplicates,
    duplicate_error,
    errored_tasks,
    numbered,
)
from skillshift.frame.contract import collect
from skillshift.frame.errors import SHOWN, ContractError, InputError, UsageError, Violation
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.metrics import METRICS
from skillshift.schema import PER_TASK

if TYPE_CHECKING:
    from collections.abc import Sequence

Incomplete = Literal["undefined", "scored"]


@dataclass(frozen=True, slots=True)
class Measured:
    """The cells of some logs, and what outputs say beside them.

    Attributes:
        cells: The cells.
        by: The run keys.
        grid: The grid they are on.
        records: How many records were read.
        duplicates: How many scored records ``on_duplicates`` left out.
    """

    cells: pl.DataFrame
    by: tuple[str, ...]
    grid: Grid
    records: int
    duplicates: int


def cells(
    logs: Any,
    *,
    by: Sequence[str] | None = None,
    grid: Grid = SKILLSHIFT,
    incomplete: Incomplete = "undefined",
    on_duplicates: OnDuplicates = "refuse",
) -> pl.DataFrame:
    """Every cell of the grid for every run, whether the logs have records for it or not.

    Args:
        logs: Per-task records: a scanned log, any Polars frame, any frame that Narwhals reads, or a path.
            Columns: ``uid``, ``site``, ``condition`` (text), ``success`` (Boolean), ``steps``,
            ``skill_calls``, ``skill_failures`` (integers), and optionally ``error``, ``method``, ``model``,
            ``run``, ``trial`` (text); see :data:`skillshift.schema.FIELDS`.
        by: The run keys; by default those of method, model, run and trial that are present.
        grid: The grid that the records must fit.
        incomplete: ``undefined`` leaves an incomplete cell's values null; ``scored`` gives the values over
            what was scored, and ``complete`` says which cells those are.
        on_duplicates: What to do where a task was scored twice in its cell: ``refuse``, or keep the
            ``first`` or ``last`` record in the order of path, then line.

    Returns:
        One row a run and cell, sorted by the run keys and the grid's order: the run keys, ``website``,
        ``condition``; ``planned``, ``attempted``, ``errored``, ``scored``, ``missing`` (Int64, tasks);
        ``complete`` (Boolean); ``successes``, ``steps``, ``skill_calls``, ``skill_failures`` (Int64 sums
        over scored records, the last two null where the method has no executable skills); ``SR`` (%),
        ``AS`` (steps a task), ``ASC`` (calls a task), ``SFR`` (% of calls) (Float64, null where undefined);
        ``reason`` (text, why a value is null: ``incomplete``, ``not-applicable``, ``no-skill-calls`` or
        ``nothing-scored``; null where all four are defined).

    Raises:
        ContractError: A record breaks the contract, a task was scored twice, a cell has more tasks than the
            grid plans, or a run mixes null and counted skill calls.
        InputError: The logs cannot be read or hold no record.

    Example:
        >>> one = Grid("one", {"shop": 2}, ["src"])
        >>> log = pl.DataFrame({
        ...     "uid": ["a", "b"], "site": ["shop"] * 2, "condition": ["src"] * 2, "success": [True, False],
        ...     "steps": [3, 5], "skill_calls": [1, 0], "skill_failures": [1, 0],
        ... })
        >>> cells(log, grid=one).select("website", "scored", "SR", "AS", "ASC", "SFR").row(0)
        ('shop', 2, 50.0, 4.0, 0.5, 100.0)
    """
    return measure(logs, by=by, grid=grid, incomplete=incomplete, on_duplicates=on_duplicates).cells


def measure(
    logs: Any,
    *,
    by: Sequence[str] | None = None,
    grid: Grid = SKILLSHIFT,
    incomplete: Incomplete = "undefined",
    on_duplicates: OnDuplicates = "refuse",
    lost: pl.DataFrame | None = None,
) -> Measured:
    """As :func:`cells`, with the counts that a report tells beside them.

    Args:
        logs: As :func:`cells`.
        by: As :func:`cells`.
        grid: As :func:`cells`.
        incomplete: As :func:`cells`.
        on_duplicates: As :func:`cells`.
        lost: The run keys, ``site`` and ``condition`` of cells of which a record was refused; they are
            incomplete, whatever else was scored in them.

    Returns:
        The cells and the counts.
    """
    _one_of("incomplete", incomplete, ("undefined", "scored"))
    _one_of("on_duplicates", on_duplicates, ("refuse", "first", "last"))
    frame, keys = cell_records(logs, by, grid)
    grouped, twice = one_pass(frame, keys, grid)
    records = int(grouped["records"].sum())
    if not records:
        raise InputError(f"{PER_TASK.name}: no records; expected at least one")
    if twice:
        frame = numbered(frame)
        if on_duplicates == "refuse":
            raise duplicate_error(frame, keys)
        frame = drop_duplicates(frame, keys, on_duplicates)
        grouped = cell_sums(frame, keys, grid)
    kept = int(grouped["records"].sum())
    errored = None if grouped[SCORED].all() else errored_tasks(frame, keys, grid)
    whole = _complete(grouped, errored, lost, keys, grid)
    if lost is not None:
        whole = _without(whole, lost, keys)
    table = collect(_with_values(whole, incomplete), engine="in-memory")
    check_mixed(table, frame, keys)
    _check_sizes(table, keys, grid)
    return Measured(table.drop("called"), tuple(keys[:-2]), grid, kept, records - kept)


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UsageError(f"{option}: found {value!r}, expected one of {', '.join(allowed)}")


def _scaffold(
    grouped: pl.DataFrame, lost: pl.DataFrame | None, by: Sequence[str], grid: Grid
) -> pl.LazyFrame:
    """Every run with every cell of the grid, in output order."""
    of_grid = pl.LazyFrame(
        list(grid.cells()),
        schema={"website": pl.String, "condition": pl.String, "planned": pl.Int64},
        orient="row",
    )
    if not by:
        return of_grid
    # A run of which every record was refused is a run without scored tasks, not none.
    runs = grouped.lazy().select(by)
    if lost is not None:
        typed = lost.lazy().select(by).cast({key: grouped.schema[key] for key in by}, strict=False)
        runs = pl.concat([runs, typed.drop_nulls()])
    runs = runs.unique().sort(by)
    return runs.join(of_grid, how="cross", maintain_order="left_right")


def _complete(
    grouped: pl.DataFrame,
    errored: pl.LazyFrame | None,
    lost: pl.DataFrame | None,
    keys: Sequence[str],
    grid: Grid,
) -> pl.LazyFrame:
    """Every cell with its counts and sums; what has no record counts 0."""
    by, on = keys[:-2], cell_names(keys)
    summed = by_cell(grouped, keys)
    if errored is None:
        summed = summed.with_columns(errored=pl.lit(0, dtype=pl.Int64))
    else:
        summed = summed.join(collect(errored).lazy(), on=keys, how="left")
    made = _scaffold(grouped, lost, by, grid).join(
        summed.rename({"site": "website"}), on=on, how="left", maintain_order="left"
    )
    scored, called = (pl.col(name).fill_null(0).sum() for name in ("scored", "called"))
    if by:
        scored, called = scored.over(by), called.over(by)
    # A run without any scored record tells nothing about its method's skills: its calls are 0, not null.
    applies = (called > 0) | (scored == 0)
    return (
        made.with_columns(
            applies.alias("_applies"), pl.col("errored", "scored", "called", *SUMS).fill_null(0)
        )
        .with_columns(
            (pl.col("scored") + pl.col("errored")).alias("attempted"),
            (pl.col("planned") - pl.col("scored") - pl.col("errored")).alias("missing"),
            (pl.col("scored") == pl.col("planned")).alias("complete"),
            *(
                pl.when("_applies").then(pl.col(name)).alias(name)
                for name in ("skill_calls", "skill_failures")
            ),
        )
        .select(*on, *COUNTS, "complete", *SUMS, "called")
    )


def _without(whole: pl.LazyFrame, lost: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The same cells, those that lost a record marked incomplete."""
    names, schema = cell_names(keys), whole.collect_schema()
    marked = (
        lost.lazy()
        .rename({"site": "website"})
        .cast({name: schema[name] for name in names}, strict=False)
        .with_columns(_lost=pl.lit(value=True))
    )
    joined = whole.join(marked, on=names, how="left", maintain_order="left")
    return joined.with_columns(pl.col("complete") & pl.col("_lost").is_null()).drop("_lost")


def _with_values(table: pl.LazyFrame, incomplete: Incomplete) -> pl.LazyFrame:
    shown = pl.lit(value=True) if incomplete == "scored" else pl.col("complete")
    reason = (
        pl.when(~shown)
        .then(pl.lit("incomplete"))
        .when(pl.col("scored") == 0)
        .then(pl.lit("nothing-scored"))
        .when(pl.col("skill_calls").is_null())
        .then(pl.lit("not-applicable"))
        .when(pl.col("skill_calls") == 0)
        .then(pl.lit("no-skill-calls"))
        .alias("reason")
    )
    values = (pl.when(shown).then(metric.value).alias(metric.name) for metric in METRICS)
    return table.with_columns(*values, reason)


def _check_sizes(table: pl.DataFrame, keys: Sequence[str], grid: Grid) -> None:
    """Refuse a cell with more tasks than the grid plans."""
    over = table.filter(pl.col("missing") < 0)
    if not over.height:
        return
    violations = [
        Violation(
            code="cell.too-many",
            field="uid",
            found=f"{row['attempted']} tasks in {' / '.join(str(row[k]) for k in cell_names(keys))}",
            expected=f"at most {row['planned']}, as grid {grid.name!r} plans",
            hint="is this the right grid, and are these several runs without a run key?",
        )
        for row in over.head(SHOWN).to_dicts()
    ]
    raise ContractError(PER_TASK.name, {"cell.too-many": over.height}, violations)
