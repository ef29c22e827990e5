"""Every pair of thresholds at once: what a report sums, from one pass over recorded answers.

A run is injected where its ``none_p`` is below the none threshold and its ``winner_p`` reaches the floor.
What it adds to a sum is therefore what it adds when skipped, plus, over a quarter of the plane of thresholds,
the difference that an injection makes. The differences are put on a histogram of the two probabilities, each
counted in thresholds; its cumulative sum in both directions is the sum for every pair. Whether a fixture's
repeats agree depends on such quarters as well, of all its runs together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillful_eval.latency import BUDGET_MS, latency_sums
from skillful_eval.rollup import scope_sums
from skillful_eval.router.thresholds import Thresholds, judged
from skillful_eval.schema import CONFIG, DECISIONS, INJECTED, SKIPPED
from skillful_eval.scoring import score
from skillful_eval.stability import unanimous
from skillful_eval.summary import named_rows, point_name
from skillful_eval.sums import SUMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures
    from skillful_eval.scopes import Scopes

    Sums = npt.NDArray[np.int64]

_GROUP = ("_key", "fixture")


@dataclass(frozen=True, slots=True)
class Grid:
    """Thresholds, every one of the first with every one of the second.

    Attributes:
        none: None thresholds, ascending.
        winner: Winner floors, ascending.
    """

    none: tuple[float, ...]
    winner: tuple[float, ...]

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The pairs in the order of their numbers.

        >>> Grid((0.4, 0.5), (0.0, 0.25)).pairs
        [(0.4, 0.0), (0.4, 0.25), (0.5, 0.0), (0.5, 0.25)]
        """
        return [(none, winner) for none in self.none for winner in self.winner]


MOST_INJECTED = Thresholds(none=1, winner=0)
"""The thresholds under which all is injected that any others would inject."""

ALL_SKIPPED = Thresholds(none=0, winner=0)
"""The thresholds under which all of that is skipped."""


