"""From a catalogue on disk to a corpus snapshot, sanitised unless asked otherwise."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillful_eval.catalog.entries import read_catalogue
from skillful_eval.corpus import Corpus, make_corpus
from skillful_eval.sanitise import DISCLAIMER
from skillful_eval.sanitise.check import put_in_place
from skillful_eval.sanitise.clean import Sanitised, sanitise
from skillful_eval.sanitise.markers import Markers
from skillful_eval.sanitise.patterns import CODES
from skillful_eval.sanitise.views import views
from skillful_eval.schema import KINDS
from skillful_eval.snapshot import HEADER, digest
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.writing import refuse_overwriting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from skillful_eval.catalog.sources import Unread
    from skillful_eval.sanitise.private import Private

NOT_SANITISED = "not sanitised: nothing was withheld or redacted; keep this file to yourself"
FILTERED = "corpus.filtered"
"""The finding that a build says in its own words, with more counts."""

_WITHHELD_PATH = "(a path that is withheld)"
_WITHHELD_REASON = "(a reason that is withheld; with --include-private it is shown)"


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """A corpus that was built, and what is to be known about its making.

    Attributes:
        corpus: The corpus.
        unread: Files and entries that are not in it because they cannot be read, with their reasons.
        bare: How many files without frontmatter were found; they are known by their name only.
        codes: How many entries lost something to redaction, by what it was.
        private: What must not occur in the written file; null where sanitising was turned off.
        files: The files of the catalogue, none of which is written over.
    """

    corpus: Corpus
    unread: tuple[Unread, ...]
    bare: int
    codes: dict[str, int]
    private: Private | None
    files: tuple[Path, ...] = ()

    def write(self, path: str | PathLike[str]) -> None:
        """Write the corpus, whole or not at all; a sanitised one is searched before it is put in place.

        Raises:
            LeakError: Something private was found in what was to be written; the file is what it was before.
            UsageError: It is one of the catalogue's own files.
            InputError: The file cannot be written.
        """
        refuse_overwriting({"the corpus": path}, {"the catalogue's": self.files})
        if self.private is None:
            self.corpus.write(path)
        else:
            put_in_place(self.corpus, self.private, path)

    def text(self) -> str:
        """What there is to say, line by line: counts, what the filter did, what was not read."""
        kinds = Counter(self.corpus.entries["kind"].to_list())
        lines = [f"entries: {self.corpus.entries.height:,} ({_counted(kinds, KINDS)})"]
        if self.bare:
            lines.append(f"files without frontmatter, known by their name only: {self.bare:,}")
        lines += self._filter()
        findings = self.corpus.findings()
        lines += findings.filter(findings["code"] != FILTERED)["message"].to_list()
        lines.append(f"fingerprint: {self.corpus.fingerprint}")
        lines.append(f"not read: {len(self.unread):,}")
        lines += [f"  {one.path}: {one.reason}" for one in self.unread]
        return "\n".join(lines) + "\n"

    def _filter(self) -> list[str]:
        if self.private is None:
            return [NOT_SANITISED]
        redacted = f"{self.corpus.redacted_count:,}"
        if self.codes:
            redacted += f" ({_counted(self.codes, CODES)})"
        did = (
            f"sanitised with private markers: {len(self.private.markers.markers):,}; "
            f"entries withheld: {self.corpus.excluded_count:,}; entries redacted: {redacted}"
        )
        return [did, DISCLAIMER]


def _counted(counts: Mapping[str, int], order: Sequence[str]) -> str:
    return ", ".join(f"{name} {counts[name]:,}" for name in order if counts.get(name))


def build_corpus(
    roots: Sequence[str | PathLike[str]],
    *,
    markers: Markers | None = None,
    include_private: bool = False,
    as_of: str | None = None,
    runtime: str | None = None,
) -> Build:
    """Build a corpus from the capabilities below some folders.

    Args:
        roots: The folders, as :func:`~skillful_eval.catalog.entries.read_catalogue` takes them.
        markers: The private markers; without any, entries are redacted and none is withheld for its words.
        include_private: Turn sanitising off: every entry, unchanged, with its path and scope.
        as_of: When the snapshot was taken, ISO 8601 with a time zone; now by default.
        runtime: The runtime of what lies in no runtime's folder.

    Returns:
        The corpus, with what is to be known about it. Its fingerprint is the digest of its entries.

    Raises:
        UsageError: Markers are given and sanitising is turned off.
        InputError: A root or a time is wrong, nothing was found, or every entry was withheld.
    """
    if include_private and markers is not None:
        raise UsageError("--markers withholds entries and --include-private keeps them: give one of the two")
    captured = _time(as_of)
    read = read_catalogue(roots, runtime)
    if include_private:
        done = None
        records, unread = read.records, read.unread
    else:
        done = sanitise(read.records, markers or Markers(), read.targets)
        records, unread = done.records, [_veiled(one, done.private) for one in read.unread]
        if not records:
            raise InputError(
                f"all {done.excluded:,} entries were withheld, so there is no corpus to write; "
                "are the markers words that every text has?"
            )
    return Build(
        corpus=_corpus(records, captured, done),
        unread=tuple(unread),
        bare=read.bare,
        codes={} if done is None else done.codes,
        private=None if done is None else done.private,
        files=read.files,
    )


def _corpus(records: list[dict[str, str]], captured: str, done: Sanitised | None) -> Corpus:
    values = (
        captured,
        digest(records),
        done is not None,
        0 if done is None else done.excluded,
        0 if done is None else done.redacted,
    )
    return make_corpus(dict(zip(HEADER, values, strict=True)), list(records), "the catalogue")


def _veiled(one: Unread, private: Private) -> Unread:
    """A path or a reason may carry a marker or a withheld name just as an entry may."""

    def tells(text: str) -> bool:
        words = text.replace("/", " ").removesuffix(".md")
        return private.markers.first(words) is not None or any(
            map(any, (private.literals.find(view) for view in views(words)))
        )

    path = _WITHHELD_PATH if tells(one.path) else one.path
    return replace(one, path=path, reason=_WITHHELD_REASON if tells(one.reason) else one.reason)


def _time(given: str | None) -> str:
    if given is None:
        moment = datetime.now(UTC)
    else:
        try:
            moment = _zoned(datetime.fromisoformat(given))
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"--as-of: found {given!r}, expected a time with its zone, such as 2026-09-17T11:10:16Z"
            ) from error
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _zoned(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("no time zone")
    return moment.astimezone(UTC)
