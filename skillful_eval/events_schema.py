"""The event log of a live router: its fields and rules, and what its fields are called here."""

from __future__ import annotations

import polars as pl

from skillful_eval.schema import DECISIONS, INJECTED, LATENCY_LIMIT_MS, token_rules
from skillshift.frame.contract import Field, Kind, Rule, Table

ROUTE, USE = EVENT_KINDS = ("route", "capability-used")
"""The kinds of events that are read: a routed prompt, and a capability that was put to use."""

TIME = pl.Datetime("us", "UTC")
"""The type of an event's time."""

_MILLISECONDS = r"^[0-9]{12,13}$"
"""Milliseconds since 1970 have 12 or 13 digits from 1973 to 2286; seconds would have fewer."""

SCORES = pl.List(pl.Struct({"id": pl.String(), "score": pl.Float64()}))


def time_of(text: pl.Expr) -> pl.Expr:
    """An event's time; null where the text is none.

    >>> texts = pl.Series(["2026-01-31T10:30:00+01:00", "1769851800000", "2026-01-31"])
    >>> pl.select(time_of(texts)).to_series().dt.hour().to_list()
    [9, 9, None]
    """
    number = pl.when(text.str.contains(_MILLISECONDS)).then(text).cast(pl.Int64, strict=False)
    return pl.coalesce(
        text.str.to_datetime("%+", time_unit="us", time_zone="UTC", strict=False),
        pl.from_epoch(number, "ms").dt.replace_time_zone("UTC").cast(TIME),
    )


def _rules() -> tuple[Rule, ...]:
    route, use = pl.col("kind") == ROUTE, pl.col("kind") == USE
    decision, latency = pl.col("decision"), pl.col("latencyMs")
    return (
        Rule(
            "ts.unknown",
            "ts",
            time_of(pl.col("ts")).is_null(),
            "a time such as 2026-01-31T09:30:00Z, or whole milliseconds since 1970",
            "a time needs its zone",
        ),
        Rule(
            "decision.unknown",
            "decision",
            route & (decision.is_null() | ~decision.is_in(DECISIONS)),
            f"one of {', '.join(DECISIONS)} in a {ROUTE} event",
            known=DECISIONS,
        ),
        Rule(
            "primary.missing",
            "primary",
            route & (decision == INJECTED) & (pl.col("primary").fill_null("") == ""),
            f"the id that was {INJECTED}",
        ),
        Rule(
            "capabilityId.missing",
            "capabilityId",
            use & (pl.col("capabilityId").fill_null("") == ""),
            f"the id that was used, in a {USE} event",
        ),
        Rule(
            "latencyMs.range",
            "latencyMs",
            ~latency.is_between(0, LATENCY_LIMIT_MS) | latency.is_nan(),
            f"milliseconds from 0 to {LATENCY_LIMIT_MS:g}, or null",
        ),
        *(
            Rule(
                f"{name}.range",
                name,
                ~pl.col(name).is_between(0, 1) | pl.col(name).is_nan(),
                "a probability, 0 to 1",
            )
            for name in ("noneP", "confidence")
        ),
        *(
            Rule(f"{name}.negative", name, pl.col(name) < 0, "a whole number from 0")
            for name in ("promptChars", "candidateCount", "tokensIn", "tokensOut")
        ),
        *token_rules("tokensIn", "tokensOut"),
    )


def _optional(name: str, kind: Kind, about: str) -> Field:
    return Field(name, kind, about, required=False, nullable=True)


EVENTS = Table(
    "router event log",
    "RouterEvents",
    (
        Field("kind", Kind.TEXT, f"{ROUTE} or {USE}; events of other kinds are passed over and counted."),
        Field("ts", Kind.LABEL, "When it happened: ISO 8601 with a zone, or milliseconds since 1970."),
        _optional("runtime", Kind.TEXT, "The program that the router served."),
        _optional("sessionId", Kind.TEXT, "The session; suggestions and uses are matched within one."),
        _optional("promptHash", Kind.TEXT, "A hash of the prompt."),
        _optional("promptChars", Kind.COUNT, "The prompt's length."),
        _optional("catalogFingerprint", Kind.TEXT, "The fingerprint of the corpus."),
        _optional("candidateCount", Kind.COUNT, "How many candidates were offered."),
        _optional("candidateIds", Kind.TEXTS, "The ids that were offered, best first."),
        _optional("primary", Kind.TEXT, "The id that the model chose; injected where the decision says so."),
        _optional("noneP", Kind.NUMBER, "The probability given to none."),
        _optional("confidence", Kind.NUMBER, "The probability given to the winner."),
        _optional("decision", Kind.TEXT, "injected, skipped or degraded."),
        _optional("reason", Kind.TEXT, "Why it was skipped or degraded."),
        _optional("latencyMs", Kind.NUMBER, "How long routing took, in milliseconds."),
        _optional("cacheHit", Kind.FLAG, "Whether the answer came from a cache."),
        _optional("tokensIn", Kind.COUNT, "Tokens sent."),
        _optional("tokensOut", Kind.COUNT, "Tokens received."),
        _optional("error", Kind.TEXT, "What failed."),
        _optional("capabilityId", Kind.TEXT, "The capability that was used."),
        _optional("via", Kind.TEXT, "How it was put to use."),
    ),
    _rules(),
)
"""The event log's contract; which fields an event must fill depends on its kind."""

RANKING = "ranking"
"""The one field that is a list of objects, ``{"id": ..., "noul": ...}``: the candidates with their scores."""

JUDGED = pl.List(pl.Struct({"id": pl.String(), "noul": pl.Float64()}))
"""The type of :data:`RANKING`."""

ROUTES = {
    "runtime": "runtime",
    "session_id": "sessionId",
    "prompt_hash": "promptHash",
    "prompt_chars": "promptChars",
    "corpus_fingerprint": "catalogFingerprint",
    "candidate_count": "candidateCount",
    "shortlist": "candidateIds",
    "decision": "decision",
    "primary": "primary",
    "reason": "reason",
    "none_p": "noneP",
    "winner_p": "confidence",
    "latency_ms": "latencyMs",
    "tokens_in": "tokensIn",
    "tokens_out": "tokensOut",
    "cache_hit": "cacheHit",
    "error": "error",
}
"""What the fields of a routed prompt are called here; where routing runs have the field too, as there."""

USES = {
    "runtime": "runtime",
    "session_id": "sessionId",
    "capability_id": "capabilityId",
    "via": "via",
}
"""What the fields of a use are called here."""
