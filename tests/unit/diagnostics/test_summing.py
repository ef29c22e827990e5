"""From records to sums: run keys, column types, and what can be added up."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift import cells, sums
from skillshift.diagnostics.summing import COUNTS, RECORDS, SUMS
from skillshift.frame.errors import ContractError, UsageError


def changed(records, **changes):
    """The records, the first of them changed."""
    return [records[0] | changes, *records[1:]]


def test_sums_are_of_cells_that_have_records_and_of_scored_ones_only(grid, complete, frame):
    records = complete(method="m")[:4]
    records += [records[0] | {"error": "down", "steps": 99}]
    assert sums(frame(records), grid=grid).rows(named=True) == [
        {
            "method": "m",
            "website": "big",
            "condition": "far",
            "records": 1,
            "errors": 0,
            "scored": 1,
            "called": 1,
            "successes": 1,
            "steps": 2,
            "skill_calls": 1,
            "skill_failures": 0,
        },
        {
            "method": "m",
            "website": "big",
            "condition": "near",
            "records": 4,
            "errors": 1,
            "scored": 3,
            "called": 3,
            "successes": 1,
            "steps": 9,
            "skill_calls": 6,
            "skill_failures": 3,
        },
    ]


def test_sums_have_their_types_and_columns(grid, complete, frame):
    schema = sums(frame(complete(skills=False)), grid=grid).schema
    assert list(schema) == ["website", "condition", "records", "errors", "scored", "called", *SUMS]
    assert {dtype for name, dtype in schema.items() if name not in ("website", "condition")} == {pl.Int64}
    assert set(RECORDS) < set(schema)
    assert COUNTS == ("planned", "attempted", "errored", "scored", "missing")


def test_the_sums_of_two_parts_add_up(grid, complete, frame):
    records = complete(method="m") + complete(method="n")
    parts = [sums(frame(records[:7]), grid=grid), sums(frame(records[7:]), grid=grid)]
    keys = ["method", "website", "condition"]
    added = pl.concat(parts).group_by(keys).sum().sort(keys)
    assert_frame_equal(added, sums(frame(records), grid=grid))


def test_sums_check_the_row_rules(grid, complete, frame):
    with pytest.raises(ContractError, match=r"steps\.negative 1"):
        sums(frame(changed(complete(), steps=-1)), grid=grid)


@pytest.mark.parametrize("error", [None, "down"])
@pytest.mark.parametrize("of", ["skillshift.big.v1.0", "task 0"])
@pytest.mark.parametrize(
    ("uid", "code"),
    [
        ("", "uid.missing"),
        (None, "uid.missing"),
        ("skillshift.small.v1.0", "uid.site"),
        ("skillshift.big.v2.3", "uid.range"),
    ],
)
def test_sums_and_cells_check_the_uids(grid, complete, frame, tmp_path, *, of, uid, code, error):
    records = [complete()[0] | {"uid": of}, complete()[1] | {"uid": uid, "error": error}]
    frame(records).write_parquet(tmp_path / "log.parquet")
    for logs in (frame(records), frame(records).lazy(), pl.scan_parquet(tmp_path / "log.parquet")):
        for step in (sums, cells):
            with pytest.raises(ContractError) as caught:
                step(logs, grid=grid)
            assert caught.value.counts == {code: 1}
            assert caught.value.violations[0].line == 2


@pytest.mark.parametrize("step", [sums, cells])
def test_what_is_wrong_with_uids_is_told_with_all_the_rest(grid, complete, frame, step):
    records = complete()
    records[0] |= {"steps": -1}
    records[1] |= {"uid": "skillshift.small.v1.0"}
    records[2] |= {"uid": ""}
    with pytest.raises(ContractError) as caught:
        step(frame(records), grid=grid)
    assert caught.value.counts == {"steps.negative": 1, "uid.site": 1, "uid.missing": 1}


@pytest.mark.parametrize("uid", ["skillshift.big.v3.1", "skillshift.", "skillshift.big.v1.01", "task 1"])
@pytest.mark.parametrize("of", ["skillshift.big.v1.0", "task 0"])
def test_sums_take_every_uid_that_breaks_no_rule(grid, complete, frame, of, uid):
    records = frame([complete()[0] | {"uid": of}, complete()[1] | {"uid": uid}])
    assert sums(records, grid=grid)["records"].to_list() == [2]


# -- runs ------------------------------------------------------------------------------------------------


def test_runs_are_told_apart_by_the_keys_that_are_present_in_their_order(grid, complete, frame):
    runs = [("b", "1"), ("a", "2"), ("a", "10"), ("a", "1")]
    records = [r for method, run in runs for r in complete(run=run, method=method)]
    table = cells(frame(records), grid=grid)
    assert table.columns[:2] == ["method", "run"]
    assert table.select("method", "run").unique(maintain_order=True).rows() == sorted(runs)
    assert table.height == 16
    alone = cells(frame(complete()), grid=grid)
    for one in table.partition_by("method", "run", include_key=False):
        assert one.equals(alone)


def test_a_trial_is_a_run_of_its_own(grid, complete, frame):
    table = cells(frame(complete(trial=0) + complete(trial=1)[1:]), grid=grid)
    assert table["trial"].unique().sort().to_list() == ["0", "1"]
    assert table.filter(trial="0")["complete"].all()
    assert not table.filter(trial="1")["complete"].all()


def test_one_run_s_records_do_not_touch_another_run(grid, complete, frame):
    one = cells(frame(complete(run="1")), grid=grid)
    both = cells(frame(complete(run="1") + complete(run="2", skills=False)[1:]), grid=grid)
    assert both.filter(run="1").equals(one)


def test_keys_of_the_user_s_own_may_be_text_numbers_or_flags(grid, complete, frame):
    records = [
        r for seed in (10, 9) for r in complete(seed=seed, hot=seed > 9, temperature=seed / 4, tag=f"t{seed}")
    ]
    table = cells(frame(records), by=["seed", "hot", "temperature", "tag"], grid=grid)
    assert table.columns[:4] == ["seed", "hot", "temperature", "tag"]
    assert table.rows()[0][:4] == (9, False, 2.25, "t9")
    assert table.rows()[-1][:4] == (10, True, 2.5, "t10")


def test_by_may_leave_keys_out_and_then_their_runs_are_one(grid, complete, frame):
    table = cells(frame(complete(method="m", run="1")), by=[], grid=grid)
    assert table.columns[:2] == ["website", "condition"]
    with pytest.raises(ContractError, match=r"task\.duplicate 10"):
        cells(frame(complete(run="1") + complete(run="2")), by=[], grid=grid)


@pytest.mark.parametrize("order", [["zebra", "m"], ["m", "zebra"]])
def test_the_order_of_an_enum_s_entries_is_not_that_of_the_runs(grid, complete, frame, order):
    records = frame(complete(method="m", tag="m") + complete(method="zebra", tag="zebra"))
    enums = records.with_columns(pl.col("method", "tag").cast(pl.Enum(order)))
    for by in (None, ["tag"]):
        assert_frame_equal(cells(enums, by=by, grid=grid), cells(records, by=by, grid=grid))


@pytest.mark.parametrize("name", [None, ""])
def test_a_run_key_is_there_in_every_record(grid, complete, frame, name):
    records = frame(changed(complete(method="m"), method=name))
    with pytest.raises(ContractError, match=r"method\.missing 1"):
        cells(records, grid=grid)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_so_is_one_of_the_user_s_own(grid, complete, frame, value):
    records = frame(changed(complete(temperature=0.5), temperature=value))
    with pytest.raises(ContractError, match=r"temperature\.missing 1"):
        cells(records, by=["temperature"], grid=grid)


@pytest.mark.parametrize(
    "by",
    [
        ["seeds"],
        ["site"],
        ["condition"],
        ["uid"],
        ["steps"],
        ["error"],
        ["website"],
        ["SR"],
        ["reason"],
        ["records"],
        ["_record"],
        ["seed", "seed"],
        "seed",
    ],
)
def test_what_cannot_be_a_run_key_is_refused(grid, complete, frame, by):
    records = frame(complete(seed=1, website="x", SR="x", reason="x", records="x"))
    with pytest.raises(UsageError, match="by: "):
        cells(records, by=by, grid=grid)


def test_a_run_key_of_a_type_that_no_output_could_show_is_refused(grid, complete, frame):
    records = frame(complete()).with_columns(day=pl.date(2026, 1, 1), tags=pl.lit([["a"]]))
    for key in ("day", "tags"):
        with pytest.raises(UsageError, match="cast it to text first"):
            cells(records, by=[key], grid=grid)


# -- types -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.UInt8, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64])
def test_counts_of_any_number_type_give_the_same_cells(grid, complete, frame, dtype):
    records = frame(complete())
    cast = records.with_columns(pl.col("steps", "skill_calls", "skill_failures").cast(dtype))
    assert_frame_equal(cells(cast, grid=grid), cells(records, grid=grid))


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt32])
def test_sums_do_not_wrap(grid, complete, frame, dtype):
    largest = pl.select(dtype.max()).item()
    records = frame(complete()).with_columns(steps=pl.lit(largest, dtype=dtype))
    assert cells(records, grid=grid)["steps"].to_list() == [
        3 * largest,
        3 * largest,
        2 * largest,
        2 * largest,
    ]


@pytest.mark.parametrize("column", ["steps", "skill_calls"])
@pytest.mark.parametrize("value", [2**61, 2**62, 2**63 - 1])
def test_what_could_wrap_even_64_bits_is_refused(grid, complete, frame, column, value):
    records = frame(complete()).with_columns(pl.lit(value).alias(column))
    with pytest.raises(ContractError, match=rf"{column}\.too-large 10"):
        cells(records, grid=grid)


@pytest.mark.parametrize(
    "dtype",
    [pl.Categorical(), pl.Enum(["tgt", "far", "unused", "near"]), pl.Enum(["near", "far"])],
    ids=["categorical", "enum with unused entries", "enum"],
)
def test_dictionaries_of_conditions_are_their_texts(grid, complete, frame, dtype):
    records = frame(complete())
    cast = records.with_columns(pl.col("condition").cast(dtype))
    assert_frame_equal(cells(cast, grid=grid), cells(records, grid=grid))


@pytest.mark.parametrize("shape", ["eager", "lazy", "arrow"])
def test_any_frame_will_do(grid, complete, frame, shape):
    records = frame(complete(method="m"))
    given_as = {
        "eager": lambda: records,
        "lazy": records.lazy,
        "arrow": records.to_arrow,
    }
    assert_frame_equal(cells(given_as[shape](), grid=grid), cells(records, grid=grid))


def test_columns_of_others_are_passed_over(grid, complete, frame):
    records = frame(complete())
    more = records.with_columns(task=pl.lit("x"), key=1, records=2, called=3, planned=4, SR=0.5)
    assert_frame_equal(cells(more, grid=grid), cells(records, grid=grid))
