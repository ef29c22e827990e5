"""The document for a terminal, drawn by Rich; never cut to the window, so that no number is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.tables import draw

if TYPE_CHECKING:
    from skillful_eval.rendering.document import Document


def render(document: Document) -> str:
    """Its tables, in colour where standard output is a terminal that wants it, then the notes."""
    return draw(document.sections, document.notes)
