"""Check and write one per-task record without running a dataframe library.

The fields and rules, their codes and their messages are the per-task log's own; only how a rule is
decided for one plain record is said here. A test holds both ways of deciding against each other.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillshift.frame.errors import ContractError, Violation, shorten
from skillshift.frame.nearest import suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from skillshift.frame.contract import Field, Rule, Table
    from skillshift.grid import Grid

    Record = Mapping[str, Any]

Scalar = str | int | float | bool | None
"""What a further column of a record may hold."""

LARGEST_COUNT = 2**63 - 1
"""The largest number that a log's reader can hold."""


class _WrongValueError(Exception):
    """A value that its field cannot hold: what was expected, and the end of the reason code."""

    def __init__(self, expected: str, what: str = "type") -> None:
        super().__init__(expected)
        self.what = what


def check_record(
    record: Mapping[str, Any], grid: Grid, path: Path, *, partial: bool = False
) -> dict[str, Scalar]:
    """Check one record against the per-task log's contract.

    Args:
        record: The fields by name, and further columns.
        grid: The websites and conditions that it may name.
        path: The file that messages name.
        partial: Whether only the fields given are looked at, and the rules that need no others.

    Returns:
        The record as plain Python values in the order in which it is written: the fields, then further
        columns by name. Integral floats of counts are integers, NumPy's scalars Python's.

    Raises:
        ContractError: The record breaks the contract, with every violation.
    """
    from skillshift.schema import per_task

    table = per_task(grid)
    checked, wrong = _read_values(table, record, partial=partial)
    absent = {f.name for f in table.fields if f.required and f.name not in record}
    unusable = absent | {violation.field for violation in wrong}
    values = {name: checked.get(name) for name in table.names}
    wrong += [
        Violation(
            code=rule.code,
            field=rule.field,
            found=shorten(values[rule.field]),
            expected=rule.expected,
            hint=rule.hint or suggest(values[rule.field], rule.known),
        )
        for rule in table.all_rules(checked)
        if not unusable & set(rule.violated.meta.root_names()) and is_broken(rule, values, grid)
    ]
    if wrong:
        counts = Counter(violation.code for violation in wrong)
        raise ContractError(table.name, counts, [replace(violation, file=str(path)) for violation in wrong])
    return checked


def _read_values(
    table: Table, record: Mapping[str, Any], *, partial: bool
) -> tuple[dict[str, Scalar], list[Violation]]:
    """The record's values as their columns hold them, in the order of writing, and what cannot be held."""
    checked: dict[str, Scalar] = {}
    wrong: list[Violation] = []
    for f in table.fields:
        if f.name in record:
            try:
                checked[f.name] = _typed(f, _plain(record[f.name]))
            except _WrongValueError as error:
                wrong.append(_unusable(f.name, shorten(record[f.name]), error, hint=f.hint))
        elif f.required and not partial:
            wrong.append(_unusable(f.name, "no such key", _WrongValueError(f.kind.value, "missing-key")))
    for name in sorted((name for name in record if name not in table.names), key=str):
        try:
            checked[_further_name(name)] = _further(_plain(record[name]))
        except _WrongValueError as error:
            wrong.append(_unusable(str(name), shorten(record[name]), error))
    return checked, wrong


def _unusable(name: str, found: str, error: _WrongValueError, *, hint: str = "") -> Violation:
    return Violation(code=f"{name}.{error.what}", field=name, found=found, expected=str(error), hint=hint)


def as_line(checked: Mapping[str, Scalar]) -> str:
    """One checked record as a JSON object on one line, its keys in the order given."""
    return json.dumps(checked, ensure_ascii=False, allow_nan=False)


def is_broken(rule: Rule, record: Record, grid: Grid) -> bool:
    """Whether a record of rightly typed fields breaks a rule of :func:`skillshift.schema.per_task`.

    Args:
        rule: One of ``per_task(grid).all_rules(...)``.
        record: Every field by name, null where it is absent.
        grid: The grid of the rules.

    Returns:
        What ``rule.violated`` says of the record, null being false.
    """
    decide = _BROKEN.get(rule.code)
    if decide is not None:
        return decide(record, grid)
    # What is left are the fields that may not be null, nor empty where they are text.
    return record[rule.field] is None or record[rule.field] == ""


