"""From records to the sums of each cell: the only step of the diagnostics that sees rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.diagnostics.tasks import (
    KEY,
    SUSPECT,
    begins_canonical,
    check_tasks,
    has_suspects,
    keyed,
    suspected,
    uid_checks,
)
from skillshift.frame.contract import Kind, Rule, collect
from skillshift.frame.engine import check_grouped, collect_beside, grouped_sums, reads_columns, total
from skillshift.frame.errors import UsageError
from skillshift.frame.reading import scan
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.metrics import METRICS
from skillshift.schema import PER_TASK, RUN_KEYS, per_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUMS = ("successes", "steps", "skill_calls", "skill_failures")
"""The sums over a cell's scored records."""

COUNTS = ("planned", "attempted", "errored", "scored", "missing")
"""A cell's task counts: planned = scored + errored + missing, attempted = scored + errored."""

OUTPUTS = ("website", *COUNTS, "complete", *SUMS, *METRICS.names, "reason")
"""The columns of a cells frame after the run keys, the condition aside."""

RECORDS = ("records", "errors", "called")
"""A cell's record counts: all, errored ones, and scored ones whose skill calls are counted."""

SCORED = "_scored"
"""The column that tells the sums of scored records from those of errored ones."""


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
    frame, keys = cell_records(logs, by, grid)
    rules = _rules(frame, keys, grid)
    if reads_columns(frame) and not has_suspects(frame):
        plan = _plan(frame, keys, rules)
    else:
        looked_at = suspected(frame, grid, canonical=begins_canonical(frame))
        suspect = Rule(SUSPECT, "uid", pl.col(SUSPECT), "")  # it only makes the exact rules look
        plan = _plan(looked_at, keys, [*rules, suspect])
    grouped = collect(plan)
    checked = _checked(grouped, frame, keys, rules, grid)
    summed = by_cell(checked, keys).rename({"site": "website"})
    return collect(summed.sort(cell_names(keys)), engine="in-memory")


def cell_records(logs: Any, by: Sequence[str] | None, grid: Grid) -> tuple[pl.LazyFrame, list[str]]:
    """The conformed records, and the keys of their cells: run keys, site, condition."""
    table = per_task(grid)
    frame = table.conform(logs if isinstance(logs, pl.LazyFrame) else scan(logs, table))
    names = frame.collect_schema().names()
    if isinstance(by, str):
        raise UsageError(f"by: found the text {by!r}, expected a list of column names, such as [{by!r}]")
    if by is None:
        by = [key for key in RUN_KEYS if key in names]
    absent = [key for key in by if key not in names]
    if absent:
        raise UsageError(f"by: the logs have no column {absent[0]!r} (columns: {', '.join(names)})")
    check_keys(by, {*PER_TASK.names, *OUTPUTS, *RECORDS} - set(RUN_KEYS))
    own = [key for key in by if key not in PER_TASK.names]
    return _typed(frame, own) if own else frame, [*by, "site", "condition"]


def _typed(frame: pl.LazyFrame, own: Sequence[str]) -> pl.LazyFrame:
    """The records with dictionaries among the user's own run keys as text, so that no order is theirs."""
    schema = frame.collect_schema()
    for key in own:
        dtype = schema[key]
        if not (Kind.LABEL.accepts(dtype) or dtype.is_float() or dtype == pl.Boolean):
            raise UsageError(
                f"by: the column {key!r} is of type {dtype}, expected text, numbers, or true and false; cast "
                "it to text first"
            )
    dictionaries = [key for key in own if isinstance(schema[key], pl.Categorical | pl.Enum)]
    return frame.with_columns(pl.col(dictionaries).cast(pl.String)) if dictionaries else frame


