from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skillshift.frame.errors import InputError
from skillshift.leaderboard.folder import read_entry, read_folder, receipt_of


def test_receipts_and_other_files_are_passed_over_and_counted(board_folder, document, few_calls):
    folder = board_folder(a=document("A"), few=few_calls[0].decode())
    (folder / "2026-09-01--few--model.receipt.json").write_bytes(few_calls[1])
    (folder / "renamed.json").write_bytes(few_calls[1])
    (folder / "README.md").write_text("# Board")
    (folder / "list.json").write_text("[]")
    (folder / "package.json").write_text('{"metrics": 1}')
    (folder / "old").mkdir()
    found = read_folder(folder)
    assert [entry.name for entry in found.entries] == ["A", "Few"]
    assert found.receipts == ("2026-09-01--few--model.receipt.json", "renamed.json")
    assert found.others == ("README.md", "list.json", "old/", "package.json")
    assert [entry.failed for entry in found.entries] == [(), ()]


@pytest.mark.parametrize("content", ["{", "", '{"submission": {}, "metrics": {"SR": NaN}}', '{"a": 1'])
def test_a_damaged_document_may_have_been_a_submission(board_folder, document, content):
    folder = board_folder(a=document("A"))
    (folder / "mine.json").write_text(content)
    with pytest.raises(InputError, match=r"mine\.json"):
        read_folder(folder)


def test_a_submission_under_any_name_is_one(board_folder, document):
    folder = board_folder()
    (folder / "mine.json").write_text(json.dumps(document("Mine")))
    assert [entry.file for entry in read_folder(folder).entries] == ["mine.json"]


def test_broken_submissions_are_all_named_and_no_board_is_made(board_folder, document):
    bad = document("Bad")
    del bad["metrics"]["SR"]["overall"]
    folder = board_folder(good=document("Good"), cut='{"submission": {', bad=bad, empty="{}")
    with pytest.raises(InputError) as error:
        read_folder(folder)
    text = str(error.value)
    assert "3 of 4 submissions cannot be used" in text
    assert "2026-09-01--cut--model.json: line 1" in text
    assert "metrics.SR.overall: found nothing, expected the field" in text
    assert "2026-09-01--empty--model.json: 7 problems" in text


def test_a_submission_whose_name_is_no_text_is_refused_and_other_files_are_passed_over(
    board_folder, document
):
    folder = board_folder(a=document("A"))
    other = Path(os.fsdecode(os.fsencode(folder) + b"/note\xff.txt"))
    other.write_text("")
    assert read_folder(folder).others == (other.name,)
    Path(os.fsdecode(os.fsencode(folder) + b"/b\xff.json")).write_text(json.dumps(document("B")))
    with pytest.raises(InputError, match=r"b\\udcff\.json: the file's name is not UTF-8") as error:
        read_folder(folder)
    str(error.value).encode()


def test_many_broken_submissions_are_counted(board_folder):
    folder = board_folder(**{f"n{i}": "{" for i in range(25)})
    with pytest.raises(InputError, match=r"\.\.\. and 5 more$"):
        read_folder(folder)


@pytest.mark.parametrize("name", ["nowhere", "a-file"])
def test_what_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "a-file").write_text("")
    with pytest.raises(InputError, match=f"{name}: cannot be read as a folder of submissions"):
        read_folder(tmp_path / name)


def test_what_submit_writes_is_a_folder_of_one_with_its_receipt(tmp_path, few_calls):
    (tmp_path / "results.json").write_bytes(few_calls[0])
    assert read_folder(tmp_path).entries[0].failed == ("receipt",)
    (tmp_path / "run_receipt.json").write_bytes(few_calls[1])
    (entry,) = read_folder(tmp_path).entries
    assert entry.failed == ()
    assert receipt_of(tmp_path / "results.json") == tmp_path / "run_receipt.json"


def test_only_results_json_belongs_to_the_receipt_without_a_name(tmp_path, few_calls):
    (tmp_path / "other.json").write_bytes(few_calls[0])
    (tmp_path / "run_receipt.json").write_bytes(few_calls[1])
    assert receipt_of(tmp_path / "other.json") is None


def test_one_file_can_be_left_out(board_folder, document):
    folder = board_folder(a=document("A"), b=document("B"))
    same = folder / ".." / folder.name / "2026-09-01--a--model.json"
    assert [entry.name for entry in read_folder(folder, without=same).entries] == ["B"]


def test_a_label_never_carries_control_characters(board_folder, document):
    folder = board_folder(a=document("A", model="x\x1b[2J"))
    (entry,) = read_folder(folder).entries
    assert entry.label == "A (x\\x1b[2J, 2026-09-01)"


def test_a_failing_check_is_no_reason_not_to_read(board_folder, document):
    tree = document("A")
    tree["metrics"]["SR"]["overall"] = 77.0
    folder = board_folder(a=tree)
    assert read_entry(folder / "2026-09-01--a--model.json").failed == ("marginals",)
