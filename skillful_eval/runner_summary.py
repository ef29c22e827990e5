"""What a run came to, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.router.protocol import CAUSES
from skillful_eval.schema import CONFIG, DECISIONS, DEGRADED, SKIPPED
from skillful_eval.stability import reused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_UNRECORDED = CAUSES[-1]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to.

    Attributes:
        out: The file with the runs.
        config: The name of the configuration.
        fixtures: How many fixtures were run.
        runs: How many runs there are.
        decisions: How many of them were injected, skipped and degraded; all 0 where it only retrieves.
        reasons: How many runs were skipped or degraded for each reason, most frequent first: by decision.
        reused_fixtures: In how many fixtures one recorded response answered several repeats, so that
            agreement is undefined.
        resumed: How many decisions were there from an earlier, interrupted run.
        not_recorded: How many degraded runs the recording that was made has no response for; 0 where none
            was made.
    """

    out: Path
    config: str
    fixtures: int
    runs: int
    decisions: Mapping[str, int]
    reasons: Mapping[str, Mapping[str, int]]
    reused_fixtures: int
    resumed: int
    not_recorded: int = 0

    @property
    def degraded(self) -> int:
        """How many runs were degraded."""
        return self.decisions[DEGRADED]

    @property
    def unrecorded(self) -> int:
        """How many requests a replay had no response to."""
        return self.reasons[DEGRADED].get(_UNRECORDED, 0)

    def text(self) -> str:
        """The summary, for a reader."""
        repeats = self.runs // self.fixtures
        ran = f"{self.runs:,} runs, {self.fixtures:,} fixtures x {repeats:,}"
        lines = [f"{self.out}: {ran}, configuration {self.config}"]
        if not any(self.decisions.values()):
            lines.append("shortlists only: nothing was decided")
        else:
            width = max(map(len, (*DECISIONS, *(name for of in self.reasons.values() for name in of)))) + 4
            for decision, count in self.decisions.items():
                lines.append(f"  {decision:<{width}}{count:>9,}")
                lines += [f"    {why:<{width}}{n:>9,}" for why, n in self.reasons.get(decision, {}).items()]
        if self.resumed:
            lines.append(f"{self.resumed:,} decisions were there from an interrupted run")
        if self.unrecorded:
            lines.append(f"{self.unrecorded:,} requests have no recorded response")
        if self.not_recorded:
            lines.append(
                f"the recording lacks the responses of {self.not_recorded:,} requests, and a replay of it "
                "will too; to fill the gaps, record anew"
            )
        if self.reused_fixtures:
            lines.append(
                f"recorded responses were reused in {self.reused_fixtures:,} fixtures: "
                "agreement will be undefined"
            )
        return "\n".join(lines) + "\n"


def summarise(runs: pl.DataFrame, out: Path, *, fixtures: int, resumed: int) -> RunSummary:
    """Count runs.

    Args:
        runs: The runs as they are written; at least one.
        out: Where.
        fixtures: How many fixtures were run.
        resumed: How many decisions were there before.
    """
    by_reason = runs.group_by("decision", "reason").agg(pl.len().cast(pl.Int64).alias("runs"))
    by_decision = dict(by_reason.group_by("decision").agg(pl.col("runs").sum()).rows())
    by_reason = by_reason.sort("runs", "reason", descending=[True, False])
    recorded = runs.filter(pl.col("response_index").is_not_null())
    # A replay says which response answered, or that none was recorded; else a failure was not recorded.
    lacking = runs.filter(pl.col("response_index").is_null() & (pl.col("decision") == DEGRADED))
    lacking = lacking.filter(pl.col("reason") != _UNRECORDED)
    return RunSummary(
        out=out,
        config=runs[CONFIG][0],
        fixtures=fixtures,
        runs=runs.height,
        decisions={name: by_decision.get(name, 0) for name in DECISIONS},
        reasons={
            name: dict(by_reason.filter(decision=name).select("reason", "runs").rows())
            for name in (SKIPPED, DEGRADED)
        },
        reused_fixtures=recorded.group_by("fixture_id").agg(reused()).filter("reused").height,
        resumed=resumed,
        not_recorded=lacking.height if recorded.height else 0,
    )
