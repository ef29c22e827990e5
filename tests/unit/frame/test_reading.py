from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pytest

from skillshift.frame.contract import Field, Kind, Table, collect
from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.frame.lines import line_numbers
from skillshift.frame.reading import scan
from skillshift.schema import PER_TASK

FIELDS = {"name": ["a", "b"], "flag": [True, None], "count": [1, 2]}


def test_fields_come_first_then_others_by_name_then_places(put, record, probe):
    path = put("a.jsonl", [record(z=1, b="x", run=5)])
    frame = scan(path, probe)
    assert isinstance(frame, pl.LazyFrame)
    fields = {"name": pl.String, "flag": pl.Boolean, "count": pl.Int64, "run": pl.String}
    others = {"b": pl.String, "z": pl.Int64}
    assert frame.collect_schema() == fields | others | {"_file": pl.String, "_record": pl.Int64}
    assert frame.collect().rows() == [("a", True, 3, "5", "x", 1, str(path), 0)]


def test_formats_may_be_mixed_and_come_in_the_order_of_paths(put, record, probe, tmp_path):
    put("1.jsonl", [record(count=1, x=1)])
    put("3.jsonl.gz", [record(count=3, x=None), record(count=4)])
    put("5.ndjson.zst", [record(count=6, note="n")])
    for name, n in {"2": 2, "4": 5}.items():
        pl.DataFrame({"name": ["a"], "flag": [True], "count": [float(n)], "x": [1.5]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    frame = scan(tmp_path, probe).collect()
    assert frame["count"].to_list() == [1, 2, 3, 4, 5, 6]
    assert frame["x"].to_list() == [1.0, 1.5, None, None, 1.5, None]
    assert frame["note"].to_list() == [None, None, None, None, None, "n"]
    assert frame["_record"].to_list() == [0, 0, 0, 1, 0, 0]


def test_the_order_in_which_files_are_named_does_not_matter(put, record, probe):
    paths = [put(f"{i}.jsonl", [record(count=i)]) for i in range(3)]
    assert scan(paths[::-1], probe).collect().equals(scan(paths, probe).collect())


def test_places_are_dropped_where_nobody_asks_for_them(put, record, probe):
    paths = [put("1.jsonl", [record()]), put("2.jsonl", [record()])]
    plan = scan(paths, probe).select("count").explain()
    assert "PROJECT 1/3 COLUMNS" in plan
    assert "replace" not in plan
    assert "_record" not in plan


def test_records_find_their_lines(put, record, probe):
    path = put("1.jsonl", ["", record(count=1), "  ", record(count=2), record(count=3)])
    other = put("2.jsonl", [record(count=4)])
    frame = scan([path, other], probe).collect()
    assert line_numbers(frame.select("_file", "_record").rows()) == {
        (str(path), 0): 2, (str(path), 1): 4, (str(path), 2): 5, (str(other), 0): 1,
    }  # fmt: skip


def test_a_key_that_first_comes_late_is_kept(put, record, probe):
    path = put("a.jsonl", [record()] * 4999 + [record(late="x")])
    assert scan(path, probe).filter(pl.col("late").is_not_null()).select(
        "_record", "late"
    ).collect().rows() == [(4999, "x")]


def test_a_key_that_goes_late_is_an_error(put, record, probe):
    lines = [record()] * 4999 + ['{"name": "a", "flag": true}']
    with pytest.raises(ContractError, match=r"a\.jsonl:5000: count: found no such key"):
        scan(put("a.jsonl", lines), probe)


def test_the_second_of_two_files_lacks_a_field(put, record, probe, tmp_path):
    put("1.jsonl", [record()])
    put("2.jsonl", ['{"name": "a", "flag": true}'])
    with pytest.raises(ContractError, match=r"2\.jsonl:1: count"):
        scan(tmp_path, probe)
    (tmp_path / "2.jsonl").unlink()
    pl.DataFrame(FIELDS).write_parquet(tmp_path / "2.parquet")
    pl.DataFrame(FIELDS).drop("count").write_parquet(tmp_path / "3.parquet")
    with pytest.raises(ContractError, match=r"3\.parquet: count: found no such column"):
        scan(tmp_path, probe)


def test_a_fraction_in_parquet_is_located(probe, tmp_path):
    pl.DataFrame(FIELDS | {"count": [1.0, 2.0]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame(FIELDS | {"count": [1.0, 2.5]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(ContractError, match=r"2\.parquet:2: count: found 2\.5") as caught:
        scan(tmp_path, probe)
    assert caught.value.counts == {"count.fraction": 1}


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["z", "b", "a", "unused"])])
def test_categories_become_text(probe, tmp_path, dtype):
    frame = pl.DataFrame(FIELDS)
    frame.write_parquet(tmp_path / "1.parquet")
    frame.with_columns(pl.col("name").cast(dtype)).write_parquet(tmp_path / "2.parquet")
    assert scan(tmp_path, probe).collect()["name"].to_list() == ["a", "b"] * 2


def test_bad_records_are_refused_whole(put, record, probe):
    path = put("a.jsonl", [record(), *["{}"] * 30, '{"name": 1, "flag": 0.5, "count": NaN}'])
    with pytest.raises(ContractError) as caught:
        scan(path, probe)
    assert caught.value.total == 91
    assert [v.line for v in caught.value.violations] == [line for line in range(2, 22) for _ in range(3)]
    assert caught.value.table == "probe"


def test_refused_records_are_left_out_and_told(put, record, probe):
    path = put("a.jsonl", [record(count=1), "nope", record(count=2), '{"name": "b"}'])
    other = put("b.jsonl", [record(count=3)])
    refused = []
    frame = scan([path, other], probe, refused=refused)
    assert frame.select("count", "_record").collect().rows() == [(1, 0), (2, 2), (3, 0)]
    assert [(one.line, one.raw, one.record) for one in refused] == [
        (2, "nope", None),
        (4, '{"name": "b"}', {"name": "b"}),
    ]
    assert line_numbers(frame.select("_file", "_record").collect().rows()[:2]) == {
        (str(path), 0): 1,
        (str(path), 2): 3,
    }


def test_a_log_of_refused_records_only(put, probe):
    refused = []
    frame = scan(put("a.jsonl", ["nope", "{}"]), probe, refused=refused).collect()
    assert (frame.height, len(refused)) == (0, 2)
    assert frame.schema["count"] == pl.Int64


def test_a_file_that_cannot_be_read_at_all_raises_even_with_a_list(put, record, probe, tmp_path):
    put("1.jsonl", [record()])
    (tmp_path / "2.jsonl.gz").write_bytes(put("x.jsonl.gz", [record()] * 999).read_bytes()[:-9])
    with pytest.raises(InputError, match=r"2\.jsonl\.gz: its compressed data is cut"):
        scan(tmp_path, probe, refused=[])


def test_comments(put, record, probe):
    path = put("a.jsonl", ["# one", record(), "", "  # two", record()])
    frame = scan(path, probe, comments=True).collect()
    assert line_numbers(frame.select("_file", "_record").rows()) == {(str(path), 0): 2, (str(path), 1): 5}
    with pytest.raises(ContractError, match="comments are not allowed here"):
        scan(path, probe)


def test_runs_from_paths(put, record, probe, tmp_path):
    for run in ["a", "b ü", "c"]:
        put(f"{run}/log.jsonl", [record()])
    pl.DataFrame(FIELDS).write_parquet(tmp_path / "c" / "more.parquet")
    frame = scan(f"{tmp_path}/*/log.jsonl", probe, run_from="path").collect()
    assert frame["run"].to_list() == ["a", "b ü", "c"]
    both = scan(tmp_path, probe, run_from="path").select(pl.col("run").unique(maintain_order=True)).collect()
    assert both["run"].to_list() == ["a/log", "b ü/log", "c/log", "c/more"]


def test_runs_from_paths_where_there_is_a_run_already(put, record, probe):
    with pytest.raises(InputError, match=r"a\.jsonl: has a column run already"):
        scan(put("a.jsonl", [record(run="x")]), probe, run_from="path")
    with pytest.raises(InputError, match="has a column run already"):
        scan(put("run=1/a.jsonl", [record()]), probe, run_from="path")


def test_folders_give_columns_in_every_format(put, record, probe, tmp_path):
    put("run=01/x=1/a.jsonl", [record()])
    (tmp_path / "run=1" / "x=2").mkdir(parents=True)
    pl.DataFrame(FIELDS).write_parquet(tmp_path / "run=1" / "x=2" / "a.parquet")
    assert scan(tmp_path, probe).select("run", "x").collect().rows() == [("01", "1"), ("1", "2"), ("1", "2")]


def test_what_the_path_says_is_known_of_refused_records_too(put, probe):
    path = put("x=1/a.jsonl", ["nope", '{"name": "b"}'])
    refused = []
    scan(path, probe, refused=refused, run_from="path")
    assert [one.record for one in refused] == [None, {"x": "1", "run": "a", "name": "b"}]


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, lambda data: pl.DataFrame(data).to_arrow()])
def test_frames(probe, make):
    frame = scan(make(FIELDS | {"run": [1, 2], "x": [[1], []]}), probe)
    assert frame.collect().to_dict(as_series=False) == FIELDS | {
        "run": ["1", "2"],
        "x": [[1], []],
        "_record": [0, 1],
    }


def test_a_frame_of_pandas(probe):
    frame = scan(pd.DataFrame({"name": ["a"], "flag": [True], "count": [1.0], "run": [7]}), probe)
    assert frame.collect().rows() == [("a", True, 1, "7", 0)]


def test_a_frame_that_was_scanned_keeps_its_places(put, record, probe):
    frame = scan(put("a.jsonl", [record(), record()]), probe).filter(pl.col("_record") == 1).collect()
    assert scan(frame, probe).collect().equals(frame)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame(FIELDS).drop("flag"), r"flag: found no such column"),
        (pl.DataFrame(FIELDS | {"count": [1.0, 2.5]}), r"row 2: count: found 2\.5"),
        (
            pl.DataFrame(FIELDS | {"flag": [0, 1]}),
            r"flag: found a column of type Int64, expected true or false",
        ),
        (pl.scan_parquet("nowhere.parquet"), "the LazyFrame cannot be run"),
        (pl.LazyFrame(FIELDS).select("nope"), "the LazyFrame cannot be run"),
    ],
)
def test_frames_that_do_not_fit(probe, frame, message):
    with pytest.raises(InputError, match=message):
        scan(frame, probe)


