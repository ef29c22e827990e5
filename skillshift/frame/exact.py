"""Exact arithmetic: published decimals, printed numbers as intervals, nearest-rank percentiles.

Nothing here rounds a binary float. Published decimals come half-up from exact sums; a printed number
stands for everything that would have been printed the same; a percentile's rank is an integer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.errors import InputError, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

PUBLISHED_DECIMALS = 2
"""How many decimals a published number has, always: JSON drops trailing zeros, so 16.9 is 16.90."""

_WHOLE_DIGITS = 15  # far beyond any metric; sums of hundredths stay exact, and no text expands forever
_WHOLE = rf"-?[0-9]{{1,{_WHOLE_DIGITS}}}"
_PRINTED = re.compile(rf"{_WHOLE}(?:\.([0-9]+))?")
_QUANTILE = re.compile(r"[0-9](?:\.[0-9]{1,18})?|[0-9]{1,18}/[1-9][0-9]{0,17}")


def half_up(value: Fraction | int, decimals: int = PUBLISHED_DECIMALS) -> str:
    """Round an exact number half-up to fixed decimals.

    Args:
        value: An exact number; a float is refused, since its decimals are not what it shows.
        decimals: How many decimals to print, from 0.

    Returns:
        The decimals as text; halves go away from zero, and there is no ``-0.00``.

    Raises:
        UsageError: The value is not exact, or ``decimals`` is negative.

    >>> half_up(Fraction(169, 10)), half_up(Fraction(1, 200)), half_up(Fraction(-1, 999))
    ('16.90', '0.01', '0.00')
    """
    if isinstance(value, bool) or not isinstance(value, Fraction | int):
        raise UsageError(f"found {shorten(value)}, expected a Fraction or an int: a float is not exact")
    _check_decimals(decimals)
    exact = Fraction(value) * 10**decimals
    digits = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    sign = "-" if digits and exact < 0 else ""
    if decimals == 0:
        return f"{sign}{digits}"
    whole, part = divmod(digits, 10**decimals)
    return f"{sign}{whole}.{part:0{decimals}}"


def half_up_ratio(
    numerator: pl.Expr, denominator: pl.Expr, scale: int, decimals: int = PUBLISHED_DECIMALS
) -> pl.Expr:
    """Round ``scale * numerator / denominator`` half-up to fixed decimals, with integers only.

    Args:
        numerator: A sum of integers, any Int64.
        denominator: A sum of integers, any Int64.
        scale: 100 for a percentage, 1 for a count.
        decimals: How many decimals to print, from 0.

    Returns:
        An expression of text as :func:`half_up` writes it, named like the numerator; null where the
        denominator is 0 or either sum is null. The products are 128 bits wide, so no Int64 sums can overflow
        them.

    Raises:
        UsageError: ``scale`` is not positive, ``decimals`` is negative, or the two are beyond 2**61.

    >>> sums = pl.DataFrame({"successes": [1, 2, 0], "tasks": [3, 3, 0]})
    >>> sums.select(SR=half_up_ratio(pl.col("successes"), pl.col("tasks"), 100))["SR"].to_list()
    ['33.33', '66.67', None]
    """
    _check_decimals(decimals)
    unit = 10**decimals
    if isinstance(scale, bool) or not isinstance(scale, int) or scale < 1 or scale * unit >= 2**61:
        raise UsageError(f"scale {scale!r} with {decimals} decimals: expected a product from 1 to 2**61")
    top, bottom = numerator.cast(pl.Int128), denominator.cast(pl.Int128)
    negative = (top < 0) != (bottom < 0)
    # Polars' integer division by 0 is null, which is what an empty denominator means.
    digits = (2 * scale * unit * top.abs() + bottom.abs()) // (2 * bottom.abs())
    sign = pl.when(negative & (digits > 0)).then(pl.lit("-")).otherwise(pl.lit(""))
    parts = [sign, (digits // unit).cast(pl.String)]
    if decimals:
        parts += [pl.lit("."), (digits % unit).cast(pl.String).str.zfill(decimals)]
    text = pl.concat_str(parts)
    name = numerator.meta.output_name(raise_if_undetermined=False)
    return text if name is None else text.alias(name)


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval of exact numbers.

    Attributes:
        lower: The least number in it.
        upper: The greatest number in it.

    Raises:
        UsageError: ``lower`` is above ``upper``.

    >>> overall = Interval.printed("1.97")
    >>> overall.meets(Interval.printed("1.98")), overall.meets(Interval.printed("1.99"))
    (True, False)
    """

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise UsageError(f"an interval from {self.lower} to {self.upper}: expected lower <= upper")

    @classmethod
    def printed(cls, value: str | float | Decimal, decimals: int = PUBLISHED_DECIMALS) -> Interval:
        """What a printed number stands for: itself plus or minus half a unit of its last decimal.

        Args:
            value: The number as printed. A float goes through its shortest text, so that 16.9 is 16.90.
            decimals: How many decimals were printed; fewer shown means zeros dropped, not a coarser number.

        Returns:
            The interval; 16.9 is [16.895, 16.905].

        Raises:
            InputError: Not a number, or one with more decimals than were printed.
        """
        exact = printed_number(value, decimals)
        half = Fraction(1, 2 * 10**decimals)
        return cls(exact - half, exact + half)

    @classmethod
    def mean(cls, intervals: Sequence[Interval]) -> Interval:
        """What the unweighted mean of numbers from these intervals can be.

        Raises:
            UsageError: There are no intervals.
        """
        if not intervals:
            raise UsageError("the mean of no intervals: expected at least one")
        n = len(intervals)
        return cls(
            sum((i.lower for i in intervals), Fraction()) / n,
            sum((i.upper for i in intervals), Fraction()) / n,
        )

    def gap(self, *others: Interval) -> Fraction:
        """How far this and the others are from having a point in common; 0 where they have one."""
        everything = (self, *others)
        return max(Fraction(), max(i.lower for i in everything) - min(i.upper for i in everything))

    def meets(self, *others: Interval) -> bool:
        """Whether this and all the others have a point in common; touching ends count."""
        return not self.gap(*others)


