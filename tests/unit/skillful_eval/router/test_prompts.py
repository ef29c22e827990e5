"""What of a prompt is sent."""

from __future__ import annotations

import sys

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillful_eval.router.prompts import WITHHELD, sent
from skillshift.frame.errors import UsageError

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # one emoji of five code points


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc"),
        ("e\u0301e\u0301", 3, "e\u0301"),
        ("e\u0301e\u0301", 4, "e\u0301e\u0301"),
        (f"ab{FAMILY}c", 4, "ab"),
        (f"ab{FAMILY}c", 7, f"ab{FAMILY}"),
        (FAMILY, 2, ""),
        ("\U0001f1fb\U0001f1f3\U0001f1eb\U0001f1f7", 3, "\U0001f1fb\U0001f1f3"),
        ("a\r\nb", 2, "a"),
        ("a b ", 3, "a b"),
        ("한국어"[:1] + "\u1112\u1161\u11ab", 3, "한"),
    ],
)
def test_a_cut_splits_no_character(text, limit, expected):
    assert sent(pl.Series("prompt", [text]), max_chars=limit).to_list() == [expected]


@given(st.lists(st.text() | st.none(), max_size=5), st.integers(1, 20))
@example(["e\u0301" * 10, None, "short"], 7)
def test_a_cut_is_a_beginning_within_the_limit(texts, limit):
    cut = sent(pl.Series(texts, dtype=pl.String), max_chars=limit).to_list()
    for text, kept in zip(texts, cut, strict=True):
        if text is None or len(text) <= limit:
            assert kept == text
        else:
            assert text.startswith(kept)
            assert len(kept) <= limit


def test_all_or_nothing():
    prompts = pl.Series("prompt", ["one", None, "two"])
    assert sent(prompts).to_list() == ["one", None, "two"]
    withheld = sent(prompts, upload=False, max_chars=2)
    assert withheld.to_list() == [WITHHELD, None, WITHHELD]
    assert withheld.name == "prompt"


def test_prompts_given_are_left_as_they_are():
    prompts = pl.Series(["abcdef"])
    sent(prompts, max_chars=2)
    assert prompts.to_list() == ["abcdef"]


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "9"])
def test_what_is_no_limit(limit):
    with pytest.raises(UsageError, match="max_prompt_chars: found"):
        sent(pl.Series(["a"]), max_chars=limit)


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(UsageError, match="pip install"):
        sent(pl.Series(["abc"]), max_chars=1)
    assert sent(pl.Series(["abc"]), max_chars=3).to_list() == ["abc"]
