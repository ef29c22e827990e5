"""Frames of text as tables that people read, on a terminal and in Markdown; no number is ever cut off."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from rich.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A table with its title.

    Attributes:
        title: What it shows.
        frame: Text only.
        numbers_from: The last column whose text stands to the left; numbers, to the right, follow it.
        owners: The columns that say whose a row is: a line parts rows of different owners.
    """

    title: str
    frame: pl.DataFrame
    numbers_from: str
    owners: tuple[str, ...] = ()


def draw(sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Titled frames of text as Rich tables, then the notes; in colour where standard output wants it."""
    from rich.console import Console
    from rich.text import Text

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    tables = [drawn(section) for section in sections]
    measure = Console(width=10_000)
    width = max([80, *(measure.measure(table).maximum for table in tables)])
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=colour, highlight=False, emoji=False)
    for table in tables:
        console.print(table)
        console.print()
    for note in notes:
        console.print(Text(f"* {one_line(note)}"))
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def drawn(section: Section) -> Table:
    """A frame of text as a Rich table."""
    from rich.table import Table
    from rich.text import Text

    frame = section.frame
    left = frame.columns.index(section.numbers_from) + 1
    table = Table(
        title=Text(one_line(section.title)), title_justify="left", title_style="bold", header_style="bold"
    )
    for i, name in enumerate(frame.columns):
        table.add_column(Text(one_line(name)), justify="left" if i < left else "right", no_wrap=True)
    rows, owners = (
        frame.rows(),
        frame.select(section.owners).rows() if section.owners else [()] * frame.height,
    )
    grouped = any(owner == following for owner, following in pairwise(owners))
    for row, owner, following in zip(rows, owners, [*owners[1:], None], strict=True):
        table.add_row(
            *(Text(one_line(_shown(text))) for text in row), end_section=grouped and owner != following
        )
    return table


def _shown(value: object) -> str:
    # Run keys may be numbers; everything else is text already.
    return "" if value is None else str(value)


def markdown_table(section: Section) -> str:
    """A frame of text as a Markdown table."""
    frame = section.frame
    left = frame.columns.index(section.numbers_from) + 1
    rule = ["---"] * left + ["---:"] * (frame.width - left)
    rows = [[escape(_shown(text)) for text in row] for row in (frame.columns, *frame.rows())]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is: no table cell, tag, emphasis or line break of its own.

    >>> escape("*a* | <b> _c_ d_e")
    '\\*a\\* \\| &lt;b> \\_c\\_ d_e'
    """
    plain = _MARKS.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;")
    return " ".join(plain.splitlines())


# An underscore between letters or digits is one; brackets mean something only before a parenthesis.
_MARKS = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])")


def one_line(text: str, width: int | None = None) -> str:
    r"""Somebody else's text as one harmless line: no breaks, control characters or reversed writing.

    Args:
        text: The text.
        width: How many characters to show; the rest becomes an ellipsis. By default all.

    >>> one_line("first\nsecond\x1b[31m"), one_line("a long prompt", 8)
    ('first second\\x1b[31m', 'a long …')
    """
    line = _UNSEEN.sub(lambda mark: mark[0].encode("unicode_escape").decode(), " ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
