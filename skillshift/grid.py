"""Grids: the websites with their task counts and the conditions that a benchmark crosses.

``SKILLSHIFT`` is one grid: three websites, six conditions, 2,130 tasks a run. Others come from TOML,
are built in Python, or are inferred from the logs where somebody asks for it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Context = Literal["src", "tgt"]
Shift = Literal["none", "perceptual", "execution"]
MOST_TASKS = 2**32 - 1
"""The most tasks that a website can have, so that no count of them leaves 64 bits."""
CONTEXTS: tuple[str, ...] = ("src", "tgt")
SHIFTS: tuple[str, ...] = ("none", "perceptual", "execution")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and its two factors, each null where the grid does not have it."""

    name: str
    context: Context | None = None
    shift: Shift | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The websites and conditions that a run must cover.

    Attributes:
        name: What outputs call the grid.
        websites: Each website's number of tasks, in table order.
        conditions: The conditions, in table order.
        inferred: Whether it was read off the logs, so that coverage cannot be checked.

    Raises:
        InputError: No websites or conditions, an empty or repeated name, or a task count below 1.

    >>> airline = Grid("tau-airline", {"airline": 50}, ("trial-0", "trial-1"))
    >>> airline.tasks, airline.condition_names
    (100, ('trial-0', 'trial-1'))
    """

    name: str
    websites: Mapping[str, int]
    conditions: tuple[Condition, ...]
    inferred: bool = field(default=False, kw_only=True)

    def __init__(
        self,
        name: str,
        websites: Mapping[str, int],
        conditions: Sequence[Condition | str],
        *,
        inferred: bool = False,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "websites", MappingProxyType(dict(websites)))
        made = tuple(c if isinstance(c, Condition) else Condition(c) for c in conditions)
        object.__setattr__(self, "conditions", made)
        object.__setattr__(self, "inferred", inferred)
        self._check()

    def _check(self) -> None:
        where = f"grid {self.name!r}"
        if not self.websites or not self.conditions:
            raise InputError(f"{where}: expected at least one website and one condition")
        names = self.condition_names
        for n in (*self.websites, *names):
            if not isinstance(n, str) or not n or n != n.strip():
                raise InputError(f"{where}: found the name {n!r}, expected text without outer blanks")
        repeated = sorted({n for n in names if names.count(n) > 1})
        if repeated:
            raise InputError(f"{where}: conditions named twice: {', '.join(repeated)}")
        for site, tasks in self.websites.items():
            if isinstance(tasks, bool) or not isinstance(tasks, int) or not 1 <= tasks <= MOST_TASKS:
                raise InputError(
                    f"{where}: website {site!r} has {tasks!r} tasks, "
                    f"expected a whole number from 1 to {MOST_TASKS}"
                )

    @property
    def _value(self) -> tuple[object, ...]:
        return self.name, tuple(self.websites.items()), self.conditions, self.inferred

    def __eq__(self, other: object) -> bool:
        """Grids are values; the order of their websites and conditions is part of them."""
        return self._value == other._value if isinstance(other, Grid) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> tuple[Any, ...]:
        # The websites are shielded from changes by a mapping that does not pickle.
        made = partial(Grid, inferred=self.inferred)
        return made, (self.name, dict(self.websites), self.conditions)

    @property
    def website_names(self) -> tuple[str, ...]:
        """The websites, in table order."""
        return tuple(self.websites)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The conditions, in table order."""
        return tuple(c.name for c in self.conditions)

    @property
    def tasks(self) -> int:
        """How many tasks a complete run has."""
        return sum(self.websites.values()) * len(self.conditions)

    def cells(self) -> Iterator[tuple[str, str, int]]:
        """Every cell in table order: website, condition, planned tasks."""
        for site, planned in self.websites.items():
            for condition in self.conditions:
                yield site, condition.name, planned

    def to_dict(self) -> dict[str, Any]:
        """The grid as plain data: what manifests and Parquet metadata say, and what TOML holds."""
        return {
            "name": self.name,
            "websites": dict(self.websites),
            "conditions": [{"name": c.name, "context": c.context, "shift": c.shift} for c in self.conditions],
            "inferred": self.inferred,
        }


SKILLSHIFT = Grid(
    "skillshift",
    {"gitlab": 162, "magento": 114, "wordpress": 79},
    (
        Condition("src", "src", "none"),
        Condition("src-perc", "src", "perceptual"),
        Condition("src-exec", "src", "execution"),
        Condition("tgt", "tgt", "none"),
        Condition("tgt-perc", "tgt", "perceptual"),
        Condition("tgt-exec", "tgt", "execution"),
    ),
)
"""The SkillShift benchmark: 162 + 114 + 79 tasks under each of six conditions."""


def read_grid(path: str | Path) -> Grid:
    """Read a grid from TOML.

    Args:
        path: A TOML file: ``name``, a table ``[websites]`` of task counts, and either
            ``conditions = ["a", "b"]`` or ``[[conditions]]`` tables with ``name`` and, where the grid has
            the factors, ``context`` (``src``, ``tgt``) and ``shift`` (``none``, ``perceptual``,
            ``execution``).

    Returns:
        The grid.

    Raises:
        InputError: The file cannot be read, is not TOML, or a key is missing, unknown or wrong.
    """
    where = str(path)
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{where}: the grid cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: not a TOML file: {error}") from error
    unknown = sorted(set(document) - {"name", "websites", "conditions"})
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}, expected name, websites and conditions")
    websites, conditions = document.get("websites"), document.get("conditions")
    if not isinstance(websites, dict) or not isinstance(conditions, list):
        raise InputError(f"{where}: expected a table [websites] of task counts and a list of conditions")
    name = document.get("name", Path(path).stem)
    if not isinstance(name, str):
        raise InputError(f"{where}: name: found {name!r}, expected text")
    try:
        return Grid(name, websites, [_condition(item) for item in conditions])
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _condition(item: Any) -> Condition:
    if isinstance(item, str):
        return Condition(item)
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise InputError(f"found the condition {item!r}, expected a name or a table with a name")
    unknown = sorted(set(item) - {"name", "context", "shift"})
    if unknown:
        raise InputError(
            f"condition {item['name']!r}: unknown key {unknown[0]!r}, expected name, context, shift"
        )
    context, shift = item.get("context"), item.get("shift")
    if context not in (None, *CONTEXTS):
        raise InputError(
            f"condition {item['name']!r}: context {context!r}, expected one of {', '.join(CONTEXTS)}"
        )
    if shift not in (None, *SHIFTS):
        raise InputError(f"condition {item['name']!r}: shift {shift!r}, expected one of {', '.join(SHIFTS)}")
    return Condition(item["name"], context, shift)
