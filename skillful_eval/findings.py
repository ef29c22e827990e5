"""Findings: what is worth knowing about an input that is usable all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

FINDINGS = pl.Schema(
    {"code": pl.String(), "subject": pl.String(), "count": pl.Int64(), "message": pl.String()}
)
"""The columns of every findings frame: a stable reason code; what it is about (``corpus``, ``kind:mcp``,
``group:mcp``, a configuration, fixture ids); how many entries, fixtures or runs it is about; one sentence."""

Finding = tuple[str, str, int, str]
"""One finding: code, subject, count, message."""


def findings_frame(findings: Iterable[Finding]) -> pl.DataFrame:
    """The findings as a frame, in their order; without any, a frame without rows."""
    return pl.DataFrame(list(findings), schema=FINDINGS, orient="row")
