"""The corpus snapshot: the capabilities that a router chose from, and what is known of how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.findings import Finding, findings_frame
from skillful_eval.schema import KINDS
from skillful_eval.snapshot import HEADER, UNKNOWN_FINGERPRINT, digest, entries_frame, json_entries, load
from skillshift.frame.writing import dump_json, write_text

if TYPE_CHECKING:
    from os import PathLike

_REDACTED = r"^(?:[^:\[\]]*:\s*)?\[redacted\]\W*$"
"""A description of which nothing is left but a label, such as ``MCP server (http): [redacted]``."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """A corpus snapshot.

    Attributes:
        entries: One row an entry, in the file's order: ``id``, ``kind``, ``name``, ``description`` (may be
            empty), ``runtime``, ``scope``, ``source_path``, ``when_to_use`` (text; the last three null where
            the entry lacks them), ``other`` (the entry's further fields as JSON text, null where it has
            none), ``capability`` (text: what the name stands for; copies of one capability share it).
        captured_at: When it was taken, as its maker wrote it.
        fingerprint: Its maker's fingerprint; ``unknown`` where there is none.
        digest: ``sha256:`` and the SHA-256 of the entries' canonical JSON, see :func:`snapshot.digest`.
        sanitised: Whether a filter for private matters ran over it.
        excluded_count: How many entries that filter withheld.
        redacted_count: How many entries it changed.
        source: Where it was read.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> corpus.entries.height, corpus.is_filtered, corpus.fingerprint == corpus.digest
        (390, False, True)
    """

    entries: pl.DataFrame
    captured_at: str
    fingerprint: str
    digest: str
    sanitised: bool
    excluded_count: int
    redacted_count: int
    source: str

    @property
    def is_filtered(self) -> bool:
        """Whether something was withheld or changed; every report must say so."""
        return self.sanitised or self.excluded_count > 0 or self.redacted_count > 0

    def findings(self) -> pl.DataFrame:
        """What a reader of a report must know about this corpus.

        Returns:
            One row a finding (``code``, ``subject``, ``count`` (Int64), ``message``; text unless said):
            ``corpus.filtered``: a filter ran, ``count`` entries were withheld;
            ``corpus.redacted``: of the kind in ``subject`` (``kind:mcp``), ``count`` entries have no
            description but a redaction mark, so values of that kind are unfair;
            ``corpus.no-description``: of that kind, ``count`` entries have neither description nor
            when-to-use text;
            ``corpus.fingerprint-unknown``, ``corpus.fingerprint-other``: the fingerprint is missing, or is
            not the documented digest, so whether the entries were edited since cannot be told.
        """
        found: list[Finding] = []
        if self.is_filtered:
            found.append(
                (
                    "corpus.filtered",
                    "corpus",
                    self.excluded_count,
                    (
                        f"the corpus is filtered: {self.excluded_count:,} entries were withheld and "
                        f"{self.redacted_count:,} changed; a filter ran, which is no guarantee"
                    ),
                )
            )
        found += self._unfair()
        if self.fingerprint == UNKNOWN_FINGERPRINT:
            text = "the corpus has no fingerprint, so runs cannot name the corpus that they were made with"
            found.append(("corpus.fingerprint-unknown", "corpus", 1, text))
        elif self.fingerprint != self.digest:
            text = "the fingerprint is not the digest of the entries: made by another tool, or edited since"
            found.append(("corpus.fingerprint-other", "corpus", 1, text))
        return findings_frame(found)

    def _unfair(self) -> list[Finding]:
        texts = {
            "corpus.redacted": (
                is_redacted(),
                "descriptions are redacted: retrieval cannot find them by their text",
            ),
            "corpus.no-description": (
                is_undescribed(),
                "entries have no descriptive text: retrieval can find them by their name only",
            ),
        }
        counts = self.entries.group_by("kind").agg(
            pl.len().cast(pl.Int64).alias("entries"),
            *(lacks.sum().cast(pl.Int64).alias(code) for code, (lacks, _) in texts.items()),
        )
        by_kind = {row["kind"]: row for row in counts.to_dicts()}
        return [
            (
                code,
                f"kind:{kind}",
                row[code],
                f"{row[code]:,} of {row['entries']:,} {kind} {what}, so their values are unfair",
            )
            for code, (_, what) in texts.items()
            for kind in KINDS
            if (row := by_kind.get(kind)) is not None and row[code]
        ]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the snapshot as JSON, whole or not at all; what was read is written the same.

        Raises:
            InputError: The file cannot be written.
        """
        head = {name: getattr(self, attribute) for name, attribute in HEADER.items()}
        write_text(Path(path), dump_json(head | {"entries": json_entries(self.entries)}))


def is_redacted() -> pl.Expr:
    """Whether an entry's description holds nothing but a redaction mark."""
    return pl.col("description").str.to_lowercase().str.contains(_REDACTED)


def is_undescribed() -> pl.Expr:
    """Whether an entry has neither a description nor a when-to-use text."""
    texts = (pl.col("description"), pl.col("when_to_use").fill_null(""))
    return pl.all_horizontal(text.str.strip_chars() == "" for text in texts)


def read_corpus(path: str | PathLike[str]) -> Corpus:
    """Read a corpus snapshot: one JSON object with camelCase fields.

    Args:
        path: The file. The object has ``capturedAt``, ``fingerprint`` (text), ``sanitised`` (true or false),
            ``excludedCount``, ``redactedCount`` (whole numbers) and ``entries``, a list of objects with
            ``id``, ``kind``, ``name``, ``description``, ``runtime`` (text) and optionally ``scope``,
            ``sourcePath``, ``whenToUse`` (text) and anything else, which is kept.

    Returns:
        The corpus. Names may occur twice: copies of one capability share theirs.

    Raises:
        ContractError: Entries lack a field or have a wrong one, an id occurs twice, or a kind is unknown;
            each entry is named by its number and id.
        InputError: The file cannot be read, is not JSON, or is no corpus snapshot.

    Example:
        >>> from skillshift import datasets
        >>> read_corpus(datasets.path("routing/corpus.json")).entries.height
        390
    """
    head, records = load(str(path))
    return make_corpus(head, records, str(path))


def make_corpus(head: dict[str, Any], records: list[Any], source: str) -> Corpus:
    """As :func:`read_corpus`, from the parsed header and entries.

    Raises:
        ContractError: As :func:`read_corpus`.
    """
    entries = entries_frame(records, source)
    attributes = {attribute: head[name] for name, attribute in HEADER.items()}
    return Corpus(entries=entries, digest=digest(records), source=source, **attributes)
