"""What a reader of a leaderboard must know, said once for every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.errors import SHOWN
from skillshift.leaderboard.nulls import MEANS, SHOWN_AS
from skillshift.leaderboard.ranking import CONFIDENCE, MIXED, RANKINGS, REFUSED
from skillshift.leaderboard.spread import PROPORTION
from skillshift.metrics import FLAG, LOW_COUNT
from skillshift.submission.jsontext import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from skillshift.frame.metric import Metric
    from skillshift.leaderboard.folder import Entry, Folder
    from skillshift.leaderboard.ranking import Ranked

_NAMED = 5
"""How many of the files passed over are named."""

UNATTAINABLE = "granularity.unattainable"
"""The finding that a value cannot come from the counts."""

_FIRST = {"higher": "the highest first", "lower": "the lowest first"}


def notes(
    folder: Folder, placed: Sequence[Ranked], sort: Metric, table: pl.DataFrame, models: Sequence[str]
) -> tuple[str, ...]:
    """The notes of a leaderboard.

    Args:
        folder: The folder it was made from.
        placed: Its entries at their places.
        sort: The metric it is ranked by.
        table: Its table.
        models: The models it was restricted to.

    Returns:
        One sentence or two each.
    """
    told = [_order(sort, models), *_apart(placed), *_intervals(placed, sort), *_doubts(placed, sort)]
    told += _shown(table)
    told += _failures(placed)
    told.append(_passed_over(folder))
    return tuple(printable(text) for text in told)


def direction(metric: Metric) -> str:
    """In which direction a metric sorts, as a reader is told."""
    return _FIRST.get(
        metric.better, f"{_FIRST['higher']}, which says nothing of merit: neither direction of it is better"
    )


def _order(sort: Metric, models: Sequence[str]) -> str:
    among = f" among the entries of {', '.join(models)}" if models else ""
    refused = " and ".join(REFUSED)
    return (
        f"Ranked{among} by overall {sort.name} ({sort.unit}), {direction(sort)}; equal values share a rank"
        f" and stand by name, then newest first; undefined values come last. {refused} never ranks."
    )


def _apart(placed: Sequence[Ranked]) -> Iterable[str]:
    if {one.ranking for one in placed} == set(RANKINGS):
        yield (
            f"{MIXED.capitalize()} entries pool several language models; they are never ranked against"
            " single-model ones."
        )


def _intervals(placed: Sequence[Ranked], sort: Metric) -> Iterable[str]:
    if sort is not PROPORTION:
        yield (
            f"No rank intervals: {sort.name} is a mean of counts, and neither its value nor its number of"
            f" tasks tells its standard error. Only {PROPORTION.name}, a share of tasks, has them."
        )
        return
    defined = [one for one in placed if one.rank is not None]
    lacking = [one.entry for one in defined if one.best is None]
    if len(lacking) < len(defined):
        yield (
            f"Rank intervals are the ranks that the data cannot tell apart ({CONFIDENCE:.0%} for each entry),"
            f" from the largest standard error that its published {PROPORTION.name} and task counts allow."
            " They are about running the same tasks again, not about other tasks."
        )
    if lacking:
        yield f"No rank interval, because the document does not bound the standard error: {_names(lacking)}."


def _doubts(placed: Sequence[Ranked], sort: Metric) -> Iterable[str]:
    """Where the counts that an interval rests on cannot be those that gave the values."""
    if sort is not PROPORTION:
        return
    sure = [one.entry for one in placed if one.best is not None]
    single = [entry for entry in sure if not entry.mixed]
    odd = [entry for entry in single if _unattainable(entry)]
    if odd:
        yield (
            f"{len(odd)} of {len(single)} single-model entries print an {PROPORTION.name} that cannot come"
            " from complete cells of the official counts; their intervals take the counts at their word."
        )
    if len(single) < len(sure):
        yield (
            f"{MIXED.capitalize()} entries do not say how their models were pooled; their intervals take the"
            " counts as those of one run, so they are too wide rather than too narrow."
        )


def _unattainable(entry: Entry) -> bool:
    return any(found.code == UNATTAINABLE for verdict in entry.verdicts for found in verdict.findings)


def _shown(table: pl.DataFrame) -> Iterable[str]:
    statuses = table["status"].unique()
    for status, text in SHOWN_AS.items():
        if status in statuses:
            yield f"{text or 'Blank'}: {MEANS[status]}."
    if table["flagged"].any():
        yield (
            f"{FLAG}: a rate on fewer than {LOW_COUNT} skill calls, with their count; or one whose"
            " count was not reported, so that nobody can tell."
        )


def _failures(placed: Sequence[Ranked]) -> Iterable[str]:
    failing = [one.entry for one in placed if one.entry.failed]
    if failing:
        told = "; ".join(f"{entry.file}: {', '.join(entry.failed)}" for entry in failing[:SHOWN])
        more = f"; and {len(failing) - SHOWN} more" if len(failing) > SHOWN else ""
        yield (
            f"{len(failing)} of {len(placed)} entries FAIL a check ({told}{more}). Their ranks are not to be"
            " relied on; `skillshift validate` says why."
        )


def _passed_over(folder: Folder) -> str:
    counts = f"{counted(len(folder.receipts), 'receipt')} and {counted(len(folder.others), 'other file')}"
    named = ", ".join(folder.others[:_NAMED]) + (", ..." if len(folder.others) > _NAMED else "")
    return f"Passed over in the folder: {counts}{f' ({named})' if named else ''}."


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "receipt"), counted(0, "receipt")
    ('1 receipt', '0 receipts')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _names(entries: Sequence[Entry]) -> str:
    named = ", ".join(entry.label for entry in entries[:SHOWN])
    return named + (f" and {len(entries) - SHOWN} more" if len(entries) > SHOWN else "")
