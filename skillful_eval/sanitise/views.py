"""Other ways to read a text: what is hidden by escapes, markup or look-alike characters comes to light.

A view remembers for each of its characters which part of the original it stands for, so that what is found
in a view can be cut out of the original.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "[redacted]"
"""What stands where something was taken out."""

_LAYERS = 4
"""How often an escape may itself be escaped and is still seen through."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_CONTROLS = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f"
_CLUSTER = re.compile(rf"[{_CONTROLS}]+|[\x00-\x7f][{_MARKS}]+|[^\x00-\x7f][{_MARKS}]*")
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+"
    r"|(?:\\u[0-9A-Fa-f]{4})+|(?:\\u\{[0-9A-Fa-f]{1,6}\})+|(?:\\x[0-9A-Fa-f]{2})+|\\/"
    r"|&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
)
_UNIT = re.compile(r"\\u\{?([0-9A-Fa-f]+)\}?")
_MARKUP = re.compile(
    r"<!--.{0,1000}?-->|</?[A-Za-z][^<>]{0,200}>|\*+|`+|~~|__|\\(?=[^\w\s\\])|[\[\]]", re.DOTALL
)
_JOINERS = re.compile(r"(?<=\w)[-_.~\u00b7\u2010-\u2015]+(?=\w)|_")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKED = re.compile(re.escape(MARK))
# Characters that take no room, beside those of category Cf: joiners, selectors, fillers.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}
# Scripts that put no blanks between words, or glue endings to them: Thai to Khmer, kana, Han, Hangul.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
# Full stops of other scripts, which address bars take for a full stop.
_STOPS = {0x3002: ".", 0xFF61: "."}


@dataclass(frozen=True, eq=False)
class View:
    """One way to read a text.

    Attributes:
        text: What is read.
        starts: For each character, where the part of the original that it stands for begins.
        ends: And where that part ends.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def span(self, match: re.Match[str], group: int = 0) -> tuple[int, int]:
        """The part of the original that a match (of at least one character) stands for."""
        first, last = match.span(group)
        return self.starts[first], self.ends[last - 1]

    @cached_property
    def folded(self) -> View:
        """The view without case and accents."""
        if self.text.isascii():
            return View(self.text.lower(), self.starts, self.ends)
        view = _rewritten(self, _CLUSTER, _folded)
        # One by one, since the lower case of a character may be two.
        return View("".join(map(_lower, view.text)), view.starts, view.ends)


def fold(text: str) -> str:
    r"""A text without what a reader takes no notice of: case, accents, width, invisible characters.

    >>> fold("\uff21cm\u00c9\u200b-\u017f")
    'acme-s'
    """
    return _CLUSTER.sub(_folded, text).lower()


def _folded(cluster: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKD", _seen(cluster[0])).casefold()
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))


def views(text: str) -> list[View]:
    """Every way to read a text, the plainest first.

    Compatibility characters become what they look like and characters that take no room are left out; then
    percent-encoding, HTML entities and JSON escapes are resolved, even where they are nested; then markup is
    left out. Redaction marks read as line ends, so that nothing is found across them.

    Args:
        text: Any text.

    Returns:
        At least one view; no two read the same.

    >>> [view.text for view in views("%68ttps://**x**")]
    ['%68ttps://**x**', 'https://**x**', '%68ttps://x', 'https://x']
    """
    found = [_plain(_rewritten(_identity(text), _MARKED, lambda _: "\n"))]
    for _ in range(_LAYERS):
        deeper = _plain(_rewritten(found[-1], _ESCAPE, _unescaped))
        if deeper.text == found[-1].text:
            break
        found.append(deeper)
    found += [_rewritten(view, _MARKUP, lambda _: "") for view in found]
    unique: dict[str, View] = {}
    for view in found:
        unique.setdefault(view.text, view)
    return list(unique.values())


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script in which the ends of words cannot be seen."""
    return bool(_UNSPACED.match(char))


def joined(text: str) -> str:
    """A text without hyphens, full stops and underscores inside words: ``o-r_c.a`` is ``orca``."""
    return _JOINERS.sub("", text)


def parted(text: str) -> str:
    """A text with a blank at every hump: ``OrcaDeploy`` is ``Orca Deploy``."""
    return _HUMP.sub(" ", text)


def _identity(text: str) -> View:
    return View(text, list(range(len(text))), list(range(1, len(text) + 1)))


def _seen(text: str) -> str:
    return "".join(char for char in text if char in "\t\n\r" or not _is_unseen(char))


def _is_unseen(char: str) -> bool:
    return char in _UNSEEN or unicodedata.category(char) in {"Cf", "Cc"}


def _lower(char: str) -> str:
    return char.lower() if char.isascii() else char


def _plain(view: View) -> View:
    return _rewritten(
        view, _CLUSTER, lambda match: unicodedata.normalize("NFKC", _seen(match[0])).translate(_STOPS)
    )


def _unescaped(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("%"):
        return _decoded(unquote_to_bytes(found))
    if found.startswith("&"):
        return html.unescape(found)
    if found == "\\/":
        return "/"
    if found.startswith("\\x"):
        return _decoded(bytes.fromhex(found.replace("\\x", "")))
    codes = (int(code, 16) for code in _UNIT.findall(found))
    # Two halves of a pair become one character; half a pair stands for nothing.
    units = "".join(chr(code) for code in codes if code <= 0x10FFFF)  # noqa: PLR2004 - the last code point
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _rewritten(view: View, pattern: re.Pattern[str], rewrite: Callable[[re.Match[str]], str]) -> View:
    """The view in which every match reads otherwise."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in pattern.finditer(view.text):
        first, last = match.span()
        new = rewrite(match)
        if new == match[0]:
            continue
        parts += view.text[done:first], new
        starts += view.starts[done:first] + [view.starts[first]] * len(new)
        ends += view.ends[done:first] + [view.ends[last - 1]] * len(new)
        done = last
    if not parts:
        return view
    parts.append(view.text[done:])
    return View("".join(parts), starts + view.starts[done:], ends + view.ends[done:])
