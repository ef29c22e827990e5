"""What a command says of a file that a kill has left torn: a note, in place of Python's warning."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from skillshift.frame.append import TornLineWarning
from skillshift.frame.console import note

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def noting() -> Iterator[None]:
    """Show each :class:`~skillshift.frame.append.TornLineWarning` within as one line on stderr.

    Other warnings are shown as before. For a command line, whose reader has no use for the place in the code
    that warns; a library's caller gets the warning itself.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", TornLineWarning)
        usual = warnings.showwarning

        def show(  # noqa: PLR0917 - the parameters are those of warnings.showwarning
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, TornLineWarning):
                note(f"note: {message}")
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
