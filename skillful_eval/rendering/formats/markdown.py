"""The document as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.tables import escape, markdown_table

if TYPE_CHECKING:
    from skillful_eval.rendering.document import Document


def render(document: Document) -> str:
    """Its tables under their titles, then the notes."""
    parts = [f"# {escape(document.title)}", ""]
    for section in document.sections:
        parts += [f"## {escape(section.title)}", "", markdown_table(section), ""]
    if document.notes:
        parts += ["## Notes", "", *(f"- {escape(note)}" for note in document.notes)]
    return "\n".join(parts) + "\n"
