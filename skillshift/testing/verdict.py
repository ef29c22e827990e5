"""The oracle's other half: whether records are refused, and why, in plain Python.

>>> record = {"uid": "a", "site": "gitlab", "condition": "src", "success": True, "steps": 3}
>>> oracle_verdict([{**record, "skill_calls": 1, "skill_failures": 2}])
'skill_failures.above-calls'
>>> oracle_verdict([{**record, "skill_calls": None, "skill_failures": None}]) is None
True
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from skillshift.grid import SKILLSHIFT, Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Record = Mapping[str, Any]

RUN_KEYS: Final = ("method", "model", "run", "trial")
"""The run keys that are taken by default, in the order of the outputs."""

CANONICAL: Final = re.compile(r"skillshift\.(.+)\.v[12]\.([0-9]+)")
"""A uid that names its site and the task's index; its version is not checked."""


def is_scored(record: Record) -> bool:
    """Whether a record is a measurement: one with an error is the absence of one."""
    return record.get("error") is None


def task_of(record: Record) -> int | str:
    """The task within its cell: a canonical uid's index, else the uid itself."""
    canonical = CANONICAL.fullmatch(record["uid"])
    return int(canonical[2]) if canonical else str(record["uid"])


def oracle_by(records: Iterable[Record]) -> tuple[str, ...]:
    """The default run keys: those of method, model, run and trial that some record has, null or not."""
    log = list(records)
    return tuple(key for key in RUN_KEYS if any(key in record for record in log))


def run_of(record: Record, keys: Sequence[str]) -> tuple[str, ...]:
    """The run that a record belongs to; a run or trial written as a number is its text."""
    return tuple(str(record[key]) for key in keys)


def _has(record: Record, field: str) -> bool:
    return record.get(field) is not None


def _negative(record: Record, field: str) -> bool:
    return _has(record, field) and record[field] < 0


def _too_large(record: Record, field: str) -> bool:
    return _has(record, field) and record[field] >= 2**32


RECORD_RULES: Final[Mapping[str, Callable[[Record], bool]]] = {
    "uid.missing": lambda r: r.get("uid") in (None, ""),
    "site.missing": lambda r: r.get("site") in (None, ""),
    "condition.missing": lambda r: r.get("condition") in (None, ""),
    "success.missing": lambda r: is_scored(r) and not _has(r, "success"),
    "steps.missing": lambda r: is_scored(r) and not _has(r, "steps"),
    "steps.negative": lambda r: _negative(r, "steps"),
    "steps.too-large": lambda r: _too_large(r, "steps"),
    "skill_calls.negative": lambda r: _negative(r, "skill_calls"),
    "skill_calls.too-large": lambda r: _too_large(r, "skill_calls"),
    "skill_failures.negative": lambda r: _negative(r, "skill_failures"),
    "skill_failures.above-calls": lambda r: (
        _has(r, "skill_calls") and _has(r, "skill_failures") and r["skill_failures"] > r["skill_calls"]
    ),
    "skill_calls.half": lambda r: _has(r, "skill_calls") != _has(r, "skill_failures"),
    "error.empty": lambda r: r.get("error") == "",
}
"""The rules about one record by itself, each true where a record breaks it."""


def _grid_rules(grid: Grid) -> dict[str, Callable[[Record], bool]]:
    """The rules about one record on a grid."""

    def known(record: Record) -> bool:
        return record.get("site") in grid.websites

    def named(record: Record) -> tuple[str, int] | None:
        uid = CANONICAL.fullmatch(record.get("uid") or "")
        return (uid[1], int(uid[2])) if uid and known(record) else None

    def other_site(record: Record) -> bool:
        uid = named(record)
        return uid is not None and uid[0] != record["site"]

    def out_of_range(record: Record) -> bool:
        uid = named(record)
        if uid is None or uid[0] != record["site"] or grid.inferred:
            return False
        return uid[1] >= grid.websites[record["site"]]

    return {
        "site.unknown": lambda r: r.get("site") not in (None, "") and not known(r),
        "condition.unknown": lambda r: (
            r.get("condition") not in (None, "") and r["condition"] not in grid.condition_names
        ),
        "uid.site": other_site,
        "uid.range": out_of_range,
    }


def oracle_violations(
    records: Iterable[Record], grid: Grid = SKILLSHIFT, *, by: Sequence[str] | None = None
) -> dict[str, int]:
    """How many records break each rule that can be told from one record and the run keys.

    Args:
        records: Per-task records of the right types; an absent key is the same as None.
        grid: The grid that they must fit.
        by: The run keys; by default those of method, model, run and trial that some record has,
            null or not.

    Returns:
        Counts by reason code, in the order of the rules; rules that every record keeps are left out.
    """
    log = list(records)
    keys = oracle_by(log) if by is None else tuple(by)
    counts = {
        code: sum(1 for record in log if broken(record))
        for code, broken in {**RECORD_RULES, **_grid_rules(grid)}.items()
    }
    counts |= {f"{key}.missing": sum(1 for r in log if r.get(key) in (None, "")) for key in keys}
    return {code: count for code, count in counts.items() if count}


def oracle_verdict(
    records: Iterable[Record], grid: Grid = SKILLSHIFT, *, by: Sequence[str] | None = None
) -> str | None:
    """Why a set of records is refused, or None if it is not.

    Args:
        records: Per-task records of the right types; an absent key is the same as None.
        grid: The grid that they must fit.
        by: The run keys; by default those of method, model, run and trial that some record has,
            null or not.

    Returns:
        One reason code. Records that break several rules may be refused for any of them; this is the first
        one in the order: a record's own fields, its site, condition and uid, its run keys, then what only
        shows among records (a task scored twice in a cell, calls null in some scored records of a run and
        not in others, more tasks in a cell than planned).
    """
    log = list(records)
    first = next(iter(oracle_violations(log, grid, by=by)), None)
    if first is not None:
        return first
    keys = oracle_by(log) if by is None else tuple(by)
    scored = [record for record in log if is_scored(record)]
    times = Counter(_place(record, keys) for record in scored)
    if any(count > 1 for count in times.values()):
        return "task.duplicate"
    kinds = {(run_of(record, keys), _has(record, "skill_calls")) for record in scored}
    if len({run for run, _ in kinds}) < len(kinds):
        return "skill_calls.mixed"
    tasks = Counter(place[:-1] for place in {_place(record, keys) for record in log})
    if any(count > grid.websites[site] for (_, site, _), count in tasks.items()):
        return "cell.too-many"
    return None


def _place(record: Record, keys: Sequence[str]) -> tuple[Any, ...]:
    return (run_of(record, keys), record["site"], record["condition"], task_of(record))
