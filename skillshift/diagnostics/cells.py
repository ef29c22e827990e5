"""From records to cells: every cell of the grid for every run, with its counts, sums and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift.diagnostics.tasks import (
    OnDuplicates,
    check_mixed,
    check_tasks,
    drop_duplicates,
    duplicate_error,
    errored_tasks,
    has_canonical,
    numbered,
    task_key,
)
from skillshift.frame.contract import Rule, collect, collect_all
from skillshift.frame.engine import check_grouped, grouped_sums, total
from skillshift.frame.errors import SHOWN, ContractError, InputError, UsageError, Violation
from skillshift.frame.reading import scan
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.metrics import METRICS
from skillshift.schema import PER_TASK, RUN_KEYS, per_task, uid_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

Incomplete = Literal["undefined", "scored"]

SUMS = ("successes", "steps", "skill_calls", "skill_failures")
"""The sums over a cell's scored records."""

COUNTS = ("planned", "attempted", "errored", "scored", "missing")
"""A cell's task counts: planned = scored + errored + missing, attempted = scored + errored."""

OUTPUTS = ("website", *COUNTS, "complete", *SUMS, *METRICS.names, "reason")
"""The columns of a cells frame after the run keys, the condition aside."""

_SCORED = "_scored"


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


def sums(logs: Any, *, by: Sequence[str] | None = None, grid: Grid = SKILLSHIFT) -> pl.DataFrame:
    """The additive sums of the logs: those of two halves added up are those of the whole.

    Args:
        logs: Per-task records, as :func:`cells` takes them.
        by: The run keys; by default those of method, model, run and trial that are present.
        grid: The grid that the records must fit.

    Returns:
        One row a run and cell that has records, sorted by the run keys, website and condition: the run
        keys, ``website``, ``condition``, ``records``, ``errors`` (records with an error), ``scored``
        (records without), ``called`` (scored records whose ``skill_calls`` is a count), ``successes``,
        ``steps``, ``skill_calls``, ``skill_failures`` (Int64, over the scored records).

    Raises:
        ContractError: A record breaks a row rule. Whether a task was scored twice needs all records at
            once, so only :func:`cells` checks that.
    """
    frame, keys = _records(logs, by, grid)
    return _grouped(frame, keys, grid).sort(keys).rename({"site": "website"})


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
    frame, keys = _records(logs, by, grid)
    grouped, twice = _one_pass(frame, keys, grid)
    records = int(grouped["records"].sum())
    if not records:
        raise InputError(f"{PER_TASK.name}: no records; expected at least one")
    if twice:
        frame = numbered(frame)
        if on_duplicates == "refuse":
            raise duplicate_error(frame, keys)
        frame = drop_duplicates(frame, keys, on_duplicates)
        grouped = _grouped(frame, keys, grid)
    kept = int(grouped["records"].sum())
    check_mixed(grouped, frame, keys)
    errored = collect(errored_tasks(frame, keys)) if grouped["errors"].sum() else None
    whole = _complete(grouped, errored, keys, grid)
    if lost is not None:
        marked = lost.rename({"site": "website"}).with_columns(_lost=pl.lit(value=True))
        whole = whole.join(marked, on=cell_names(keys), how="left", maintain_order="left")
        whole = whole.with_columns(pl.col("complete") & pl.col("_lost").is_null()).drop("_lost")
    table = _with_values(whole, incomplete)
    _check_sizes(table, keys, grid)
    return Measured(table, tuple(keys[:-2]), grid, kept, records - kept)


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UsageError(f"{option}: found {value!r}, expected one of {', '.join(allowed)}")


def _records(logs: Any, by: Sequence[str] | None, grid: Grid) -> tuple[pl.LazyFrame, list[str]]:
    """The conformed records, and the keys of their cells: run keys, site, condition."""
    table = per_task(grid)
    frame = table.conform(logs if isinstance(logs, pl.LazyFrame) else scan(logs, table))
    names = frame.collect_schema().names()
    if by is None:
        by = [key for key in RUN_KEYS if key in names]
    absent = [key for key in by if key not in names]
    if absent:
        raise UsageError(f"by: the logs have no column {absent[0]!r} (columns: {', '.join(names)})")
    taken = sorted(set(by) & {*PER_TASK.names, *OUTPUTS} - set(RUN_KEYS))
    if taken or len(set(by)) != len(by):
        raise UsageError(
            f"by: {(taken or list(by))[0]!r} cannot be a run key; name each of your own columns once"
        )
    return frame, [*by, "site", "condition"]


