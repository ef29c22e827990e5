"""Whatever the bytes: the fast reader and the strict one agree, and both agree with plain Python."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import skillshift.frame.jsonl as jsonl_module
from skillshift.frame.contract import FILE, RECORD, Field, Kind, Table
from skillshift.frame.errors import InputError
from skillshift.frame.lines import line_numbers
from skillshift.frame.reading import Refused, scan

TABLE = Table(
    "probe",
    "Probe",
    (
        Field("name", Kind.TEXT, "A text."),
        Field("label", Kind.LABEL, "A label.", required=False),
        Field("flag", Kind.FLAG, "A flag."),
        Field("count", Kind.COUNT, "A count."),
        Field("number", Kind.NUMBER, "A number.", required=False),
        Field("texts", Kind.TEXTS, "Texts.", required=False),
    ),
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
counts = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 40)
floats = st.floats(allow_nan=False, allow_infinity=False)
FIELDS = {
    "name": texts,
    "label": texts | counts,
    "flag": st.booleans(),
    "count": counts | st.integers(-9, 9).map(float),
    "number": floats | st.integers(-(10**15), 10**15) | counts,
    "texts": st.lists(texts, max_size=3),
}
scalars = st.booleans() | counts | floats | texts
EXTRAS = {
    "é k": texts,
    "n": st.integers(-5, 5),
    "x": st.integers(-5, 5) | floats,
    "b": st.booleans(),
    "any": scalars,
    'a"\\\n': texts,
    "": st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner)),
}


@st.composite
def objects(draw: st.DrawFn) -> str:
    """One good record as a line of JSON."""
    keys = [f.name for f in TABLE.fields if f.required or draw(st.booleans())]
    keys += draw(st.lists(st.sampled_from(sorted(EXTRAS)), max_size=2, unique=True))
    if draw(st.integers(0, 3)) == 0:
        keys = draw(st.permutations(keys))
    record = {key: draw(st.none() | (FIELDS | EXTRAS)[key]) for key in keys}
    separators = draw(st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", "  : ")]))
    line = json.dumps(record, ensure_ascii=draw(st.booleans()), separators=separators)
    return draw(st.sampled_from(["", "", "", " ", "\t"])) + line


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """A good log: records, blank lines, either line end, with and without a mark and a final line end."""
    lines = draw(st.lists(objects() | st.sampled_from(["", " ", "\t  "]), max_size=8))
    lines.insert(draw(st.integers(0, len(lines))), draw(objects()))
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from([end, end, ""]))
    return b"\xef\xbb\xbf" * draw(st.sampled_from([0, 0, 0, 1])) + text.encode()


def pack(content: bytes, suffix: str) -> bytes:
    if suffix.endswith(".gz"):
        return gzip.compress(content)
    if suffix.endswith(".zst"):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return sink.getvalue().to_pybytes()
    return content


def read(folder: Path, *, strictly: bool) -> pl.DataFrame | str:
    """What a folder gives, or why it is refused."""
    with pytest.MonkeyPatch.context() as patch:
        if strictly:
            patch.setattr(jsonl_module, "_survey", lambda *_: {})
        try:
            return scan(folder, TABLE).collect()
        except InputError as error:
            return str(error)


def expected(content: bytes) -> list[dict[str, Any]]:
    """The fields of each record, as plain Python reads them."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    records = [json.loads(line) for line in lines if line.strip()]
    return [{f.name: as_field(record.get(f.name), f.kind) for f in TABLE.fields} for record in records]


