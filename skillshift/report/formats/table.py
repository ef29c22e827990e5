"""The report for a terminal, drawn by Rich; never cut to the window, so that no number is lost."""

from __future__ import annotations

import os
import sys
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from skillshift.report.sections import sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from skillshift.report.content import Report


def render(report: Report) -> str:
    """The report as text, in colour where standard output is a terminal that wants it."""
    return draw(sections(report), report.notes)


def draw(parts: Sequence[tuple[str, pl.DataFrame, str]], notes: Sequence[str]) -> str:
    """Titled frames of text as Rich tables, then the notes."""
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    tables = [drawn(*part) for part in parts]
    measure = Console(width=10_000)
    width = max(80, *(measure.measure(table).maximum for table in tables))
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False)
    for table in tables:
        console.print(table)
        console.print()
    for note in notes:
        console.print(Text(f"* {note}"))
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def drawn(title: str, frame: pl.DataFrame, numbers_from: str) -> Table:
    """A frame of text as a Rich table; a line parts the runs."""
    left = frame.columns.index(numbers_from) + 1
    table = Table(title=title, title_justify="left", header_style="bold")
    for i, name in enumerate(frame.columns):
        table.add_column(name, justify="left" if i < left else "right", no_wrap=True)
    rows = [[str(row[name]) for name in frame.columns] for row in frame.to_dicts()]
    owners = [row[: left - 1] for row in rows]
    grouped = any(owner == following for owner, following in pairwise(owners))
    for row, owner, following in zip(rows, owners, [*owners[1:], None], strict=True):
        table.add_row(*(Text(text) for text in row), end_section=grouped and owner != following)
    return table
