"""The report as a document: both layers, stability, latency, groups and kinds, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.coverage import uncovered
from skillful_eval.metrics import METRICS, PERCENTILES, RECALL
from skillful_eval.metrics import REASONS as UNDEFINED_BECAUSE
from skillful_eval.rendering.basis import basis_data, basis_sections, finding_notes, with_basis
from skillful_eval.rendering.document import Document, as_text, bounded, decimals
from skillful_eval.rendering.values import cell_text, count_text, metric_of, value_columns
from skillful_eval.schema import DECISIONS
from skillful_eval.scopes import ALL, GROUP
from skillful_eval.stability import unstable
from skillful_eval.summary import REPORT
from skillful_eval.sums import POPULATIONS
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.nearest import suggest
from skillshift.frame.tables import Section, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillful_eval.scoring import Scored

HEADLINES = (
    "recall@K",
    "MRR",
    "goldInShortlistRate",
    "top1Accuracy",
    "noneRecall",
    "agreementRate",
    "latencyP95",
)
"""The metrics that the table by group and kind shows."""

_SPLIT = ("abstentionCorrectness", "top1Accuracy", "wrongPickNotOffered", "wrongPickOffered")
"""The gap between the first two is the sum of the last two."""


@dataclass(frozen=True, slots=True, eq=False)
class Reported:
    """A report with what belongs beside it.

    Attributes:
        scored: The scored runs.
        by: The columns that tell configurations apart.
        report: What :func:`skillful_eval.report` gives.
        unstable: What :func:`skillful_eval.unstable` gives.
        uncovered: What :func:`skillful_eval.uncovered` gives.
        budget_ms: The budget of the share over it.
    """

    scored: Scored
    by: tuple[str, ...]
    report: pl.DataFrame
    unstable: pl.DataFrame
    uncovered: pl.DataFrame
    budget_ms: float

    @classmethod
    def of(cls, scored: Scored, report: pl.DataFrame, budget_ms: float) -> Reported:
        """Gather what belongs beside a report of these runs."""
        keys = tuple(name for name in report.columns if name not in REPORT)
        return cls(scored, keys, report, unstable(scored, keys), uncovered(scored, keys), budget_ms)


def only_groups(report: pl.DataFrame, fixtures: pl.DataFrame, groups: Sequence[str] | None) -> pl.DataFrame:
    """A report without the scopes of other groups than these; all of it where none is named.

    Raises:
        UsageError: There is no such group.
    """
    if not groups:
        return report
    known = fixtures["group"].unique().sort().to_list()
    unknown = [group for group in groups if group not in known]
    if unknown:
        hint = suggest(unknown[0], known)
        raise UsageError(
            f"group: found {shorten(unknown[0])}, expected one of {', '.join(known)}"
            + (f" ({hint})" if hint else "")
        )
    is_group = pl.col("scope").str.starts_with(GROUP)
    return report.filter(~is_group | pl.col("scope").is_in([GROUP + group for group in groups]))


def report_document(reported: Reported) -> Document:
    """Lay a report out."""
    provenance = reported.scored.provenance
    report, keys = reported.report, reported.by
    whole = report.filter(pl.col("scope") == ALL)
    stability, more = bounded(reported.unstable.drop("repeats"), "Unstable fixtures", "decisions", keys)
    coverage, still = bounded(
        reported.uncovered.select(*keys, "fixture_id", "group", "repeats", "expected"),
        "Fixtures that lack runs",
        "group",
        keys,
    )
    sections = [
        _whole(whole, keys),
        *_confusion(whole, keys),
        *_curve(whole, keys),
        *_scopes(report, keys),
        *stability,
        *coverage,
        *basis_sections(provenance),
    ]
    notes = [*_notes(reported, whole), *more, *still, *finding_notes(provenance.findings)]
    data: dict[str, Any] = {
        "keys": list(keys),
        "budget_ms": reported.budget_ms,
        "provenance": basis_data(provenance),
        "findings": provenance.findings.to_dicts(),
        "report": report.to_dicts(),
        "unstable": reported.unstable.to_dicts(),
        "uncovered": reported.uncovered.to_dicts(),
    }
    return Document("Routing report", tuple(sections), tuple(notes), with_basis(report, provenance), data)


def _whole(whole: pl.DataFrame, keys: Sequence[str]) -> Section:
    """Every metric over all fixtures; the recall curve and the confusion counts have tables of their own."""
    counts = {f"{population}{kind.capitalize()}" for population in POPULATIONS for kind in DECISIONS}
    named = pl.col("metric").is_in({*METRICS.names, *PERCENTILES} - counts)
    rows = whole.filter(named)
    layer = pl.Series("layer", [metric_of(name).layer for name in rows["metric"]], dtype=pl.String)
    columns = {column.name: column for column in value_columns(rows)}
    reason = [columns.pop("reason")] if "reason" in columns else []
    table = rows.select(*keys, layer, "metric").hstack([*reason, *columns.values(), rows["fixtures"]])
    return Section("All fixtures", as_text(table), "reason" if reason else "metric", (*keys, "layer"))


def _confusion(whole: pl.DataFrame, keys: Sequence[str]) -> list[Section]:
    """The six counts: what was expected by what was decided."""
    parts: list[pl.DataFrame] = []
    for population, expected in zip(POPULATIONS, ("a capability", "to abstain"), strict=True):
        names = {f"{population}{kind.capitalize()}": kind for kind in DECISIONS}
        rows = whole.filter(pl.col("metric").is_in(list(names)))
        counts = [
            pl.col("numerator").filter(pl.col("metric") == name).first().alias(kind)
            for name, kind in names.items()
        ]
        of = [pl.col("denominator").first().alias("runs"), pl.col("fixtures").first()]
        table = (
            rows.group_by(keys, maintain_order=True).agg(*counts, *of) if keys else rows.select(*counts, *of)
        )
        parts.append(table.select(*keys, pl.lit(expected).alias("expected"), *DECISIONS, "runs", "fixtures"))
    both = pl.concat(parts)
    if not both["runs"].sum():
        return []
    ordered = both.sort(keys, maintain_order=True) if keys else both
    texts = ordered.with_columns(
        pl.Series(kind, [count_text(value) for value in ordered[kind]]) for kind in DECISIONS
    )
    return [Section("Decisions, in runs", as_text(texts), "expected", tuple(keys))]


def _curve(whole: pl.DataFrame, keys: Sequence[str]) -> list[Section]:
    """Recall at every rank up to K."""
    points = whole.filter(pl.col("metric").str.contains(r"^recall@[0-9]"))
    if not points.height:
        return []
    rank = pl.col("metric").str.strip_prefix("recall@").cast(pl.Int64)
    ordered = points.with_columns(rank.alias("rank")).sort(*keys, "rank")
    cells = pl.Series("recall", [decimals(value, 3) for value in ordered["value"]])
    table = ordered.select(*keys, "rank", "denominator", "fixtures").with_columns(
        cells, pl.Series("hits", [count_text(value) for value in ordered["numerator"]])
    )
    shown = table.select(*keys, "rank", "recall", "hits", "denominator", "fixtures")
    return [Section("Recall at each rank", as_text(shown), "rank", tuple(keys))]


def _scopes(report: pl.DataFrame, keys: Sequence[str]) -> list[Section]:
    """The headline metrics in every scope, each with its counts."""
    if report["scope"].n_unique() < 2:  # noqa: PLR2004  # all alone is shown elsewhere
        return []
    rows = report.filter(pl.col("metric").is_in(HEADLINES))
    cells = rows.with_columns(
        pl.Series("_cell", [cell_text(row) for row in rows.to_dicts()], dtype=pl.String)
    )
    by = [*keys, "scope"]
    columns = [
        pl.col("_cell").filter(pl.col("metric") == name).first().fill_null("").alias(name)
        for name in HEADLINES
    ]
    counts = [
        pl.col("fixtures").filter(pl.col("metric") == name).first().alias(title)
        for name, title in ((RECALL.name, "answerable fixtures"), ("noneRecall", "abstain fixtures"))
    ]
    table = cells.group_by(by, maintain_order=True).agg(*counts, *columns)
    return [Section("By group and kind of gold", as_text(table), "scope", tuple(keys))]


def _notes(reported: Reported, whole: pl.DataFrame) -> list[str]:
    notes = [
        "Repeats of one fixture are not independent: read a value with its fixtures, not only its runs.",
        *_gaps(whole, reported.by),
        f"overBudgetRate: the budget is {reported.budget_ms:g} ms. Percentiles are nearest-rank.",
    ]
    if reported.report["scope"].n_unique() > 1:
        notes.append("By group and kind, (9/12) is numerator and denominator; -- alone: no such fixtures.")
    shown = reported.report.filter((pl.col("scope") == ALL) | pl.col("metric").is_in(HEADLINES))
    reasons = set(shown["reason"].drop_nulls())
    notes += [f"-- {code}: {why}." for code, why in UNDEFINED_BECAUSE.items() if code in reasons]
    return notes


def _gaps(whole: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """What the gap between the two accuracies is made of, in runs."""
    rows = whole.filter(pl.col("metric").is_in(_SPLIT))
    by_key: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows.to_dicts():
        by_key.setdefault(tuple(row[key] for key in keys), {})[row["metric"]] = row
    notes = []
    for key, found in by_key.items():
        if any(found[name]["value"] is None for name in _SPLIT):
            continue
        kind, top, retrieval, judgement = (count_text(found[name]["numerator"]) for name in _SPLIT)
        of = one_line(", ".join(map(str, key))) or "All"
        notes.append(
            f"{of}: {kind} runs have the right kind of decision, {top} the right decision; "
            f"between the two are wrong picks on answerable fixtures, {retrieval} with no gold in the "
            f"shortlist (retrieval's share) and {judgement} with a gold offered (judgement's share)."
        )
    return notes
