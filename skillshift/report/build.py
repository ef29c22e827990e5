"""From log files to a report, and a report to a folder: what the command line and batch scripts run."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

import skillshift
from skillshift.diagnostics.cells import Measured, measure
from skillshift.frame.contract import FILE, Table, collect
from skillshift.frame.errors import InputError
from skillshift.frame.lines import is_remote
from skillshift.frame.quarantine import Refused, quarantine_text, refuse_rows
from skillshift.frame.writing import (
    SCHEMA_VERSION,
    dump_json,
    sha256,
    staged,
    text_beside,
    write_parquet,
)
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.logs import infer_grid, scan_per_task
from skillshift.report.content import Report
from skillshift.report.formats import markdown
from skillshift.schema import PER_TASK, RUN_KEYS, per_task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from skillshift.diagnostics.cells import Incomplete
    from skillshift.diagnostics.tasks import OnDuplicates

OUTPUTS = CELLS, MARGINALS, REPORT, MANIFEST = (
    "cells.parquet",
    "marginals.parquet",
    "report.md",
    "manifest.json",
)
"""The files of a report."""


@dataclass(frozen=True, slots=True)
class Built:
    """A report, and the logs it rests on.

    Attributes:
        report: The report.
        logs: The records that were measured, as a plan.
        quarantine: Where the refused records belong.
        refused: The refused records.
    """

    report: Report
    logs: pl.LazyFrame
    quarantine: Path | None = None
    refused: tuple[Refused, ...] = ()


def build_report(
    logs: Any,
    *,
    grid: Grid | None = SKILLSHIFT,
    by: Sequence[str] | None = None,
    incomplete: Incomplete = "undefined",
    on_duplicates: OnDuplicates = "refuse",
    run_from: Literal["path"] | None = None,
    quarantine: Path | None = None,
) -> Built:
    """Measure logs and gather what a report says.

    Args:
        logs: What :func:`skillshift.scan_per_task` takes.
        grid: The grid, or null to infer it from the logs.
        by: As :func:`skillshift.cells`.
        incomplete: As :func:`skillshift.cells`.
        on_duplicates: As :func:`skillshift.cells`.
        run_from: As :func:`skillshift.scan_per_task`.
        quarantine: Where refused records go; null refuses the logs with the first of them.

    Returns:
        The report; :func:`write_outputs` writes what belongs on the disk.

    Raises:
        ContractError: As :func:`skillshift.cells`.
        InputError: As :func:`skillshift.scan_per_task`; the quarantine file is one of the logs; or records
            were refused of logs that the grid should be inferred from, which would not plan their tasks.
    """
    refused: list[Refused] | None = None if quarantine is None else []
    frame = scan_per_task(logs, run_from=run_from, refused=refused)
    if refused is not None:
        # What no grid allows goes first, so that a grid can be inferred from the rest.
        frame = _without_refused(frame, PER_TASK if grid is None else per_task(grid), refused)
    if grid is None:
        grid = infer_grid(frame)
        if refused is not None:
            frame = _without_refused(frame, per_task(grid), refused)
    if refused and grid.inferred:
        raise InputError(
            f"{len(refused)} records were refused, the first at {refused[0].violations[0].where}: a grid "
            "inferred from the rest would not plan their tasks, and a missing task could raise a score; "
            "name the grid"
        )
    lost, unplaced = _lost(refused or (), frame, by, grid)
    measured = measure(frame, by=by, grid=grid, incomplete=incomplete, on_duplicates=on_duplicates, lost=lost)
    built = Built(
        Report(measured, refused=len(refused or ()), unplaced=unplaced),
        frame,
        quarantine,
        tuple(refused or ()),
    )
    if quarantine is not None and quarantine.resolve() in _paths(built):
        raise InputError(f"{quarantine}: is one of the logs; name another file for the quarantine")
    return built


def _without_refused(frame: pl.LazyFrame, table: Table, refused: list[Refused]) -> pl.LazyFrame:
    """The records that break no rule of the table; the others join the refused ones."""
    frame = table.conform(frame)
    return refuse_rows(frame, table.all_rules(frame.collect_schema().names()), table, refused)


def _lost(
    refused: Sequence[Refused], frame: pl.LazyFrame, by: Sequence[str] | None, grid: Grid
) -> tuple[pl.DataFrame | None, int]:
    """The cells that lost a record, and how many refused records do not say which cell is theirs."""
    if not refused:
        return None, 0
    schema = frame.collect_schema()
    keys = [*(by if by is not None else [key for key in RUN_KEYS if key in schema]), "site", "condition"]
    cells = {(site, condition) for site, condition, _ in grid.cells()}
    told = [
        {key: str(record[key]) for key in keys}
        for record in (one.record or {} for one in refused)
        if all(record.get(key) is not None for key in keys) and (record["site"], record["condition"]) in cells
    ]
    found = pl.DataFrame(told, schema=dict.fromkeys(keys, pl.String))
    typed = found.cast({key: schema[key] for key in keys}, strict=False).drop_nulls()
    return typed.unique(), len(refused) - typed.height


def _paths(built: Built) -> set[Path]:
    """The local files that the records came from, refused ones too."""
    names = {*_files(built.logs), *(one.file for one in built.refused if one.file is not None)}
    return {Path(name).resolve() for name in names if not is_remote(name)}


def write_outputs(built: Built, folder: str | Path | None) -> None:
    """Write the quarantine file, where records were refused, and the report, where a folder is given.

    Either both are written or neither is.

    Args:
        built: What :func:`build_report` gives.
        folder: Where the report goes, see :func:`write_report`; null for nowhere.

    Raises:
        InputError: One of them cannot be written.
    """
    aside: AbstractContextManager[None] = nullcontext()
    if built.quarantine is not None and built.refused:
        aside = text_beside(built.quarantine, quarantine_text(built.refused))
    with aside:
        if folder is not None:
            write_report(built, folder)


def _files(frame: pl.LazyFrame) -> dict[str, int]:
    """The files that the records came from, with their numbers of records."""
    if FILE not in frame.collect_schema().names():
        return {}
    counted = collect(frame.group_by(FILE).agg(pl.len().cast(pl.Int64)).sort(FILE))
    return {row[FILE]: row["len"] for row in counted.to_dicts() if row[FILE] is not None}


def write_report(built: Built, folder: str | Path) -> None:
    """Write ``cells.parquet``, ``marginals.parquet``, ``report.md`` and ``manifest.json`` into a folder.

    All are whole or none is written, and an earlier report stays until the new one is complete. The same
    records give the same bytes, the manifest aside, which names the files.

    Args:
        built: What :func:`build_report` gives.
        folder: Where the files go; made if it does not exist.

    Raises:
        InputError: The folder cannot be written to, or it holds the logs.
    """
    within = sorted(path for path in _paths(built) if path.parent == Path(folder).resolve())
    if within and str(folder):
        raise InputError(
            f"{folder}: holds the log {within[0].name}; choose another folder, so that no log is replaced "
            "and no result is read as a log"
        )
    report = built.report
    metadata = {
        "schema_version": SCHEMA_VERSION,
        "package_version": skillshift.__version__,
        "grid": dump_json(report.grid.to_dict()).strip(),
    }
    with staged(folder) as place:
        write_parquet(report.cells, place / CELLS, metadata)
        write_parquet(report.numbers, place / MARGINALS, metadata)
        (place / REPORT).write_text(markdown.render(report), encoding="utf-8", newline="\n")
        outputs = {path.name: sha256(path) for path in sorted(place.iterdir())}
        manifest = _manifest(built, metadata, outputs)
        (place / MANIFEST).write_text(dump_json(manifest), encoding="utf-8", newline="\n")


def _manifest(built: Built, metadata: dict[str, str], outputs: dict[str, str]) -> dict[str, Any]:
    measured: Measured = built.report.measured
    return {
        **metadata,
        "grid": measured.grid.to_dict(),
        "inputs": [
            {"file": name, "records": records, "sha256": sha256(name) if Path(name).is_file() else None}
            for name, records in _files(built.logs).items()
        ],
        "outputs": outputs,
        "run_keys": list(measured.by),
        "counts": {
            "runs": built.report.coverage.height,
            "cells": measured.cells.height,
            "incomplete_cells": int((~measured.cells["complete"]).sum()),
            "records": measured.records,
            "duplicates_left_out": measured.duplicates,
            "records_refused": built.report.refused,
        },
    }
