"""Fixtures: prompts with their gold, checked against a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.findings import Finding, findings_frame
from skillful_eval.gold import resolve
from skillful_eval.names import nearest
from skillful_eval.schema import FIXTURES, KINDS, NONE
from skillful_eval.snapshot import digest
from skillshift.frame.contract import FILE, RECORD, Rule, collect, count_violations, locate
from skillshift.frame.errors import SHOWN, ContractError, Violation, shorten
from skillshift.frame.lines import line_numbers
from skillshift.frame.reading import scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillful_eval.corpus import Corpus

_DIGESTED = ("id", "group", "prompt", "gold")
"""The fields that a set's digest covers: notes, comments and the order of the lines may change."""


@dataclass(frozen=True, slots=True, eq=False)
class Fixtures:
    """A set of fixtures, with every gold resolved.

    Attributes:
        frame: One row a fixture, in the file's order: ``fixture_id``, ``group``, ``prompt`` (text), ``gold``
            (list of text, as written), ``notes`` (text, may be null), ``abstain`` (Boolean: the router must
            abstain), ``answers`` (Int64: distinct gold names; 0 where it must abstain), ``kinds`` (list of
            text: the kinds of its gold's ids, in the order of :data:`~skillful_eval.schema.KINDS`; empty
            where it must abstain).
        golds: One row a fixture, answer and id: ``fixture`` (UInt32, the row number in ``frame``), ``answer``
            (UInt32, from 0 within the fixture), ``gold`` (text, as written), ``capability``, ``id``, ``kind``
            (text).
        corpus: The corpus that the golds were resolved in.
        name: The set's name.
        digest: ``sha256:`` and the SHA-256 of the canonical JSON of id, group, prompt and gold, sorted by id.
        source: Where it was read, for messages.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> holdout.name, holdout.frame.height, holdout.golds["fixture"].n_unique()
        ('fixtures.holdout', 25, 18)
    """

    frame: pl.DataFrame
    golds: pl.DataFrame
    corpus: Corpus
    name: str
    digest: str
    source: str

    def findings(self) -> pl.DataFrame:
        """What a reader should know about this set.

        Returns:
            One row a finding (``code``, ``subject``, ``count`` (Int64), ``message``; text unless said):
            ``prompt.conflicting``: the fixtures in ``subject`` have the same prompt and different gold;
            ``gold.id-and-name``: the gold in ``subject`` is one entry's id and another entry's name.
        """
        return findings_frame([*self._conflicts(), *self._ambiguous()])

    def _conflicts(self) -> Iterator[Finding]:
        meaning = self.golds.group_by("fixture").agg(pl.col("id").unique().sort().alias("ids"))
        numbered = self.frame.with_row_index("fixture").join(meaning, on="fixture", how="left")
        conflicts = (
            numbered.with_columns(pl.col("ids").fill_null([]).list.join("\n"))
            .group_by("prompt", maintain_order=True)
            .agg("fixture_id", pl.col("ids").n_unique())
            .filter(pl.col("ids") > 1)
        )
        for prompt, ids, _ in conflicts.rows():
            text = "has different gold in these fixtures; no router can be right in all of them"
            yield ("prompt.conflicting", ", ".join(ids), len(ids), f"the prompt {shorten(prompt)} {text}")

    def _ambiguous(self) -> Iterator[Finding]:
        both = (
            self.golds.join(self.corpus.entries.select("id", own="capability"), on="id")
            .filter(pl.col("own") != pl.col("capability"))
            .group_by("gold", maintain_order=True)
            .agg(pl.col("fixture").n_unique().cast(pl.Int64))
        )
        for gold, count in both.rows():
            text = "is the id of one entry and the name of another; either counts as this answer"
            yield ("gold.id-and-name", gold, count, f"the gold {shorten(gold)} {text}")


