"""One module a format, each with ``render(report) -> str``; its file's name is the format's name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillshift.report.content import Report

FORMATS = tuple(sorted(module.name for module in iter_modules(__path__)))
"""The formats' names: what ``--format`` offers."""


def render(report: Report, fmt: str) -> str:
    """Render a report in a format of :data:`FORMATS`."""
    text: str = import_module(f"{__name__}.{fmt}").render(report)
    return text
