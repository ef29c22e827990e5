"""For other people's test suites: an oracle, assertions, known faults, and Hypothesis strategies.

The oracle and the assertions need nothing beyond the package. The strategies need Hypothesis, which comes
with the ``test`` extra; they are imported when they are first used.

>>> import skillful_eval.testing as sst
>>> sst.FAULTS["runs", "chosen-missing"].code
'chosen.missing'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillful_eval.testing.assertions import (
    assert_null_semantics,
    assert_reports_equal,
    assert_routing_identities,
)
from skillful_eval.testing.faults import FAULTS, Fault, FaultKind, faults_of
from skillful_eval.testing.frames import to_corpus, to_events, to_fixtures, to_runs
from skillful_eval.testing.oracle import oracle_report
from skillful_eval.testing.oracle_events import oracle_acceptances, oracle_event_report
from skillful_eval.testing.oracle_retrieval import oracle_shortlists, oracle_tokens

if TYPE_CHECKING:
    from skillful_eval.testing.strategies import (
        Evaluation,
        corpora,
        evaluations,
        events,
        faulty_corpora,
        faulty_jsonl,
        fixtures,
        jsonl_bytes,
        runs,
    )

_STRATEGIES = (
    "Evaluation",
    "corpora",
    "evaluations",
    "events",
    "faulty_corpora",
    "faulty_jsonl",
    "fixtures",
    "jsonl_bytes",
    "runs",
)

__all__ = [
    "FAULTS",
    "Evaluation",
    "Fault",
    "FaultKind",
    "assert_null_semantics",
    "assert_reports_equal",
    "assert_routing_identities",
    "corpora",
    "evaluations",
    "events",
    "faults_of",
    "faulty_corpora",
    "faulty_jsonl",
    "fixtures",
    "jsonl_bytes",
    "oracle_acceptances",
    "oracle_event_report",
    "oracle_report",
    "oracle_shortlists",
    "oracle_tokens",
    "runs",
    "to_corpus",
    "to_events",
    "to_fixtures",
    "to_runs",
]


def __getattr__(name: str) -> Any:
    """Import a strategy when it is first used, so that the oracle works without Hypothesis."""
    if name not in _STRATEGIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skillful_eval.testing import strategies

    return getattr(strategies, name)
