"""Checked fixtures and corpora as documents: what is in them, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.rendering.basis import corpus_data, corpus_lines, finding_notes, lines_section
from skillful_eval.rendering.document import Document, as_text, bounded, counted
from skillshift.frame.tables import Section

if TYPE_CHECKING:
    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures


def corpus_document(corpus: Corpus) -> Document:
    """A corpus that could be read: its entries by kind and runtime, and its findings."""
    entries, findings = corpus.entries, corpus.findings()
    counts = (
        pl.len().cast(pl.Int64).alias("entries"),
        pl.col("capability").n_unique().cast(pl.Int64).alias("names"),
        (pl.col("description").str.strip_chars() == "").sum().cast(pl.Int64).alias("without_description"),
        pl.col("when_to_use").is_null().sum().cast(pl.Int64).alias("without_when_to_use"),
    )
    by = entries.group_by("kind", "runtime").agg(counts).sort("kind", "runtime")
    total = entries.select(pl.lit("all").alias("kind"), pl.lit("all").alias("runtime"), *counts)
    rows = pl.concat([by, total])
    copies = entries.group_by("capability").len().filter(pl.col("len") > 1).height
    notes = finding_notes(findings)
    if copies:
        carried = f"{counted(copies, 'name')} carried by several entries"
        notes.insert(0, f"{carried}; a gold name stands for every one of them.")
    sections = (
        Section("Entries", as_text(rows).rename(lambda name: name.replace("_", " ")), "runtime"),
        lines_section("The snapshot", corpus_lines(corpus)),
    )
    data = {"corpus": corpus_data(corpus), "entries": rows.to_dicts(), "findings": findings.to_dicts()}
    return Document("Corpus: usable", sections, tuple(notes), rows, data)


def fixtures_document(fixtures: Fixtures, shared: pl.DataFrame | None) -> Document:
    """Fixtures that could be read and resolved: their groups, and what was found.

    Args:
        fixtures: The fixtures.
        shared: What :func:`skillful_eval.check_split` found that another set has too; null where none was
            compared.
    """
    frame, findings, corpus = fixtures.frame, fixtures.findings(), fixtures.corpus
    counts = (
        pl.len().cast(pl.Int64).alias("fixtures"),
        (~pl.col("abstain")).sum().cast(pl.Int64).alias("answerable"),
        pl.col("abstain").sum().cast(pl.Int64).alias("abstain"),
        pl.col("answers").sum().alias("gold_names"),
    )
    by_group = frame.group_by("group").agg(counts).sort("group")
    rows = pl.concat([by_group, frame.select(pl.lit("all").alias("group"), *counts)])
    lines = {
        "fixtures": f"{fixtures.source}: {counted(frame.height, 'fixture')}",
        "fixtures' digest": fixtures.digest,
        **corpus_lines(corpus),
    }
    sections = [
        Section("Fixtures", as_text(rows).rename(lambda name: name.replace("_", " ")), "group"),
        lines_section("What was read", lines),
    ]
    notes = [
        f"Every gold resolves: {fixtures.golds['id'].n_unique():,} of {corpus.entries.height:,} entries."
    ]
    data = {
        "fixture_set": fixtures.name,
        "fixture_digest": fixtures.digest,
        "groups": rows.to_dicts(),
        "corpus": corpus_data(corpus),
        "findings": findings.to_dicts(),
    }
    if shared is not None:
        found, more = bounded(shared, "Shared with the other set", "holdout_prompt")
        sections[1:1] = found
        notes += [
            *more,
            f"Shared with the other set, ids and near-identical prompts: {shared.height:,}.",
        ]
        data["shared"] = shared.to_dicts()
    notes += finding_notes(pl.concat([findings, corpus.findings()]))
    return Document("Fixtures: usable", tuple(sections), tuple(notes), rows, data)
