"""Reading recordings, and finding the response to a request."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from skillful_eval.recording.document import Entry, Recording, read_recording
from skillful_eval.recording.redaction import hidden
from skillful_eval.router.prompts import WITHHELD
from skillshift.frame.errors import InputError


@pytest.fixture
def written(path, answer):
    """Write a document with one fixture, and change it first."""

    def write(change=None):
        document = {"undo-1": {"task": "undo it", "responses": [answer(), answer("none"), answer()]}}
        text = json.dumps(change(document) or document if change else document)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_positions_count_where_no_repeat_is_given(written):
    recording = read_recording(written())
    assert list(recording.entries["undo-1"].responses) == [0, 1, 2]
    assert (recording.responses, recording.finished) == (3, True)


def test_given_repeats_count_and_put_in_order(written, answer, ids):
    def change(document):
        document["undo-1"]["responses"] = [answer(repeat=4), answer("none", repeat=2, candidates=list(ids))]

    recording = read_recording(written(change))
    responses = recording.entries["undo-1"].responses
    assert list(responses) == [2, 4]
    assert responses[2]["candidates"] == list(ids)
    assert "candidates" not in responses[4]


def test_reading_and_writing_again_changes_nothing(written, path):
    recording = read_recording(written())
    path.write_text(recording.text(), encoding="utf-8")
    again = read_recording(path)
    assert again.document() == recording.document()
    assert again.text() == recording.text() == path.read_text(encoding="utf-8")


def test_unknown_fields_are_passed_over(written):
    def change(document):
        document["undo-1"] |= {"note": 1}
        document["undo-1"]["responses"][0] |= {"at": "today"}

    assert read_recording(written(change)).document() == read_recording(written()).document()


def at(*path):
    """A change that puts a value, or nothing, at a place."""

    def put(value):
        def change(document):
            place = document
            for step in path[:-1]:
                place = place[step]
            if value is Ellipsis:
                del place[path[-1]]
            else:
                place[path[-1]] = value

        return change

    return put


OF = ("undo-1", "responses")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: [1], r"recording.json: found \[1\], expected one JSON object of fixtures"),
        (
            lambda document: document.clear(),
            r"recording.json: found .*, expected one JSON object of fixtures",
        ),
        (at("undo-1")([]), r'fixture "undo-1": found \[\], expected an object with task and responses'),
        (at("undo-1", "task")(...), 'fixture "undo-1": task: found nothing'),
        (at("undo-1", "task")(3), 'fixture "undo-1": task: found 3, expected text'),
        (at("undo-1", "task")("\udc00"), 'fixture "undo-1": task: found .*udc00.*, expected text'),
        (at("\udc00")({}), r"fixture .*udc00.*: id: found .*, expected text"),
        (at(*OF)(...), 'fixture "undo-1": responses: found nothing'),
        (at(*OF)([]), r'fixture "undo-1": responses: found \[\], expected a list of at least one'),
        (at(*OF)({"a": 1}), 'fixture "undo-1": responses: found .*expected a list'),
        (at(*OF, 1)(None), 'fixture "undo-1": response 2: found null, expected an object'),
        (at(*OF, 1, "repeat")(0), 'fixture "undo-1": response 2: repeat: found 0 again, expected another'),
        (at(*OF, 0, "repeat")(2), 'fixture "undo-1": response 3: repeat: found 2 again'),
        (at(*OF, 0, "repeat")(-1), 'fixture "undo-1": response 1: repeat: found -1, expected a whole number'),
        (at(*OF, 0, "repeat")(1.0), "response 1: repeat: found 1.0, expected a whole number from 0"),
        (at(*OF, 0, "repeat")(None), "response 1: repeat: found null"),
        (at(*OF, 0, "repeat")(True), "response 1: repeat: found true"),
        (at(*OF, 0, "candidates")("a"), 'response 1: candidates: found "a", expected a list of ids'),
        (at(*OF, 0, "candidates")([1]), "response 1: candidates: found 1, expected text"),
        (
            at(*OF, 2, "answers", "primary", "probabilities", "none")("0.1"),
            'fixture "undo-1": response 3: answers.primary.probabilities.none: found "0.1", expected a',
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(written, change, said):
    with pytest.raises(InputError, match=said) as caught:
        read_recording(written(change))
    assert "recording.json" in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"none": 0.1', '"none": NaN', 'fixture "undo-1": response 1: answers.primary.probabilities.none: '),
        ('"none": 0.1', '"none": 1e999', 'fixture "undo-1": response 1: .*none: found Infinity'),
        ('"none": 0.1', '"none": 0.1, "none": 0.2', "response 1: answers.primary.probabilities: the key"),
        ('"task"', '"responses": [], "task"', 'fixture "undo-1": the key "responses" stands twice'),
        ('"undo-1"', '"undo-1": {}, "undo-1"', 'recording.json: the key "undo-1" stands twice'),
        (
            '"none": 0.1',
            '"none": ' + "1" * 5_000,
            'fixture "undo-1": response 1: .*none: found a whole number of',
        ),
        ('"none": 0.1', '"none": ' + "[" * 100_000, 'fixture "undo-1": response 1: nested too deeply'),
        ("]}}", "", r"recording.json:1:\d+: not JSON"),
    ],
)
def test_text_that_is_not_strict_json_is_refused(written, path, old, new, said):
    text = written().read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_recording(path)


def test_what_cannot_be_read_is_refused(tmp_path, path):
    with pytest.raises(InputError, match=r"recording\.json: cannot be read: No such file"):
        read_recording(path)
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_recording(tmp_path)
    path.write_bytes(b'{"\xff": 1}')
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_recording(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="not JSON"):
        read_recording(path)


def made(answer, **entries):
    """A recording of entries, each a task and its repeats."""
    return Recording(
        {
            name: Entry(task, {n: answer(model=f"{name}.{n}") for n in repeats})
            for name, (task, repeats) in sorted(entries.items())
        },
        "recording.json",
    )


def found(recording, *request):
    answered = recording.lookup(*request)
    return None if answered is None else (answered[0]["model"], answered[1])


def test_the_text_and_the_repeat_decide(answer):
    recording = made(answer, a=("one", (0, 1)), b=("two", (0, 1)))
    assert found(recording, "one", "a", 1) == ("a.1", 1)
    assert found(recording, "one", "b", 1) == ("a.1", 1)
    assert found(recording, "one", "renamed", 0) == ("a.0", 0)
    assert found(recording, "One", "a", 0) is None
    assert found(recording, "one ", "a", 0) is None


def test_of_fixtures_with_one_text_the_very_one_is_preferred(answer):
    recording = made(answer, a=("same", (0,)), b=("same", (0, 1)), c=("same", (0, 1)))
    assert found(recording, "same", "c", 1) == ("c.1", 1)
    assert found(recording, "same", "a", 1) == ("a.0", 0)
    # No other one: that with most responses, then the first by id.
    assert found(recording, "same", "d", 1) == ("b.1", 1)


@pytest.mark.parametrize(
    ("repeats", "used"),
    [((0, 1, 2), [0, 1, 2, 0, 1, 2]), ((0,), [0] * 6), ((0, 2), [0, 2, 2, 2, 0, 2]), ((5,), [5] * 6)],
)
def test_fewer_responses_than_repeats_are_reused_and_say_which(answer, repeats, used):
    recording = made(answer, a=("one", repeats))
    assert [found(recording, "one", "a", repeat) for repeat in range(6)] == [(f"a.{n}", n) for n in used]


def test_withheld_texts_must_be_of_the_same_fixture(answer):
    recording = made(answer, a=(WITHHELD, (0,)), b=(WITHHELD, (0,)))
    assert found(recording, WITHHELD, "b", 0) == ("b.0", 0)
    assert found(recording, WITHHELD, "c", 0) is None
    assert found(recording, "anything", "a", 0) is None


def test_redacted_texts_must_be_of_the_same_fixture_and_fit(answer):
    recording = made(answer, a=("open [redacted] now", (0,)), b=("open [redacted] now", (0,)))
    assert found(recording, "open ~/x/y now", "b", 0) == ("b.0", 0)
    assert found(recording, "open ~/x/y now", "c", 0) is None
    assert found(recording, "open [redacted] now", "c", 0) is None
    assert found(recording, "close ~/x/y now", "b", 0) is None
    # Two tasks that are redacted to the same text are not confused.
    assert found(recording, "open ~/z now", "a", 0) == ("a.0", 0)


def test_a_text_recorded_elsewhere_without_redaction_is_found(answer):
    recording = made(answer, a=("open https://example.org now", (0,)))
    assert found(recording, "open https://example.org now", "other", 0) == ("a.0", 0)
    assert found(recording, "open https://example.com now", "a", 0) is None


def test_a_fixture_id_that_was_replaced_is_found(answer):
    name = "jane@example.org"
    recording = made(answer, **{hidden(name): (WITHHELD, (0,)), hidden("joe@example.org"): (WITHHELD, (0,))})
    assert found(recording, WITHHELD, name, 0) == (f"{hidden(name)}.0", 0)
    assert found(recording, WITHHELD, "else@example.org", 0) is None


def test_reading_needs_neither_httpx_nor_the_other_libraries_of_routers(root, written):
    code = (
        "import sys; sys.modules |= dict.fromkeys(['httpx', 'httpcore', 'regex', 'yaml', 'bm25s']);"
        "from skillful_eval.recording.document import read_recording;"
        "print(read_recording(sys.argv[1]).responses)"
    )
    command = [sys.executable, "-c", code, str(written())]
    out = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert out.stdout == "3\n"


def test_without_httpx_transports_say_what_to_install(root):
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "try: import skillful_eval.recording.transport\n"
        "except ValueError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert "pip install 'skillshift[router]'" in out.stdout
