"""Contracts: one definition of fields and rules, the same findings whoever asks."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift.frame.contract import (
    FILE,
    RECORD,
    Field,
    Kind,
    Rule,
    Table,
    any_violated,
    check,
    collect,
    collect_all,
    count_violations,
    locate,
)
from skillshift.frame.errors import SHOWN, ContractError, InputError

FRUITS = ("apple", "pear")
TABLE = Table(
    "basket",
    "Basket",
    (
        Field("name", Kind.TEXT, "Which fruit.", hint="a number must be written as text"),
        Field("pieces", Kind.COUNT, "How many.", nullable=True),
        Field("ripe", Kind.FLAG, "Whether ripe.", nullable=True),
        Field("weight", Kind.NUMBER, "Grams.", required=False, nullable=True),
        Field("shelf", Kind.LABEL, "Where it lies.", required=False),
        Field("tags", Kind.TEXTS, "Labels.", required=False, nullable=True),
        Field("note", Kind.TEXT, "A remark.", required=False, nullable=True),
    ),
    (
        Rule("pieces.negative", "pieces", pl.col("pieces") < 0, "a whole number from 0"),
        Rule(
            "pieces.missing",
            "pieces",
            pl.col("pieces").is_null() & pl.col("note").is_null(),
            "a count, or a note",
            hint="count again",
        ),
        Rule("name.unknown", "name", ~pl.col("name").is_in(FRUITS), "one of apple, pear", known=FRUITS),
    ),
)
BASKET = pl.DataFrame({"name": ["apple", "pear"], "pieces": [1, 2], "ripe": [True, None]})


def violated(frame, table=TABLE):
    with pytest.raises(ContractError) as caught:
        table.validate(frame.lazy())
    return caught.value


# -- the columns -----------------------------------------------------------------------------------------


def test_a_missing_column_is_refused_with_those_there_are():
    error = violated(BASKET.drop("ripe").with_columns(pl.lit("f").alias(FILE), pl.lit(0).alias(RECORD)))
    assert error.counts == {"ripe.missing-column": 1}
    assert error.violations[0].found == "no such column (columns: name, pieces)"
    assert "true or false" in error.violations[0].expected


def test_all_wrong_columns_are_named_at_once():
    frame = BASKET.drop("ripe").with_columns(pl.lit(7).alias("name"), pl.lit("x").alias("pieces"))
    error = violated(frame)
    assert error.counts == {"name.type": 1, "pieces.type": 1, "ripe.missing-column": 1}
    assert [v.hint for v in error.violations if v.code == "name.type"] == ["a number must be written as text"]
    assert [v.found for v in error.violations if v.code == "pieces.type"] == ["a column of type String"]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([0, 1]),
        pl.Series([0.0, 0.5]),
        pl.Series(["true", "false"]),
        pl.Series(["fail", "pass"]),
    ],
)
def test_a_flag_is_never_guessed(values):
    assert violated(BASKET.with_columns(values.alias("ripe"))).counts == {"ripe.type": 1}


def test_an_absent_optional_column_is_added_where_a_rule_speaks_of_it_and_only_there():
    conformed = TABLE.conform(BASKET.lazy())
    assert conformed.collect_schema().names() == [*BASKET.columns, "note"]
    assert conformed.collect()["note"].to_list() == [None, None]
    assert conformed.collect_schema()["note"] == pl.String


def test_other_columns_are_kept_untouched():
    frame = BASKET.with_columns(pl.Series("seed", [1, 2], dtype=pl.UInt8), pl.lit("f").alias(FILE))
    kept = TABLE.conform(frame.lazy()).collect()
    assert kept["seed"].dtype == pl.UInt8
    assert kept["seed"].to_list() == [1, 2]
    assert kept[FILE].to_list() == ["f", "f"]


def test_a_frame_that_conforms_already_passes_through_as_it_is():
    frame = BASKET.with_columns(pl.lit(None, dtype=pl.String).alias("note"))
    assert TABLE.conform(frame.lazy()).collect().equals(frame)


@pytest.mark.parametrize(
    "dtype", [pl.Categorical(), pl.Enum(["apple", "pear"]), pl.Enum(["zebra", "pear", "apple"])], ids=str
)
def test_dictionaries_and_enums_are_their_texts(dtype):
    frame = BASKET.with_columns(pl.col("name").cast(dtype))
    conformed = TABLE.validate(frame.lazy()).collect()
    assert conformed["name"].dtype == pl.String
    assert conformed["name"].to_list() == ["apple", "pear"]


def test_an_unused_entry_of_a_dictionary_is_no_value():
    frame = pl.DataFrame(
        {
            "name": pl.Series(["apple", "mango"]).cast(pl.Enum(["mango", "apple", "kiwi"])),
            "pieces": [1, 2],
            "ripe": [True, True],
        }
    )
    assert violated(frame).counts == {"name.unknown": 1}
    TABLE.validate(frame.head(1).lazy())


def test_whole_labels_become_text_and_keep_their_zeros_apart():
    numbers = TABLE.conform(BASKET.with_columns(shelf=pl.Series([1, 10])).lazy()).collect()
    texts = TABLE.conform(BASKET.with_columns(shelf=pl.Series(["01", "1"])).lazy()).collect()
    assert numbers["shelf"].to_list() == ["1", "10"]
    assert texts["shelf"].to_list() == ["01", "1"]
    assert violated(BASKET.with_columns(shelf=pl.Series([1.0, 2.0]))).counts == {"shelf.type": 1}


def test_lists_of_dictionary_entries_become_lists_of_text():
    tags = pl.Series([["a"], None], dtype=pl.List(pl.Categorical()))
    assert TABLE.conform(BASKET.with_columns(tags=tags).lazy()).collect()["tags"].to_list() == [["a"], None]


def test_a_column_of_nulls_is_one_of_any_type():
    frame = BASKET.with_columns(pl.lit(None).alias("pieces"), pl.lit(None).alias("note"))
    conformed = TABLE.conform(frame.lazy()).collect()
    assert conformed["pieces"].dtype == pl.Int64
    assert conformed["note"].dtype == pl.String


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int32, pl.UInt8, pl.UInt64, pl.Int128, pl.Float32, pl.Float64], ids=str
)
def test_counts_of_any_number_type_become_int64(dtype):
    frame = BASKET.with_columns(pl.Series("pieces", [1, None], dtype=dtype), note=pl.lit("seen"))
    conformed = TABLE.validate(frame.lazy()).collect()
    assert conformed["pieces"].dtype == pl.Int64
    assert conformed["pieces"].to_list() == [1, None]


@pytest.mark.parametrize("value", [2.7, -0.5, 1e-9, float("nan"), float("inf"), float("-inf")])
def test_a_fraction_is_never_cut_to_a_count(value):
    error = violated(BASKET.with_columns(pl.Series("pieces", [1.0, value])))
    assert error.counts == {"pieces.fraction": 1}
    assert error.violations[0].line == 2
    assert error.violations[0].field == "pieces"


@pytest.mark.parametrize(
    "pieces",
    [
        pl.Series([1.0, 2.0**63]),
        pl.Series([1.0, -1e300]),
        pl.Series([1, 2**63], dtype=pl.UInt64),
        pl.Series([1, -(2**64)], dtype=pl.Int128),
    ],
)
def test_a_count_beyond_64_bits_is_refused_where_it_stands(pieces):
    error = violated(BASKET.with_columns(pieces.alias("pieces")))
    assert error.counts == {"pieces.too-large": 1}
    assert error.violations[0].line == 2


def test_the_largest_count_is_taken():
    largest = pl.Series("pieces", [2**63 - 1, 0], dtype=pl.UInt64)
    assert TABLE.validate(BASKET.with_columns(largest).lazy()).collect()["pieces"][0] == 2**63 - 1


# -- the rules -------------------------------------------------------------------------------------------


def test_what_no_rule_forbids_passes():
    TABLE.validate(BASKET.lazy())
    TABLE.validate(BASKET.clear().lazy())


@pytest.mark.parametrize("name", [None, ""])
def test_a_field_that_must_be_filled_is(name):
    error = violated(BASKET.with_columns(pl.Series("name", [name, "pear"])))
    assert error.counts["name.missing"] == 1
    assert "name.missing" in str(error)


def test_an_optional_field_must_be_filled_where_it_is_there():
    assert violated(BASKET.with_columns(shelf=pl.Series(["a", None]))).counts == {"shelf.missing": 1}


def test_a_rule_without_an_answer_is_kept():
    frame = BASKET.with_columns(pl.Series("pieces", [None, 2]), note=pl.lit("gone"))
    TABLE.validate(frame.lazy())


def test_a_record_that_breaks_two_rules_is_counted_under_both():
    error = violated(BASKET.with_columns(pl.Series("name", ["apple", "mango"]), pieces=pl.Series([1, -1])))
    assert error.counts == {"name.unknown": 1, "pieces.negative": 1}
    assert {v.code for v in error.violations} == set(error.counts)
    assert {v.line for v in error.violations} == {2}


def test_a_lazyframe_s_data_is_checked_and_not_only_its_schema():
    lazy = BASKET.lazy().with_columns(pieces=pl.lit(-1))
    with pytest.raises(ContractError, match=r"pieces\.negative 2"):
        TABLE.validate(lazy)


def test_violations_come_in_the_order_of_the_rows_bounded():
    n = 3_000
    frame = pl.DataFrame(
        {"name": ["apple"] * n, "pieces": [-i if i % 3 == 0 else i for i in range(n)], "ripe": [True] * n}
    )
    error = violated(frame)
    assert error.counts == {"pieces.negative": n // 3 - 1}
    assert len(error.violations) == SHOWN
    assert [v.line for v in error.violations] == [3 * i + 1 for i in range(1, SHOWN + 1)]
    assert error.violations[0].found == "-3"
    assert str(error).endswith(f"... and {n // 3 - 1 - SHOWN:,} more violations")


def test_messages_suggest_the_nearest_known_name_and_repeat_the_rules_own_hint():
    error = violated(BASKET.with_columns(name=pl.Series(["aple", "Pear"]), pieces=pl.Series([None, 1])))
    hints = {(v.line, v.code): v.hint for v in error.violations}
    assert hints[1, "name.unknown"] == 'the nearest is "apple"'
    assert "only by case" in hints[2, "name.unknown"]
    assert hints[1, "pieces.missing"] == "count again"


def test_file_and_line_are_told_where_the_frame_knows_them(tmp_path):
    log = tmp_path / "log file.jsonl"
    log.write_text('\n{"pieces": 1}\n\n{"pieces": -1}\n', encoding="utf-8")
    frame = BASKET.with_columns(
        pl.Series("pieces", [1, -1]), pl.lit(str(log)).alias(FILE), pl.Series(RECORD, [0, 1])
    )
    assert violated(frame).violations[0].where == f"{log}:4"
    parquet = frame.with_columns(pl.lit("log.parquet").alias(FILE))
    assert violated(parquet).violations[0].where == "log.parquet:2"
    assert violated(frame.drop(FILE, RECORD)).violations[0].where == "row 2"


def test_counting_adds_up_rules_that_share_a_code():
    rules = [
        Rule("x", "a", pl.col("a") > 1, ""),
        Rule("x", "a", pl.col("a") < 0, ""),
        Rule("y", "a", pl.lit(value=None), ""),
    ]
    frame = pl.LazyFrame({"a": [-1, 0, 1, 2, 3, None]})
    assert count_violations(frame, rules) == {"x": 3}
    assert frame.select(any_violated(rules)).collect().to_series().to_list() == [
        True,
        False,
        False,
        True,
        True,
        False,
    ]
    assert [(v.line, v.code) for v in locate(frame, rules)] == [(1, "x"), (4, "x"), (5, "x")]


def test_no_rules_cost_no_look_at_the_data():
    check(pl.LazyFrame({"a": [1]}).select(pl.col("a").map_batches(explode)), [], "t")


def explode(_):
    raise AssertionError


# -- running plans ---------------------------------------------------------------------------------------


def test_plans_run_together_and_keep_their_order():
    lazy = pl.LazyFrame({"a": [1, 2, 3]})
    for engine in ("streaming", "in-memory"):
        assert collect(lazy, engine).equals(lazy.collect())
        one, two = collect_all([lazy.select(pl.col("a").sum()), lazy.select(pl.col("a").max())], engine)
        assert (one.item(), two.item()) == (6, 3)


def test_a_file_that_vanished_is_an_input_error(tmp_path):
    path = tmp_path / "gone.parquet"
    BASKET.write_parquet(path)
    lazy = pl.scan_parquet(path)
    lazy.collect_schema()
    path.unlink()
    with pytest.raises(InputError, match=r"gone\.parquet"):
        collect(lazy)
