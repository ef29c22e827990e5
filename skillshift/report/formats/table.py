"""The report for a terminal, drawn by Rich; never cut to the window, so that no number is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.tables import draw
from skillshift.report.sections import sections

if TYPE_CHECKING:
    from skillshift.report.content import Report


def render(report: Report) -> str:
    """The report as text, in colour where standard output is a terminal that wants it."""
    return draw(sections(report), report.notes)
