"""The leaderboard as its readers see it: one list a ranking, of texts and what stands behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.leaderboard.notes import counted
from skillshift.leaderboard.nulls import COUNT_NOT_REPORTED, MEANS
from skillshift.leaderboard.ranking import MIXED, RANKINGS, SINGLE
from skillshift.metrics import LOW_COUNT, METRICS
from skillshift.submission.jsontext import printable
from skillshift.submission.slots import OVERALL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillshift.leaderboard.board import Board

MAX_WIDTH = 100
"""How much of a stranger's text a listing shows; a name is never longer."""

TITLES: Mapping[str, str] = {
    SINGLE: "Single-model entries",
    MIXED: "Mixed-model entries (never ranked against single-model ones)",
}
"""What each ranking is called."""

ENTRY, MODEL = "entry", "model"
"""The columns that name a row, and the language model."""

_INTERVAL = "rank interval"
_FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a listing.

    Attributes:
        title: What stands above it.
        meaning: The title spelled out.
        is_number: Whether it holds numbers; the others say what an entry is.
    """

    title: str
    meaning: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a listing.

    Attributes:
        text: What is shown; empty where nothing was measured.
        behind: What stands behind it, such as the count; empty where the text says all.
    """

    text: str
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """One ranking of a leaderboard.

    Attributes:
        title: What the ranking is called, and by what it is ranked.
        columns: The columns; what an entry is first, then numbers.
        rows: A row an entry, in order.
        reasons: The reasons that the documents give for missing values: entry, place, reason.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    reasons: tuple[tuple[str, str, str], ...]

    @property
    def frame(self) -> pl.DataFrame:
        """The texts as a frame, a column each."""
        titles = [column.title for column in self.columns]
        texts = [[cell.text for cell in row] for row in self.rows]
        return pl.DataFrame(texts, schema=dict.fromkeys(titles, pl.String), orient="row")

    @property
    def labels(self) -> int:
        """How many columns say what an entry is."""
        return sum(not column.is_number for column in self.columns)


def listings(board: Board) -> list[Listing]:
    """Lay a leaderboard out for readers.

    Args:
        board: The leaderboard.

    Returns:
        A listing for each ranking that has entries: rank, the interval of ranks (where the metric has one),
        entry, model, date, provenance, the checks that it fails (where one does), then the numbers: each
        metric's overall one, or all ten of those metrics that the board was asked for.
    """
    table = board.table if board.metrics else board.table.filter(pl.col("group") == OVERALL)
    made = []
    for ranking in RANKINGS:
        rows = table.filter(pl.col("ranking") == ranking).to_dicts()
        by_file: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            by_file.setdefault(row["file"], []).append(row)
        if by_file:
            made.append(_listing(board, ranking, list(by_file.values())))
    return made


def _listing(board: Board, ranking: str, entries: list[list[dict[str, Any]]]) -> Listing:
    # A column that says nothing of any entry of the board is left out, in every ranking alike.
    silent = {_INTERVAL: board.table["rank_best"].is_null().all(), _FAILS: not board.finding}
    about = {title: part for title, part in _ABOUT.items() if not silent.get(title, False)}
    labels = (Column(title, meaning, is_number=False) for title, (meaning, _) in about.items())
    numbers = (_number_column(board, row) for row in entries[0])
    return Listing(
        f"{TITLES[ranking]}, by {board.sort.name}{_subject(board)}",
        (*labels, *numbers),
        tuple(
            (*(cell(slots[0]) for _, cell in about.values()), *(_number(row) for row in slots))
            for slots in entries
        ),
        tuple(reason for slots in entries for reason in _reasons(slots)),
    )


def _subject(board: Board) -> str:
    """What the numbers are where their columns' titles do not say it."""
    if len(board.metrics) != 1:
        return ""
    metric = METRICS[board.metrics[0]]
    return f": {metric.title} ({metric.name}, {metric.unit})"


def _number_column(board: Board, row: dict[str, Any]) -> Column:
    metric = METRICS[row["metric"]]
    meaning = f"{metric.title}, {metric.unit}, {row['slot']}"
    if not board.metrics:
        return Column(metric.name, meaning, is_number=True)
    title = row["slot"] if len(board.metrics) == 1 else f"{metric.name} {row['slot']}"
    return Column(title, meaning, is_number=True)


def _rank(entry: dict[str, Any]) -> Cell:
    if entry["rank"] is None:
        return Cell("", "not ranked: the value is undefined or was not measured")
    return Cell(str(entry["rank"]))


def _interval(entry: dict[str, Any]) -> Cell:
    best, worst = entry["rank_best"], entry["rank_worst"]
    if best is None:
        return Cell("", "unknown: the document does not bound the standard error")
    error = f"standard error at most {entry['standard_error']:.2f}"
    return Cell(str(best) if best == worst else f"{best}-{worst}", error)


_ABOUT: Mapping[str, tuple[str, Callable[[dict[str, Any]], Cell]]] = {
    "rank": ("rank", _rank),
    _INTERVAL: ("ranks that the data cannot tell apart", _interval),
    ENTRY: ("name of the entry", lambda entry: Cell(clip(entry["name"]))),
    MODEL: ("language model", lambda entry: Cell(clip(entry["model"]))),
    "date": ("date of the run", lambda entry: Cell(entry["date"].isoformat())),
    "provenance": ("where the numbers come from", lambda entry: Cell(entry["provenance"])),
    _FAILS: ("checks that the entry fails", lambda entry: Cell(entry["failed_checks"] or "")),
}
"""What a listing says of an entry: the column's title, its meaning, and the cell."""


def _number(row: dict[str, Any]) -> Cell:
    if row["status"] != "value":
        return Cell(row["shown"], MEANS[row["status"]])
    return Cell(clip(row["shown"]), _count(row) if row["flagged"] else "")


def _count(row: dict[str, Any]) -> str:
    calls, most = row["skill_calls"], row["skill_calls_at_most"]
    if calls is not None:
        return f"on {counted(calls, 'skill call')}, fewer than {LOW_COUNT}"
    if row["low_count"]:
        return f"{COUNT_NOT_REPORTED}, but at most {most} by the rest of the document, fewer than {LOW_COUNT}"
    return f"{COUNT_NOT_REPORTED}, so that it may rest on fewer than {LOW_COUNT} skill calls"


def _reasons(slots: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """A document's reasons for what is null in a listing, each once with the first place that it explains."""
    entry = f"{clip(slots[0]['name'])} ({clip(slots[0]['model'])}, {slots[0]['date']})"
    found: dict[tuple[str, str], list[str]] = {}
    for row in slots:
        if row["reason"]:
            found.setdefault((row["metric"], row["reason"]), []).append(row["slot"])
    return [
        (entry, f"{metric} {', '.join(places)}", printable(reason))
        for (metric, reason), places in found.items()
    ]


def clip(text: str) -> str:
    """A stranger's text as a listing shows it: printable, and never longer than a name may be."""
    shown = printable(text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 3]}...")
    return shown if len(shown) <= MAX_WIDTH else f"{shown[: MAX_WIDTH - 3]}..."
