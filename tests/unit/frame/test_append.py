"""Appending lines: whole or not at all, whoever else writes, whatever was left behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from skillshift.frame import append
from skillshift.frame.append import TORN, TornLineWarning, append_line, mend
from skillshift.frame.errors import InputError, UsageError

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no advisory locks")

# Each line is long enough that several reach over a page, and says how long it must be.
WRITER = """
import json, sys
from skillshift.frame.append import append_line
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for i in range(count):
    append_line(path, json.dumps({"writer": name, "i": i, "filler": name * (i * 37 % 6000)}), fsync=False)
"""


def start(root, path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def read_whole(path):
    data = path.read_bytes()
    assert data.endswith(b"\n")
    records = [json.loads(line) for line in data.splitlines()]
    for record in records:
        assert record["filler"] == record["writer"] * (record["i"] * 37 % 6000)
    return records


def write_torn(path, tail=b'{"i": 2, "na'):
    path.write_bytes(b'{"i": 1}\n' + tail)
    return tail


def test_lines_follow_each_other_in_utf8(tmp_path):
    path = tmp_path / "log.jsonl"
    for line in ('{"name": "häufig"}', '{"name": "日本"}'):
        append_line(path, line, fsync=True)
    assert path.read_bytes() == '{"name": "häufig"}\n{"name": "日本"}\n'.encode()


@needs_locks
def test_two_processes_write_whole_lines_and_lose_none(root, tmp_path):
    path = tmp_path / "log.jsonl"
    writers = [start(root, path, name, 1_000) for name in "ab"]
    for writer in writers:
        go(writer)
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    records = read_whole(path)
    for name in "ab":
        assert [r["i"] for r in records if r["writer"] == name] == list(range(1_000))


def test_threads_write_whole_lines_and_lose_none(tmp_path):
    path = tmp_path / "log.jsonl"

    def write(name):
        for i in range(150):
            append_line(
                path, json.dumps({"writer": name, "i": i, "filler": name * (i * 37 % 6000)}), fsync=False
            )

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = read_whole(path)
    for name in "abcd":
        assert [r["i"] for r in records if r["writer"] == name] == list(range(150))


@needs_locks
def test_a_killed_process_leaves_whole_lines_and_no_lock(root, tmp_path):
    path = tmp_path / "log.jsonl"
    survivor = start(root, path, "s", 3_000)
    go(survivor)
    for round_ in range(4):
        victim = start(root, path, "v", 1_000_000)
        go(victim)
        time.sleep(0.03 * (round_ + 1))
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=30)
        assert victim.returncode == -signal.SIGKILL
    survivor.communicate(timeout=60)
    assert survivor.returncode == 0
    records = read_whole(path)
    assert any(r["writer"] == "v" for r in records)
    assert [r["i"] for r in records if r["writer"] == "s"] == list(range(3_000))
    assert not (tmp_path / f"log.jsonl{TORN}").exists()


@needs_locks
def test_a_line_waits_for_the_file_s_lock(tmp_path):
    import fcntl

    path = tmp_path / "log.jsonl"
    path.touch()
    with path.open("a") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        thread = threading.Thread(target=append_line, args=(path, "{}"), kwargs={"fsync": False})
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert path.read_bytes() == b""
        fcntl.flock(holder, fcntl.LOCK_UN)
        thread.join(10)
    assert path.read_bytes() == b"{}\n"


def test_a_torn_tail_is_set_aside_and_reported(tmp_path):
    path = tmp_path / "log.jsonl"
    tail = write_torn(path)
    with pytest.warns(TornLineWarning, match=r"log\.jsonl: ended in the middle of a record \(12 bytes\)"):
        append_line(path, '{"i": 3}', fsync=False)
    assert path.read_bytes() == b'{"i": 1}\n{"i": 3}\n'
    beside = tmp_path / "log.jsonl.torn"
    assert beside.read_bytes() == tail + b"\n"
    again = write_torn(path, b'{"i": 4')
    with pytest.warns(TornLineWarning):
        mend(path)
    assert path.read_bytes() == b'{"i": 1}\n'
    assert beside.read_bytes() == tail + b"\n" + again + b"\n"


@pytest.mark.parametrize("tail", [b"{", b'{"i": "\xc3', b"\0\0\0\0", b"7", b"[1]", b'{"i": 1}}', b"{" * 9999])
def test_what_is_no_whole_object_is_torn(tmp_path, tail):
    path = tmp_path / "log.jsonl"
    write_torn(path, tail)
    with pytest.warns(TornLineWarning):
        mend(path)
    assert path.read_bytes() == b'{"i": 1}\n'


def test_a_torn_tail_longer_than_one_reading_is_found_whole(tmp_path):
    path = tmp_path / "log.jsonl"
    tail = write_torn(path, b'{"text": "' + b"x" * 3 * append._CHUNK)
    with pytest.warns(TornLineWarning):
        append_line(path, '{"i": 3}', fsync=False)
    assert path.read_bytes() == b'{"i": 1}\n{"i": 3}\n'
    assert (tmp_path / "log.jsonl.torn").read_bytes() == tail + b"\n"


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"i"')
    with pytest.warns(TornLineWarning):
        mend(path)
    assert path.read_bytes() == b""


def test_where_the_warning_is_an_error_the_file_is_mended_and_nothing_added(tmp_path):
    path = tmp_path / "log.jsonl"
    write_torn(path)
    with pytest.raises(TornLineWarning):
        append_line(path, '{"i": 3}', fsync=False)
    assert path.read_bytes() == b'{"i": 1}\n'


def test_a_whole_last_record_without_its_newline_stays(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"i": 1}\n{"i": 2}')
    mend(path)
    assert path.read_bytes() == b'{"i": 1}\n{"i": 2}'
    append_line(path, '{"i": 3}', fsync=False)
    assert path.read_bytes() == b'{"i": 1}\n{"i": 2}\n{"i": 3}\n'
    assert not (tmp_path / "log.jsonl.torn").exists()


def test_mending_makes_no_file(tmp_path):
    mend(tmp_path / "log.jsonl")
    assert not list(tmp_path.iterdir())


@needs_locks
def test_a_full_disk_takes_the_whole_line_back(root, tmp_path):
    # A limit on the file's size behaves as a full disk does: the write stops half way, the next one fails.
    path = tmp_path / "log.jsonl"
    script = """
