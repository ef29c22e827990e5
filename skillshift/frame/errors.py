"""The errors of both packages: what is wrong, where, what was expected, what to do.

Every error about somebody's input is an :class:`InputError`; the command lines turn it into one
message and exit code 2. :class:`ContractError` is the one for records: bounded, countable, and
readable as text, as a frame and as JSON.

Importing this module imports no dataframe library.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

SHOWN = 20
"""How many offending records a report shows; the rest are counted."""

TEXT_WIDTH = 80
"""How much of a found value a message repeats."""


class InputError(ValueError):
    """Input that cannot be used: a file, a record, an option's value.

    The message names what is wrong, where, what was expected, and what to do.
    """


class UsageError(InputError):
    """A call that cannot be right whatever the data: options that contradict each other, say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One record that breaks one rule.

    Attributes:
        code: The rule's stable reason code, such as ``steps.negative``.
        file: The file the record came from, where known.
        line: The 1-based line in a text file, or the 1-based row of a file or frame without lines.
        field: The field that is wrong, where one is.
        found: What was there, shortened.
        expected: What the rule asks for.
        hint: What to do, where there is more to say than ``expected`` does.
    """

    code: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    found: str = ""
    expected: str = ""
    hint: str = ""

    @property
    def where(self) -> str:
        """``file:line``, as far as known."""
        if self.file is None:
            return "?" if self.line is None else f"row {self.line}"
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def finding(self) -> str:
        """What is wrong and where, in one line, without the hint."""
        field = f"{self.field}: " if self.field else ""
        found = f"found {self.found}, " if self.found else ""
        return f"{self.where}: {field}{found}expected {self.expected} [{self.code}]"

    def __str__(self) -> str:
        """Say the violation in one line, with the hint."""
        return f"{self.finding} ({self.hint})" if self.hint else self.finding


class ContractError(InputError):
    """Records that break the contract of their table; nothing was computed from any of them.

    Attributes:
        table: The table's name, such as ``per-task log``.
        counts: How many records break each rule, by reason code.
        violations: The first offending records (at most 20), located.
    """

    def __init__(self, table: str, counts: Mapping[str, int], violations: Sequence[Violation]) -> None:
        self.table = table
        self.counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        self.violations = tuple(violations[:SHOWN])
        super().__init__(self._text())

    def __reduce__(self) -> tuple[type[ContractError], tuple[object, ...]]:
        # An exception is rebuilt from its message unless told otherwise, and then a worker process's
        # report would never arrive.
        return type(self), (self.table, self.counts, self.violations)

    @property
    def total(self) -> int:
        """How many violations there are; a record that breaks two rules counts twice."""
        return sum(self.counts.values())

    def _text(self) -> str:
        counted = ", ".join(f"{code} {count:,}" for code, count in self.counts.items())
        lines = [f"{self.table}: {self.total:,} violation{'s' * (self.total != 1)} ({counted})"]
        lines += [f"  {violation.finding}" for violation in self.violations]
        hidden = self.total - len(self.violations)
        if hidden > 0:
            lines.append(f"  ... and {hidden:,} more")
        # A hint that many records share is said once.
        lines += [f"Hint: {hint}." for hint in dict.fromkeys(v.hint for v in self.violations if v.hint)]
        return "\n".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """The located violations, one row each.

        Returns:
            A DataFrame with ``code``, ``file``, ``line`` (Int64), ``field``, ``found``, ``expected``
            and ``hint``; ``file``, ``line`` and ``field`` are null where not known.
        """
        import polars as pl

        schema = {name: pl.Int64 if name == "line" else pl.String for name in Violation.__slots__}
        return pl.DataFrame([asdict(violation) for violation in self.violations], schema=schema)

    def to_json(self) -> str:
        """The same as JSON: ``table``, ``total``, ``counts``, ``violations``; keys sorted."""
        document = {
            "table": self.table,
            "total": self.total,
            "counts": self.counts,
            "violations": [asdict(violation) for violation in self.violations],
        }
        return json.dumps(document, ensure_ascii=False, sort_keys=True, indent=2)


def shorten(value: object) -> str:
    """Repeat a found value in a message: quoted if text, and never more than a line.

    >>> shorten("fail"), shorten(0.5), shorten(None), shorten(True)
    ('"fail"', '0.5', 'null', 'true')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + "..."
