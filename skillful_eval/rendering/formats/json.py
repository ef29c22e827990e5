"""The whole document as JSON: full precision, sorted keys, stable field names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillful_eval.rendering.document import versions
from skillshift.frame.writing import dump_json

if TYPE_CHECKING:
    from skillful_eval.rendering.document import Document


def render(document: Document) -> str:
    """The document's data with the versions and the notes."""
    return dump_json(versions() | {"notes": list(document.notes)} | document.data)
