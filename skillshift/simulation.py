"""Simulated per-task logs: any grid, any rates, whole runs and unfinished ones.

Every record comes from one simple model. A task takes one step and a Poisson number of further ones; each
step is a skill call with the same chance; each call fails with the same chance; the task is solved with
a chance of its own. The chances of a cell are ``website * condition / overall`` of printed marginals,
clipped to what is possible.

A seed gives the same records on any machine and with any version of any library; a cell's records do not
depend on the other cells; and leaving tasks out changes no record of the others.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillshift.frame.contract import Kind
from skillshift.frame.draws import draws, happens, poisson, thinned
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.writing import staged
from skillshift.grid import SKILLSHIFT, Condition, Grid
from skillshift.rates import PrintedRates, Rates, as_fraction
from skillshift.schema import PER_TASK, PREFIX, RUN_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillshift.frame.draws import Counts, Draws
    from skillshift.rates import Number

__all__ = ["ERROR", "LOG_NAME", "PrintedRates", "Rates", "simulate", "write_logs"]

LOG_NAME = "per_task.jsonl"
"""The name of a method's log in its folder."""

MOST_STEPS = 10_000
"""The largest average of steps that is simulated: the work grows with it."""

ERROR = "simulated: the website did not answer"
"""What an errored record says."""


def simulate(
    grid: Grid = SKILLSHIFT,
    *,
    rates: Rates,
    seed: int,
    method: str,
    model: str = "simulated",
    run: str | int | None = None,
    trial: str | int | None = None,
    missing: Number = 0,
    errored: Number = 0,
    retried: Number = 0,
) -> pl.DataFrame:
    """Simulate one run's per-task log.

    Args:
        grid: The grid.
        rates: The method's rates, for every website and condition of the grid.
        seed: Any whole number. Runs that differ in a run key draw differently from one seed.
        method: The run's method.
        model: Its model.
        run: Its name; null leaves the column out.
        trial: Its repetition; null leaves the column out.
        missing: The chance, 0 to 1, that a task has no record at all.
        errored: The chance that a task which has records has an errored one.
        retried: The chance that an errored task has a scored record as well, after the errored one.

    Returns:
        One row a record, by website, condition and task: ``uid``, ``site``, ``condition`` (String),
        ``success`` (Boolean) and ``steps`` (Int64), null in errored records, ``skill_calls`` and
        ``skill_failures`` (Int64), null in errored records and where the method has no executable skills,
        ``error`` (String), null in scored records, ``method``, ``model``, and where given ``run`` and
        ``trial`` (String). uids are ``skillshift.<site>.<v1|v2>.<index>`` on the SkillShift grid (v1 in
        ``src`` conditions, v2 in ``tgt``), else ``<grid>.<site>.<index>``.

    Raises:
        InputError: The rates do not cover the grid, a cell's AS is above 10,000, a chance is not from 0 to 1,
            or a text is empty.
        UsageError: The seed is not a whole number.

    >>> rates = Rates.flat(SKILLSHIFT, SR=40, AS=9.5, ASC=0.5, SFR=12)
    >>> log = simulate(rates=rates, seed=1, method="invented")
    >>> log.height, log["success"].null_count(), log["uid"][9]
    (2130, 0, 'skillshift.gitlab.v1.9')
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed: found {shorten(seed)}, expected a whole number")
    given = {"method": method, "model": model, "run": run, "trial": trial}
    keys = {name: _key(name, value) for name, value in given.items() if value is not None}
    chances = {
        name: _chance(name, value)
        for name, value in (("missing", missing), ("errored", errored), ("retried", retried))
    }
    cells = [
        _cell(grid, site, condition, rates=rates, chances=chances, key=json.dumps([seed, keys]))
        for site in grid.website_names
        for condition in grid.conditions
    ]
    named = [pl.lit(keys[name]).alias(name) for name in RUN_KEYS if name in keys]
    order = [name for name in PER_TASK.names if name not in RUN_KEYS or name in keys]
    return pl.concat(cells).with_columns(named).select(order)


def write_logs(log: pl.DataFrame, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write per-task records as JSON Lines, one file a method: ``<folder>/<method>/per_task.jsonl``.

    Args:
        log: Per-task records with a ``method`` column, as :func:`simulate` returns them. Optional columns
            without any value are left out.
        folder: Made where it does not exist.
        overwrite: Whether files that exist are replaced, each whole, once all are written.

    Returns:
        The files, in the order in which the methods come.

    Raises:
        ContractError: A record breaks the per-task log's rules.
        InputError: There are no records or methods, a method's name cannot name a folder, a file exists, or
            one cannot be written; earlier files are then as they were.
    """
    if "method" not in log.columns or log.is_empty():
        raise InputError(
            "the log has no method column or no records, expected at least one record with a method"
        )
    checked = PER_TASK.validate(log.lazy()).select(log.columns).collect()
    methods = checked["method"].unique(maintain_order=True).to_list()
    files = [Path(folder) / _folder_name(method) / LOG_NAME for method in methods]
    taken = [file for file in files if file.exists()]
    if taken and not overwrite:
        raise InputError(
            f"{taken[0]}: exists already; choose another folder, or overwrite it (overwrite=True)"
        )
    optional = [f.name for f in PER_TASK.fields if not f.required and f.name in log.columns]
    with ExitStack() as stack:
        for method, file in zip(methods, files, strict=True):
            records = checked.filter(pl.col("method") == method)
            empty = [name for name in optional if records[name].null_count() == records.height]
            place = stack.enter_context(staged(file.parent))
            records.drop(empty).write_ndjson(place / file.name)
    return files


