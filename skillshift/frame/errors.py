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

REASONS = 5
"""How many reasons a record's report shows in text; the rest are counted."""

KEPT = 50
"""How many reasons a record's report keeps: more than any table has, fewer than a line can have keys."""

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
        violations: What is wrong with each of the first offending records (at most 20), located, those of
            one record together. A record is a line or row of a file; a violation without a place is
            a record of its own.
    """

    def __init__(self, table: str, counts: Mapping[str, int], violations: Sequence[Violation]) -> None:
        self.table = table
        self.counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        self._records = _first_records(violations)
        self.violations = tuple(violation for record in self._records for violation in record)
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
        lines = [f"{self.table}: {_counted(self.total, 'violation')} ({counted})"]
        for record in self._records:
            lines += [f"  {violation.finding}" for violation in record[:REASONS]]
            if len(record) > REASONS:
                lines.append(f"  {record[0].where}: ... and {_counted(len(record) - REASONS, 'more reason')}")
        hidden = self.total - len(self.violations)
        if hidden > 0:
            lines.append(f"  ... and {_counted(hidden, 'more violation')}")
        told = (violation for record in self._records for violation in record[:REASONS])
        # A hint that many records share is said once.
        lines += [f"Hint: {hint}." for hint in dict.fromkeys(v.hint for v in told if v.hint)]
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


def _first_records(violations: Sequence[Violation]) -> list[list[Violation]]:
    """The violations of the first offending records, one list a record."""
    records: dict[tuple[str | None, int | None, int | None], list[Violation]] = {}
    for number, violation in enumerate(violations):
        nowhere = violation.file is None and violation.line is None
        place = (violation.file, violation.line, number if nowhere else None)
        if place in records or len(records) < SHOWN:
            records.setdefault(place, []).append(violation)
    return [record[:KEPT] for record in records.values()]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def shorten(value: object) -> str:
    """Repeat a found value in a message: quoted if text, and never more than a line.

    >>> shorten("fail"), shorten(0.5), shorten(None), shorten(True)
    ('"fail"', '0.5', 'null', 'true')
    """
    # A lone surrogate is shown as its escape, or the message itself could not be printed.
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + "..."