def test_a_frame_has_no_path(probe):
    with pytest.raises(UsageError, match="run_from"):
        scan(pl.DataFrame(FIELDS), probe, run_from="path")


def test_runs_come_from_nothing_but_paths(put, record, probe):
    with pytest.raises(UsageError, match="found 'folder', expected 'path'"):
        scan(put("a.jsonl", [record()]), probe, run_from="folder")


@pytest.mark.parametrize("source", [None, 3, {"a": 1}, object()])
def test_what_is_no_source(probe, source):
    with pytest.raises(UsageError, match="expected a path"):
        scan(source, probe)


@pytest.mark.parametrize("is_parquet", [False, True])
@pytest.mark.parametrize("change", ["gone", "grown", "cut"])
def test_a_log_that_changes_before_it_is_read(put, record, probe, is_parquet, change):
    path = put("a.jsonl", [record()] * 100)
    if is_parquet:
        path = path.with_suffix(".parquet")
        pl.DataFrame(FIELDS).write_parquet(path)
    frame = scan(path, probe)
    assert frame.collect().height > 0
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b" " if change == "grown" else path.read_bytes()[:50])
    for plan in [frame, frame.select("count"), frame.group_by("name").agg(pl.len())]:
        with pytest.raises(InputError, match=r"a\.(jsonl|parquet): (is gone|changed)"):
            collect(plan)


