"""A sweep as a document: the best configurations, what blocks each, and how much a best of many is worth."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from skillful_eval import gating
from skillful_eval.gating import PASSED
from skillful_eval.metrics import REASONS as UNDEFINED_BECAUSE
from skillful_eval.rendering.basis import basis_data, basis_sections, finding_notes, with_basis
from skillful_eval.rendering.document import UNDEFINED, Document, as_text, counted, decimals
from skillful_eval.rendering.values import value_text
from skillful_eval.schema import CONFIG
from skillful_eval.sweep_rows import DENOMINATOR, column_of
from skillshift.frame.tables import Section

if TYPE_CHECKING:
    from skillful_eval.criteria import Criterion
    from skillful_eval.sweeping import Sweep

BEST = 10
"""How many configurations a document for people shows."""

_PLACES = 3
"""How many decimals a shortfall is shown with."""


def sweep_document(found: Sweep, criteria: str) -> Document:
    """Lay a sweep out.

    Args:
        found: The sweep.
        criteria: Where the criteria come from.
    """
    best = found.frame.head(BEST)
    title = "Confirmation" if found.confirmed is not None else "Best configurations"
    places = [f"{number}" for number in range(1, best.height + 1)]
    sections = [
        Section(title, _values(best, found.criteria, places), "verdict"),
        Section("What blocks each", _blocked(best, places), "blocked by"),
        # What runs say of their making does not concern a sweep, which makes its own.
        basis_sections(found.provenance)[0],
    ]
    data = {
        "kind": found.metadata["kind"],
        "criteria_from": criteria,
        "criteria": [asdict(one) for one in found.criteria],
        "tried": len(found.plan),
        "passed": _passed(found),
        "repeat": found.repeat,
        "configurations": found.frame.to_dicts(),
        "provenance": basis_data(found.provenance),
        "findings": found.provenance.findings.to_dicts(),
    }
    rows = with_basis(found.frame, found.provenance)
    outcome = f"{_passed(found):,} of {counted(len(found.plan), 'configuration')} passed"
    return Document(f"Sweep: {outcome}", tuple(sections), tuple(_notes(found, criteria)), rows, data)


def _passed(found: Sweep) -> int:
    return found.frame.filter(pl.col("verdict") == PASSED).height


def _values(best: pl.DataFrame, criteria: tuple[Criterion, ...], places: list[str]) -> pl.DataFrame:
    met = pl.format("{} of {}", "criteria_met", "criteria").alias("criteria met")
    left = as_text(best.select(pl.Series("place", places), CONFIG, met, "verdict"))
    columns = {column_of(one): one.metric for one in criteria}
    shown: dict[str, list[str]] = {"shortfall": [decimals(one, _PLACES) for one in best["shortfall"]]}
    for column, metric in columns.items():
        pairs = best.select(column, column + DENOMINATOR).rows()
        shown[column] = [_value(metric, value, denominator) for value, denominator in pairs]
    return left.hstack([pl.Series(name, texts, dtype=pl.String) for name, texts in shown.items()])


def _value(metric: str, value: float | None, denominator: int | None) -> str:
    if value is None:
        return UNDEFINED
    return f"{value_text(metric, value)} (/{denominator:,})"


def _blocked(best: pl.DataFrame, places: list[str]) -> pl.DataFrame:
    texts = best["blocked_by"].list.join("; ").alias("blocked by")
    return as_text(pl.DataFrame([pl.Series("place", places), texts]))


def _notes(found: Sweep, criteria: str) -> list[str]:
    tried = counted(len(found.plan), "configuration")
    of = f"{found.provenance.fixture_set}, {counted(found.repeat, 'repeat')} each"
    notes = [f"{tried} tried on {of}, {_passed(found):,} passed. Criteria: {criteria}."]
    if found.why_development is not None:
        notes += [found.why_development, *_several(found)]
    else:
        notes.append(
            "This one was chosen elsewhere. To try another on this set would be choosing on it, and its "
            "figures would then confirm nothing."
        )
    notes += _hopeless(found)
    reasons = {text.rpartition(": ")[2] for texts in found.frame["blocked_by"].head(BEST) for text in texts}
    known = gating.REASONS | UNDEFINED_BECAUSE
    notes += [f"{code}: {why}." for code, why in known.items() if code in reasons]
    return [*notes, *finding_notes(found.provenance.findings)]


def _several(found: Sweep) -> list[str]:
    notes = []
    if found.frame.height > BEST:
        notes.append(f"The first {BEST} are shown; the file and --format json have all.")
    optimistic = (
        "The figures of the best of many on one set are optimistic: it is the best by chance as well. "
        "Confirm it once on the holdout set, with --confirm and its config; runs of it were tuned on "
        f"{found.provenance.fixture_set}, which run --tuned-on tells the gate."
    )
    order = (
        "Order: passed first, then by criteria met, by the smaller shortfall (the parts by which limits are "
        "missed, added up; 1 for an undefined value), by the smaller shortlist, then by name."
    )
    return [*notes, optimistic, order]


def _hopeless(found: Sweep) -> list[str]:
    """Criteria that no configuration could meet, since their value is undefined in all."""
    columns = dict.fromkeys(map(column_of, found.criteria))
    undefined = [name for name in columns if found.frame[name].null_count() == found.frame.height]
    if not undefined:
        return []
    told = (
        f"Undefined in every configuration, so that none can pass: {', '.join(undefined)}. Give --criteria "
        "without what this sweep cannot measure."
    )
    return [told]
