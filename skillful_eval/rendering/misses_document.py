"""The misses as a readable listing: one table a kind of miss, equal repeats of a fixture in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.missing import MEANINGS, MISSES, NOT_OFFERED, SCORES
from skillful_eval.rendering.basis import basis_data, basis_sections, finding_notes, with_basis
from skillful_eval.rendering.document import TEXT_WIDTH, Document, as_text, counted
from skillshift.frame.tables import Section

if TYPE_CHECKING:
    from skillful_eval.scoring import Scored

_ALIKE = ("fixture_id", "group", "gold", "rank", "would_rank", "decision", "chosen", "reason", "prompt")
"""What repeats of a fixture must share to stand in one line."""


def misses_document(missed: pl.DataFrame, scored: Scored) -> Document:
    """Lay the frame of :func:`skillful_eval.misses` out."""
    keys = missed.columns[: missed.columns.index("miss")]
    provenance = scored.provenance
    sections = [
        Section(_title(miss, rows), _listing(rows, keys), "prompt", tuple(keys))
        for miss in MISSES
        if (rows := missed.filter(pl.col("miss") == miss)).height
    ]
    fixtures = counted(missed["fixture_id"].n_unique(), "fixture")
    order = ", ".join(MISSES)
    notes = [
        f"{missed.height:,} of {counted(provenance.runs, 'run')} went wrong, in {fixtures}.",
        f"Each stands where it first went wrong, in this order: {order}.",
    ]
    lacking = missed.filter(pl.col("miss") == NOT_OFFERED)
    if lacking.height and not lacking["would_rank"].count():
        notes.append(
            f"No {SCORES} of a gold that was not offered: the rank that it would have had is not known."
        )
    counts = missed.group_by(*keys, "miss", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("runs"),
        pl.col("fixture_id").n_unique().cast(pl.Int64).alias("fixtures"),
    )
    data = {
        "keys": keys,
        "counts": counts.to_dicts(),
        "misses": missed.to_dicts(),
        "provenance": basis_data(provenance),
        "findings": provenance.findings.to_dicts(),
    }
    return Document(
        "Misses",
        (*sections, *basis_sections(provenance)),
        (*notes, *finding_notes(provenance.findings)),
        with_basis(missed, provenance),
        data,
    )


def _title(miss: str, rows: pl.DataFrame) -> str:
    fixtures = counted(rows["fixture_id"].n_unique(), "fixture")
    return f"{miss}: {MEANINGS[miss]} ({counted(rows.height, 'run')} of {fixtures})"


def _listing(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    merged = rows.group_by(*keys, *_ALIKE, maintain_order=True).agg("repeat")
    decided = pl.coalesce(
        pl.format("chose {}", "chosen"), pl.format("{}: {}", "decision", "reason"), "decision"
    )
    place = pl.coalesce(
        pl.format("gold at rank {}", "rank"), pl.format("gold would be at rank {}", "would_rank")
    )
    what = pl.concat_str(place, decided, separator="; ", ignore_nulls=True)
    table = as_text(
        merged.select(
            *keys,
            pl.col("fixture_id").alias("fixture"),
            "group",
            pl.col("repeat").cast(pl.List(pl.String)).alias("repeats"),
            "gold",
            what.alias("what happened"),
        )
    )
    return table.hstack(as_text(merged.select("prompt"), width=TEXT_WIDTH))
