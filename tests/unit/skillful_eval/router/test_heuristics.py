"""Which prompts are passed over by their form."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest

from skillful_eval.router.heuristics import HEURISTICS, heuristic
from skillful_eval.router.social import BESIDE, TURNS


def why(text):
    return heuristic(pl.Series([text], dtype=pl.String)).item()


COMMANDS = [
    "/clear",
    "/review the diff of the last commit",
    "  \n/ak:plan fast",
    "/fix-it now, please!",
    "/x",
]
PATHS = [
    "/etc/hosts is broken again",
    "/usr/bin/python fails to start",
    "/etc is a mess, tidy it up",
    "/Users is full, free some space",
    "/README.md has a typo somewhere",
    "/regex/ does not match newlines",
    "/ this is only a slash, not a command",
    "/123 is no command either",
    "//comment this function out",
    "/* explain this comment */",
    "read /etc/hosts and explain it",
]


@pytest.mark.parametrize("text", COMMANDS)
def test_slash_commands(text):
    assert why(text) == "slash-command"


@pytest.mark.parametrize("text", PATHS)
def test_paths_are_no_commands(text):
    assert why(text) is None


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("fix the bug", True),
        ("fix the bugs", False),
        ("   fix the bug \n\t", True),
        ("\u200b\ufefffix the bug\u200b", True),
        ("", True),
        (" ", True),
        ("e\u0301" * 11, True),
        ("e\u0301" * 12, False),
        ("\u1ebf" * 11, True),
        ("e\u0302\u0301" * 12, False),
    ],
)
def test_short_prompts_are_counted_in_nfc(text, short):
    assert why(text) == ("short-prompt" if short else None)


SOCIAL = [
    "looks good to me",
    "Looks good to me!!! \U0001f44d\U0001f3fd",
    "LGTM, thank you so much",
    "thanks, looks good to me!",
    "Hello there, everyone",
    "good morning, team \u2600\ufe0f",
    "That\u2019s great, let's continue",
    "please go ahead and do it",
    "great, carry on",
    "perfect, that works",
    "ok   \n  go   ahead...",
    "\uff54\uff48\uff41\uff4e\uff4b\uff53 \uff53\uff4f \uff4d\uff55\uff43\uff48",
    "thanksssss so muchhh",
    "thank you so much :D <3 xD",
    "cảm ơn bạn rất nhiều",
    "CẢM ƠN BẠN RẤT NHIỀU Ạ",
    "cam on ban rat nhieu",
    "được rồi, tiếp tục đi",
    "xin chào các bạn nhé",
    "tuyệt vời, cứ làm tiếp đi",
    "\U0001f389" * 12,
    "..............",
]
TASKS = [
    "thanks, now fix the login bug",
    "thank you so much for the help",
    "looks good to me but the tests fail",
    "go ahead with the migration",
    "continue the refactoring of the parser",
    "hello world program in rust",
    "ok now write the tests",
    "next page does not load",
    "is this good to merge?",
    "cảm ơn, sửa lỗi đăng nhập giúp tôi",
    "tiếp tục sửa lỗi đăng nhập",
    "please and so everyone",
    "修复登录页面的错误并部署到生产",
    "123456789012",
]


@pytest.mark.parametrize("text", SOCIAL)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_social_turns(text, form):
    assert why(unicodedata.normalize(form, text)) == "social-turn"


@pytest.mark.parametrize("text", TASKS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_goes_on(text, form):
    assert why(unicodedata.normalize(form, text)) is None


def test_every_phrase_is_a_turn_and_none_beside_them_is():
    turns = heuristic(pl.Series([f"{phrase}, {phrase}, okay okay" for phrase in TURNS]))
    assert set(turns) == {"social-turn"}
    beside = heuristic(pl.Series([" ".join([phrase] * 12) for phrase in BESIDE if phrase not in TURNS]))
    assert set(beside) == {None}


@pytest.mark.parametrize("word", ["fix", "deploy", "parser", "sửa", "x9"])
def test_one_other_word_makes_it_a_task(word):
    texts = [f"{text} {word}" for text in SOCIAL] + [f"{word} {text}" for text in SOCIAL]
    assert set(heuristic(pl.Series(texts))) == {None}


def test_one_answer_a_prompt_in_order():
    prompts = pl.Series("prompt", ["ok", None, "/go", "write the tests for the parser"])
    result = heuristic(prompts)
    assert result.to_list() == ["short-prompt", None, "slash-command", None]
    assert (result.name, result.dtype) == ("prompt", pl.String)
    assert set(result.drop_nulls()) <= set(HEURISTICS)
    assert heuristic(prompts.clear()).to_list() == []
