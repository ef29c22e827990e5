"""Rankings: the best candidates of every quota group for many prompts, made once and cut at any quotas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillful_eval.router.index import Index, scored_terms
from skillful_eval.router.protocol import shortlist_schema
from skillful_eval.router.quotas import GROUPS, KIND_GROUPS, Quotas
from skillful_eval.router.tokens import tokens
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from skillful_eval.corpus import Corpus

_TEXTS = ("name", "description", "when_to_use")
_PROMPTS = 1 << 15
"""How many prompts are tokenised at once."""

RANKING = pl.Schema(
    {
        "prompt": pl.UInt32(),
        "group": pl.Enum(GROUPS),
        "place": pl.UInt32(),
        "code": pl.UInt32(),
        "score": pl.Float64(),
    }
)
"""The columns of a ranking."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The best candidates of every group for every prompt.

    Attributes:
        frame: One row a candidate, sorted by prompt, then by score (descending), then by id: ``prompt``
            (UInt32, from 0), ``group`` (Enum of :data:`~skillful_eval.router.quotas.GROUPS`), ``place``
            (UInt32, from 1 within the prompt's group), ``code`` (UInt32, the entry's row in the corpus),
            ``score`` (Float64, 0 where no word is shared).
        prompts: How many prompts were ranked; all have as many candidates.
        depth: How many of each group are there, unless it has fewer.
        available: How many each group has, copies counted once.
        schema: The columns of a shortlist.
    """

    frame: pl.DataFrame
    prompts: int
    depth: Quotas
    available: Quotas
    schema: pl.Schema

    def cut(self, quotas: Quotas) -> pl.DataFrame:
        """The shortlists at quotas no larger than the ranking's depth: what a ranking at those would give.

        Args:
            quotas: The quotas.

        Returns:
            One row a prompt, in order: ``shortlist`` (list of Enum ids, best first; equal scores by id),
            ``scores`` (list of Float64, as long).

        Raises:
            UsageError: A quota is larger than the depth of its group, and there may be more of that group.
        """
        for group in GROUPS:
            if quotas[group] > self.depth[group] < self.available[group]:
                raise UsageError(
                    f"quota {group}: {quotas[group]} is more than the {self.depth[group]} that were ranked; "
                    "rank deeper"
                )
        length = sum(min(quotas[group], self.available[group]) for group in GROUPS)
        if not self.prompts or not length:
            return pl.DataFrame({name: [[]] * self.prompts for name in self.schema}, schema=self.schema)
        limits = pl.col("group").replace_strict(dict(quotas.by_group), return_dtype=pl.UInt32)
        kept = self.frame.filter(pl.col("place") <= limits)
        shape = (self.prompts, length)
        ids = self.schema["shortlist"].inner  # type: ignore[attr-defined]
        return kept.select(
            shortlist=pl.col("code").cat.to(ids).reshape(shape).arr.to_list(),
            scores=pl.col("score").reshape(shape).arr.to_list(),
        )


class Retriever:
    """Ranks the entries of a corpus for prompts by BM25, a ranking of its own for each quota group.

    The text of an entry is its name, its description and, unless that is turned off, its when-to-use text.
    How rare a term is and how long texts are on average is taken over all entries of the group. Entries of
    one kind with the same description are copies of one capability, those without any too: only the best of
    them is a candidate. Candidates that score zero come last, by id.

    Args:
        corpus: The corpus.
        when_to_use: Whether the when-to-use text belongs to an entry's text.

    Raises:
        InputError: bm25s is not installed.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> ranking = Retriever(corpus).rank(pl.Series(["summarise this contract"]), Quotas.DEFAULT)
        >>> ranking.cut(Quotas(skill=2, mcp=1, agent=0, command_rule=0))["shortlist"].list.len().to_list()
        [3]
    """

    def __init__(self, corpus: Corpus, *, when_to_use: bool = True) -> None:
        self._schema = shortlist_schema(corpus)
        present = [pl.when(pl.col(name) != "").then(name) for name in _TEXTS[: 3 if when_to_use else 2]]
        entries = corpus.entries.select(
            group=pl.col("kind").replace_strict(KIND_GROUPS),
            # Copies of a class are told by its least id, which also puts the classes in order.
            id_rank=pl.col("id").rank("ordinal").cast(pl.Int64) - 1,
            kind="kind",
            description="description",
            text=pl.concat_str(present, separator=" ", ignore_nulls=True),
        ).with_row_index("code")
        ordered = entries.with_columns(least=pl.col("id_rank").min().over("kind", "description")).sort(
            "least", "id_rank"
        )
        found = tokens(ordered["text"])
        self._terms = pl.Enum(found["token"].unique().sort())
        coded = found.select(_coded(pl.col("token"), self._terms)).to_series().to_list()
        ends = np.cumsum(np.bincount(found["text"].to_numpy(), minlength=ordered.height)).tolist()
        documents = [coded[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        self._indices = {
            group: self._index(ordered, documents, rows)
            for group in GROUPS
            if len(rows := (ordered["group"] == group).arg_true())
        }
        sizes = {group: len(index.starts) for group, index in self._indices.items()}
        self._available = Quotas(*(sizes.get(group, 0) for group in GROUPS))

    def _index(self, ordered: pl.DataFrame, documents: list[list[int]], rows: pl.Series) -> Index:
        own = ordered[rows]
        least = own["least"].to_numpy()
        first = np.diff(least, prepend=-1) != 0
        data, columns, offsets = scored_terms([documents[row] for row in rows], len(self._terms.categories))
        return Index(
            codes=own["code"].cast(pl.Int64).to_numpy(),
            id_ranks=own["id_rank"].to_numpy(),
            classes=np.cumsum(first) - 1,
            starts=np.flatnonzero(first),
            data=data,
            columns=columns,
            offsets=offsets,
        )

    def rank(self, prompts: pl.Series, depth: Quotas) -> Ranking:
        """Rank the candidates of every group for every prompt.

        Args:
            prompts: Prompts (text). One without a word that an entry has gets candidates that score zero.
            depth: How many candidates of each group.

        Returns:
            The ranking. It depends on neither the other prompts nor on how many there are, nor on the order
            of the corpus.

        Raises:
            UsageError: The prompts are no text, or some are null.
        """
        if prompts.dtype != pl.String or prompts.null_count():
            raise UsageError(
                f"prompts: found {prompts.dtype} with {prompts.null_count():,} nulls, expected text in each"
            )
        parts = [
            self._ranked(prompts.slice(start, _PROMPTS), start, depth)
            for start in range(0, prompts.len(), _PROMPTS)
        ]
        frame = pl.concat(parts) if parts else pl.DataFrame(schema=RANKING)
        return Ranking(frame, prompts.len(), depth, self._available, self._schema)

    def _ranked(self, prompts: pl.Series, start: int, depth: Quotas) -> pl.DataFrame:
        """The ranking of some of the prompts, the first of which has that number."""
        found = tokens(prompts).select("text", term=_coded(pl.col("token"), self._terms)).drop_nulls()
        texts, terms = (found[name].cast(pl.Int64).to_numpy() for name in ("text", "term"))
        parts = [
            (GROUPS.index(group), index, index.best(texts, terms, prompts.len(), depth[group]))
            for group, index in self._indices.items()
        ]
        number = np.hstack([np.full(columns.shape[1], group) for group, _, (columns, _) in parts])
        place = np.hstack([np.arange(1, columns.shape[1] + 1) for _, _, (columns, _) in parts])
        code = np.hstack([index.codes[columns] for _, index, (columns, _) in parts])
        id_rank = np.hstack([index.id_ranks[columns] for _, index, (columns, _) in parts])
        score = np.hstack([scores for _, _, (_, scores) in parts])
        # Rows are short, so sorting each by id and then stably by score is quicker than one sort of them all.
        order = np.argsort(id_rank, axis=1)
        by_score = np.argsort(-np.take_along_axis(score, order, axis=1), axis=1, kind="stable")
        order = np.take_along_axis(order, by_score, axis=1)
        return pl.DataFrame(
            {
                "prompt": np.repeat(np.arange(start, start + len(order), dtype=np.uint32), order.shape[1]),
                "group": pl.Series(number[order].ravel().astype(np.uint8)).cat.to(RANKING["group"]),
                "place": place[order].ravel().astype(np.uint32),
                "code": np.take_along_axis(code, order, axis=1).ravel().astype(np.uint32),
                "score": np.take_along_axis(score, order, axis=1).ravel(),
            },
            schema=RANKING,
        )


def _coded(tokens: pl.Expr, terms: pl.Enum) -> pl.Expr:
    """The numbers of tokens among the terms; null where a token is none of them."""
    return tokens.cast(terms, strict=False).to_physical()
