"""Finding private text and taking it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillful_eval.sanitise.literals import Literals
from skillful_eval.sanitise.markers import Markers
from skillful_eval.sanitise.patterns import PATTERNS, SECRET
from skillful_eval.sanitise.views import MARK, views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillful_eval.sanitise.views import View

_ROUNDS = 4
"""What is left after so many rounds of taking out is taken out as a whole."""

Found = tuple[str, int, int]
"""What was found, and where it begins and ends in the text."""


@dataclass(eq=False)
class Private:
    """What must not occur in what is written.

    Attributes:
        markers: Texts that carry one are withheld, not redacted.
        literals: Texts that must not occur, beside what is private by its form.
    """

    markers: Markers = field(default_factory=Markers)
    literals: Literals = field(default_factory=Literals)
    # What a text has by its form depends on nothing else, and the same texts come again and again.
    _formed: dict[str, list[Found]] = field(default_factory=dict, init=False, repr=False)

    def find(self, text: str) -> list[Found]:
        """What in a text is to be taken out; markers are not among it."""
        if not len(self.literals):
            return self._by_form(text)
        return self._by_form(text) + [found for view in views(text) for found in self.literals.find(view)]

    def secrets(self, text: str) -> set[str]:
        """The keys and tokens that a text gives away by their form or by what stands before them."""
        return {text[first:last] for code, first, last in self._by_form(text) if code == SECRET}

    def _by_form(self, text: str) -> list[Found]:
        if text not in self._formed:
            self._formed[text] = [found for view in views(text) for found in _by_form(view)]
        return self._formed[text]

    def redact(self, text: str) -> tuple[str, frozenset[str]]:
        """Take out of a text what is private.

        Args:
            text: Any text.

        Returns:
            The text with marks instead, and the codes of what was taken out. Nothing is found in it any more.

        >>> Private().redact("Mail jane@example.org, soon.")[0]
        'Mail [redacted], soon.'
        """
        return taken_out(text, self.find)


def redact(text: str) -> str:
    """Take out of a text what is private by its form: addresses, paths, keys and tokens.

    >>> redact("api_key=0123abcd, then ~/notes/today.md")
    'api_key=[redacted], then [redacted]'
    """
    return Private().redact(text)[0]


def taken_out(text: str, find: Callable[[str], list[Found]]) -> tuple[str, frozenset[str]]:
    """Take out of a text what a search finds in it, until it finds nothing.

    Args:
        text: Any text.
        find: The search.

    Returns:
        The text with marks instead, and the codes of what was taken out.
    """
    codes: set[str] = set()
    for _ in range(_ROUNDS):
        found = find(text)
        if not found:
            return text, frozenset(codes)
        codes |= {code for code, _, _ in found}
        text = _without(text, found)
    return (MARK if find(text) else text), frozenset(codes)


def _by_form(view: View) -> Iterator[Found]:
    lowered = view.text.lower()
    for pattern in PATTERNS:
        for match in pattern.find(view.text, lowered):
            group = match.re.groups
            if match.end(group) > match.start(group):
                yield pattern.code, *view.span(match, group)


def _without(text: str, found: list[Found]) -> str:
    parts: list[str] = []
    done = 0
    for first, last in _merged(found):
        parts += text[done:first], MARK
        done = last
    return "".join([*parts, text[done:]])


def _merged(found: list[Found]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for first, last in sorted((first, last) for _, first, last in found):
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return spans
