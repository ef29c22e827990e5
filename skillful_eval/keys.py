"""The columns that tell one router's runs from another's in outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.schema import CONFIG, config_keys
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.scoring import Scored


def report_keys(scored: Scored, by: Sequence[str] | None, taken: Sequence[str] = ()) -> list[str]:
    """The keys of an output, checked.

    Args:
        scored: Scored runs.
        by: Columns of the runs; by default ``config`` where the runs have it, else none.
        taken: Names that the output has for itself.

    Raises:
        UsageError: A column is absent, named twice or taken; or two configurations would be pooled, so that
            decisions of different routers would pass for repeats.
    """
    names = scored.runs.collect_schema().names()
    keys = config_keys(names) if by is None else list(by)
    absent = [name for name in keys if name not in names]
    if absent:
        raise UsageError(f"by: the runs have no column {absent[0]!r} (columns: {', '.join(names)})")
    if len(set(keys)) != len(keys):
        raise UsageError(f"by: found {', '.join(keys)}, expected each column once")
    clash = sorted({*taken, *_PER_RUN} & set(keys))
    if clash:
        raise UsageError(f"by: {clash[0]!r} does not tell configurations apart; name columns of your own")
    if CONFIG in names and CONFIG not in keys:
        count = pl.col(CONFIG).n_unique().alias("_configs")
        frame = scored.runs.group_by(keys).agg(count) if keys else scored.runs.select(count)
        pooled = frame.filter(pl.col("_configs") > 1).head(1).collect()
        if pooled.height:
            where = ", ".join(f"{key} {shorten(pooled[key][0])}" for key in keys) or "without keys"
            raise UsageError(
                f"by: {where} would pool {pooled['_configs'][0]} configurations; add {CONFIG!r} to the keys"
            )
    return keys


_PER_RUN = ("fixture_id", "fixture", "repeat", "decision", "chosen", "reason")
"""Columns that differ within a configuration."""
