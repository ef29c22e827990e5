"""From the n-th record of a file to its line: what messages show and fast readers do not keep.

A *line* is what stands between two line feeds, counted from 1. A *record* is a line that is neither
blank nor a comment, counted from 0. Fast readers know records only; messages name lines.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JSONL_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
"""What the name of a JSON Lines log ends in."""

PARQUET_SUFFIXES = (".parquet",)
"""What the name of a Parquet log ends in."""

BOM = b"\xef\xbb\xbf"
"""A UTF-8 byte order mark; passed over at the start of a file."""

BLANK = b" \t\r\n"
"""What a blank line consists of: JSON's own white space."""

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Whether a path is a URL, such as ``s3://bucket/log.jsonl``."""
    return _REMOTE.match(path) is not None


def suffix_of(path: str, suffixes: Iterable[str]) -> str | None:
    """The longest of the suffixes that a path ends in, case ignored; a URL's query is not looked at."""
    name = path.partition("?")[0] if is_remote(path) else path
    found = [suffix for suffix in suffixes if name.lower().endswith(suffix)]
    return max(found, key=len, default=None)


def first_line(error: Exception) -> str:
    """What an error says, without the chain of causes that libraries add."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but white space."""
    return not line.strip(BLANK)


def is_comment(line: bytes) -> bool:
    """Whether a line is a comment: its first mark is ``#``."""
    return line.lstrip(BLANK).startswith(b"#")


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a local text log for reading bytes; ``.gz`` and ``.zst`` are unpacked on the way.

    Raises:
        InputError: The file is missing, may not be read, is a folder, or its packing is damaged.
    """
    try:
        with _open(path) as stream:
            yield stream
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a folder, not a log") from error
    except PermissionError as error:
        raise InputError(f"{path}: may not be read; check its permissions") from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path}: its compressed data is cut or damaged ({error}); copy it again") from error
    except OSError as error:
        # Both gzip and zstd report damage this way, and so does a failing disk.
        raise InputError(f"{path}: could not be read to its end ({error}); copy it again") from error


def _open(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.lower().endswith(".zst"):
        import pyarrow as pa  # type: ignore[import-untyped]

        with Path(path).open("rb"):  # pyarrow's own error for a missing file does not say what kind it is
            pass
        return cast("IO[bytes]", io.BufferedReader(pa.input_stream(path, compression="zstd")))
    return Path(path).open("rb")


def lines_of(path: str) -> Iterator[tuple[int, bytes]]:
    """Every line of a JSON Lines log that is not blank, with its number from 1.

    The line feed stays on, so that a last line without one can be told; the byte order mark goes.
    A URL is read whole before its first line comes.

    Args:
        path: A local file or a URL.

    Raises:
        InputError: As :func:`opened`.
    """
    if is_remote(path):
        yield from _remote_lines(path)
        return
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            bare = line.removeprefix(BOM) if number == 1 else line
            if not is_blank(bare):
                yield number, bare


def _remote_lines(path: str) -> Iterator[tuple[int, bytes]]:
    import polars as pl

    try:
        lines = pl.scan_lines(path, glob=False).collect().to_series()
    except (OSError, pl.exceptions.ComputeError) as error:
        raise InputError(f"{path}: could not be read: {first_line(error)}") from error
    for number, text in enumerate(lines, 1):
        line = text.encode()
        bare = line.removeprefix(BOM) if number == 1 else line
        if not is_blank(bare):
            yield number, bare + b"\n" * (number < len(lines))


def line_numbers(places: Iterable[tuple[str | None, int]]) -> dict[tuple[str | None, int], int]:
    """The line of each record.

    Args:
        places: Pairs of a file and the 0-based number of a record in it. The file is null where the
            records came from a frame.

    Returns:
        For each pair the 1-based line of a JSON Lines file; for a Parquet file or a frame, which have no
        lines, the 1-based row.

    Raises:
        InputError: A file can no longer be read.

    Example:
        >>> line_numbers([(None, 0), ("runs.parquet", 41)])
        {(None, 0): 1, ('runs.parquet', 41): 42}
    """
    wanted: dict[str, set[int]] = {}
    found: dict[tuple[str | None, int], int] = {}
    for file, record in places:
        if file is not None and suffix_of(file, JSONL_SUFFIXES) is not None:
            wanted.setdefault(file, set()).add(record)
        else:
            found[file, record] = record + 1
    for file, records in wanted.items():
        for record, (number, _) in records_of(file, records):
            found[file, record] = number
    return found


def records_of(path: str, records: set[int]) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Those records of a JSON Lines log: their number from 0, their line's number from 1, and the line."""
    last = max(records)
    # A comment is never a record: where comments are not allowed, such a line is refused.
    data = ((number, line) for number, line in lines_of(path) if not is_comment(line))
    for record, numbered in enumerate(data):
        if record in records:
            yield record, numbered
        if record == last:
            return


def as_text(line: bytes) -> str:
    r"""A line as text that can be shown and written, without its end; what is not UTF-8 as ``\xff``."""
    return line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
