"""What ``skillshift table1`` shows."""

from __future__ import annotations

import csv
import io
import json

import pytest

from skillshift import datasets
from skillshift.report.formats import FORMATS
from skillshift.report.printed import table1_report
from skillshift.report.table1 import render_table1


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_row_keeps_the_identity_and_every_printed_number_is_shown(fmt):
    text, holds = render_table1(fmt)
    assert holds
    assert text.endswith("\n")
    assert text.count("holds") >= 14
    for row in datasets.table1().rows():
        assert all(number in text for number in row)


def test_programs_get_the_rows_as_they_are():
    rows = table1_report()
    assert json.loads(render_table1("json")[0]) == rows.to_dicts()
    read = list(csv.DictReader(io.StringIO(render_table1("csv")[0])))
    assert [row["overall"] for row in read] == rows["overall"].to_list()
    assert list(read[0]) == rows.columns


@pytest.mark.parametrize("fmt", ["markdown", "table"])
def test_readers_get_what_the_check_cannot_see(fmt):
    text, _ = render_table1(fmt)
    assert "plus or minus 0.005" in text
    assert "detects website" in text
    assert "1.9767" in text  # SkillWeaver's SFR over the websites, printed 1.97 overall


def test_a_row_that_breaks_it_is_told(monkeypatch):
    wrong = datasets.table1().with_columns(overall=datasets.table1()["overall"].replace("35.29", "35.92"))
    monkeypatch.setattr(datasets, "table1", lambda: wrong)
    text, holds = render_table1("table")
    assert not holds
    assert "violated" in text
    assert "means-differ" in text
