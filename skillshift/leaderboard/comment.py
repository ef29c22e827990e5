"""What a pull request's comment says of a new entry, as GitHub's Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.frame.errors import SHOWN
from skillshift.leaderboard.listing import clip
from skillshift.leaderboard.markup import markdown, markdown_code, markdown_table
from skillshift.leaderboard.notes import direction
from skillshift.leaderboard.ranking import CONFIDENCE, SINGLE, overall, published

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillshift.leaderboard.check import Checked, Landing
    from skillshift.leaderboard.folder import Entry
    from skillshift.leaderboard.ranking import Ranked
    from skillshift.submission.findings import Verdict

MAX_FINDING = 600
"""How much of a finding a comment shows; GitHub takes 65,536 characters in all."""

_NEIGHBOURS = 2
"""How many entries above and below the new one are shown."""


def comment(checked: Checked) -> str:
    """The comment: what the checks say, where the entry lands, and what changes."""
    places = (("name",), ("model", "id"), ("date",), ("provenance", "label"))
    about = [checked.sheet.text("submission", *place) for place in places]
    named = ", ".join(markdown(clip(text)) for text in about if text) or "a document without a name"
    parts = [
        f"# Leaderboard check: {'passed' if checked.passed else 'FAILED'}",
        "",
        f"{named} ({markdown_code(clip(checked.file))})",
        "",
        *_checks(checked),
        *_landing(checked),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _checks(checked: Checked) -> Iterable[str]:
    rows = [
        [verdict.check, _status(verdict), str(len(verdict.errors)), str(len(verdict.warnings))]
        for verdict in checked.five
    ]
    yield from ("## The five checks", "")
    yield markdown_table(("check", "verdict", "errors", "warnings"), rows, (False, False, True, True))
    yield ""
    for verdict in checked.five:
        yield from _findings(verdict)
    told = [verdict for verdict in checked.further if verdict.findings]
    if told:
        yield from ("## Also noticed, without failing anything", "")
        for verdict in told:
            yield from _findings(verdict)


def _status(verdict: Verdict) -> str:
    return "**FAILED**" if verdict.errors else verdict.status


def _findings(verdict: Verdict) -> Iterable[str]:
    if not verdict.findings and not verdict.unchecked:
        return
    # Errors first, so that none is among those that are only counted.
    shown = [*verdict.errors, *verdict.warnings]
    yield from (f"**{verdict.check}**", "")
    yield from (f"- {markdown_code(_cut(str(finding)))}" for finding in shown[:SHOWN])
    if len(shown) > SHOWN:
        yield f"- and {len(shown) - SHOWN:,} more; `skillshift validate` tells them all"
    yield from (f"- not checked: {markdown(_cut(text))}" for text in verdict.unchecked)
    yield ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_FINDING else f"{text[: MAX_FINDING - 3]}..."


def _landing(checked: Checked) -> Iterable[str]:
    landing, sort = checked.landing, checked.sort
    yield from ("## Where it lands", "")
    if landing is None:
        yield "Nowhere yet: the document does not fit its schema."
        return
    place = landing.place
    kind = f"{landing.among} {place.ranking} {'entry' if landing.among == 1 else 'entries'}"
    apart = "" if place.ranking == SINGLE else f" It is never ranked against {SINGLE} ones."
    value = overall(place.entry, sort)
    if value is None:
        yield f"Last of {kind}, without a rank: its overall {sort.name} is null.{apart}"
    else:
        yield (
            f"**Rank {place.rank}** of {kind} by overall {sort.name}, {direction(sort)}: {published(value)}"
            f" {sort.unit}.{apart}"
        )
        yield from ("", _interval(place, sort.name))
    yield ""
    yield from _around(landing, checked)
    yield from _changes(landing)
    yield from _remarks(landing)


def _interval(place: Ranked, metric: str) -> str:
    if place.best is None or place.standard_error is None:
        return f"No rank interval: the document does not bound the standard error of its {metric}."
    ranks = f"rank {place.best}" if place.best == place.worst else f"ranks {place.best} to {place.worst}"
    return (
        f"The data cannot tell apart {ranks} ({CONFIDENCE:.0%}; standard error at most"
        f" {place.standard_error:.2f}, of running the same tasks again)."
    )


def _around(landing: Landing, checked: Checked) -> Iterable[str]:
    at = landing.after.index(landing.place)
    rows = [
        _row(one, checked, is_new=one is landing.place)
        for one in landing.after[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
    ]
    yield markdown_table(
        ("rank", "entry", "model", "date", checked.sort.name), rows, (False, False, False, False, True)
    )
    yield ""


def _row(one: Ranked, checked: Checked, *, is_new: bool) -> list[str]:
    value = overall(one.entry, checked.sort)
    name = markdown(clip(one.entry.name))
    return [
        _rank(one.rank),
        f"**{name}** (new)" if is_new else name,
        markdown(clip(one.entry.model)),
        one.entry.date.isoformat(),
        "" if value is None else published(value),
    ]


def _rank(rank: int | None) -> str:
    return "none" if rank is None else str(rank)


def _changes(landing: Landing) -> Iterable[str]:
    yield from ("## What changes", "")
    moved = landing.moved
    if not moved:
        yield from ("No other entry's rank.", "")
        return
    rows = [
        [
            markdown(clip(one.entry.name)),
            markdown(clip(one.entry.model)),
            one.entry.date.isoformat(),
            _rank(before),
            _rank(one.rank),
        ]
        for one, before in moved[:SHOWN]
    ]
    titles = ("entry", "model", "date", "rank before", "rank after")
    yield markdown_table(titles, rows, (False, False, False, True, True))
    if len(moved) > SHOWN:
        yield from ("", f"and {len(moved) - SHOWN:,} more.")
    yield ""


def _remarks(landing: Landing) -> Iterable[str]:
    if landing.replaced is not None:
        yield from (f"It replaces {_entry(landing.replaced)}, whose file has its name.", "")
    if landing.twins:
        named = ", ".join(_entry(old) for old in landing.twins[:SHOWN])
        yield from (f"The board already has its name, model and date: {named}.", "")


def _entry(entry: Entry) -> str:
    return f"{markdown(clip(entry.label))} ({markdown_code(clip(entry.file))})"
