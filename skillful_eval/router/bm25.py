"""The router that needs no model: BM25 finds the candidates, and the best of them is the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.router.protocol import BATCHED, OUTCOMES
from skillful_eval.router.quotas import DEFAULT, Quotas
from skillful_eval.router.ranking import Retriever
from skillful_eval.schema import INJECTED, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillful_eval.corpus import Corpus

NO_MATCH = "no-match"
"""Why it abstains: no candidate shares a word with the prompt."""


class Bm25Router:
    """Shortlists by BM25 with quotas, and picks its best candidate, or abstains where none scores above zero.

    Args:
        corpus: The corpus.
        quotas: How many candidates of each group a shortlist takes.
        when_to_use: Whether the when-to-use text of an entry is searched.
        retrieval_only: Whether it decides nothing.

    Raises:
        InputError: bm25s is not installed.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> router = Bm25Router(corpus, quotas=Quotas(skill=1, mcp=0, agent=0, command_rule=0))
        >>> shortlists = router.shortlist(pl.Series(["qqqqq"]))
        >>> requests = shortlists.with_columns(fixture_id=pl.lit("f"), prompt=pl.lit("qqqqq"), repeat=0)
        >>> router.decide(requests).select("decision", "reason").row(0)
        ('skipped', 'no-match')
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        quotas: Quotas = DEFAULT,
        when_to_use: bool = True,
        retrieval_only: bool = False,
    ) -> None:
        self._retriever = Retriever(corpus, when_to_use=when_to_use)
        self._quotas = quotas
        self._retrieval_only = retrieval_only
        self._settings = {
            "router": "bm25",
            "quota": quotas.text,
            "when-to-use": "yes" if when_to_use else "no",
            "retrieval-only": "yes" if retrieval_only else "no",
        }

    @property
    def batch(self) -> None:
        """All requests at once are best."""
        return

    @property
    def settings(self) -> Mapping[str, str]:
        """The quotas, whether when-to-use texts are searched, and whether it only retrieves."""
        return dict(self._settings)

    def shortlist(self, prompts: pl.Series) -> pl.DataFrame:
        """The best candidates of every group, merged by score.

        Args:
            prompts: Prompts (text).

        Returns:
            One row a prompt, in order: ``shortlist`` (list of Enum ids, best first; equal scores by id),
            ``scores`` (list of Float64, as long). All are of the same length: candidates that score zero come
            last.

        Raises:
            UsageError: The prompts are no text, or some are null.
        """
        return self._retriever.rank(prompts, self._quotas).cut(self._quotas)

    def decide(self, requests: pl.DataFrame) -> pl.DataFrame:
        """Pick each request's best candidate, or abstain.

        Args:
            requests: One row a request, with ``shortlist`` and ``scores``.

        Returns:
            One row a request, in order, with the columns of :data:`~skillful_eval.router.protocol.OUTCOMES`:
            injected with the first id of the shortlist, or skipped with the reason ``no-match`` where none
            scores above zero or there is none; with ``retrieval_only`` neither. What only a model has
            (probabilities, tokens, its name) is null, and so is the latency: requests are decided together.
        """
        nothing: dict[str, pl.Expr] = {name: pl.lit(None, dtype=dtype) for name, dtype in OUTCOMES.items()}
        told = nothing | {"latency_reason": pl.lit(BATCHED)}
        if not self._retrieval_only:
            matched = pl.col("scores").list.first().fill_null(0.0) > 0
            told["decision"] = pl.when(matched).then(pl.lit(INJECTED)).otherwise(pl.lit(SKIPPED))
            told["chosen"] = pl.when(matched).then(pl.col("shortlist").list.first().cast(pl.String))
            told["reason"] = pl.when(~matched).then(pl.lit(NO_MATCH))
            told["detail"] = pl.when(~matched).then(pl.lit("no candidate shares a word with the prompt"))
        # From the requests' height, so that constants have as many rows.
        return requests.with_columns(**told).select(
            pl.col(name).cast(dtype) for name, dtype in OUTCOMES.items()
        )
