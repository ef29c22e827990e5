from __future__ import annotations

import json
import re

import pytest

from skillshift.frame.errors import InputError, UsageError
from skillshift.leaderboard.check import check_new
from skillshift.leaderboard.comment import MAX_FINDING, comment


@pytest.fixture
def new(tmp_path):
    """Write the new document outside of the board's folder."""

    def write(content, name="2026-09-02--new--model.json"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return write


@pytest.fixture
def folder(board_folder, document):
    return board_folder(
        a=document("A", SR=50.0),
        b=document("B", SR=40.0),
        c=document("C", SR=30.0),
        m=document("M", model="mixed"),
    )


def moves(checked):
    return [(one.entry.name, before, one.rank) for one, before in checked.landing.moved]


def test_a_new_file_whose_name_is_no_text_is_refused(folder, new, document):
    with pytest.raises(InputError, match="not UTF-8"):
        check_new(folder, new(document("New"), name="new\udcff.json"), sort="SR")


def test_where_it_lands_and_what_changes(folder, new, document):
    checked = check_new(folder, new(document("New", SR=45.0)), sort="SR")
    assert checked.passed
    assert (checked.landing.place.rank, checked.landing.among) == (2, 4)
    assert moves(checked) == [("B", 2, 3), ("C", 3, 4)]
    told = comment(checked)
    assert told.startswith("# Leaderboard check: passed\n\nNew, gpt-5-mini, 2026-09-01, verified-paper (`")
    assert "**Rank 2** of 4 single-model entries by overall SR, the highest first: 45.00 % of tasks." in told
    assert "| 2 | **New** (new) | gpt-5-mini | 2026-09-01 | 45.00 |" in told
    assert "| B | gpt-5-mini | 2026-09-01 | 2 | 3 |" in told


def test_the_last_place_changes_nothing(folder, new, document):
    checked = check_new(folder, new(document("New", SR=1.0)), sort="SR")
    assert moves(checked) == []
    assert "No other entry's rank." in comment(checked)


def test_a_tie_shares_the_rank(folder, new, document):
    checked = check_new(folder, new(document("New", SR=40.0)), sort="SR")
    assert checked.landing.place.rank == 2
    assert moves(checked) == [("C", 3, 4)]


def test_a_mixed_entry_lands_among_its_own(folder, new, document):
    checked = check_new(folder, new(document("New", model="mixed (A / B)", SR=41.0)), sort="SR")
    assert (checked.landing.place.rank, checked.landing.among, moves(checked)) == (1, 2, [("M", 1, 2)])
    assert "**Rank 1** of 2 mixed-model entries" in comment(checked)
    assert "It is never ranked against single-model ones." in comment(checked)


def test_the_first_of_its_kind(tmp_path, new, document):
    (tmp_path / "empty").mkdir()
    told = comment(check_new(tmp_path / "empty", new(document("New")), sort="SR"))
    assert "**Rank 1** of 1 single-model entry" in told
    assert "The data cannot tell apart rank 1 (95%" in told


def test_an_undefined_value_comes_last_without_a_rank(folder, new, document):
    told = comment(check_new(folder, new(document("New", SR=None)), sort="SR"))
    assert "Last of 4 single-model entries, without a rank: its overall SR is null." in told
    assert "| none | **New** (new) | gpt-5-mini | 2026-09-01 |  |" in told


def test_other_metrics_rank_by_their_direction_without_intervals(folder, new, document):
    told = comment(check_new(folder, new(document("New", AS=1.0)), sort="AS"))
    assert (
        "**Rank 1** of 4 single-model entries by overall AS, the lowest first: 1.00 steps per task." in told
    )
    assert "No rank interval: the document does not bound the standard error of its AS." in told
    with pytest.raises(UsageError, match="never sorted by SFR"):
        check_new(folder, new(document("New")), sort="SFR")


def test_a_new_file_that_is_in_the_folder_already_is_not_counted_twice(folder, document):
    inside = folder / "2026-09-01--new--model.json"
    inside.write_text(json.dumps(document("New", SR=45.0)))
    checked = check_new(folder, inside, sort="SR")
    assert (checked.landing.place.rank, checked.landing.among) == (2, 4)
    assert checked.landing.replaced is None


def test_a_file_of_the_same_name_is_replaced(folder, new, document):
    checked = check_new(folder, new(document("C", SR=60.0), "2026-09-01--c--model.json"), sort="SR")
    assert (checked.landing.place.rank, checked.landing.among) == (1, 3)
    assert moves(checked) == [("A", 1, 2), ("B", 2, 3)]
    told = comment(checked)
    assert (
        "It replaces C (gpt-5-mini, 2026-09-01) (`2026-09-01--c--model.json`), whose file has its name."
        in told
    )


def test_results_json_replaces_what_will_have_its_name(folder, new, document):
    (folder / "2026-09-01--a--gpt-5-mini.json").write_text(json.dumps(document("A", SR=50.0)))
    checked = check_new(folder, new(document("A", SR=60.0), "results.json"), sort="SR")
    assert checked.landing.replaced.file == "2026-09-01--a--gpt-5-mini.json"
    assert "The board already has its name, model and date: A (gpt-5-mini, 2026-09-01)" in comment(checked)


def test_the_five_checks_and_the_further_ones_are_told(folder, new, few_calls):
    told = comment(check_new(folder, new(few_calls[0]), sort="SR"))
    assert told.startswith("# Leaderboard check: FAILED")
    assert "| receipt | **FAILED** | 1 | 0 |" in told
    assert "- `error: receipt: found no receipt, expected the run's receipt" in told
    assert re.findall(r"^\| (\w+) \| (?:passed|\*\*FAILED\*\*|not checked) \|", told, re.MULTILINE) == [
        *("schema", "coverage", "marginals", "ranges", "receipt")
    ]
    assert "## Also noticed, without failing anything\n\n**naming**" in told
    assert "**Rank 3**" in told


def test_the_receipt_beside_it_or_the_one_given_is_checked(folder, new, tmp_path, few_calls):
    path = new(few_calls[0], "results.json")
    assert not check_new(folder, path, sort="SR").passed
    receipt = new(few_calls[1], "elsewhere.json")
    assert check_new(folder, path, receipt=receipt, sort="SR").passed
    receipt.rename(tmp_path / "run_receipt.json")
    assert check_new(folder, path, sort="SR").passed
    digests = {"gitlab": "sha256:" + "0" * 64}
    failed = check_new(folder, path, digests=digests, sort="SR")
    assert [v.check for v in failed.verdicts if v.errors] == ["receipt"]


def test_what_does_not_fit_the_schema_lands_nowhere_and_is_told(folder, new, document):
    tree = document("New")
    tree["submission"]["date"] = "yesterday"
    checked = check_new(folder, new(tree), sort="SR")
    assert not checked.passed
    assert checked.landing is None
    assert "Nowhere yet: the document does not fit its schema." in comment(checked)
    assert "a document without a name" in comment(check_new(folder, new({}), sort="SR"))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"{", "not JSON"),
        (b"[1]", "expected one JSON object"),
        (b'{"receipt_version": "1"}', "found a receipt, expected a results document"),
    ],
)
def test_an_unusable_document_is_refused(folder, new, content, match):
    with pytest.raises(InputError, match=match):
        check_new(folder, new(content), sort="SR")


