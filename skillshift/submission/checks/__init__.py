"""The five checks that a submission must pass, and the further findings that fail nothing.

``schema``, ``coverage``, ``marginals``, ``ranges`` and ``receipt`` are the five; ``granularity`` and
``naming`` only ever warn. None stops at its first finding, and none stops another.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillshift.submission.checks.coverage import check_coverage
from skillshift.submission.checks.granularity import check_granularity
from skillshift.submission.checks.marginals import check_marginals
from skillshift.submission.checks.naming import check_naming
from skillshift.submission.checks.ranges import check_ranges
from skillshift.submission.checks.receipt import check_receipt
from skillshift.submission.checks.schema import check_schema
from skillshift.submission.jsontext import parse, read_bytes
from skillshift.submission.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift.submission.document import Results
    from skillshift.submission.findings import Verdict
    from skillshift.submission.receipt import Receipt

FIVE_CHECKS = ("schema", "coverage", "marginals", "ranges", "receipt")
"""The checks that a submission must pass."""

FURTHER_CHECKS = ("granularity", "naming")
"""What an expert would add; only warnings, never a failure."""


def validate(
    results: Results | str | Path | bytes,
    receipt: Receipt | str | Path | bytes | None = None,
    digests: Mapping[str, str | None] | None = None,
) -> list[Verdict]:
    """Check a submission; every finding is told, never only the first.

    Args:
        results: The results document: a model, a file, or its bytes. It need not fit the schema.
        receipt: The run's receipt, where there is one.
        digests: The official digests of the benchmark's environments by name, ``sha256:`` and 64
            hexadecimal digits; null for one that is not published yet.

    Returns:
        A verdict for each of the five checks in order, then ``granularity`` and ``naming``.

    Raises:
        InputError: A document cannot be read at all: not JSON, too long, too deep, a key twice, and the like.
    """
    sheet = read_sheet(results)
    return [
        check_schema(sheet),
        check_coverage(sheet),
        check_marginals(sheet),
        check_ranges(sheet),
        check_receipt(sheet, None if receipt is None else _tree(receipt), digests),
        check_granularity(sheet),
        check_naming(sheet),
    ]


def is_valid(verdicts: Sequence[Verdict]) -> bool:
    """Whether no check failed."""
    return not any(verdict.errors for verdict in verdicts)


def verdicts_to_json(verdicts: Sequence[Verdict]) -> str:
    """Verdicts as JSON: ``valid`` and ``checks``, keys sorted."""
    document = {"valid": is_valid(verdicts), "checks": [verdict.to_dict() for verdict in verdicts]}
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True)


def read_sheet(results: Results | str | Path | bytes) -> Sheet:
    """A results document as the checks see it; it need not fit the schema.

    Raises:
        InputError: It cannot be read at all.
    """
    return Sheet(_tree(results), Path(results).name if isinstance(results, str | Path) else None)


def _tree(document: Results | Receipt | str | Path | bytes) -> dict[str, Any]:
    if not isinstance(document, str | Path | bytes):
        document = document.to_bytes()
    raw, name = read_bytes(document)
    return parse(raw, name)
