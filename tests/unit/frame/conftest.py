"""A small table, and logs of it, for the tests of the readers."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest

from skillshift.frame.contract import Field, Kind, Rule, Table

if TYPE_CHECKING:
    from pathlib import Path

# A table of its own: the readers must not know the domain.
PROBE = Table(
    "probe",
    "Probe",
    (
        Field("name", Kind.TEXT, "A text.", hint="write the name as text"),
        Field("flag", Kind.FLAG, "A flag.", nullable=True, hint="write true or false"),
        Field("count", Kind.COUNT, "A count.", nullable=True),
        Field("note", Kind.TEXT, "A note.", required=False, nullable=True),
        Field("run", Kind.LABEL, "A label.", required=False),
        Field("number", Kind.NUMBER, "A number.", required=False, nullable=True),
        Field("texts", Kind.TEXTS, "Texts.", required=False, nullable=True),
    ),
)


@pytest.fixture
def probe() -> Table:
    return PROBE


@pytest.fixture
def negative() -> Rule:

    return Rule("count.negative", "count", pl.col("count") < 0, "a whole number from 0")


def line(**changes: object) -> str:
    """One good record, with changes, as JSON."""
    return json.dumps({"name": "a", "flag": True, "count": 3} | changes, ensure_ascii=False)


@pytest.fixture
def record():
    return line


@pytest.fixture
def put(tmp_path: Path):
    """Write a log: lines, bytes as they are, or a text as it is; packed as its suffix says."""

    def write(name: str, content: list[str] | str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{one}\n" for one in content) if isinstance(content, list) else content
        data = text.encode() if isinstance(text, str) else text
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zst"):
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(data)
            data = sink.getvalue().to_pybytes()
        path.write_bytes(data)
        return path

    return write
