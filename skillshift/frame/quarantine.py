"""Records that were refused: what is kept of them, and the file that they are written to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillshift.frame.contract import FILE, RECORD, Rule, Table, any_violated, collect
from skillshift.frame.errors import Violation, shorten
from skillshift.frame.lines import JSONL_SUFFIXES, as_text, line_numbers, records_of, suffix_of
from skillshift.frame.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import polars as pl


@dataclass(frozen=True, slots=True)
class Refused:
    r"""One record that was refused.

    Attributes:
        file: The file it stands in; null where it came from a frame.
        line: Its 1-based line, or its 1-based row where there are no lines.
        raw: The line as it stands there, bytes that are not UTF-8 as ``\xff``; for a row, its JSON.
        violations: Why it was refused, at least one reason.
        record: What of it could be read, where that is an object.
    """

    file: str | None
    line: int
    raw: str
    violations: tuple[Violation, ...]
    record: dict[str, Any] | None


def write_quarantine(path: str | Path, refused: Sequence[Refused]) -> None:
    """Write refused records with their reasons as JSON Lines, whole or not at all.

    Args:
        path: The file to write; one of that name is replaced.
        refused: The refused records, see :func:`quarantine_text`.

    Raises:
        InputError: The file cannot be written; an earlier one is as it was.
    """
    write_text(path, quarantine_text(refused))


def quarantine_text(refused: Sequence[Refused]) -> str:
    """Refused records with their reasons as JSON Lines.

    Args:
        refused: The refused records.

    Returns:
        A line a reason, with ``file``, ``line``, ``code``, ``field``, ``found``, ``expected`` and ``raw``, in
        the order of file and line.
    """
    in_order = sorted(refused, key=lambda one: (one.file or "", one.line))
    return "".join(
        json.dumps(
            {
                "file": one.file,
                "line": one.line,
                "code": why.code,
                "field": why.field,
                "found": why.found,
                "expected": why.expected,
                "raw": one.raw,
            },
            ensure_ascii=False,
        )
        + "\n"
        for one in in_order
        for why in one.violations
    )


def refuse_rows(
    frame: pl.LazyFrame, rules: Sequence[Rule], table: Table, refused: list[Refused]
) -> pl.LazyFrame:
    """Take the records that break a rule out of a frame.

    Args:
        frame: Records that conform to the table, with :data:`FILE` and :data:`RECORD` where known.
        rules: The rules, over the frame's columns.
        table: The table the records belong to.
        refused: The list that the offending records are appended to, in the order of the frame.

    Returns:
        The frame without them.

    Raises:
        InputError: The frame's files can no longer be read.
    """
    if not rules:
        return frame
    names = frame.collect_schema().names()
    numbered = frame if RECORD in names else frame.with_row_index(RECORD)
    flags = [rule.violated.fill_null(value=False).alias(f"_rule_{i}") for i, rule in enumerate(rules)]
    rows = collect(numbered.filter(any_violated(rules)).with_columns(flags)).to_dicts()
    hints = {f.name: f.hint for f in table.fields}
    places = [(row.get(FILE), row[RECORD]) for row in rows]
    lines = line_numbers(places)
    texts = _raw_lines(places)
    for row, place in zip(rows, places, strict=True):
        file, line = place[0], lines[place]
        record = {name: row[name] for name in names if name not in (FILE, RECORD)}
        violations = tuple(
            Violation(
                code=rule.code,
                file=file,
                line=line,
                field=rule.field,
                found=shorten(row.get(rule.field)),
                expected=rule.expected,
                hint=rule.hint or hints.get(rule.field, ""),
            )
            for i, rule in enumerate(rules)
            if row[f"_rule_{i}"]
        )
        raw = texts.get(place) or json.dumps(record, ensure_ascii=False, default=str)
        refused.append(Refused(file, line, raw, violations, record))
    return frame.filter(~any_violated(rules))


def _raw_lines(places: Iterable[tuple[str | None, int]]) -> dict[tuple[str | None, int], str]:
    wanted: dict[str, set[int]] = {}
    for file, record in places:
        if file is not None and suffix_of(file, JSONL_SUFFIXES):
            wanted.setdefault(file, set()).add(record)
    return {
        (file, record): as_text(line)
        for file, records in wanted.items()
        for record, (_, line) in records_of(file, records)
    }
