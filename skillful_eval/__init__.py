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
    from skillful_eval.recording.document import Recording, read_recording
    from skillful_eval.router.bm25 import Bm25Router
    from skillful_eval.router.http import HttpRouter
    from skillful_eval.router.protocol import Router
    from skillful_eval.router.python import PythonRouter
    from skillful_eval.router.quotas import Quotas, parse_quotas
    from skillful_eval.router.ranking import Retriever
    from skillful_eval.router.thresholds import Thresholds
    from skillful_eval.runner import run_router
    from skillful_eval.runner_summary import RunSummary
    from skillful_eval.runs import scan_runs
    from skillful_eval.schema import GROUPS
    from skillful_eval.scoring import Scored, score
    from skillful_eval.splits import check_split
    from skillful_eval.stability import unstable
    from skillful_eval.summary import report
    from skillful_eval.sweep_plan import SweepSettings
    from skillful_eval.sweeping import Sweep, sweep
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
    "skillful_eval.recording.document": ("Recording", "read_recording"),
    "skillful_eval.router.bm25": ("Bm25Router",),
    "skillful_eval.router.http": ("HttpRouter",),
    "skillful_eval.router.protocol": ("Router",),
    "skillful_eval.router.python": ("PythonRouter",),
    "skillful_eval.router.quotas": ("Quotas", "parse_quotas"),
    "skillful_eval.router.ranking": ("Retriever",),
    "skillful_eval.router.thresholds": ("Thresholds",),
    "skillful_eval.runner": ("run_router",),
    "skillful_eval.runner_summary": ("RunSummary",),
    "skillful_eval.runs": ("scan_runs",),
    "skillful_eval.schema": ("GROUPS",),
    "skillful_eval.scoring": ("Scored", "score"),
    "skillful_eval.splits": ("check_split",),
    "skillful_eval.stability": ("unstable",),
    "skillful_eval.summary": ("report",),
    "skillful_eval.sweep_plan": ("SweepSettings",),
    "skillful_eval.sweeping": ("Sweep", "sweep"),
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
    "Bm25Router",
    "ContractError",
    "Corpus",
    "Criterion",
    "Events",
    "Fixtures",
    "HttpRouter",
    "InputError",
    "Provenance",
    "PythonRouter",
    "Quotas",
    "Recording",
    "Retriever",
    "Router",
    "RunSummary",
    "Scored",
    "Sweep",
    "SweepSettings",
    "Thresholds",
    "UsageError",
    "acceptances",
    "check_split",
    "event_causes",
    "event_report",
    "gate",
    "misses",
    "parse_quotas",
    "read_corpus",
    "read_criteria",
    "read_fixtures",
    "read_recording",
    "report",
    "run_router",
    "scan_events",
    "scan_runs",
    "score",
    "sweep",
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
