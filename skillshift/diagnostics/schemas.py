"""The contracts of the diagnostics' own outputs: cells and marginals, their columns and row rules.

Who reads these tables back, or makes them otherwise, checks them with ``Cells`` and ``Marginals``, which
are pandera models, or with :data:`CELLS_TABLE` and :data:`MARGINALS_TABLE`, which name what is wrong as the
per-task log's contract does.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.diagnostics.marginals import GROUPS, MARGINALS
from skillshift.diagnostics.summing import COUNTS, SUMS
from skillshift.frame.contract import Field, Kind, Rule, Table
from skillshift.frame.exact import PUBLISHED_DECIMALS
from skillshift.metrics import LOW_COUNT, METRICS, OF_SKILLS, REASONS, SFR, SR
from skillshift.schema import PER_TASK, RUN_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillshift.frame.metric import Metric

CLOSE = 1e-9
"""How far two doubles of one number may be apart, relative to it or to 1: no check is about rounding."""

_WHOLE = "a whole number from 0"

_COUNTED = {
    "planned": "The tasks that the grid plans.",
    "attempted": "Those with a record.",
    "errored": "Those with errored records only.",
    "scored": "Those with a scored record.",
    "missing": "Those without a record.",
}

_SUMMED = {
    "successes": "Solved tasks.",
    "steps": "The agent's steps.",
    "skill_calls": "Calls of executable skills; null where the method has none.",
    "skill_failures": "Those calls that failed; null where the method has no executable skills.",
}

_OF_MARGINALS = {
    "metric": "The metric's name.",
    "group": "What the slot is one of.",
    "slot": "The website, the condition, or overall.",
    "value": "The unweighted mean over the slot's cells, in the metric's unit; null for a reason.",
    "published": "The value to the published decimals; null where the value is.",
    "pooled": "The ratio of the slot's sums; null where a cell is incomplete or there is no denominator.",
    "denominator": "The tasks or calls behind it; null where the method has no executable skills.",
    **_COUNTED,
    "skill_calls": _SUMMED["skill_calls"],
    "min_cell_calls": "Those in the slot's smallest cell; null where the method has no executable skills.",
    "low_count": "Whether the value rests on few skill calls.",
    "incomplete": "Whether a cell of the slot lacks scored tasks.",
    "lower": "The value if every missing task failed; null where no such bound is given.",
    "upper": "The value if every missing task succeeded; null where no such bound is given.",
    "reason": "Why the value is null; null where there is one.",
}

_FILLED = ("metric", "group", "slot", *COUNTS, "low_count", "incomplete")
_KINDS = {pl.String: Kind.TEXT, pl.Int64: Kind.COUNT, pl.Float64: Kind.NUMBER, pl.Boolean: Kind.FLAG}


def undefined_for(metric: Metric) -> tuple[str, ...]:
    """The reasons for which a metric can be undefined, of :data:`skillshift.metrics.REASONS`.

    >>> undefined_for(SR), "no-skill-calls" in undefined_for(SFR)
    (('incomplete', 'nothing-scored'), True)
    """
    only = {"not-applicable": metric.name in OF_SKILLS, "no-skill-calls": metric is SFR}
    return tuple(reason for reason in REASONS if only.get(reason, True))


def _one_of(code: str, field: str, names: Iterable[str]) -> Rule:
    known = tuple(names)
    return Rule(code, field, ~pl.col(field).is_in(known), f"one of {', '.join(known)}", known=known)


def _not_negative(names: Iterable[str]) -> list[Rule]:
    return [Rule(f"{name}.negative", name, pl.col(name) < 0, _WHOLE) for name in names]


def _sum(code: str, parts: tuple[str, ...]) -> Rule:
    total = code.partition(".")[0]
    broken = pl.col(total) != reduce(add, map(pl.col, parts))
    return Rule(code, total, broken, " + ".join(parts))


_OF_COUNTS = (
    *_not_negative(COUNTS),
    _sum("planned.sum", ("scored", "errored", "missing")),
    _sum("attempted.sum", ("scored", "errored")),
)


def _outside(column: str, metric: Metric) -> pl.Expr:
    value = pl.col(column)
    beyond = value.is_nan() | value.is_infinite() | (value < metric.lower)
    return beyond if metric.upper is None else beyond | (value > metric.upper)


def _bounds(metric: Metric) -> str:
    return f"at least {metric.lower:g}" + ("" if metric.upper is None else f" and at most {metric.upper:g}")


def _above(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    return one - other > CLOSE * pl.max_horizontal(other.abs(), 1.0)


def _cell_rules() -> tuple[Rule, ...]:
    calls, failures, reason = pl.col("skill_calls"), pl.col("skill_failures"), pl.col("reason")
    holds = {
        "incomplete": (~pl.col("complete"), "complete to be false"),
        "not-applicable": (calls.is_null(), "skill_calls to be null"),
        "nothing-scored": (pl.col("scored") == 0, "scored to be 0"),
        "no-skill-calls": (calls == 0, "skill_calls to be 0"),
    }
    rules = [
        *_OF_COUNTS,
        *_not_negative(SUMS),
        Rule(
            "complete.scored",
            "complete",
            pl.col("complete") & (pl.col("scored") != pl.col("planned")),
            "false where not every planned task is scored",
        ),
        Rule("successes.above-scored", "successes", pl.col("successes") > pl.col("scored"), "at most scored"),
        Rule("skill_failures.above-calls", "skill_failures", failures > calls, "at most skill_calls"),
        Rule(
            "skill_calls.half",
            "skill_calls",
            calls.is_null() != failures.is_null(),
            "skill_calls and skill_failures both null or both counts",
        ),
        _one_of("reason.unknown", "reason", REASONS),
        *(
            Rule(
                f"reason.{code}",
                "reason",
                (reason == code) & ~holds[code][0].fill_null(value=False),
                f"{holds[code][1]} where the reason is {code}",
            )
            for code in REASONS
        ),
    ]
    for metric in METRICS:
        value, reasons = pl.col(metric.name), undefined_for(metric)
        ratio = metric.value
        rules += [
            Rule(
                f"{metric.name}.null",
                metric.name,
                value.is_null() != reason.is_in(reasons).fill_null(value=False),
                f"null exactly where the reason is {' or '.join(reasons)}",
            ),
            Rule(f"{metric.name}.range", metric.name, _outside(metric.name, metric), _bounds(metric)),
            Rule(
                f"{metric.name}.ratio",
                metric.name,
                value.is_not_null() & (_above(value, ratio) | _above(ratio, value)).fill_null(value=True),
                f"what the row's sums give: {metric.summary}",
            ),
        ]
    return tuple(rules)


def _marginal_rules() -> tuple[Rule, ...]:
    metric, reason = pl.col("metric"), pl.col("reason")
    value, lower, upper = pl.col("value"), pl.col("lower"), pl.col("upper")
    calls, least = pl.col("skill_calls"), pl.col("min_cell_calls")
    few = (metric == SFR.name) & (calls < LOW_COUNT).fill_null(value=False)
    decimals = rf"^[0-9]+\.[0-9]{{{PUBLISHED_DECIMALS}}}$"
    rules = [
        *_OF_COUNTS,
        *_not_negative(("denominator", "skill_calls", "min_cell_calls")),
        _one_of("metric.unknown", "metric", METRICS.names),
        _one_of("group.unknown", "group", GROUPS),
        _one_of("reason.unknown", "reason", REASONS),
        Rule(
            "value.null", "value", value.is_null() != reason.is_not_null(), "null exactly where reason is set"
        ),
        Rule(
            "published.null",
            "published",
            pl.col("published").is_null() != value.is_null(),
            "null exactly where value is",
        ),
        Rule(
            "published.form",
            "published",
            ~pl.col("published").str.contains(decimals),
            f"a number with {PUBLISHED_DECIMALS} decimals",
        ),
        Rule(
            "pooled.null",
            "pooled",
            pl.col("pooled").is_null() & value.is_not_null(),
            "a number where value is one",
        ),
        Rule(
            "min_cell_calls.half",
            "min_cell_calls",
            calls.is_null() != least.is_null(),
            "null exactly where skill_calls is",
        ),
        Rule("min_cell_calls.above-calls", "min_cell_calls", least > calls, "at most skill_calls"),
        Rule(
            "low_count.calls",
            "low_count",
            pl.col("low_count") != few,
            f"true exactly for an {SFR.name} on fewer than {LOW_COUNT} skill calls",
        ),
        Rule(
            "incomplete.scored",
            "incomplete",
            ~pl.col("incomplete") & (pl.col("scored") != pl.col("planned")),
            "true where not every planned task is scored",
        ),
        Rule(
            "reason.incomplete",
            "reason",
            (reason == "incomplete") & ~pl.col("incomplete"),
            "incomplete to be true where the reason is incomplete",
        ),
        *(
            Rule(
                f"{name}.null",
                name,
                pl.col(name).is_null() == (metric == SR.name),
                f"a number exactly for {SR.name}",
            )
            for name in ("lower", "upper")
        ),
        Rule("lower.above-upper", "lower", _above(lower, upper), "at most upper"),
        Rule("value.below-lower", "value", _above(lower, value), "at least lower"),
        Rule("value.above-upper", "value", _above(value, upper), "at most upper"),
    ]
    for one in METRICS:
        reasons = undefined_for(one)
        rules += [
            Rule(
                f"reason.{one.name}",
                "reason",
                (metric == one.name) & ~reason.is_in(reasons),
                f"one of {', '.join(reasons)} for {one.name}",
            ),
            *(
                Rule(
                    f"{column}.range-{one.name}",
                    column,
                    (metric == one.name) & _outside(column, one),
                    f"{_bounds(one)} for {one.name}",
                )
                for column in ("value", "pooled", "lower", "upper")
            ),
        ]
    return tuple(rules)


_KEYS = tuple(PER_TASK[key] for key in RUN_KEYS)

CELLS_TABLE = Table(
    "cells",
    "Cells",
    (
        *_KEYS,
        Field("website", Kind.TEXT, "The website."),
        Field("condition", Kind.TEXT, "The condition."),
        *(Field(name, Kind.COUNT, _COUNTED[name]) for name in COUNTS),
        Field("complete", Kind.FLAG, "Whether every planned task is scored."),
        *(Field(name, Kind.COUNT, _SUMMED[name], nullable=name.startswith("skill_")) for name in SUMS),
        *(Field(m.name, Kind.NUMBER, m.summary, nullable=True) for m in METRICS),
        Field(
            "reason",
            Kind.TEXT,
            "Why a value is null; null where all are defined.",
            nullable=True,
        ),
    ),
    _cell_rules(),
)
"""What :func:`skillshift.cells` gives, after any run keys of one's own."""

MARGINALS_TABLE = Table(
    "marginals",
    "Marginals",
    (
        *_KEYS,
        *(
            Field(name, _KINDS[type(dtype)], _OF_MARGINALS[name], nullable=name not in _FILLED)
            for name, dtype in MARGINALS.items()
        ),
    ),
    _marginal_rules(),
)
"""What :func:`skillshift.marginals` gives, after any run keys of one's own."""

_MODELS = {table.model_name: table for table in (CELLS_TABLE, MARGINALS_TABLE)}


def __getattr__(name: str) -> Any:
    # A model is made when it is first asked for: importing pandera takes seconds.
    if name in _MODELS:
        return _MODELS[name].model()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if TYPE_CHECKING:
    Cells: type[Any]
    Marginals: type[Any]
