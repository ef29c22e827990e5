"""Rates: printed numbers taken exactly, and the cells that they stand for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skillshift.frame.errors import InputError
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.rates import PrintedRates, Rates, as_fraction

STEPS = PrintedRates({"a": 8, "b": 12}, {"x": 9.1, "y": 10.9}, 10)


def test_a_cell_is_website_times_condition_over_overall():
    assert STEPS.cell("a", "x") == Fraction(728, 100)
    cells = [[STEPS.cell(site, condition) for condition in "xy"] for site in "ab"]
    assert sum(cells[1]) / 2 == 12
    assert sum(row[1] for row in cells) / 2 == Fraction(109, 10)


def test_a_number_beyond_a_float_is_itself():
    assert as_fraction(10**400) == 10**400


@pytest.mark.parametrize("value", [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1)])
def test_a_number_is_what_it_prints_as(value):
    assert as_fraction(value) == Fraction(1, 10)


@pytest.mark.parametrize(
    "value", [-0.01, float("nan"), float("inf"), Decimal(-1), Decimal("sNaN"), float("-inf"), True, "1", None]
)
def test_what_is_no_rate_is_refused(value):
    with pytest.raises(InputError, match="rates: found"):
        PrintedRates({"a": value}, {"x": 1}, 1)


def test_nothing_is_nothing():
    assert PrintedRates({"a": 0}, {"x": 0.0}, 0).cell("a", "x") == 0
    with pytest.raises(InputError, match="the overall mean is 0 and another is not"):
        PrintedRates({"a": 0}, {"x": 1}, 0)


@pytest.mark.parametrize(
    ("site", "condition", "what"), [("c", "x", "website 'c'"), ("a", "z", "condition 'z'")]
)
def test_a_missing_rate_is_named(site, condition, what):
    with pytest.raises(InputError, match=f"no rate for the {what}, expected one"):
        STEPS.cell(site, condition)


def test_skill_calls_and_their_failures_are_given_together():
    for options in ({"ASC": STEPS, "SFR": None}, {"ASC": None, "SFR": STEPS}):
        with pytest.raises(InputError, match="found one of ASC and SFR"):
            Rates(SR=STEPS, AS=STEPS, **options)


def test_flat_rates_are_the_same_everywhere():
    grid = Grid("g", {"a": 2, "b": 3}, ["x", "y"])
    rates = Rates.flat(grid, SR=40, AS=9.5, ASC=0.5, SFR=12.25)
    for site, condition, _ in grid.cells():
        assert rates.SR.cell(site, condition) == 40
        assert rates.AS.cell(site, condition) == Fraction(19, 2)
        assert rates.ASC.cell(site, condition) == Fraction(1, 2)
        assert rates.SFR.cell(site, condition) == Fraction(49, 4)
    without = Rates.flat(SKILLSHIFT, SR=0, AS=1, ASC=None, SFR=None)
    assert without.ASC is None
    assert without.SFR is None


@pytest.mark.parametrize("changed", [{"SR": 50.0}, {"AS": None}, {"ASC": 1, "SFR": 2}])
def test_rates_are_those_of_every_website_and_condition(changed):
    flat = Rates.flat(SKILLSHIFT, SR=40, AS=8, ASC=1, SFR=20)
    given = {name: getattr(flat, name) for name in ("SR", "AS", "ASC", "SFR")} | changed
    with pytest.raises(InputError, match=r"expected PrintedRates.*Rates\.flat"):
        Rates(**given)
