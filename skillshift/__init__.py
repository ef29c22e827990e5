"""From per-task logs of a web-agent benchmark to its diagnostics, and everything that must hold of them.

The names below are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillshift import datasets, testing
    from skillshift.diagnostics.cells import cells
    from skillshift.diagnostics.identity import identity, identity_printed
    from skillshift.diagnostics.marginals import marginals
    from skillshift.diagnostics.schemas import Cells, Marginals
    from skillshift.diagnostics.summing import sums
    from skillshift.diagnostics.table import Table1, table
    from skillshift.diagnostics.trials import over_trials
    from skillshift.frame.errors import ContractError, InputError, UsageError
    from skillshift.grid import SKILLSHIFT, Condition, Grid, read_grid
    from skillshift.logs import PerTask, infer_grid, per_task_model, scan_per_task
    from skillshift.metrics import METRICS
    from skillshift.recorder import PerTaskWriter, SkillRecorder
    from skillshift.simulation import PrintedRates, Rates, simulate

__version__ = "0.1.0"

_HOME = {
    "diagnostics.cells": ("cells",),
    "frame.errors": ("ContractError", "InputError", "UsageError"),
    "grid": ("SKILLSHIFT", "Condition", "Grid", "read_grid"),
    "diagnostics.identity": ("identity", "identity_printed"),
    "logs": ("PerTask", "infer_grid", "per_task_model", "scan_per_task"),
    "diagnostics.marginals": ("marginals",),
    "metrics": ("METRICS",),
    "recorder": ("PerTaskWriter", "SkillRecorder"),
    "simulation": ("PrintedRates", "Rates", "simulate"),
    "diagnostics.schemas": ("Cells", "Marginals"),
    "diagnostics.summing": ("sums",),
    "diagnostics.table": ("Table1", "table"),
    "diagnostics.trials": ("over_trials",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBMODULES = ("datasets", "testing")

__all__ = [
    "METRICS",
    "SKILLSHIFT",
    "Cells",
    "Condition",
    "ContractError",
    "Grid",
    "InputError",
    "Marginals",
    "PerTask",
    "PerTaskWriter",
    "PrintedRates",
    "Rates",
    "SkillRecorder",
    "Table1",
    "UsageError",
    "cells",
    "datasets",
    "identity",
    "identity_printed",
    "infer_grid",
    "marginals",
    "over_trials",
    "per_task_model",
    "read_grid",
    "scan_per_task",
    "simulate",
    "sums",
    "table",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