def test_500_logs(put, record, probe, tmp_path):
    for i in range(500):
        put(f"{i:03}.jsonl", [record(count=i), record(count=i)])
    frame = scan(tmp_path, probe, run_from="path")
    sums = frame.group_by("run").agg(pl.col("count").sum(), pl.col("_record").max()).sort("run").collect()
    assert sums.rows() == [(f"{i:03}", 2 * i, 1) for i in range(500)]


@pytest.mark.reference
def test_real_runs(reference):
    path = reference / "tau-bench-airline" / "per_task.jsonl"
    rows = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    frame = scan(path, PER_TASK).collect()
    assert frame.select(*rows[0]).to_dicts() == rows


@pytest.mark.reference
@pytest.mark.parametrize(("name", "records"), [("routing.jsonl", 67), ("routing.holdout.jsonl", 27)])
def test_real_fixtures_with_comments(reference, name, records):
    fields = {"id": Kind.TEXT, "group": Kind.TEXT, "prompt": Kind.TEXT, "gold": Kind.TEXTS}
    table = Table("fixtures", "Fixtures", tuple(Field(field, kind, "") for field, kind in fields.items()))
    frame = scan(reference / "routing" / name, table, comments=True).collect()
    lines = (reference / "routing" / name).read_text(encoding="utf-8").split("\n")
    numbered = [(i, json.loads(text)) for i, text in enumerate(lines, 1) if text.strip() and text[0] != "#"]
    assert frame.height == records
    assert frame.select(*fields).to_dicts() == [
        {field: row[field] for field in fields} for _, row in numbered
    ]
    assert list(line_numbers(frame.select("_file", "_record").rows()).values()) == [i for i, _ in numbered]
