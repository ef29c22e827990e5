"""Which JSON Lines logs are plain: every line has one of a few shapes, and the fast reader may take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import FILE, Table, collect
from skillshift.frame.jsonl_shapes import Shapes
from skillshift.frame.lines import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDS = 8
_SAMPLED_FILES = 16
_SAMPLED_BYTES = 2048
_ODD_LINES = 1000


def plain_logs(paths: Sequence[str], table: Table) -> tuple[Shapes, dict[str, int]]:
    """Find the logs whose every line has a shape.

    The shapes come from the first lines of some of the logs; then all lines are held against them, and
    the shapes of those that do not match are learned, until every line matches or has none.

    Args:
        paths: Local JSON Lines logs, packed or not.
        table: The table whose records they hold.

    Returns:
        The shapes, and the number of records of each plain log. The other logs need the strict reader,
        be they wrong or only unusual; so does a log without records.
    """
    shapes = Shapes(table)
    for path in paths[:: len(paths) // _SAMPLED_FILES + 1]:
        for line in _first_lines(path):
            shapes.learn(line)
    plain: dict[str, int] = {}
    pending = list(paths)
    for _ in range(_ROUNDS):
        pattern = shapes.pattern()
        counted = _count(pending, pattern)
        plain |= {path: records for path, (records, odd) in counted.items() if records and not odd}
        pending = [path for path, (_, odd) in counted.items() if odd]
        if not pending:
            break
        unusual = {path for path, line in _odd_lines(pending, pattern) if not shapes.learn(line)}
        pending = [path for path in pending if path not in unusual]
        if not pending or shapes.pattern() == pattern:
            break
    return shapes, plain


def _first_lines(path: str) -> list[str]:
    if path.lower().endswith(".zst"):
        return []  # one more round is quicker than importing what reads it
    with opened(path) as stream:
        return [line.decode("utf-8", "replace") for line in stream.readlines(_SAMPLED_BYTES)]


def _count(paths: Sequence[str], pattern: str) -> dict[str, tuple[int, int]]:
    """The records and the odd lines of each file; a file that Polars cannot read as text is left out."""
    line = pl.col("line")
    # A line without two marks is no object: it is blank, or it is odd and then the count does not matter.
    counts = (
        (line.str.len_bytes() > 1).cast(pl.Int64).sum().alias("records"),
        line.str.contains(pattern).not_().cast(pl.Int64).sum().alias("odd"),
    )
    lines = pl.scan_lines(list(paths), glob=False, include_file_paths=FILE)
    plan = lines.select(pl.lit(paths[0]).alias(FILE), *counts)
    if len(paths) > 1:
        plan = lines.group_by(FILE).agg(*counts)
    try:
        rows = plan.collect(engine="streaming").rows()
    except (OSError, pl.exceptions.ComputeError):
        # Which file it was is only told by asking one at a time.
        return {} if len(paths) == 1 else {k: v for path in paths for k, v in _count([path], pattern).items()}
    found = {path: (records, odd) for path, records, odd in rows}
    return {path: found[path] for path in paths if path in found}


def _odd_lines(paths: Sequence[str], pattern: str) -> list[tuple[str, str]]:
    lines = pl.scan_lines(list(paths), glob=False, include_file_paths=FILE)
    odd = lines.filter(pl.col("line").str.contains(pattern).not_()).head(_ODD_LINES)
    return collect(odd.select(FILE, "line")).rows()
