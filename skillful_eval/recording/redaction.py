"""Taking what is private out of a recording at the moment of writing."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from skillful_eval.recording.responses import PROBABILITIES
from skillful_eval.sanitise.keys import TELLING, Keys
from skillful_eval.sanitise.private import Private
from skillful_eval.sanitise.views import MARK
from skillful_eval.schema import NONE
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from skillful_eval.recording.responses import Response

__all__ = ["TELLING", "Redactor", "digest", "fits", "hidden"]

_WORDS = frozenset({NONE, "choice", "noul"})
"""Texts of every response: they tell nothing, even where a key should be the same word."""


_LAST_WORD = re.compile(r"\S+\Z")


class Redactor:
    """Takes private text and keys out of what is recorded.

    Args:
        secrets: Keys that must not occur in any form, whatever they look like.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        if isinstance(secrets, str):
            raise UsageError("secrets: found one text, expected a list of texts")
        self._secrets = frozenset(secrets)
        self._keys = Keys(secrets=sorted(secrets))
        self._private = Private(literals=self._keys)

    def beside(self, secrets: Iterable[str]) -> Redactor:
        """What takes out these keys too; the same one where it knows them."""
        known = self._secrets.union(secrets)
        return self if known == self._secrets else Redactor(sorted(known))

    def text(self, text: str, offered: Collection[str] = ()) -> str:
        """A text without what is private; the ids that were offered stay as they are."""
        return text if text in offered or text in _WORDS else self._private.redact(text)[0]

    def beginning(self, text: str) -> str:
        """As :meth:`text`, of a text that was cut: its last word may be half of something private.

        >>> Redactor().beginning("write to jane@exa")
        'write to [redacted]'
        """
        words = _LAST_WORD.sub("", text)
        return self.text(words) + MARK if len(words) < len(text) else self.text(text)

    def fixture(self, fixture: str) -> str:
        """A fixture's id, or what stands for it where something private is in it."""
        return hidden(fixture) if self._private.find(fixture) else fixture

    def response(self, response: Response, offered: Collection[str]) -> Response:
        """A response without what is private, in texts, keys of objects, and numbers."""
        clean: Response = self._value(response, offered)
        primary = clean["answers"]["primary"]
        given = response["answers"]["primary"][PROBABILITIES]
        probabilities: dict[str, float] = {}
        for name, number in given.items():
            if not self._is_key(number):
                # Of names that become one, the first stays: none of them was offered.
                probabilities.setdefault(self.text(name, offered), number)
        primary[PROBABILITIES] = probabilities
        return clean

    def _value(self, value: Any, offered: Collection[str]) -> Any:
        if isinstance(value, dict):
            return {
                name: self._value(item, offered) for name, item in value.items() if not self._is_key(item)
            }
        return self.text(value, offered) if isinstance(value, str) else value

    def _is_key(self, value: Any) -> bool:
        """Whether a number is a key: where keys are digits, an endpoint may give one back as a number."""
        digits = str(value) if isinstance(value, int | float) else ""
        return len(digits) >= TELLING and self._keys.redact(digits) != digits


def hidden(fixture: str) -> str:
    """What stands for a fixture's id that something private is in: a mark, and a digest that tells ids apart.

    >>> hidden("jane@example.org")
    '[redacted] 13d855ce-931073d4-924ac377'
    """
    digits = digest(fixture)
    return f"{MARK} {digits}"


def digest(text: str) -> str:
    """The beginning of a text's SHA-256, in groups of digits that are not taken for a key."""
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "-".join(digits[first : first + 8] for first in range(0, 24, 8))


def fits(recorded: str, sent: str) -> bool:
    """Whether a text may be the one that was recorded: the same wherever the recording shows it.

    >>> fits("open [redacted] now", "open https://example.org now"), fits("open [redacted]", "close it")
    (True, False)
    """
    first, *pieces = recorded.split(MARK)
    if not pieces:
        return recorded == sent
    last = pieces.pop()
    if len(sent) < len(first) + len(last) or not (sent.startswith(first) and sent.endswith(last)):
        return False
    place, end = len(first), len(sent) - len(last)
    for piece in pieces:
        found = sent.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True
