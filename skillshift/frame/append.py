"""Append whole lines to a file that several processes write, and that any of them may be killed at.

Each line is one ``write`` to a file opened for appending, under the file's lock. What a killed process or
a lost connection left without an end is never joined with the next line, and never dropped unseen.

Importing this module imports no dataframe library.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from skillshift.frame.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """There is no such lock here: one process at a time may write a file."""

    def _unlock(descriptor: int) -> None:
        """Undo nothing."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


TORN = ".torn"
"""What is added to a file's name for the file that keeps its torn lines."""

_CHUNK = 1 << 16


class TornLineWarning(UserWarning):
    """A file ended in the middle of a record; the piece was moved to the file named in the message."""


def append_line(path: str | Path, line: str, *, fsync: bool) -> None:
    """Append one line: whole, or not at all.

    A file that does not end in a newline is mended first, as :func:`mend` does. A write that fails half
    way, on a full disk say, is taken back. Processes and threads may append to one file at the same time;
    on Windows, which has no advisory locks, one process may.

    Args:
        path: The file; made where it does not exist, its folder must exist.
        line: A JSON object on one line, without the newline.
        fsync: Whether to wait until the line is on the disk. A killed process loses nothing without it;
            a machine that loses its power may lose the last lines.

    Raises:
        UsageError: The line contains a newline.
        InputError: The text is not valid Unicode, or the file cannot be written; it is then as it was.
    """
    if "\n" in line or "\r" in line:
        raise UsageError(f"{path}: found a line break within one line, expected none")
    try:
        data = line.encode("utf-8") + b"\n"
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: the text has half of a surrogate pair at character {error.start}, which is not"
            " valid Unicode; nothing was written"
        ) from error
    try:
        with _locked(Path(path)) as descriptor:
            size = _mend(descriptor, path)
            # A whole last record without a newline gets it in the same write, so that no kill can part them.
            data = data if _ends_line(descriptor, size) else b"\n" + data
            try:
                _write(descriptor, data)
                if fsync:
                    os.fsync(descriptor)
                    _sync_folder(path, new=size == 0)
            except BaseException:
                os.ftruncate(descriptor, size)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error


def mend(path: str | Path) -> None:
    """Take the piece of a record off the end of a file, if one is there.

    A piece is what follows the last newline and is not a whole JSON object. It is added to the file
    ``<path>.torn`` and reported with a :class:`TornLineWarning`; then it is cut off the file. A last
    record that only lacks its newline stays.

    Args:
        path: The file; where it does not exist, nothing happens.

    Raises:
        InputError: The file cannot be read and written.
    """
    try:
        if Path(path).exists():
            with _locked(Path(path)) as descriptor:
                _mend(descriptor, path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str | Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: cannot be written: {error.strerror or error}; nothing was added to it."
        " Check the folder, its permissions and the free space."
    )


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    # Opened anew for every line: a lock belongs to the open file, and threads or forked processes that
    # share one open file do not exclude each other.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        _lock(descriptor)
        try:
            yield descriptor
        finally:
            # A process forked meanwhile holds a copy of the open file: closing alone would not unlock it.
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_line(descriptor: int, size: int) -> bool:
    return size == 0 or _read(descriptor, size - 1, 1) == b"\n"


def _read(descriptor: int, start: int, count: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    found = b""
    while len(found) < count and (more := os.read(descriptor, count - len(found))):
        found += more
    return found


def _mend(descriptor: int, path: str | Path) -> int:
    """Set a torn tail aside; the file's size after that."""
    size = os.fstat(descriptor).st_size
    start, tail = size, b""
    while start and b"\n" not in tail:
        begin = max(0, start - _CHUNK)
        tail = _read(descriptor, begin, start - begin) + tail
        start = begin
    tail = tail[tail.rfind(b"\n") + 1 :]
    if _is_whole(tail):
        return size
    beside = f"{path}{TORN}"
    keeper = os.open(beside, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _write(keeper, tail + b"\n")
        os.fsync(keeper)
    finally:
        os.close(keeper)
    size -= len(tail)
    os.ftruncate(descriptor, size)
    warnings.warn(
        f"{path}: ended in the middle of a record ({len(tail)} bytes), as a write that was cut off leaves it;"
        f" the piece was moved to {beside}, and its task has no record",
        TornLineWarning,
        stacklevel=4,
    )
    return size


def _is_whole(tail: bytes) -> bool:
    if not tail.strip():
        return True
    try:
        return isinstance(json.loads(tail), dict)
    except (ValueError, RecursionError):
        return False


def _sync_folder(path: str | Path, *, new: bool) -> None:
    """Make a new file's name as durable as its content."""
    if not new or sys.platform == "win32":
        return
    folder = os.open(Path(path).parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
