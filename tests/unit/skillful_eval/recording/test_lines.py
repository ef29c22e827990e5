"""A journal's lines, as they are written and as a kill leaves them."""

from __future__ import annotations

import json

import pytest

from skillful_eval.recording.document import read_recording
from skillful_eval.recording.lines import CHECK, Line, journal_of, read_line, read_lines
from skillful_eval.recording.responses import WrongError
from skillshift.frame.append import TornLineWarning
from skillshift.frame.errors import InputError


@pytest.fixture
def line(answer, ids):
    return Line("f", 0, "undo it", ids, "0-1", answer())


def test_a_line_is_read_as_it_was_written(line):
    assert read_line(line.text()) == line
    assert "\n" not in line.text()


@pytest.mark.parametrize("field", ["fixture", "repeat", "task", "candidates", "asked", "response"])
def test_a_field_that_is_missing_or_of_a_wrong_type_is_named(line, field):
    record = json.loads(line.text())
    with pytest.raises(
        WrongError, match=field if field != "response" else 'fixture "f", repeat 0: found 1.5'
    ):
        read_line(json.dumps(record | {field: 1.5}))
    del record[field]
    with pytest.raises(WrongError, match=f"{field}: found nothing"):
        read_line(json.dumps(record))


def test_a_line_that_was_changed_is_told(line):
    record = json.loads(line.text())
    assert read_line(json.dumps(record, indent=1)) == line, "how it is written does not matter"
    for change in ({"task": "undo its"}, {"repeat": 1}, {"more": 1}, {"check": "0-0"}, {"check": None}):
        with pytest.raises(WrongError, match=r'fixture "f", repeat \d: found a line that was changed'):
            read_line(json.dumps(record | change))
    record["response"]["answers"]["primary"]["choice"] = "none"
    with pytest.raises(WrongError, match="take the line out"):
        read_line(json.dumps(record))
    del record[CHECK]
    with pytest.raises(WrongError, match="check: found nothing"):
        read_line(json.dumps(record))


def write(path, *texts, end="\n"):
    content = "\n".join(texts) + end
    journal_of(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return journal_of(path)


def test_the_journal_beside_a_missing_document_is_read(path, line, answer, ids):
    second = Line("e", 1, "plan it", ids, "0-1", answer("none"))
    journal = write(path, line.text(), "", second.text())
    for given in (path, journal):
        recording = read_recording(given)
        assert not recording.finished
        assert recording.source == str(journal)
        assert recording.document() == {
            "e": {
                "task": "plan it",
                "responses": [{**answer("none"), "repeat": 1, "candidates": list(ids)}],
            },
            "f": {"task": "undo it", "responses": [{**answer(), "repeat": 0, "candidates": list(ids)}]},
        }


def test_the_order_of_a_journal_does_not_matter(path, answer, ids):
    """Lines are in the order in which responses came."""
    lines = [
        Line(name, repeat, "undo it", ids, "0-1", answer(model=name)) for name in "ba" for repeat in (1, 0)
    ]
    write(path, *(line.text() for line in lines))
    recording = read_recording(path)
    assert [entry["repeat"] for entry in recording.document()["a"]["responses"]] == [0, 1]
    assert recording.lookup("undo it", "c", 0)[0]["model"] == "a"


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_last_line_that_was_cut_off_is_passed_over_and_told(path, line, answer, ids, cut):
    second = Line("é", 0, "é", ids, "0-1", answer())
    journal = journal_of(path)
    whole = f"{line.text()}\n".encode()
    journal.write_bytes(whole + second.text().encode()[:cut])
    with pytest.warns(TornLineWarning, match=r"jsonl:2: ended in the middle"):
        assert list(read_recording(path).entries) == ["f"]
    assert journal.read_bytes().startswith(whole)


def test_a_character_that_was_cut_in_two_is_a_cut_line(path, line):
    journal_of(path).write_bytes(f"{line.text()}\n".encode() + '{"asked":"é'.encode()[:-1])
    with pytest.warns(TornLineWarning):
        assert read_recording(path).responses == 1


def test_a_last_line_that_only_lacks_its_end_counts(path, line):
    write(path, line.text(), end="")
    assert read_recording(path).responses == 1


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["{", ""], r"jsonl:1:2: not JSON"),
        (["[]", ""], r"jsonl:1: found \[\], expected one JSON object with fixture, repeat"),
        (["", '{"a": 1, "a": 2}', ""], r'jsonl:2: the key "a" stands twice'),
        (
            ['{"response": {"answers": ' + "[" * 100_000, ""],
            r"jsonl:1: response.answers.0: nested too deeply",
        ),
        (['{"repeat": ' + "1" * 5_000 + "}", ""], r"jsonl:1: repeat: found a whole number of 5,000 digits"),
        ([""], "found no response"),
    ],
)
def test_a_line_in_between_that_is_wrong_is_refused(path, texts, said):
    write(path, *texts)
    with pytest.raises(InputError, match=said):
        read_recording(path)


def test_bytes_that_are_no_text_are_refused(path, line):
    journal_of(path).write_bytes(b"\xff\n" + line.text().encode() + b"\n")
    with pytest.raises(InputError, match=r"jsonl:1: not UTF-8 text"):
        read_recording(path)


def test_a_repeat_that_stands_twice_is_refused(path, line):
    write(path, line.text(), line.text())
    with pytest.raises(InputError, match=r'jsonl:2: fixture "f", repeat 0: stands in line 1 too'):
        read_recording(path)


def test_two_tasks_of_one_fixture_are_refused(path, line, answer, ids):
    write(path, line.text(), Line("f", 1, "plan it", ids, "0-1", answer()).text())
    with pytest.raises(InputError, match=r'jsonl:2: fixture "f", repeat 1: found another task'):
        read_recording(path)


def test_a_journal_that_cannot_be_read_is_named(path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read_lines(journal_of(path)))
