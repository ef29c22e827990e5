"""The columns that tell one router's runs from another's in outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.metrics import METRICS, PERCENTILES
from skillful_eval.schema import CONFIG, DECISIONS, PROVENANCE, RUNS, SCORED, config_keys
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored

_OUTPUTS = frozenset(
    {
        "scope",
        "metric",
        "value",
        "numerator",
        "denominator",
        "unit",
        "fixtures",
        "reason",
        "layer",
        "expected",
        "runs",
        "recall",
        "hits",
        "what",
        "is",
        "miss",
        "gold",
        "would_rank",
        "prompt",
        "scores",
        "what_happened",
        "fixture",
        "repeats",
        "decisions",
        "abstain",
        "criterion",
        "criteria",
        "criteria_met",
        "minimum",
        "maximum",
        "asked",
        "shortfall",
        "verdict",
        "met",
        "blocked_by",
        "answerable_fixtures",
        "abstain_fixtures",
        "corpus_digest",
        "corpus_filtered",
        "findings",
    }
)
"""The columns that reports, misses, gates and their documents have for themselves, beside those of runs."""

KEY_FIELDS = (CONFIG, "model")
"""The fields of the runs' contract that tell configurations apart; the others differ within one."""

_TAKEN = frozenset(
    name.replace("_", " ")
    for name in (
        *(set(RUNS.names) - set(KEY_FIELDS)),
        *SCORED,
        *PROVENANCE,
        *_OUTPUTS,
        *DECISIONS,
        *METRICS.names,
        *PERCENTILES,
    )
)
"""What no key may be called, spelled as headings are, with blanks."""


def check_names(keys: Sequence[str]) -> None:
    """Refuse keys that an output or its document could not have beside its own columns.

    Args:
        keys: The keys.

    Raises:
        UsageError: A key is one of those columns, begins with an underscore, or is named twice.

    >>> check_names(["config", "prompt_version"])
    >>> check_names(["latency_ms"])
    Traceback (most recent call last):
    ...
    skillshift.frame.errors.UsageError: by: 'latency_ms' does not tell configurations apart, or outputs have \
a column of that name; name columns of your own, or rename it
    """
    if len({key.replace("_", " ") for key in keys}) != len(keys):
        raise UsageError(f"by: found {', '.join(keys)}, expected each column once")
    for key in keys:
        if key.startswith("_"):
            raise UsageError(f"by: {key!r} begins with an underscore, as working columns do; rename it")
        if key.replace("_", " ") in _TAKEN:
            raise UsageError(
                f"by: {key!r} does not tell configurations apart, or outputs have a column of that name; "
                "name columns of your own, or rename it"
            )


def report_keys(scored: Scored, by: Sequence[str] | None) -> list[str]:
    """The keys of an output, checked.

    Args:
        scored: Scored runs.
        by: Columns of the runs (text, whole numbers, or true and false); by default ``config`` where the runs
            have it, else none.

    Raises:
        UsageError: It is a text, not a list; a column is absent, named twice, of another type, or no key (see
            :func:`check_names`); or two configurations would be pooled, so that decisions of different
            routers would pass for repeats.
    """
    schema = scored.runs.collect_schema()
    if isinstance(by, str):
        raise UsageError(f"by: found the text {by!r}, expected a list of column names, such as [{by!r}]")
    keys = config_keys(schema) if by is None else list(by)
    absent = [name for name in keys if name not in schema]
    if absent:
        raise UsageError(f"by: the runs have no column {absent[0]!r} (columns: {', '.join(schema)})")
    check_names(keys)
    for key in keys:
        dtype = schema[key]
        if not (dtype.is_integer() or isinstance(dtype, pl.String | pl.Boolean | pl.Enum)):
            raise UsageError(
                f"by: the column {key!r} is of type {dtype}, expected text, whole numbers, or true and "
                "false; cast it to text first"
            )
    if CONFIG in schema and CONFIG not in keys:
        count = pl.col(CONFIG).n_unique().alias("_configs")
        frame = scored.runs.group_by(keys).agg(count) if keys else scored.runs.select(count)
        pooled = frame.filter(pl.col("_configs") > 1).head(1).collect()
        if pooled.height:
            where = ", ".join(f"{key} {shorten(pooled[key][0])}" for key in keys) or "without keys"
            raise UsageError(
                f"by: {where} would pool {pooled['_configs'][0]} configurations; add {CONFIG!r} to the keys"
            )
    return keys
