"""Reading a file's beginning without being held up by what it may turn out to be."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from skillful_eval.catalog.sources import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path


def read_start(path: Path, limit: int) -> bytes:
    """The first bytes of a regular file.

    Args:
        path: The file; symbolic links are followed.
        limit: How many bytes at most.

    Raises:
        UnreadableError: It is no regular file (a pipe would never end), or cannot be opened.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError("not a regular file")
        with path.open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


def decode(raw: bytes) -> str:
    """Bytes as text.

    Raises:
        UnreadableError: They are no text.
    """
    if b"\0" in raw:
        raise UnreadableError("not text: it holds null bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not UTF-8 text (at byte {error.start + 1:,})") from error
