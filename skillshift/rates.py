"""The rates of a simulated method: printed marginals, and the cell rates that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from skillshift.frame.errors import InputError, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillshift.grid import Grid

Number: TypeAlias = int | float | Decimal | Fraction
"""A rate as it is printed; a float stands for the shortest decimal that it prints as."""


@dataclass(frozen=True, slots=True)
class PrintedRates:
    """One metric's marginals, as a table prints them: percentages for SR and SFR, counts for AS and ASC.

    Attributes:
        websites: Each website's mean.
        conditions: Each condition's mean.
        overall: The overall mean.

    Raises:
        InputError: A number is negative or not finite, or the overall mean is 0 and another is not.

    >>> steps = PrintedRates({"a": 8, "b": 12}, {"x": 9, "y": 11}, 10)
    >>> float(steps.cell("b", "y"))
    13.2
    """

    websites: Mapping[str, Number]
    conditions: Mapping[str, Number]
    overall: Number

    def __post_init__(self) -> None:
        rates = [as_fraction(value) for value in (*self.websites.values(), *self.conditions.values())]
        if as_fraction(self.overall) == 0 and any(rates):
            raise InputError("rates: the overall mean is 0 and another is not: no cells have these means")

    def cell(self, website: str, condition: str) -> Fraction:
        """The cell's rate: website * condition / overall, exactly and not clipped.

        Raises:
            InputError: There is no rate for the website or the condition.
        """
        for given, name, what in (
            (self.websites, website, "website"),
            (self.conditions, condition, "condition"),
        ):
            if name not in given:
                raise InputError(
                    f"rates: no rate for the {what} {name!r}, expected one (have: {', '.join(given)})"
                )
        overall = as_fraction(self.overall)
        if overall == 0:
            return overall
        return as_fraction(self.websites[website]) * as_fraction(self.conditions[condition]) / overall


@dataclass(frozen=True, slots=True)
class Rates:
    """What a simulated method does.

    Attributes:
        SR: Success rate, in percent; clipped to 100 in each cell.
        AS: Steps a task; clipped to 1 from below.
        ASC: Skill calls a task; clipped to the cell's steps. Null where the method has no executable skills.
        SFR: Failed calls, in percent of calls; clipped to 100. Null where ASC is.

    Raises:
        InputError: Only one of ASC and SFR is null.
    """

    SR: PrintedRates
    AS: PrintedRates
    ASC: PrintedRates | None
    SFR: PrintedRates | None

    def __post_init__(self) -> None:
        for name in ("SR", "AS", "ASC", "SFR"):
            rate = getattr(self, name)
            if not isinstance(rate, PrintedRates) and not (rate is None and name in ("ASC", "SFR")):
                raise InputError(
                    f"rates: {name}: found {shorten(rate)}, expected PrintedRates, the marginals of every "
                    "website and condition; Rates.flat takes one number for all cells"
                )
        if (self.ASC is None) != (self.SFR is None):
            raise InputError(
                "rates: found one of ASC and SFR, expected both, or neither without executable skills"
            )

    @classmethod
    def flat(cls, grid: Grid, *, SR: Number, AS: Number, ASC: Number | None, SFR: Number | None) -> Rates:  # noqa: N803
        """The same rates in every cell of a grid.

        >>> from skillshift.grid import SKILLSHIFT
        >>> Rates.flat(SKILLSHIFT, SR=40, AS=9.5, ASC=None, SFR=None).SR.cell("gitlab", "tgt")
        Fraction(40, 1)
        """

        def everywhere(rate: Number) -> PrintedRates:
            return PrintedRates(
                dict.fromkeys(grid.website_names, rate), dict.fromkeys(grid.condition_names, rate), rate
            )

        return cls(
            SR=everywhere(SR),
            AS=everywhere(AS),
            ASC=None if ASC is None else everywhere(ASC),
            SFR=None if SFR is None else everywhere(SFR),
        )


def as_fraction(value: Number) -> Fraction:
    """A printed number as the exact number it shows: 0.1 is one tenth.

    Raises:
        InputError: It is no number, not finite, or negative.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise InputError(f"rates: found {shorten(value)}, expected a number from 0")
    if isinstance(value, Decimal | float) and not Decimal(value).is_finite():
        raise InputError(f"rates: found {value}, expected a finite number from 0")
    # A float's own fraction is not the decimal that it shows.
    exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if exact < 0:
        raise InputError(f"rates: found {value}, expected a number from 0")
    return exact
