"""From a run's cells and marginals to its results document; an unfinished run gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.diagnostics.marginals import run_keys
from skillshift.frame.errors import SHOWN, InputError, UsageError
from skillshift.grid import SKILLSHIFT
from skillshift.metrics import REASONS
from skillshift.submission.document import CURRENT_VERSION, SELF_REPORTED, Results
from skillshift.submission.jsontext import Number
from skillshift.submission.model import require
from skillshift.submission.receipt import harness_version, run_of
from skillshift.submission.slots import (
    CONDITIONS,
    GROUP_KEYS,
    METRIC_NAMES,
    OFFICIAL_COUNTS,
    OVERALL,
    WEBSITES,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def build(
    numbers: pl.DataFrame,
    cells: pl.DataFrame,
    *,
    name: str,
    model: str,
    date: str,
    method: str | None = None,
    description: str | None = None,
    paper_url: str | None = None,
    code_url: str | None = None,
    contact: str | None = None,
    temperature: float | None = None,
    vision: bool | None = None,
    repro_command: str | None = None,
    notes: str | None = None,
) -> Results:
    """Make the results document of one complete run on the SkillShift grid.

    Args:
        numbers: The run's marginals, as :func:`skillshift.marginals` gives them from ``cells``.
        cells: The run's cells, as :func:`skillshift.cells` gives them.
        name: What the leaderboard calls the entry.
        model: The language model's id.
        date: When it ran, as ``YYYY-MM-DD``.
        method: The method's name in full; the entry's name where not given.
        description: What the method does.
        paper_url: Its paper, ``http`` or ``https``.
        code_url: Its code; the entry says that code is released where given.
        contact: How to reach the submitter.
        temperature: The model's temperature; null for unknown.
        vision: Whether the model saw screenshots; null for unknown.
        repro_command: The command that runs it again.
        notes: Anything else.

    Returns:
        The document: two decimals, half-up from the exact sums; every null with a reason; skill calls by
        website, condition and overall, or null where the method has no executable skills.

    Raises:
        InputError: There are several runs, a cell lacks scored tasks, the grid is another, or a field is not
            what the schema asks for.
        UsageError: The marginals are not those of the cells.
    """
    _check_run(numbers, cells)
    tree = {
        "schema_version": CURRENT_VERSION,
        "submission": {
            "name": name,
            "date": date,
            "contact": contact,
            "method": {
                "name": name if method is None else method,
                "description": description,
                "paper_url": paper_url,
                "code_url": code_url,
            },
            "model": {"id": model, "temperature": temperature, "vision": vision},
            "provenance": {
                "label": SELF_REPORTED,
                "source": f"own run, computed by {harness_version()}",
                "code_released": code_url is not None,
            },
            "repro_command": repro_command,
        },
        "harness_version": harness_version(),
        **aggregate(numbers),
        "reasons": reasons(numbers),
        "notes": notes,
    }
    return require(Results, tree, "the submission")


def aggregate(numbers: pl.DataFrame) -> dict[str, Any]:
    """The numbers of a document and of its receipt.

    Args:
        numbers: The marginals of one complete run on the SkillShift grid.

    Returns:
        ``metrics`` and ``n`` as a document holds them; numbers with two decimals.
    """
    published = numbers.select("metric", "group", "slot", "published")
    metrics = {
        metric: _by_slot(
            (group, slot, None if text is None else Number(text))
            for _, group, slot, text in published.filter(pl.col("metric") == metric).rows()
        )
        for metric in METRIC_NAMES
    }
    # A slot's calls are the same whichever metric's row says them.
    calls = numbers.filter(pl.col("metric") == METRIC_NAMES[0]).select("group", "slot", "skill_calls")
    counted = None if calls["skill_calls"].null_count() else _by_slot(calls.rows())
    counts = {group: dict(official) for group, official in OFFICIAL_COUNTS.items()}
    return {"metrics": metrics, "n": {**counts, "skill_calls": counted}}


def reasons(numbers: pl.DataFrame) -> dict[str, str]:
    """Why each null is null: under the metric where its ten slots share one reason, else under each slot.

    Args:
        numbers: The marginals of one run.

    Returns:
        The reasons by ``ASC`` or ``SFR.websites.wordpress``, in the order of the slots.
    """
    found: dict[str, str] = {}
    for metric in METRIC_NAMES:
        rows = numbers.filter(pl.col("metric") == metric).select("group", "slot", "reason").rows()
        codes = {reason for _, _, reason in rows}
        if len(codes) == 1 and None not in codes:
            found[metric] = REASONS[rows[0][2]]
            continue
        found |= {
            ".".join((metric, *_place(group, slot))): REASONS[reason]
            for group, slot, reason in rows
            if reason is not None
        }
    return found


def _place(group: str, slot: str) -> tuple[str, ...]:
    key = GROUP_KEYS[group]
    return (OVERALL,) if key == OVERALL else (key, slot)


def _by_slot(rows: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {WEBSITES: {}, CONDITIONS: {}, OVERALL: None}
    for group, slot, value in rows:
        key = GROUP_KEYS[group]
        if key == OVERALL:
            made[key] = value
        else:
            made[key][slot] = value
    return made


def _check_run(numbers: pl.DataFrame, cells: pl.DataFrame) -> None:
    run_of(cells)
    if cells.select("website", "condition", "planned").rows() != list(SKILLSHIFT.cells()):
        raise InputError(
            f"the cells are not those of the {SKILLSHIFT.name} grid ({SKILLSHIFT.tasks:,} tasks); only"
            " its runs can be submitted"
        )
    unfinished = cells.filter(~pl.col("complete"))
    if unfinished.height:
        lines = [
            f"  {row['website']} / {row['condition']}: {row['scored']} of {row['planned']} tasks scored,"
            f" {row['errored']} errored, {row['missing']} missing"
            for row in unfinished.head(SHOWN).to_dicts()
        ]
        raise InputError(
            f"the run is incomplete: {unfinished.height} of {cells.height} cells lack scored tasks, and a"
            " submission covers every task. Run what is missing and submit again.\n" + "\n".join(lines)
        )
    keys = run_keys(cells, "website")
    same_run = run_keys(numbers, "metric") == keys and (
        not keys or numbers.select(keys).unique().equals(cells.select(keys).unique())
    )
    overall = numbers.filter(pl.col("group") == OVERALL, pl.col("metric") == METRIC_NAMES[0])
    if not same_run or overall["scored"].to_list() != [cells["scored"].sum()]:
        raise UsageError("the marginals are not those of the cells; give ss.marginals(cells) of the same run")
