from __future__ import annotations

from datetime import date

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skillshift.frame.errors import InputError
from skillshift.frame.frames import frame_of, joined

FRAME = pl.DataFrame({"a": [1, None], "b": ["x", None]})


@pytest.mark.parametrize(
    "source",
    [
        FRAME,
        FRAME.lazy(),
        FRAME.to_arrow(),
        FRAME.to_arrow().to_batches()[0],
        nw.from_native(FRAME),
        nw.from_native(FRAME.lazy()),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_frames_of_every_kind(source):
    assert frame_of(source).collect().equals(FRAME)


def test_pandas():
    source = pd.DataFrame(
        {"a": pd.array([1, None], dtype="Int64"), "f": [0.5, float("nan")], "b": ["x", None]}
    )
    assert frame_of(source).collect().rows() == [(1, 0.5, "x"), (None, None, None)]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    assert frame_of(duckdb.sql("select 1 as a, 'x' as b")).collect().rows() == [(1, "x")]


@pytest.mark.parametrize("source", ["a.jsonl", ["a.jsonl"], None, 3, {"a": [1]}, b"x", object()])
def test_what_is_no_frame(source, tmp_path):
    assert frame_of(source) is None
    assert frame_of(tmp_path) is None


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"a": [1, "x"]}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
    ids=["mixed", "twice", "twice-arrow"],
)
def test_frames_that_cannot_be_had(source):
    with pytest.raises(InputError, match="cannot be taken as Polars columns"):
        frame_of(source)


def test_joined_fills_what_some_lack():
    one, two = pl.LazyFrame({"a": [1], "b": ["x"]}), pl.LazyFrame({"b": ["y"], "c": [True]})
    assert joined([one, two], ["1", "2"]).collect().rows() == [(1, "x", None), (None, "y", True)]
    assert joined([one], ["1"]) is one


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pl.Series([1], dtype=pl.Int8), pl.Series([2], dtype=pl.Int64), pl.Int64),
        (pl.Series([1]), pl.Series([1.5]), pl.Float64),
        (pl.Series([None]), pl.Series(["x"]), pl.String),
        (pl.Series(["x"], dtype=pl.Categorical), pl.Series(["y"]), pl.String),
        (pl.Series(["x"], dtype=pl.Enum(["x", "y"])), pl.Series(["y"], dtype=pl.Enum(["y", "x"])), pl.String),
        (pl.Series(["x"], dtype=pl.Categorical), pl.Series([None]), pl.Categorical),
    ],
)
def test_types_that_have_something_in_common(first, second, expected):
    values = [*first.to_list(), *second.to_list()]
    frame = joined([first.to_frame("a").lazy(), second.to_frame("a").lazy()], ["1", "2"]).collect()
    assert (frame["a"].to_list(), frame["a"].dtype) == (values, expected)


@pytest.mark.parametrize("second", [["x"], [True], [[1]], [date(2026, 1, 1)]])
def test_types_that_have_nothing_in_common(second):
    with pytest.raises(InputError, match=r"2\.parquet: the column a is .*, but in 1\.parquet it is Int64"):
        joined([pl.LazyFrame({"a": [1]}), pl.LazyFrame({"a": second})], ["1.parquet", "2.parquet"])
