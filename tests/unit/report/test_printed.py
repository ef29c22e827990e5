"""The rows of ``skillshift table1``."""

from __future__ import annotations

import polars as pl

from skillshift import datasets, identity_printed
from skillshift.report.printed import printed_report, table1_report


def test_the_printed_numbers_stand_beside_what_the_check_says():
    report, table = table1_report(), datasets.table1()
    assert report.select(table.columns).equals(table)
    assert report.select(identity_printed(table).columns).equals(identity_printed(table))
    assert report.columns == [
        *table.columns,
        *(c for c in identity_printed(table).columns if c not in table.columns),
    ]


def test_another_table_can_be_shown():
    table = datasets.table1().reverse().select("metric", "method", *datasets.table1().columns[2:])
    table = table.with_columns(pl.lit("here").alias("venue"))
    report = printed_report(table)
    assert report["venue"].to_list() == ["here"] * 14
    assert report["method"].to_list() == table["method"].to_list()
    assert report.columns[:2] == ["metric", "method"]
