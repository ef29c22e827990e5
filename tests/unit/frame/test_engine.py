"""The sums step: exact sums and counted violations from one group-by."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from skillshift.frame import engine
from skillshift.frame.contract import Rule, collect
from skillshift.frame.engine import (
    VIOLATIONS,
    check_grouped,
    collect_beside,
    grouped_sums,
    reads_columns,
    sort,
    total,
)
from skillshift.frame.errors import ContractError, InputError

NEGATIVE = Rule("n.negative", "n", pl.col("n") < 0, "from 0")
UNKNOWN = Rule("shop.unknown", "shop", ~pl.col("shop").is_in(["a", "b"]), "a or b", known=("a", "b"))
FRAME = pl.LazyFrame({"shop": ["a", "b", "a", "b"], "n": [1, 2, None, 4]})


SUM = total("n")


def grouped(frame, rules=(NEGATIVE, UNKNOWN), sums=(SUM,)):
    plan = grouped_sums(frame, ["shop"], sums, rules)
    return check_grouped(collect(plan), frame, ["shop"], rules, "log")


def test_each_group_has_its_sums_and_no_count_of_violations():
    assert grouped(FRAME).sort("shop").rows() == [("a", 1), ("b", 6)]
    assert grouped(FRAME, rules=()).sort("shop").rows() == [("a", 1), ("b", 6)]


def test_violations_are_counted_in_the_same_pass():
    frame = FRAME.with_columns(n=pl.Series([1, -2, None, -4]))
    plan = grouped_sums(frame, ["shop"], [total("n")], [NEGATIVE, UNKNOWN])
    assert plan.collect_schema()[VIOLATIONS] == pl.Int64
    assert collect(plan).sort("shop")[VIOLATIONS].to_list() == [0, 2]


def test_a_record_that_breaks_a_rule_is_counted_and_located():
    with pytest.raises(ContractError, match=r"log: 2 violations \(n\.negative 2\)") as caught:
        grouped(FRAME.with_columns(n=pl.Series([1, -2, None, -4])))
    assert [v.line for v in caught.value.violations] == [2, 4]


def test_a_rule_about_the_keys_is_checked_a_group_and_located_a_record():
    frame = FRAME.with_columns(shop=pl.Series(["a", "c", "a", "c"]))
    plan = grouped_sums(frame, ["shop"], [total("n")], [NEGATIVE, UNKNOWN])
    assert collect(plan)[VIOLATIONS].sum() == 0
    with pytest.raises(ContractError) as caught:
        grouped(frame)
    assert caught.value.counts == {"shop.unknown": 2}
    assert [v.line for v in caught.value.violations] == [2, 4]


def test_both_kinds_of_rule_are_told_together():
    with pytest.raises(ContractError) as caught:
        grouped(FRAME.with_columns(shop=pl.Series(["a", "c", "a", "b"]), n=pl.Series([-1, 1, 1, 1])))
    assert caught.value.counts == {"n.negative": 1, "shop.unknown": 1}


def test_a_null_answer_is_no_violation():
    assert grouped(FRAME.with_columns(n=pl.lit(None, dtype=pl.Int64))).sort("shop").rows() == [
        ("a", 0),
        ("b", 0),
    ]


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (pl.Int8, 2**7 - 1),
        (pl.UInt8, 2**8 - 1),
        (pl.Int16, 2**15 - 1),
        (pl.Int32, 2**31 - 1),
        (pl.UInt32, 2**32 - 1),
    ],
)
def test_sums_do_not_wrap(dtype, largest):
    frame = pl.LazyFrame({"shop": ["a"] * 3, "n": pl.Series([largest] * 3, dtype=dtype)})
    made = grouped(frame)
    assert made["n"].dtype == pl.Int64
    assert made["n"].item() == 3 * largest


def test_a_sum_of_booleans_can_be_subtracted_from():
    frame = pl.LazyFrame({"shop": ["a", "a"], "n": [True, False]})
    made = grouped(frame, rules=())
    assert made.select(pl.col("n") - 2)["n"].item() == -1


def test_a_total_takes_only_the_rows_that_count():
    frame = pl.LazyFrame({"shop": ["a", "a", "a"], "n": [1, 2, None], "counts": [True, False, None]})
    made = grouped(frame, rules=(), sums=(total("n", pl.col("counts")),))
    assert made["n"].item() == 1


# -- one column beside the sums --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 1_000, 300_000])
def test_a_column_and_other_plans_come_from_one_reading(n):
    frame = pl.LazyFrame({"n": pl.int_range(n, dtype=pl.UInt64, eager=True)})
    column, (sums, largest) = collect_beside(
        frame.filter(pl.col("n") % 2 == 0), frame.select(total("n")), frame.select(pl.col("n").max())
    )
    assert column.dtype == np.uint64
    assert sorted(column.tolist()) == list(range(0, n, 2))
    assert sums.item() == n * (n - 1) // 2
    assert largest.item() == (n - 1 if n else None)


def test_a_column_alone_can_be_asked_for():
    column, frames = collect_beside(pl.LazyFrame({"n": pl.Series([3, 1], dtype=pl.UInt64)}))
    assert (sorted(column.tolist()), frames) == ([1, 3], [])


def test_a_file_that_vanished_is_an_input_error_here_too(tmp_path):
    path = tmp_path / "gone.parquet"
    pl.DataFrame({"n": pl.Series([1], dtype=pl.UInt64)}).write_parquet(path)
    lazy = pl.scan_parquet(path)
    lazy.collect_schema()
    path.unlink()
    with pytest.raises(InputError, match=r"gone\.parquet"):
        collect_beside(lazy, lazy.select(total("n")))


@pytest.mark.parametrize("many", [1, 1 << 20])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 10_001])
def test_values_are_sorted_in_place_by_one_thread_or_two(monkeypatch, many, n):
    monkeypatch.setattr(engine, "_MANY", many)
    values = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    expected = sorted(values.tolist())
    sort(values)
    assert values.tolist() == expected


def test_parquet_is_read_column_by_column_and_json_lines_are_not(tmp_path):
    frame = pl.DataFrame({"n": pl.Series([1, 2], dtype=pl.UInt64)})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    parquet, lines = pl.scan_parquet(tmp_path / "a.parquet"), pl.scan_ndjson(tmp_path / "a.jsonl")
    both = pl.concat([parquet, lines.cast(pl.UInt64)])
    assert [reads_columns(f) for f in (parquet, lines, both, frame.lazy())] == [True, False, False, False]
    for logs in (parquet, both):
        column, (sums,) = collect_beside(logs.select("n"), logs.select(total("n")))
        assert (sum(column.tolist()), sums.item()) == (sums.item(), 3 * len(column) // 2)
