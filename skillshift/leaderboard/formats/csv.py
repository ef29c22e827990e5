"""The leaderboard as CSV: tidy, one line an entry, metric and slot; an empty field where a value is null."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board


def render(board: Board) -> bytes:
    """The board's table with the columns of :func:`skillshift.leaderboard.board.make_board`."""
    return board.table.write_csv().encode()