def printed_number(value: str | float | Decimal, decimals: int = PUBLISHED_DECIMALS) -> Fraction:
    """A printed number, exactly.

    Args:
        value: The number as printed: plain decimal text, an int, a Decimal, or a float, which goes through
            its shortest text.
        decimals: The most decimals that it may show.

    Returns:
        The number.

    Raises:
        InputError: Not a number (a bool, NaN, an exponent in text, blanks), or more decimals than that.

    >>> printed_number(16.9), printed_number("16.90")
    (Fraction(169, 10), Fraction(169, 10))
    """
    _check_decimals(decimals)
    wanted = f"a number with at most {decimals} decimals, such as {half_up(Fraction(169, 10), decimals)}"
    found = None
    if isinstance(value, str):
        found = _PRINTED.fullmatch(value)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = _PRINTED.fullmatch(
            _plain(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        )
    if found is None:
        raise InputError(f"found {shorten(value)}, expected {wanted}")
    # A float's shortest text ends in ".0" where it is whole; that is not a decimal that was printed.
    shown = len((found[1] or "").rstrip("0") if isinstance(value, float) else found[1] or "")
    if shown > decimals:
        raise InputError(f"found {shorten(value)} with {shown} decimals, expected {wanted}")
    return Fraction(found[0])


def printed_units(text: pl.Expr, decimals: int = PUBLISHED_DECIMALS) -> pl.Expr:
    """:func:`printed_number` for a column of text, counted in units of the last decimal.

    Args:
        text: Text as :func:`printed_number` takes it; a float's shortest text will do.
        decimals: The most decimals that it may show.

    Returns:
        An Int128 expression; null where the text is null or :func:`printed_number` refuses it.

    >>> pl.select(printed_units(pl.Series(["16.9", "-0.05", "1.234"]))).to_series().to_list()
    [1690, -5, None]
    """
    _check_decimals(decimals)
    shown = rf"(?:\.[0-9]{{1,{decimals}}})?" if decimals else ""
    number = text.str.extract(rf"^({_WHOLE}{shown})$")
    part = number.str.extract(r"\.([0-9]+)$").fill_null("").str.pad_end(decimals, "0")
    return pl.concat_str(number.str.extract(r"^(-?[0-9]+)"), part).cast(pl.Int128)


def _plain(number: Decimal) -> str:
    """Decimal text without an exponent; empty where the number is too long, infinite or not one."""
    if not number.is_finite() or abs(number.adjusted()) > _WHOLE_DIGITS:
        return ""
    return f"{number:f}"


def nearest_rank(n: int, quantile: Fraction | str) -> int:
    """The 1-based rank of a nearest-rank percentile, in integers.

    For q = a/b the rank is (n*a + b - 1) // b, the least rank that q*n does not exceed. Rounding a float
    product up instead gives one rank too many for 0.07, 0.14, 0.28 and others.

    Args:
        n: How many values there are, from 1.
        quantile: Above 0 and at most 1: a Fraction, or text such as ``"0.95"`` or ``"19/20"``.

    Returns:
        The rank, from 1 to n.

    Raises:
        UsageError: ``n`` is below 1, or the quantile is a float, not a number, or out of range.

    >>> nearest_rank(25, "0.28"), nearest_rank(100, "0.95"), nearest_rank(1, "0.5")
    (7, 95, 1)
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"found {shorten(n)} values, expected a whole number from 1")
    q = _quantile(quantile)
    return (n * q.numerator + q.denominator - 1) // q.denominator


def nearest_rank_of(count: pl.Expr, quantile: Fraction | str) -> pl.Expr:
    """:func:`nearest_rank` for a column of counts.

    Args:
        count: How many values there are, each from 0.
        quantile: As :func:`nearest_rank` takes it.

    Returns:
        An Int64 expression: the ranks, from 1; 0 where there are no values, null where the count is null.

    Raises:
        UsageError: As :func:`nearest_rank`.

    >>> counts = pl.DataFrame({"runs": [25, 100, 0]})
    >>> counts.select(nearest_rank_of(pl.col("runs"), "0.28"))["runs"].to_list()
    [7, 28, 0]
    """
    q = _quantile(quantile)
    # The product with a count needs more than 64 bits.
    n = count.cast(pl.Int128)
    return ((n * q.numerator + q.denominator - 1) // q.denominator).cast(pl.Int64)


def nearest_rank_value(values: pl.Expr, quantile: Fraction | str) -> pl.Expr:
    """The nearest-rank percentile of a column, one of its own values; for ``select`` and ``agg``.

    Args:
        values: The values, of any type that sorts. NaN sorts above every number.
        quantile: As :func:`nearest_rank` takes it.

    Returns:
        An expression of the values' type; null where there are no values, or any of them is null: what was
        not measured is never skipped.

    Raises:
        UsageError: As :func:`nearest_rank`.

    >>> runs = pl.DataFrame({"ms": [30, 10, 20, 40]})
    >>> runs.select(nearest_rank_value(pl.col("ms"), "0.5")).item()
    20
    """
    rank = nearest_rank_of(values.len(), quantile)
    # With no values the rank is 0 and the index -1, which would be the last value if there were one.
    return pl.when(values.null_count() == 0).then(values.sort().get(rank - 1, null_on_oob=True))


def _quantile(quantile: Fraction | str) -> Fraction:
    if isinstance(quantile, str) and _QUANTILE.fullmatch(quantile):
        quantile = Fraction(quantile)
    # The bound keeps the product with a count within 128 bits.
    if not isinstance(quantile, Fraction) or not 0 < quantile <= 1 or quantile.denominator > 10**18:
        raise UsageError(
            f"found the quantile {shorten(quantile)}, expected text such as '0.95' or a Fraction, above 0 and"
            " at most 1; a float is refused because its rank can be one too high"
        )
    return quantile


def _check_decimals(decimals: int) -> None:
    if isinstance(decimals, bool) or not isinstance(decimals, int) or decimals < 0:
        raise UsageError(f"found {shorten(decimals)} decimals, expected a whole number from 0")
