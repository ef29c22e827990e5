"""The leaderboard as LaTeX tables with booktabs: to be input into a document of any engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift.leaderboard.listing import MODEL, listings
from skillshift.leaderboard.markup import LATEX_CHARACTER, LATEX_FLAG, latex
from skillshift.leaderboard.nulls import COUNT_NOT_REPORTED

if TYPE_CHECKING:
    from skillshift.leaderboard.board import Board
    from skillshift.leaderboard.listing import Column, Listing

SHORT = "n/r"
"""How a page, narrower than a screen, says that a count was not reported."""

_PREAMBLE = rf"""% A table for a document that loads booktabs: \usepackage{{booktabs}}
% The flag of a rate on few calls; define it before to have another sign.
\providecommand{{{LATEX_FLAG}}}{{\ensuremath{{\triangle}}}}
% A character that not every font has; an engine without Unicode sets its number.
\providecommand{{{LATEX_CHARACTER}}}[1]{{\ifdefined\Uchar\Uchar"#1\relax\else{{[}}U+#1{{]}}\fi}}
"""


def render(board: Board) -> bytes:
    """A ``table*`` a ranking, the notes below the last."""
    tables = [_table(listing) for listing in listings(board)]
    notes = [latex(note) for note in board.notes]
    if board.table["flagged"].any():
        notes.append(f"{SHORT}: {latex(COUNT_NOT_REPORTED)}.")
    told = "\n".join(rf"\par {note}" for note in notes)
    below = f"\\begin{{minipage}}{{\\linewidth}}\\footnotesize\n{told}\n\\end{{minipage}}"
    tables.append(f"{tables.pop()}\n\\par\\smallskip\n{below}")
    floats = (f"\\begin{{table*}}\n{body}\n\\end{{table*}}\n" for body in tables)
    return (_PREAMBLE + "\n" + "\n".join(floats)).encode()


def _table(listing: Listing) -> str:
    columns = "".join(map(_column, listing.columns))
    head = _row([latex(column.title) for column in listing.columns])
    rows = "\n".join(
        _row([latex(cell.text.replace(COUNT_NOT_REPORTED, SHORT)) for cell in row]) for row in listing.rows
    )
    return (
        f"\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n\\caption{{{latex(listing.title)}}}\n\\begin{{tabular}}{{{columns}}}\n"
        f"\\toprule\n{head}\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}"
    )


def _column(column: Column) -> str:
    """How a column stands; a model's name wraps, since that of a mixed-model entry names several."""
    if column.is_number:
        return "r"
    return "p{3.2cm}" if column.title == MODEL else "l"


def _row(texts: list[str]) -> str:
    return rf"{' & '.join(texts)} \\"
