"""What logs say by the names of their folders: ``KEY=VALUE``, and the run's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import FILE, Kind, Table, collect
from skillshift.frame.errors import ContractError, InputError, Violation, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift.frame.sources import Log


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring logs of one kind, and their records as one frame.

    Attributes:
        logs: The logs, all with the same keys in their folders' names.
        frame: Their records, with :data:`FILE` and :data:`RECORD`.
    """

    logs: tuple[Log, ...]
    frame: pl.LazyFrame


_WRITTEN = {
    Kind.COUNT: re.compile(r"-?[0-9]{1,18}"),
    Kind.NUMBER: re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?"),
    Kind.FLAG: re.compile("true|false"),
}
"""How a folder's name writes what is not text."""


def with_folders(part: Part) -> Part:
    """Add what the folders say as columns of text; a column that the records have themselves stays as it is.

    Raises:
        InputError: The records say something else than their folders.
    """
    frame = part.frame
    schema = frame.collect_schema()
    for key, _ in part.logs[0].partitions:
        said = _by_file({log.path: dict(log.partitions)[key] for log in part.logs})
        if key not in schema:
            frame = frame.with_columns(said.alias(key))
            continue
        own = pl.col(key).cast(pl.String)
        # A record without the key says nothing against its folder, though a neighbour's file has the key.
        frame = frame.with_columns(pl.col(key).fill_null(said.cast(schema[key], strict=False)))
        contrary = collect(frame.filter(own.ne_missing(said)).select(FILE, own).head(1))
        if contrary.height:
            path, found = contrary.row(0)
            raise InputError(
                f"{path}: found {key} {shorten(found)} in a record, but its folder says otherwise; "
                "rename the folder, or take the column out of the file"
            )
    return Part(part.logs, frame)


def with_runs(frame: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
    """Add the column ``run``: for each file the name of the run that it holds."""
    return frame.with_columns(_by_file(names).alias("run"))


def _by_file(values: Mapping[str, str | None]) -> pl.Expr:
    distinct = set(values.values())
    if len(distinct) == 1:
        return pl.lit(distinct.pop(), dtype=pl.String)
    return pl.col(FILE).replace_strict(list(values), list(values.values()), return_dtype=pl.String)


def typed_folders(frame: pl.LazyFrame, logs: Sequence[Log], table: Table) -> pl.LazyFrame:
    """Give what the folders say the types of the table's fields: numbers and flags are written as text there.

    Raises:
        ContractError: A folder's value is not what the field asks for.
    """
    schema = frame.collect_schema()
    keys = {key for key, _ in logs[0].partitions}
    casts: list[pl.Expr] = []
    for f in table.fields:
        if f.kind not in _WRITTEN or f.name not in keys or schema[f.name] != pl.String:
            continue
        wrong = [log for log in logs if not _is_written(dict(log.partitions)[f.name], f.kind)]
        if wrong:
            found = shorten(dict(wrong[0].partitions)[f.name])
            where = Violation(
                code=f"{f.name}.type",
                file=wrong[0].path,
                field=f.name,
                found=f"{found} in the folder's name",
                expected=f.kind.value,
            )
            raise ContractError(table.name, {where.code: len(wrong)}, [where])
        column = pl.col(f.name)
        casts.append((column == "true").alias(f.name) if f.kind is Kind.FLAG else column.cast(f.kind.dtype))
    return frame.with_columns(casts) if casts else frame


def _is_written(value: str | None, kind: Kind) -> bool:
    return value is None or _WRITTEN[kind].fullmatch(value) is not None
