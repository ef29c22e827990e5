"""The tables of the routing evaluation: their fields and row rules, the one definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.contract import Field, Kind, Rule, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("skill", "mcp", "agent", "command", "rule")
"""The kinds of capability, in the order in which outputs list them."""

GROUPS = ("coding", "marketing", "mcp", "agent", "trivial", "ambiguous", "vietnamese")
"""A vocabulary of fixture groups, for those who ask for one; groups are free text otherwise."""

DEFINITIONS = "routing definitions of this library"
"""The source of every metric of routing."""

NONE = "none"
"""The gold of a fixture on which the router must abstain; no capability may be called so."""

INJECTED, SKIPPED, DEGRADED = DECISIONS = ("injected", "skipped", "degraded")
"""What a run decided: a pick, an abstention, or no decision because something failed."""

REPLAYED, BATCHED = LATENCY_REASONS = ("replayed", "batched")
"""Why a run has no latency: a recorded response answered; it was decided together with others."""

CONFIG = "config"
"""The field that tells one router's runs from another's."""


def config_keys(columns: Iterable[str]) -> list[str]:
    """The key that tells configurations apart, of those columns: ``config``, or none where it is not there.

    >>> config_keys(["fixture_id", "config"]), config_keys(["fixture_id"])
    (['config'], [])
    """
    return [name for name in (CONFIG,) if name in set(columns)]


LATENCY_LIMIT_MS = 1e9
"""No run takes this long (eleven days): a larger number is not in milliseconds."""

SCORED = (
    "fixture",
    "group",
    "abstain",
    "golds",
    "length",
    "rank",
    "found",
    "picked_gold",
    "listed",
    "choice",
)
"""The columns that scoring adds to the runs' own."""

TOKEN_LIMIT = 2**32 - 1
"""No run sends or receives more tokens than this; so bounded, the sum over all runs of a file fits Int64."""


def token_rules(*names: str) -> tuple[Rule, ...]:
    """The rules by which counts of tokens stay small enough to be summed."""
    return tuple(
        Rule(f"{name}.too-large", name, pl.col(name) > TOKEN_LIMIT, f"tokens of one run, up to {TOKEN_LIMIT}")
        for name in names
    )


PROVENANCE = ("fixture_set", "fixture_digest", "corpus_fingerprint", "tuned_on")
"""What a runs file says of its making, as columns or as Parquet key-value metadata."""


@dataclass(frozen=True, eq=False)
class RunsTable(Table):
    """The runs' table: lists of ids that come coded (Enum, Categorical) stay so, since text is slower."""

    def conform(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """As :meth:`Table.conform`, without turning coded lists into text."""
        schema = frame.collect_schema()
        coded = [f.name for f in self.fields if f.kind is Kind.TEXTS and is_coded(schema.get(f.name))]
        aside = {name: f"_coded_{name}" for name in coded}
        conformed = super().conform(frame.with_columns(pl.col(name).alias(aside[name]) for name in coded))
        return conformed.with_columns(pl.col(aside[name]).alias(name) for name in coded).drop(aside.values())


def is_coded(dtype: pl.DataType | None) -> bool:
    """Whether a column holds lists of Enum or Categorical."""
    return isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Enum | pl.Categorical)


def _fixture_rules() -> tuple[Rule, ...]:
    gold = pl.col("gold")
    return (
        Rule(
            "prompt.empty",
            "prompt",
            pl.col("prompt").str.strip_chars() == "",
            "what a user typed",
            "a fixture without a prompt cannot be routed",
        ),
        Rule(
            "gold.empty",
            "gold",
            gold.list.len() == 0,
            f'at least one name or id, or exactly ["{NONE}"]',
            f'write ["{NONE}"] where the router must abstain',
        ),
        Rule(
            "gold.blank",
            "gold",
            gold.list.eval(
                (pl.element().is_null() | (pl.element().str.strip_chars() == "")).any()
            ).list.first(),
            "names or ids that are not blank",
        ),
        Rule(
            "gold.none-beside",
            "gold",
            gold.list.contains(NONE) & (gold.list.len() > 1),
            f'"{NONE}" alone, or names without it',
            "a fixture either must be abstained from or has an answer",
        ),
    )


FIXTURES = Table(
    "routing fixtures",
    "RoutingFixtures",
    (
        Field("id", Kind.TEXT, "The fixture's id, unique in its set."),
        Field("group", Kind.TEXT, "The group it is reported under; free text."),
        Field("prompt", Kind.TEXT, "What the user typed."),
        Field(
            "gold",
            Kind.TEXTS,
            f'Names or ids of capabilities, each a right answer; or exactly ["{NONE}"]: it must abstain.',
        ),
        Field("notes", Kind.TEXT, "Remarks of the author.", required=False, nullable=True),
    ),
    _fixture_rules(),
)
"""The fixtures' contract, without what depends on a corpus."""


