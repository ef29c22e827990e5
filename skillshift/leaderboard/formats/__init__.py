"""One module a format, each with ``render(board) -> bytes``; its file's name is the format's name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board

FORMATS = tuple(sorted(module.name for module in iter_modules(__path__)))
"""The formats' names: what ``--format`` offers."""

DEFAULT = "table"
"""The format for a terminal."""

BINARY = ("parquet",)
"""The formats that are no text, so that a terminal never gets them."""


def render(board: Board, fmt: str) -> bytes:
    """Render a leaderboard in a format of :data:`FORMATS`; text is UTF-8."""
    content: bytes = import_module(f"{__name__}.{fmt}").render(board)
    return content
