"""A document as the checks see it: whatever is readable, also where the rest does not fit the schema.

The checks never stop at the first problem, so they read a parsed document leniently; what is absent or
of the wrong type is the schema check's to tell, and the other checks work with what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any, Final

from skillshift.frame.exact import Interval
from skillshift.submission.document import SELF_REPORTED, is_mixed
from skillshift.submission.jsontext import MAX_DIGITS, Number
from skillshift.submission.slots import SLOTS, Slot


class Missing(Enum):
    """There is nothing usable at this place: the field is absent, or of the wrong type."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

Value = Decimal | None | Missing
"""A slot's value: a number, null, or nothing usable."""


@dataclass(frozen=True)
class Sheet:
    """A parsed results document.

    Attributes:
        tree: The document.
        file_name: The name of its file, where it came from one.
    """

    tree: dict[str, Any]
    file_name: str | None = None

    def at(self, *keys: str) -> Any:
        """What stands at a place; ``MISSING`` where nothing does."""
        value: Any = self.tree
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                return MISSING
            value = value[key]
        return value

    def text(self, *keys: str) -> str:
        """The text at a place; empty where there is none."""
        value = self.at(*keys)
        return value if isinstance(value, str) else ""

    @property
    def self_reported(self) -> bool:
        """Whether the submitter computed the numbers from a run."""
        return self.text("submission", "provenance", "label") == SELF_REPORTED

    @property
    def mixed(self) -> bool:
        """Whether the entry pools several models."""
        return is_mixed(self.text("submission", "model", "id"))

    def value(self, metric: str, slot: Slot) -> Value:
        """A slot's value."""
        return _number_or_null(self.at("metrics", metric, *slot.parts))

    def interval(self, metric: str, slot: Slot) -> Interval | None:
        """What a slot's published number stands for; null where there is none with two decimals."""
        value = self.value(metric, slot)
        return (
            Interval.printed(round(value, 2)) if isinstance(value, Decimal) and is_published(value) else None
        )

    def intervals(self, metric: str, slots: tuple[Slot, ...]) -> list[Interval] | None:
        """The same for several slots; null where any of them has none."""
        found = [self.interval(metric, slot) for slot in slots]
        whole = [interval for interval in found if interval is not None]
        return whole if len(whole) == len(found) else None

    def is_null(self, metric: str, slots: tuple[Slot, ...] = SLOTS) -> bool:
        """Whether every one of the slots is null."""
        return all(self.value(metric, slot) is None for slot in slots)

    @property
    def reasons(self) -> dict[str, Any]:
        """The document's reasons."""
        found = self.at("reasons")
        return found if isinstance(found, dict) else {}

    @cached_property
    def calls(self) -> dict[Slot, int]:
        """The counts of skill calls by slot; empty where the document has none."""
        found = {slot: self.at("n", "skill_calls", *slot.parts) for slot in SLOTS}
        return {slot: count for slot, count in found.items() if is_count(count)}

    @property
    def total_calls(self) -> int | None:
        """The total of skill calls, also where only that is known."""
        value = self.at("n", "skill_calls")
        if isinstance(value, dict):
            value = value.get("overall")
        return value if is_count(value) else None


def is_count(value: object) -> bool:
    """Whether it is a whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_published(value: Decimal) -> bool:
    """Whether a number has no more decimals than a published one, and a size that can be computed with."""
    return abs(value.adjusted()) < MAX_DIGITS // 4 and value == round(value, 2)


def _number_or_null(value: object) -> Value:
    if value is None:
        return None
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Number(str(value))  # so that messages show it as the number that it is
    return MISSING
