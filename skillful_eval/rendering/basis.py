"""What every document says of what it rests on: fixtures, corpus, and what the runs say of their making."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.rendering.document import as_text, bounded, counted, hidden
from skillful_eval.schema import CONFIG, PROVENANCE
from skillshift.frame.errors import SHOWN
from skillshift.frame.tables import Section, one_line

if TYPE_CHECKING:
    from skillful_eval.corpus import Corpus
    from skillful_eval.provenance import Provenance


def basis_data(provenance: Provenance) -> dict[str, Any]:
    """The provenance as plain data."""
    return {
        "fixture_set": provenance.fixture_set,
        "fixture_digest": provenance.fixture_digest,
        "fixtures": provenance.fixtures,
        "answerable": provenance.answerable,
        "runs": provenance.runs,
        "corpus": corpus_data(provenance.corpus),
        "declared": provenance.declared.to_dicts(),
    }


def corpus_data(corpus: Corpus) -> dict[str, Any]:
    """The corpus' header, digest and size as plain data."""
    return {
        "source": corpus.source,
        "entries": corpus.entries.height,
        "captured_at": corpus.captured_at,
        "fingerprint": corpus.fingerprint,
        "digest": corpus.digest,
        "filtered": corpus.is_filtered,
        "sanitised": corpus.sanitised,
        "excluded_count": corpus.excluded_count,
        "redacted_count": corpus.redacted_count,
    }


def digests(provenance: Provenance) -> dict[str, str | bool]:
    """What identifies the fixtures and the corpus, wherever their files are."""
    corpus = provenance.corpus
    return {
        "fixture_set": provenance.fixture_set,
        "fixture_digest": provenance.fixture_digest,
        "corpus_fingerprint": corpus.fingerprint,
        "corpus_digest": corpus.digest,
        "corpus_filtered": corpus.is_filtered,
    }


def with_basis(rows: pl.DataFrame, provenance: Provenance) -> pl.DataFrame:
    """A tidy frame that says in every row what it rests on, as a CSV file has no other place for it.

    Args:
        rows: The frame.
        provenance: What it rests on.

    Returns:
        The frame with :func:`digests` as columns, and ``findings`` (text): the codes of what a reader must
        know, each once, parted by blanks; null where there are none.
    """
    codes = " ".join(provenance.findings["code"].unique(maintain_order=True)) or None
    return rows.with_columns(
        *(pl.lit(value).alias(name) for name, value in digests(provenance).items()),
        pl.lit(codes, dtype=pl.String).alias("findings"),
    )


def basis_sections(provenance: Provenance) -> list[Section]:
    """What the values rest on, for people."""
    lines = {
        "fixtures": f"{provenance.fixture_set}: {counted(provenance.fixtures, 'fixture')}, "
        f"{provenance.answerable:,} of them expect a capability",
        "fixtures' digest": provenance.fixture_digest,
        **corpus_lines(provenance.corpus),
        "runs": f"{provenance.runs:,}",
    }
    return [lines_section("What this rests on", lines), *_declared(provenance)]


def corpus_lines(corpus: Corpus) -> dict[str, str]:
    """The corpus, one line a thing."""
    filtered = f"YES: {corpus.excluded_count:,} entries withheld, {corpus.redacted_count:,} changed"
    return {
        "corpus": f"{Path(corpus.source).name}: {counted(corpus.entries.height, 'entry', 'entries')}",
        "captured at": corpus.captured_at,
        "corpus' fingerprint": corpus.fingerprint,
        "corpus' digest": corpus.digest,
        "filtered": filtered if corpus.is_filtered else "no",
    }


def lines_section(title: str, lines: dict[str, str]) -> Section:
    """A section with one line a thing."""
    frame = pl.DataFrame({"what": list(lines), "is": list(lines.values())})
    return Section(title, as_text(frame), "is")


def finding_notes(findings: pl.DataFrame) -> list[str]:
    """The findings as notes."""
    said = [
        one_line(f"{row['subject']}: {row['message']} [{row['code']}]")
        for row in findings.head(SHOWN).to_dicts()
    ]
    return said + hidden(findings.height, "Findings")


def _declared(provenance: Provenance) -> list[Section]:
    """What the runs say, without columns in which nothing is said; nothing where nothing is said at all."""
    declared = provenance.declared
    said = [name for name in PROVENANCE if declared[name].null_count() < declared.height]
    if not said:
        return []
    keys = [name for name in (CONFIG,) if name in declared.columns]
    sections, _ = bounded(
        declared.select(*keys, *said, "runs"), "What the runs say of their making", said[-1]
    )
    return sections