def _run_rules() -> tuple[Rule, ...]:
    decision, chosen = pl.col("decision"), pl.col("chosen")
    latency = pl.col("latency_ms")
    counts = ("repeat", "tokens_in", "tokens_out", "response_index")
    probabilities = ("none_p", "winner_p")
    return (
        Rule(
            "decision.unknown",
            "decision",
            ~decision.is_in(DECISIONS),
            f"one of {', '.join(DECISIONS)}, or null throughout a configuration that only retrieves",
            known=DECISIONS,
        ),
        Rule(
            "chosen.missing",
            "chosen",
            (decision == INJECTED) & (chosen.is_null() | (chosen == "")),
            f"the id that was {INJECTED}",
        ),
        Rule(
            "chosen.without-injection",
            "chosen",
            chosen.is_not_null() & decision.ne_missing(INJECTED),
            f"null in a run that was not {INJECTED}",
        ),
        Rule(
            "latency_ms.range",
            "latency_ms",
            ~latency.is_between(0, LATENCY_LIMIT_MS) | latency.is_nan(),
            f"milliseconds from 0 to {LATENCY_LIMIT_MS:g}, or null where it was not measured",
        ),
        Rule(
            "latency_reason.beside-latency",
            "latency_reason",
            pl.col("latency_reason").is_not_null() & latency.is_not_null(),
            "null where there is a latency",
        ),
        *(
            Rule(
                f"{name}.range",
                name,
                ~pl.col(name).is_between(0, 1) | pl.col(name).is_nan(),
                "a probability, 0 to 1",
            )
            for name in probabilities
        ),
        *(Rule(f"{name}.negative", name, pl.col(name) < 0, "a whole number from 0") for name in counts),
        *token_rules("tokens_in", "tokens_out"),
    )


RUNS = RunsTable(
    "routing runs",
    "RoutingRuns",
    (
        Field("fixture_id", Kind.TEXT, "The fixture that was routed."),
        Field("repeat", Kind.COUNT, "Which repetition of the fixture this is, from 0."),
        Field(
            "shortlist",
            Kind.TEXTS,
            "The ids that retrieval offered, best first; empty where it offered none.",
        ),
        Field(
            "decision",
            Kind.TEXT,
            "injected, skipped or degraded; null throughout a configuration that only retrieves.",
            nullable=True,
        ),
        Field("chosen", Kind.TEXT, "The id that was injected; null in every other run.", nullable=True),
        Field("reason", Kind.TEXT, "Why it was skipped or degraded.", nullable=True),
        Field("none_p", Kind.NUMBER, "The probability given to none.", required=False, nullable=True),
        Field("winner_p", Kind.NUMBER, "The probability given to the winner.", required=False, nullable=True),
        Field(
            "latency_ms",
            Kind.NUMBER,
            "How long the run took, in milliseconds.",
            required=False,
            nullable=True,
        ),
        Field(
            "latency_reason",
            Kind.TEXT,
            f"Why latency_ms is null, such as {REPLAYED}.",
            required=False,
            nullable=True,
        ),
        Field("tokens_in", Kind.COUNT, "Tokens sent.", required=False, nullable=True),
        Field("tokens_out", Kind.COUNT, "Tokens received.", required=False, nullable=True),
        Field(CONFIG, Kind.LABEL, "The router's configuration; a key.", required=False),
        Field("model", Kind.TEXT, "The language model that answered.", required=False, nullable=True),
        Field(
            "response_index",
            Kind.COUNT,
            "Which recorded response answered; null where none was used. One used again is no repeat.",
            required=False,
            nullable=True,
        ),
        Field("fixture_set", Kind.TEXT, "The name of the fixture set.", required=False, nullable=True),
        Field("fixture_digest", Kind.TEXT, "The digest of the fixture set.", required=False, nullable=True),
        Field(
            "corpus_fingerprint", Kind.TEXT, "The fingerprint of the corpus.", required=False, nullable=True
        ),
        Field(
            "tuned_on",
            Kind.TEXT,
            "The name or digest of the set that the configuration was tuned on.",
            required=False,
            nullable=True,
        ),
    ),
    _run_rules(),
)
"""The runs' contract, without what depends on fixtures and corpus."""

RUNS_AS_TEXT = Table(RUNS.name, RUNS.model_name, RUNS.fields, RUNS.rules)
"""The same, with every list of ids turned into text: what files that code their ids differently share."""
