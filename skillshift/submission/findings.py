"""What a check says: a named verdict with every finding, each located and explained."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from skillshift.frame.errors import shorten
from skillshift.submission.jsontext import Number, printable

PATH_WIDTH = 160
"""How much of a path a message repeats; a stranger's keys can be of any length."""

SHOWN_FINDINGS = 200
"""How many findings a verdict's text shows; every one is in its data. No honest document has as many."""

Severity = Literal["error", "warning"]
Status = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found.

    Attributes:
        code: Its stable reason code, ``check.what``.
        severity: ``error`` fails the check, ``warning`` does not.
        path: Where it is in the document, such as ``metrics.SR.websites.gitlab``.
        found: What is there.
        expected: What should be there.
        why: Why it matters, or what follows from it.
    """

    code: str
    path: str
    found: str
    expected: str
    why: str
    severity: Severity = "error"

    def __str__(self) -> str:
        """Say the finding in one line."""
        path = self.path if len(self.path) <= PATH_WIDTH else f"{self.path[: PATH_WIDTH - 3]}..."
        place = f"{path}: " if path else ""
        return printable(
            f"{self.severity}: {place}found {self.found}, expected {self.expected}: {self.why} [{self.code}]"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check concludes.

    Attributes:
        check: The check's name.
        findings: Everything it found, in the order of the document.
        unchecked: What could not be checked and why; empty where everything was.
        ran: Whether the check had anything to check.
    """

    check: str
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[str, ...] = field(default=(), kw_only=True)
    ran: bool = field(default=True, kw_only=True)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that fail the check."""
        return tuple(f for f in self.findings if f.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that do not."""
        return tuple(f for f in self.findings if f.severity == "warning")

    @property
    def status(self) -> Status:
        """``failed`` with any error, ``not checked`` where there was nothing to check, else ``passed``."""
        if self.errors:
            return "failed"
        return "passed" if self.ran else "not checked"

    def __str__(self) -> str:
        """The verdict, its findings and what was left unchecked, a line each."""
        counted = [
            f"{len(found)} {name}{'s' * (len(found) != 1)}"
            for name, found in (("error", self.errors), ("warning", self.warnings))
            if found
        ]
        head = f"{self.check}: {self.status}" + (f" ({', '.join(counted)})" if counted else "")
        told = [str(finding) for finding in self.findings[:SHOWN_FINDINGS]]
        if len(self.findings) > SHOWN_FINDINGS:
            told.append(f"... and {len(self.findings) - SHOWN_FINDINGS:,} more")
        return "\n  ".join([head, *told, *(f"unchecked: {text}" for text in self.unchecked)])

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data: ``check``, ``status``, ``findings``, ``unchecked``."""
        return {
            "check": self.check,
            "status": self.status,
            "findings": [asdict(f) for f in self.findings],
            "unchecked": list(self.unchecked),
        }


def show(value: object) -> str:
    """A value of a document in a message: a number as it stands there, anything else shortened.

    >>> from skillshift.submission.jsontext import Number
    >>> show(Number("16.90")), show(None), show({"a": 1})
    ('16.90', 'null', '{"a": 1}')
    """
    return value.literal if isinstance(value, Number) else printable(shorten(value))
