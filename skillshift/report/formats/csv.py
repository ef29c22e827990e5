"""The marginals as CSV: tidy, full precision, an empty field where a value is null."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillshift.report.content import Report


def render(report: Report) -> str:
    """One line a run, metric and slot, with the columns of :func:`skillshift.marginals`."""
    return report.numbers.write_csv()
