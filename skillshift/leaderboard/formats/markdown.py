"""The leaderboard as GitHub's Markdown: a table a ranking, then the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.leaderboard.listing import listings
from skillshift.leaderboard.markup import markdown, markdown_table

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board


def render(board: Board) -> bytes:
    """The leaderboard as a Markdown document."""
    parts = ["# SkillShift leaderboard", ""]
    for listing in listings(board):
        numbers = [column.is_number for column in listing.columns]
        head = [column.title for column in listing.columns]
        rows = [[markdown(cell.text) for cell in row] for row in listing.rows]
        parts += [f"## {listing.title}", "", markdown_table(head, rows, numbers), ""]
    parts += ["## Notes", "", *(f"- {markdown(note)}" for note in board.notes)]
    return ("\n".join(parts) + "\n").encode()
