"""Writing: whole or not at all, and the same rows give the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.writing import (
    dump_json,
    refuse_overwriting,
    sha256,
    staged,
    write_parquet,
    write_text,
)

NAMES = ("cells.parquet", "manifest.json", "report.md")


def fill(folder, text, names=NAMES):
    for name in names:
        (folder / name).write_text(text, encoding="utf-8")


def contents(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def break_off(place, error):
    fill(place, "half", NAMES[:2])
    raise error


@pytest.fixture
def out(tmp_path):
    """A folder that holds an earlier report and a file of somebody else."""
    folder = tmp_path / "out"
    folder.mkdir()
    fill(folder, "earlier")
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    return folder


EARLIER = dict.fromkeys(NAMES, "earlier") | {"mine.txt": "mine"}


# -- several files ---------------------------------------------------------------------------------------


def test_a_new_folder_appears_whole(tmp_path):
    folder = tmp_path / "a" / "b é"
    with staged(folder) as place:
        assert not folder.exists()
        assert list(place.iterdir()) == []
        fill(place, "new")
    assert contents(folder) == dict.fromkeys(NAMES, "new")
    assert [path.name for path in folder.parent.iterdir()] == ["b é"]


def test_a_new_folder_has_the_rights_that_mkdir_gives(tmp_path):
    (tmp_path / "plain").mkdir()
    with staged(tmp_path / "out") as place:
        fill(place, "new")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_in_an_earlier_folder_files_are_replaced_and_others_stay(out):
    with staged(str(out)) as place:
        fill(place, "new", NAMES[:2])
        assert [(out / name).read_text(encoding="utf-8") for name in NAMES] == ["earlier"] * 3
    assert contents(out) == EARLIER | dict.fromkeys(NAMES[:2], "new")


@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), KeyboardInterrupt(), SystemExit(143), InputError("no")]
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path, out, error, exists):
    folder = out if exists else tmp_path / "new"
    with pytest.raises(type(error)), staged(folder) as place:
        break_off(place, error)
    assert contents(out) == EARLIER
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), pl.exceptions.ComputeError("No space")]
)
def test_a_full_disk_is_one_clear_error(out, error):
    with (
        pytest.raises(InputError, match=r"out: cannot be written: No space.*Nothing was changed"),
        staged(out),
    ):
        raise error
    assert contents(out) == EARLIER


def test_files_that_cannot_all_be_moved_are_all_put_back(out):
    (out / "zzz").mkdir()
    with pytest.raises(InputError, match="Nothing was changed"), staged(out) as place:
        fill(place, "new", (*NAMES, "zzz"))
    (out / "zzz").rmdir()
    assert contents(out) == EARLIER


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interruption_between_two_moves_puts_the_earlier_files_back(out, monkeypatch, error, after):
    moves = []
    really = Path.replace

    def replace(self, target):
        if self.parent.name.startswith(".partial-"):
            moves.append(target)
            if len(moves) > after:
                raise error
        return really(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((InputError, KeyboardInterrupt)), staged(out) as place:
        fill(place, "new", (*NAMES, "brand new"))
    assert len(moves) == after + 1
    assert contents(out) == EARLIER


def test_a_file_in_the_place_of_the_folder_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    for folder in (tmp_path / "out", tmp_path / "out" / "deeper"):
        with pytest.raises(InputError, match="cannot be written"), staged(folder) as place:
            fill(place, "new")
    assert contents(tmp_path) == {"out": "a file"}


@contextmanager
def without_privileges():
    """Be somebody who may not write everywhere, as root may."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such rights there")
def test_a_folder_that_may_not_be_written_to_is_one_clear_error():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, "earlier")
        folder.chmod(0o555)
        with without_privileges():
            for denied in (folder, folder / "new"):
                with (
                    pytest.raises(InputError, match=r"Permission denied\. Nothing was changed"),
                    staged(denied),
                ):
                    pytest.fail("nothing can be written")
            with pytest.raises(InputError, match=r"Permission denied\. Nothing was changed"):
                write_text(folder / "report.md", "new")
        assert contents(folder) == dict.fromkeys(NAMES, "earlier")
        folder.chmod(0o755)