def fields(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The fields of each row of a frame; one that the frame lacks is null."""
    lacking = [pl.lit(None).alias(name) for name in TABLE.names if name not in frame.columns]
    return frame.with_columns(lacking).select(TABLE.names).to_dicts()


def as_field(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    return {Kind.LABEL: str, Kind.COUNT: int, Kind.NUMBER: float}.get(kind, lambda same: same)(value)


@given(
    st.lists(logs(), min_size=1, max_size=3),
    st.sampled_from([".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst"]),
)
def test_fast_strict_and_plain_python_agree_on_good_logs(contents: list[bytes], suffix: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for i, content in enumerate(contents):
            (folder / f"{i}{suffix}").write_bytes(pack(content, suffix))
        fast, strict = read(folder, strictly=False), read(folder, strictly=True)
        assert isinstance(fast, pl.DataFrame), fast
        assert isinstance(strict, pl.DataFrame), strict
        assert_frame_equal(fast, strict)
        assert fast.columns[-2:] == [FILE, RECORD]
        assert fields(fast) == [row for content in contents for row in expected(content)]
        places = [
            (str(folder / f"{i}{suffix}"), n) for i, c in enumerate(contents) for n in range(len(expected(c)))
        ]
        assert fast.select(FILE, RECORD).rows() == places


GOOD = '{"name": "a\\u00e9\\\\", "flag": true, "count": 3, "number": 1.5, "texts": ["b"], "k": null}'
MARKS = [b'"', b"\\", b"{", b"}", b"[", b",", b":", b"\n", b"\r", b" ", b"0", b"9", b".", b"-", b"e", b"\xff",
         b"\\ud800", b"null", b"NaN", b"#", b"\x00", b"\x1f", b"\xef\xbb\xbf", b'"k": 1, ']  # fmt: skip


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from(MARKS)), min_size=1, max_size=3
    ),
    st.integers(1, 4),
)
@example([(82, 0, b"\\ud800")], 2)
@example([(0, 0, b"\xff")], 1)
def test_fast_and_strict_agree_on_damaged_logs(damage: list[tuple[int, int, bytes]], lines: int) -> None:
    content = "\n".join([GOOD] * lines).encode()
    for place, removed, mark in damage:
        at = place % len(content)
        content = content[:at] + mark + content[at + removed :]
    with TemporaryDirectory() as name:
        Path(name, "log.jsonl").write_bytes(content)
        fast, strict = read(Path(name), strictly=False), read(Path(name), strictly=True)
        if isinstance(fast, str) or isinstance(strict, str):
            assert fast == strict
        else:
            assert_frame_equal(fast, strict)
            assert fields(fast) == expected(content)


@given(st.lists(logs(), min_size=1, max_size=3), st.sampled_from(["streaming", "in-memory"]))
def test_a_part_of_the_records_keeps_its_places(contents: list[bytes], engine: Any) -> None:
    with TemporaryDirectory() as name:
        for i, content in enumerate(contents):
            Path(name, f"{i}.jsonl").write_bytes(content)
        frame = scan(name, TABLE)
        whole = frame.collect(engine=engine)
        assert_frame_equal(whole, frame.collect())
        some = pl.col("count") > 2
        assert_frame_equal(
            frame.filter(some).select(RECORD, FILE, "count").collect(engine=engine),
            whole.filter(some).select(RECORD, FILE, "count"),
        )
        assert_frame_equal(frame.slice(1, 2).collect(engine=engine), whole.slice(1, 2))


@given(
    st.lists(st.tuples(objects(), st.sampled_from(["", "{}", "[1]", "x", '{"name": 1}', "\t"])), min_size=1)
)
def test_quarantine_parts_the_lines_into_good_and_refused(pairs: list[tuple[str, str]]) -> None:
    lines = [line for pair in pairs for line in pair]
    bad = {i for i, line in enumerate(lines, 1) if i % 2 == 0 and line.strip()}
    with TemporaryDirectory() as name:
        path = Path(name, "log.jsonl")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
        refused: list[Refused] = []
        frame = scan(path, TABLE, refused=refused).collect()
        assert [(one.file, one.line, one.raw) for one in refused] == [
            (str(path), i, lines[i - 1]) for i in sorted(bad)
        ]
        places = line_numbers(frame.select(FILE, RECORD).rows())
        assert [places[place] for place in frame.select(FILE, RECORD).rows()] == list(
            range(1, len(lines) + 1, 2)
        )
        assert frame["name"].to_list() == [json.loads(line)["name"] for line, _ in pairs]
