"""The bundled Table 1 against the leaderboard documents that it was taken from."""

from __future__ import annotations

import json
from decimal import Decimal

import polars as pl
import pytest

from skillshift import SKILLSHIFT, datasets, identity_printed

pytestmark = pytest.mark.reference

SLUGS = {"SkillWeaver": "skillweaver", "ASI": "asi", "WALT": "walt", "AWM": "awm"}


@pytest.fixture(scope="module")
def documents(reference):
    folder = reference / "leaderboard"
    return {
        method: json.loads(
            (folder / f"2026-08-23--{slug}--mixed.json").read_text(encoding="utf-8"),
            parse_float=Decimal,
            parse_int=Decimal,
        )
        for method, slug in SLUGS.items()
    }


def _printed(metric):
    numbers = {**metric["websites"], **metric["conditions"], "overall": metric["overall"]}
    return {slot: None if number is None else f"{number:.2f}" for slot, number in numbers.items()}


def test_every_number_is_the_documents(documents):
    table = datasets.table1()
    expected = [
        {"method": method, "metric": metric, **_printed(numbers)}
        for method, document in documents.items()
        for metric, numbers in document["metrics"].items()
        if numbers["overall"] is not None
    ]
    assert len(expected) == 14
    assert table.to_dicts() == expected


def test_each_row_names_the_document_it_is_from(documents):
    sources = pl.read_csv(datasets.path("table1.csv"), infer_schema=False).select("method", "source").unique()
    for method, source in sources.rows():
        assert f"2026-08-23--{SLUGS[method]}--mixed.json" in source
        assert documents[method]["submission"]["provenance"]["source"] == "paper Table 1"


def test_the_documents_give_the_same_verdicts_as_the_table(documents):
    # The documents' numbers as JSON gives them: binary floats with their trailing zeros dropped.
    rows = [
        {
            "method": method,
            "metric": metric,
            **{slot: None if text is None else float(text) for slot, text in _printed(numbers).items()},
        }
        for method, document in documents.items()
        for metric, numbers in document["metrics"].items()
    ]
    schema = {"method": pl.String, "metric": pl.String} | dict.fromkeys(
        (*SKILLSHIFT.website_names, *SKILLSHIFT.condition_names, "overall"), pl.Float64
    )
    found = identity_printed(pl.DataFrame(rows, schema=schema))
    awm = found.filter(pl.col("method") == "AWM", pl.col("metric").is_in(["ASC", "SFR"]))
    assert awm["verdict"].to_list() == ["undefined"] * 2
    rest = found.join(awm, on=["method", "metric"], how="anti")
    assert rest.to_dicts() == identity_printed(datasets.table1()).to_dicts()
