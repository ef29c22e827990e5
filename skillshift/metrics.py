"""The four diagnostics: the one definition of each. A new metric is one more ``METRICS.add`` here."""

from __future__ import annotations

import polars as pl

from skillshift.frame.metric import Metric, Registry

PAPER = "SkillShift-Bench paper, the diagnostics of Table 1"

METRICS = Registry("skillshift metrics")
"""SR, AS, ASC and SFR, in table order."""

SR = METRICS.add(
    Metric(
        name="SR",
        title="Success Rate",
        numerator=pl.col("successes"),
        denominator=pl.col("scored"),
        scale=100,
        unit="% of tasks",
        lower=0,
        upper=100,
        better="higher",
        summary="Solved tasks over scored tasks.",
        source=PAPER,
    )
)
AS = METRICS.add(
    Metric(
        name="AS",
        title="Average Steps",
        numerator=pl.col("steps"),
        denominator=pl.col("scored"),
        scale=1,
        unit="steps per task",
        lower=0,
        upper=None,
        better="lower",
        summary="Steps over scored tasks, failed ones too.",
        source=PAPER,
    )
)
ASC = METRICS.add(
    Metric(
        name="ASC",
        title="Average Skill Calls",
        numerator=pl.col("skill_calls"),
        denominator=pl.col("scored"),
        scale=1,
        unit="skill calls per task",
        lower=0,
        upper=None,
        better="neither",
        summary="Calls of executable skills over scored tasks; null where the method has none.",
        source=PAPER,
    )
)
SFR = METRICS.add(
    Metric(
        name="SFR",
        title="Skill Failure Rate",
        numerator=pl.col("skill_failures"),
        denominator=pl.col("skill_calls"),
        scale=100,
        unit="% of skill calls",
        lower=0,
        upper=100,
        better="lower",
        summary="Failed skill calls, runtime errors included, over skill calls; null where there was none.",
        source=PAPER,
    )
)

OF_SKILLS = (ASC.name, SFR.name)
"""The metrics that a method without executable skills does not have."""

LOW_COUNT = 30
"""An SFR that rests on fewer skill calls than this in its slot is flagged wherever it is shown."""

FLAG = "\N{WARNING SIGN}\N{VARIATION SELECTOR-15}"
"""The flag of a value that rests on few calls."""

REASONS = {
    "incomplete": "a cell lacks scored tasks",
    "not-applicable": "the method has no executable skills",
    "nothing-scored": "a cell has no scored task",
    "no-skill-calls": "no skill was called in a cell, so there is no denominator",
}
"""Why a value is undefined, by reason code; of several, the first listed is named, except that
``not-applicable`` comes first for the metrics of skills."""
