"""The journal of a recording that is being made: flushed with every response, resumed after a kill."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillful_eval.holding import HeldError, Hold
from skillful_eval.recording.document import read_recording
from skillful_eval.recording.lines import Line, journal_of, read_line, read_lines
from skillshift.frame.append import TORN, TornLineWarning, append_line, mend
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.writing import write_text

if TYPE_CHECKING:
    from skillful_eval.recording.document import Recording


LOCK = ".lock"
"""What is added to a journal's name for the file that keeps other processes from it."""


class Journal:
    """The responses recorded so far, in a file that gains a line with each. Threads may share it.

    One process has it: until it is closed, every other one is refused. (On Windows, where there are no such
    locks, another one is noticed when something is written.)

    Args:
        path: The recording that will be made of it.

    Raises:
        UsageError: The recording exists already, or is being made by another process.
        InputError: The journal cannot be written, or what is in it is not as it was written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = journal_of(path)
        self._lock = threading.Lock()
        self._failure: InputError | None = None
        self._lines: dict[tuple[str, int], str] = {}
        self._settings: dict[str, Line] = {}
        self._made = False
        self._hold = self._held(path)
        try:
            self._open(Path(path))
        except BaseException:
            self._remove_empty()
            self._hold.release()
            raise
        self.resumed = len(self._lines)
        """How many responses there were from the start."""

    def _held(self, path: str | Path) -> Hold:
        try:
            return Hold(f"{self.path}{LOCK}")
        except HeldError as error:
            raise UsageError(
                f"{path}: is being recorded, by another process or by one of this process that was not "
                "closed; wait for it, or name another recording. Nothing was asked."
            ) from error
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def _open(self, path: Path) -> None:
        _refuse_existing(path, self.path)
        if os.path.lexists(self.path) and not self.path.is_file():
            raise InputError(f"{self.path}: is no regular file, expected a journal, or nothing")
        self._made = not self.path.exists()
        try:
            # Opened, not asked about: only that tells whether it can be written.
            with self.path.open("ab"):
                pass
        except OSError as error:
            raise self._unwritable(error) from error
        self._mend()
        for _, line in read_lines(self.path):
            self._keep(line)
        self._size = self.path.stat().st_size
        self._unended = self._size > 0 and not self.path.read_bytes().endswith(b"\n")

    def _mend(self) -> None:
        before = self.path.stat().st_size
        with warnings.catch_warnings():  # it says what is not so here: the response will be asked for
            warnings.simplefilter("ignore", TornLineWarning)
            mend(self.path)
        if self.path.stat().st_size != before:
            warnings.warn(
                f"{self.path}: ended in the middle of a response, as a write that was cut off leaves it; the "
                f"piece was moved to {self.path}{TORN}, and that response will be asked for again",
                TornLineWarning,
                stacklevel=4,
            )

    def _unwritable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or error
        return InputError(
            f"{self.path}: cannot be written: {reason}; responses are written there until the recording "
            "is whole, so choose a folder that exists and that you may write to. Nothing was asked."
        )

    def __len__(self) -> int:
        return len(self._lines)

    def find(self, asked: Line) -> Line | None:
        """The response that is there already, if any.

        Args:
            asked: What is asked now; its response is not looked at.

        Raises:
            UsageError: What is there was asked otherwise: the settings have changed.
            InputError: Writing has failed before; nothing further must be asked.
        """
        with self._lock:
            self._refuse_after_failure()
            return self._find(asked)

    def add(self, line: Line) -> Line:
        """Write a response, unless there is one already.

        Args:
            line: The response.

        Returns:
            The response that counts: this one, or the one that was there first.

        Raises:
            InputError: It cannot be written, or another process writes the same file. What was there stays.
        """
        with self._lock:
            self._refuse_after_failure()
            found = self._find(line)
            if found is not None:
                return found
            content = line.text()
            try:
                self._append(content)
            except InputError as error:
                self._failure = error
                raise
            self._keep(line, content)
            return line

    def close(self) -> None:
        """Let other processes have it; the file is removed where it was made here and nothing is in it."""
        with self._lock:
            if self._failure is None:
                self._remove_empty()
                self._failure = UsageError(
                    f"{self.path}: was closed, expected to be open to record a response"
                )
            self._hold.release()

    def _remove_empty(self) -> None:
        # Only with the lock: an empty file may be one that another process has just begun.
        if self._hold.held and self._made and not self._lines:
            with suppress(OSError):
                if self.path.stat().st_size == 0:
                    self.path.unlink()

    def _find(self, asked: Line) -> Line | None:
        known = self._settings.get(asked.fixture)
        if known is not None:
            differs = [name for name in ("task", "candidates", "asked") if _differs(known, asked, name)]
            if differs:
                self._failure = UsageError(
                    f"{self.path}: fixture {shorten(asked.fixture)}: found responses to "
                    f"{_MEANING[differs[0]]}, expected what is asked now: the journal is of a run with other "
                    "settings. Run with those, or name another recording, or remove the journal"
                )
                raise self._failure
        content = self._lines.get(asked.key)
        return None if content is None else read_line(content)

    def _append(self, content: str) -> None:
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            size = -1
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be read: {error.strerror}, expected the journal that this run writes; "
                "see that its folder can be read, and give the same command again to go on"
            ) from error
        if size != self._size:
            raise InputError(
                f"{self.path}: was changed by another process, expected to be the only one that writes it; "
                "let only one run record to it, and resume that"
            )
        append_line(self.path, content, fsync=False)
        self._size += len(content.encode()) + 1 + self._unended
        self._unended = False

    def _keep(self, line: Line, content: str | None = None) -> None:
        if line.key in self._lines:
            raise InputError(
                f"{self.path}: fixture {shorten(line.fixture)}, repeat {line.repeat}: found two responses, "
                "expected one; take one of the lines out"
            )
        self._lines[line.key] = line.text() if content is None else content
        self._settings.setdefault(line.fixture, replace(line, response={}))

    def _refuse_after_failure(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(str(self._failure)) from self._failure


_MEANING = {
    "task": "another task text",
    "candidates": "other candidates",
    "asked": "other texts of the candidates, another model or other questions",
}


def _differs(one: Line, other: Line, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def _refuse_existing(path: Path, journal: Path) -> None:
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise InputError(f"{path}: is no regular file, expected the name of a file that does not exist yet")
    # A kill between the last two steps of finishing leaves both files; then nothing is lost by going on.
    existing = _existing(path)
    begun = journal.is_file() and journal.stat().st_size > 0
    if not begun or not _holds(read_recording(journal), existing):
        raise UsageError(
            f"{path}: exists already, expected the name of a file that does not exist yet: replay this "
            "recording, or name another file. Nothing was asked."
        )


def _existing(path: Path) -> Recording:
    """The recording that is there."""
    try:
        return read_recording(path)
    except InputError as error:
        raise UsageError(
            f"{path}: exists already and is no recording, expected the name of a file that does not exist "
            "yet: name another file. That one was left as it is."
        ) from error


def _holds(journal: Recording, document: Recording) -> bool:
    """Whether all that a document says is in a journal."""
    return all(
        fixture in journal.entries
        and journal.entries[fixture].task == entry.task
        and entry.responses.items() <= journal.entries[fixture].responses.items()
        for fixture, entry in document.entries.items()
    )


def finish(path: str | Path) -> int:
    """Make the recording of its journal, whole or not at all, and then remove the journal.

    Args:
        path: The recording.

    Returns:
        How many responses the recording holds; 0 where none was recorded, and then there is no file.

    Raises:
        UsageError: There is a recording already that is not of this journal.
        InputError: The journal is not as it was written, or the recording cannot be written; the journal
            stays as it is.
    """
    target, journal = Path(path), journal_of(path)
    if journal.exists():
        if journal.stat().st_size:
            _refuse_existing(target, journal)
            write_text(target, read_recording(journal).text())
        try:
            journal.unlink()
        except OSError as error:
            raise InputError(f"{journal}: cannot be removed: {error.strerror}; {target} is whole") from error
    return _existing(target).responses if target.exists() else 0
