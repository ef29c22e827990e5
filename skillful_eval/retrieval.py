"""Layer 1, run by run: where the first gold stands in a shortlist, and how many golds it reaches.

There are two forms of one meaning. The general form is the definition: it explodes the shortlists and joins
them with the golds, for any length and any number of golds. The fast form compares position by position,
unrolled, on integer codes; it holds for short shortlists and few golds. A property test holds them equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import collect

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 32
"""The longest shortlist that the fast form unrolls."""

MOST_SLOTS = 8
"""The most gold classes a fixture that the fast form compares with."""

_ELEMENTS = 5_000_000
"""How many elements of shortlists the general form explodes at a time; more would only cost memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The golds of a set of fixtures, on integer codes.

    Attributes:
        golds: One row a fixture, answer and id: ``fixture``, ``answer`` (UInt32), ``code`` (UInt32, the id's
            number in the corpus).
        class_of: The class of each id, by its number: ids that are right in exactly the same answers are one
            class, such as the copies of a capability; 0 where an id is right nowhere.
        slots: One row a fixture: ``class_0``, ``answer_0``, ``class_1``, ... (UInt32): its golds' classes and
            the answers that they belong to, null beyond its own.
    """

    golds: pl.DataFrame
    class_of: pl.Series
    slots: pl.DataFrame

    @property
    def width(self) -> int:
        """The most classes that a fixture has."""
        return self.slots.width // 2


def targets(golds: pl.DataFrame, ids: pl.Series, fixtures: int) -> Targets:
    """Put golds on integer codes.

    Args:
        golds: What :func:`skillful_eval.gold.resolve` gives.
        ids: The corpus' ids; an id's number is its place here.
        fixtures: How many fixtures there are.
    """
    codes = pl.DataFrame({"id": ids}).with_row_index("code")
    coded = golds.select("fixture", "answer", "id").join(codes, on="id", maintain_order="left").drop("id")
    # The text of all answers that an id is right in: exact, where a hash would almost be.
    rights = (
        coded.group_by("code")
        .agg(pl.concat_str("fixture", "answer", separator=" ").sort().str.join("|").alias("_rights"))
        .sort("code")
        .with_columns(pl.col("_rights").rank("dense").cast(pl.UInt32).alias("class"))
    )
    class_of = (
        codes.join(rights, on="code", how="left", maintain_order="left")["class"]
        .fill_null(0)
        .rename("class_of")
    )
    members = (
        coded.join(rights.select("code", "class"), on="code")
        .select("fixture", "answer", "class")
        .unique()
        .sort("fixture", "answer", "class")
        .with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).over("fixture").alias("slot"))
    )
    width = (members["slot"].max() or 0) + 1 if members.height else 0  # type: ignore[operator]
    slots = pl.DataFrame({"fixture": pl.int_range(fixtures, dtype=pl.UInt32, eager=True)})
    for slot in range(int(width)):
        own = members.filter(pl.col("slot") == slot).select(
            "fixture", pl.col("class").alias(f"class_{slot}"), pl.col("answer").alias(f"answer_{slot}")
        )
        slots = slots.join(own, on="fixture", how="left", maintain_order="left")
    return Targets(coded, class_of, slots.drop("fixture"))


def retrieved(runs: pl.DataFrame, to: Targets) -> pl.DataFrame:
    """Where each run's golds stand in its shortlist; the fast form where it applies, else the general one.

    An id that stands twice in a shortlist counts once, at its first place, and ranks are places among the
    distinct ids.

    Args:
        runs: ``fixture`` (UInt32), ``shortlist`` (list of the ids' numbers).
        to: The golds.

    Returns:
        One row a run, in order: ``length`` (UInt32, distinct ids), ``rank`` (UInt32, of the first gold, from
        1; null where none is in the shortlist), ``found`` (UInt32, answers reached).
    """
    longest = runs["shortlist"].list.len().max()
    if isinstance(longest, int) and longest <= LONGEST and to.width <= MOST_SLOTS:
        return unrolled(runs, to, longest)
    return exploded(runs, to)


def exploded(runs: pl.DataFrame, to: Targets) -> pl.DataFrame:
    """The general form of :func:`retrieved`: any length of shortlist, any number of golds."""
    elements = int(runs["shortlist"].list.len().sum())
    rows = max(1, runs.height * _ELEMENTS // max(elements, 1))
    parts = [_exploded(part, to) for part in runs.iter_slices(rows)]
    return pl.concat(parts) if parts else _exploded(runs, to)


def _exploded(runs: pl.DataFrame, to: Targets) -> pl.DataFrame:
    length = pl.col("code").list.len()
    offered = runs.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("run"),
        "fixture",
        pl.col("shortlist").list.unique(maintain_order=True).alias("code"),
    ).with_columns(length.alias("length"), pl.int_ranges(1, length + 1, dtype=pl.UInt32).alias("rank"))
    reached = (
        offered.select("run", "fixture", "code", "rank")
        .explode("code", "rank", empty_as_null=False)
        .with_columns(pl.col("code").cast(pl.UInt32))
        .join(to.golds, on=["fixture", "code"])
        .group_by("run")
        .agg(pl.col("rank").min(), pl.col("answer").n_unique().cast(pl.UInt32).alias("found"))
    )
    return (
        offered.select("run", "length")
        .join(reached, on="run", how="left", maintain_order="left")
        .select("length", "rank", pl.col("found").fill_null(0))
    )


def unrolled(runs: pl.DataFrame, to: Targets, longest: int) -> pl.DataFrame:
    """The fast form of :func:`retrieved`: every position compared with every gold class of the fixture.

    Args:
        runs: As :func:`retrieved` takes them.
        to: The golds.
        longest: The length of the longest shortlist.
    """
    ids = [pl.col(f"id_{i}") for i in range(longest)]
    classes = [pl.col(f"class_of_{i}") for i in range(longest)]
    rights = [pl.col(f"class_{slot}") for slot in range(to.width)]
    answers = [pl.col(f"answer_{slot}") for slot in range(to.width)]
    # Step by step, because one expression of all of it would name the same parts hundreds of times.
    offered = (pl.col("shortlist").list.get(i, null_on_oob=True).alias(f"id_{i}") for i in range(longest))
    length = pl.col("shortlist").list.len()
    placed = collect(runs.lazy().select("fixture", length.alias("length"), *offered))
    again = [_any(one == earlier for earlier in ids[:i]) for i, one in enumerate(ids)]
    compared = (
        placed.lazy()
        .with_columns(
            *(pl.lit(to.class_of).gather(one).alias(f"class_of_{i}") for i, one in enumerate(ids)),
            *(pl.lit(column).gather(pl.col("fixture")).alias(column.name) for column in to.slots),
        )
        .with_columns(
            *(_any(one == right for right in rights).alias(f"hit_{i}") for i, one in enumerate(classes)),
            *(
                _any(one == right for one in classes).alias(f"reached_{slot}")
                for slot, right in enumerate(rights)
            ),
        )
    )
    places = [pl.lit(i, dtype=pl.UInt32) for i in range(1, longest + 1)]
    if placed.select(_any(again).any()).item():
        # An id counts where it stands first, so lengths and ranks count first occurrences.
        fresh = [(one.is_not_null() & ~twice).cast(pl.UInt32) for one, twice in zip(ids, again, strict=True)]
        compared = compared.with_columns(one.alias(f"fresh_{i}") for i, one in enumerate(fresh))
        places = list(accumulate((pl.col(f"fresh_{i}") for i in range(longest)), add))
        compared = compared.with_columns(places[-1].alias("length"))
    reached = [pl.col(f"reached_{slot}") for slot in range(to.width)]
    # Two classes of one answer are one answer.
    anew = [
        one & ~_any(reached[other] & (answers[other] == answers[slot]) for other in range(slot))
        for slot, one in enumerate(reached)
    ]
    ranks = [pl.when(pl.col(f"hit_{i}")).then(place) for i, place in enumerate(places)]
    none = pl.col("fixture").is_null()  # false for every run, for what has no positions or no golds
    result = compared.select(
        "length",
        pl.coalesce(*ranks, pl.when(none).then(pl.lit(0, dtype=pl.UInt32))).alias("rank"),
        pl.sum_horizontal(none, *anew).cast(pl.UInt32).alias("found"),
    )
    return collect(result)


def _any(flags: Iterable[pl.Expr]) -> pl.Expr:
    """Whether at least one is true; null counts as false."""
    return pl.any_horizontal(pl.lit(value=False), *flags).fill_null(value=False)
