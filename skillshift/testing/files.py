"""Hypothesis strategies for JSON Lines: the many valid forms of one log, and files with one fault."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from skillshift.testing.faults import FAULTS, Fault, FaultKind
from skillshift.testing.needs import st

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn

    from skillshift.grid import Grid

# Among the notes: separators that are line ends to `str.splitlines` but not to JSON Lines, escapes, text
# beyond 16 bits, and text that looks like something else.
_NOTES = ("", 'say "hi"\\', "line\u2028sep\u0085arate", "tab\tnew\nline", "😀", "{}", "NaN", "//", None)
_EXTRAS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"seed": 7}, {"seed": None}, *({"note": note} for note in _NOTES), {"seed": -1, "note": "both"}]
)
_COUNTS = ("steps", "skill_calls", "skill_failures")
_FLOATS = st.sampled_from([(), _COUNTS[:1], _COUNTS[1:], _COUNTS])
_SEPARATORS = st.sampled_from(((", ", ": "), (",", ":"), (" ,\t", " : ")))
_NEWLINES = st.sampled_from(("\n", "\r\n"))
_ORDERS = st.integers(0, 2**32)
_ANY = st.booleans()


@st.composite
def jsonl_bytes(draw: DrawFn, /, records: Sequence[Mapping[str, Any]]) -> bytes:
    """Records as JSON Lines in the many forms that say the same.

    What varies: line ends, a byte order mark, blank lines, a final newline or none, blanks around
    punctuation, escapes, the order of keys, whole numbers written as ``2.0``, absent optional keys written
    as null, and other keys (``note``: text, ``seed``: whole numbers).

    Args:
        draw: Comes from Hypothesis.
        records: Valid records, in the order of the file.
    """
    lines = draw(_lines(records))
    return draw(_laid_out(lines))[0]


@st.composite
def faulty_jsonl(
    draw: DrawFn,
    /,
    records: Sequence[Mapping[str, Any]],
    *,
    grid: Grid,
    kinds: Sequence[FaultKind] = tuple(FAULTS.values()),
) -> tuple[bytes, Fault]:
    """JSON Lines with one faulty line, and what must be said of it.

    Args:
        draw: Comes from Hypothesis.
        records: Valid records, at least one.
        grid: The grid that they fit.
        kinds: The kinds of fault to choose from.
    """
    kind = draw(st.sampled_from(list(kinds)))
    at = len(records) - 1 if kind.cut else draw(st.integers(0, len(records) - 1))
    lines = draw(_lines(records))
    lines[at] = kind.line(records[at], grid)
    # A broken last line without a line end may as well be a cut one, so it gets one.
    final = False if kind.cut else True if kind.code == "json.syntax" else None
    content, numbers = draw(_laid_out(lines, final=final))
    return content, Fault(kind.name, numbers[at], kind.field, kind.code)


@st.composite
def _lines(draw: DrawFn, /, records: Sequence[Mapping[str, Any]]) -> list[str]:
    ascii_only, floats, filled = (draw(_ANY) for _ in range(3))
    separators = draw(_SEPARATORS)
    order = random.Random(draw(_ORDERS))  # noqa: S311, the order of keys needs no secure randomness
    lines = []
    for record in records:
        varied = {**({"error": None} if filled else {}), **record, **draw(_EXTRAS)}
        for count in draw(_FLOATS) if floats else ():
            if varied[count] is not None:
                varied[count] = float(varied[count])
        keys = order.sample(list(varied), len(varied))
        varied = {key: varied[key] for key in keys}
        lines.append(json.dumps(varied, ensure_ascii=ascii_only, separators=separators))
    return lines


@st.composite
def _laid_out(draw: DrawFn, /, lines: Sequence[str], *, final: bool | None = None) -> tuple[bytes, list[int]]:
    """The lines as a file, and the number of the line at which each of them stands."""
    newline = draw(_NEWLINES)
    blanks = draw(st.lists(st.integers(0, len(lines)), max_size=3))
    written: list[str] = []
    numbers: list[int] = []
    for n, line in enumerate(lines):
        written += [""] * blanks.count(n)
        written.append(line)
        numbers.append(len(written))
    ended = draw(_ANY) if final is None else final
    text = newline.join(written)
    if ended:
        text += newline * (1 + blanks.count(len(lines)))
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}" if draw(_ANY) else ""
    return (mark + text).encode(errors="surrogateescape"), numbers
