"""The leaderboard as one HTML page of its own: no script, no font, nothing loaded from elsewhere.

What stands behind a number (the count of a flagged rate) is the title of a disclosure: the pointer shows it,
the keyboard reaches and opens it, and a screen reader reads it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from skillshift.leaderboard.listing import ENTRY, MODEL, listings
from skillshift.metrics import FLAG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.leaderboard.board import Board
    from skillshift.leaderboard.listing import Cell, Column, Listing

TITLE = "SkillShift leaderboard"

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.wide { overflow-x: auto; position: relative; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-bottom: 2rem; }
caption { font-weight: 600; padding: .5rem 0; text-align: left; }
tbody td { white-space: nowrap; }
th, td { padding: .25rem .75rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid; border-top: 2px solid; }
tbody tr:last-child > * { border-bottom: 2px solid; }
tbody tr:nth-child(even) { background: rgb(128 128 128 / .12); }
tbody th { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
details { display: inline-block; }
td summary { cursor: help; list-style: none; text-decoration: underline dotted; }
td summary::-webkit-details-marker { display: none; }
summary:focus-visible, .wide:focus-visible { outline: 3px solid; outline-offset: 2px; }
td.long { min-width: 14rem; white-space: normal; }
details p { margin: 0; max-width: 16rem; text-align: left; white-space: normal; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap;
  width: 1px; }
"""


def render(board: Board) -> bytes:
    """The page."""
    found = listings(board)
    tables = "\n".join(_table(listing, f"ranking-{i}") for i, listing in enumerate(found, 1))
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in board.notes)
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TITLE}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{TITLE}</h1>
{tables}
<p>What an underlined value rests on: point at it, or reach it with the Tab key and open it with Enter.</p>
<h2>Notes</h2>
<ul>
{notes}
</ul>
{_reasons(found)}</main>
</body>
</html>
"""
    return page.encode()


def _table(listing: Listing, key: str) -> str:
    heads = "".join(_head(column) for column in listing.columns)
    rows = "\n".join(_row(listing.columns, row) for row in listing.rows)
    return f"""<div class="wide" role="region" tabindex="0" aria-labelledby="{key}">
<table>
<caption id="{key}">{escape(listing.title)}</caption>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _head(column: Column) -> str:
    kind = ' class="number"' if column.is_number else ""
    title, meaning = escape(column.title), escape(column.meaning)
    unseen = "" if title == meaning else f'<span class="unseen"> ({meaning})</span>'
    return f'<th scope="col"{kind} title="{meaning}" abbr="{title}">{title}{unseen}</th>'


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = []
    for column, cell in zip(columns, row, strict=True):
        kind = ' class="number"' if column.is_number else ' class="long"' if column.title == MODEL else ""
        if column.title == ENTRY:
            cells.append(f'<th scope="row">{escape(cell.text)}</th>')
        else:
            cells.append(f"<td{kind}>{_shown(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _shown(cell: Cell) -> str:
    if not cell.behind:
        return escape(cell.text)
    behind = escape(cell.behind)
    if not cell.text:
        return f'<span class="unseen">{behind}</span>'
    # The count in parentheses is what stands behind a flag, so it need not be said twice.
    number, flag, _ = cell.text.partition(FLAG)
    sign = f'<span aria-hidden="true">{flag}</span>' if flag else ""
    return (
        f'<details><summary title="{behind}">{escape(number)}{sign}'
        f'<span class="unseen"> {behind}</span></summary><p>{behind}</p></details>'
    )


def _reasons(found: Sequence[Listing]) -> str:
    told = [reason for listing in found for reason in listing.reasons]
    if not told:
        return ""
    rows = "\n".join(
        f"<li><b>{escape(entry)}</b>, {escape(place)}: {escape(reason)}</li>" for entry, place, reason in told
    )
    return f"""<h2>Why values are missing</h2>
<p>In the words of the submissions.</p>
<ul>
{rows}
</ul>
"""
