"""Other ways to read a text, and where in the original what they show stands."""

from __future__ import annotations

import pytest

from skillful_eval.sanitise.views import MARK, fold, is_unspaced, joined, parted, views


def texts(text):
    return [view.text for view in views(text)]


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("%61cme", "acme"),
        ("%2561cme", "acme"),
        ("%252561cme", "acme"),
        ("\\u0061cme", "acme"),
        ("\\u{61}cme", "acme"),
        ("\\x61cme", "acme"),
        ("\\ud83d\\ude00", "\N{GRINNING FACE}"),
        ("&#97;cme", "acme"),
        ("&#x61;cme", "acme"),
        ("a&amp;#99;me", "acme"),
        ("x&commat;y", "x@y"),
        ("\\/home\\/x", "/home/x"),
        ("\uff41\uff43\uff4d\uff45", "acme"),
        ("ac\u200bme", "acme"),
        ("ac\u00adme", "acme"),
        ("ac\u2060\ufeffme", "acme"),
        ("ac\ufe0fme", "acme"),
        ("ac\u034fme", "acme"),
        ("ac\U000e0041me", "acme"),
        ("ac\x08me", "acme"),
        ("a\u3002b", "a.b"),
        ("ac**me**", "acme"),
        ("`ac`me", "acme"),
        ("ac<b>me</b>", "acme"),
        ("ac<!-- -->me", "acme"),
        ("ac~~~~me", "acme"),
        ("jane\\@x", "jane@x"),
        ("10[.]0", "10.0"),
        ("%E9", "\u00e9"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_a_view_shows_what_is_hidden(hidden, shown):
    assert shown in texts(hidden)


def test_a_plain_text_has_one_view_and_no_two_read_the_same():
    assert texts("Plans a run, then (perhaps) stops.") == ["Plans a run, then (perhaps) stops."]
    assert len(texts("**%61**")) == len(set(texts("**%61**")))


def test_a_mark_reads_as_a_line_end_and_text_keeps_its_own():
    assert texts(f"a{MARK}b\nc") == ["a\nb\nc"]


@pytest.mark.parametrize(
    ("text", "shown", "part"),
    [
        ("go to %68ttps now", "https", "%68ttps"),
        ("go to ht\u200btps now", "https", "ht\u200btps"),
        ("go to **ht**tps now", "https", "ht**tps"),
        ("go to %2568ttps now", "https", "%2568ttps"),
        ("\u1e9e x ACME", "acme", "ACME"),
        ("x \u0130ACME", "acme", "ACME"),
        ("x e\u0301\u00c9acme", "acme", "acme"),
    ],
)
def test_what_is_found_in_a_view_is_located_in_the_original(text, shown, part):
    found = [
        text[view.starts[at] : view.ends[at + len(shown) - 1]]
        for base in views(text)
        for view in (base, base.folded)
        if (at := view.text.find(shown)) >= 0
    ]
    assert part in found


def test_folding_leaves_out_what_nobody_takes_notice_of():
    assert fold("\u00c9clair\u200b \uff21\u017f\u00df") == "eclair asss"


def test_words_may_be_joined_and_parted():
    assert joined("My o-r_c.a and HTTPOrca2") == "My orca and HTTPOrca2"
    assert parted("My o-r_c.a and HTTPOrca2") == "My o-r_c.a and HTTP Orca2"
    assert [is_unspaced(char) for char in "a\u00e9\u79d8\u306e\uac00\u0e01"] == [False, False, *[True] * 4]


@pytest.mark.parametrize("piece", ["<!--", "<a", "%25", "[", "\\", "&amp;", "e\u0301", "*"])
def test_a_long_text_costs_no_more_than_its_length(piece):
    import time

    started = time.process_time()
    assert views(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 4
