"""Per-task logs as frames: scanning them, their pandera model, and reading a grid off them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift.frame.contract import collect
from skillshift.frame.errors import InputError
from skillshift.frame.reading import scan
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.schema import PER_TASK, TASK, per_task, task

if TYPE_CHECKING:
    from skillshift.frame.reading import Refused


def scan_per_task(
    source: Any, *, run_from: Literal["path"] | None = None, refused: list[Refused] | None = None
) -> pl.LazyFrame:
    """Scan per-task logs into one lazy frame that knows its files and lines.

    Every record's form is checked when this is called (JSON, types, keys); what depends on the grid, and
    the row rules, are checked in the same pass as the sums by :func:`skillshift.cells`.

    Args:
        source: A file (JSONL, ``.gz``, ``.zst``, Parquet), a folder of them, a glob, an object-store URL, a
            list of those, or a frame of any library that Narwhals reads.
        run_from: ``path`` makes each file or folder a run, named after it, in the column ``run``.
        refused: Without it, bad records raise. With a list, they are appended to it and left out.

    Returns:
        A LazyFrame with the fields of :data:`skillshift.schema.FIELDS` that the logs have, any further
        column of theirs, and ``_file`` (text) and ``_record`` (the record's number in its file, from 0).

    Raises:
        ContractError: Records are not what the fields say; the first 20 located, the rest counted.
        InputError: A file is missing, empty, unreadable or cut, or there is none.

    Example:
        >>> import skillshift as ss
        >>> logs = ss.scan_per_task(ss.datasets.path("demo") / "runs")
        >>> logs.select(pl.len()).collect().item()
        6390
    """
    return scan(source, PER_TASK, run_from=run_from, refused=refused)


def infer_grid(logs: Any) -> Grid:
    """Read a grid off the logs: what they cover is taken for what they had to cover.

    Args:
        logs: Per-task records, as :func:`skillshift.cells` takes them.

    Returns:
        A grid marked ``inferred``: the websites and conditions that occur, by name, each website with as many
        tasks as it has distinct ones in all the logs. A task that no record mentions is not missed, so
        coverage cannot be checked, and outputs say so.

    Raises:
        ContractError: As :func:`skillshift.cells`.
        InputError: The logs hold no record.
    """
    frame = PER_TASK.validate(logs if isinstance(logs, pl.LazyFrame) else scan(logs, PER_TASK))
    seen = collect(frame.group_by("site", "condition", task()).agg())
    if not seen.height:
        raise InputError(f"{PER_TASK.name}: no records; a grid cannot be inferred from nothing")
    tasks = seen.group_by("site").agg(pl.col(TASK).n_unique().cast(pl.Int64)).sort("site")
    return Grid(
        "inferred",
        dict(zip(tasks["site"], tasks[TASK], strict=True)),
        sorted(seen["condition"].unique()),
        inferred=True,
    )


def per_task_model(grid: Grid = SKILLSHIFT) -> type[Any]:
    """The pandera ``DataFrameModel`` of per-task records on a grid.

    Args:
        grid: The grid whose websites, conditions and task ranges hold.

    Returns:
        A model; ``model.validate(frame, lazy=True)`` raises pandera's own ``SchemaErrors``.
    """
    return per_task(grid).model()


def __getattr__(name: str) -> Any:
    # PerTask is made when it is first asked for: importing pandera takes seconds.
    if name == "PerTask":
        return per_task_model()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if TYPE_CHECKING:
    PerTask: type[Any]
