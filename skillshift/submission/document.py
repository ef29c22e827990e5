"""The results document: its models, and reading and writing it without changing what did not change.

The models are the definition: the JSON Schema, the schema check and the reader derive from them.
Unknown fields are kept, numbers keep their form, and a document in which nothing changed is written
byte for byte as it was read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Discriminator, PrivateAttr, StrictBool, Tag
from typing_extensions import TypedDict

from skillshift.frame.writing import write_text
from skillshift.submission.jsontext import Number, dump
from skillshift.submission.model import FORMS, AnyText, Count, Date, Name, Part, Text, Url, read_as
from skillshift.submission.slots import CONDITION_SLOTS, WEBSITE_SLOTS

if TYPE_CHECKING:
    from pathlib import Path

Version = Literal["1.0", "1.1"]
SUPPORTED_VERSIONS: tuple[str, ...] = get_args(Version)
"""Versions of the results document; 1.1 counts skill calls by slot."""
CURRENT_VERSION: Version = "1.1"

Label = Literal["reported-only", "verified-paper", "self-reported"]
LABELS: tuple[str, ...] = get_args(Label)
"""Where an entry's numbers come from; only ``self-reported`` ones need a receipt."""
SELF_REPORTED: Label = "self-reported"

MIXED = "mixed"
"""How the model's id of an entry begins that pools several models."""


def is_mixed(model_id: str) -> bool:
    """Whether an entry pools several models, so that it is never ranked against a single one's.

    >>> is_mixed("mixed (A / B)"), is_mixed("gpt-5-mini"), is_mixed("mixedbread-1")
    (True, False, False)
    """
    return re.match(rf"{MIXED}\b", model_id, re.IGNORECASE) is not None


# For type checkers these are dictionaries; at run time each key is a required field of its own, so that
# a missing slot is found at its place. The keys come from the grid.
if TYPE_CHECKING:
    Websites = dict[str, Number | None]
    Conditions = dict[str, Number | None]
    WebsiteCounts = dict[str, int]
    ConditionCounts = dict[str, int]
else:

    def _table(name: str, slots: tuple[Any, ...], kind: Any) -> Any:
        made = TypedDict(name, {slot.name: kind for slot in slots})
        made.__pydantic_config__ = ConfigDict(extra="allow")
        return made

    Websites = _table("Websites", WEBSITE_SLOTS, Number | None)
    Conditions = _table("Conditions", CONDITION_SLOTS, Number | None)
    WebsiteCounts = _table("WebsiteCounts", WEBSITE_SLOTS, Count)
    ConditionCounts = _table("ConditionCounts", CONDITION_SLOTS, Count)


class Method(Part):
    """The method that ran."""

    name: Text
    description: AnyText | None
    paper_url: Url | None
    code_url: Url | None


class Model(Part):
    """The language model it ran on."""

    id: Text
    temperature: Number | None
    vision: StrictBool | None


class Provenance(Part):
    """Where the numbers come from."""

    label: Label
    source: Text
    code_released: StrictBool


class Submission(Part):
    """Who submits what."""

    name: Name
    date: Date
    contact: AnyText | None
    method: Method
    model: Model
    provenance: Provenance
    repro_command: AnyText | None


class MetricSlots(Part):
    """One metric's ten numbers; null where it is undefined or was not measured, with a reason."""

    websites: Websites
    conditions: Conditions
    overall: Number | None


class Metrics(Part):
    """The four metrics, ten numbers each."""

    SR: MetricSlots
    AS: MetricSlots
    ASC: MetricSlots
    SFR: MetricSlots


class SkillCalls(Part):
    """Skill calls by slot; what every SFR rests on."""

    websites: WebsiteCounts
    conditions: ConditionCounts
    overall: Count


_TOTAL, _BY_SLOT = FORMS


def _calls_form(value: Any) -> str:
    return _BY_SLOT if isinstance(value, dict | SkillCalls) else _TOTAL


AnyCalls = Annotated[
    Annotated[Count | None, Tag(_TOTAL)] | Annotated[SkillCalls, Tag(_BY_SLOT)], Discriminator(_calls_form)
]


class Counts(Part):
    """How many tasks each slot has, and how many skill calls were made.

    ``skill_calls`` is null (not reported, or the method has no executable skills), a total, or the counts
    by website, condition and overall.
    """

    websites: WebsiteCounts
    conditions: ConditionCounts
    skill_calls: AnyCalls


class Results(Part):
    """A results document.

    Read one with :func:`read_results`; assignments are checked, and unknown fields are kept.
    """

    schema_version: Version
    submission: Submission
    harness_version: Text
    metrics: Metrics
    n: Counts
    reasons: dict[AnyText, AnyText]
    notes: AnyText | None

    _raw: bytes | None = PrivateAttr(default=None)
    _tree: dict[str, Any] | None = PrivateAttr(default=None)

    def to_tree(self) -> dict[str, Any]:
        """The document as plain data, its keys in the order in which they were read."""
        dumped = self.model_dump(exclude_unset=True)
        return dumped if self._tree is None else _in_order(dumped, self._tree)

    def to_bytes(self) -> bytes:
        """The document as it is written: unchanged, byte for byte, where nothing in it changed."""
        text = dump(self.to_tree())
        if self._raw is not None and self._tree is not None and text == dump(self._tree):
            return self._raw
        return f"{text}\n".encode()


def read_results(source: str | Path | bytes) -> Results:
    """Read a results document.

    Args:
        source: A file, or a document's bytes.

    Returns:
        The document; numbers are exact and keep their form.

    Raises:
        InputError: The document cannot be read, is hostile, or does not fit the schema; every problem is
            named with its path.
    """
    results, raw, tree = read_as(Results, source)
    results._raw, results._tree = raw, tree  # noqa: SLF001 - private to users, not to its own module
    return results


def write_results(results: Results, path: str | Path) -> None:
    """Write a results document; a failed write leaves no half file and an earlier one unharmed.

    Args:
        results: The document.
        path: The file to write.

    Raises:
        InputError: The document does not fit its schema, or the file cannot be written.
    """
    raw = results.to_bytes()
    read_as(Results, raw)  # what is written can be read, whatever was put into the model's dictionaries
    write_text(path, raw.decode())


def _in_order(value: Any, like: Any) -> Any:
    """The same data with the keys of dictionaries in the order of another document, new keys last."""
    if isinstance(value, dict) and isinstance(like, dict):
        known = {key: _in_order(value[key], like[key]) for key in like if key in value}
        return known | {key: item for key, item in value.items() if key not in known}
    return value
