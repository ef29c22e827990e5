"""Draws that no machine and no version changes, with the distributions that they claim."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.frame import draws as module
from skillshift.frame.draws import draws, happens, poisson, thinned

ONE = 1 << 63


def splitmix64(state):
    """The generator's step in Python's own integers."""
    mask = 2**64 - 1
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & mask
    return state ^ (state >> 31)


def test_the_generator_is_splitmix64():
    # The first outputs of SplitMix64 from the state 1234567, as published for its reference programs.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    state, gamma = 1234567, 0x9E3779B97F4A7C15
    assert [splitmix64((state + gamma * n) % 2**64) for n in (1, 2, 3)] == known


def test_draws_are_what_integers_of_any_size_give():
    import hashlib

    key = int.from_bytes(hashlib.blake2b(b"a cell", digest_size=8).digest(), "little")
    expected = [splitmix64((key + 0x9E3779B97F4A7C15 * n) % 2**64) >> 1 for n in range(1, 1_001)]
    assert draws("a cell", 1_000).tolist() == expected


def test_a_shorter_series_is_the_beginning_of_a_longer_one():
    assert draws("x", 1_000)[:10].tolist() == draws("x", 10).tolist()
    assert draws("x", 10).tolist() != draws("y", 10).tolist()
    assert draws("x", 0).tolist() == []


def test_a_chance_of_0_never_and_of_1_always_happens():
    extremes = np.array([0, 1, ONE - 1], dtype=np.uint64)
    assert happens(Fraction(0), extremes).tolist() == [False, False, False]
    assert happens(Fraction(1), extremes).tolist() == [True, True, True]
    assert happens(Fraction(7, 2), extremes).tolist() == [True, True, True]
    assert happens(Fraction(1, ONE), extremes).tolist() == [True, False, False]


@given(st.fractions(0, 40))
def test_the_poisson_distribution(mean):
    thresholds = module._poisson(mean)
    assert thresholds == sorted(thresholds)
    assert thresholds[-1] <= ONE
    rate = float(mean)
    for k in range(min(len(thresholds), 60)):
        expected = math.fsum(
            math.exp(-rate + i * math.log(rate) - math.lgamma(i + 1)) if rate else float(i == 0)
            for i in range(k + 1)
        )
        assert thresholds[k] / ONE == pytest.approx(expected, abs=1e-12)
    assert ONE - thresholds[-1] < 100


def test_a_large_mean_is_no_underflow():
    numbers = poisson(Fraction(2_000), draws("large", 2_000))
    assert abs(numbers.mean() - 2_000) < 6 * math.sqrt(2_000 / 2_000)
    assert numbers.min() > 1_700


@given(st.integers(1, 30), st.fractions(0, 1))
def test_the_binomial_distribution(count, chance):
    thresholds = module._binomial(count, chance)
    assert len(thresholds) == count
    p = float(chance)
    for k, threshold in enumerate(thresholds):
        expected = math.fsum(math.comb(count, i) * p**i * (1 - p) ** (count - i) for i in range(k + 1))
        assert threshold / ONE == pytest.approx(expected, abs=1e-12)


def test_a_large_count_is_no_underflow():
    numbers = thinned(np.full(2_000, 5_000), Fraction(2, 5), draws("large", 2_000))
    assert abs(numbers.mean() - 2_000) < 6 * math.sqrt(1_200 / 2_000)
    assert numbers.std() == pytest.approx(math.sqrt(1_200), rel=0.1)


def test_thinning_stays_within_its_counts():
    counts = np.array([0, 1, 5, 5, 0, 17] * 500)
    drawn = draws("thinned", counts.size)
    half = thinned(counts, Fraction(1, 2), drawn)
    assert (half <= counts).all()
    assert (half >= 0).all()
    assert abs(half.sum() - counts.sum() / 2) < 6 * math.sqrt(counts.sum() / 4)
    assert thinned(counts, Fraction(0), drawn).sum() == 0
    assert thinned(counts, Fraction(1), drawn).tolist() == counts.tolist()
    assert thinned(counts, Fraction(9), drawn).tolist() == counts.tolist()


def test_a_draw_counts_the_thresholds_that_it_has_reached():
    drawn = np.array([0, 9, 10, 19, 20, ONE - 1], dtype=np.uint64)
    assert module._tally([10, 20, ONE], drawn).tolist() == [0, 0, 1, 1, 2, 2]


def test_the_caller_s_decimal_context_changes_nothing():
    usual = module._poisson(Fraction(17, 3))
    with decimal.localcontext() as context:
        context.prec, context.rounding = 3, decimal.ROUND_UP
        context.traps[decimal.Inexact] = True
        assert module._poisson(Fraction(17, 3)) == usual


def test_some_numbers_stay_as_they_are():
    # These must not change: logs that were made from a seed would be others.
    drawn = draws("golden", 12)
    assert poisson(Fraction(9), drawn).tolist() == [8, 14, 6, 11, 8, 3, 15, 9, 10, 11, 9, 9]
    assert thinned(np.full(12, 9), Fraction(1, 3), drawn).tolist() == [3, 5, 2, 4, 3, 0, 6, 3, 3, 4, 3, 3]
