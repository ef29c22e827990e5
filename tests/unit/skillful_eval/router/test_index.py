from __future__ import annotations

import math
import sys
from collections import Counter
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from skillful_eval.router.index import scored_terms
from skillshift.frame.errors import InputError

DOCUMENTS = [[0, 1, 1, 2], [], [2, 2, 2, 2, 2], [3], [0, 4, 5, 6, 7, 8, 9, 0, 0], [1, 2]]
TERMS = 11


def documented(term, document):
    """The formula of the function's documentation, exact but for the logarithm."""
    n = sum(term in one for one in DOCUMENTS)
    half, average = Fraction(1, 2), Fraction(sum(map(len, DOCUMENTS)), len(DOCUMENTS))
    frequency = Counter(document)[term]
    length = Fraction(3, 4) * len(document) / average
    saturated = frequency / (frequency + Fraction(6, 5) * (Fraction(1, 4) + length))
    return math.log(1 + (len(DOCUMENTS) - n + half) / (n + half)) * saturated


def test_every_score_is_the_documented_formula_s():
    data, columns, offsets = scored_terms(DOCUMENTS, TERMS)
    assert len(offsets) == TERMS + 1
    assert data.dtype == np.float64
    seen = 0
    for term in range(TERMS):
        part = slice(offsets[term], offsets[term + 1])
        holders = [place for place, document in enumerate(DOCUMENTS) if term in document]
        assert columns[part].tolist() == holders
        expected = [documented(term, DOCUMENTS[place]) for place in holders]
        assert data[part].tolist() == pytest.approx(expected, rel=4 * sys.float_info.epsilon)
        seen += len(holders)
    assert seen == len(data) == 14


def test_documents_without_a_token_have_no_scores():
    data, columns, offsets = scored_terms([[], []], 3)
    assert (data.tolist(), columns.tolist(), offsets.tolist()) == ([], [], [0, 0, 0, 0])


def test_nothing_is_printed(capfd):
    scored_terms(DOCUMENTS, TERMS)
    assert capfd.readouterr() == ("", "")


def test_without_bm25s_one_is_told_what_to_install(monkeypatch):
    def missing(name):
        if name == "bm25s":
            raise ModuleNotFoundError(name)
        return import_module(name)

    monkeypatch.setattr("skillful_eval.router.index.import_module", missing)
    with pytest.raises(InputError, match=r"bm25s is not installed.*pip install 'skillshift\[router\]'"):
        scored_terms(DOCUMENTS, TERMS)