def decided(answered: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """The runs that recorded answers give under thresholds.

    Args:
        answered: One row a run: ``fixture_id``, ``repeat``, ``shortlist``, the columns of
            :data:`~skillful_eval.router.answers.ANSWERS`, ``skip`` (text: why it was skipped before anything
            was asked, null where it was asked), and what else runs may have.
        thresholds: The thresholds.

    Returns:
        The runs, with ``decision`` (Enum), ``chosen`` and ``reason`` (text).
    """
    skip = pl.col("skip")
    decision, chosen, reason, _ = judged(thresholds)
    return answered.with_columns(
        pl.when(skip.is_null()).then(decision).otherwise(pl.lit(SKIPPED, dtype=pl.Enum(DECISIONS))),
        pl.when(skip.is_null()).then(chosen).alias("chosen"),
        pl.coalesce(skip, reason).alias("reason"),
    ).drop("skip", "cause", "detail", "choice")


class ThresholdSums:
    """The sums of runs for every key and every pair of thresholds.

    Args:
        injected: Scored runs (:attr:`Scored.runs <skillful_eval.scoring.Scored.runs>`) with ``_key`` (UInt32,
            from 0), decided with the thresholds under which most is injected.
        skipped: The same runs in the same order, decided with those under which nothing is. A run that is not
            injected in the former must be the same in both. Null: the runs have no decision.
        grid: The thresholds; null where the runs have no decision.
        scopes: The scopes to sum over.
    """

    def __init__(
        self, injected: pl.DataFrame, skipped: pl.DataFrame | None, grid: Grid | None, scopes: Scopes
    ) -> None:
        base = injected if skipped is None else skipped
        self._base, self._curve = scope_sums(base.lazy(), scopes, latency_sums(BUDGET_MS))
        self._grid = Grid((0.0,), (0.0,)) if grid is None else grid
        self._changes = (
            None if skipped is None else _changes(injected, skipped, self._grid, scopes).partition_by("scope")
        )

    @classmethod
    def of(
        cls, runs: pl.DataFrame, grid: Grid | None, scopes: Scopes, fixtures: Fixtures, corpus: Corpus
    ) -> ThresholdSums:
        """The sums of runs that are not scored yet.

        Args:
            runs: With a grid what :func:`decided` takes, else runs without decisions; with ``config`` (text),
                each of which is a key, its runs one after the other.
            grid: The thresholds; null where the runs have no decision.
            scopes: The scopes to sum over.
            fixtures: The fixtures.
            corpus: The corpus.
        """
        key = runs.select(pl.col(CONFIG).rle_id().alias("_key"))
        frames = [runs] if grid is None else [decided(runs, which) for which in (MOST_INJECTED, ALL_SKIPPED)]
        scored = [score(frame.lazy(), fixtures, corpus).runs.collect().hstack(key) for frame in frames]
        return cls(scored[0], None if grid is None else scored[1], grid, scopes)

    def blocks(self, rows: int) -> list[range]:
        """The none thresholds' numbers in blocks, each with at most so many pairs, if it can be."""
        count, step = len(self._grid.none), max(1, rows // len(self._grid.winner))
        return [range(start, min(start + step, count)) for start in range(0, count, step)]

    def rows(self, metric: str, scope: str, keys: range, block: range) -> pl.DataFrame:
        """A metric's rows in a report, for some keys and pairs.

        Args:
            metric: Its name, also of a percentile or of a point of the recall curve.
            scope: The scope.
            keys: The keys, one after the other.
            block: The numbers of the none thresholds, one after the other.

        Returns:
            The rows of :func:`skillful_eval.summary.named_rows` over the keys' sums, with the scope;
            ``_place`` counts keys and, within them, pairs. Empty where a report has no such rows.
        """
        own = (pl.col("scope") == scope) & pl.col("_key").is_between(keys.start, keys.stop - 1)
        table = self._base.filter(own)
        # Of the curve only the point that is asked for: for every pair, all of it would be long.
        curve = self._curve.filter(own & (point_name() == metric))
        sums = self._at_pairs(scope, keys, block)
        pairs = len(block) * len(self._grid.winner)
        spread = _spread(table, keys, pairs).with_columns(
            pl.Series(name, of_pairs.reshape(-1)) + pl.col(name) for name, of_pairs in sums.items()
        )
        rows = named_rows(spread, _spread(curve, keys, pairs), metric)
        return rows.with_columns(pl.lit(scope).alias("scope"))

    def _at_pairs(self, scope: str, keys: range, block: range) -> dict[str, Sums]:
        """By name, what is added to the base's sums: one number a key, none threshold and winner floor."""
        changes = [part for part in self._changes or () if part["scope"][0] == scope]
        if not changes:
            return {}
        own = changes[0].filter(pl.col("_key").is_between(keys.start, keys.stop - 1))
        shape = (len(keys), len(self._grid.none) + 1, len(self._grid.winner) + 1)
        at = tuple(own[name].to_numpy() for name in ("_key", "_none", "_winner"))
        at = (at[0] - keys.start, *at[1:])
        found = {}
        for name in own.columns[own.columns.index("_winner") + 1 :]:
            histogram = np.zeros(shape, dtype=np.int64)
            histogram[at] = own[name].to_numpy()
            # Injected at every none threshold from the run's own on, and at every floor before its own.
            until = histogram.cumsum(axis=1)[:, block.start : block.stop, :]
            found[name] = until[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:]
        return found


def _spread(table: pl.DataFrame, keys: range, pairs: int) -> pl.DataFrame:
    """Each key's row once for every pair, with ``_place`` counting keys and pairs."""
    places = (pl.col("_key").cast(pl.Int64) - keys.start) * pairs + pl.int_range(pl.len()) % pairs
    spread = table.select(pl.all().gather(np.repeat(np.arange(table.height), pairs)))
    return spread.with_columns(places.cast(pl.UInt32).alias("_place"))


def _changes(injected: pl.DataFrame, skipped: pl.DataFrame, grid: Grid, scopes: Scopes) -> pl.DataFrame:
    """What injections change, by scope, key, and the first pairs at which they do.

    Returns:
        ``scope``, ``_key``, ``_none`` (the number of the first none threshold from which on it counts),
        ``_winner`` (the number of the first floor from which on it does not), then the sums that change.
    """
    varies = injected["decision"] == INJECTED
    picks = injected.filter(varies)
    placed = picks.select(
        *_GROUP,
        pl.Series("_none", _until(grid.none, picks["none_p"]), dtype=pl.UInt32),
        pl.Series("_winner", _until(grid.winner, picks["winner_p"]), dtype=pl.UInt32),
        "response_index",
    )
    signature = pl.lit(scopes.signature).gather(pl.col("fixture")).alias("signature")
    parts = [
        placed.select(*_GROUP, "_none", "_winner").hstack(_differences(picks, skipped.filter(varies))),
        *_agreements(injected, skipped, placed, len(grid.winner)),
        *_silences(injected, placed),
    ]
    on = ["scope", "_key", "_none", "_winner"]
    return (
        pl.concat(parts, how="diagonal")
        .with_columns(signature)
        .drop("fixture")
        .group_by("signature", *on[1:])
        .agg(pl.all().sum())
        .join(scopes.members, on="signature")
        .drop("signature")
        .group_by(on)
        .agg(pl.all().sum())
    )


def _until(thresholds: Sequence[float], probabilities: pl.Series) -> npt.NDArray[np.intp]:
    """How many of the thresholds each probability reaches: those up to it."""
    return np.searchsorted(np.asarray(thresholds), probabilities.to_numpy(), side="right")


def _differences(picks: pl.DataFrame, skips: pl.DataFrame) -> pl.DataFrame:
    """What each run adds to each sum when injected, less what it adds when skipped; only sums that change."""
    of_run = [one.of_run.cast(pl.Int64).fill_null(0).alias(name) for name, one in SUMS.items()]
    more, less = picks.select(of_run), skips.select(of_run)
    differences = pl.DataFrame([more[name] - less[name] for name in SUMS])
    return differences.select(name for name in SUMS if (differences[name] != 0).any())


def _agreements(
    injected: pl.DataFrame, skipped: pl.DataFrame, placed: pl.DataFrame, floors: int
) -> list[pl.DataFrame]:
    """Where a fixture's runs agree, less whether they do when all that can be skipped is skipped.

    They agree where all pick the same; where the none threshold lets none pick, and the others abstain
    alike; and where the floor alone holds all of them back.
    """
    edges = placed.group_by(_GROUP).agg(
        pl.len().alias("_varying"),
        *(pl.min(name).alias(f"{name}_first") for name in ("_none", "_winner")),
        *(pl.max(name).alias(f"{name}_last") for name in ("_none", "_winner")),
    )
    picking = injected.group_by(_GROUP).agg(pl.len().alias("_runs"), unanimous().alias("_picking"))
    skipping = skipped.group_by(_GROUP).agg(unanimous().alias("_skipping"))
    fixtures = edges.join(picking, on=_GROUP).join(skipping, on=_GROUP)
    beyond = pl.lit(floors, dtype=pl.UInt32)
    held = pl.col("_varying") == pl.col("_runs")
    quarters = (
        (pl.col("_picking"), "_none_last", pl.col("_winner_first"), 1),
        (pl.col("_skipping"), "_none_first", beyond, -1),
        (held, "_none_last", beyond, 1),
        (held, "_none_last", pl.col("_winner_last"), -1),
    )
    return [
        fixtures.filter(where).select(
            *_GROUP,
            pl.col(none).alias("_none"),
            winner.alias("_winner"),
            pl.lit(change, dtype=pl.Int64).alias("unanimous"),
        )
        for where, none, winner, change in quarters
    ]


def _silences(injected: pl.DataFrame, placed: pl.DataFrame) -> list[pl.DataFrame]:
    """Where a fixture has a pick that names no recorded response although other runs of it do.

    Such are the pairs at which at least one of its silent runs is injected: by ascending none thresholds, up
    to the highest floor so far.
    """
    index = pl.col("response_index")
    telling = injected.filter(index.is_not_null()).select(_GROUP).unique()
    silent = placed.filter(index.is_null()).join(telling, on=_GROUP, how="semi").sort(*_GROUP, "_none")
    highest = silent.with_columns(pl.col("_winner").cum_max().over(_GROUP))
    before = highest.with_columns(pl.col("_winner").shift(1, fill_value=0).over(_GROUP))
    return [
        runs.select(*_GROUP, "_none", "_winner", pl.lit(change, dtype=pl.Int64).alias("unrecorded"))
        for runs, change in ((highest, 1), (before, -1))
    ]
