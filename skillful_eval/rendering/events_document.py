"""A live router's events as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.events_acceptance import WINDOW
from skillful_eval.events_rates import event_causes, event_report
from skillful_eval.rendering.basis import finding_notes
from skillful_eval.rendering.document import Document, as_text, bounded
from skillful_eval.rendering.values import value_columns
from skillshift.frame.tables import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.events import Events


def events_document(events: Events, by: Sequence[str], budget_ms: float) -> Document:
    """Lay rates and causes out, with what could not be read."""
    report, causes = event_report(events, by, budget_ms=budget_ms), event_causes(events, by)
    findings = events.findings()
    values = as_text(report.select(*by, "metric").hstack(value_columns(report)))
    listed, more = bounded(causes, "Causes", "cause")
    unread, still = bounded(events.unreadable, "Lines that could not be read", "expected")
    minutes = WINDOW.total_seconds() / 60
    bound = (
        "acceptanceUpperBound is an upper bound: a use of the injected capability in the same session within "
        f"{minutes:g} minutes, which may have happened without the suggestion too. openWindowRate: "
        "suggestions that could still be taken up when the log ended."
    )
    notes = [
        bound,
        f"overBudgetRate: the budget is {budget_ms:g} ms. Percentiles are nearest-rank.",
        *more,
        *still,
        *finding_notes(findings),
    ]
    data = {
        "keys": list(by),
        "budget_ms": budget_ms,
        "acceptance_window_minutes": minutes,
        "lines": events.lines,
        "unreadable_lines": events.unreadable_lines,
        "report": report.to_dicts(),
        "causes": causes.to_dicts(),
        "findings": findings.to_dicts(),
    }
    rows = report.with_columns(
        pl.lit(events.lines).alias("lines"), pl.lit(events.unreadable_lines).alias("unreadable_lines")
    )
    sections = (Section("Events", values, "metric"), *listed, *unread)
    return Document("Router events", sections, tuple(notes), rows, data)
