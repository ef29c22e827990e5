"""Parquet logs as frames: each file's columns are looked at before any of them is read."""

from __future__ import annotations

from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import FILE, RECORD
from skillshift.frame.errors import InputError
from skillshift.frame.folders import Part, with_folders
from skillshift.frame.lines import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.sources import Log


def scan_parquet(logs: Sequence[Log]) -> list[Part]:
    """Scan Parquet logs.

    Args:
        logs: The logs, in the order in which they are to be read.

    Returns:
        Neighbouring logs of the same columns, types and folder keys as one part each, with what the folders
        say as columns. Nothing but footers has been read.

    Raises:
        InputError: A file cannot be read, is not whole, has no rows, or has a column that readers add.
    """
    schemas = {log.path: _schema(log) for log in logs}
    groups = groupby(logs, key=lambda log: (schemas[log.path], [key for key, _ in log.partitions]))
    return [_scan(tuple(group), schema) for (schema, _), group in groups]


def _schema(log: Log) -> pl.Schema:
    try:
        schema = pl.scan_parquet(log.path, glob=False, hive_partitioning=False).collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{log.path}: cannot be read as Parquet ({first_line(error)}); is the file whole?"
        ) from error
    for name in (FILE, RECORD):
        if name in schema:
            raise InputError(
                f"{log.path}: has a column {name}, which readers add themselves; drop or rename it"
            )
    return schema


def _scan(logs: tuple[Log, ...], schema: pl.Schema) -> Part:
    paths = [log.path for log in logs]
    keys = [key for key, _ in logs[0].partitions]
    # Polars' own way with folders is the quickest, but it passes over the column of a file that has the same
    # name, and over folders such as a=b=c.
    by_polars = bool(keys) and not set(keys) & set(schema) and all(map(_is_hive, paths))
    frame = pl.scan_parquet(
        paths,
        glob=False,
        hive_partitioning=by_polars,
        hive_schema=dict.fromkeys(keys, pl.String) if by_polars else None,
        include_file_paths=FILE,
        row_index_name=RECORD,
    )
    record = pl.col(RECORD).cast(pl.Int64)
    counts = pl.Series(_counts(frame, paths), dtype=pl.Int64)
    if len(paths) > 1:
        first = counts.cum_sum() - counts
        record -= pl.col(FILE).replace_strict(paths, first, return_dtype=pl.Int64)
    part = Part(logs, frame.with_columns(record))
    return part if by_polars else with_folders(part)


def _is_hive(path: str) -> bool:
    return all(part.count("=") <= 1 and not part.startswith("=") for part in PurePath(path).parts[:-1])


def _counts(frame: pl.LazyFrame, paths: Sequence[str]) -> list[int]:
    rows = pl.len().cast(pl.Int64).alias("rows")
    plan = frame.select(pl.lit(paths[0]).alias(FILE), rows)
    if len(paths) > 1:
        plan = frame.group_by(FILE).agg(rows)
    try:
        found = dict(plan.collect(engine="streaming").rows())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"the Parquet files cannot be read: {first_line(error)}") from error
    for path in paths:
        if not found.get(path):
            raise InputError(f"{path}: has no rows; expected at least one record")
    return [found[path] for path in paths]
