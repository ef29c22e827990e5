"""What every router is: prompts in, shortlists out; then requests in, decisions out. Always in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import polars as pl

from skillful_eval.schema import BATCHED, DECISIONS, LATENCY_REASONS, REPLAYED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillful_eval.corpus import Corpus

__all__ = [
    "BATCHED",
    "CAUSES",
    "LATENCY_REASONS",
    "OUTCOMES",
    "REPLAYED",
    "REQUESTS",
    "Router",
    "StreamingRouter",
    "shortlist_schema",
]

REQUESTS = ("fixture_id", "prompt", "repeat", "shortlist", "scores")
"""The columns of what a router decides on: ``fixture_id``, ``prompt`` (text, as the fixture has it),
``repeat`` (Int64, from 0), and what its own ``shortlist`` gave for the prompt."""

CAUSES = ("timeout", "auth", "network", "upstream", "malformed", "config", "unrecorded")
"""Why a run is degraded: its time was up; the endpoint refused the key; no connection; the endpoint failed
or asked to wait, until no retry was left; its answer was not as documented, or chose what was not offered; it
refused the request, or the router cannot be used as it is set up; a replay has no response to the request."""

OUTCOMES = pl.Schema(
    {
        "decision": pl.Enum(DECISIONS),
        "chosen": pl.String(),
        "reason": pl.String(),
        "detail": pl.String(),
        "none_p": pl.Float64(),
        "winner_p": pl.Float64(),
        "latency_ms": pl.Float64(),
        "latency_reason": pl.String(),
        "tokens_in": pl.Int64(),
        "tokens_out": pl.Int64(),
        "model": pl.String(),
        "response_index": pl.Int64(),
    }
)
"""The columns of a decision. ``reason`` is a stable code: of :data:`CAUSES` where degraded, why it abstained
where skipped, null where injected; ``detail`` says more, for a reader."""


def shortlist_schema(corpus: Corpus) -> pl.Schema:
    """The columns of shortlists: ``shortlist`` (list of ids, best first), ``scores`` (list, as long)."""
    ids = pl.Enum(corpus.entries["id"])
    return pl.Schema({"shortlist": pl.List(ids), "scores": pl.List(pl.Float64())})


@runtime_checkable
class Router(Protocol):
    """A router.

    >>> import skillful_eval as se
    >>> from skillshift import datasets
    >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
    >>> isinstance(se.Bm25Router(corpus), Router)
    True
    """

    @property
    def batch(self) -> int | None:
        """How many requests :meth:`decide` is given at most, so that an interruption loses little.

        None where all at once is best.
        """

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells this configuration of the router from another: names and values, as text.

        The name of the configuration and the metadata of the runs are made of it.
        """

    def shortlist(self, prompts: pl.Series) -> pl.DataFrame:
        """What the router considers for each prompt.

        Args:
            prompts: Prompts (text).

        Returns:
            One row a prompt, in order, as :func:`shortlist_schema` says.
        """

    def decide(self, requests: pl.DataFrame) -> pl.DataFrame:
        """What the router decides.

        Args:
            requests: One row a request, with the columns of :data:`REQUESTS`.

        Returns:
            One row a request, in order, with the columns of :data:`OUTCOMES`. A failure is a degraded run,
            never an exception.
        """


@runtime_checkable
class StreamingRouter(Router, Protocol):
    """A router that hands decisions over as they come, so that an interruption loses none that was made."""

    def stream(self, requests: pl.DataFrame) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
        """What the router decides, piece by piece.

        Args:
            requests: As :meth:`Router.decide` takes them; all at once, whatever :attr:`Router.batch` says.

        Yields:
            The numbers of some rows of the requests (whole numbers, from 0), in any order, and one row each
            as :meth:`Router.decide` gives it. Every row comes once. A piece may be empty: a moment passed.
            Closing the iterator ends what is on its way.
        """
