"""Texts that must not occur at all: names withheld, what was taken out elsewhere, servers' targets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillful_eval.sanitise.patterns import NAME
from skillful_eval.sanitise.views import fold, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillful_eval.sanitise.views import View

_WORD = re.compile(r"[^\W_]+")


@dataclass(eq=False)
class Literals:
    """A growing set of texts; case, accents and the difference between ``:`` and ``-`` do not matter.

    A text is found where no letter or digit touches it. A name is found where it is the whole name: ``plan``
    is neither in ``planner`` nor in ``plan-review``, but it is in ``ops:plan``.
    """

    _by_word: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)

    def add(self, text: str, code: str) -> bool:
        """Add a text with what it is; false where there was nothing to add."""
        folded = _equalled(fold(text)).strip()
        first = _WORD.search(folded)
        if first is None:
            return False
        known = self._by_word.setdefault(first[0], {})
        if folded in known:
            return False
        known[folded] = (code, first.start())
        return True

    def __len__(self) -> int:
        return sum(map(len, self._by_word.values()))

    def find(self, view: View) -> Iterator[tuple[str, int, int]]:
        """Where the texts occur in a view.

        Yields:
            What it is, and where it begins and ends in the original.
        """
        if not self._by_word:
            return
        folded = view.folded
        read = _equalled(folded.text)
        for word in _WORD.finditer(read):
            for text, (code, offset) in self._by_word.get(word[0], {}).items():
                first = word.start() - offset
                last = first + len(text)
                if first >= 0 and read.startswith(text, first) and _alone(folded.text, first, last, code):
                    yield code, folded.starts[first], folded.ends[last - 1]


def _equalled(text: str) -> str:
    return text.replace(":", "-")


def _alone(text: str, first: int, last: int, code: str) -> bool:
    before, after = text[max(0, first - 2) : first], text[last : last + 2]
    if (_touches(before[-1:]) and _touches(text[first])) or (
        _touches(after[:1]) and _touches(text[last - 1])
    ):
        return False
    if code != NAME:
        return True
    continues = after[:1] in {"-", ":"} and _touches(after[1:])
    continued = before[-1:] == "-" and _touches(before[:-1])
    return not (continues or continued or "_" in {before[-1:], after[:1]})


def _touches(char: str) -> bool:
    return char.isalnum() and not is_unspaced(char)
