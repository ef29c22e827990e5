"""What is summed over routing runs, and over which fixtures."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

import polars as pl

from skillful_eval.schema import DECISIONS, INJECTED

ANSWERABLE, ABSTAIN = POPULATIONS = ("answerable", "abstain")
"""The fixtures that expect a capability, and those that the router must abstain from."""

RANK_UNITS = tuple(lcm(*range(1, longest + 1)) for longest in range(61))
"""By the length of the longest shortlist: reciprocal ranks are summed in whole parts of this, so that they
are exact. Beyond the last, its parts are: exact to rank 60, and right to the 22nd digit further down."""

NANOSECONDS = 1_000_000
"""Latencies are summed in whole nanoseconds, of which a millisecond has so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """One quantity that is summed over the runs of a fixture.

    Attributes:
        name: Its column.
        of_run: What a run adds to it: a Boolean or integer expression over scored runs.
        over: The fixtures whose runs can add to it.
    """

    name: str
    of_run: pl.Expr
    over: tuple[str, ...]

    @property
    def aggregation(self) -> pl.Expr:
        """The sum over the runs of a group, in Int64."""
        return self.of_run.sum().cast(pl.Int64).alias(self.name)


def _sums() -> dict[str, Sum]:
    answerable, abstain = ~pl.col("abstain"), pl.col("abstain")
    decision = pl.col("decision")
    decided = decision.is_not_null()
    wrong = answerable & (decision == INJECTED) & ~pl.col("picked_gold")
    offered = pl.col("rank").is_not_null()
    both = POPULATIONS
    sums = [
        Sum("answerable_runs", answerable, (ANSWERABLE,)),
        Sum("hits", offered, (ANSWERABLE,)),
        Sum("golds", pl.col("golds"), (ANSWERABLE,)),
        Sum("found", pl.col("found"), (ANSWERABLE,)),
        Sum("shortlisted", pl.when(answerable).then(pl.col("length")), (ANSWERABLE,)),
        Sum("decided", decided, both),
        Sum("right_picks", pl.col("picked_gold"), (ANSWERABLE,)),
        Sum("wrong_picks_offered", wrong & offered, (ANSWERABLE,)),
        Sum("wrong_picks_not_offered", wrong & ~offered, (ANSWERABLE,)),
        Sum("picks_off_list", ~pl.col("listed"), both),
    ]
    for population, expected in zip(POPULATIONS, (answerable, abstain), strict=True):
        sums.append(Sum(f"{population}_decided", expected & decided, (population,)))
        sums += [
            Sum(f"{population}_{kind}", expected & (decision == kind), (population,)) for kind in DECISIONS
        ]
    return {one.name: one for one in sums}


SUMS = _sums()
"""The sums over the runs of a fixture, by name."""

FURTHER = {
    "reciprocal_ranks": (ANSWERABLE,),
    "decided_fixtures": POPULATIONS,
    "unanimous": POPULATIONS,
    "runs": (),
    "latency_ns": POPULATIONS,
    "latency_runs": POPULATIONS,
    "over_budget": POPULATIONS,
    "tokens_in": POPULATIONS,
    "tokens_in_runs": POPULATIONS,
    "tokens_out": POPULATIONS,
    "tokens_out_runs": POPULATIONS,
    "expected_runs": (),
    "expected_fixtures": (),
    "whole_fixtures": (),
}
"""The other sums, with the fixtures that they are over; coverage is measured whatever is missing."""
