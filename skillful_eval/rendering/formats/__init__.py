"""One module a format, each with ``render(document) -> str``; its file's name is the format's name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillful_eval.rendering.document import Document

FORMATS = tuple(sorted(module.name for module in iter_modules(__path__)))
"""The formats' names: what ``--format`` offers."""

DEFAULT = "table"


def render(document: Document, fmt: str) -> str:
    """Render a document in a format of :data:`FORMATS`."""
    text: str = import_module(f"{__name__}.{fmt}").render(document)
    return text
