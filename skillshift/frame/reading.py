"""The strict readers: from files, folders, globs, URLs and frames to one lazy frame of checked records.

Nothing is dropped, coerced or nulled in silence. JSON Lines are checked before Polars reads them: a
quick pass over the raw lines shows whether there is anything in them that Polars would pass over, and
where there is, they are read line by line, which says what is wrong, where, and what was expected.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift.frame.contract import FILE, RECORD, Table
from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.frame.folders import Part, typed_folders, with_runs
from skillshift.frame.frames import frame_of, joined
from skillshift.frame.guard import Snapshot
from skillshift.frame.jsonl import JsonLines
from skillshift.frame.lines import first_line
from skillshift.frame.parquet import scan_parquet
from skillshift.frame.quarantine import Refused, refuse_rows, write_quarantine
from skillshift.frame.sources import find_logs, run_names

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Refused", "Snapshot", "refuse_rows", "scan", "write_quarantine"]


def scan(
    source: Any,
    table: Table,
    *,
    refused: list[Refused] | None = None,
    comments: bool = False,
    run_from: Literal["path"] | None = None,
) -> pl.LazyFrame:
    """Scan a table's records from wherever they are.

    The form of every JSON Lines record is checked when this is called: that it is one JSON object, with
    each key once, with every required key, and with the fields' types. The values' rules are the
    contract's, see :meth:`Table.validate <skillshift.frame.contract.Table.validate>`. A local file that
    changes after its check makes the frame fail when it is collected.

    Args:
        source: A log (``.jsonl``, ``.ndjson``, both also with ``.gz`` or ``.zst``, ``.parquet``), a folder
            that is searched to the bottom, a glob, a URL (``file``, ``http``, of an object store; there a
            glob, but no folder), or a list of those; or a frame of Polars, pandas, PyArrow or any library
            that Narwhals reads.
        table: The table whose records they are.
        refused: Without it, a bad record raises. With a list, bad records of JSON Lines logs are appended
            to it and left out of the frame; what is wrong with a whole file still raises.
        comments: Whether JSON Lines may have comments, lines that begin with ``#``.
        run_from: ``path`` names each log's run after its path, in the column ``run``: the path below the
            folder that all share, without suffix; where all file names are the same, that of the folder.

    Returns:
        A LazyFrame with the table's fields that the logs have, in their types; then the other columns, by
        name, with their type where it is one scalar type in all logs, else as raw JSON text; folders named
        ``KEY=VALUE`` give columns of text. A value is null where the record says null, or where its log
        does not have the column and the table does not require it. Where the records come from files, then
        :data:`FILE`, and always :data:`RECORD`, the record's number in its file or frame, from 0. Records
        come in the order of path and line.

    Raises:
        ContractError: Bad records, the first 20 located and the rest counted; or a column is missing or
            has a type that is not the field's.
        InputError: A file is missing, empty, damaged, not readable, or not what its name says; or there
            is none.
        UsageError: The source is nothing that can be scanned, or ``run_from`` is neither of the two.

    Example:
        >>> import polars as pl
        >>> from skillshift.frame.contract import Field, Kind, Table
        >>> table = Table("weights", "Weights", (Field("grams", Kind.COUNT, "How heavy."),))
        >>> scan(pl.DataFrame({"grams": [1.0, 2.0]}), table).collect().rows()
        [(1, 0), (2, 1)]
    """
    if run_from not in (None, "path"):
        raise UsageError(f"run_from: found {run_from!r}, expected 'path' or nothing")
    frame = frame_of(source)
    if frame is not None:
        if run_from is not None:
            raise UsageError("run_from: a frame has no path to name a run after; give it a column run")
        return _in_order(table.conform(_numbered(frame)), table)
    logs = find_logs(source)
    runs = run_names(logs) if run_from is not None else None
    snapshot = Snapshot.of(log.path for log in logs if not log.is_remote)
    keep = refused is not None
    lines = JsonLines.check([log for log in logs if not log.is_parquet], table, comments=comments, keep=keep)
    if refused is not None:
        said = {
            log.path: dict(log.partitions) | ({} if runs is None else {"run": runs[log.path]}) for log in logs
        }
        refused += [_with_path(one, said) for one in lines.refused]
    parts = [
        part
        for is_parquet, block in groupby(logs, key=lambda log: log.is_parquet)
        for part in (scan_parquet(tuple(block)) if is_parquet else lines.scan(tuple(block)))
    ]
    frames = [_finished(part, table, runs) for part in parts]
    frame = _in_order(joined(frames, [part.logs[0].path for part in parts]), table)
    return snapshot.guarded(frame) if snapshot.states else frame


def _numbered(frame: pl.LazyFrame) -> pl.LazyFrame:
    try:
        names = frame.collect_schema().names()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"the LazyFrame cannot be run: {first_line(error)}") from error
    if RECORD in names:
        return frame
    return frame.with_row_index(RECORD).with_columns(pl.col(RECORD).cast(pl.Int64))


def _finished(part: Part, table: Table, runs: dict[str, str] | None) -> pl.LazyFrame:
    first = part.logs[0].path
    frame = typed_folders(part.frame, part.logs, table)
    if runs is not None:
        if "run" in frame.collect_schema():
            raise InputError(f"{first}: has a column run already; leave run_from out, or take the column out")
        frame = with_runs(frame, {log.path: runs[log.path] for log in part.logs})
    try:
        return table.conform(frame)
    except ContractError as error:
        # What is wrong with a column is wrong with all of these files; one of them is named.
        where = [replace(why, file=why.file or first) for why in error.violations]
        raise ContractError(error.table, error.counts, where) from error


def _in_order(frame: pl.LazyFrame, table: Table) -> pl.LazyFrame:
    names = frame.collect_schema().names()
    places = [name for name in (FILE, RECORD) if name in names]
    fields = [name for name in table.names if name in names]
    return frame.select(*fields, *sorted(set(names) - {*fields, *places}), *places)


def _with_path(one: Refused, said: Mapping[str, Mapping[str, str | None]]) -> Refused:
    """What a record's path says of it belongs to what is known of a refused one too."""
    if one.record is None or one.file is None:
        return one
    return replace(one, record={**said[one.file], **one.record})
