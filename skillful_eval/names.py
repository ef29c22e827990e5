"""Capability names: which spellings are one name, and which known name an unknown one probably means."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.nearest import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

_CANDIDATES = 50
"""How many known names that share letters with an unknown one are compared in full."""


def capability(name: pl.Expr) -> pl.Expr:
    """What a name stands for: ``:`` and ``-`` are made equal and case is ignored.

    Args:
        name: Names (text).

    Returns:
        Text; equal where two spellings are one name.

    >>> pl.select(capability(pl.Series(["ops:Rollback", "ops-rollback"]))).to_series().n_unique()
    1
    """
    return name.str.replace_all(":", "-", literal=True).str.to_lowercase()


def nearest(name: str, known: Sequence[str], count: int = 3) -> list[str]:
    """The known names that are most like an unknown one, the likeliest first.

    Of many known names only those that share most letter triples with the unknown one are compared in full,
    so that a message about tens of thousands of names comes at once.

    >>> nearest("ak-desing", ["ak-design", "ak-debug", "planner"], count=1)
    ['ak-design']
    """
    if len(known) > _CANDIDATES:
        wanted = folded(name)
        triples = sorted({wanted[i : i + 3] for i in range(max(1, len(wanted) - 2))})
        names = pl.Series("name", known, dtype=pl.String)
        shared = pl.sum_horizontal(
            pl.col("name").str.to_lowercase().str.contains(triple, literal=True) for triple in triples
        )
        ranked = names.to_frame().with_columns(shared=shared).filter(pl.col("shared") > 0)
        known = ranked.sort("shared", "name", descending=[True, False]).head(_CANDIDATES)["name"].to_list()
    by_fold = {folded(one): one for one in known}
    close = difflib.get_close_matches(folded(name), by_fold, n=count, cutoff=0.5)
    return [by_fold[one] for one in close]
