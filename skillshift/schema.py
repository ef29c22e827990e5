"""The per-task log's contract: its fields and its row rules, the one definition."""

from __future__ import annotations

from functools import cache

import polars as pl

from skillshift.frame.contract import Field, Kind, Rule, Table
from skillshift.frame.errors import UsageError
from skillshift.grid import SKILLSHIFT, Grid

RUN_KEYS = ("method", "model", "run", "trial")
"""The fields that tell one run from another, in the order in which outputs carry them."""

FIELDS = (
    Field(
        "uid",
        Kind.TEXT,
        "The task's id; skillshift.<site>.<v1|v2>.<index>, or any other text.",
        hint="a numeric id must be written as text",
    ),
    Field("site", Kind.TEXT, "The website, one of the grid's."),
    Field("condition", Kind.TEXT, "The condition, one of the grid's."),
    Field(
        "success",
        Kind.FLAG,
        "Whether the task was solved; null only beside an error.",
        nullable=True,
        hint="write true or false; for rewards, decide on a threshold first, such as reward >= 1",
    ),
    Field(
        "steps", Kind.COUNT, "The agent's steps, failed tasks too; null only beside an error.", nullable=True
    ),
    Field(
        "skill_calls",
        Kind.COUNT,
        "Calls of executable skills; null where the method has none.",
        nullable=True,
    ),
    Field(
        "skill_failures",
        Kind.COUNT,
        "Those calls that failed; null where skill_calls is null.",
        nullable=True,
    ),
    Field(
        "error",
        Kind.TEXT,
        "What kept the task from being measured; null where it was.",
        required=False,
        nullable=True,
    ),
    Field("method", Kind.TEXT, "The method that ran; a run key.", required=False),
    Field("model", Kind.TEXT, "The language model it ran on; a run key.", required=False),
    Field("run", Kind.LABEL, "The run's name; a run key.", required=False),
    Field(
        "trial",
        Kind.LABEL,
        "Which repetition of the run this is; a run key, each trial a run of its own.",
        required=False,
    ),
)

PREFIX = "skillshift."
"""How a canonical uid begins."""

MOST = 2**32 - 1
"""The largest count of one record, far above any real one, so that no sum of them can exceed 64 bits."""

CANONICAL = r"^skillshift\.(.+)\.v[12]\.([0-9]+)$"
"""A canonical uid: site, which may have dots, and index; the version is not checked."""


def _row_rules() -> tuple[Rule, ...]:
    calls, failures = pl.col("skill_calls"), pl.col("skill_failures")
    unmeasured = pl.col("error").is_null()
    count = "a whole number from 0"
    return (
        Rule(
            "success.missing",
            "success",
            pl.col("success").is_null() & unmeasured,
            "true or false in a record without an error",
        ),
        Rule(
            "steps.missing",
            "steps",
            pl.col("steps").is_null() & unmeasured,
            f"{count} in a record without an error",
        ),
        Rule("steps.negative", "steps", pl.col("steps") < 0, count),
        Rule("steps.too-large", "steps", pl.col("steps") > MOST, f"a whole number up to {MOST}"),
        Rule("skill_calls.negative", "skill_calls", calls < 0, count),
        Rule("skill_calls.too-large", "skill_calls", calls > MOST, f"a whole number up to {MOST}"),
        Rule("skill_failures.negative", "skill_failures", failures < 0, count),
        Rule("skill_failures.above-calls", "skill_failures", failures > calls, "at most skill_calls"),
        Rule(
            "skill_calls.half",
            "skill_calls",
            calls.is_null() != failures.is_null(),
            "skill_calls and skill_failures both null or both counts",
            "null means that the method has no executable skills; no call made is 0",
        ),
        Rule(
            "error.empty",
            "error",
            pl.col("error") == "",
            "null, or what went wrong",
            "write null for a record without an error",
        ),
    )


PER_TASK = Table("per-task log", "PerTask", FIELDS, _row_rules())
"""The per-task log without what depends on a grid."""


def per_task(grid: Grid = SKILLSHIFT) -> Table:
    """The per-task log's contract on one grid: known websites and conditions, tasks in their site's range.

    Args:
        grid: The grid that the log must fit.

    Returns:
        The table, the same one for equal grids; ``per_task(grid).model()`` is its pandera model.
    """
    return _per_task(grid)


@cache
def _per_task(grid: Grid) -> Table:
    if not isinstance(grid, Grid):
        raise UsageError(
            f"grid: found {grid!r}, expected a Grid: SKILLSHIFT, what read_grid reads from TOML, or what "
            "infer_grid reads off the logs"
        )
    sites, conditions = grid.website_names, grid.condition_names
    rules = (
        Rule(
            "site.unknown",
            "site",
            ~pl.col("site").is_in([*sites, ""]),  # an empty name is missing, not unknown
            f"one of {', '.join(sites)}",
            known=sites,
        ),
        Rule(
            "condition.unknown",
            "condition",
            ~pl.col("condition").is_in([*conditions, ""]),
            f"one of {', '.join(conditions)}",
            known=conditions,
        ),
        *uid_rules(grid),
    )
    return Table(PER_TASK.name, PER_TASK.model_name, FIELDS, PER_TASK.rules + rules)


def uid_rules(grid: Grid) -> tuple[Rule, ...]:
    """What a canonical uid must agree with: its record's site, and that site's number of tasks."""
    named = pl.col("uid").str.extract(CANONICAL, 1)
    # Digits that are no 64-bit number are too large for any site; a null would count as kept.
    index = pl.col("uid").str.extract(CANONICAL, 2).cast(pl.Int64, strict=False).fill_null(MANY)
    beyond = [
        (pl.col("site") == site) & (named == site) & (index >= planned)
        for site, planned in grid.websites.items()
        if not grid.inferred
    ]
    ranges = ", ".join(f"{site} 0 to {planned - 1}" for site, planned in grid.websites.items())
    return (
        Rule(
            "uid.site",
            "uid",
            (named != pl.col("site")) & pl.col("site").is_in(list(grid.website_names)),
            "the uid's website to be the record's site",
        ),
        Rule(
            "uid.range",
            "uid",
            pl.any_horizontal(pl.lit(value=False), *beyond),
            f"an index in the site's range ({ranges})",
        ),
    )


MANY = 1 << 62
"""Stands for an index that no grid has."""


TASK = "_task"
"""The column that :func:`task` makes."""


def task() -> pl.Expr:
    """Which task of its cell a record is about: the uid, a canonical one as ``v1`` without leading zeros.

    ``skillshift.gitlab.v1.9`` and ``skillshift.gitlab.v2.09`` are one task in a cell; any other form of uid
    stands for itself, and none can be mistaken for a canonical one.
    """
    return pl.col("uid").str.replace(_VERSIONED, "${1}v1.${2}").alias(TASK)


_VERSIONED = r"^(skillshift\..+\.)v[12]\.0*([0-9]+)$"
