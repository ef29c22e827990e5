"""The formats of a report: the same content as a table, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from rich.cells import cell_len

from skillshift.frame.writing import SCHEMA_VERSION
from skillshift.metrics import FLAG
from skillshift.report.build import build_report
from skillshift.report.formats import FORMATS, markdown, render, table


@pytest.fixture
def report(grid, frame):
    """A function that makes the report of records."""
    return lambda records, **options: build_report(frame(records), **{"grid": grid, **options}).report


@pytest.fixture
def mixed(report, complete):
    """Three runs: one whole, one on few calls, one incomplete without skills."""
    records = complete(run="a") + complete(run="b", calls=4) + complete(run="c", calls=None)[1:]
    return report(records)


def test_every_module_is_a_format():
    assert FORMATS == ("csv", "json", "markdown", "table")


def test_the_command_line_offers_every_format():
    from skillshift import cli

    assert tuple(fmt.value for fmt in cli.Format) == FORMATS
    assert cli.DEFAULT in FORMATS


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_ends_its_last_line_and_says_the_same_twice(mixed, fmt):
    text = render(mixed, fmt)
    assert text.endswith("\n")
    assert text == render(mixed, fmt)


# -- for readers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["markdown", "table"])
def test_readers_see_values_flags_dashes_bounds_and_notes(mixed, fmt):
    text = render(mixed, fmt)
    for shown in ("33.33", f"25.00 {FLAG} (24)", "--", "[16.67, 33.33]", "incomplete", "3 of 4"):
        assert shown in text
    for note in mixed.notes:
        assert re.sub(r"\s+", " ", note) in re.sub(r"\s+", " ", text.replace("\\", ""))


def test_a_table_is_whole_however_narrow_the_window(mixed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    narrow = render(mixed, "table")
    monkeypatch.delenv("COLUMNS")
    assert narrow == render(mixed, "table")
    assert "\u2026" not in narrow
    assert "\x1b" not in narrow
    assert not any(line != line.rstrip() for line in narrow.split("\n"))


def test_the_columns_of_a_table_stand_under_each_other(mixed):
    lines = render(mixed, "table").split("\n")
    body = [line for line in lines if line.startswith(("\u2502", "\u2503"))]
    first = [line for line in body if cell_len(line) == cell_len(body[0])]
    edges = {
        tuple(i for i, mark in enumerate(line) if mark in "\u2502\u2503")
        for line in first
        if FLAG not in line
    }
    assert len(first) == 1 + 3 * 4
    assert len(edges) == 1


def test_a_line_parts_runs_of_several_rows(mixed, report, complete):
    diagnostics, coverage = render(mixed, "table").split("Coverage")
    assert diagnostics.count("\u251c") == 2
    assert coverage.count("\u251c") == 0
    assert render(report(complete()), "table").count("\u251c") == 0


def test_names_stand_to_the_left_and_numbers_to_the_right(mixed):
    lines = render(mixed, "table").split("\n")
    names, first = (
        [cell.strip("\u2503\u2502") for cell in re.split("[\u2503\u2502]", line)[1:-1]]
        for line in (lines[2], lines[4])
    )
    assert [name.strip() for name in names] == ["run", "metric", "big", "small", "near", "far", "overall"]
    assert names[1] == " metric "
    assert first[:2] == [" a   ", " SR     "]
    assert all(cell.endswith(" ") and not cell.endswith("  ") for cell in (*names[2:], *first[2:]))
    assert all(cell.startswith("  ") for cell in first[2:])


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_colour_is_for_terminals_that_want_it(mixed, monkeypatch, *, terminal, no_color, coloured):
    monkeypatch.setattr("sys.stdout", Screen(terminal=terminal))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    text = table.render(mixed)
    assert ("\x1b[" in text) is coloured


class Screen(io.StringIO):
    """A standard output that is a terminal or is not."""

    def __init__(self, *, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_names_are_shown_as_they_are(report, complete):
    records = complete(run="[bold]a[/bold] :smile:") + complete(run="x | y\n<b>*z* _w_ `q` & R&D](u)")
    drawn = render(report(records), "table")
    assert "[bold]a[/bold] :smile:" in drawn
    marked = render(report(records), "markdown")
    assert "x \\| y &lt;b>\\*z\\* \\_w\\_ \\`q\\` &amp; R&amp;D\\](u)" in marked
    rows = [line for line in marked.split("\n") if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {1 + 7, 1 + 7}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("demo_few_calls", "demo_few_calls"),
        ("a\r\nb\u2028c", "a b c"),
        ("[30.10, 45.00]", "[30.10, 45.00]"),
        ("~~x~~", "\\~\\~x\\~\\~"),
        ("a\\|b", "a\\\\\\|b"),
        ("__x__", "\\_\\_x\\_\\_"),
    ],
)
def test_what_markdown_would_take_for_its_own_is_escaped(text, shown):
    assert markdown.escape(text) == shown


def test_markdown_has_a_heading_a_section_and_a_bullet_a_note(mixed):
    text = render(mixed, "markdown")
    assert re.findall(r"^#+ .*", text, re.MULTILINE) == [
        "# SkillShift report",
        "## Diagnostics",
        "## Coverage",
        "## Incomplete cells",
        "## Notes",
    ]
    assert len(re.findall(r"^- ", text, re.MULTILINE)) == len(mixed.notes)
    head, rule = text.split("\n")[4:6]
    assert head.count("|") == rule.count("|")
    assert rule.split("|")[1:4] == [" --- ", " --- ", " ---: "]


# -- for programs ----------------------------------------------------------------------------------------


def test_csv_is_tidy_with_full_precision_and_empty_nulls(mixed):
    rows = list(csv.DictReader(io.StringIO(render(mixed, "csv"))))
    assert list(rows[0]) == mixed.numbers.columns
    assert len(rows) == mixed.numbers.height
    for row, expected in zip(rows, mixed.numbers.to_dicts(), strict=True):
        assert row["value"] == ("" if expected["value"] is None else repr(expected["value"]))
        assert row["reason"] == (expected["reason"] or "")


def test_json_is_the_whole_report_with_sorted_keys(mixed):
    document = json.loads(render(mixed, "json"))
    assert sorted(document) == [
        "cells",
        "coverage",
        "duplicates_left_out",
        "grid",
        "identity",
        "marginals",
        "notes",
        "package_version",
        "records",
        "records_refused",
        "run_keys",
        "schema_version",
    ]
    assert document["schema_version"] == SCHEMA_VERSION
    assert document["cells"] == mixed.cells.to_dicts()
    assert document["marginals"] == mixed.numbers.to_dicts()
    assert document["identity"] == mixed.verdicts.to_dicts()
    assert document["coverage"] == mixed.coverage.to_dicts()
    assert document["run_keys"] == ["run"]
    assert document["records"] == 29
    assert render(mixed, "json") == json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def test_json_takes_keys_of_any_type_that_a_run_key_may_have(report, complete):
    records = [r | {"seed": 7, "hot": True, "temperature": 0.5} for r in complete()]
    document = json.loads(render(report(records, by=["seed", "hot", "temperature"]), "json"))
    assert {key: document["cells"][0][key] for key in document["run_keys"]} == {
        "seed": 7,
        "hot": True,
        "temperature": 0.5,
    }
