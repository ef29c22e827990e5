"""Gold resolution: from the names and ids in a fixture to every corpus id that is a right answer."""

from __future__ import annotations

import polars as pl

from skillful_eval.names import capability
from skillful_eval.schema import NONE

GOLDS = pl.Schema(
    {
        "fixture": pl.UInt32(),
        "answer": pl.UInt32(),
        "gold": pl.String(),
        "capability": pl.String(),
        "id": pl.String(),
        "kind": pl.String(),
    }
)
"""The columns of a golds frame."""


def resolve(fixtures: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """Resolve every gold of every fixture, with joins only.

    A gold that is an entry's id stands for that id; one that is a name stands for every id that carries the
    name, with ``:`` and ``-`` made equal and case ignored. Golds of one fixture that mean one capability are
    one answer, whichever way they are written.

    Args:
        fixtures: One row a fixture: ``gold`` (list of text). Its row number is the fixture's number.
        entries: A corpus' entries: ``id``, ``kind``, ``capability`` (text).

    Returns:
        One row a fixture, answer and id, in the fixtures' order: ``fixture`` (UInt32, the row number),
        ``answer`` (UInt32, from 0 within the fixture, in the order of its golds), ``gold`` (text, as first
        written), ``capability`` (text, what it means), ``id`` and ``kind`` (text; null where no entry carries
        the gold). Fixtures that must be abstained from have no row.

    Example:
        >>> entries = pl.DataFrame({"id": ["a", "b"], "kind": ["skill"] * 2, "capability": ["ops-undo"] * 2})
        >>> resolve(pl.DataFrame({"gold": [["ops:Undo"], ["none"]]}), entries)["id"].to_list()
        ['a', 'b']
    """
    ids = entries.select("kind", "capability", gold="id", id="id")
    written = (
        fixtures.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("fixture"), "gold")
        .explode("gold", empty_as_null=False)
        .filter(pl.col("gold") != NONE)
        .with_row_index("_order")
        .with_columns(capability(pl.col("gold")).alias("_name"))
        .join(ids.select("gold", "capability"), on="gold", how="left")
        # A text that is one entry's id and another entry's name means both, and is one answer.
        .with_columns(pl.coalesce("capability", "_name"))
    )
    outright = written.join(ids.drop("capability"), on="gold")
    named = written.join(entries.select("id", "kind", _name="capability"), on="_name")
    nothing = written.join(pl.concat([outright, named], how="diagonal"), on="_order", how="anti")
    return (
        pl.concat([outright, named, nothing], how="diagonal")
        .sort("_order", "id")
        .unique(["fixture", "capability", "id"], keep="first", maintain_order=True)
        .with_columns(pl.col("_order").min().over("fixture", "capability").rank("dense").over("fixture"))
        .with_columns(pl.col("_order") - 1)
        .rename({"_order": "answer"})
        .sort("fixture", "answer", "id")
        .select(pl.col(name).cast(dtype) for name, dtype in GOLDS.items())
    )
