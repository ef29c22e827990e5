"""The ten slots of a metric: three websites, six conditions, overall; where each stands in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillshift.grid import SKILLSHIFT
from skillshift.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

WEBSITES, CONDITIONS, OVERALL = "websites", "conditions", "overall"

GROUP_KEYS: Mapping[str, str] = {"website": WEBSITES, "condition": CONDITIONS, "overall": OVERALL}
"""A group of the marginals frame, and the key that holds it in a document."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One of the ten places of a metric.

    Attributes:
        group: The document's key: ``websites``, ``conditions`` or ``overall``.
        name: The website or condition; ``overall`` for the last.
    """

    group: str
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys that lead from a metric to the slot."""
        return (OVERALL,) if self.group == OVERALL else (self.group, self.name)

    def key(self, metric: str) -> str:
        """How ``reasons`` names the slot.

        >>> Slot("websites", "gitlab").key("SFR"), Slot("overall", "overall").key("ASC")
        ('SFR.websites.gitlab', 'ASC.overall')
        """
        return ".".join((metric, *self.parts))

    def path(self, metric: str) -> str:
        """Where the slot's value stands in a document."""
        return f"metrics.{self.key(metric)}"

    @property
    def calls_path(self) -> str:
        """Where the slot's count of skill calls stands in a document that has one."""
        return ".".join(("n", "skill_calls", *self.parts))

    @property
    def websites(self) -> tuple[str, ...]:
        """The websites whose cells the slot averages."""
        return (self.name,) if self.group == WEBSITES else SKILLSHIFT.website_names

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions whose cells the slot averages."""
        return (self.name,) if self.group == CONDITIONS else SKILLSHIFT.condition_names

    @property
    def cells(self) -> int:
        """How many cells the slot averages."""
        return len(self.websites) * len(self.conditions)


WEBSITE_SLOTS = tuple(Slot(WEBSITES, name) for name in SKILLSHIFT.website_names)
CONDITION_SLOTS = tuple(Slot(CONDITIONS, name) for name in SKILLSHIFT.condition_names)
OVERALL_SLOT = Slot(OVERALL, OVERALL)
SLOTS = (*WEBSITE_SLOTS, *CONDITION_SLOTS, OVERALL_SLOT)
"""The ten slots, in table order."""

METRIC_NAMES = METRICS.names
"""The metrics that a document publishes, in table order."""

WEBSITE_TASKS: Mapping[str, int] = SKILLSHIFT.websites
"""How many tasks a website has under each condition: 162, 114, 79."""

CONDITION_TASKS = sum(SKILLSHIFT.websites.values())
"""How many tasks a condition has over all websites: 355."""

OFFICIAL_COUNTS: Mapping[str, Mapping[str, int]] = {
    WEBSITES: dict(WEBSITE_TASKS),
    CONDITIONS: dict.fromkeys(SKILLSHIFT.condition_names, CONDITION_TASKS),
}
"""What ``n`` says in every document of a complete run."""