def _rules(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> list[Rule]:
    """The rules that the sums step checks; those of uids are checked with the task keys."""
    rules = per_task(grid).all_rules(frame.collect_schema().names())
    of_uids = {rule.code for rule in uid_rules(grid)}
    own = [
        Rule(f"{key}.missing", key, pl.col(key).is_null(), "a value in every record, as it is a run key")
        for key in keys[:-2]
        if key not in PER_TASK.names
    ]
    return [*(rule for rule in rules if rule.code not in of_uids), *own]


def _plan(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> pl.LazyFrame:
    calls = pl.col("skill_calls")
    aggregations = [
        pl.len().cast(pl.Int64).alias("records"),
        total("success").alias("successes"),
        total("steps"),
        total("skill_calls"),
        total("skill_failures"),
        calls.count().cast(pl.Int64).alias("called"),
    ]
    # Scored or not is a key of the group-by, which costs less than masking every sum.
    scored = pl.col("error").is_null().alias(_SCORED)
    return grouped_sums(frame.with_columns(scored), [*keys, _SCORED], aggregations, _rules(frame, keys, grid))


def _grouped(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> pl.DataFrame:
    return _by_cell(collect(_plan(frame, keys, grid)), frame, keys, grid)


def _one_pass(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> tuple[pl.DataFrame, bool]:
    """The sums and whether a task was scored twice, from one reading of the records."""
    canonical = has_canonical(frame)
    scored = frame.filter(pl.col("error").is_null())
    plans = [
        _plan(frame, keys, grid),
        scored.select(task_key(keys, grid, canonical=canonical)),
    ]
    grouped, found = collect_all(plans)
    by_cell = _by_cell(grouped, frame, keys, grid)
    return by_cell, check_tasks(scored, found["key"], keys, grid, canonical=canonical)


def _by_cell(grouped: pl.DataFrame, frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> pl.DataFrame:
    rules = _rules(frame, keys, grid)
    checked = check_grouped(grouped, frame, keys, rules, PER_TASK.name)
    scored = pl.col(_SCORED)
    return checked.group_by(keys).agg(
        pl.col("records").sum(),
        pl.col("records").filter(~scored).sum().alias("errors"),
        pl.col("records").filter(scored).sum().alias("scored"),
        *(pl.col(name).filter(scored).sum() for name in ("called", *SUMS)),
    )


def _scaffold(grouped: pl.DataFrame, by: Sequence[str], grid: Grid) -> pl.DataFrame:
    """Every run with every cell of the grid, in output order."""
    of_grid = pl.DataFrame(
        list(grid.cells()),
        schema={"website": pl.String, "condition": pl.String, "planned": pl.Int64},
        orient="row",
    )
    if not by:
        return of_grid
    return grouped.select(by).unique().sort(by).join(of_grid, how="cross", maintain_order="left_right")


def _complete(
    grouped: pl.DataFrame, errored: pl.DataFrame | None, keys: Sequence[str], grid: Grid
) -> pl.DataFrame:
    """Every cell with its counts and sums; what has no record counts 0."""
    by, on = keys[:-2], [*keys[:-2], "website", "condition"]
    if errored is not None:
        grouped = grouped.join(errored, on=keys, how="left")
    else:
        grouped = grouped.with_columns(errored=pl.lit(0, dtype=pl.Int64))
    made = _scaffold(grouped, by, grid).join(
        grouped.rename({"site": "website"}), on=on, how="left", maintain_order="left"
    )
    counts = ["errored", "scored", "called", *SUMS]
    whole = pl.col("called").sum().over(by) if by else pl.col("called").sum()
    none_scored = pl.col("scored").sum().over(by) if by else pl.col("scored").sum()
    applies = (whole > 0) | (none_scored == 0)
    return (
        made.with_columns(pl.col(counts).fill_null(0))
        .with_columns(
            (pl.col("scored") + pl.col("errored")).alias("attempted"),
            (pl.col("planned") - pl.col("scored") - pl.col("errored")).alias("missing"),
            (pl.col("scored") == pl.col("planned")).alias("complete"),
            *(pl.when(applies).then(pl.col(name)).alias(name) for name in ("skill_calls", "skill_failures")),
        )
        .select(*on, *COUNTS, "complete", *SUMS)
    )


def _with_values(table: pl.DataFrame, incomplete: Incomplete) -> pl.DataFrame:
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


def cell_names(keys: Sequence[str]) -> list[str]:
    """The columns that name a cell in outputs, where the site is called website."""
    return [*keys[:-2], "website", "condition"]
