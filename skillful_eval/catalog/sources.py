"""What a walk over a catalogue's roots finds: files of capabilities, and what could not be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class UnreadableError(Exception):
    """One file, folder or entry that cannot be read; the reason is listed, and the rest goes on."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What was not read.

    Attributes:
        path: The file or folder, below the root as the user wrote it.
        reason: Why.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """One file that describes capabilities.

    Attributes:
        path: Where it is.
        shown: The same below the root as the user wrote it, for messages.
        kind: The kind of what it describes.
        runtime: The runtime that reads it.
        scope: ``global``, ``project``, or the plugin's name.
        name: What it is called where it does not say so itself: its folder's or its own name.
    """

    path: Path
    shown: str
    kind: str
    runtime: str
    scope: str
    name: str


def printable(text: str) -> str:
    """A file's name as it can be shown and written: bytes that are no text become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
