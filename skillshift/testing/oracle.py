"""The oracle: what cells and marginals must hold, in plain Python, one record at a time.

It is written from the definitions, not from the implementation: slow, obvious, and exact. Every value
is a :class:`fractions.Fraction` or None, every count an int, and no dataframe library is involved.
Compare a frame with it by :func:`skillshift.testing.assert_cells_equal` and
:func:`skillshift.testing.assert_marginals_equal`, which take the oracle's rows as they are.

>>> from skillshift.grid import Grid
>>> grid = Grid("tiny", {"shop": 2}, ("src",))
>>> record = {"site": "shop", "condition": "src", "steps": 3, "skill_calls": 0, "skill_failures": 0}
>>> records = [{**record, "uid": "a", "success": True}, {**record, "uid": "b", "success": False}]
>>> [cell] = oracle_cells(records, grid=grid)
>>> cell["SR"], cell["ASC"], cell["SFR"], cell["reason"]
(Fraction(50, 1), Fraction(0, 1), None, 'no-skill-calls')
>>> [row["slot"] for row in oracle_marginals([cell]) if row["metric"] == "SR"]
['shop', 'src', 'overall']
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from skillshift.grid import SKILLSHIFT, Grid
from skillshift.testing.verdict import is_scored, oracle_by, oracle_verdict, run_of, task_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Incomplete = Literal["undefined", "scored"]

RATIOS: Final = {
    "SR": ("successes", "scored", 100),
    "AS": ("steps", "scored", 1),
    "ASC": ("skill_calls", "scored", 1),
    "SFR": ("skill_failures", "skill_calls", 100),
}
"""Each metric's numerator, denominator and scale: percentages for SR and SFR, counts for AS and ASC."""

SKILL_METRICS: Final = ("ASC", "SFR")
"""The metrics that a method without executable skills does not have."""

LOW_COUNT: Final = 30
"""SFR over fewer skill calls than this is flagged."""


def oracle_cells(
    records: Iterable[Mapping[str, Any]],
    *,
    grid: Grid = SKILLSHIFT,
    by: Sequence[str] | None = None,
    incomplete: Incomplete = "undefined",
) -> list[dict[str, Any]]:
    """Every cell of the grid, once a run, in the grid's order.

    Args:
        records: Per-task records: ``uid``, ``site``, ``condition``, ``success`` (bool), ``steps`` (int),
            ``skill_calls`` and ``skill_failures`` (int, or both None), and where they apply ``error`` and
            the run keys (text). An absent optional key is the same as None.
        grid: The grid that the runs cover.
        by: The run keys; by default those of method, model, run and trial that some record has.
        incomplete: ``"undefined"``: an incomplete cell has no values. ``"scored"``: it has the values over
            the tasks that were scored.

    Returns:
        One dict a cell with the columns of the cells frame. SR and SFR are percentages, AS and ASC counts
        a task, all Fraction or None; ``reason`` says why one is None. ``skill_calls`` and
        ``skill_failures`` are None in a run whose scored records have none.

    Raises:
        ValueError: The records are refused; the message is :func:`oracle_verdict`'s code.
    """
    log = list(records)
    verdict = oracle_verdict(log, grid, by=by)
    if verdict is not None:
        raise ValueError(verdict)
    keys = oracle_by(log) if by is None else tuple(by)
    rows = []
    for run in sorted({run_of(record, keys) for record in log}):
        own = [record for record in log if run_of(record, keys) == run]
        skills = all(record["skill_calls"] is not None for record in own if is_scored(record))
        for website, condition, planned in grid.cells():
            here = [r for r in own if r["site"] == website and r["condition"] == condition]
            counts = _count(here, planned=planned, skills=skills)
            values = oracle_values(counts, incomplete=incomplete)
            rows.append(
                {
                    **dict(zip(keys, run, strict=True)),
                    "website": website,
                    "condition": condition,
                    **counts,
                    **values,
                }
            )
    return rows


def _count(here: Sequence[Mapping[str, Any]], *, planned: int, skills: bool) -> dict[str, Any]:
    """The counts and sums of one cell's records."""
    scored = [record for record in here if is_scored(record)]
    scored_tasks = {task_of(record) for record in scored}
    # An error beside a scored record of the same task was a failed attempt; the retry measured the task.
    errored_tasks = {task_of(record) for record in here if not is_scored(record)} - scored_tasks
    return {
        "planned": planned,
        "attempted": len(scored_tasks) + len(errored_tasks),
        "errored": len(errored_tasks),
        "scored": len(scored_tasks),
        "missing": planned - len(scored_tasks) - len(errored_tasks),
        "complete": len(scored_tasks) == planned,
        "successes": sum(1 for record in scored if record["success"]),
        "steps": sum(record["steps"] for record in scored),
        "skill_calls": sum(record["skill_calls"] for record in scored) if skills else None,
        "skill_failures": sum(record["skill_failures"] for record in scored) if skills else None,
    }


