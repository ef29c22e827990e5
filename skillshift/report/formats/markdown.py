"""The report as Markdown: the table, what it rests on, and the notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillshift.report.sections import sections

if TYPE_CHECKING:
    import polars as pl

    from skillshift.report.content import Report


def render(report: Report) -> str:
    """The report as a Markdown document."""
    parts = ["# SkillShift report", ""]
    for title, frame, numbers_from in sections(report):
        parts += [f"## {title}", "", markdown_table(frame, numbers_from), ""]
    parts += ["## Notes", "", *(f"- {escape(note)}" for note in report.notes)]
    return "\n".join(parts) + "\n"


def markdown_table(frame: pl.DataFrame, numbers_from: str) -> str:
    """A frame of text as a Markdown table; columns after ``numbers_from`` stand to the right."""
    left = frame.columns.index(numbers_from) + 1
    rule = ["---"] * left + ["---:"] * (frame.width - left)
    rows = [frame.columns, rule, *([row[name] for name in frame.columns] for row in frame.to_dicts())]
    return "\n".join(f"| {' | '.join(escape(str(text)) for text in row)} |" for row in rows)


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is: no table cell, tag, emphasis or line break of its own.

    >>> escape("*a* | <b> _c_ d_e")
    '\\*a\\* \\| &lt;b> \\_c\\_ d_e'
    """
    plain = _MARKS.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;")
    return " ".join(plain.splitlines())


# An underscore between letters or digits is one; brackets mean something only before a parenthesis.
_MARKS = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])")
