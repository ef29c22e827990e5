"""A torn file is a note on stderr, and no other warning is."""

from __future__ import annotations

import warnings

import pytest

from skillful_eval.notes import noting
from skillful_eval.recording.document import read_recording
from skillful_eval.recording.journal import Journal
from skillful_eval.recording.lines import Line, journal_of
from skillshift.frame.append import TornLineWarning


@pytest.fixture
def torn(tmp_path):
    """A recording whose journal ends in the middle of its second line."""
    path = tmp_path / "r.json"
    answers = {"primary": {"choice": "none", "probabilities": {"none": 1}}}
    text = Line("f", 0, "undo it", (), "0", {"answers": answers}).text()
    journal_of(path).write_text(f"{text}\n{text[:40]}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("read", "said"),
    [(read_recording, "that response is not used"), (Journal, "that response will be asked for again")],
)
def test_a_torn_journal_is_one_note(torn, capsys, read, said):
    with noting():
        read(torn)
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"note: {journal_of(torn)}")
    assert line.endswith(said)


def test_every_file_is_told(torn, capsys):
    with noting():
        for _ in range(2):
            read_recording(torn)
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_other_warnings_are_shown_as_before(torn, capsys):
    with pytest.warns(UserWarning, match="else") as told, noting():
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert len(told) == 1
    assert capsys.readouterr().err == ""
    with pytest.warns(TornLineWarning):
        read_recording(torn)