import resource, sys
from skillshift.frame.append import append_line
from skillshift.frame.errors import InputError
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
for i in range(50):
    try:
        append_line(sys.argv[1], '{"i": %02d, "text": "0123456789"}' % i, fsync=True)
    except InputError as error:
        sys.exit(f"{i} {error}")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, path], cwd=root, capture_output=True, text=True, check=False
    )
    assert "nothing was added" in done.stderr
    assert done.stderr.startswith("3 ")
    lines = path.read_text().splitlines(keepends=True)
    assert lines == [f'{{"i": {i:02d}, "text": "0123456789"}}\n' for i in range(3)]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(errno.EIO, os.strerror(errno.EIO))])
@pytest.mark.parametrize("start", [b"", b'{"i": 1}\n', b'{"i": 1}'])
def test_a_write_that_fails_after_its_first_bytes_is_taken_back(tmp_path, monkeypatch, failure, start):
    path = tmp_path / "log.jsonl"
    path.write_bytes(start)
    write = os.write

    def half(descriptor, data):
        write(descriptor, data[: len(data) // 2])
        raise failure

    monkeypatch.setattr(os, "write", half)
    with pytest.raises((KeyboardInterrupt, InputError)):
        append_line(path, '{"i": 2}', fsync=False)
    assert path.read_bytes() == start


def test_a_failing_sync_takes_the_line_back(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"

    def fail(_descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    append_line(path, '{"i": 1}', fsync=False)
    with pytest.raises(InputError, match="Input/output error"):
        append_line(path, '{"i": 2}', fsync=True)
    assert path.read_bytes() == b'{"i": 1}\n'


def test_every_line_is_one_write(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"i": 1}')
    write, written = os.write, []

    def count(descriptor, data):
        written.append(bytes(data))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", count)
    append_line(path, '{"i": 2}', fsync=True)
    assert written == [b'\n{"i": 2}\n']


def test_a_line_of_a_program_that_ignores_the_lock_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"i": 1}\n')
    write = os.write

    def after_another(descriptor, data):
        with path.open("ab") as other:
            other.write(b'{"i": 2}\n')
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", after_another)
    append_line(path, '{"i": 3}', fsync=False)
    assert path.read_bytes() == b'{"i": 1}\n{"i": 2}\n{"i": 3}\n'


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        append_line(tmp_path, "{}", fsync=False)
    with pytest.raises(InputError, match="No such file or directory"):
        append_line(tmp_path / "none" / "log.jsonl", "{}", fsync=False)


@needs_locks
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "log.jsonl")
    with pytest.raises(InputError, match="not a regular file"):
        append_line(tmp_path / "log.jsonl", "{}", fsync=False)


@pytest.mark.parametrize("line", ['{"i":\n1}', "{}\n", "{}\r"])
def test_a_line_break_is_refused(tmp_path, line):
    with pytest.raises(UsageError, match="line break"):
        append_line(tmp_path / "log.jsonl", line, fsync=False)


def test_half_a_surrogate_pair_is_refused(tmp_path):
    path = tmp_path / "log.jsonl"
    with pytest.raises(InputError, match="surrogate pair at character 1"):
        append_line(path, '"\ud800"', fsync=False)
    assert not path.exists()
