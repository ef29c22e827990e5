"""One process at a time: a lock that the kernel gives back when the process ends, however it ends."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """There is no such lock here: one process at a time may do what is held elsewhere."""

    def _unlock(descriptor: int) -> None:
        """Undo nothing."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class HeldError(Exception):
    """Somebody else holds the lock."""


class Hold:
    """A lock that is held until it is released, or until its process ends.

    Args:
        path: The lock's file; made here, and removed with the release. A killed process leaves it behind,
            unlocked.

    Raises:
        HeldError: Another process holds it, or another one of these in this process.
        OSError: The file cannot be made.
        ValueError: The path has a null byte.
    """

    def __init__(self, path: str | Path) -> None:
        file = Path(path)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            # What was locked may have been removed meanwhile, by a process that was just done.
            alone = os.path.samestat(os.fstat(descriptor), file.stat())
        except (BlockingIOError, FileNotFoundError):
            alone = False
        except BaseException:
            os.close(descriptor)
            raise
        if not alone:
            os.close(descriptor)
            raise HeldError(str(file))
        self._release = weakref.finalize(self, _give_back, file, descriptor, os.getpid())

    @property
    def held(self) -> bool:
        """Whether it was not released yet."""
        return self._release.alive

    def release(self) -> None:
        """Give the lock back, and remove its file; once is enough."""
        self._release()


def _give_back(file: Path, descriptor: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked process has a copy of the open file, and must not unlock it
        with suppress(OSError):
            file.unlink()
        _unlock(descriptor)
    os.close(descriptor)
