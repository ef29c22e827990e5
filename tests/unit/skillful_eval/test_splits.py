from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillful_eval.fixtures import read_fixtures
from skillful_eval.splits import SHORT, check_split
from skillshift.frame.errors import UsageError


@pytest.fixture
def set_of(corpus):
    def make(prompts, name):
        rows = [{"id": id_, "group": "g", "prompt": text, "gold": ["none"]} for id_, text in prompts.items()]
        return read_fixtures(pl.DataFrame(rows), corpus, name=name)

    return make


def test_sets_that_are_apart_share_nothing(set_of):
    dev = set_of({"a": "undo the last commit"}, "dev")
    assert check_split(dev, set_of({"b": "write a plan for this"}, "holdout")).is_empty()


def test_a_shared_id_is_found_whatever_its_prompt(set_of):
    dev = set_of({"a": "undo it", "b": "x y"}, "dev")
    found = check_split(dev, set_of({"a": "plan it well"}, "holdout"))
    assert found.rows() == [("split.shared-id", "a", "a", "undo it", "plan it well", 0.25)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Undo the last commit!", "undo   the last commit"),
        ("cảm ơn bạn", unicodedata.normalize("NFD", "Cảm ơn bạn")),
        ("👍", "👍"),
        ("undo the last commit please", "please undo the last commit"),
        ("undo the last commit now", "undo the last commit"),
        ("middleware", "middlewares"),
        ("Add a middleware!", "add  a middlewares"),
        ("explain this regexp to me", "explain this regexp to me?"),
        ("ok", "OK"),
    ],
)
def test_near_identical_prompts_are_found(set_of, one, other):
    found = check_split(set_of({"a": one}, "dev"), set_of({"b": other}, "holdout"))
    assert found["code"].to_list() == ["split.similar-prompt"]


@pytest.mark.parametrize(
    ("one", "other"), [("👍", "👎"), ("undo it", "undo that"), ("thử", "thu"), ("ok", "oh")]
)
def test_others_are_not(set_of, one, other):
    assert check_split(set_of({"a": one}, "dev"), set_of({"b": other}, "holdout")).is_empty()


words = st.lists(st.sampled_from("abcdefghijk"), min_size=1, max_size=12).map(" ".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dev=st.lists(words, min_size=1, max_size=6),
    holdout=st.lists(words, min_size=1, max_size=6),
    similarity=st.sampled_from(["0.5", "0.8", "2/3", "1", "0.01"]),
)
def test_no_pair_is_missed(set_of, dev, holdout, similarity):
    one = set_of({f"d{i}": text for i, text in enumerate(dev)}, "dev")
    other = set_of({f"h{i}": text for i, text in enumerate(holdout)}, "holdout")
    found = check_split(one, other, similarity=similarity)
    expected = {
        (f"d{i}", f"h{j}")
        for i, a in enumerate(dev)
        for j, b in enumerate(holdout)
        if likeness(a, b) >= Fraction(similarity)
    }
    assert set(found.select("dev_id", "holdout_id").rows()) == expected
    assert found["similarity"].is_sorted(descending=True)


def likeness(a, b):
    words = [set(re.findall(r"\w+", text)) for text in (a, b)]
    trigrams = [{text[i : i + 3] for i in range(max(len(text) - 2, 1))} for text in (a, b)]
    by_words, by_trigrams = (Fraction(len(x & y), len(x | y)) for x, y in (words, trigrams))
    return max(by_words, by_trigrams) if max(map(len, words)) <= SHORT else by_words


def test_only_short_prompts_are_compared_by_characters(set_of):
    short = "fix every broken link in our documentation"
    found = check_split(set_of({"a": short}, "dev"), set_of({"b": f"{short}s"}, "holdout"))
    assert found["similarity"].to_list() == pytest.approx([40 / 41])
    long = "fix every broken link that there is in our documentation"
    assert check_split(set_of({"a": long}, "dev"), set_of({"b": "x " + long[:-4]}, "holdout")).is_empty()


@pytest.mark.parametrize("similarity", ["0", "1.1", "x", 0.8, "-1", "1/0", None, "nan"])
def test_a_similarity_that_cannot_be_is_refused(set_of, similarity):
    dev = set_of({"a": "undo it"}, "dev")
    with pytest.raises(UsageError, match="similarity: found"):
        check_split(dev, dev, similarity=similarity)
