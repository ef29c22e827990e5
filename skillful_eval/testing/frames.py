"""From plain records to what the package takes: a corpus, fixtures, a frame of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from skillful_eval.corpus import Corpus, make_corpus
from skillful_eval.events import Events, scan_events
from skillful_eval.events_schema import EVENTS
from skillful_eval.fixtures import Fixtures, read_fixtures
from skillful_eval.schema import FIXTURES, RUNS
from skillful_eval.snapshot import UNKNOWN_FINGERPRINT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillshift.frame.contract import Table

    Record = Mapping[str, Any]

HEAD: Final[Mapping[str, Any]] = {
    "capturedAt": "2026-01-31",
    "fingerprint": UNKNOWN_FINGERPRINT,
    "sanitised": False,
    "excludedCount": 0,
    "redactedCount": 0,
}
"""The header of a corpus of which nothing is known."""


def to_corpus(entries: Iterable[Record]) -> Corpus:
    """Entries as a corpus.

    Args:
        entries: Valid entries, in JSON's fields: ``id``, ``kind``, ``name``, ``description``, ``runtime``.

    Returns:
        The corpus, unfiltered and without a fingerprint.
    """
    return make_corpus(dict(HEAD), [dict(entry) for entry in entries], "drawn")


def to_fixtures(fixtures: Sequence[Record], corpus: Corpus, *, name: str = "drawn") -> Fixtures:
    """Records as fixtures, their golds resolved.

    Args:
        fixtures: Valid records: ``id``, ``group``, ``prompt``, ``gold``, and ``notes`` where there are any.
        corpus: The corpus to resolve golds in.
        name: The set's name.

    Returns:
        The fixtures.
    """
    return read_fixtures(_frame(fixtures, FIXTURES), corpus, name=name)


def to_runs(runs: Sequence[Record]) -> pl.DataFrame:
    """Records as a frame of runs.

    Args:
        runs: Valid runs.

    Returns:
        The required columns, the optional ones that some run has, and whatever else they carry.
    """
    return _frame(runs, RUNS)


def to_events(events: Sequence[Record]) -> Events:
    """Records as the events of a live router; records that cannot be read are left out and counted.

    Args:
        events: Events, in the log's fields.

    Returns:
        The events.
    """
    return scan_events(_frame(events, EVENTS))


def _frame(records: Sequence[Record], table: Table) -> pl.DataFrame:
    names = dict.fromkeys(field.name for field in table.fields if field.required)
    names |= dict.fromkeys(name for record in records for name in record)
    types: dict[str, pl.DataType] = {field.name: field.kind.dtype for field in table.fields}
    return pl.DataFrame(
        [
            pl.Series(name, [record.get(name) for record in records], dtype=types.get(name), strict=True)
            for name in names
        ]
    )
