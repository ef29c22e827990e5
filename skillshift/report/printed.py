"""What ``skillshift table1`` shows: the printed rows, each with its verdict and what the check cannot see."""

from __future__ import annotations

import polars as pl

from skillshift.diagnostics.identity import identity_printed
from skillshift.grid import SKILLSHIFT, Grid


def printed_report(table: pl.DataFrame, *, grid: Grid = SKILLSHIFT) -> pl.DataFrame:
    """A table of printed numbers with the identity check's findings beside them.

    Args:
        table: As :func:`skillshift.identity_printed` takes it.
        grid: Whose websites and conditions the columns are.

    Returns:
        The table's columns as they are, then those of :func:`skillshift.identity_printed` that it does not
        have yet: ``websites``, ``conditions``, ``verdict``, ``difference``, ``tolerance``, ``reason`` and
        ``detects_website``, ``detects_condition``, ``detects_overall`` (in units of 0.01).

    Raises:
        InputError: As :func:`skillshift.identity_printed`.
        UsageError: As :func:`skillshift.identity_printed`.
    """
    findings = identity_printed(table, grid=grid)
    return pl.concat([table, findings.drop(table.columns, strict=False)], how="horizontal")


def table1_report() -> pl.DataFrame:
    """The paper's fourteen rows, each with its identity verdict and detection limits.

    Returns:
        As :func:`printed_report`, for :func:`skillshift.datasets.table1`.

    Raises:
        InputError: The bundled table is not there.

    >>> row = table1_report().filter(method="SkillWeaver", metric="SFR")
    >>> row.select("websites", "overall", "verdict").row(0)
    ('1.9767', '1.97', 'holds')
    """
    from skillshift.datasets import table1

    return printed_report(table1())
