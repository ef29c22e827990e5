from __future__ import annotations

import polars as pl
import pytest

from skillshift.frame.errors import InputError, UsageError
from skillshift.leaderboard.board import ENTRY_COLUMNS, SLOT_COLUMNS, read_board
from skillshift.metrics import FLAG


def rate(board, slot="overall"):
    return (
        board.table.filter(metric="SFR", slot=slot)
        .select("shown", "low_count", "flagged", "skill_calls")
        .row(0)
    )


def test_one_row_an_entry_metric_and_slot_in_the_order_of_the_board(board_folder, document):
    board = read_board(board_folder(a=document("Low", SR=10.0), b=document("High", SR=20.0)))
    assert board.table.schema == {**ENTRY_COLUMNS, **SLOT_COLUMNS}
    assert board.table.height == 80
    assert board.table["name"].to_list() == ["High"] * 40 + ["Low"] * 40
    assert board.table.head(40)["metric"].to_list() == [
        m for m in ("SR", "AS", "ASC", "SFR") for _ in range(10)
    ]
    assert board.table.head(10)["slot"].to_list()[::9] == ["gitlab", "overall"]
    assert board.table.head(10)["group"].unique(maintain_order=True).to_list() == [
        "website",
        "condition",
        "overall",
    ]
    assert board.entries["name"].to_list() == ["High", "Low"]
    assert board.entries["method"].to_list() == ["High method", "Low method"]


def test_numbers_are_published_with_two_decimals(board_folder, document):
    board = read_board(board_folder(a=document("A", SR=16.9)))
    assert board.table.filter(metric="SR").select("value", "published", "shown").row(0) == (
        16.9,
        "16.90",
        "16.90",
    )


def test_the_three_kinds_of_null_are_kept_apart(board_folder, document):
    folder = board_folder(
        none=document("None", ASC=None, SFR=None, reasons=dict.fromkeys(("ASC", "SFR"), "Not applicable")),
        silent=document("Silent", SFR=None, ASC=0.0, calls=0, reasons={"SFR": "no denominator"}),
        unread=document("Unread", SFR=None),
    )
    shown = (
        read_board(folder)
        .table.filter(metric="SFR", slot="overall")
        .select("name", "status", "shown", "value")
    )
    assert sorted(shown.rows()) == [
        ("None", "not-applicable", "--", None),
        ("Silent", "undefined", "undefined", None),
        ("Unread", "not-measured", "", None),
    ]


@pytest.mark.parametrize(
    ("calls", "asc", "wanted"),
    [
        (12, 0.01, (f"20.00 {FLAG} (12)", True, True, 12)),
        (29, 0.01, (f"20.00 {FLAG} (29)", True, True, 29)),
        (30, 0.01, ("20.00", False, False, 30)),
        (None, 0.5, (f"20.00 {FLAG} (count not reported)", None, True, None)),
        (None, 0.0, (f"20.00 {FLAG} (count not reported, at most 10)", True, True, None)),
    ],
)
def test_a_rate_is_flagged_with_its_count_or_with_that_none_was_reported(
    board_folder, document, calls, asc, wanted
):
    assert rate(read_board(board_folder(a=document("A", calls=calls, ASC=asc)))) == wanted


def test_a_total_is_the_count_of_the_overall_slot_alone(board_folder, document):
    board = read_board(board_folder(a=document("A", calls=1065)))
    assert rate(board) == ("20.00", False, False, 1065)
    assert rate(board, "src") == (f"20.00 {FLAG} (count not reported)", None, True, None)


def test_counts_by_slot_flag_each_slot_on_its_own(board_folder, few_calls):
    board = read_board(board_folder(few=few_calls[0].decode()))
    rates = board.table.filter(metric="SFR", group="condition")
    calls = dict(rates.select("slot", "skill_calls").rows())
    assert calls["tgt-exec"] == 0
    assert min(calls[slot] for slot in calls if slot != "tgt-exec") > 0
    for slot, status, flagged, count, shown in rates.select(
        "slot", "status", "flagged", "skill_calls", "shown"
    ).rows():
        assert flagged == (status == "value" and count < 30), slot
        assert shown.endswith(f"{FLAG} ({count})") == flagged
    assert rates.filter(slot="tgt-exec")["shown"].item() == "undefined"


