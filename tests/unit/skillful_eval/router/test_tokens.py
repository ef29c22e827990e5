from __future__ import annotations

import unicodedata

import polars as pl
import pytest

from skillful_eval.router.tokens import STOP_WORDS, tokens, words


def of(text):
    return tokens(pl.Series("text", [text], dtype=pl.String))["token"].to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("README.md", ["readme"]),
        ("a plan.MARKDOWN", ["plan"]),
        ("pyproject.toml", ["pyproject"]),
        ("x.json", ["x"]),
        ("x.yaml", ["x"]),
        ("x.yml", ["x"]),
        ("x.txt", ["x"]),
        ("notes.md \n", ["notes"]),
        ("notes.txt.md", ["notes", "txt"]),
        ("notes.md and more", ["notes", "md", "more"]),
        ("notes.mdx", ["notes", "mdx"]),
        ("md", ["md"]),
        ("xmd", ["xmd"]),
    ],
)
def test_one_trailing_suffix_is_dropped(text, expected):
    assert of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("claudeFable", ["claude", "fable"]),
        ("aBcD", ["bc", "d"]),
        ("v2Beta", ["v2", "beta"]),
        ("đặtHàng", ["đặt", "hàng"]),
        ("HTTPServer", ["http", "server"]),
        ("getHTTPSPort", ["get", "https", "port"]),
        ("HTTP", ["http"]),
        ("HTTPs", ["htt", "ps"]),
        ("ABc", ["bc"]),
        ("Plan", ["plan"]),
        ("iPhone15Pro", ["i", "phone15", "pro"]),
        ("MP3Player", ["mp3", "player"]),
        ("B2B", ["b2", "b"]),
    ],
)
def test_capitals_part_words(text, expected):
    assert of(text) == [token for token in expected if token not in STOP_WORDS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ops:undo/roll-back_now", ["ops", "undo", "roll", "back", "now"]),
        ("don't", ["don", "t"]),
        ("Straße, 中文、٣ Ⅳ²", ["straße", "中文", "٣", "ⅳ²"]),
        ("naïve café", ["naïve", "café"]),
        ("x́", ["x"]),
        ("🙂 ok", ["ok"]),
        ("", []),
        ("?!… ", []),
    ],
)
def test_whatever_is_neither_letter_nor_number_parts_words(text, expected):
    assert of(text) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_vietnamese_is_composed_before_it_is_split(form):
    text = unicodedata.normalize(form, "Thiết kế giao diện ĐẶT hàng")
    assert of(text) == ["thiết", "kế", "giao", "diện", "đặt", "hàng"]


def test_stop_words_are_dropped_and_what_is_left_keeps_order_and_number():
    assert of("What is the plan of your plan for THE team") == ["plan", "plan", "team"]
    assert of(" ".join(sorted(STOP_WORDS))) == []
    assert len(STOP_WORDS) == 61


def test_tokens_say_which_text_they_are_of():
    found = tokens(pl.Series("anything", ["plan it", None, "the", "deploy plan"]))
    assert found.rows() == [(0, "plan"), (3, "deploy"), (3, "plan")]
    assert found.schema == {"text": pl.UInt32, "token": pl.String}
    assert tokens(pl.Series([], dtype=pl.String)).schema == found.schema


def test_words_keep_stop_words_and_nulls():
    found = pl.select(words(pl.Series(["the Plan", None, ""]))).to_series()
    assert found.to_list() == [["the", "plan"], None, []]
