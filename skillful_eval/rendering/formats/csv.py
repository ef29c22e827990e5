"""The values as CSV: tidy, full precision, an empty field where a value is null; lists joined by blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from skillful_eval.rendering.document import Document


def render(document: Document) -> str:
    """One line a row of the document's tidy frame; what the values rest on stands in every line."""
    rows = document.rows
    lists = [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.List)]
    return rows.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" ")).write_csv()
