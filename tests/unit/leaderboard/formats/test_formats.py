from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift.leaderboard.board import ENTRY_COLUMNS, SLOT_COLUMNS, read_board
from skillshift.leaderboard.formats import BINARY, DEFAULT, FORMATS, render
from skillshift.metrics import FLAG


@pytest.fixture
def board(board_folder, document, few_calls, hostile):
    """Every kind of cell, in both rankings, with a stranger's text."""
    return read_board(
        board_folder(
            a=document("A", SR=50.0, AS=None),
            b=document(
                "B", SR=49.0, ASC=None, SFR=None, reasons=dict.fromkeys(("ASC", "SFR"), "Not applicable")
            ),
            c=document("C", SR=None),
            d=document(hostile.replace("/", "").replace("\\", ""), model=hostile, SR=48.0, reasons={}),
            few=few_calls[0].decode(),
            m=document("M", model="mixed (A / B)"),
        ),
        metrics=["SR", "SFR"],
    )


def text(board, fmt):
    return render(board, fmt).decode()


def test_the_formats_are_the_files_beside_them():
    assert FORMATS == ("csv", "html", "json", "latex", "markdown", "parquet", "table")
    assert DEFAULT in FORMATS
    assert set(BINARY) < set(FORMATS)


@pytest.mark.parametrize("fmt", FORMATS)
def test_the_same_board_gives_the_same_bytes(board, fmt):
    assert render(board, fmt) == render(board, fmt)


def test_parquet_is_the_table(board):
    content = render(board, "parquet")
    found = pl.read_parquet(io.BytesIO(content))
    assert_frame_equal(found, board.table)
    assert found.select("file", "metric", "slot").is_unique().all()
    metadata = pl.read_parquet_metadata(io.BytesIO(content))
    assert metadata["sort"] == "SR"
    assert json.loads(metadata["notes"]) == list(board.notes)


def test_csv_is_the_table(board):
    found = pl.read_csv(render(board, "csv"), schema=board.table.schema)
    # CSV writes an empty text as "", and a null as nothing.
    assert_frame_equal(found, board.table)


def test_json_is_the_table(board):
    found = json.loads(render(board, "json"))
    rows = [{**entry, **slot} for entry in found["entries"] for slot in entry["slots"]]
    wanted = board.table.with_columns(pl.col("date").cast(pl.String))
    assert_frame_equal(pl.DataFrame(rows, schema=wanted.schema, strict=True), wanted)
    assert (found["sort"], found["better"], found["notes"]) == ("SR", "higher", list(board.notes))
    assert set(found["entries"][0]) == {*ENTRY_COLUMNS, "slots"}
    assert set(found["entries"][0]["slots"][0]) == set(SLOT_COLUMNS)


def test_the_terminal_gets_every_number_on_one_line_an_entry(board):
    lines = text(board, "table").split("\n")
    (row,) = [line for line in lines if re.match(r"1\b.*\bA  ", line)]
    assert row.count(f"{FLAG} (count not reported)") == 10
    assert sum("undefined" in line for line in lines) >= 1
    assert "* Blank: not measured or not reported." in lines


def test_markdown_tables_are_whole(board):
    made = text(board, "markdown")
    tables = [block.split("\n") for block in made.split("\n\n") if block.startswith("|")]
    assert [len(table) for table in tables] == [7, 3]
    cells = [[len(re.split(r"(?<!\\)\|", line)) for line in table] for table in tables]
    assert {width for table in cells for width in table} == {7 + 20 + 2}
    assert "<b>" not in made.replace("\\<b>", "")


class Page(HTMLParser):
    """What a browser makes of a page: elements, texts by element, attributes."""

    VOID = ("meta", "br")

    def __init__(self, page):
        super().__init__()
        self.open, self.found, self.texts = [], [], []
        self.feed(page)
        assert not self.open, "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def test_html_stands_alone(board):
    page = Page(text(board, "html"))
    assert not {"script", "link", "img", "iframe", "object", "a"} & {tag for tag, _ in page.found}
    assert not any(
        name.startswith("on") or name in ("src", "href") for _, attrs in page.found for name in attrs
    )
    assert "url(" not in text(board, "html")
    assert page.all("html") == [{"lang": "en"}]
    assert page.all("meta")[0] == {"charset": "utf-8"}


def test_html_tables_say_what_their_cells_are(board):
    page = Page(text(board, "html"))
    assert len(page.all("caption")) == len(page.all("table")) == 2
    heads = page.all("th")
    assert {head["scope"] for head in heads} == {"col", "row"}
    assert sum(head["scope"] == "row" for head in heads) == 6
    assert all(head["abbr"] and head["title"] for head in heads if head["scope"] == "col")
    regions = [attrs for attrs in page.all("div") if attrs.get("role") == "region"]
    captions = {attrs["id"] for attrs in page.all("caption")}
    assert {attrs["aria-labelledby"] for attrs in regions} == captions
    assert all(attrs["tabindex"] == "0" for attrs in regions)


def test_html_counts_are_reached_by_pointer_and_keyboard(board):
    page = Page(text(board, "html"))
    titles = [attrs["title"] for attrs in page.all("summary")]
    flagged = board.table.filter(pl.col("flagged"))
    assert sum("fewer than 30" in title for title in titles) == flagged.height
    known = flagged["skill_calls"].drop_nulls().to_list()
    assert known
    for calls in known:
        assert any(title.startswith(f"on {calls} skill call") for title in titles)
    # What the pointer sees as a title, the opened disclosure and a screen reader say too.
    opened = [data for path, data in page.texts if path[-2:] == ("details", "p")]
    read = [data.strip() for path, data in page.texts if path[-2:] == ("summary", "span") and data != FLAG]
    assert opened == titles
    assert read == titles


def test_html_keeps_the_kinds_of_null_apart(board):
    page = Page(text(board, "html"))
    shown = [data for path, data in page.texts if path[-1:] == ("summary",)]
    assert shown.count("--") == 10
    assert shown.count("undefined") == board.table.filter(status="undefined").height > 0
    blank = [data for path, data in page.texts if path[-2:] == ("td", "span")]
    assert blank.count("not measured or not reported") == board.table.filter(status="not-measured").height > 0


def test_html_shows_markup_as_text(board, hostile):
    page = Page(text(board, "html"))
    assert any(data == hostile for path, data in page.texts if path[-1:] == ("td",))
    assert {tag for tag, _ in page.found} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "div", "p", "ul", "li", "b"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "span"),
    }
    assert len(page.all("b")) == len([path for path, _ in page.texts if path[-2:] == ("li", "b")])


def test_latex_rows_have_their_columns(board):
    made = text(board, "latex")
    assert made.isascii()
    tables = re.findall(r"\\begin\{tabular\}\{(.*)\}\n((?:.*\n)*?)\\end\{tabular\}", made)
    assert len(tables) == 2
    for layout, body in tables:
        columns = re.sub(r"\{[^}]*\}", "", layout)
        rows = [line for line in body.split("\n") if line.endswith(r"\\")]
        assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {len(columns)}
    for rule in ("toprule", "midrule", "bottomrule"):
        assert made.count(f"\\{rule}") == 2
    assert "(n/r)" in made
    assert r"\par n/r: count not reported." in made


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_latex_compiles_with_booktabs(board, tmp_path):
    (tmp_path / "board.tex").write_bytes(render(board, "latex"))
    (tmp_path / "page.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{board.tex}\end{document}"
    )
    done = subprocess.run(
        [shutil.which("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").is_file()
