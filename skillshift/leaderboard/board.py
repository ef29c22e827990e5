"""The leaderboard as one tidy table; every listing is made from it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.nearest import folded, suggest
from skillshift.leaderboard.folder import read_folder
from skillshift.leaderboard.notes import counted, notes
from skillshift.leaderboard.nulls import COUNT_NOT_REPORTED, SHOWN_AS, reason_of, status_of
from skillshift.leaderboard.ranking import published, ranked, sort_metric
from skillshift.metrics import FLAG, LOW_COUNT, METRICS, SFR
from skillshift.submission.calls import most_calls
from skillshift.submission.document import MIXED
from skillshift.submission.jsontext import printable
from skillshift.submission.slots import GROUP_KEYS, METRIC_NAMES, OVERALL, SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from skillshift.frame.metric import Metric
    from skillshift.leaderboard.folder import Entry, Folder
    from skillshift.leaderboard.ranking import Ranked
    from skillshift.submission.sheet import Sheet
    from skillshift.submission.slots import Slot

_GROUPS = {key: group for group, key in GROUP_KEYS.items()}

ENTRY_COLUMNS = pl.Schema(
    {
        "ranking": pl.String(),
        "rank": pl.Int64(),
        "rank_best": pl.Int64(),
        "rank_worst": pl.Int64(),
        "standard_error": pl.Float64(),
        "name": pl.String(),
        "method": pl.String(),
        "model": pl.String(),
        "date": pl.Date(),
        "provenance": pl.String(),
        "failed_checks": pl.String(),
        "file": pl.String(),
    }
)
"""What the table says of an entry, the same in each of its rows."""

SLOT_COLUMNS = pl.Schema(
    {
        "metric": pl.String(),
        "group": pl.String(),
        "slot": pl.String(),
        "value": pl.Float64(),
        "published": pl.String(),
        "status": pl.String(),
        "reason": pl.String(),
        "skill_calls": pl.Int64(),
        "skill_calls_at_most": pl.Int64(),
        "low_count": pl.Boolean(),
        "flagged": pl.Boolean(),
        "shown": pl.String(),
    }
)
"""What the table says of an entry's slot."""


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard.

    Attributes:
        table: One row an entry, metric and slot, entries in the order of the board: the columns of
            :data:`ENTRY_COLUMNS` and :data:`SLOT_COLUMNS`, described at :func:`make_board`.
        sort: The metric that it is ranked by.
        metrics: The metrics whose ten numbers were asked for; none means each metric's overall number.
        receipts: How many receipts were passed over.
        others: The names of the other files that were passed over.
        notes: What a reader must know.
    """

    table: pl.DataFrame
    sort: Metric
    metrics: tuple[str, ...]
    receipts: int
    others: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def entries(self) -> pl.DataFrame:
        """The entries, one row each, in the order of the board: :data:`ENTRY_COLUMNS`."""
        return self.table.select(*ENTRY_COLUMNS).unique(subset="file", maintain_order=True)

    @property
    def finding(self) -> bool:
        """Whether an entry fails one of its checks."""
        return self.table["failed_checks"].is_not_null().any()


def read_board(
    folder: str | Path,
    *,
    sort: str = METRIC_NAMES[0],
    metrics: Sequence[str] = (),
    models: Sequence[str] = (),
) -> Board:
    """Read a folder of submissions and rank them.

    Args:
        folder: The folder.
        sort: The metric to rank by, SFR excepted.
        metrics: Keep these metrics only; in listings for readers, with all their ten numbers.
        models: Keep the entries of these models only; ``mixed`` for those that pool several.

    Returns:
        The board, as :func:`make_board`.

    Raises:
        InputError: The folder cannot be read, holds no submission, or one that cannot be used.
        UsageError: A metric cannot be sorted by or does not exist, or no entry has such a model.
    """
    sort_metric(sort)
    for name in metrics:
        METRICS[name]
    found = read_folder(folder)
    if not found.entries:
        passed = counted(len(found.receipts) + len(found.others), "other file")
        raise InputError(
            f"{folder}: holds no submission ({passed} passed over); expected results documents, a file each"
        )
    return make_board(found, sort=sort, metrics=metrics, models=models)


def make_board(
    folder: Folder, *, sort: str, metrics: Sequence[str] = (), models: Sequence[str] = ()
) -> Board:
    """Rank the submissions of a folder.

    Args:
        folder: The folder, as :func:`~skillshift.leaderboard.folder.read_folder` gives it.
        sort: As :func:`read_board` takes it; ``metrics`` and ``models`` too.
        metrics: The metrics to keep.
        models: The models to keep.

    Returns:
        The board. Its table has for each entry ``ranking`` (single-model or mixed-model; ranks are counted
        within), ``rank`` (null where the value is undefined), ``rank_best`` and ``rank_worst`` (the ranks
        that the data cannot tell apart) and ``standard_error`` (of the overall value, at most; all three null
        where the document does not bound it), ``name``, ``method``, ``model``, ``date``, ``provenance``,
        ``failed_checks`` (null where it passes) and ``file``; and for each slot ``metric``, ``group``
        (website, condition, overall), ``slot``, ``value`` (Float64, in the metric's unit), ``published``
        (text, two decimals), ``status`` (value, not-applicable, undefined, not-measured), ``reason`` (the
        document's own, null beside a value or where it has none), ``skill_calls`` (null where not reported),
        ``skill_calls_at_most`` (by all that the document says; null where nothing bounds it), ``low_count``
        (an SFR on fewer than 30 calls; null where that is not known), ``flagged`` (an SFR not known to rest
        on 30 calls or more) and ``shown`` (what a reader sees; empty where not measured).

    Raises:
        UsageError: As :func:`read_board`.
    """
    kept = _of_models(folder.entries, models)
    placed = ranked(kept, sort_metric(sort))
    names = tuple(name for name in METRIC_NAMES if not metrics or name in metrics)
    rows = [
        {**about, **slot}
        for one in placed
        for about in (_about(one),)
        for slot in _slots(one.entry.sheet, names)
    ]
    table = pl.DataFrame(rows, schema={**ENTRY_COLUMNS, **SLOT_COLUMNS})
    return Board(
        table,
        METRICS[sort],
        names if metrics else (),
        len(folder.receipts),
        folder.others,
        notes(folder, placed, METRICS[sort], table, models),
    )


def _of_models(entries: Iterable[Entry], models: Sequence[str]) -> list[Entry]:
    by_entry = [(entry, MIXED if entry.mixed else entry.model) for entry in entries]
    known = {folded(name): name for _, name in by_entry}
    for model in models:
        if folded(model) not in known:
            near = suggest(model, known.values())
            raise UsageError(
                printable(
                    f"no entry has the model {shorten(model)}{f' ({near})' if near else ''}; expected one of"
                    f" {', '.join(sorted(known.values()))}"
                )
            )
    wanted = {folded(model) for model in models} or set(known)
    return [entry for entry, name in by_entry if folded(name) in wanted]


def _about(one: Ranked) -> dict[str, Any]:
    entry = one.entry
    return {
        "ranking": one.ranking,
        "rank": one.rank,
        "rank_best": one.best,
        "rank_worst": one.worst,
        "standard_error": one.standard_error,
        "name": entry.name,
        "method": entry.results.submission.method.name,
        "model": entry.model,
        "date": entry.date,
        "provenance": entry.provenance,
        "failed_checks": ", ".join(entry.failed) or None,
        "file": entry.file,
    }


def _slots(sheet: Sheet, metrics: Sequence[str]) -> Iterable[dict[str, Any]]:
    counts = {slot: _calls(sheet, slot) for slot in SLOTS}
    return (_slot(sheet, metric, slot, *counts[slot]) for metric in metrics for slot in SLOTS)


def _calls(sheet: Sheet, slot: Slot) -> tuple[int | None, int | None]:
    """A slot's skill calls, and the most that they can be."""
    # The total is the overall slot's count also where only that is known.
    calls = sheet.total_calls if slot.group == OVERALL else sheet.calls.get(slot)
    return calls, most_calls(sheet, slot) if calls is None else calls


def _slot(sheet: Sheet, metric: str, slot: Slot, calls: int | None, most: int | None) -> dict[str, Any]:
    value = sheet.value(metric, slot)
    number = value if isinstance(value, Decimal) else None
    text = None if number is None else published(number)
    status = status_of(sheet, metric, slot)
    low = _is_low(calls, most) if metric == SFR.name and number is not None else False
    return {
        "metric": metric,
        "group": _GROUPS[slot.group],
        "slot": slot.name,
        "value": None if number is None else float(number),
        "published": text,
        "status": status,
        "reason": reason_of(sheet, metric, slot),
        "skill_calls": calls,
        "skill_calls_at_most": most,
        "low_count": low,
        "flagged": low is not False,
        "shown": SHOWN_AS.get(status, text or "") + ("" if low is False else _flag(calls, low, most)),
    }


def _is_low(calls: int | None, most: int | None) -> bool | None:
    """Whether a slot has too few calls for a steady rate; null where that is not known."""
    if calls is not None:
        return calls < LOW_COUNT
    return True if most is not None and most < LOW_COUNT else None


def _flag(calls: int | None, low: bool | None, most: int | None) -> str:  # noqa: FBT001 - a fact, no switch
    """The flag of a rate with what is known of its count."""
    if calls is not None:
        return f" {FLAG} ({calls})"
    return f" {FLAG} ({COUNT_NOT_REPORTED}{f', at most {most}' if low else ''})"
