"""JSON Lines logs as frames: fast where they are plain, line by line where they are not, the same result."""

from __future__ import annotations

import glob
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import FILE, RECORD, Table
from skillshift.frame.errors import ContractError
from skillshift.frame.folders import Part, with_folders
from skillshift.frame.jsonl_shapes import Shapes, extra_type
from skillshift.frame.jsonl_strict import Strict, decoded, read_strictly
from skillshift.frame.jsonl_survey import plain_logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillshift.frame.quarantine import Refused
    from skillshift.frame.sources import Log


@dataclass(frozen=True, slots=True)
class _Plain:
    """Plain logs that share their shapes, and how many records each has."""

    shapes: Shapes
    records: dict[str, int]

    @property
    def extras(self) -> list[str]:
        """The keys beyond the table's fields."""
        return sorted(key for key in self.shapes.types if key not in self.shapes.kinds)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """JSON Lines logs that were checked.

    Attributes:
        plain: The shapes of each log that Polars may read.
        strict: What the strict reader found in each other log.
        types: The column type of each key that is no field; null where it stays raw JSON text.
        refused: The bad records, in the order of the logs.
    """

    plain: dict[str, _Plain]
    strict: dict[str, Strict]
    types: dict[str, pl.DataType | None]
    refused: list[Refused]

    @classmethod
    def check(cls, logs: Sequence[Log], table: Table, *, comments: bool, keep: bool) -> JsonLines:
        """Check logs.

        Args:
            logs: The logs, in the order in which they are to be read.
            table: The table whose records they hold. A field that a log's folders name need not be in its
                records.
            comments: Whether lines that begin with ``#`` are passed over.
            keep: Whether to go on without the bad records; else they are an error.

        Raises:
            ContractError: There are bad records.
            InputError: A log cannot be read, or holds no record.
        """
        tables = {log.path: _without_folders(log, table) for log in logs}

        def strictly(paths: Iterable[str]) -> dict[str, Strict]:
            return {path: read_strictly(path, tables[path], comments=comments, keep=keep) for path in paths}

        plain = _survey(logs, tables)
        strict = strictly(path for path in tables if path not in plain)
        types = _extra_types(plain, strict)
        if any(types[key] is None for one in plain.values() for key in one.extras):
            # Raw JSON text is something that the fast reader cannot give.
            strict |= strictly(plain)
            plain = {}
        refused = [one for path in tables if path in strict for one in strict[path].refused]
        if refused and not keep:
            counts = sum((found.counts for found in strict.values()), Counter[str]())
            raise ContractError(table.name, counts, [why for one in refused for why in one.violations])
        return cls(plain, strict, types, refused)

    def scan(self, logs: Sequence[Log]) -> list[Part]:
        """The records of these logs, which must be among those that were checked.

        Returns:
            Parts with the fields that the logs have, in the fields' types, the other keys, and what the
            folders say as columns. A key beyond the fields has the one JSON type that its values have in
            all the logs, else it is raw JSON text.
        """

        def alike(log: Log) -> tuple[object, ...]:
            reader = self.plain.get(log.path)
            return (log.path if reader is None else id(reader), *(key for key, _ in log.partitions))

        groups = (tuple(group) for _, group in groupby(logs, key=alike))
        return [with_folders(Part(group, self._frame([log.path for log in group]))) for group in groups]

    def _frame(self, paths: list[str]) -> pl.LazyFrame:
        if paths[0] in self.plain:
            return _scan_plain(paths, self.plain[paths[0]], self.types)
        read = decoded(self.strict[paths[0]].frame, self.types)
        return read.lazy().with_columns(pl.lit(paths[0]).alias(FILE))


def _without_folders(log: Log, table: Table) -> Table:
    named = {key for key, _ in log.partitions} & set(table.names)
    if not named:
        return table
    fields = tuple(replace(f, required=f.required and f.name not in named) for f in table.fields)
    return replace(table, fields=fields)


def _survey(logs: Sequence[Log], tables: Mapping[str, Table]) -> dict[str, _Plain]:
    alike: dict[tuple[str, ...], list[str]] = {}
    for log in logs:
        # A URL is not read twice: the strict reader reads it once, into memory.
        if not log.is_remote:
            required = tuple(f.name for f in tables[log.path].fields if f.required)
            alike.setdefault(required, []).append(log.path)
    found: dict[str, _Plain] = {}
    for paths in alike.values():
        one = _Plain(*plain_logs(paths, tables[paths[0]]))
        found |= dict.fromkeys(one.records, one)
    return found


def _extra_types(plain: Mapping[str, _Plain], strict: Mapping[str, Strict]) -> dict[str, pl.DataType | None]:
    types: dict[str, set[str]] = {}
    for one in plain.values():
        for key in one.extras:
            types.setdefault(key, set()).update(one.shapes.types[key])
    for found in strict.values():
        for key, seen in found.types.items():
            types.setdefault(key, set()).update(seen)
    return {key: extra_type(seen) for key, seen in types.items()}


def _scan_plain(paths: Sequence[str], plain: _Plain, types: Mapping[str, pl.DataType | None]) -> pl.LazyFrame:
    shapes = plain.shapes
    fields = [f for f in shapes.table.fields if f.name in shapes.types]
    schema = {f.name: shapes.scan_type(f.name) for f in fields}
    schema |= {key: types[key] or pl.String() for key in plain.extras}
    frame = pl.scan_ndjson(
        [glob.escape(path) for path in paths],
        schema=schema,
        include_file_paths=FILE,
        row_index_name=RECORD,
    )
    record = pl.col(RECORD).cast(pl.Int64)
    if len(paths) > 1:
        counts = pl.Series([plain.records[path] for path in paths], dtype=pl.Int64)
        first = counts.cum_sum() - counts
        record -= pl.col(FILE).replace_strict(list(paths), first, return_dtype=pl.Int64)
    # A cast is exact here: the shapes let only integral floats of 15 digits into a count.
    casts = [pl.col(f.name).cast(f.kind.dtype) for f in fields if schema[f.name] != f.kind.dtype]
    return frame.with_columns(record, *casts)
