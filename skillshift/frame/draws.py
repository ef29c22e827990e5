"""Random numbers that are the same on any machine and with any version of any library.

The bits come from a counter-based generator (SplitMix64, keyed by a BLAKE2b hash of a name), and they are
compared with exact integer thresholds: no binary float, no library's own stream, no order of drawing.
"""

from __future__ import annotations

import hashlib
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import numpy.typing as npt

    Draws: TypeAlias = npt.NDArray[np.uint64]
    Counts: TypeAlias = npt.NDArray[np.int64]

_BITS = 63  # of each 64-bit draw, so that a threshold of certainty still fits
_ONE = 1 << _BITS

# Decimal's exp and ln are correctly rounded, so every machine has the same digits; its exponents do not
# underflow. The caller's own context may round or trap otherwise.
_ARITHMETIC = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, traps=[])


def draws(name: str, count: int) -> Draws:
    """63-bit integers, evenly spread, the n-th of which depends on the name and n alone."""
    key = hashlib.blake2b(name.encode(), digest_size=8).digest()
    counter = np.arange(1, count + 1, dtype=np.uint64)
    bits = counter * np.uint64(0x9E3779B97F4A7C15) + np.uint64(int.from_bytes(key, "little"))
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))) >> np.uint64(64 - _BITS)


def happens(chance: Fraction, drawn: Draws) -> npt.NDArray[np.bool_]:
    """Whether each row's event happens, with a chance; chances above 1 are clipped."""
    return drawn < np.uint64(_threshold(chance))


def poisson(mean: Fraction, drawn: Draws) -> Counts:
    """A number with a Poisson distribution for each row."""
    return _tally(_poisson(mean), drawn)


def thinned(counts: Counts, chance: Fraction, drawn: Draws) -> Counts:
    """How many of each row's counts happen, each with the same chance: a binomial number."""
    result = np.zeros_like(counts)
    for count in np.unique(counts).tolist():
        rows = counts == count
        result[rows] = _tally(_binomial(count, chance), drawn[rows])
    return result


def _threshold(chance: Fraction) -> int:
    return min(chance.numerator * _ONE // chance.denominator, _ONE)


def _tally(thresholds: Sequence[int], drawn: Draws) -> Counts:
    """How many thresholds each draw has reached: a number with the distribution that they cumulate."""
    return np.searchsorted(np.array(thresholds, dtype=np.uint64), drawn, side="right").astype(np.int64)


def _poisson(mean: Fraction) -> list[int]:
    """The thresholds of the Poisson distribution, as far as a draw can tell them from certainty."""
    with localcontext(_ARITHMETIC):
        rate = _decimal(mean)
        terms = [(-rate).exp()]
        while len(terms) <= rate or terms[-1] * _ONE > 1:
            terms.append(terms[-1] * rate / len(terms))
        return _cumulate(terms)


def _binomial(count: int, chance: Fraction) -> list[int]:
    """The thresholds of the binomial distribution."""
    if chance >= 1:
        return [0] * count
    with localcontext(_ARITHMETIC):
        yes, no = _decimal(chance), _decimal(1 - chance)
        odds = yes / no
        terms = [(count * no.ln()).exp()]
        for k in range(1, count):
            terms.append(terms[-1] * odds * (count - k + 1) / k)
        return _cumulate(terms[:count])


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _cumulate(terms: list[Decimal]) -> list[int]:
    return [min(int(total * _ONE), _ONE) for total in accumulate(terms)]
