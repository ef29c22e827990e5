"""A recording in the making: what stops it before anything is asked, what is never lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillful_eval.recording.document import read_recording
from skillful_eval.recording.journal import LOCK, Journal, finish
from skillful_eval.recording.lines import Line, journal_of
from skillshift.frame import append
from skillshift.frame.append import TornLineWarning
from skillshift.frame.errors import InputError, UsageError


@pytest.fixture
def line(answer, ids):
    def make(fixture="f", repeat=0, task="undo it", candidates=ids, asked="0-1", **more):
        return Line(fixture, repeat, task, candidates, asked, answer(**more))

    return make


@pytest.fixture
def opened(path, line):
    """A journal with three responses, which is open."""
    journal = Journal(path)
    for made in (line(), line(repeat=1), line("e", task="plan it")):
        assert journal.add(made) is made
    yield journal
    journal.close()


@pytest.fixture
def recorded(opened):
    """A journal with three responses, which nobody holds."""
    opened.close()


def test_a_response_is_in_the_file_at_once(path, line):
    journal = Journal(path)
    assert journal_of(path).read_bytes() == b""
    journal.add(line())
    assert journal_of(path).read_text(encoding="utf-8") == f"{line().text()}\n"
    assert (len(journal), journal.resumed) == (1, 0)


@pytest.mark.usefixtures("recorded")
def test_what_is_there_is_found_and_not_written_again(path, line):
    before = journal_of(path).read_bytes()
    again = Journal(path)
    assert (len(again), again.resumed) == (3, 3)
    assert again.find(line(repeat=1)) == line(repeat=1)
    assert again.add(line(repeat=1, model="other")) == line(repeat=1)
    assert again.find(line(repeat=2)) is None
    assert again.find(line("g", task="undo it")) is None, "each fixture has repeats of its own"
    assert journal_of(path).read_bytes() == before


@pytest.mark.usefixtures("recorded")
def test_a_torn_line_is_set_aside_and_asked_for_again(path, line):
    journal = journal_of(path)
    whole = journal.read_bytes()
    journal.write_bytes(whole + line("g").text().encode()[:50])
    with pytest.warns(TornLineWarning) as told:
        again = Journal(path)
    (warning,) = told
    assert warning.filename == __file__
    assert "ended in the middle of a response" in str(warning.message)
    assert f"{journal}{append.TORN}" in str(warning.message)
    assert again.find(line("g")) is None
    again.add(line("g"))
    assert journal.read_bytes() == whole + f"{line('g').text()}\n".encode()


@pytest.mark.usefixtures("recorded")
def test_a_last_line_without_its_end_is_kept(path, line):
    journal = journal_of(path)
    journal.write_bytes(journal.read_bytes().rstrip(b"\n"))
    again = Journal(path)
    again.add(line("g"))
    again.add(line("h"))
    assert read_recording(path).responses == 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": "undo all"}, "another task text"),
        ({"candidates": ("a:agent:x:plan", "a:skill:x:undo")}, "other candidates"),
        ({"asked": "0-2"}, "another model"),
    ],
)
@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.usefixtures("recorded")
def test_responses_to_something_else_are_not_mixed(path, line, change, said, repeat):
    before = journal_of(path).read_bytes()
    again = Journal(path)
    with pytest.raises(UsageError, match=rf'fixture "f": found responses to .*{said}'):
        again.find(line(repeat=repeat, **change))
    with pytest.raises(UsageError, match=said):
        again.find(line("g"))
    assert journal_of(path).read_bytes() == before


@pytest.mark.usefixtures("recorded")
def test_an_existing_recording_is_refused(path):
    assert finish(path) == 3
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"recording\.json: exists already, .*replay this recording"):
        Journal(path)
    assert path.read_bytes() == before
    assert not journal_of(path).exists()


@pytest.mark.parametrize("content", [b"notes", b"PAR1\xff\x00", b"", b"{}", b"[" * 100_000])
@pytest.mark.parametrize("begun", [False, True])
def test_any_existing_file_is_refused(path, line, content, begun):
    if begun:
        journal = Journal(path)
        journal.add(line())
        journal.close()
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"exists already and is no recording, .*name another file"):
        Journal(path)
    assert path.read_bytes() == content
    with pytest.raises(UsageError, match="exists already and is no recording"):
        finish(path)
    assert path.read_bytes() == content
    assert journal_of(path).exists() is begun
    assert not Path(f"{journal_of(path)}{LOCK}").exists()


@pytest.mark.parametrize("place", ["folder", "journal", "missing", "file", "dangling", "null", "device"])
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path, path, place):
    match place:
        case "folder":
            path.mkdir()
        case "journal":
            journal_of(path).mkdir()
        case "missing":
            path = tmp_path / "none" / "recording.json"
        case "file":
            (tmp_path / "file").touch()
            path = tmp_path / "file" / "recording.json"
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "null":
            path = "nul\0l"
        case "device":
            if not Path("/dev/full").exists():
                pytest.skip("this system has no /dev/full")
            journal_of(path).symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"no regular file|cannot be written"):
        Journal(path)


def test_a_read_only_folder_is_refused_at_once():
    folder = "/proc" if sys.platform == "linux" else "/"
    with pytest.raises(InputError, match=r"cannot be written.*Nothing was asked"):
        Journal(f"{folder}/recording.json")


def test_a_disk_that_fills_up_stops_the_run_and_loses_nothing(path, opened, line, monkeypatch):
    before = journal_of(path).read_bytes()
    write = os.write

    def full(descriptor, data):
        write(descriptor, data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(append.os, "write", full)
        with pytest.raises(InputError, match="No space left"):
            opened.add(line("g"))
    assert journal_of(path).read_bytes() == before
    # Even where there is room again: the run is told that a response was lost.
    for refused in (opened.find, opened.add):
        with pytest.raises(InputError, match="No space left"):
            refused(line("h"))
    opened.close()
    assert Journal(path).resumed == 3


LIMITED = """
import json, resource, signal, sys
from skillful_eval.recording.journal import Journal
from skillful_eval.recording.lines import Line
from skillshift.frame.errors import InputError
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(sys.argv[1])
answers = {"primary": {"choice": "none", "probabilities": {"none": 1}}}
try:
    for n in range(1000):
        journal.add(Line("f", n, "x" * 300, (), "0", {"answers": answers}))
