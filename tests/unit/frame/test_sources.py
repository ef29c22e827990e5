from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.sources import Log, find_logs, run_names


def names(source, tmp_path):
    return [Path(log.path).relative_to(tmp_path).as_posix() for log in find_logs(source)]


def test_a_folder_is_searched_to_the_bottom_and_sorted(put, tmp_path):
    for name in ["b/c/2.jsonl", "b/1.ndjson", "a.jsonl.gz", "z.jsonl.zst", "A.JSONL"]:
        put(name, "{}")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "b" / "p.parquet")
    for passed_over in ["README.md", ".hidden.jsonl", ".cache/a.jsonl", "b/.x/y.jsonl", "b/_SUCCESS"]:
        put(passed_over, "x")
    expected = ["A.JSONL", "a.jsonl.gz", "b/1.ndjson", "b/c/2.jsonl", "b/p.parquet", "z.jsonl.zst"]
    assert names(tmp_path, tmp_path) == expected
    assert [log.is_parquet for log in find_logs(tmp_path)] == [name.endswith("parquet") for name in expected]


def test_globs(put, tmp_path):
    for name in ["a/1.jsonl", "a/2.jsonl", "b/1.jsonl", "b/x.txt", "b/.h.jsonl", "top.jsonl"]:
        put(name, "{}")
    assert names(f"{tmp_path}/*/1.jsonl", tmp_path) == ["a/1.jsonl", "b/1.jsonl"]
    assert names(f"{tmp_path}/b/*", tmp_path) == ["b/1.jsonl"]
    assert names(f"{tmp_path}/**/*.jsonl", tmp_path) == ["a/1.jsonl", "a/2.jsonl", "b/1.jsonl", "top.jsonl"]
    assert names(f"{tmp_path}/*", tmp_path) == ["a/1.jsonl", "a/2.jsonl", "b/1.jsonl", "top.jsonl"]
    assert names(f"{tmp_path}/**", tmp_path) == ["a/1.jsonl", "a/2.jsonl", "b/1.jsonl", "top.jsonl"]


def test_a_name_with_glob_marks_that_exists_is_that_file(put, tmp_path):
    put("a[1]*.jsonl", "{}")
    put("a1x.jsonl", "{}")
    assert names(tmp_path / "a[1]*.jsonl", tmp_path) == ["a[1]*.jsonl"]


def test_a_file_named_twice_is_read_once(put, tmp_path, monkeypatch):
    path = put("b/log.jsonl", "{}")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    sources = [path, str(path), path.as_uri(), "b/../b/log.jsonl", tmp_path, f"{tmp_path}/*/*.jsonl"]
    (log,) = find_logs(sources)
    assert find_logs(reversed(sources)) == (log,)


def test_a_link_to_a_folder_above_ends_the_search_there(put, tmp_path):
    put("a/log.jsonl", "{}")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert len(find_logs(tmp_path)) == 1


def test_a_linked_folder_is_searched_too(put, tmp_path):
    put("elsewhere/log.jsonl", "{}")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a").symlink_to(tmp_path / "elsewhere")
    assert names(tmp_path / "runs", tmp_path) == ["runs/a/log.jsonl"]


def test_a_url_of_a_file_is_that_file(put):
    path = put("\u00fc x/log 1.jsonl", "{}")
    assert [log.path for log in find_logs(path.as_uri())] == [str(path)]


def test_the_home_folder(put, monkeypatch, tmp_path):
    put("log.jsonl", "{}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert names("~/log.jsonl", tmp_path) == ["log.jsonl"]


def test_partitions_are_text_decoded(put):
    path = put("run=01/model=a%2Fb=c/x=/n=__HIVE_DEFAULT_PARTITION__/=y/plain/log.jsonl", "{}")
    (log,) = find_logs(path)
    assert log.partitions == (("run", "01"), ("model", "a/b=c"), ("x", ""), ("n", None))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda at: at / "no.jsonl", "no such file"),
        (lambda at: at / "no", "no such file"),
        (lambda at: at, "holds no log"),
        (lambda at: f"{at}/*.jsonl", "matches no log"),
        (lambda _: [], "list of files is empty"),
        (lambda _: "", "found ''"),
        (lambda _: " ", "found ' '"),
    ],
)
def test_nothing_there(tmp_path, make, message):
    with pytest.raises(InputError, match=message):
        find_logs(make(tmp_path))


@pytest.mark.parametrize("source", [None, 3, {"a": 1}, b"log.jsonl", [1], [pl.DataFrame()]])
def test_nothing_that_could_be_a_log(source):
    with pytest.raises(UsageError, match="expected"):
        find_logs(source)


def test_a_folder_named_like_a_log(tmp_path, put):
    put("ok.jsonl", "{}")
    (tmp_path / "runs.jsonl").mkdir()
    for source in [tmp_path / "runs.jsonl", tmp_path, f"{tmp_path}/*"]:
        with pytest.raises(InputError, match=r"runs\.jsonl: is a folder"):
            find_logs(source)