def check_keys(by: Sequence[str], taken: Iterable[str]) -> None:
    """Refuse run keys that an output could not have beside its own columns.

    Args:
        by: The run keys.
        taken: The names of the output's own columns.

    Raises:
        UsageError: A run key is one of them, begins with an underscore as working columns do, or is named
            twice.
    """
    named = list(by)
    wrong = [key for key in named if key in set(taken) or key.startswith("_") or named.count(key) > 1]
    if wrong:
        raise UsageError(
            f"by: {wrong[0]!r} cannot be a run key, as an output has a column of that name, or it begins "
            "with an underscore, or it is named twice; rename the column, or leave it out"
        )


def _rules(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> list[Rule]:
    """The row rules, without those of uids: whatever looks at uids checks them."""
    schema = frame.collect_schema()
    own = [
        Rule(f"{key}.missing", key, _missing(key, schema[key]), "a value in every record, as it is a run key")
        for key in keys[:-2]
        if key not in PER_TASK.names
    ]
    return [*(rule for rule in per_task(grid).all_rules(schema.names()) if rule.field != "uid"), *own]


def _missing(key: str, dtype: pl.DataType) -> pl.Expr:
    missing = pl.col(key).is_null()
    return missing | ~pl.col(key).is_finite() if dtype.is_float() else missing


def _plan(frame: pl.LazyFrame, keys: Sequence[str], rules: Sequence[Rule]) -> pl.LazyFrame:
    calls = pl.col("skill_calls")
    aggregations = [
        pl.len().cast(pl.Int64).alias("records"),
        # At most the number of records, so the sum's own 32 bits hold it, and one cast a group is enough.
        pl.col("success").sum().cast(pl.Int64).alias("successes"),
        total("steps"),
        total("skill_calls"),
        total("skill_failures"),
        calls.count().cast(pl.Int64).alias("called"),
    ]
    # Scored or not is a key of the group-by, which costs less than masking every sum.
    scored = pl.col("error").is_null().alias(SCORED)
    return grouped_sums(frame.with_columns(scored), [*keys, SCORED], aggregations, rules)


def cell_sums(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> pl.DataFrame:
    """The sums of each cell, its scored and its errored records apart; the rules of uids are not checked."""
    rules = _rules(frame, keys, grid)
    return _checked(collect(_plan(frame, keys, rules)), frame, keys, rules, grid)


def one_pass(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> tuple[pl.DataFrame, bool]:
    """The same, the uids of scored records checked, and whether a task was scored twice: from one reading."""
    rules, canonical = _rules(frame, keys, grid), begins_canonical(frame)
    # The keys are made first and filtered then: one column is cheaper to filter than all of them.
    key = keyed(frame, keys, grid, canonical=canonical).select(KEY, pl.col("error").is_null().alias(SCORED))
    found, (grouped,) = collect_beside(key.filter(SCORED).select(KEY), _plan(frame, keys, rules))
    checked = _checked(grouped, frame, keys, rules, grid)
    return checked, check_tasks(frame, found, keys, grid, canonical=canonical)


def _checked(
    grouped: pl.DataFrame, frame: pl.LazyFrame, keys: Sequence[str], rules: Sequence[Rule], grid: Grid
) -> pl.DataFrame:
    # Once something is wrong, whatever is wrong is told, of the uids too.
    return check_grouped(grouped, frame, keys, [*rules, *uid_checks(grid)], PER_TASK.name)


def by_cell(grouped: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """One row a cell with records: the sums of its scored ones, and how many are errored."""
    scored = pl.col(SCORED)
    return (
        grouped.lazy()
        .group_by(keys)
        .agg(
            pl.col("records").sum(),
            pl.col("records").filter(~scored).sum().alias("errors"),
            pl.col("records").filter(scored).sum().alias("scored"),
            *(pl.col(name).filter(scored).sum() for name in ("called", *SUMS)),
        )
    )


def cell_names(keys: Sequence[str]) -> list[str]:
    """The columns that name a cell in outputs, where the site is called website."""
    return [*keys[:-2], "website", "condition"]
