"""For other people's test suites: an oracle, assertions, known faults, and Hypothesis strategies.

The oracle and the assertions need nothing beyond the package. The strategies need Hypothesis, which comes
with the ``test`` extra; they are imported when they are first used.

>>> import skillshift.testing as sst
>>> sst.FAULTS["failures-above-calls"].code
'skill_failures.above-calls'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift.testing.assertions import (
    assert_cells_equal,
    assert_marginal_identity,
    assert_marginals_equal,
    assert_null_semantics,
)
from skillshift.testing.faults import FAULTS, Fault, FaultKind
from skillshift.testing.oracle import oracle_cells, oracle_marginals, oracle_published
from skillshift.testing.verdict import oracle_verdict, oracle_violations

if TYPE_CHECKING:
    from skillshift.testing.strategies import (
        faulty_jsonl,
        frames,
        grids,
        jsonl_bytes,
        logs,
        records,
        runs,
        to_frame,
    )

_STRATEGIES = ("faulty_jsonl", "frames", "grids", "jsonl_bytes", "logs", "records", "runs", "to_frame")

__all__ = [
    "FAULTS",
    "Fault",
    "FaultKind",
    "assert_cells_equal",
    "assert_marginal_identity",
    "assert_marginals_equal",
    "assert_null_semantics",
    "faulty_jsonl",
    "frames",
    "grids",
    "jsonl_bytes",
    "logs",
    "oracle_cells",
    "oracle_marginals",
    "oracle_published",
    "oracle_verdict",
    "oracle_violations",
    "records",
    "runs",
    "to_frame",
]


def __getattr__(name: str) -> Any:
    """Import a strategy when it is first used, so that the oracle works without Hypothesis."""
    if name not in _STRATEGIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skillshift.testing import strategies

    return getattr(strategies, name)