def _key(name: str, value: object) -> str:
    kind = PER_TASK[name].kind
    if kind is Kind.LABEL and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InputError(f"{name}: found {shorten(value)}, expected {kind.value}, not empty")
    return value


def _chance(name: str, value: Number) -> Fraction:
    try:
        chance = as_fraction(value)
    except InputError as error:
        raise InputError(f"{name}: found {shorten(value)}, expected a chance from 0 to 1") from error
    if chance > 1:
        raise InputError(f"{name}: found {shorten(value)}, expected a chance from 0 to 1")
    return chance


def _folder_name(method: str) -> str:
    if method in (".", "..") or any(sign in method for sign in "/\\:\0"):
        raise InputError(
            f"method {shorten(method)}: cannot name a folder, expected a name without / \\ : and NUL"
        )
    return method


# -- one cell --------------------------------------------------------------------------------------------


def _cell(
    grid: Grid, site: str, condition: Condition, *, rates: Rates, chances: Mapping[str, Fraction], key: str
) -> pl.DataFrame:
    planned = grid.websites[site]

    def drawn(what: str) -> Draws:
        return draws(json.dumps([key, site, condition.name, what]), planned)

    def flags(what: str, chance: Fraction) -> pl.Series:
        return pl.Series(what, happens(chance, drawn(what)))

    average = max(rates.AS.cell(site, condition.name), Fraction(1))
    if average > MOST_STEPS:
        raise InputError(f"rates: AS of {site} under {condition.name} is above {MOST_STEPS:,} steps a task")
    steps = 1 + poisson(average - 1, drawn("steps"))
    calls = failures = None
    if rates.ASC is not None and rates.SFR is not None:
        called = rates.ASC.cell(site, condition.name) / average
        calls = thinned(steps, called, drawn("skill_calls"))
        failures = thinned(calls, rates.SFR.cell(site, condition.name) / 100, drawn("skill_failures"))
    measured = ("success", "steps", "skill_calls", "skill_failures")
    scored = pl.DataFrame(
        [
            pl.Series("task", np.arange(planned)),
            flags("success", rates.SR.cell(site, condition.name) / 100),
            pl.Series("steps", steps, dtype=pl.Int64),
            pl.Series("skill_calls", _or_nulls(calls, planned), dtype=pl.Int64),
            pl.Series("skill_failures", _or_nulls(failures, planned), dtype=pl.Int64),
            *(flags(what, chance) for what, chance in chances.items()),
        ]
    ).with_columns(
        uid=pl.format("{}.{}", pl.lit(_uid_stem(grid, site, condition)), "task"),
        site=pl.lit(site),
        condition=pl.lit(condition.name),
        error=pl.lit(None, dtype=pl.String),
    )
    present = scored.filter(~pl.col("missing"))
    failed = present.filter("errored").with_columns(
        *(pl.lit(None, dtype=scored.schema[name]).alias(name) for name in measured), error=pl.lit(ERROR)
    )
    # A stable sort: a task's errored record comes before the scored one of its retry.
    return pl.concat([failed, present.filter(~pl.col("errored") | pl.col("retried"))]).sort(
        "task", maintain_order=True
    )


def _uid_stem(grid: Grid, site: str, condition: Condition) -> str:
    if grid != SKILLSHIFT:
        return f"{grid.name}.{site}"
    return f"{PREFIX}{site}.{'v1' if condition.context == 'src' else 'v2'}"


def _or_nulls(values: Counts | None, length: int) -> Counts | list[None]:
    return [None] * length if values is None else values
