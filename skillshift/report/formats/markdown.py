"""The report as Markdown: the table, what it rests on, and the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.tables import escape, markdown_table
from skillshift.report.sections import sections

if TYPE_CHECKING:
    from skillshift.report.content import Report


def render(report: Report) -> str:
    """The report as a Markdown document."""
    parts = ["# SkillShift report", ""]
    for section in sections(report):
        parts += [f"## {section.title}", "", markdown_table(section), ""]
    parts += ["## Notes", "", *(f"- {escape(note)}" for note in report.notes)]
    return "\n".join(parts) + "\n"
