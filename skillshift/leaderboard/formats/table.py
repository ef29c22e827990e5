"""The leaderboard for a terminal: aligned columns, never cut to the window, so that no number is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.diagnostics.table import aligned, display_width
from skillshift.leaderboard.listing import listings

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board
    from skillshift.leaderboard.listing import Listing


def render(board: Board) -> bytes:
    """The rankings one after the other, then the notes."""
    parts = [_drawn(listing) for listing in listings(board)]
    parts.append("\n".join(f"* {note}" for note in board.notes))
    return ("\n\n".join(parts) + "\n").encode()


def _drawn(listing: Listing) -> str:
    head, *rows = aligned(listing.frame, listing.columns[listing.labels - 1].title)
    rule = "-" * max(display_width(line) for line in (head, *rows))
    return "\n".join((listing.title, rule, head, rule, *rows))
