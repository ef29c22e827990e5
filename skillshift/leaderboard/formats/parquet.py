"""The leaderboard as Parquet: tidy, one row an entry, metric and slot; how it was ranked in the metadata."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING

import skillshift
from skillshift.frame.writing import SCHEMA_VERSION

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board


def render(board: Board) -> bytes:
    """The board's table with the columns of :func:`skillshift.leaderboard.board.make_board`."""
    content = BytesIO()
    metadata = {
        "schema_version": SCHEMA_VERSION,
        "package_version": skillshift.__version__,
        "sort": board.sort.name,
        "notes": json.dumps(board.notes, ensure_ascii=False),
    }
    board.table.rechunk().write_parquet(content, compression="zstd", metadata=metadata)
    return content.getvalue()
