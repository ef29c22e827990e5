from __future__ import annotations

import os

import polars as pl
import pytest

from skillshift.frame.errors import InputError
from skillshift.frame.guard import Snapshot


def test_a_file_that_stays_as_it_is(put):
    path = put("a.jsonl", "{}")
    Snapshot.of([str(path)]).verify()


@pytest.mark.parametrize("change", ["content", "time", "size"])
def test_a_file_that_changes(put, change):
    path = put("a.jsonl", "{}")
    before = Snapshot.of([str(path)])
    time = path.stat().st_mtime_ns
    if change == "content":
        path.write_text("[]")
        os.utime(path, ns=(time, time + 1))
    elif change == "time":
        os.utime(path, ns=(time, time - 1))
    else:
        path.write_text("{}\n")
        os.utime(path, ns=(time, time))
    with pytest.raises(InputError, match=r"a\.jsonl: changed while it was read"):
        before.verify()


def test_a_file_that_goes(put):
    path = put("a.jsonl", "{}")
    before = Snapshot.of([str(path)])
    path.unlink()
    with pytest.raises(InputError, match="is gone"):
        before.verify()
    with pytest.raises(InputError, match="is gone"):
        Snapshot.of([str(path)])


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize(
    "plan",
    [
        lambda frame: frame,
        lambda frame: frame.select("a"),
        lambda frame: frame.select(pl.len()),
        lambda frame: frame.filter(pl.col("a") > 1).select("b"),
        lambda frame: frame.group_by("b").agg(pl.col("a").sum()).sort("b"),
        lambda frame: frame.head(1),
    ],
)
def test_a_guarded_plan_gives_the_same_and_fails_after_a_change(put, plan, engine):
    path = put("a.jsonl", "{}")
    frame = pl.LazyFrame({"a": [1, 2, 3], "b": ["x", "y", "y"]})
    guarded = Snapshot.of([str(path)]).guarded(frame)
    assert guarded.collect_schema() == frame.collect_schema()
    assert plan(guarded).collect(engine=engine).equals(plan(frame).collect())
    path.write_text("{}\n")
    with pytest.raises(InputError, match="changed"):
        plan(guarded).collect(engine=engine)
