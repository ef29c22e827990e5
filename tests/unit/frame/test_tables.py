from __future__ import annotations

import polars as pl
import pytest

from skillshift.frame.tables import Section, draw, escape, markdown_table, one_line

FRAME = pl.DataFrame({"run": ["a", "a", "b"], "name": ["x", "y", "z"], "value": ["1.0", "12.5", ""]})


def test_numbers_stand_to_the_right_and_owners_are_parted():
    text = draw([Section("Title", FRAME, "name", ("run",))], ["a note"])
    assert text.splitlines() == [
        "Title",
        "┏━━━━━┳━━━━━━┳━━━━━━━┓",
        "┃ run ┃ name ┃ value ┃",
        "┡━━━━━╇━━━━━━╇━━━━━━━┩",
        "│ a   │ x    │   1.0 │",
        "│ a   │ y    │  12.5 │",
        "├─────┼──────┼───────┤",
        "│ b   │ z    │       │",
        "└─────┴──────┴───────┘",
        "",
        "* a note",
    ]


@pytest.mark.parametrize("owners", [(), ("name",)])
def test_no_line_is_drawn_where_it_would_part_nothing_or_everything(owners):
    assert "├" not in draw([Section("Title", FRAME, "name", owners)], [])


def test_a_wide_table_is_not_cut():
    wide = pl.DataFrame({"text": ["x" * 300], "number": ["12345"]})
    text = draw([Section("Title", wide, "text")], [])
    assert "x" * 300 in text
    assert "12345" in text


def test_without_tables_the_notes_stand_alone():
    assert draw([], ["a [bold]note[/bold]"]) == "* a [bold]note[/bold]\n"


def test_markup_in_a_table_is_text():
    text = draw([Section("[red]t[/red]", pl.DataFrame({"[b]": ["[red]x[/red]"]}), "[b]")], [])
    assert "[red]t[/red]" in text
    assert "[b]" in text
    assert "[red]x[/red]" in text


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    section = Section("Title", FRAME, "name")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in draw([section], [])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in draw([section], [])


def test_a_markdown_table():
    assert markdown_table(Section("Title", FRAME.head(1), "name")).splitlines() == [
        "| run | name | value |",
        "| --- | --- | ---: |",
        "| a | x | 1.0 |",
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("<script>", "&lt;script>"),
        ("[x](http://y)", "[x\\](http://y)"),
        ("![x](y)", "![x\\](y)"),
        ("a\nb\u2028c", "a b c"),
        ("snake_case and _emphasis_", "snake_case and \\_emphasis\\_"),
    ],
)
def test_text_in_markdown_is_no_markup(text, escaped):
    assert escape(text) == escaped


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("a\n\tb  c", None, "a b c"),
        ("\x1b[31mred", None, "\\x1b[31mred"),
        ("a\u202eb", None, "a\\u202eb"),
        ("chào bạn 👩‍💻", None, "chào bạn 👩‍💻"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
    ],
)
def test_somebody_s_text_becomes_one_harmless_line(text, width, line):
    assert one_line(text, width) == line


def test_a_name_cannot_steer_the_terminal():
    hostile = "\x1b]0;gone\x07\x1b[2J"
    text = draw([Section(hostile, pl.DataFrame({hostile: [hostile]}), hostile)], [hostile])
    assert "\x1b" not in text
    assert "\x07" not in text
