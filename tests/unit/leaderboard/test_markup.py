from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillshift.leaderboard.markup import latex, markdown, markdown_code, markdown_table
from skillshift.metrics import FLAG

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PRINTABLE = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" "), max_size=40
)
HARD = st.lists(
    st.sampled_from([*"\\`*_[]<>|~&$@#:!()-+=1.a ", "www.", "http://", "&lt;", "<!--"]), max_size=20
).map("".join)


def plain(source):
    """What a reader sees of Markdown: text and code; anything else that it became is told by its name."""
    seen = []
    for token in READER.parse(source):
        for inner in token.children or ():
            if inner.type in ("text", "code_inline"):
                seen.append(inner.content)
            elif not (inner.type == "html_inline" and inner.content == "<!-- -->"):
                seen.append(f"{{{inner.type}}}")
    return "".join(seen)


@pytest.mark.parametrize(
    "text",
    [
        "*a*",
        "**a**",
        " _a_ ",
        "`a`",
        "~~a~~",
        "[a](b)",
        "![a](b)",
        "<b>a</b>",
        "&lt;",
        "a|b",
        r"\*",
        "$a$",
        "[a]: b",
    ],
)
def test_markup_is_shown_as_it_is(text):
    assert plain(markdown(text)) == text.strip()
    assert plain(markdown_table(["a"], [[markdown(text)]], [False])) == f"a{text.strip()}"


@given(PRINTABLE | HARD)
def test_markdown_shows_text_as_it_is(text):
    shown = f"x{text}x"
    assert plain(markdown(shown)) == shown


@given(PRINTABLE | HARD)
def test_a_table_keeps_its_columns_whatever_is_in_its_cells(text):
    made = markdown_table(["a", "b"], [[markdown(f"x{text}x"), "1"]], [False, True])
    assert plain(made) == f"abx{text}x1"
    assert READER.render(made).count("<td") == 2


@given(PRINTABLE | HARD)
def test_code_shows_text_as_it_is(text):
    assert plain(f"- {markdown_code(f'x{text}x')}") == f"x{text}x"


@pytest.mark.parametrize("text", ["`", "``a", " a ", "a`"])
def test_code_keeps_ticks_and_blanks_at_its_ends(text):
    assert plain(markdown_code(text)) == text


def test_no_mention_issue_or_address_is_left_whole():
    source = markdown("@all user@host #12 http://x www.evil.com :tada:")
    assert not re.search(r"@\w|#\w|http://|www\.|(?<!\\):tada:", source)


def test_one_line_stays_one_line():
    assert "\n" not in markdown("a\n- b") + markdown_code("a\n- b")


def test_latex_by_hand():
    assert latex(r"a_b & 5% {c} $d$ #1 ~ ^ \x") == (
        r"a\_b \& 5\% \{c\} \$d\$ \#1 \textasciitilde{} \textasciicircum{} \textbackslash{}x"
    )
    assert latex('[*] <a> |"`') == r"{[}{*}{]} \textless{}a\textgreater{} \textbar{}''{\char96}"
    assert latex("-- --- ----") == "-{}- -{}-{}- -{}-{}-{}-"
    assert latex(f"0.32 {FLAG} (12)") == r"0.32 \skillshiftflag{} (12)"
    assert (
        latex("\u00e9\u0161\u00e7\u00d8\u6539\n")
        == r"\'{e}\v{s}\c{c}\skillshiftchar{00D8}\skillshiftchar{6539} "
    )


@given(st.text(max_size=40))
def test_latex_leaves_nothing_that_is_not_ascii_or_special(text):
    made = latex(text)
    assert made.isascii()
    assert made.isprintable()
    rest = re.sub(r"\\[a-zA-Z]+|\\[&%$#_{}'`^~=.\"]", "", made)
    assert not set("\\&%$#_^~") & set(rest)
    assert "--" not in made
    assert rest.count("{") == rest.count("}")
