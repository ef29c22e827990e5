"""The leaderboard as JSON: an object an entry with its forty slots; sorted keys, stable field names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import skillshift
from skillshift.frame.writing import SCHEMA_VERSION, dump_json
from skillshift.leaderboard.board import ENTRY_COLUMNS, SLOT_COLUMNS

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board


def render(board: Board) -> bytes:
    """The document of :func:`document`, as text."""
    return dump_json(document(board)).encode()


def document(board: Board) -> dict[str, Any]:
    """The leaderboard as plain data.

    Returns:
        ``schema_version``, ``package_version``, ``sort`` (the metric), ``better`` (its direction),
        ``passed_over`` (counts of ``receipts`` and ``others``), ``notes``, and ``entries`` in order: the
        columns of an entry, and its ``slots``, each an object with a slot's columns, as
        :func:`skillshift.leaderboard.board.make_board` describes them.
    """
    nested = (
        board.table.with_columns(pl.col("date").dt.to_string("iso"))
        .group_by(list(ENTRY_COLUMNS), maintain_order=True)
        .agg(pl.struct(list(SLOT_COLUMNS)).alias("slots"))
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "package_version": skillshift.__version__,
        "sort": board.sort.name,
        "better": board.sort.better,
        "passed_over": {"receipts": board.receipts, "others": len(board.others)},
        "notes": list(board.notes),
        "entries": nested.to_dicts(),
    }
