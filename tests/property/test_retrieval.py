"""Shortlists against the oracle, and what must hold of them whatever is asked."""

import unicodedata
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval import testing as sst
from skillful_eval.router import index as index_module
from skillful_eval.router import ranking as ranking_module
from skillful_eval.router.quotas import Quotas
from skillful_eval.router.ranking import Retriever
from skillful_eval.router.tokens import tokens
from skillful_eval.schema import KINDS
from skillful_eval.testing.oracle_retrieval import oracle_shortlists, oracle_tokens

# Few words, so that scores are often equal; accents composed and decomposed; every rule of the tokenizer.
WORDS = (
    "plan",
    "deploy",
    "Deploy",
    "thiết kế",
    unicodedata.normalize("NFD", "thiết kế"),
    "giao diện",
    "claudeFable",
    "HTTPServer",
    "notes.md",
    "the",
    "is",
    "v2",
    "x_y-z",
    "ĐặtHàng",
    "2Fast",
)
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
prompts = st.lists(texts, max_size=7)
quotas = st.builds(Quotas, *[st.integers(0, 5)] * 4)
ids = st.sampled_from([f"{a}:{b}" for a in "ab" for b in ("1", "2", "10", "é", "z", "Z", "-", "a")])


@st.composite
def corpora(draw):
    """Entries of several kinds, with copies that share kind and description under other names and texts."""
    names = draw(st.lists(ids, min_size=1, max_size=14, unique=True))
    descriptions = draw(st.lists(texts, min_size=1, max_size=6))
    return [
        {
            "id": name,
            "kind": draw(st.sampled_from(KINDS)),
            "name": draw(st.sampled_from(WORDS)),
            "description": draw(st.sampled_from(descriptions)),
            "runtime": "a",
        }
        | draw(st.just({}) | st.fixed_dictionaries({"whenToUse": texts}))
        for name in names
    ]


def rank(entries, asked, depth, **options):
    retriever = Retriever(sst.to_corpus(entries), **options)
    return retriever.rank(pl.Series("prompt", asked, dtype=pl.String), depth)


def pairs(shortlists):
    return [
        list(zip(ids, scores, strict=True))
        for ids, scores in shortlists.with_columns(pl.col("shortlist").cast(pl.List(pl.String))).rows()
    ]


@given(corpora(), prompts, quotas, st.booleans())
def test_a_shortlist_is_the_oracle_s(entries, asked, wanted, when_to_use):
    found = pairs(rank(entries, asked, wanted, when_to_use=when_to_use).cut(wanted))
    assert found == oracle_shortlists(entries, asked, wanted.by_group, when_to_use=when_to_use)


@given(corpora(), prompts, quotas, quotas)
def test_a_cut_of_a_deeper_ranking_is_a_ranking_at_that_depth(entries, asked, wanted, more):
    depth = Quotas(*(a + b for a, b in zip(wanted.by_group.values(), more.by_group.values(), strict=True)))
    assert rank(entries, asked, depth).cut(wanted).equals(rank(entries, asked, wanted).cut(wanted))


@given(corpora(), prompts, quotas, st.integers(1, 40), st.integers(1, 8), st.integers(1, 4))
def test_scores_do_not_depend_on_the_batch(entries, asked, wanted, cells, postings, at_once):
    whole = rank(entries, asked, wanted).cut(wanted)
    alone = [rank(entries, [prompt], wanted).cut(wanted) for prompt in asked]
    assert pl.concat([whole.clear(), *alone]).equals(whole)
    assert rank(entries, asked[::-1], wanted).cut(wanted).equals(whole.reverse())
    with (
        mock.patch.object(index_module, "_CELLS", cells),
        mock.patch.object(index_module, "_POSTINGS", postings),
        mock.patch.object(ranking_module, "_PROMPTS", at_once),
    ):
        pieced = rank(entries, asked, wanted)
    assert pieced.frame.equals(rank(entries, asked, wanted).frame)
    assert pieced.cut(wanted).equals(whole)


@given(corpora(), prompts, quotas, st.integers(1, 3))
def test_segments_of_columns_change_nothing(entries, asked, wanted, width):
    """Large groups share a maximum among columns when the threshold is sought; small ones must too."""
    whole = rank(entries, asked, wanted).cut(wanted)

    def segments(index, _quota):
        first = [0, *(start for start in index.starts.tolist() if start)]
        return index.starts[[place for place in range(len(first)) if place % width == 0]]

    with mock.patch.object(index_module.Index, "_segments", segments):
        assert rank(entries, asked, wanted).cut(wanted).equals(whole)


@given(corpora(), prompts, quotas, st.randoms(use_true_random=False))
def test_the_order_of_the_corpus_does_not_matter(entries, asked, wanted, random):
    shuffled = random.sample(entries, len(entries))
    assert pairs(rank(shuffled, asked, wanted).cut(wanted)) == pairs(rank(entries, asked, wanted).cut(wanted))


@given(corpora(), prompts, quotas)
def test_a_ranking_is_in_order_and_numbers_every_group(entries, asked, wanted):
    ranking = rank(entries, asked, wanted)
    frame = ranking.frame
    codes = pl.Series("id", [entry["id"] for entry in entries])
    named = frame.with_columns(id=pl.lit(codes).gather(pl.col("code")))
    assert named.sort("prompt", -pl.col("score"), "id").equals(named)
    places = frame.sort("prompt", "group", "place").group_by("prompt", "group").agg("place", "score")
    assert all(place.to_list() == list(range(1, len(place) + 1)) for place in places["place"])
    assert all(score.is_sorted(descending=True) for score in places["score"])
    assert frame["prompt"].n_unique() == (ranking.prompts if frame.height else 0)


letters = "aAbZ09éÉđĐếẾ \t\n.-_/'ªßΣσςİıǅ中あ̣́٣²Ⅳ"
some_text = st.text(letters, max_size=12) | st.lists(st.sampled_from(WORDS), max_size=4).map("".join)
suffixes = st.sampled_from(["", ".md", ".MD", ".yaml", ".yml ", ".txt.json", ".markdown", ".mdx", ".toml\n"])


@given(st.lists(st.builds(str.__add__, some_text, suffixes)))
def test_tokens_are_the_oracle_s(given_texts):
    found = tokens(pl.Series("text", given_texts, dtype=pl.String))
    expected = [(row, token) for row, text in enumerate(given_texts) for token in oracle_tokens(text)]
    assert found.rows() == expected


@given(texts)
def test_how_an_accent_is_typed_does_not_matter(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    found = tokens(pl.Series([composed, decomposed])).partition_by("text", include_key=False, as_dict=True)
    assert len({tuple(frame["token"]) for frame in found.values()}) <= 1


@pytest.mark.parametrize("count", [300, 1_000])
def test_large_groups_are_cut_as_small_ones(count):
    """Over many entries, most of them without a shared word, with copies across segment borders."""
    entries = [
        {
            "id": f"id-{number * 7 % count:04d}",
            "kind": KINDS[number % 5],
            "name": f"{WORDS[number % 7]} {WORDS[number % 3]}",
            "description": "" if number % 11 == 0 else f"w{number // 3}",
            "runtime": "a",
        }
        for number in range(count)
    ]
    asked = ["plan deploy", "thiết kế", "w17 w30 plan", "", "nothing of it"]
    wanted = Quotas(3, 2, 1, 2)
    with mock.patch.object(index_module, "_WIDTH", 3):
        found = pairs(rank(entries, asked, wanted).cut(wanted))
    assert found == oracle_shortlists(entries, asked, wanted.by_group)