def test_a_file_without_a_log_suffix_is_refused_where_it_is_named(put):
    with pytest.raises(InputError, match="not named like a log"):
        find_logs(put("log.txt", "{}"))


def test_an_empty_file(put):
    with pytest.raises(InputError, match="is empty"):
        find_logs(put("log.jsonl", b""))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"PAR1....PAR1", "plain text, but the content is Parquet"),
        ("a.jsonl", b"\x1f\x8b\x08", "plain text, but the content is gzip"),
        ("a.jsonl", b"\x28\xb5\x2f\xfd", "plain text, but the content is zstd"),
        ("a.parquet", b'{"a": 1}', "Parquet, but the content is something else"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(put, name, content, message):
    with pytest.raises(InputError, match=message):
        find_logs(put(name, content))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_is_not_packed(tmp_path, suffix):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_text("{}")
    with pytest.raises(InputError, match="content is something else"):
        find_logs(path)


@pytest.mark.parametrize(
    "error", [PermissionError(13, "denied"), OSError(5, "I/O error"), FileNotFoundError(2, "gone")]
)
def test_a_file_that_cannot_be_opened(put, monkeypatch, error):
    path = put("log.jsonl", "{}")

    def refuse(*_args, **_options):
        raise error

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"log\.jsonl"):
        find_logs(path)


def test_a_folder_that_cannot_be_read(put, tmp_path, monkeypatch):
    put("a/log.jsonl", "{}")

    def walk(top, *, onerror, followlinks):  # noqa: ARG001
        onerror(PermissionError(13, "Permission denied", str(tmp_path / "a")))
        return iter(())

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(InputError, match="could not be read: Permission denied"):
        find_logs(tmp_path)


def logs(*paths, named=False):
    return [Log(path, is_parquet=False, is_named=named, partitions=()) for path in paths]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["runs/a/per_task.jsonl", "runs/b/per_task.jsonl"], ["a", "b"]),
        (["runs/a/x/log.jsonl", "runs/b/log.jsonl"], ["a/x", "b"]),
        (["runs/log.jsonl", "runs/a/log.jsonl"], ["runs", "a"]),
        (["runs/1.jsonl", "runs/2.jsonl.gz", "runs/a/3.parquet"], ["1", "2", "a/3"]),
        (["runs/a/per_task.jsonl"], ["a"]),
        (["/x/\u00fc b/log.jsonl", "/x/c/log.jsonl"], ["\u00fc b", "c"]),
        (["s3://bucket/runs/a/log.jsonl?v=1", "s3://bucket/runs/b/log.jsonl"], ["a", "b"]),
        (["/x/a.jsonl", "s3://bucket/b.jsonl"], ["x/a", "s3:/bucket/b"]),
    ],
)
def test_run_names(paths, expected):
    assert run_names(logs(*paths)) == dict(zip(paths, expected, strict=True))


def test_the_only_log_gives_its_own_name_where_it_is_named_itself():
    assert run_names(logs("runs/mine.jsonl", named=True)) == {"runs/mine.jsonl": "mine"}


def test_run_names_do_not_depend_on_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_names(logs("log.jsonl")) == {"log.jsonl": tmp_path.name}


def test_two_logs_with_one_run_name():
    with pytest.raises(InputError, match=r"a.jsonl, runs/a.parquet would all be 'a'"):
        run_names(logs("runs/a.jsonl", "runs/a.parquet", "runs/b.jsonl"))


@pytest.mark.parametrize("url", ["s3://bucket/folder", "https://host/log.txt?x=.jsonl"])
def test_a_url_must_say_what_it_is(url):
    with pytest.raises(InputError, match="expected a name ending in"):
        find_logs(url)


def test_a_url_is_taken_as_it_is():
    url = "https://host/run=7/log.JSONL?token=a=b/c"
    assert find_logs([url, url]) == (Log(url, is_parquet=False, is_named=True, partitions=(("run", "7"),)),)


@pytest.mark.parametrize("name", ["x" * 5000 + ".jsonl", "a\0b.jsonl"])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(InputError, match=r"\.jsonl"):
        find_logs(tmp_path / name)


def test_a_name_that_is_not_utf8(tmp_path):
    name = os.fsdecode(bytes(tmp_path) + b"/\xff.jsonl")
    Path(name).write_text("{}")
    for source in [tmp_path, name]:
        with pytest.raises(InputError, match="is not UTF-8") as caught:
            find_logs(source)
        assert str(caught.value).isascii()


def test_a_pipe_is_no_log(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="is not a regular file"):
        find_logs(tmp_path)


@pytest.mark.parametrize("name", ["_file", "_record"])
def test_a_folder_cannot_name_a_column_that_readers_add(tmp_path, name):
    folder = tmp_path / f"{name}=x"
    folder.mkdir()
    (folder / "log.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=rf"the folder {name}=\.\.\."):
        find_logs(tmp_path)
