"""The strict reader of JSON Lines: line by line, and it says which line is wrong, where, and why."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.contract import RECORD, Kind, Table
from skillshift.frame.errors import SHOWN, InputError
from skillshift.frame.jsonl_record import RecordParser, record_in
from skillshift.frame.jsonl_values import BadLineError, type_of
from skillshift.frame.lines import as_text, is_comment, lines_of
from skillshift.frame.quarantine import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNK = 100_000
"""How many records are held as Python objects before they become a frame."""


@dataclass(slots=True)
class Strict:
    """What the strict reader found in one log.

    Attributes:
        frame: The good records: the table's fields in their types, other keys as raw JSON text (a JSON
            null is null), and :data:`RECORD`. Without rows where a bad record means that nothing is read.
        types: The types that the values of each other key had.
        refused: The bad records; where they are not kept, only the first 20.
        counts: How often each reason occurred.
    """

    frame: pl.DataFrame
    types: dict[str, set[str]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def read_strictly(path: str, table: Table, *, comments: bool, keep: bool) -> Strict:
    """Read a JSON Lines log line by line.

    Args:
        path: The log.
        table: The table whose records it holds.
        comments: Whether lines that begin with ``#`` are passed over.
        keep: Whether bad records are all kept and the good ones read; else one bad record makes the rest
            not worth reading.

    Returns:
        What was found.

    Raises:
        InputError: The log cannot be read, or holds no record.
    """
    found = Strict(pl.DataFrame())
    chunks: list[pl.DataFrame] = []
    columns = _Columns(table)
    parser = RecordParser(table)
    record, empty = 0, True
    for number, line in lines_of(path):
        comment = is_comment(line)
        if comment and comments:
            continue
        empty = False
        try:
            known, others = parser.parse(line)
        except BadLineError as error:
            found.counts.update(why.code for why in error.violations)
            if keep or len(found.refused) < SHOWN:
                why = tuple(replace(one, file=path, line=number) for one in error.violations)
                text = as_text(line)
                found.refused.append(Refused(path, number, text, why, record_in(text)))
        else:
            if keep or not found.refused:
                columns.add(record, known, others)
                if len(columns.records) == CHUNK:
                    chunks.append(columns.frame())
                    columns = _Columns(table)
                for key, raw in others.items():
                    found.types.setdefault(key, set()).add(type_of(raw))
        record += not comment
    if empty:
        raise InputError(f"{path}: holds no record; expected at least one line with a JSON object")
    found.frame = pl.concat([*chunks, columns.frame()], how="diagonal")
    return found


class _Columns:
    """Records as columns, before they become a frame."""

    def __init__(self, table: Table) -> None:
        self.kinds = {f.name: f.kind for f in table.fields}
        self.required = {f.name for f in table.fields if f.required}
        self.records: list[int] = []
        self.values: dict[str, list[Any]] = {name: [] for name in self.required}

    def add(self, record: int, known: Mapping[str, Any], others: Mapping[str, str]) -> None:
        before = len(self.records)
        for key, value in known.items():
            self._column(key, before).append(value)
        for key, raw in others.items():
            self._column(key, before).append(None if raw == "null" else raw)
        self.records.append(record)
        if len(known) + len(others) != len(self.values):
            for column in self.values.values():
                if len(column) < len(self.records):
                    column.append(None)

    def _column(self, key: str, before: int) -> list[Any]:
        column = self.values.get(key)
        if column is None:
            column = self.values[key] = [None] * before
        return column

    def frame(self) -> pl.DataFrame:
        columns = {
            name: pl.Series(values, dtype=self.kinds.get(name, Kind.TEXT).dtype, strict=True)
            for name, values in self.values.items()
        }
        return pl.DataFrame(columns | {RECORD: pl.Series(self.records, dtype=pl.Int64)})


def decoded(frame: pl.DataFrame, types: Mapping[str, pl.DataType | None]) -> pl.DataFrame:
    """Give the columns of raw JSON text the types that all logs agree on.

    Args:
        frame: What :func:`read_strictly` read.
        types: The type of each such column; null where it stays raw JSON text.

    Returns:
        The frame with those types.
    """
    return frame.with_columns(
        pl.Series(
            name, [None if raw is None else json.loads(raw) for raw in frame[name]], dtype=dtype, strict=True
        )
        for name, dtype in types.items()
        if dtype is not None and name in frame.columns
    )