def _negative(name: str) -> Callable[[Record, Grid], bool]:
    return lambda record, _: record[name] is not None and record[name] < 0


def _too_large(name: str) -> Callable[[Record, Grid], bool]:
    def decide(record: Record, _: Grid) -> bool:
        from skillshift.schema import MOST

        return record[name] is not None and record[name] > MOST

    return decide


def _unmeasured(name: str) -> Callable[[Record, Grid], bool]:
    return lambda record, _: record[name] is None and record["error"] is None


def _above_calls(record: Record, _: Grid) -> bool:
    calls, failures = record["skill_calls"], record["skill_failures"]
    return calls is not None and failures is not None and failures > calls


def _half(record: Record, _: Grid) -> bool:
    return (record["skill_calls"] is None) != (record["skill_failures"] is None)


def _unknown(name: str, known: Callable[[Grid], tuple[str, ...]]) -> Callable[[Record, Grid], bool]:
    return lambda record, grid: record[name] not in (None, "", *known(grid))


def _canonical(record: Record) -> tuple[str, str] | None:
    """The website and index that a canonical uid names."""
    from skillshift.schema import CANONICAL

    found = re.fullmatch(CANONICAL, record["uid"] or "")
    return None if found is None else (found[1], found[2])


def _other_site(record: Record, grid: Grid) -> bool:
    named = _canonical(record)
    return named is not None and record["site"] in grid.websites and named[0] != record["site"]


def _out_of_range(record: Record, grid: Grid) -> bool:
    named, planned = _canonical(record), grid.websites.get(record["site"])
    if named is None or planned is None or named[0] != record["site"] or grid.inferred:
        return False
    digits = named[1].lstrip("0") or "0"
    return len(digits) > len(str(planned)) or int(digits) >= planned


_BROKEN: Mapping[str, Callable[[Record, Grid], bool]] = {
    "success.missing": _unmeasured("success"),
    "steps.missing": _unmeasured("steps"),
    "steps.negative": _negative("steps"),
    "steps.too-large": _too_large("steps"),
    "skill_calls.negative": _negative("skill_calls"),
    "skill_calls.too-large": _too_large("skill_calls"),
    "skill_failures.negative": _negative("skill_failures"),
    "skill_failures.above-calls": _above_calls,
    "skill_calls.half": _half,
    "error.empty": lambda record, _: record["error"] == "",
    "site.unknown": _unknown("site", lambda grid: grid.website_names),
    "condition.unknown": _unknown("condition", lambda grid: grid.condition_names),
    "uid.site": _other_site,
    "uid.range": _out_of_range,
}


def _plain(value: object) -> object:
    """NumPy's scalars as Python's, everything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _typed(field: Field, value: object) -> Scalar:
    from skillshift.frame.contract import Kind

    if value is None:
        return None
    whole = isinstance(value, int) and not isinstance(value, bool)
    if field.kind.is_text and isinstance(value, str):
        return _text(value)
    if field.kind is Kind.LABEL and isinstance(value, int) and whole:
        return _held(value)
    if field.kind is Kind.FLAG and isinstance(value, bool):
        return value
    if field.kind is Kind.COUNT and isinstance(value, float) and math.isfinite(value):
        if not value.is_integer():
            raise _WrongValueError(field.kind.value, "fraction")
        return _held(int(value))
    if field.kind is Kind.COUNT and isinstance(value, int) and whole:
        return _held(value)
    raise _WrongValueError(field.kind.value)


def _further_name(name: object) -> str:
    from skillshift.frame.contract import FILE, RECORD

    if not isinstance(name, str) or not name:
        raise _WrongValueError("a column's name as text, not empty")
    if name in (FILE, RECORD):
        raise _WrongValueError(
            f"another name: readers keep {FILE} and {RECORD} for where a record stands", "reserved"
        )
    return _text(name)


def _further(value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _held(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _WrongValueError("one text, finite number, true, false or null")


def _held(value: int) -> int:
    if abs(value) > LARGEST_COUNT:
        raise _WrongValueError("a number of at most 64 bits", "range")
    return value


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _WrongValueError("valid Unicode, without half of a surrogate pair", "surrogate") from error
    return value
