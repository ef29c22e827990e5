"""What a null of a document says: not applicable, undefined, or not measured. They are never shown alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from skillshift.diagnostics.table import NOT_APPLICABLE, UNDEFINED
from skillshift.metrics import OF_SKILLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillshift.submission.sheet import Sheet
    from skillshift.submission.slots import Slot

Status = Literal["value", "not-applicable", "undefined", "not-measured"]
STATUSES: tuple[str, ...] = get_args(Status)
"""What a slot can hold."""

SHOWN_AS: Mapping[str, str] = {
    "not-applicable": NOT_APPLICABLE,
    "undefined": UNDEFINED,
    "not-measured": "",
}
"""How each kind of null is shown."""

MEANS: Mapping[str, str] = {
    "not-applicable": "not applicable: the method has no executable skills",
    "undefined": "some cell has no skill call, so there is no denominator",
    "not-measured": "not measured or not reported",
}
"""What each kind of null means."""

COUNT_NOT_REPORTED = "count not reported"
"""Said beside a Skill Failure Rate whose number of skill calls is not known."""

# Reasons are a submitter's own words; these are the words of this project and of the published documents.
_NO_SKILLS = re.compile(r"\bnot applicable\b|\bno executable skills?\b", re.IGNORECASE)
_NO_CALLS = re.compile(
    r"\bno denominator\b|\bno skills? (?:was |were )?called\b|\bno skill calls?\b", re.IGNORECASE
)


def reason_of(sheet: Sheet, metric: str, slot: Slot) -> str | None:
    """Why a slot is null by the document's own words; null where it says nothing, or the slot has a value."""
    if sheet.value(metric, slot) is not None:
        return None
    found = sheet.reasons.get(slot.key(metric), sheet.reasons.get(metric))
    return found if isinstance(found, str) else None


def status_of(sheet: Sheet, metric: str, slot: Slot) -> Status:
    """What a slot of a document holds.

    A complete run has every number that its method can have, so a null of a self-reported entry says by its
    place what it is. A transcribed entry prints what its source printed, so there its reasons decide; a null
    that they declare neither not applicable nor without a denominator was not measured.

    Args:
        sheet: The document.
        metric: The metric's name.
        slot: The slot.

    Returns:
        ``value``, ``not-applicable`` (only for metrics of skills, where ASC is null too), ``undefined`` (only
        SFR: no denominator) or ``not-measured``.
    """
    if sheet.value(metric, slot) is not None:
        return "value"
    if metric not in OF_SKILLS:
        return "not-measured"
    reason = reason_of(sheet, metric, slot) or ""
    calls, _ = OF_SKILLS
    # A method whose calls were counted has executable skills.
    if sheet.value(calls, slot) is None:
        return "not-applicable" if sheet.self_reported or _NO_SKILLS.search(reason) else "not-measured"
    counted = sheet.self_reported or slot in sheet.calls
    return "undefined" if counted or _NO_CALLS.search(reason) else "not-measured"
