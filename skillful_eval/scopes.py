"""Scopes: all fixtures, those of a group, those with gold of a kind; a fixture can be in several."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from skillful_eval.schema import KINDS

ALL = "all"
"""The scope of every fixture."""

GROUP = "group:"
KIND = "kind:"


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """Which fixtures are in which scope.

    Fixtures with the same group and the same kinds of gold share a signature: sums are taken a signature, and
    from the few signatures rolled up to scopes.

    Attributes:
        signature: Each fixture's signature (UInt32), by its row number.
        members: One row a signature and scope that it belongs to: ``signature`` (UInt32), ``scope`` (text).
        table: One row a scope, in the order of a report: ``scope`` (text), and how many fixtures it has,
            ``expected_answerable`` and ``expected_abstain`` (Int64).
    """

    signature: pl.Series
    members: pl.DataFrame
    table: pl.DataFrame

    def layers(self) -> list[tuple[pl.Series, pl.Series]]:
        """The members in parts in which each signature is in one scope at most: all, groups, each kind.

        Returns:
            For each part the number of every signature's scope (UInt32, null where it is in none of them), by
            signature; and the scopes' names (text), by number.
        """
        group = pl.col("scope").str.starts_with(GROUP)
        layer = pl.when(group).then(pl.lit(GROUP)).otherwise("scope").alias("_layer")
        signatures = pl.DataFrame({"signature": self.signature.unique().sort()})
        parts: list[tuple[pl.Series, pl.Series]] = []
        for part in self.members.with_columns(layer).partition_by("_layer", maintain_order=True):
            names = part["scope"].unique(maintain_order=True)
            numbered = part.join(names.to_frame().with_row_index("number"), on="scope")
            placed = signatures.join(numbered, on="signature", how="left", maintain_order="left")
            parts.append((placed["number"], names))
        return parts


def scopes_of(fixtures: pl.DataFrame, *, groups: bool, kinds: bool) -> Scopes:
    """The scopes of a set of fixtures.

    Args:
        fixtures: ``group`` (text), ``abstain`` (Boolean), ``kinds`` (list of text).
        groups: Whether each group is a scope.
        kinds: Whether each kind of gold is a scope.

    Returns:
        The scopes: ``all``, then ``group:`` and each group by name, then ``kind:`` and each kind in the order
        of :data:`~skillful_eval.schema.KINDS`.
    """
    signature = pl.struct("group", pl.col("kinds").list.join(" ")).rank("dense") - 1
    numbered = fixtures.select("group", "abstain", "kinds", signature.cast(pl.UInt32).alias("signature"))
    distinct = numbered.unique("signature")
    parts = [distinct.select("signature", pl.lit(ALL).alias("scope"), pl.lit("").alias("_order"))]
    if groups:
        group = pl.lit(GROUP) + pl.col("group")
        parts.append(
            distinct.select("signature", group.alias("scope"), ("1" + pl.col("group")).alias("_order"))
        )
    if kinds:
        place = pl.col("kinds").replace_strict(KINDS, [f"2{i}" for i in range(len(KINDS))])
        parts.append(
            distinct.select("signature", "kinds")
            .explode("kinds", empty_as_null=False)
            .select("signature", (pl.lit(KIND) + pl.col("kinds")).alias("scope"), place.alias("_order"))
        )
    members = pl.concat(parts).sort("_order", "signature")
    expected = numbered.group_by("signature").agg(
        (~pl.col("abstain")).sum().cast(pl.Int64).alias("expected_answerable"),
        pl.col("abstain").sum().cast(pl.Int64).alias("expected_abstain"),
    )
    table = (
        members.join(expected, on="signature", how="left", maintain_order="left")
        .group_by("scope", maintain_order=True)
        .agg(pl.col("expected_answerable", "expected_abstain").sum())
    )
    return Scopes(numbered["signature"], members.drop("_order"), table)
