"""Count the skill calls of one task, as they happen."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator


def describe(error: BaseException) -> str:
    """An exception as the text that a log keeps of it: its type, and its message where it has one."""
    # A message may hold halves of surrogate pairs, from file names say, which no UTF-8 file can.
    message = str(error).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One call of an executable skill that has ended.

    Attributes:
        name: The skill's name.
        failure: Why the call failed; null where it did not.
    """

    name: str
    failure: str | None


class OpenCall:
    """A call of a skill that is under way; :meth:`SkillRecorder.call` hands it to the ``with`` block."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._failure: str | None = None
        self._ended = False

    def fail(self, reason: str) -> None:
        """Mark the call as failed; the block goes on. Of several reasons the first is kept.

        Args:
            reason: What went wrong.

        Raises:
            UsageError: The call has ended, or the reason is not text.
        """
        if not isinstance(reason, str) or not reason:
            raise UsageError(
                f"call of {self.name!r}: reason: found {shorten(reason)}, expected text, not empty"
            )
        if self._ended:
            raise UsageError(f"call of {self.name!r}: fail() after the call has ended; call it in its block")
        if self._failure is None:
            self._failure = reason

    def _end(self) -> SkillCall:
        self._ended = True
        return SkillCall(self.name, self._failure)


class SkillRecorder:
    """Counts the skill calls of one task.

    One recorder belongs to one task: it is closed once the task's record is written. Attach one to every
    task of a method that has executable skills, also where it may make no call: no call is 0, and only
    a task without a recorder has null. Recording never hides what happens: an exception that leaves a
    call's block makes it a failed call and is raised again. That holds for ``KeyboardInterrupt``,
    ``SystemExit`` and a cancelled coroutine too: a call that did not return is not a call that worked,
    and timeouts arrive that way.

    >>> recorder = SkillRecorder()
    >>> with recorder.call("log in") as call:
    ...     call.fail("no such button")
    >>> recorder.calls, recorder.failures, recorder.log
    (1, 1, (SkillCall(name='log in', failure='no such button'),))
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._log: list[SkillCall] = []
        self._open: OpenCall | None = None
        self._closed = False

    @property
    def calls(self) -> int:
        """How many calls have ended."""
        return len(self._log)

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return sum(call.failure is not None for call in self._log)

    @property
    def log(self) -> tuple[SkillCall, ...]:
        """The calls that have ended, in order."""
        return tuple(self._log)

    @property
    def open_call(self) -> str | None:
        """The name of the skill whose call is under way, if one is."""
        return None if self._open is None else self._open.name

    @property
    def closed(self) -> bool:
        """Whether its task's record is written."""
        return self._closed

    @contextmanager
    def call(self, name: str) -> Iterator[OpenCall]:
        """Record one call of a skill: ``with recorder.call(name) as call: ...``.

        Args:
            name: The skill's name.

        Yields:
            The call, for its ``fail(reason)``.

        Raises:
            UsageError: The name is not text, a call is under way (calls do not nest, and one recorder serves
                one thread at a time), or the recorder is closed. The recorder stays as it was, so the call
                under way can go on; left to itself the error leaves that call's block and fails it.
        """
        call = self._begin(name)
        try:
            yield call
        except BaseException as error:
            if call._failure is None:  # noqa: SLF001
                call.fail(describe(error))
            raise
        finally:
            with self._guard:
                self._log.append(call._end())  # noqa: SLF001
                self._open = None

    def close(self) -> None:
        """Say that the task is over; no further call is taken.

        Raises:
            UsageError: The recorder is closed already, or a call is under way.
        """
        with self._guard:
            self._check_idle("the task cannot end")
            self._closed = True

    def _begin(self, name: str) -> OpenCall:
        if not isinstance(name, str) or not name:
            raise UsageError(f"skill call: name: found {shorten(name)}, expected text, not empty")
        with self._guard:
            self._check_idle(f"{name!r} cannot be called")
            self._open = OpenCall(name)
            return self._open

    def _check_idle(self, refused: str) -> None:
        if self._closed:
            raise UsageError(f"{refused}: this recorder's task is written; make one SkillRecorder a task")
        if self._open is not None:
            raise UsageError(
                f"{refused} while the call of {self._open.name!r} is under way: calls do not nest; leave its"
                " block first, and record a skill that calls skills as one call"
            )
