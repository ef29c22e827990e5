"""The reference recording: read as it is, and written again without loss."""

from __future__ import annotations

import json

import pytest

from skillful_eval.recording.document import REPEAT, read_recording

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def path(reference):
    found = reference / "routing" / "replay.json"
    if not found.exists():
        pytest.skip(f"no reference recording: {found} does not exist")
    return found


@pytest.fixture(scope="module")
def recording(path):
    return read_recording(path)


def test_it_loads(recording):
    assert (len(recording.entries), recording.responses) == (59, 177)
    assert {tuple(entry.responses) for entry in recording.entries.values()} == {(0, 1, 2)}


def test_writing_it_again_only_adds_the_repeats(recording, path, tmp_path):
    again = tmp_path / "again.json"
    again.write_text(recording.text(), encoding="utf-8")
    document = json.loads(again.read_text(encoding="utf-8"))
    for entry in document.values():
        assert [response.pop(REPEAT) for response in entry["responses"]] == [0, 1, 2]
    assert document == json.loads(path.read_text(encoding="utf-8"))
    assert read_recording(again).text() == recording.text()


def test_every_task_finds_its_responses(recording):
    for fixture, entry in recording.entries.items():
        for repeat, response in entry.responses.items():
            assert recording.lookup(entry.task, fixture, repeat) == (response, repeat)
            assert recording.lookup(entry.task, "another", repeat) == (response, repeat)
        assert recording.lookup(entry.task, fixture, 5)[1] == 2


def test_all_but_what_heuristics_pass_over_is_recorded(recording, reference):
    lines = (reference / "routing" / "routing.jsonl").read_text(encoding="utf-8").splitlines()
    fixtures = [json.loads(line) for line in lines if line.strip() and not line.startswith("#")]
    missing = [f["id"] for f in fixtures if recording.lookup(f["prompt"], f["id"], 0) is None]
    assert (len(fixtures), len(missing)) == (67, 8)
