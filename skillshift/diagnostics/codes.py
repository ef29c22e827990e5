"""The reason codes of the per-task log: what a record can be refused for, taken from what refuses it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.contract import FILE, RECORD, Kind, Rule, Table
from skillshift.frame.errors import ContractError, Violation
from skillshift.frame.jsonl_record import CODES, RecordParser
from skillshift.frame.jsonl_values import CONVERTERS, BadLineError, Number
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.schema import PER_TASK, per_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

BETWEEN = {
    "task.duplicate": (
        "uid",
        "one scored record a task in its run and cell; errored attempts beside it are a retry",
        "keep one, choose with --on-duplicates first or last, or name a run key",
    ),
    "cell.too-many": (
        "uid",
        "at most as many tasks in a cell as the grid plans",
        "take the right grid, or name a run key",
    ),
    "skill_calls.mixed": (
        "skill_calls",
        "a count in every scored record of a run, or null in every one",
        "null means that the method has no executable skills; no call made is 0",
    ),
    "<run key>.missing": ("any", "a value in every record for each run key of one's own", ""),
}
"""What only several records, or the keys asked for, can break: the field, what is asked for, what to do."""

WRITTEN = {
    "<key>.reserved": ("any", f"any name but {FILE} and {RECORD}: readers add these columns", ""),
    "<key>.surrogate": ("any", "valid Unicode, without half of a surrogate pair", ""),
}
"""What a record can be refused for when it is written, beyond what it is when it is read."""

_PROBES: tuple[Any, ...] = ((), Number("0.5"), Number("1e999"))
"""Raw values that between them make every converter give each of its reasons."""


def rules(grid: Grid = SKILLSHIFT) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules about one record.

    Args:
        grid: The grid whose websites, conditions and task ranges hold.

    Returns:
        The rules that hold on any grid, and those of this grid.
    """
    general = {rule.code for rule in PER_TASK.all_rules(PER_TASK.names)}
    every = per_task(grid).all_rules(PER_TASK.names)
    return (
        tuple(rule for rule in every if rule.code in general),
        tuple(rule for rule in every if rule.code not in general),
    )


def of_keys(table: Table) -> dict[str, Violation]:
    """What a field's key or value in JSON Lines can be refused for.

    Args:
        table: The table with the fields.

    Returns:
        One violation a reason code, without a place.
    """
    found = list(_refused(lambda: RecordParser(table).parse(b"{}\n")))
    for field in table.fields:
        for probe in _PROBES:
            found += _refused(partial(CONVERTERS[field.kind], probe, field))
    return {violation.code: violation for violation in found}


def of_columns(table: Table) -> dict[str, Violation]:
    """What a field's column in a frame or a Parquet file can be refused for.

    Args:
        table: The table with the fields.

    Returns:
        One violation a reason code, without a place.
    """
    wrong = {field.name: pl.Series([b""], dtype=pl.Binary) for field in table.fields}
    right = {field.name: pl.Series([None, None], dtype=field.kind.dtype) for field in table.fields}
    lossy = {f.name: pl.Series([0.5, 1e300]) for f in table.fields if f.kind is Kind.COUNT}
    probes = (pl.LazyFrame(), pl.LazyFrame(wrong), pl.LazyFrame(right | lossy))
    found = [violation for probe in probes for violation in _refused(partial(table.conform, probe))]
    return {violation.code: violation for violation in found}


def _refused(attempt: Callable[[], object]) -> Sequence[Violation]:
    try:
        attempt()
    except (BadLineError, ContractError) as error:
        return error.violations
    return ()


def documentation(grid: Grid = SKILLSHIFT) -> str:
    """Every reason code of the per-task log as Markdown tables: what the page of codes shows.

    Args:
        grid: The grid whose websites, conditions and task ranges hold.

    Returns:
        The tables with their headings.
    """
    general, of_grid = rules(grid)
    keys, columns = of_keys(PER_TASK), of_columns(PER_TASK)
    titles = ("code", "field", "expected", "what to do")
    sections = (
        ("Lines of JSON Lines", ("code", "expected"), list(CODES.items())),
        ("Fields", ("code", "read from", *titles[1:]), _of_fields(keys, columns)),
        ("Records", titles, _of_rules(general)),
        (f"Records on a grid, here {grid.name}", titles, _of_rules(of_grid)),
        ("Records together", titles, [(code, *said) for code, said in BETWEEN.items()]),
        ("Records that are written", titles, [(code, *said) for code, said in WRITTEN.items()]),
    )
    return "\n".join(f"## {title}\n\n{_table(names, rows)}" for title, names, rows in sections)


def _of_fields(keys: Mapping[str, Violation], columns: Mapping[str, Violation]) -> list[tuple[str, ...]]:
    order = {name: place for place, name in enumerate(PER_TASK.names)}
    told = sorted({**keys, **columns}.values(), key=lambda violation: order[violation.field or ""])
    forms = ((keys, "JSON Lines"), (columns, "columns"))
    return [
        (
            one.code,
            " and ".join(form for codes, form in forms if one.code in codes),
            one.field or "",
            one.expected,
            one.hint,
        )
        for one in told
    ]


def _of_rules(some: Iterable[Rule]) -> list[tuple[str, ...]]:
    return [(rule.code, rule.field, rule.expected, rule.hint) for rule in some]


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for code, *said in rows:
        cells = (f"`{code}`", *(cell.replace("|", r"\|") for cell in said))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