LIMITED = """
import resource, sys
from pathlib import Path
import polars as pl
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.writing import staged, write_parquet, write_text
folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
many = pl.DataFrame({"a": range(100_000)}).with_columns(pl.col("a").hash())
def parquet():
    with staged(folder) as place:
        (place / "report.md").write_text("new")
        write_parquet(many, place / "cells.parquet", {})
def text():
    write_text(folder / "report.md", "x" * 100_000)
for write in (parquet, text):
    try:
        write()
    except InputError as error:
        print(str(error).splitlines()[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited there")
def test_a_disk_that_fills_up_damages_nothing(out, root):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(out)], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.count("cannot be written: ") == 2, done
    assert contents(out) == EARLIER


# -- one text file ---------------------------------------------------------------------------------------


def test_a_text_is_written_as_it_is(tmp_path):
    write_text(tmp_path / "a é.txt", "one\ntwo\r\nthree é")
    assert (tmp_path / "a é.txt").read_bytes() == "one\ntwo\r\nthree é".encode()
    write_text(str(tmp_path / "a é.txt"), "again")
    assert contents(tmp_path) == {"a é.txt": "again"}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_earlier_text_stays_until_the_new_one_is_there(tmp_path, monkeypatch, error):
    def full(_descriptor):
        raise error

    (tmp_path / "a.txt").write_text("earlier", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((InputError, KeyboardInterrupt)):
        write_text(tmp_path / "a.txt", "new")
    assert contents(tmp_path) == {"a.txt": "earlier"}


@pytest.mark.parametrize("name", ["no/folder.txt", "file/below.txt", "folder", "", "/", "a\0b"])
def test_a_text_that_cannot_be_written_is_one_clear_error(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("a file", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_text(name, "new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_half_a_character_is_refused_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(InputError, match="surrogates not allowed"):
        write_text(tmp_path / "a.txt", "\udfff")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_regular_file_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_text(pipe, "through the pipe")
        assert reader.communicate(timeout=10)[0] == "through the pipe"
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


# -- formats ---------------------------------------------------------------------------------------------


def test_parquet_has_its_metadata_and_the_same_bytes_for_the_same_frame(tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "é"]})
    chunked = pl.concat([frame.head(1), frame.tail(2)], rechunk=False)
    metadata = {"schema_version": "1", "grid": '{"name": "g"}'}
    write_parquet(frame, tmp_path / "one.parquet", metadata)
    write_parquet(chunked, tmp_path / "two.parquet", metadata)
    assert chunked.n_chunks() == 2
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert pl.read_parquet(tmp_path / "one.parquet").equals(frame)
    found = pl.read_parquet_metadata(tmp_path / "one.parquet")
    assert {key: found[key] for key in metadata} == metadata


def test_parquet_is_compressed_with_zstd(tmp_path):
    import pyarrow.parquet as pq

    write_parquet(pl.DataFrame({"a": [1]}), tmp_path / "one.parquet", {})
    assert pq.ParquetFile(tmp_path / "one.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_json_is_sorted_readable_and_strict():
    text = dump_json({"b": 1, "a": [None, "é", 0.1]})
    assert text == '{\n  "a": [\n    null,\n    "é",\n    0.1\n  ],\n  "b": 1\n}\n'
    assert json.loads(text) == {"a": [None, "é", 0.1], "b": 1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_json({"a": float("nan")})


def test_a_hash_is_that_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# -- outputs that are inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    ["logs/a.jsonl", "./logs/../logs/a.jsonl", "logs", "logs/*.jsonl", "link.jsonl", "hard.jsonl",
     ["none.json", "logs"]],
)  # fmt: skip
def test_an_output_may_not_be_an_input(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to("logs/a.jsonl")
    (tmp_path / "hard.jsonl").hardlink_to("logs/a.jsonl")
    out = tmp_path / "logs" / "a.jsonl"
    with pytest.raises(UsageError, match=r"--out .*a\.jsonl: is the file of --fixtures \S+ as well"):
        refuse_overwriting({"--out": out}, {"--fixtures": source})
    with pytest.raises(UsageError, match="is the file of --fixtures"):
        refuse_overwriting({"--out": out}, {"--fixtures": f"file://{out}"})
    refuse_overwriting(
        {"--out": tmp_path / "logs" / "b.jsonl", "--more": None}, {"--fixtures": source, "--x": None}
    )


def test_two_outputs_may_not_be_one_file(tmp_path):
    with pytest.raises(UsageError, match=r"--out .*: is the file of --record "):
        refuse_overwriting({"--record": tmp_path / "x", "--out": tmp_path / "y" / ".." / "x"}, {})


def test_what_cannot_be_looked_up_or_replaced_is_left_to_others(tmp_path):
    for name in ("/dev/null", "x\0y", "x" * 5000, "https://x.example/a.jsonl"):
        refuse_overwriting({"--out": name}, {"--fixtures": name, "--corpus": tmp_path})
