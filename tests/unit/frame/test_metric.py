"""A metric is a ratio of two sums, and over nothing it is undefined."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.metric import Metric, Registry


def metric(name="R", **changes):
    fields = {
        "title": "Rate",
        "numerator": pl.col("hits"),
        "denominator": pl.col("tries"),
        "scale": 100,
        "unit": "%",
        "lower": 0,
        "upper": 100,
        "better": "higher",
        "summary": "Hits over tries.",
        "source": "here",
    }
    return Metric(name=name, **{**fields, **changes})


def evaluated(hits, tries, **changes):
    sums = pl.DataFrame({"hits": pl.Series(hits, dtype=pl.Int64), "tries": pl.Series(tries, dtype=pl.Int64)})
    return metric(**changes).evaluate(sums)


def test_zero_undefined_and_unknown_are_three_things():
    made = evaluated([0, 0, None, 3, 1], [5, 0, 4, None, 4])
    assert made["value"].to_list() == [0.0, None, None, None, 25.0]
    assert made["denominator"].to_list() == [5, 0, 4, None, 4]


def test_evaluating_adds_two_columns_and_keeps_the_rest():
    made = evaluated([1], [4])
    assert made.schema == pl.Schema(
        {"hits": pl.Int64, "tries": pl.Int64, "value": pl.Float64, "denominator": pl.Int64}
    )


def test_no_value_is_ever_nan_or_infinite():
    values = evaluated([0, 1, 5], [0, 0, 0])["value"]
    assert values.dtype == pl.Float64
    assert values.null_count() == 3


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt32, pl.Int8])
def test_narrow_sums_do_not_wrap(dtype):
    sums = pl.DataFrame({"hits": pl.Series([100], dtype=dtype), "tries": pl.Series([120], dtype=dtype)})
    assert metric().evaluate(sums)["value"].item() == 10_000 / 120


@given(st.integers(0, 10**12), st.integers(1, 10**9), st.sampled_from([1, 100]))
def test_the_value_is_the_double_nearest_to_the_exact_ratio(hits, tries, scale):
    value = evaluated([hits], [tries], scale=scale)["value"].item()
    assert value == float(Fraction(scale * hits, tries))


def test_the_value_is_named_like_the_metric_and_may_be_of_expressions():
    false = metric("F1", numerator=2 * pl.col("tp"), denominator=2 * pl.col("tp") + pl.col("fp"), scale=1)
    sums = pl.DataFrame({"tp": [1, 0], "fp": [2, 0]})
    assert sums.select(false.value).to_dict(as_series=False) == {"F1": [0.5, None]}


def test_a_registry_keeps_its_order_and_finds_by_name():
    registry = Registry("shop")
    first, second = registry.add(metric("B")), registry.add(metric("A"))
    assert registry.names == ("B", "A")
    assert list(registry) == [first, second]
    assert len(registry) == 2
    assert "A" in registry
    assert "C" not in registry
    assert registry["A"] is second


def test_a_name_is_registered_once():
    registry = Registry("shop")
    kept = registry.add(metric("A"))
    with pytest.raises(InputError, match=r"shop: the metric 'A' is registered already"):
        registry.add(metric("A"))
    assert list(registry) == [kept]


def test_an_unknown_name_is_told_with_the_known_ones():
    registry = Registry("shop")
    registry.add(metric("A"))
    registry.add(metric("B"))
    with pytest.raises(UsageError, match=r"shop: no metric 'C', expected one of A, B"):
        registry["C"]


def test_the_documentation_comes_from_the_registry():
    registry = Registry("shop")
    registry.add(metric("A"))
    registry.add(metric("B", upper=None, unit="steps", better="lower"))
    head, rule, first, second = registry.documentation().splitlines()
    assert head == "| metric | definition | unit | bounds | better | source |"
    assert rule.count("---") == head.count("|") - 1
    assert first == "| **A** (Rate) | Hits over tries. | % | 0 to 100 | higher | here |"
    assert second == "| **B** (Rate) | Hits over tries. | steps | 0 to any | lower | here |"
