"""From what a user names (files, folders, globs, lists, URLs) to the logs that are read, in order."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from skillshift.frame.contract import FILE, RECORD
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.lines import JSONL_SUFFIXES, PARQUET_SUFFIXES, first_line, is_remote, suffix_of

SUFFIXES = (*JSONL_SUFFIXES, *PARQUET_SUFFIXES)
"""What the name of a log ends in."""

_EXPECTED = f"a name ending in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"

_PARQUET, _GZIP, _ZSTD = "Parquet", "gzip-compressed data", "zstd-compressed data"

_MAGIC = {b"PAR1": _PARQUET, b"\x1f\x8b": _GZIP, b"\x28\xb5\x2f\xfd": _ZSTD}
"""What a file begins with, by what it is."""


@dataclass(frozen=True, slots=True)
class Log:
    """One log that is read.

    Attributes:
        path: The file or URL, as messages name it.
        is_parquet: Whether it is Parquet; else it is JSON Lines.
        is_named: Whether the user named it outright, rather than a folder or a glob.
        partitions: What its folders say in the form ``KEY=VALUE``, as text, from the outermost in.
    """

    path: str
    is_parquet: bool
    is_named: bool
    partitions: tuple[tuple[str, str | None], ...]

    @property
    def is_remote(self) -> bool:
        """Whether it is behind a URL."""
        return is_remote(self.path)


def find_logs(source: Any) -> tuple[Log, ...]:
    """The logs that a source names, sorted by path, each once.

    Folders are searched to the bottom; there and in globs, hidden files and folders (their name begins
    with a dot) and files that are not named like a log are passed over.

    Args:
        source: A path, a glob, a URL, or an iterable of those. In a URL of an object store, a glob must
            end in a log's suffix.

    Raises:
        InputError: Something named does not exist, is not a log, is empty, or is not what its suffix
            says; a folder or a glob holds no log.
        UsageError: The source is none of the above.
    """
    found: dict[str, tuple[str, bool]] = {}
    for item in _items(source):
        for key, path in _files(item):
            # Of two names for one file the first by path stays, whatever the order in which they were given.
            found[key] = min((path, path == item), found.get(key, (path, path == item)))
    logs = tuple(_log(path, is_named=is_named) for path, is_named in sorted(found.values()))
    for log in logs:
        if not log.is_remote:
            _check_content(log)
    return logs


def _items(source: Any) -> list[str]:
    if isinstance(source, str | os.PathLike):
        return [_as_path(source)]
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        items = list(source)
        if not items:
            raise InputError("no log was named: the list of files is empty")
        for item in items:
            if not isinstance(item, str | os.PathLike):
                raise UsageError(
                    f"found {type(item).__name__} in a list of logs, expected paths; concatenate frames first"
                )
        return [_as_path(item) for item in items]
    raise UsageError(f"found {type(source).__name__}, expected a path, a list of paths, or a frame")


def _as_path(item: str | os.PathLike[str]) -> str:
    text = os.fspath(item)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"found {text!r}, expected the name of a log, a folder or a glob")
    if text.startswith("file://"):
        return url2pathname(urlsplit(text).path)
    if is_remote(text):
        return text
    return str(Path(text).expanduser())


def _files(item: str) -> list[tuple[str, str]]:
    """The files that an item stands for, each after what tells whether two are the same."""
    try:
        paths = _expand(item)
        "".join(paths).encode()
        return [(path if is_remote(path) else os.path.realpath(path), path) for path in paths]
    except InputError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(f"{item!a}: a file's name is not UTF-8: {error.object!a}; rename it") from error
    except (OSError, ValueError) as error:
        # A name that is too long, say, or that no file can have.
        raise InputError(f"{item!a}: cannot be looked up: {first_line(error)}") from error


def _expand(item: str) -> list[str]:
    if is_remote(item):
        return _expand_url(item)
    path = Path(item)
    if path.is_dir():
        _refuse_log_name(path)
        return _walk(item)
    if path.exists() or not glob.has_magic(item):
        return [item]
    found: list[str] = []
    for match in glob.glob(item, recursive=True):  # noqa: PTH207 - pathlib takes no absolute patterns
        if Path(match).is_dir():
            _refuse_log_name(Path(match))
            # `**` matches every folder itself; what they hold is matched, or not, by the rest of the pattern.
            if not item.rstrip("/").endswith("**"):
                found += _walk(match, must_hold=False)
        elif suffix_of(match, SUFFIXES):
            found.append(match)
    if not found:
        raise InputError(f"{item}: the glob matches no log; expected {_EXPECTED}")
    return found


def _refuse_log_name(folder: Path) -> None:
    if suffix_of(folder.name, SUFFIXES):
        raise InputError(
            f"{folder}: is a folder, but is named like a log; rename it, or name its files: {folder / '*'}"
        )


def _walk(folder: str, *, must_hold: bool = True) -> list[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: the folder could not be read: {error.strerror}") from error

    found: list[str] = []
    seen: set[str] = set()
    for here, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(here)
        folders[:] = [] if real in seen else sorted(name for name in folders if not name.startswith("."))
        if real in seen:  # a link back to a folder above
            continue
        seen.add(real)
        inside = Path(here)
        for name in folders:
            _refuse_log_name(inside / name)
        found += [
            str(inside / name) for name in files if not name.startswith(".") and suffix_of(name, SUFFIXES)
        ]
    if must_hold and not found:
        raise InputError(f"{folder}: the folder holds no log; expected {_EXPECTED}")
    return found


def _expand_url(url: str) -> list[str]:
    if suffix_of(url, SUFFIXES) is None:
        raise InputError(
            f"{url}: expected {_EXPECTED}; for a folder, a glob such as {url.rstrip('/')}/*.parquet"
        )
    if not re.search(r"[*\[]", url.partition("?")[0]):
        return [url]
    import polars as pl

    try:
        if suffix_of(url, PARQUET_SUFFIXES):
            # What the columns are is looked at later, file by file.
            rows = pl.scan_parquet(
                url, include_file_paths="path", missing_columns="insert", extra_columns="ignore"
            )
        else:
            rows = pl.scan_lines(url, include_file_paths="path")
        frame = rows.select("path").unique().collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{url}: could not be read: {first_line(error)}") from error
    found: list[str] = frame.to_series().to_list()
    if not found:
        raise InputError(f"{url}: the glob matches no log")
    return found


def _log(path: str, *, is_named: bool) -> Log:
    suffix = suffix_of(path, SUFFIXES)
    if suffix is None and not Path(path).exists():
        raise InputError(f"{path}: no such file")
    if suffix is None:
        raise InputError(f"{path}: not named like a log; expected {_EXPECTED}")
    parts = PurePosixPath(path.partition("?")[0] if is_remote(path) else Path(path).as_posix()).parts[:-1]
    pairs = (part.partition("=") for part in parts)
    partitions = {
        key: None if value == _NULL_PARTITION else unquote(value)
        for key, equals, value in pairs
        if key and equals
    }
    reserved = sorted({FILE, RECORD} & set(partitions))
    if reserved:
        raise InputError(
            f"{path}: the folder {reserved[0]}=... has the name of a column that readers add; rename it"
        )
    return Log(path, suffix in PARQUET_SUFFIXES, is_named, tuple(partitions.items()))


def _check_content(log: Log) -> None:
    path = Path(log.path)
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file; write what comes from it to one first")
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except PermissionError as error:
        raise InputError(f"{path}: may not be read; check its permissions") from error
    except OSError as error:
        raise InputError(f"{path}: could not be read: {error.strerror}") from error
    if not start:
        raise InputError(f"{path}: the file is empty; expected at least one record")
    found = next((what for magic, what in _MAGIC.items() if start.startswith(magic)), None)
    suffix = path.suffix.lower()
    named = {".parquet": _PARQUET, ".gz": _GZIP, ".zst": _ZSTD}.get(suffix)
    if found != named:
        raise InputError(
            f"{path}: the suffix {suffix} stands for {named or 'plain text'}, but the content is "
            f"{found or 'something else'}; give the file the suffix of what it is"
        )


def run_names(logs: Sequence[Log]) -> dict[str, str]:
    """The name of the run that each log holds, from its path.

    The name is the path below the folder that all logs share, without the log's suffix. Where all logs
    have the same file name, as in ``runs/a/per_task.jsonl`` and ``runs/b/per_task.jsonl``, their folders
    tell them apart and the file name is left out; so it is for the only log of a folder.

    Raises:
        InputError: Two logs would get one name.
    """
    paths = {log.path: _whole_path(log) for log in logs}
    by_folder = len({path.name for path in paths.values()}) == 1 and (len(logs) > 1 or not logs[0].is_named)
    folders = [str(path.parent) for path in paths.values()]
    mixed = len({log.is_remote for log in logs}) > 1
    shared = PurePosixPath("/" if mixed else os.path.commonpath(folders))
    names: dict[str, str] = {}
    for key, path in paths.items():
        below = path.parent if by_folder else path.with_name(_stem(path.name))
        names[key] = below.name if below == shared else str(below.relative_to(shared))
    twice = [name for name, n in Counter(names.values()).items() if n > 1]
    if twice:
        both = ", ".join(key for key, name in names.items() if name == twice[0])
        raise InputError(f"the run's name cannot come from the path: {both} would all be {twice[0]!r}")
    return names


def _whole_path(log: Log) -> PurePosixPath:
    if log.is_remote:
        return PurePosixPath("/", log.path.partition("?")[0])
    return PurePosixPath(Path(log.path).absolute().as_posix())


def _stem(name: str) -> str:
    return name[: len(name) - len(suffix_of(name, SUFFIXES) or "")]
