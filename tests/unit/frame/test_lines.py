from __future__ import annotations

import pytest

from skillshift.frame.errors import InputError
from skillshift.frame.lines import (
    as_text,
    first_line,
    is_blank,
    is_comment,
    is_remote,
    line_numbers,
    lines_of,
)

SPACED = '\ufeff\n\n{"a": 1}\r\n  \n# no record\n\t\r\n{"a": 2}\n{"a": 3}'


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.zst", ".JSONL"])
def test_a_record_is_a_line_that_is_neither_blank_nor_a_comment(put, suffix):
    path = str(put(f"log{suffix}", SPACED))
    places = [(path, 2), (path, 0), (path, 1)]
    assert line_numbers(places) == {(path, 0): 3, (path, 1): 7, (path, 2): 8}


def test_rows_of_parquet_and_frames_count_from_one(tmp_path):
    path = str(tmp_path / "never-opened.parquet")
    assert line_numbers([(None, 0), (path, 9)]) == {(None, 0): 1, (path, 9): 10}


def test_lines_keep_their_end_and_lose_the_mark(put):
    path = put("log.jsonl", "\ufeff{}\r\n\n[]")
    assert list(lines_of(str(path))) == [(1, b"{}\r\n"), (3, b"[]")]


def test_only_a_line_feed_ends_a_line(put):
    path = put("log.jsonl", "a\rb\u2028c\x0bd\x85e\nf\n")
    assert [number for number, _ in lines_of(str(path))] == [1, 2]


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\n"])
def test_blank(line):
    assert is_blank(line)


@pytest.mark.parametrize("line", [b"\x0c", b"\xc2\xa0\n", b"0"])
def test_other_white_space_is_not_blank(line):
    assert not is_blank(line)


def test_comments_may_be_indented():
    assert is_comment(b" \t# x")
    assert not is_comment(b'{"a": "#"}')


def test_remote():
    assert is_remote("s3://bucket/a.jsonl")
    assert not is_remote("/a://b")
    assert not is_remote("C:/logs/a.jsonl")


def test_text_of_a_line_shows_what_is_not_utf8():
    assert as_text(b"a\xff\xc3\xa9\r\n") == "a\\xff\u00e9"


def test_first_line_of_an_error():
    assert first_line(ValueError("what\nwhy")) == "what"
    assert first_line(ValueError()) == "ValueError"


def test_damage_is_named(put, tmp_path):
    whole = put("log.jsonl.gz", "{}\n" * 9999).read_bytes()
    zst = put("log.jsonl.zst", "{}\n" * 9999).read_bytes()
    for name, content in {
        "cut.jsonl.gz": whole[:-9],
        "torn.jsonl.gz": whole[:30] + b"\xff\xff" + whole[32:],
        "trailing.jsonl.gz": whole + b"rest",
        "cut.jsonl.zst": zst[:-9],
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            list(lines_of(str(tmp_path / name)))


@pytest.mark.parametrize("name", ["no.jsonl", "no.jsonl.gz", "no.jsonl.zst"])
def test_a_missing_file_is_named(tmp_path, name):
    with pytest.raises(InputError, match="no such file"):
        line_numbers([(str(tmp_path / name), 0)])


def test_a_folder_is_no_log(tmp_path):
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        list(lines_of(str(tmp_path / "a.jsonl")))


def test_a_file_that_may_not_be_read_is_named(put, monkeypatch):
    path = put("log.jsonl", "{}")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match="may not be read"):
        list(lines_of(str(path)))
