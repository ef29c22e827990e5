"""The metrics of routing, each a ratio of two sums over runs: the one definition.

A new metric is one more ``METRICS.add`` here. Which fixtures it speaks of follows from the sums it divides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import polars as pl

from skillful_eval.schema import DECISIONS, DEFINITIONS, DEGRADED, INJECTED, SKIPPED
from skillful_eval.sums import ABSTAIN, ANSWERABLE, FURTHER, NANOSECONDS, POPULATIONS, SUMS
from skillshift.frame.metric import Metric, Registry, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.frame.metric import Direction


@dataclass(frozen=True, slots=True, eq=False)
class RoutingMetric(Metric):
    """A metric of routing.

    Attributes:
        layer: What it looks at: retrieval, decision, stability, latency, tokens or coverage.
        parts: How many parts of its unit the numerator is counted in; a number or a column of the sums.
        empty: The reason code where its denominator is empty although its fixtures have runs.
    """

    layer: str = ""
    parts: int | str = 1
    empty: str = "nothing-counted"

    @property
    def _parts(self) -> pl.Expr:
        return pl.col(self.parts) if isinstance(self.parts, str) else pl.lit(self.parts, dtype=pl.Int128)

    @property
    def value(self) -> pl.Expr:
        """The ratio over a frame of sums: Float64, null where the denominator is empty or a sum is null."""
        top, bottom = self.numerator.cast(pl.Int128), self.denominator.cast(pl.Int128) * self._parts
        return ratio(top * self.scale, bottom).alias(self.name)

    @property
    def total(self) -> pl.Expr:
        """The numerator in its own unit: Float64."""
        return ratio(self.numerator.cast(pl.Int128), self._parts)

    @property
    def populations(self) -> tuple[str, ...]:
        """The fixtures that it speaks of: those of every sum in it."""
        names = {*self.numerator.meta.root_names(), *self.denominator.meta.root_names()}
        over = {
            population
            for name in names
            for population in (SUMS[name].over if name in SUMS else FURTHER[name])
        }
        return tuple(population for population in POPULATIONS if population in over)


class RoutingRegistry(Registry):
    """A registry of routing metrics."""

    def __iter__(self) -> Iterator[RoutingMetric]:
        return cast("Iterator[RoutingMetric]", super().__iter__())

    def __getitem__(self, name: str) -> RoutingMetric:
        return cast("RoutingMetric", super().__getitem__(name))


METRICS = RoutingRegistry("routing metrics")
"""Every metric of routing that is a ratio of sums, in the order of a report."""


def _add(
    name: str,
    title: str,
    numerator: pl.Expr | str,
    denominator: pl.Expr | str,
    summary: str,
    *,
    layer: str,
    better: Direction = "higher",
    unit: str = "share",
    upper: float | None = 1,
    parts: int | str = 1,
    empty: str = "nothing-counted",
) -> RoutingMetric:
    metric = RoutingMetric(
        name=name,
        title=title,
        numerator=pl.col(numerator) if isinstance(numerator, str) else numerator,
        denominator=pl.col(denominator) if isinstance(denominator, str) else denominator,
        scale=1,
        unit=unit,
        lower=0,
        upper=upper,
        better=better,
        summary=summary,
        source=DEFINITIONS,
        layer=layer,
        parts=parts,
        empty=empty,
    )
    return cast("RoutingMetric", METRICS.add(metric))


RECALL = _add(
    "recall@K",
    "Recall at K",
    "hits",
    "answerable_runs",
    "Runs with at least one gold capability in the shortlist, over runs that expect one.",
    layer="retrieval",
)
MRR = _add(
    "MRR",
    "Mean Reciprocal Rank",
    "reciprocal_ranks",
    "answerable_runs",
    "Reciprocal rank of the first gold among the distinct ids, 0 without one, over runs that expect one.",
    layer="retrieval",
    parts="rank_unit",
)
_add(
    "goldInShortlistRate",
    "Gold in Shortlist",
    "found",
    "golds",
    "Gold names reached through any of their ids, over gold names.",
    layer="retrieval",
)
_add(
    "meanShortlistLength",
    "Mean Shortlist Length",
    "shortlisted",
    "answerable_runs",
    "Distinct ids in the shortlist, over runs that expect a capability.",
    layer="retrieval",
    better="neither",
    unit="ids",
    upper=None,
)
_TRUE = pl.col(f"{ABSTAIN}_{SKIPPED}")
_FALSE = pl.col(f"{ANSWERABLE}_{SKIPPED}")
_MISSED = pl.col(f"{ABSTAIN}_{INJECTED}") + pl.col(f"{ABSTAIN}_{DEGRADED}")
_add(
    "top1Accuracy",
    "Top-1 Accuracy",
    pl.col("right_picks") + _TRUE,
    "decided",
    "Runs that picked a gold, or abstained when they had to, over runs; a degraded run is never right.",
    layer="decision",
)
_add(
    "abstentionCorrectness",
    "Abstention Correctness",
    pl.col(f"{ANSWERABLE}_{INJECTED}") + _TRUE,
    "decided",
    "Runs with the right kind of decision, picked or abstained, over runs.",
    layer="decision",
)
_add(
    "wrongPickNotOffered",
    "Wrong Picks, no Gold Offered",
    "wrong_picks_not_offered",
    "decided",
    "Wrong picks on answerable fixtures without a gold in the shortlist, over runs: retrieval's share.",
    layer="decision",
    better="lower",
)
_add(
    "wrongPickOffered",
    "Wrong Picks, Gold Offered",
    "wrong_picks_offered",
    "decided",
    "Wrong picks on answerable fixtures with a gold in the shortlist, over runs: judgement's share.",
    layer="decision",
    better="lower",
)
_add(
    "nonePrecision",
    "Precision of Abstaining",
    _TRUE,
    _TRUE + _FALSE,
    "Abstentions that had to be, over abstentions.",
    layer="decision",
    empty="nothing-abstained",
)
_add(
    "noneRecall",
    "Recall of Abstaining",
    _TRUE,
    _TRUE + _MISSED,
    "Abstentions over runs that must abstain; a degraded run among these is a miss.",
    layer="decision",
)
_add(
    "noneF1",
    "F1 of Abstaining",
    2 * _TRUE,
    2 * _TRUE + _FALSE + _MISSED,
    "Harmonic mean of the two: twice the right abstentions over that plus the false and the missed ones.",
    layer="decision",
    empty="nothing-abstained",
)
_add(
    "degradedRate",
    "Degraded Rate",
    pl.sum_horizontal(f"{population}_{DEGRADED}" for population in POPULATIONS),
    "decided",
    "Runs without a decision because something failed, over runs.",
    layer="decision",
    better="lower",
)
_add(
    "offListRate",
    "Off-List Rate",
    "picks_off_list",
    pl.sum_horizontal(f"{population}_{INJECTED}" for population in POPULATIONS),
    "Picks that the shortlist did not offer, over picks.",
    layer="decision",
    better="lower",
    empty="nothing-picked",
)
for _population, _what in zip(POPULATIONS, ("expect a capability", "must abstain"), strict=True):
    _right = {ANSWERABLE: INJECTED, ABSTAIN: SKIPPED}[_population]
    for _kind in DECISIONS:
        _add(
            f"{_population}{_kind.capitalize()}",
            f"{_population.capitalize()}, {_kind}",
            f"{_population}_{_kind}",
            f"{_population}_decided",
            f"Runs that were {_kind}, over runs that {_what}.",
            layer="decision",
            better="higher" if _kind == _right else "lower",
        )
AGREEMENT = _add(
    "agreementRate",
    "Agreement Rate",
    "unanimous",
    "decided_fixtures",
    "Fixtures whose decision (kind, and id or reason) was the same in every repeat, over fixtures.",
    layer="stability",
)
LATENCY_MEAN = _add(
    "latencyMean",
    "Mean Latency",
    "latency_ns",
    "latency_runs",
    "Latency over runs.",
    layer="latency",
    better="lower",
    unit="ms",
    upper=None,
    parts=NANOSECONDS,
)
_add(
    "overBudgetRate",
    "Over Budget",
    "over_budget",
    "latency_runs",
    "Runs that took longer than the budget, over runs.",
    layer="latency",
    better="lower",
)
for _name, _side, _way in (("tokens_in", "In", "sent"), ("tokens_out", "Out", "received")):
    _add(
        f"tokens{_side}Mean",
        f"Mean Tokens {_way.capitalize()}",
        _name,
        f"{_name}_runs",
        f"Tokens {_way}; a run that asked nothing has 0.",
        layer="tokens",
        better="lower",
        unit="tokens",
        upper=None,
        empty="not-recorded",
    )
_add(
    "runCoverage",
    "Coverage in Runs",
    "runs",
    "expected_runs",
    "Runs over those there would be if every fixture had as many repeats as the one with most.",
    layer="coverage",
)
_add(
    "fixtureCoverage",
    "Coverage in Fixtures",
    "whole_fixtures",
    "expected_fixtures",
    "Fixtures with as many repeats as the one with most, over fixtures.",
    layer="coverage",
)

PERCENTILES = {"latencyP50": "0.50", "latencyP95": "0.95", "latencyP99": "0.99", "latencyMax": "1"}
"""The nearest-rank percentiles of latency (ms), by name; they are no ratios of sums."""

REASONS = {
    "no-answerable-fixtures": "no fixture in the scope expects a capability",
    "no-abstain-fixtures": "no fixture in the scope must be abstained from",
    "retrieval-only": "the configuration only retrieves: its runs have no decision",
    "replayed": "recorded responses answered, so how long the router takes was not measured",
    "not-recorded": "no run recorded it",
    "missing-fixtures": "a fixture that it counts has no run",
    "missing-repeats": "a fixture that it counts has fewer repeats than another",
    "one-repeat": "with one repeat, agreement was not measured",
    "reused-responses": "a recorded response answered more than one repeat, so agreement was not measured",
    "unrecorded-responses": "a pick does not say which recorded response answered, though other repeats do",
    "partly-recorded": "some runs did not record it, and leaving them out would flatter the rest",
    "nothing-abstained": "no run abstained or had to",
    "nothing-picked": "no run picked anything",
    "nothing-counted": "its denominator is empty",
}
"""Why a value is undefined, by reason code; of several, the first listed is named."""
