"""Half-up decimals, printed intervals and nearest ranks, against plain fractions."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.exact import (
    Interval,
    half_up,
    half_up_ratio,
    nearest_rank,
    nearest_rank_value,
    printed_number,
    printed_units,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
PRINTABLE = st.integers(-(10**6), 10**6).map(lambda units: Fraction(units, 100))


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (Fraction(169, 10), 2, "16.90"),
        (Fraction(1, 200), 2, "0.01"),
        (Fraction(-1, 200), 2, "-0.01"),
        (Fraction(-1, 201), 2, "0.00"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(-5, 2), 0, "-3"),
        (Fraction(2675, 1000), 2, "2.68"),  # round(2.675, 2) is 2.67
        (Fraction(99995, 10000), 2, "10.00"),
        (7, 2, "7.00"),
        (0, 0, "0"),
    ],
)
def test_half_up(value, decimals, text):
    assert half_up(value, decimals) == text


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6), st.integers(0, 6))
def test_half_up_is_the_decimal_modules_rounding(numerator, denominator, decimals):
    with localcontext() as context:
        # A ratio of these integers that is not a tie is farther from one than 60 digits resolve.
        context.prec = 60
        exact = Decimal(numerator) / Decimal(denominator)
        expected = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    assert half_up(Fraction(numerator, denominator), decimals) == f"{expected + 0:f}"


@pytest.mark.parametrize("value", [0.5, True, "1", Decimal(1), None])
def test_half_up_refuses_what_is_not_exact(value):
    with pytest.raises(UsageError, match="not exact"):
        half_up(value)


@pytest.mark.parametrize("decimals", [-1, 1.0, True])
def test_decimals_are_a_count(decimals):
    with pytest.raises(UsageError, match="decimals"):
        half_up(Fraction(1), decimals)


@given(
    st.lists(st.tuples(INT64, INT64.filter(bool)), min_size=1, max_size=20),
    st.sampled_from([1, 100]),
    st.integers(0, 4),
)
def test_half_up_ratio_is_half_up_of_the_exact_ratio(sums, scale, decimals):
    frame = pl.DataFrame(sums, schema={"top": pl.Int64, "bottom": pl.Int64}, orient="row")
    found = frame.select(half_up_ratio(pl.col("top"), pl.col("bottom"), scale, decimals)).to_series()
    assert found.to_list() == [half_up(scale * Fraction(a, b), decimals) for a, b in sums]


def test_half_up_ratio_is_null_without_a_denominator_or_a_sum():
    frame = pl.DataFrame(
        {"top": [0, 5, None, 3], "bottom": [0, 0, 7, None]}, schema={"top": pl.Int64, "bottom": pl.Int64}
    )
    assert (
        frame.select(half_up_ratio(pl.col("top"), pl.col("bottom"), 100)).to_series().to_list() == [None] * 4
    )


def test_half_up_ratio_is_named_like_its_numerator():
    frame = pl.DataFrame({"top": [1], "bottom": [8]})
    assert frame.select(half_up_ratio(pl.col("top"), pl.col("bottom"), 1)).columns == ["top"]
    by_dtype = frame.select("top").select(half_up_ratio(pl.all(), pl.lit(8), 1, 0)).to_series()
    assert by_dtype.to_list() == ["0"]


def test_half_up_ratio_rounds_ties_that_floats_miss():
    # 100 * 201 / 20_000 is 1.005, which as a float is below the tie.
    frame = pl.DataFrame({"top": [201, 1], "bottom": [20_000, 8]})
    assert frame.select(half_up_ratio(pl.col("top"), pl.col("bottom"), 100)).to_series().to_list() == [
        "1.01",
        "12.50",
    ]


@pytest.mark.parametrize(("scale", "decimals"), [(0, 2), (-1, 2), (1.5, 2), (True, 2), (100, 18), (100, -1)])
def test_half_up_ratio_refuses_scales_it_cannot_keep_exact(scale, decimals):
    with pytest.raises(UsageError):
        half_up_ratio(pl.col("top"), pl.col("bottom"), scale, decimals)


@pytest.mark.parametrize(
    "value", ["16.90", "16.9", 16.9, Decimal("16.9"), Decimal("16.90"), Decimal("169e-1")]
)
def test_a_printed_number_is_itself_plus_or_minus_half_a_unit(value):
    assert Interval.printed(value) == Interval(Fraction(16895, 1000), Fraction(16905, 1000))


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (-0.0, 0), ("-0.00", 0), (3.0, 3), (1e14, 10**14), ("007.10", Fraction(71, 10))],
)
def test_printed_numbers_in_other_forms(value, number):
    assert printed_number(value) == number


@pytest.mark.parametrize(
    "value",
    REFUSED := [
        "16.905",
        "16.900",
        16.905,
        0.1 + 0.2,
        Decimal("16.900"),
        "",
        " 1.00",
        "1.00\n",
        "1,00",
        "1e2",
        "1e999999999",
        "NaN",
        "--",
        ".5",
        "5.",
        "+5",
        "\u0661.00",
        "9" * 16,
        math.nan,
        math.inf,
        1e300,
        1e-300,
        10**40,
        Decimal("1e999999"),
        Decimal("sNaN"),
        True,
        None,
        [1],
    ],
)
def test_what_cannot_have_been_printed_is_refused(value):
    with pytest.raises(InputError, match=r"expected a number with at most 2 decimals, such as 16\.90"):
        Interval.printed(value)


@given(PRINTABLE)
def test_a_column_of_printed_numbers_is_each_of_them(value):
    texts = [half_up(value), half_up(value).rstrip("0").rstrip("."), str(float(value)), None]
    units = pl.DataFrame({"text": texts}).select(printed_units(pl.col("text"))).to_series()
    assert units.to_list() == [value * 100] * 3 + [None]


def test_a_column_of_printed_numbers_is_null_where_one_is_refused():
    texts = [value for value in REFUSED if isinstance(value, str)]
    units = pl.DataFrame({"text": texts}).select(printed_units(pl.col("text"))).to_series()
    assert units.null_count() == len(texts) > 10


def test_other_numbers_of_decimals():
    assert Interval.printed("0.765", 3) == Interval(Fraction(1529, 2000), Fraction(1531, 2000))
    assert Interval.printed(12.0, 0) == Interval.printed(12, 0) == Interval.printed("12", 0)
    assert Interval.printed("12", 0) == Interval(Fraction(23, 2), Fraction(25, 2))


@given(PRINTABLE)
def test_an_interval_holds_what_prints_the_same(value):
    interval = Interval.printed(half_up(value))
    third = Fraction(1, 3) * (interval.upper - interval.lower)
    assert half_up(interval.lower + third) == half_up(interval.upper - third) == half_up(value)


@given(st.lists(PRINTABLE, min_size=1, max_size=8))
def test_the_mean_of_intervals_is_as_wide_as_each(values):
    mean = Interval.mean([Interval.printed(half_up(value)) for value in values])
    assert mean.upper - mean.lower == Fraction(1, 100)
    assert (mean.upper + mean.lower) / 2 == sum(values) / len(values)


def test_touching_intervals_meet_and_further_ones_say_how_far():
    one, two, three = (Interval.printed(text) for text in ("1.00", "1.01", "1.02"))
    assert one.meets(two)
    assert two.meets(three)
    # Each pair but one touches, and yet there is no point in all three.
    assert not one.meets(two, three)
    assert one.gap(two, three) == Fraction(1, 100)
    assert one.gap() == 0


def test_impossible_intervals_are_refused():
    with pytest.raises(UsageError, match="lower <= upper"):
        Interval(Fraction(1), Fraction(0))
    with pytest.raises(UsageError, match="at least one"):
        Interval.mean([])


@pytest.mark.parametrize("hundredths", range(1, 101))
@pytest.mark.parametrize("n", [1, 2, 7, 25, 100, 299])
def test_nearest_rank_is_the_least_rank_that_covers_the_quantile(n, hundredths):
    q = Fraction(hundredths, 100)
    rank = nearest_rank(n, f"{hundredths / 100:.2f}")
    assert rank == nearest_rank(n, q) == nearest_rank(n, f"{hundredths}/100")
    assert 1 <= rank <= n
    assert rank - 1 < q * n <= rank


def test_nearest_rank_where_floats_are_one_too_high():
    assert nearest_rank(25, "0.28") == 7
    assert math.ceil(0.28 * 25) == 8


@pytest.mark.parametrize(
    "quantile",
    [0.5, 1, 0, True, None, "0", "0.00", "1.01", "-0.5", "", "half", "1/0", "1/00", "5e-1", "0.5 "],
)
def test_quantiles_that_are_refused(quantile):
    with pytest.raises(UsageError, match="quantile"):
        nearest_rank(5, quantile)
    with pytest.raises(UsageError, match="quantile"):
        nearest_rank_value(pl.col("x"), quantile)


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_counts_that_are_refused(n):
    with pytest.raises(UsageError, match="whole number from 1"):
        nearest_rank(n, "0.5")


@given(
    st.lists(st.lists(st.integers(-5, 5), min_size=1, max_size=30), min_size=1, max_size=5),
    st.integers(1, 100).map(lambda a: Fraction(a, 100)),
)
def test_nearest_rank_value_by_group(groups, quantile):
    frame = pl.DataFrame(
        [(g, v) for g, values in enumerate(groups) for v in values], ["g", "v"], orient="row"
    )
    found = frame.group_by("g", maintain_order=True).agg(nearest_rank_value(pl.col("v"), quantile))
    assert found["v"].to_list() == [sorted(v)[nearest_rank(len(v), quantile) - 1] for v in groups]


def test_nearest_rank_value_never_skips_a_null():
    frame = pl.DataFrame({"g": [1, 1, 2, 2], "v": [1.0, None, 3.0, 2.0]})
    found = frame.group_by("g", maintain_order=True).agg(nearest_rank_value(pl.col("v"), "0.5"))
    assert found["v"].to_list() == [None, 2.0]
    assert frame.clear().select(nearest_rank_value(pl.col("v"), "0.5")).item() is None
    assert frame.lazy().select(nearest_rank_value(pl.col("v"), "1")).collect().item() is None
