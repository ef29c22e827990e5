"""The index of one quota group: BM25 scores a (term, entry), and the best entries for many prompts at once.

bm25s computes the scores. Choosing among them is ours: its top-k knows neither quotas nor copies, and leaves
equal scores in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

K1, B = 1.2, 0.75
"""BM25's saturation of term frequency, and how much of it the length of the text takes back."""

_CELLS = 1 << 18
"""How many (prompt, entry) scores are held at once: as many as stay in a processor's cache."""

_POSTINGS = 1 << 18
"""How many (prompt, term, entry) scores are added at once."""

_WIDTH = 64
"""How many classes share one maximum, at most, when the threshold of a prompt is sought."""

_LEAST_WIDTH = 8
"""How many share one, at least, where it is not quicker to do without."""

_SMALLEST = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The entries of one group, ready to be scored.

    Columns are the group's entries, copies of one capability side by side: those of a class. Classes are in
    the order of their least id, their members in the order of their ids.

    Attributes:
        codes: Each column's row in the corpus.
        id_ranks: Each column's place among the ids of the corpus, ascending.
        classes: Each column's class, from 0.
        starts: Each class's first column.
        data: The scores of a term in the columns that have it, term by term.
        columns: The columns that they belong to.
        offsets: Where each term's scores begin, and after the last one where they end.
    """

    codes: Integers
    id_ranks: Integers
    classes: Integers
    starts: Integers
    data: Floats
    columns: Integers
    offsets: Integers

    def best(self, prompts: Integers, terms: Integers, count: int, quota: int) -> tuple[Integers, Floats]:
        """The best classes for every prompt.

        Args:
            prompts: The prompt of each token, from 0, ascending.
            terms: The term of each token. A term that a prompt has twice counts twice.
            count: How many prompts there are; some may have no token.
            quota: How many classes each prompt gets; those that score zero fill it up, by id.

        Returns:
            The columns of the best entries of the best classes, and their scores, best first, equal scores by
            id: one row a prompt, as wide as the quota or, where there are fewer classes, as those.
        """
        quota = min(quota, len(self.starts))
        segments = self._segments(quota)
        at_once = max(1, _CELLS // len(self.codes))
        chosen, values = np.zeros((count, quota), dtype=np.int64), np.zeros((count, quota))
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            low, high = np.searchsorted(prompts, (first, last))
            scores = self._scores(prompts[low:high] - first, terms[low:high], last - first)
            chosen[first:last], values[first:last] = self._selected(scores, segments, quota)
        return chosen, values

    def _scores(self, prompts: Integers, terms: Integers, count: int) -> Floats:
        """The score of every column for every prompt; each sum is taken in the order of the tokens."""
        width = len(self.codes)
        scores = np.zeros(count * width)
        starts = self.offsets[terms]
        lengths = self.offsets[terms + 1] - starts
        ends = np.cumsum(lengths)
        low = 0
        while low < len(terms):
            done = ends[low - 1] if low else 0
            high = max(low + 1, int(np.searchsorted(ends, done + _POSTINGS, side="right")))
            part = slice(low, high)
            total = int(ends[high - 1] - done)
            shift = starts[part] - (ends[part] - lengths[part] - done)
            places = np.repeat(shift, lengths[part]) + np.arange(total)
            cells = np.repeat(prompts[part] * width, lengths[part]) + self.columns[places]
            # In the order given, so that how tokens are parted into pieces changes no sum.
            np.add.at(scores, cells, self.data[places])
            low = high
        return scores.reshape(count, width)

    def _segments(self, quota: int) -> Integers:
        """Where segments of columns begin that part no class: several times as many as the quota."""
        count = len(self.starts)
        width = min(_WIDTH, count // (_LEAST_WIDTH * max(1, quota)))
        if width < _LEAST_WIDTH and count == len(self.codes):
            width = 1
        numbers = self.starts // max(1, width)
        return self.starts[np.flatnonzero(np.diff(numbers, prepend=-1))]

    def _selected(self, scores: Floats, segments: Integers, quota: int) -> tuple[Integers, Floats]:
        """The best columns of every row of scores."""
        count, width = scores.shape
        chosen = np.zeros((count, quota), dtype=np.int64)
        values = np.zeros((count, quota))
        if not quota:
            return chosen, values
        # As many segments as the quota have a maximum of at least the threshold, so as many classes score it:
        # what scores less is not among the best.
        maxima = scores if len(segments) == width else np.maximum.reduceat(scores, segments, axis=1)
        threshold = np.zeros(count)
        if len(segments) > quota:
            place = len(segments) - quota
            threshold = np.partition(maxima, place, axis=1)[:, place]
        kept = np.flatnonzero(scores >= np.maximum(threshold, _SMALLEST)[:, None])
        rows, columns = np.divmod(kept, width)
        found = scores.ravel()[kept]
        if len(self.starts) < width:
            order = np.lexsort((columns, -found, self.classes[columns], rows))
            rows, columns, found = rows[order], columns[order], found[order]
            own = rows * len(self.starts) + self.classes[columns]
            first = np.flatnonzero(np.diff(own, prepend=-1))
            rows, columns, found = rows[first], columns[first], found[first]
        order = np.lexsort((self.id_ranks[columns], -found, rows))
        rows, columns, found = rows[order], columns[order], found[order]
        sizes = np.bincount(rows, minlength=count)
        places = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
        within = places < quota
        rows, columns, places = rows[within], columns[within], places[within]
        chosen[rows, places], values[rows, places] = columns, found[within]
        self._fill(chosen, np.minimum(sizes, quota))
        return chosen, values

    def _fill(self, chosen: Integers, sizes: Integers) -> None:
        """Fill rows that have fewer columns than the quota with classes that score zero, by id."""
        quota = chosen.shape[1]
        short = np.flatnonzero(sizes < quota)
        # Of the first classes, as many as the quota, at most as many are taken as the row has columns; so
        # enough are left.
        taken = np.zeros((len(short), quota), dtype=bool)
        row, place = np.nonzero(np.arange(quota) < sizes[short, None])
        classes = self.classes[chosen[short[row], place]]
        early = classes < quota
        taken[row[early], classes[early]] = True
        row, free = np.nonzero(~taken)
        place = sizes[short[row]] + (np.cumsum(~taken, axis=1) - 1)[row, free]
        fits = place < quota
        chosen[short[row[fits]], place[fits]] = self.starts[free[fits]]


def scored_terms(documents: Sequence[list[int]], terms: int) -> tuple[Floats, Integers, Integers]:
    """The BM25 score of every term in every document that has it.

    Args:
        documents: The terms of each document, from 0, each as often as it occurs.
        terms: How many terms there are.

    Returns:
        ``data``, ``columns`` and ``offsets`` of :class:`Index`, with the documents as columns. The score is
        ``ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + K1 * (1 - B + B * length / average))`` for a term that
        ``n`` of ``N`` documents have, ``f`` times in a document of ``length`` tokens; no constant factor
        (``K1 + 1``) is multiplied in, as none changes an order.

    Raises:
        InputError: bm25s is not installed.

    >>> [one.round(4).tolist() for one in scored_terms([[0, 0], [0, 1]], 2)]
    [[0.114, 0.0829, 0.3151], [0, 1, 1], [0, 2, 3]]
    """
    if not any(documents):  # there is no average length to divide by
        return np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(terms + 1, dtype=np.int64)
    model = _library().BM25(method="lucene", k1=K1, b=B, dtype="float64")
    found = model.build_index_from_ids(
        unique_token_ids=range(terms), corpus_token_ids=documents, show_progress=False
    )
    return found["data"], found["indices"].astype(np.int64), found["indptr"].astype(np.int64)


def _library() -> Any:
    """bm25s, which has no types.

    Raises:
        InputError: It is not installed.
    """
    try:
        return import_module("bm25s")
    except ImportError as error:
        raise InputError(
            "bm25s is not installed, and candidates cannot be ranked without it; "
            "install it with: pip install 'skillshift[router]'"
        ) from error
