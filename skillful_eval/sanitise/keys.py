"""Keys that are known: they must occur in no form, whatever they look like."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillful_eval.sanitise.literals import Literals
from skillful_eval.sanitise.patterns import SECRET
from skillful_eval.sanitise.private import taken_out
from skillful_eval.sanitise.views import fold, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillful_eval.sanitise.private import Found
    from skillful_eval.sanitise.views import View

TELLING = 8
"""An encoded key, digits in a number or a value in an address that is shorter would be found by chance."""


@dataclass(eq=False)
class Keys(Literals):
    """Keys: found in any case, inside of words too, and in the encodings that keys travel in.

    Percent-encoding, entities, JSON escapes and markup are among the views of a text; hexadecimal digits and
    base64 are looked for here.
    """

    secrets: Sequence[str] = ()
    _forms: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = {secret.strip() for secret in self.secrets} - {""}
        folded = {fold(form) for secret in given for form in _forms(secret)} | {fold(text) for text in given}
        self._forms = frozenset(folded - {""})

    def __len__(self) -> int:
        return len(self._forms)

    def find(self, view: View) -> Iterator[tuple[str, int, int]]:
        """Where keys occur in a view: what it is, and where it begins and ends in the original."""
        folded = view.folded
        for form in self._forms:
            first = folded.text.find(form)
            while first >= 0:
                last = first + len(form)
                yield SECRET, folded.starts[first], folded.ends[last - 1]
                first = folded.text.find(form, last)

    def redact(self, text: str) -> str:
        """A text without the keys, and with all else that is in it.

        >>> Keys(secrets=["Zeta+42"]).redact("x ZETA+42, zeta%2b42, see https://x.example")
        'x [redacted], [redacted], see https://x.example'
        """
        return taken_out(text, self._found)[0] if self._forms else text

    def _found(self, text: str) -> list[Found]:
        return [found for view in views(text) for found in self.find(view)]


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    encoded = [raw.hex()]
    # Base64 of a text that the key is a part of: at each of three alignments, the characters that are the
    # key's alone.
    for offset in range(3):
        whole = base64.b64encode(bytes(offset) + raw).decode()
        inner = whole[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
        encoded += [inner, inner.replace("+", "-").replace("/", "_")]
    yield from (text for text in encoded if len(text) >= TELLING)
