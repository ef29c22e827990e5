"""Sanitising a catalogue: which entries are withheld, and what the others keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.names import capability
from skillful_eval.sanitise.literals import Literals
from skillful_eval.sanitise.patterns import CODES, NAME, SECRET, TARGET
from skillful_eval.sanitise.private import Private
from skillful_eval.sanitise.prose import LONG, is_prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillful_eval.sanitise.markers import Markers

Record = dict[str, Any]
"""An entry of a corpus snapshot, with the snapshot's own field names."""

TEXTS = ("name", "description", "whenToUse")
"""The texts that retrieval reads, and that markers are compared with (as is the scope)."""

WRITTEN = ("id", "kind", *TEXTS, "runtime")
"""The fields that a sanitised entry keeps: what retrieval reads, and what tells entries apart."""

_REDACTED = ("description", "whenToUse")
_NAMED = ("name", "scope")
_SECRET_LENGTH = 6
_NAME_LENGTH = 3
"""Names with fewer letters and digits are words of every text, such as "a": seeing one tells nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Sanitised:
    """A sanitised catalogue.

    Attributes:
        records: The entries that are kept, with the fields of :data:`WRITTEN`.
        excluded: How many entries were withheld.
        redacted: How many of those kept were changed.
        codes: How many of those kept lost something, by what it was.
        private: What must not occur in what is written, to search the written file for.
    """

    records: list[Record]
    excluded: int
    redacted: int
    codes: dict[str, int]
    private: Private


def sanitise(records: Sequence[Record], markers: Markers, targets: Iterable[str] = ()) -> Sanitised:
    """Withhold what is marked as private, and redact the rest.

    An entry is withheld where its name, description, when-to-use text or scope carries a marker; where its
    name or scope would have to be redacted; and where it is another copy of an entry withheld. The names of
    entries withheld are taken out of the other entries' texts.

    Args:
        records: The entries.
        markers: The private markers.
        targets: What servers run or connect to, as their manifests have it.

    Returns:
        The entries that are kept, in their order, and what was done.
    """
    private = Private(markers, Literals())
    _collect(private, records, targets)
    withheld = _withheld(private, records)
    kept: list[Record] = []
    codes: Counter[str] = Counter()
    redacted = 0
    done: dict[str, tuple[str, frozenset[str]]] = {}
    for record, hidden in zip(records, withheld, strict=True):
        if hidden:
            continue
        clean = {name: record[name] for name in WRITTEN if name in record}
        lost: set[str] = set()
        for name in _REDACTED:
            if name in clean:
                text = clean[name]
                if text not in done:
                    done[text] = private.redact(text)
                clean[name], found = done[text]
                lost |= found
        kept.append(clean)
        codes.update(lost)
        redacted += bool(lost)
    return Sanitised(
        records=kept,
        excluded=sum(withheld),
        redacted=redacted,
        codes={code: codes[code] for code in CODES if codes[code]},
        private=private,
    )


def _collect(private: Private, records: Sequence[Record], targets: Iterable[str]) -> None:
    """Learn what must not occur: servers' targets, and secrets that some text gives away as such."""
    names = {record["name"].casefold() for record in records}
    for target in targets:
        if target.casefold() not in names:
            private.literals.add(target, TARGET)
    texts = {record[name] for record in records for name in _REDACTED if record.get(name)}
    for text in texts:
        for secret in private.secrets(text):
            if _tells(secret):
                private.literals.add(secret, SECRET)


def _tells(secret: str) -> bool:
    """Whether what one text gives away as a secret is one wherever it occurs, and no word or placeholder."""
    if any(map(str.isdigit, secret)):
        return len(secret) >= _SECRET_LENGTH
    return len(secret) >= LONG and secret.isalpha() and not is_prose(secret)


def _withheld(private: Private, records: Sequence[Record]) -> list[bool]:
    """Which entries are withheld; their names join what must not occur, which may concern further entries."""
    marked: dict[str, bool] = {}
    for text in {record[name] for record in records for name in (*TEXTS, "scope") if record.get(name)}:
        marked[text] = private.markers.first(text) is not None
    withheld = [
        any(marked.get(record.get(name) or "", False) for name in (*TEXTS, "scope")) for record in records
    ]
    folded = _capabilities(records)
    known = 0
    while True:
        hidden = {name for name, hides in zip(folded, withheld, strict=True) if hides}
        for record, hides in zip(records, withheld, strict=True):
            if hides and sum(map(str.isalnum, record["name"])) >= _NAME_LENGTH:
                private.literals.add(record["name"], NAME)
        named = {record[name] for record in records for name in _NAMED if record.get(name)}
        telling = {text for text in named if private.find(text)}
        withheld = [
            hides or name in hidden or any(record.get(field) in telling for field in _NAMED)
            for record, name, hides in zip(records, folded, withheld, strict=True)
        ]
        if sum(withheld) == known:
            return withheld
        known = sum(withheld)


def _capabilities(records: Sequence[Record]) -> list[str]:
    names = pl.DataFrame({"name": pl.Series([record["name"] for record in records], dtype=pl.String)})
    return names.select(capability(pl.col("name"))).to_series().to_list()
