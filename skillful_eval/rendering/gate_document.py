"""The gate as a document: the configurations that were tried, what blocks each, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval import gating
from skillful_eval.gating import FAILED, PASSED, tried
from skillful_eval.metrics import REASONS as UNDEFINED_BECAUSE
from skillful_eval.rendering.basis import basis_data, basis_sections, finding_notes, with_basis
from skillful_eval.rendering.document import UNDEFINED, Document, as_text, counted, decimals
from skillful_eval.rendering.values import PLACES, metric_of, value_text
from skillful_eval.scopes import ALL
from skillshift.frame.tables import Section

if TYPE_CHECKING:
    from typing import Any

    from skillful_eval.provenance import Provenance


_MOST_PLACES = 10
"""How many decimals a shortfall is shown with at most."""


def gate_document(verdicts: pl.DataFrame, provenance: Provenance, criteria: str) -> Document:
    """Lay the verdicts of :func:`skillful_eval.gate` out.

    Args:
        verdicts: The verdicts.
        provenance: What they rest on.
        criteria: Where the criteria come from.
    """
    keys = verdicts.columns[: verdicts.columns.index("criterion")]
    configurations = tried(verdicts)
    passed = bool((verdicts["verdict"] == PASSED).all())
    sections = [
        Section("Configurations tried", _tried(configurations, verdicts, keys), "blocked by"),
        Section("Criteria", _criteria(verdicts, keys), "reason", tuple(keys)),
        *basis_sections(provenance),
    ]
    outcome = PASSED if passed else FAILED
    data = {
        "verdict": outcome,
        "refusal_unchecked_runs": provenance.unchecked_runs,
        "criteria_from": criteria,
        "keys": keys,
        "configurations": configurations.to_dicts(),
        "criteria": verdicts.to_dicts(),
        "provenance": basis_data(provenance),
        "findings": provenance.findings.to_dicts(),
    }
    notes = _notes(verdicts, configurations, provenance, criteria)
    rows = with_basis(verdicts, provenance)
    return Document(f"Gate: {outcome}", tuple(sections), tuple(notes), rows, data)


def _tried(configurations: pl.DataFrame, verdicts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    blocks: dict[tuple[Any, ...], list[str]] = {}
    for row in verdicts.filter(pl.col("verdict") == FAILED).to_dicts():
        blocks.setdefault(tuple(row[key] for key in keys), []).append(_blocks(row))
    of_rows = configurations.select(keys).rows() if keys else [()]
    texts = ["; ".join(blocks.get(key, [])) for key in of_rows]
    met = pl.format("{} of {}", "met", "criteria").alias("criteria met")
    table = configurations.select(*keys, "verdict", met)
    return as_text(table.with_columns(pl.Series("blocked by", texts, dtype=pl.String)))


def _blocks(row: dict[str, Any]) -> str:
    where = "" if row["scope"] == ALL else f" in {row['scope']}"
    if row["value"] is None:
        return f"{row['criterion']}{where} undefined ({row['reason']})"
    return f"{row['criterion']}{where} by {_shortfall(row)}"


def _shortfall(row: dict[str, Any]) -> str:
    """By how much a limit is missed, with enough decimals that it is not shown as nothing."""
    if not row["shortfall"]:
        return UNDEFINED if row["shortfall"] is None else ""
    least = PLACES[metric_of(row["criterion"]).unit]
    texts = (decimals(row["shortfall"], places) for places in range(least, _MOST_PLACES))
    return next((text for text in texts if text.strip("0.")), f"{row['shortfall']:.1g}")


def _criteria(verdicts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    rows = verdicts.to_dicts()
    shown = {
        "asked": [_asked(row) for row in rows],
        "value": [value_text(row["criterion"], row["value"]) for row in rows],
        "shortfall": [_shortfall(row) for row in rows],
    }
    texts = (pl.Series(name, values, dtype=pl.String) for name, values in shown.items())
    table = verdicts.with_columns(texts)
    left = ("criterion", "scope", "asked", "verdict", "reason")
    return as_text(table.select(*keys, *left, "value", "shortfall", "denominator", "fixtures"))


def _asked(row: dict[str, Any]) -> str:
    """The limit as it was given: rounding it would ask for something else."""
    if row["minimum"] is not None:
        return f"at least {row['minimum']:.15g}"
    return f"at most {row['maximum']:.15g}"


def _notes(
    verdicts: pl.DataFrame, configurations: pl.DataFrame, provenance: Provenance, criteria: str
) -> list[str]:
    failed = configurations.filter(pl.col("verdict") == FAILED).height
    tried_here = counted(configurations.height, "configuration")
    notes = [
        *_unchecked(provenance),
        f"{tried_here} tried on {provenance.fixture_set}, {failed} not passed. Criteria: {criteria}.",
    ]
    notes.append("A value that is undefined, missing or NaN fails its criterion.")
    if configurations.height > 1:
        notes.append(
            "The gate is passed where every configuration passes: choosing the best of several here would be "
            "tuning on the set that is to confirm."
        )
    reasons = set(verdicts["reason"].drop_nulls())
    known = gating.REASONS | UNDEFINED_BECAUSE
    notes += [f"{code}: {why}." for code, why in known.items() if code in reasons]
    return [*notes, *finding_notes(provenance.findings)]


def _unchecked(provenance: Provenance) -> list[str]:
    """What a reader must know first: that a set which was tuned on may not have been refused."""
    unchecked = provenance.unchecked_runs
    if not unchecked:
        return []
    of = f"{unchecked:,} of {counted(provenance.runs, 'run')}"
    note = (
        f"REFUSAL NOT CHECKED for {of}: they do not say what they were tuned on (tuned_on), or on which set "
        "they were made (fixture_set, fixture_digest), so whether they were tuned on this set is not known."
    )
    return [note]
