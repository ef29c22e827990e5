"""The written file is read back and searched for what should be gone, and only then put in place."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.sanitise.clean import WRITTEN
from skillful_eval.snapshot import HEADER
from skillshift.frame.errors import SHOWN, InputError
from skillshift.frame.writing import dump_json, staged

if TYPE_CHECKING:
    from os import PathLike

    from skillful_eval.corpus import Corpus
    from skillful_eval.sanitise.private import Private

Leak = tuple[int, str, str]
"""One find: the entry's number in the file (0: outside the entries), the field, what was found in it."""

_ADVICE = (
    "What was there before is untouched. A marker that is the name of a runtime or a kind is in every id "
    "of it: leave it out, or leave that root out."
)

MARKER, FIELD, FORM = "marker", "unexpected-field", "form"
"""What else can be found: a private marker, a field that is not written, bytes that no field accounts for."""


class LeakError(Exception):
    """Something private is in what was to be written; nothing was put in place.

    Attributes:
        leaks: Where something was found, and what it is; never its text.
    """

    def __init__(self, leaks: list[Leak], path: str) -> None:
        self.leaks = tuple(leaks)
        counts = Counter(code for _, _, code in leaks)
        counted = ", ".join(f"{code} {count:,}" for code, count in sorted(counts.items()))
        shown = [f"  entry {number}: {name}: {code}" for number, name, code in leaks[:SHOWN]]
        if len(leaks) > SHOWN:
            shown.append(f"  ... and {len(leaks) - SHOWN:,} more")
        super().__init__(
            "\n".join(
                [
                    f"{path}: not written: the search of what was to be put there found {counted}",
                    *shown,
                    _ADVICE,
                ]
            )
        )


def put_in_place(corpus: Corpus, private: Private, path: str | PathLike[str]) -> None:
    """Write a sanitised corpus: aside, read back, searched, and put in place only where nothing is found.

    Args:
        corpus: The corpus.
        private: What must not occur in the file.
        path: The file.

    Raises:
        LeakError: Something private was found; the file is what it was before.
        InputError: The file cannot be written.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise InputError(
            f"{path}: is no regular file; a corpus is written aside, searched and then put in place, so "
            "choose the name of a file"
        )
    with staged(target.parent) as aside:
        written = aside / target.name
        corpus.write(written)
        leaks = search(written.read_bytes(), private)
        if leaks:
            raise LeakError(leaks, str(path))


def search(content: bytes, private: Private) -> list[Leak]:
    """Search the bytes of a written corpus for what must not be there.

    Args:
        content: The file's bytes.
        private: What must not occur.

    Returns:
        Every find, in the file's order.
    """
    document = json.loads(content)
    leaks: list[Leak] = []
    # Where the file is the canonical form of its content, its values and its keys account for every byte.
    if dump_json(document).encode() != content:
        leaks.append((0, "", FORM))
    leaks += [(0, "", FIELD) for name in document if name not in {*HEADER, "entries"}]
    known: dict[str, list[str]] = {}
    for number, entry in enumerate(document["entries"], start=1):
        leaks += [(number, "", FIELD) for name in entry if name not in WRITTEN]
        for name, text in _texts(entry):
            if text not in known:
                known[text] = _codes(text, private)
            leaks += [(number, name, code) for code in known[text]]
    return leaks


def _texts(entry: dict[str, Any]) -> list[tuple[str, str]]:
    parts = [("id", part) for part in str(entry.get("id", "")).split(":", 3)]
    return [*parts, *((name, str(value)) for name, value in entry.items() if name != "id")]


def _codes(text: str, private: Private) -> list[str]:
    found = sorted({code for code, _, _ in private.find(text)})
    return found if private.markers.first(text) is None else [*found, MARKER]