def read_fixtures(
    source: Any, corpus: Corpus, *, name: str | None = None, groups: Sequence[str] | None = None
) -> Fixtures:
    """Read fixtures and resolve their gold.

    Args:
        source: A JSONL file (lines that begin with ``#`` and blank lines are passed over), or anything else
            that :func:`skillshift.frame.reading.scan` takes, with ``id``, ``group``, ``prompt`` (text),
            ``gold`` (list of text: names or ids, or exactly ``["none"]``) and optionally ``notes`` (text).
        corpus: The corpus whose entries the golds name.
        name: The set's name; by default the file's, without its suffix.
        groups: The groups that a fixture may have, such as :data:`~skillful_eval.schema.GROUPS`; by default
            any.

    Returns:
        The fixtures.

    Raises:
        ContractError: A line is not JSON, lacks a field, has an empty prompt or gold or ``none`` beside a
            name; an id occurs twice; no entry carries a gold name. Located by file and line.
        InputError: The file cannot be read or is empty.

    Example:
        >>> from skillful_eval import read_corpus
        >>> from skillshift import datasets
        >>> corpus = read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> holdout.frame.height, holdout.frame["abstain"].sum()
        (25, 7)
    """
    frame = collect(scan(source, FIXTURES, comments=True))
    rules = list(FIXTURES.all_rules(frame.columns))
    if groups is not None:
        known = tuple(groups)
        expected = f"one of {', '.join(known)}"
        rules.append(Rule("group.unknown", "group", ~pl.col("group").is_in(known), expected, known=known))
    counts = count_violations(frame.lazy(), rules)
    violations = locate(frame.lazy(), rules) if counts else []
    golds = resolve(frame, corpus.entries)
    for found in (_duplicates(frame), _unknown(frame, golds, corpus)):
        for code, (count, some) in found.items():
            counts[code] = count
            violations += some
    if counts:
        raise ContractError(FIXTURES.name, counts, sorted(violations, key=_place))
    where = _source_name(source)
    return make_fixtures(frame, golds, corpus, name or Path(where).stem, where)


def make_fixtures(
    frame: pl.DataFrame, golds: pl.DataFrame, corpus: Corpus, name: str, source: str
) -> Fixtures:
    """The fixtures from checked records and their resolved golds."""
    rank = {kind: position for position, kind in enumerate(KINDS)}
    per_fixture = golds.group_by("fixture").agg(
        pl.col("answer").n_unique().cast(pl.Int64).alias("answers"),
        pl.col("kind").unique().alias("kinds"),
    )
    ordered = pl.col("kinds").list.eval(
        pl.element().sort_by(pl.element().replace_strict(rank, return_dtype=pl.UInt8))
    )
    table = (
        frame.with_row_index("fixture")
        .join(per_fixture, on="fixture", how="left", maintain_order="left")
        .select(
            pl.col("id").alias("fixture_id"),
            "group",
            "prompt",
            "gold",
            (pl.col("notes") if "notes" in frame.columns else pl.lit(None, dtype=pl.String)).alias("notes"),
            (pl.col("gold").list.first() == NONE).alias("abstain"),
            pl.col("answers").fill_null(0),
            ordered.fill_null([]).alias("kinds"),
        )
    )
    records = frame.select(_DIGESTED).to_dicts()
    return Fixtures(table, golds, corpus, name, digest(records), source)


def _source_name(source: Any) -> str:
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        return str(source)
    return type(source).__name__


def _place(violation: Violation) -> tuple[str, int]:
    return violation.file or "", violation.line or 0


def _at(rows: pl.DataFrame) -> list[tuple[str | None, int | None]]:
    places = [(row.get(FILE), row[RECORD]) for row in rows.to_dicts()]
    lines = line_numbers(places)
    return [(place[0], lines[place]) for place in places]


def _duplicates(frame: pl.DataFrame) -> dict[str, tuple[int, list[Violation]]]:
    first = pl.col("_row").first().over("id").alias("_first")
    again = frame.with_row_index("_row").with_columns(first).filter(pl.col("_row") != pl.col("_first"))
    if not again.height:
        return {}
    shown = again.head(SHOWN)
    places, firsts = _at(shown), _at(frame[shown["_first"]])
    violations = [
        Violation(
            code="id.duplicate",
            file=file,
            line=line,
            field="id",
            found=shorten(found),
            expected="an id of its own; the first with this one is at "
            + Violation(code="", file=where[0], line=where[1]).where,
        )
        for found, (file, line), where in zip(shown["id"], places, firsts, strict=True)
    ]
    return {"id.duplicate": (again.height, violations)}


def _unknown(
    frame: pl.DataFrame, golds: pl.DataFrame, corpus: Corpus
) -> dict[str, tuple[int, list[Violation]]]:
    blank = pl.col("gold").str.strip_chars() == ""
    unknown = golds.filter(pl.col("id").is_null() & pl.col("gold").is_not_null() & ~blank)
    if not unknown.height:
        return {}
    shown = unknown.head(SHOWN)
    names = [NONE, *corpus.entries["name"].unique(maintain_order=True)]
    violations = []
    for found, (file, line) in zip(shown["gold"], _at(frame[shown["fixture"]]), strict=True):
        close = nearest(found, names)
        hint = f"the nearest are {', '.join(map(shorten, close))}" if close else "no name is near it"
        expected = f"a name or an id in {corpus.source}"
        violations.append(
            Violation(
                code="gold.unknown",
                file=file,
                line=line,
                field="gold",
                found=shorten(found),
                expected=expected,
                hint=hint,
            )
        )
    return {"gold.unknown": (unknown.height, violations)}
