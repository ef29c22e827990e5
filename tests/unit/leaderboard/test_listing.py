from __future__ import annotations

from skillshift.leaderboard.board import read_board
from skillshift.leaderboard.listing import MAX_WIDTH, clip, listings


def titles(listing):
    return [column.title for column in listing.columns]


ABOUT = ["rank", "rank interval", "entry", "model", "date", "provenance"]


def test_the_overall_numbers_by_default(board_folder, document):
    (listing,) = listings(read_board(board_folder(a=document("A"))))
    assert titles(listing) == [*ABOUT, "SR", "AS", "ASC", "SFR"]
    assert listing.labels == 6
    assert listing.title == "Single-model entries, by SR"


def test_all_ten_numbers_of_the_metrics_asked_for(board_folder, document):
    folder = board_folder(a=document("A"))
    (one,) = listings(read_board(folder, metrics=["SFR"]))
    assert titles(one)[6:9] == ["gitlab", "magento", "wordpress"]
    assert len(titles(one)) == 16
    assert one.title == "Single-model entries, by SR: Skill Failure Rate (SFR, % of skill calls)"
    (two,) = listings(read_board(folder, metrics=["SFR", "SR"]))
    assert titles(two)[6] == "SR gitlab"
    assert titles(two)[-1] == "SFR overall"
    assert len(titles(two)) == 26


def test_rankings_are_listed_apart_with_the_same_columns(board_folder, document):
    found = listings(read_board(board_folder(a=document("A"), b=document("B", model="mixed"))))
    assert [listing.title for listing in found] == [
        "Single-model entries, by SR",
        "Mixed-model entries (never ranked against single-model ones), by SR",
    ]
    assert titles(found[0]) == titles(found[1])
    assert [[row[2].text for row in listing.rows] for listing in found] == [["A"], ["B"]]


def test_columns_that_say_nothing_are_left_out(board_folder, document):
    assert "rank interval" not in titles(listings(read_board(board_folder(a=document("A")), sort="AS"))[0])
    bad = document("B")
    bad["metrics"]["SR"]["overall"] = 77.0
    (listing,) = listings(read_board(board_folder(b=bad)))
    at = titles(listing).index("fails")
    assert [row[at].text for row in listing.rows] == ["marginals", ""]


def test_what_stands_behind_a_cell(board_folder, document):
    folder = board_folder(
        a=document("A", SR=50.0, SFR=None),
        b=document("B", SR=49.0, calls=1, ASC=0.0),
        c=document("C", SR=None, ASC=0.0),
        d=document("D", SR=1.0),
    )
    (listing,) = listings(read_board(folder))
    rows = {row[2].text: row for row in listing.rows}
    assert (rows["A"][1].text, rows["A"][1].behind) == ("1-2", "standard error at most 1.13")
    assert (rows["D"][1].text, rows["D"][0].text) == ("3", "3")
    assert rows["A"][-1].behind == "not measured or not reported"
    assert rows["B"][-1].behind == "on 1 skill call, fewer than 30"
    assert "but at most 10 by the rest of the document, fewer than 30" in rows["C"][-1].behind
    assert rows["D"][-1].behind == "count not reported, so that it may rest on fewer than 30 skill calls"
    assert (rows["C"][0].text, rows["C"][1].text) == ("", "")
    assert not rows["A"][-2].behind


def test_reasons_are_told_once_with_their_places(board_folder, document):
    (listing,) = listings(read_board(board_folder(a=document("A", SFR=None)), metrics=["SFR"]))
    ((entry, place, reason),) = listing.reasons
    assert entry == "A (gpt-5-mini, 2026-09-01)"
    assert place.startswith("SFR gitlab, magento")
    assert reason == "The paper prints no such numbers."


def test_strangers_text_is_printable_and_bounded():
    assert clip("a\x1bb\nc") == "a\\x1bb\\nc"
    assert clip("x" * MAX_WIDTH) == "x" * MAX_WIDTH
    assert len(clip("x" * 999)) == len(clip("\x1b" * 80)) == MAX_WIDTH
