"""Hypothesis strategies for files: the many valid forms of the same lines, and files with one fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillful_eval.testing.faults import Fault, FaultKind, faults_of, json_line
from skillful_eval.testing.frames import HEAD
from skillful_eval.testing.needs import st

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn

_SEPARATORS = st.sampled_from(((", ", ": "), (",", ":"), (" ,\t", " : ")))
_NEWLINES = st.sampled_from(("\n", "\r\n"))
_ANY = st.booleans()


@st.composite
def jsonl_bytes(draw: DrawFn, /, records: Sequence[Mapping[str, Any]], *, comments: bool = False) -> bytes:
    """Records as JSON Lines in the many forms that say the same.

    What varies: line ends, a byte order mark, blank lines, a final newline or none, blanks around
    punctuation, escapes, and the order of keys.

    Args:
        draw: Comes from Hypothesis.
        records: Valid records, in the order of the file.
        comments: Whether there may be ``#`` comments: fixtures have them.
    """
    ascii_only, separators = draw(_ANY), draw(_SEPARATORS)
    backwards = draw(_ANY)
    lines = []
    for record in records:
        varied = dict(reversed(list(record.items()))) if backwards else dict(record)
        lines.append(json.dumps(varied, ensure_ascii=ascii_only, separators=separators))
    return draw(_laid_out(lines, comments=comments))[0]


@st.composite
def faulty_jsonl(
    draw: DrawFn, /, records: Sequence[Mapping[str, Any]], *, kinds: Sequence[FaultKind]
) -> tuple[bytes, Fault]:
    """JSON Lines with one faulty line, and what must be said of it.

    Args:
        draw: Comes from Hypothesis.
        records: Valid records of the file that the kinds are of, at least one. Runs should have ``config``
            where the kinds have faults of it, since in one run only it would be missing in the others.
        kinds: The kinds of fault to choose from, such as ``faults_of("runs")``.
    """
    kind = draw(st.sampled_from(list(kinds)))
    at = len(records) - 1 if kind.cut else draw(st.integers(0, len(records) - 1))
    lines = [json_line(record) for record in records]
    lines[at] = kind.line(records[at])
    # A broken last line without a line end may as well be a cut one, so it gets one.
    content, numbers = draw(_laid_out(lines, final=not kind.cut))
    return content, Fault(kind.name, numbers[at], kind.field, kind.code)


@st.composite
def faulty_corpora(
    draw: DrawFn,
    /,
    entries: Sequence[Mapping[str, Any]],
    *,
    kinds: Sequence[FaultKind] = faults_of("corpus"),
) -> tuple[bytes, Fault]:
    """A corpus snapshot with one faulty entry, and what must be said of it; the fault's line is its number.

    Args:
        draw: Comes from Hypothesis.
        entries: Valid entries, at least one.
        kinds: The kinds of fault to choose from.
    """
    kind = draw(st.sampled_from(list(kinds)))
    at = draw(st.integers(0, len(entries) - 1))
    texts = [kind.line(entry) if number == at else json_line(entry) for number, entry in enumerate(entries)]
    text = f'{json_line(HEAD)[:-1]}, "entries": [{", ".join(texts)}]}}'
    return text.encode(), Fault(kind.name, at + 1, kind.field, kind.code)


@st.composite
def _laid_out(
    draw: DrawFn, /, lines: Sequence[str], *, final: bool | None = None, comments: bool = False
) -> tuple[bytes, list[int]]:
    """The lines as a file, and the number of the line at which each of them stands."""
    newline = draw(_NEWLINES)
    between = draw(st.lists(st.integers(0, len(lines)), max_size=3))
    filler = draw(st.sampled_from(("", "# a comment"))) if comments else ""
    written: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(lines):
        written += [filler] * between.count(number)
        written.append(line)
        numbers.append(len(written))
    ended = draw(_ANY) if final is None else final
    text = newline.join(written) + (newline if ended else "")
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}" if draw(_ANY) else ""
    return (mark + text).encode(errors="surrogateescape"), numbers
