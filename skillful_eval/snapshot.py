"""The corpus snapshot's JSON: strict reading, canonical digest, writing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import polars as pl

from skillful_eval.documents import canonical, encodes, read_json
from skillful_eval.names import capability
from skillful_eval.schema import KINDS, NONE
from skillshift.frame.errors import SHOWN, ContractError, InputError, Violation, shorten
from skillshift.frame.nearest import suggest

TABLE = "corpus snapshot"

UNKNOWN_FINGERPRINT = "unknown"
"""The fingerprint of a corpus whose maker took none."""

HEADER = {
    "capturedAt": "captured_at",
    "fingerprint": "fingerprint",
    "sanitised": "sanitised",
    "excludedCount": "excluded_count",
    "redactedCount": "redacted_count",
}
"""The snapshot's own fields, and what they are called here."""

FIELDS = {
    "id": "id",
    "kind": "kind",
    "name": "name",
    "description": "description",
    "runtime": "runtime",
    "scope": "scope",
    "sourcePath": "source_path",
    "whenToUse": "when_to_use",
}
"""An entry's fields, and the columns that they become."""

REQUIRED = ("id", "kind", "name", "description", "runtime")
"""The fields that every entry must have."""

_FILLED = ("id", "kind", "name", "runtime")
"""The fields that may not be empty either."""

_NAMING = ("id", "name")
"""The fields that a fixture's gold can name."""

_HEADER_TYPES: dict[str, tuple[type, str]] = {
    "capturedAt": (str, "text"),
    "fingerprint": (str, "text"),
    "sanitised": (bool, "true or false"),
    "excludedCount": (int, "a whole number from 0"),
    "redactedCount": (int, "a whole number from 0"),
}

_WHAT = "one JSON object with " + ", ".join(HEADER) + " and entries"


def load(path: str) -> tuple[dict[str, Any], list[Any]]:
    """Read a snapshot's header and entries; the entries are not looked at yet.

    Raises:
        InputError: The file cannot be read, is not strict JSON, or is no snapshot.
    """
    document = read_json(path, f"a {TABLE}", _WHAT)
    if not isinstance(document, dict):
        raise InputError(f"{path}: found {shorten(document)}, expected {_WHAT}")
    for name, (kind, expected) in _HEADER_TYPES.items():
        found = document.get(name)
        wrong = type(found) is not kind or (isinstance(found, int) and found < 0)
        if wrong or (isinstance(found, str) and not encodes(found)):
            shown = shorten(found) if name in document else "nothing"
            raise InputError(f"{path}: {name}: found {shown}, expected {expected}")
    entries = document.get("entries")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: entries: found {shorten(entries)}, expected a list of at least one entry")
    return {name: document[name] for name in HEADER}, entries


def entries_frame(records: list[Any], source: str) -> pl.DataFrame:
    """The entries as a frame.

    Args:
        records: The entries as parsed.
        source: The file, for messages.

    Returns:
        The frame of :attr:`Corpus.entries <skillful_eval.corpus.Corpus.entries>`.

    Raises:
        ContractError: An entry is wrong; every wrong one is counted and the first 20 are named.
    """
    # Whole columns are looked at first; single entries only where a column is not right.
    if all(type(record) is dict for record in records) and not _suspicious(records):
        frame = _frame(records)
        if not frame["id"].is_duplicated().any():
            return frame
    raise _refusal(records, source)


def _suspicious(records: list[dict[str, Any]]) -> bool:
    for name in FIELDS:
        values: list[Any] = [record.get(name, None if name in REQUIRED else "") for record in records]
        if set(map(type, values)) != {str} or not encodes("".join(values)):
            return True
        if name in _FILLED and not all(map(str.strip, values)):
            return True
    if not encodes("".join(filter(None, map(_other, records)))):
        return True
    reserved = any(record[name] == NONE for record in records for name in _NAMING)
    return reserved or not {record["kind"] for record in records} <= set(KINDS)


def _frame(records: list[dict[str, Any]]) -> pl.DataFrame:
    columns = {
        column: pl.Series(column, [record.get(name) for record in records], dtype=pl.String)
        for name, column in FIELDS.items()
    }
    frame = pl.DataFrame(columns).with_columns(
        pl.Series("other", [_other(record) for record in records], dtype=pl.String)
    )
    return frame.with_columns(capability(pl.col("name")).alias("capability"))


def _other(record: dict[str, Any]) -> str | None:
    further = {key: value for key, value in record.items() if key not in FIELDS}
    return canonical(further) if further else None


def _refusal(records: list[Any], source: str) -> ContractError:
    counts: Counter[str] = Counter()
    shown: list[Violation] = []
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        found = list(_wrong(record, number, first))
        counts.update(violation.code for violation in found)
        place = f"{source}: entry {number}"
        if isinstance(record, dict) and isinstance(record.get("id"), str):
            place += f" ({shorten(record['id'])})"
        if len(shown) < SHOWN:
            shown += [replace(one, file=place) for one in found]
    return ContractError(TABLE, counts, shown)


def _wrong(record: Any, number: int, first: dict[str, int]) -> list[Violation]:
    if type(record) is not dict:
        expected = "an object with the entry's fields"
        return [Violation(code="entry.type", found=shorten(record), expected=expected)]
    found = (
        _wrong_value(name, record[name], number, first)
        if name in record
        else Violation(code=f"{name}.missing", field=name, found="nothing", expected="text")
        for name in FIELDS
        if name in record or name in REQUIRED
    )
    wrong = [violation for violation in found if violation is not None]
    if not encodes(_other(record) or ""):
        wrong.append(
            Violation(code="entry.text", found=shorten(record), expected="text without half characters")
        )
    return wrong


def _wrong_value(name: str, value: Any, number: int, first: dict[str, int]) -> Violation | None:
    what, expected, hint = "", "", ""
    if type(value) is not str or not encodes(value):
        what, expected = "type", "text"
        hint = "leave out a field without a value" if value is None and name not in REQUIRED else ""
    elif name in _FILLED and not value.strip():
        what, expected = "empty", "text, not empty"
    elif name == "kind" and value not in KINDS:
        what, expected, hint = "unknown", f"one of {', '.join(KINDS)}", suggest(value, KINDS)
    elif name in _NAMING and value == NONE:
        what = "reserved"
        expected = f"another {name}: {NONE!r} is the gold of a fixture that must be abstained from"
    elif name == "id" and first.setdefault(value, number) != number:
        what, expected = "duplicate", f"an id of its own; entry {first[value]} has this one"
    if not what:
        return None
    return Violation(code=f"{name}.{what}", field=name, found=shorten(value), expected=expected, hint=hint)


def json_entries(entries: pl.DataFrame) -> list[dict[str, Any]]:
    """The entries as JSON objects, as they were read."""
    columns = {column: name for name, column in FIELDS.items()}
    records: list[dict[str, Any]] = []
    for row in entries.select(*columns, "other").to_dicts():
        record = {name: row[column] for column, name in columns.items() if row[column] is not None}
        records.append(record | (json.loads(row["other"]) if row["other"] else {}))
    return records


def digest(records: list[dict[str, Any]]) -> str:
    """``sha256:`` and the SHA-256, in hexadecimal, of the canonical JSON of records sorted by their ``id``.

    >>> digest([{"id": "b"}, {"id": "a"}]) == digest([{"id": "a"}, {"id": "b"}])
    True
    """
    ordered = sorted(records, key=lambda record: str(record["id"]))
    return f"sha256:{hashlib.sha256(canonical(ordered).encode()).hexdigest()}"
