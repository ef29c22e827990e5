"""The whole report as JSON: full precision, sorted keys, stable field names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import skillshift
from skillshift.frame.writing import SCHEMA_VERSION, dump_json

if TYPE_CHECKING:
    from skillshift.report.content import Report


def render(report: Report) -> str:
    """The document of :func:`document`, as text."""
    return dump_json(document(report))


def document(report: Report) -> dict[str, Any]:
    """The report as plain data.

    Returns:
        ``schema_version``, ``package_version``, ``grid``, ``run_keys``, ``records``, ``duplicates_left_out``,
        ``records_refused``, ``notes``, and the rows of ``cells``, ``marginals``, ``identity`` and
        ``coverage``, each row an object with its frame's columns.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "package_version": skillshift.__version__,
        "grid": report.grid.to_dict(),
        "run_keys": list(report.by),
        "records": report.measured.records,
        "duplicates_left_out": report.measured.duplicates,
        "records_refused": report.refused,
        "notes": list(report.notes),
        "cells": report.cells.to_dicts(),
        "marginals": report.numbers.to_dicts(),
        "identity": report.verdicts.to_dicts(),
        "coverage": report.coverage.to_dicts(),
    }