def test_a_broken_board_is_refused(folder, new, document):
    (folder / "2026-01-01--broken--model.json").write_text("{")
    with pytest.raises(InputError, match="1 of 5 submissions cannot be used"):
        check_new(folder, new(document("New")), sort="SR")


def test_a_strangers_text_is_no_markup_and_no_mention(folder, new, document, hostile):
    tree = document(hostile.replace("/", "").replace("\\", ""), model=hostile)
    tree["reasons"]["SR"] = hostile
    told = comment(check_new(folder, new(tree), sort="SR"))
    outside = re.sub(r"`+[^`\n]*`+(?=\)?$)|^- (`+).*\1$", "", told, flags=re.MULTILINE)
    assert "<b>" in outside
    assert not re.search(r"(?<!\\)<b>|(?<!\\)\[x|@\w|#1", outside)


def test_a_comment_is_bounded(folder, new, document):
    tree = document("New", model="m" * 5000)
    tree["reasons"] = {f"key{i}": "x" * 800 for i in range(500)}
    told = comment(check_new(folder, new(tree), sort="SR"))
    assert len(told) < 60_000
    assert "- and 480 more; `skillshift validate` tells them all" in told
    assert max(map(len, told.split("\n"))) < MAX_FINDING + 400


def test_errors_are_shown_before_warnings(folder, new, document):
    told = comment(check_new(folder, new(document("New", AS=0.0, ASC=-1.0)), sort="SR"))
    ranges = told[told.index("**ranges**") :]
    assert ranges.index("error: metrics.ASC.overall") < ranges.index("warning: metrics.AS.websites.gitlab")
