"""Prompts that need no capability, told by their form alone: no request is made for them."""

from __future__ import annotations

from functools import cache

import polars as pl

from skillful_eval.router.social import BESIDE, TURNS

SLASH_COMMAND, SHORT_PROMPT, SOCIAL_TURN = HEURISTICS = ("slash-command", "short-prompt", "social-turn")
"""Why a prompt is passed over, in the order in which they are tried."""

SHORT = 12
"""A prompt of fewer characters than this is short."""

_ENDS = r"^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$"
"""Blanks and invisible characters around a text."""

_ASCII_ENDS = "".join(map(chr, (*range(33), 127)))
"""Those of them that are ASCII."""

_FOLDERS = (
    "bin|dev|etc|home|lib|mnt|opt|proc|root|sbin|srv|sys|tmp|usr|var|Applications|Library|Users|Volumes"
)

# A command is one word; folders at the root of a system are no commands.
_COMMAND = r"^/\p{L}[\p{L}\p{M}\p{N}_:-]*[.,;!?]*(?:\s|$)"
_FOLDER = rf"^/(?:{_FOLDERS})\b[.,;!?]*(?:\s|$)"

_EMOTICON = r"[:;]-?[dp]\b|<3+\b|\bxd+\b"
_APOSTROPHE = r"['\u2018\u2019\u02bc\uff07]"


def heuristic(prompts: pl.Series) -> pl.Series:
    """Which prompts are passed over without a request, and why.

    Args:
        prompts: Prompts (text).

    Returns:
        Text, one a prompt: the first of these that holds, null where the prompt goes on or is null.

        - ``slash-command``: it begins with ``/`` and one word that begins with a letter (letters, digits,
          ``_``, ``-`` and ``:``), then a blank or the end. A path is told by what no command has: a second
          ``/``, a ``.`` within the word, or the name of a folder at the root of a system, such as ``/etc``.
        - ``short-prompt``: fewer than :data:`SHORT` code points in NFC, without blanks and invisible
          characters around them.
        - ``social-turn``: nothing but greetings, thanks, approvals and go-ons, in English or Vietnamese, one
          or several after each other; case, punctuation, emoji, blanks, accents and Unicode form aside. A
          prompt without any letter or digit is one as well.

    Example:
        >>> said = ["/review the diff", "/etc/hosts is broken", "ok", "Thanks, looks good to me!"]
        >>> heuristic(pl.Series(said)).to_list()
        ['slash-command', None, 'short-prompt', 'social-turn']
    """
    text = pl.col("text")
    looks = text.str.len_bytes() > text.str.len_chars()  # what is not ASCII may change its form
    looks |= (text.str.len_chars() < SHORT) | text.str.starts_with("/")
    looks |= text.str.strip_chars(_ASCII_ENDS).str.len_bytes() < text.str.len_bytes()
    plain = text.str.to_lowercase().str.replace_all("'", "", literal=True)
    looks |= plain.str.contains(_begins_socially())
    texts = prompts.cast(pl.String).alias("text").to_frame()
    # Most prompts are asked no more than whether they begin like one that is passed over.
    rows = texts.select(looks.fill_null(value=False)).to_series().arg_true()
    whole = without_ends(texts[rows].to_series()).to_frame()
    found = whole.select(reason(text)).to_series()
    none = pl.Series(prompts.name, [None], dtype=pl.String).new_from_index(0, prompts.len())
    return none.scatter(rows, found)


def without_ends(prompts: pl.Series) -> pl.Series:
    """Prompts without blanks and invisible characters around them."""
    return prompts.cast(pl.String).str.replace_all(_ENDS, "")


def reason(text: pl.Expr) -> pl.Expr:
    """Why a prompt is passed over: the whole definition, for any text :func:`without_ends`."""
    return (
        pl.when(text.str.contains(_COMMAND) & ~text.str.contains(_FOLDER))
        .then(pl.lit(SLASH_COMMAND))
        .when(text.str.normalize("NFC").str.len_chars() < SHORT)
        .then(pl.lit(SHORT_PROMPT))
        .when(_folded(text).str.contains(_social()))
        .then(pl.lit(SOCIAL_TURN))
    )


def _folded(text: pl.Expr) -> pl.Expr:
    """The words in lower case and without accents, each followed by one blank; nothing else is left."""
    plain = text.str.to_lowercase().str.replace_all(_EMOTICON, " ").str.replace_all(_APOSTROPHE, "")
    letters = (
        plain.str.normalize("NFKD").str.replace_all(r"\p{M}+", "").str.replace_all("đ", "d", literal=True)
    )
    return letters.str.replace_all(r"[^\p{L}\p{N}]+|$", " ").str.strip_chars_start()


@cache
def _social() -> str:
    """The expression that a folded text matches where it is a social turn as a whole."""
    beside, turn = _any_of(BESIDE), _any_of(TURNS)
    return rf"^(?:(?:{beside}) )*(?:{turn}) (?:(?:{beside}|{turn}) )*$|^$"


@cache
def _begins_socially() -> str:
    """What every social turn in ASCII begins with, in lower case and without apostrophes.

    No word at all, or one or two of such turns. It is not strict about where an emoticon begins and ends, as
    it decides nothing.
    """
    words = _phrases((*BESIDE, *TURNS)).str.split(" ").explode().unique(maintain_order=True)
    word = "|".join(f"{letters}+" for letters in words)
    between = rf"(?:[^a-z0-9]|{_EMOTICON})".replace(r"\b", "")
    return rf"^{between}*(?:$|(?:{word}){between}*$|(?:{word}){between}+(?:{word})(?:{between}|$))"


def _any_of(phrases: tuple[str, ...]) -> str:
    """An expression for any of them; the last letter may be drawn out (``thanksss``)."""
    return "|".join(f"{phrase}+" for phrase in _phrases(phrases))


def _phrases(phrases: tuple[str, ...]) -> pl.Series:
    folded = pl.select(_folded(pl.lit(pl.Series(phrases)))).to_series().str.strip_chars_end()
    return folded.unique(maintain_order=True)
