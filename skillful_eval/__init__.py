"""From a corpus, fixtures and routing runs to what they say about a router.

The names below are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillful_eval import testing
    from skillful_eval.corpus import Corpus, read_corpus
    from skillful_eval.coverage import uncovered
    from skillful_eval.criteria import CRITERIA, Criterion, read_criteria
    from skillful_eval.events import Events, scan_events
    from skillful_eval.events_acceptance import acceptances
    from skillful_eval.events_rates import EVENT_METRICS, event_causes, event_report
    from skillful_eval.fixtures import Fixtures, read_fixtures
    from skillful_eval.gating import gate
    from skillful_eval.metrics import METRICS
    from skillful_eval.missing import MISSES, misses
    from skillful_eval.provenance import Provenance
    from skillful_eval.runs import scan_runs
    from skillful_eval.schema import GROUPS
    from skillful_eval.scoring import Scored, score
    from skillful_eval.splits import check_split
    from skillful_eval.stability import unstable
    from skillful_eval.summary import report
    from skillshift.frame.errors import ContractError, InputError, UsageError

_HOME = {
    "skillful_eval.corpus": ("Corpus", "read_corpus"),
    "skillful_eval.coverage": ("uncovered",),
    "skillful_eval.criteria": ("CRITERIA", "Criterion", "read_criteria"),
    "skillful_eval.events": ("Events", "scan_events"),
    "skillful_eval.events_acceptance": ("acceptances",),
    "skillful_eval.events_rates": ("EVENT_METRICS", "event_causes", "event_report"),
    "skillful_eval.fixtures": ("Fixtures", "read_fixtures"),
    "skillful_eval.gating": ("gate",),
    "skillful_eval.metrics": ("METRICS",),
    "skillful_eval.missing": ("MISSES", "misses"),
    "skillful_eval.provenance": ("Provenance",),
    "skillful_eval.runs": ("scan_runs",),
    "skillful_eval.schema": ("GROUPS",),
    "skillful_eval.scoring": ("Scored", "score"),
    "skillful_eval.splits": ("check_split",),
    "skillful_eval.stability": ("unstable",),
    "skillful_eval.summary": ("report",),
    "skillshift.frame.errors": ("ContractError", "InputError", "UsageError"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBMODULES = ("testing",)

__all__ = [
    "CRITERIA",
    "EVENT_METRICS",
    "GROUPS",
    "METRICS",
    "MISSES",
    "ContractError",
    "Corpus",
    "Criterion",
    "Events",
    "Fixtures",
    "InputError",
    "Provenance",
    "Scored",
    "UsageError",
    "acceptances",
    "check_split",
    "event_causes",
    "event_report",
    "gate",
    "misses",
    "read_corpus",
    "read_criteria",
    "read_fixtures",
    "report",
    "scan_events",
    "scan_runs",
    "score",
    "testing",
    "uncovered",
    "unstable",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
