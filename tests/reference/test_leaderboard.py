"""The published leaderboard: every entry loads, ranks, and passes; the order was checked by hand."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import polars as pl
import pytest

from skillshift.leaderboard.board import read_board
from skillshift.leaderboard.check import check_new
from skillshift.leaderboard.comment import comment
from skillshift.leaderboard.formats import FORMATS, render
from skillshift.metrics import FLAG

pytestmark = pytest.mark.reference

BY_SR = [
    (1, "MPCR", "2026-08-27"),
    (1, "MPCR", "2026-08-23"),
    (3, "WALT", "gpt-5-mini"),
    (4, "ASI", "DeepSeek-V3.2"),
    (5, "ASI", "gpt-5-mini"),
    (6, "AWM", "gpt-5-mini"),
    (7, "WALT", "DeepSeek-V3.2"),
    (8, "AWM", "DeepSeek-V3.2"),
    (9, "AWM", "Claude Haiku 4.5"),
    (10, "ASI", "Claude Haiku 4.5"),
    (11, "WALT", "Claude Haiku 4.5"),
    (12, "SkillWeaver", "gpt-5-mini"),
    (13, "SkillWeaver", "Claude Haiku 4.5"),
    (14, "SkillWeaver", "DeepSeek-V3.2"),
]


@pytest.fixture(scope="module")
def folder(reference):
    return reference / "leaderboard"


@pytest.fixture(scope="module")
def board(folder):
    return read_board(folder)


def single(board):
    return board.entries.filter(ranking="single-model")


def test_all_eighteen_load_pass_and_rank(board):
    assert board.entries.height == 18
    assert not board.finding
    assert board.entries["rank"].null_count() == 0
    assert (board.receipts, board.others) == (0, ())


def test_the_order_by_success_rate(board):
    found = single(board).select("rank", "name", "model", pl.col("date").cast(pl.String)).rows()
    shown = [(rank, name, date if name == "MPCR" else model) for rank, name, model, date in found]
    assert shown == BY_SR
    mixed = board.entries.filter(ranking="mixed-model").select("rank", "name").rows()
    assert mixed == [(1, "ASI"), (2, "AWM"), (3, "WALT"), (4, "SkillWeaver")]


def test_the_order_by_steps_has_the_unmeasured_last(folder):
    found = single(read_board(folder, sort="AS"))
    assert found.select("name", "model").row(0) == ("AWM", "gpt-5-mini")
    assert found.select("name", "rank").row(-1) == ("MPCR", None)
    assert found["date"].cast(pl.String)[-1] == "2026-08-23"
    assert found["rank_best"].is_null().all()


def test_the_data_do_not_tell_the_first_six_apart(board):
    found = single(board)
    assert found.filter(pl.col("rank_best") == 1)["rank"].to_list() == [1, 1, 3, 4, 5, 6]
    assert found["rank_worst"].to_list()[:3] == [6, 6, 7]
    assert found["standard_error"].is_between(0.8, 1.1).all()
    # Without its websites the same run is known less well.
    errors = found.filter(name="MPCR").sort("date")["standard_error"].to_list()
    assert errors[0] > errors[1]


def test_awm_has_no_skills_and_table_3_printed_no_steps(board):
    overall = board.table.filter(slot="overall")
    shown = {metric: overall.filter(metric=metric) for metric in ("AS", "ASC", "SFR")}
    for metric in ("ASC", "SFR"):
        assert set(shown[metric].filter(name="AWM")["shown"]) == {"--"}
        assert "--" not in set(shown[metric].filter(pl.col("name") != "AWM")["shown"])
    paper = [rows.filter(name="MPCR", date=pl.date(2026, 8, 23))["shown"].item() for rows in shown.values()]
    assert paper == ["", "0.15", ""]


def test_no_count_is_reported_so_every_rate_is_flagged(board):
    rates = board.table.filter(metric="SFR", status="value")
    assert rates.height == 130
    assert rates["flagged"].all()
    assert rates["shown"].str.contains(f"{FLAG} (count not reported", literal=True).all()


def test_twelve_of_the_thirteen_per_model_entries_doubt_their_counts(board):
    assert any(
        note.startswith("12 of 14 single-model entries print an SR that cannot") for note in board.notes
    )


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_has_all_of_them(board, fmt):
    content = render(board, fmt)
    if fmt != "parquet":
        assert content.decode().count("SkillWeaver") >= 4
    if fmt == "html":
        HTMLParser().feed(content.decode())
    if fmt == "json":
        assert len(json.loads(content)["entries"]) == 18


def test_each_entry_lands_where_it_stands(folder, board):
    for file, rank in board.entries.select("file", "rank").rows()[::5]:
        checked = check_new(folder, folder / file, sort="SR")
        assert checked.passed
        assert checked.landing.place.rank == rank
        assert comment(checked).startswith("# Leaderboard check: passed")
