"""What both command lines share: exit codes, quiet ends, one message on bad input, progress.

Exit codes: 0 done, 1 a finding, 2 a usage or input error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    import typer

DONE, FINDING, BAD_INPUT = 0, 1, 2
INTERRUPTED = 130
PROGRESS_AFTER = 2.0
"""Seconds before a long job says that it is at work."""


class Terminated(SystemExit):
    """The process was asked to end, which nobody may take for an end that some code chose."""


def run(app: typer.Typer) -> NoReturn:
    """Run a command line to its end: bad input is one message on stderr and exit code 2."""
    signal.signal(signal.SIGTERM, _terminate)
    # A job whose caller closed a stream writes to nowhere instead; its files and exit code are the same.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a character gets its escape, not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201  # the one place that prints errors
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        _quiet_stdout()
        sys.exit(DONE)
    sys.exit(DONE)


def _nowhere() -> TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    # Leaves through every `finally`, so that no half-written folder stays behind.
    raise Terminated(128 + number)


def _quiet_stdout() -> None:
    """Let the interpreter's last flush of a closed pipe go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit(text: str) -> None:
    """Write to standard output now, so that a closed pipe shows itself here; it is a quiet end, no error.

    Raises:
        InputError: Standard output cannot be written to, as it goes to a full disk, say.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _quiet_stdout()
    except ValueError as error:  # some code has closed it
        raise InputError("standard output is closed, so nothing can be shown; leave it open") from error
    except OSError as error:
        _quiet_stdout()
        raise InputError(
            f"standard output cannot be written: {error.strerror or error}; send it to a place with room"
        ) from error


def note(text: str) -> None:
    """Say something on stderr, where it does not mix with results."""
    print(text, file=sys.stderr)  # noqa: T201  # notes belong to the command line


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show on a terminal's stderr that a long job is at work; on anything else, nothing."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(doing)
    timer = threading.Timer(PROGRESS_AFTER, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