except InputError as error:
    print(json.dumps([n, str(error)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a file's size is tested on Linux")
def test_a_real_limit_of_the_disk_is_met_the_same_way(root, path):
    out = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], cwd=root, capture_output=True, text=True, check=True
    )
    written, said = json.loads(out.stdout)
    assert 1 < written < 1000
    assert "cannot be written" in said
    assert read_recording(path).responses == Journal(path).resumed == written


@pytest.mark.parametrize("change", ["more", "gone", "less"])
def test_a_second_writer_is_noticed(path, opened, line, change):
    journal = journal_of(path)
    match change:
        case "more":
            append.append_line(journal, line("z").text(), fsync=False)
        case "gone":
            journal.unlink()
        case "less":
            os.truncate(journal, 10)
    before = journal.read_bytes() if journal.exists() else None
    with pytest.raises(InputError, match="changed by another process"):
        opened.add(line("g"))
    assert (journal.read_bytes() if journal.exists() else None) == before


@pytest.mark.usefixtures("recorded")
def test_finishing_writes_the_document_and_removes_the_journal(path):
    made = read_recording(path).text()
    assert finish(path) == 3
    assert path.read_text(encoding="utf-8") == made
    assert not journal_of(path).exists()
    assert list(read_recording(path).entries) == ["e", "f"]
    assert finish(path) == 3, "finishing again changes nothing"
    assert path.read_text(encoding="utf-8") == made


def test_finishing_what_was_never_begun_makes_nothing(path):
    assert finish(path) == 0
    Journal(path)
    assert finish(path) == 0
    assert not path.exists()
    assert not journal_of(path).exists()


@pytest.mark.usefixtures("recorded")
def test_a_kill_between_the_last_two_steps_is_made_good(path, line):
    content = journal_of(path).read_bytes()
    finish(path)
    journal_of(path).write_bytes(content)
    again = Journal(path)
    assert again.resumed == 3
    again.add(line("g"))
    assert finish(path) == 4
    again.close()
    assert not journal_of(path).exists()


@pytest.mark.usefixtures("recorded")
def test_a_document_that_is_not_of_the_journal_is_never_replaced(path, line):
    finish(path)
    other = path.with_name("other.json")
    Journal(other).add(line("q"))
    journal_of(other).rename(journal_of(path))
    before = path.read_bytes()
    for refused in (Journal, finish):
        with pytest.raises(UsageError, match="exists already"):
            refused(path)
    assert path.read_bytes() == before
    assert journal_of(path).exists()


@pytest.mark.usefixtures("recorded")
def test_a_journal_stays_where_the_document_cannot_be_written(path, monkeypatch):
    before = journal_of(path).read_bytes()

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        finish(path)
    assert not path.exists()
    assert journal_of(path).read_bytes() == before


@pytest.mark.usefixtures("recorded")
def test_a_broken_journal_is_refused_before_anything_is_asked(path):
    content = journal_of(path).read_text(encoding="utf-8")
    first = content.splitlines(keepends=True)[0]
    journal_of(path).write_text(content + first, encoding="utf-8")
    with pytest.raises(InputError, match='fixture "f", repeat 0: found two responses'):
        Journal(path)
    journal_of(path).write_text(content.replace('"repeat":1', '"repeat":-1'), encoding="utf-8")
    with pytest.raises(InputError, match=r"jsonl:2: repeat: found -1, expected a whole number"):
        Journal(path)
    journal_of(path).write_text(
        content.replace('"choice":"a:skill:x:undo"', '"choice":"none"', 1), encoding="utf-8"
    )
    with pytest.raises(InputError, match=r'jsonl:1: fixture "f", repeat 0: found a line that was changed'):
        Journal(path)


@pytest.mark.usefixtures("recorded")
def test_an_empty_journal_beside_a_recording_does_not_open_it(path):
    finish(path)
    journal_of(path).touch()
    with pytest.raises(UsageError, match="exists already"):
        Journal(path)
    assert finish(path) == 3


def test_closing_removes_an_empty_journal_only(path, line):
    journal = Journal(path)
    journal.close()
    assert not journal_of(path).exists()
    journal.close()
    journal = Journal(path)
    journal.add(line())
    journal.close()
    assert journal_of(path).exists()


RIVAL = """
import sys, time
from skillful_eval.recording.journal import Journal, finish
from skillful_eval.recording.lines import Line
from skillshift.frame.errors import UsageError
path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
try:
    journal = Journal(path)
except UsageError as error:
    print(error)
    sys.exit(2)
answers = {"primary": {"choice": "none", "probabilities": {"none": 1}}}
for n in range(5):
    journal.add(Line(name, n, "x", (), "0", {"answers": answers}))
print("recorded", flush=True)
sys.stdin.readline()
journal.close()
"""


def rivals(root, path):
    return [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, str(path), name],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
@pytest.mark.parametrize("killed", [False, True])
def test_one_of_two_processes_records_and_the_other_touches_nothing(root, path, killed):
    for number in range(1, 4):
        both = rivals(root, path.with_name(f"{number}.json"))
        try:
            for process in both:
                assert process.stdout.readline() == "ready\n"
            for process in both:
                process.stdin.write("\n")
                process.stdin.flush()
            said = [process.stdout.readline() for process in both]
            winner, loser = both if said[0] == "recorded\n" else both[::-1]
            assert sorted(said)[1] == "recorded\n"
            assert f"{number}.json: is being recorded, by another process" in min(said)
            assert loser.wait(10) == 2
            made = path.with_name(f"{number}.json")
            assert read_recording(made).responses == 5
            with pytest.raises(UsageError, match="is being recorded"):
                Journal(made)
            winner.kill() if killed else winner.communicate("\n", timeout=10)
            winner.wait(10)
        finally:
            for process in both:
                process.kill()
                process.wait(10)
                process.stdin.close()
                process.stdout.close()
        again = Journal(made)
        assert again.resumed == 5
        again.close()
        assert not Path(f"{journal_of(made)}{LOCK}").exists()


def test_a_refused_journal_leaves_the_one_that_is_held(path, line):
    journal = Journal(path)
    with pytest.raises(UsageError, match="is being recorded"):
        Journal(path)
    assert journal_of(path).exists()
    journal.add(line())
    journal.close()
    assert Journal(path).resumed == 1


def test_only_its_maker_removes_an_empty_journal(path, line):
    journal_of(path).touch()
    journal = Journal(path)
    journal.close()
    assert journal_of(path).exists()
    with pytest.raises(UsageError, match="was closed"):
        journal.add(line())