def oracle_values(cell: Mapping[str, Any], *, incomplete: Incomplete = "undefined") -> dict[str, Any]:
    """The four values of a cell, and its reason, from its counts.

    Args:
        cell: ``planned``, ``scored``, ``successes``, ``steps``, ``skill_calls`` and ``skill_failures``.
        incomplete: What an incomplete cell is worth, as for :func:`oracle_cells`.

    Returns:
        SR, AS, ASC and SFR (Fraction or None) and ``reason``: None where all four have a value.
    """
    if incomplete == "undefined" and cell["scored"] < cell["planned"]:
        return {**dict.fromkeys(RATIOS), "reason": "incomplete"}
    if cell["scored"] == 0:
        return {**dict.fromkeys(RATIOS), "reason": "nothing-scored"}
    values = {metric: oracle_ratio(metric, [cell]) for metric in RATIOS}
    if cell["skill_calls"] is None:
        return {**values, "reason": "not-applicable"}
    return {**values, "reason": "no-skill-calls" if cell["skill_calls"] == 0 else None}


def oracle_ratio(metric: str, cells: Sequence[Mapping[str, Any]]) -> Fraction | None:
    """A metric's sums over cells divided: the pooled value; None where there is nothing to divide (by)."""
    numerator, denominator, scale = RATIOS[metric]
    if any(cell[numerator] is None or cell[denominator] is None for cell in cells):
        return None
    below = sum(cell[denominator] for cell in cells)
    return Fraction(scale * sum(cell[numerator] for cell in cells), below) if below else None


def oracle_marginals(cells: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The ten numbers of each run and metric: a mean a website, a mean a condition, and the overall mean.

    Args:
        cells: The rows of :func:`oracle_cells`, or the rows of a cells frame with exact values.

    Returns:
        One dict a slot with the columns of the marginals frame, in the order of runs, metrics (SR, AS, ASC,
        SFR) and slots (websites, conditions, overall). ``value`` is the unweighted mean of the slot's
        cells, None where one of them has none; ``pooled``, ``lower`` and ``upper`` are Fraction or None.
    """
    rows = [dict(cell) for cell in cells]
    keys = tuple(rows[0])[: tuple(rows[0]).index("website")] if rows else ()
    runs: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for cell in rows:
        runs.setdefault(tuple(cell[key] for key in keys), []).append(cell)
    return [
        {**dict(zip(keys, run, strict=True)), "metric": metric, "group": group, "slot": slot}
        | _slot(metric, here)
        for run, own in runs.items()
        for metric in RATIOS
        for group, slot, here in _slots(own)
    ]


def _slots(own: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The slots of a run with their cells."""
    named = [
        (group, slot, [cell for cell in own if cell[group] == slot])
        for group in ("website", "condition")
        for slot in dict.fromkeys(cell[group] for cell in own)
    ]
    return [*named, ("overall", "overall", own)]


def _slot(metric: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """What the marginals say of one metric over a slot's cells."""
    value = _mean([cell[metric] for cell in cells])
    calls = _total([cell["skill_calls"] for cell in cells])
    undefined = any(cell["reason"] == "incomplete" for cell in cells)
    return {
        "value": value,
        "pooled": None if undefined else oracle_ratio(metric, cells),
        "denominator": _total([cell[RATIOS[metric][1]] for cell in cells]),
        **{
            count: sum(cell[count] for cell in cells)
            for count in ("planned", "attempted", "errored", "scored", "missing")
        },
        "skill_calls": calls,
        "min_cell_calls": None if calls is None else min(cell["skill_calls"] for cell in cells),
        "low_count": metric == "SFR" and calls is not None and calls < LOW_COUNT,
        "incomplete": any(not cell["complete"] for cell in cells),
        "lower": _bound(cells, missing_succeed=0) if metric == "SR" else None,
        "upper": _bound(cells, missing_succeed=1) if metric == "SR" else None,
        "reason": _reason(metric, cells),
        "published": oracle_published(value),
    }


def _bound(cells: Sequence[Mapping[str, Any]], *, missing_succeed: int) -> Fraction | None:
    """The success rate if every task without a score failed (0) or succeeded (1)."""
    return _mean(
        [
            Fraction(
                100 * (cell["successes"] + missing_succeed * (cell["planned"] - cell["scored"])),
                cell["planned"],
            )
            for cell in cells
        ]
    )


def _reason(metric: str, cells: Sequence[Mapping[str, Any]]) -> str | None:
    """Why a slot has no value; the strongest reason where there are several."""
    null = [cell for cell in cells if cell[metric] is None]
    if not null:
        return None
    if metric in SKILL_METRICS and any(cell["skill_calls"] is None for cell in null):
        return "not-applicable"
    reasons = {cell["reason"] for cell in null}
    return next(code for code in ("incomplete", "nothing-scored", "no-skill-calls") if code in reasons)


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if len(known) == len(values) else None


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def oracle_published(value: Fraction | None) -> str | None:
    """A value as it is published: half up to two decimals, always two of them; None stays None.

    >>> oracle_published(Fraction(2675, 1000)), oracle_published(Fraction(169, 10)), oracle_published(None)
    ('2.68', '16.90', None)
    """
    if value is None:
        return None
    hundredths = (value * 100 + Fraction(1, 2)).__floor__()
    return f"{hundredths // 100}.{hundredths % 100:02d}"
