"""Strangers' text in Markdown and LaTeX: shown as it is, never taken for markup, a link or a mention."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from skillshift.metrics import FLAG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SPECIAL = re.compile(r"[\\`*_\[\]<|~&$@]|#(?=\w)|:(?=//|[\w+-]+:)|(?<=\bwww)\.", re.IGNORECASE)
_SPLIT = "<!-- -->"
_BACKTICKS = re.compile(r"`+")

_LATEX: Mapping[str, str] = {
    **{mark: f"\\{mark}" for mark in "{}$&#%_"},
    **{mark: f"{{{mark}}}" for mark in "[]*"},  # after a line's end these would be its options
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"{\char96}",
}
_ACCENTS: Mapping[str, str] = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
LATEX_FLAG = r"\skillshiftflag"
LATEX_CHARACTER = r"\skillshiftchar"
"""The commands that :func:`latex` writes and that its document defines."""


def markdown(text: str) -> str:
    r"""Text that GitHub's Markdown shows as it is, in a line or a table's cell.

    A mention or an issue's number is split by an empty comment, which a backslash alone does not prevent.

    >>> markdown("*a* | <b> @you #1")
    '\\*a\\* \\| \\<b> \\@<!-- -->you \\#<!-- -->1'
    """
    escaped = _SPECIAL.sub(lambda found: f"\\{found[0]}" + _SPLIT * (found[0] in "@#"), text)
    return " ".join(escaped.split("\n"))


def markdown_code(text: str) -> str:
    """Text as Markdown's code, in which nothing is markup; outside of tables.

    >>> markdown_code("a `b` c")
    '``a `b` c``'
    """
    line = " ".join(text.split("\n"))
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(line)), default=0))
    pad = " " if line[:1] in ("`", " ") or line[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """A Markdown table of escaped texts; columns of numbers stand to the right."""
    rule = ["---:" if is_number else "---" for is_number in numbers]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in (head, rule, *rows))


def latex(text: str) -> str:
    r"""Text that LaTeX sets as it is, with any engine: ASCII with the accents that every font has.

    Anything else goes through ``\skillshiftchar``, which an engine without Unicode sets as its number.

    >>> latex("50 % of caf\u00e9_1 \u6539")
    "50 \\% of caf\\'{e}\\_1 \\skillshiftchar{6539}"
    """
    return (LATEX_FLAG + "{}").join(_latex(part) for part in text.split(FLAG))


def _latex(text: str) -> str:
    plain = "".join(map(_latex_character, unicodedata.normalize("NFC", text)))
    return plain.replace("--", "-{}-").replace("--", "-{}-").replace("?{\\char96}", "?{}{\\char96}")


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii():
        return character if character.isprintable() else " "
    base, *marks = list(unicodedata.normalize("NFD", character))
    if len(marks) == 1 and base.isascii() and base.isalpha() and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"{LATEX_CHARACTER}{{{ord(character):04X}}}"