def test_only_rates_are_flagged(board_folder, document):
    board = read_board(board_folder(a=document("A", calls=3, ASC=0.0)))
    assert board.table.filter(pl.col("flagged"))["metric"].unique().to_list() == ["SFR"]
    assert not board.table.filter(pl.col("metric") != "SFR")["low_count"].any()


def test_models_are_chosen_by_their_id_and_ranked_among_themselves(board_folder, document):
    folder = board_folder(
        a=document("A", model="GPT-5 mini", SR=10.0),
        b=document("B", model="claude", SR=20.0),
        c=document("C", model="mixed (A / B)"),
    )
    board = read_board(folder, models=["gpt-5 MINI"])
    assert board.entries.select("name", "rank").rows() == [("A", 1)]
    assert "among the entries of gpt-5 MINI" in board.notes[0]
    assert read_board(folder, models=["claude", "mixed"]).entries["name"].to_list() == ["B", "C"]
    with pytest.raises(
        UsageError, match=r'no entry has the model "claud" \(the nearest is "claude"\); expected one of'
    ):
        read_board(folder, models=["claud"])


def test_metrics_are_chosen_whatever_ranks(board_folder, document):
    folder = board_folder(a=document("A", SR=10.0), b=document("B", SR=20.0))
    board = read_board(folder, metrics=["SFR", "AS"])
    assert board.metrics == ("AS", "SFR")
    assert board.table["metric"].unique(maintain_order=True).to_list() == ["AS", "SFR"]
    assert board.entries["name"].to_list() == ["B", "A"]
    with pytest.raises(UsageError, match="no metric 'XYZ'"):
        read_board(folder, metrics=["XYZ"])


def test_a_folder_without_submissions_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("")
    with pytest.raises(InputError, match=r"holds no submission \(1 other file passed over\)"):
        read_board(tmp_path)


def test_the_sort_key_is_refused_before_the_folder_is_read(tmp_path):
    with pytest.raises(UsageError, match="never sorted by SFR"):
        read_board(tmp_path / "nowhere", sort="SFR")


def test_an_entry_that_fails_a_check_is_ranked_and_named(board_folder, document):
    tree = document("Bad", SR=90.0)
    tree["metrics"]["SR"]["overall"] = 95.0
    board = read_board(board_folder(good=document("Good"), bad=tree))
    assert board.finding
    assert board.entries.select("name", "rank", "failed_checks").rows() == [
        ("Bad", 1, "marginals"),
        ("Good", 2, None),
    ]
    assert any(
        "1 of 2 entries FAIL a check (2026-09-01--bad--model.json: marginals)" in note for note in board.notes
    )
    assert not read_board(board_folder(bad=document("Bad"))).finding


def said(board):
    return "\n".join(board.notes)


def test_the_notes_say_why_there_are_intervals_or_none(board_folder, document):
    folder = board_folder(a=document("A"), b=document("B", AS=None))
    assert "Rank intervals are the ranks that the data cannot tell apart (95% for each entry)" in said(
        read_board(folder)
    )
    by_steps = said(read_board(folder, sort="AS"))
    assert "No rank intervals: AS is a mean of counts" in by_steps
    assert "by overall AS (steps per task), the lowest first" in by_steps
    assert "the highest first, which says nothing of merit" in said(read_board(folder, sort="ASC"))
    assert "mixed" not in by_steps.lower()


def test_the_notes_name_entries_without_an_interval_and_doubtful_counts(board_folder, document):
    tree = document("A", SR=23.0)
    tree["n"]["websites"]["gitlab"] = 0
    told = said(read_board(board_folder(a=tree, b=document("B", SR=23.0), c=document("C", model="mixed"))))
    assert (
        "No rank interval, because the document does not bound the standard error: A (gpt-5-mini, 2026-09-01)"
        in told
    )
    assert "1 of 1 single-model entries print an SR that cannot come from complete cells" in told
    assert "Mixed-model entries do not say how their models were pooled" in told
    assert "Mixed-model entries pool several language models; they are never ranked" in told


def test_what_was_passed_over_is_counted_and_named(board_folder, document):
    folder = board_folder(a=document("A"))
    for i in range(7):
        (folder / f"n{i}.txt").write_text("")
    (folder / "a.receipt.json").write_text("")
    named = "n0.txt, n1.txt, n2.txt, n3.txt, n4.txt, ..."
    assert f"Passed over in the folder: 1 receipt and 7 other files ({named})." in said(read_board(folder))
