"""What of a prompt leaves the machine: all of it, its beginning, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

WITHHELD = "[prompt withheld]"
"""What is sent as the task where prompts may not be uploaded."""

INSTALL = "pip install 'skillshift[router]'"
"""How to get the libraries that routers need and the rest does not."""


def sent(prompts: pl.Series, *, max_chars: int | None = None, upload: bool = True) -> pl.Series:
    """The task texts that are sent for prompts.

    Args:
        prompts: Prompts (text).
        max_chars: At most so many characters (code points) are sent; null sends all.
        upload: Whether prompts may be sent; if not, :data:`WITHHELD` goes instead of each.

    Returns:
        Text, one a prompt, null where the prompt is. A text that is cut is the longest beginning within the
        limit that ends where a reader sees a character end (a grapheme cluster: a letter with its marks, an
        emoji with all its parts). Where the first one alone is longer than the limit, nothing is left.

    Raises:
        UsageError: ``max_chars`` is not a whole number from 1, or the library that knows where characters
            end is not installed.

    Example:
        >>> sent(pl.Series(["Tie\u0302\u0301ng Vie\u0302\u0323t"]), max_chars=4).to_list()
        ['Ti']
    """
    if max_chars is not None and (type(max_chars) is not int or max_chars < 1):
        raise UsageError(f"max_prompt_chars: found {shorten(max_chars)}, expected a whole number from 1")
    prompts = prompts.cast(pl.String)
    if not upload:
        kept = pl.when(prompts.is_not_null()).then(pl.lit(WITHHELD))
        return pl.select(kept.alias(prompts.name)).to_series()
    if max_chars is None:
        return prompts
    long = (prompts.str.len_chars() > max_chars).fill_null(False)
    if not long.any():
        return prompts
    beginning = _cutter(max_chars)
    cut = pl.Series([beginning(text) for text in prompts.filter(long)], dtype=pl.String)
    return prompts.scatter(long.arg_true(), cut)


def _cutter(limit: int) -> Callable[[str], str]:
    """The function that cuts one text; Polars knows code points, not what is one character to a reader."""
    try:
        import regex
    except ImportError as error:
        raise UsageError(f"max_prompt_chars needs the library regex, which is missing: {INSTALL}") from error
    cluster = regex.compile(r"\X")

    def beginning(text: str) -> str:
        end = 0
        for match in cluster.finditer(text):
            if match.end() > limit:
                break
            end = match.end()
        return text[:end]

    return beginning
