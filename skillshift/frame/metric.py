"""A metric is a ratio of two sums; this is the one place that says what an empty denominator means.

Sums are additive, so they merge across files, days and engines, and integer sums are exact. A ratio
over nothing is undefined: null, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from skillshift.frame.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Direction = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One metric: scale times a sum over a sum.

    Attributes:
        name: Its short name, such as ``SR``.
        title: Its name spelled out.
        numerator: An integer expression over sums.
        denominator: An integer expression over sums; where it is 0 or null the metric is undefined.
        scale: 100 for a percentage, 1 for a count.
        unit: The unit of the value.
        lower: The least value that can occur.
        upper: The greatest value that can occur, null where there is none.
        better: Which direction is better.
        summary: One line of documentation.
        source: Where the definition comes from.
    """

    name: str
    title: str
    numerator: pl.Expr
    denominator: pl.Expr
    scale: int
    unit: str
    lower: float
    upper: float | None
    better: Direction
    summary: str
    source: str

    @property
    def value(self) -> pl.Expr:
        """The metric over a frame of sums: Float64, null where the denominator is empty or a sum is null.

        >>> rate = Metric("R", "Rate", pl.col("hits"), pl.col("tries"), 100, "%", 0, 100, "higher", "", "")
        >>> pl.DataFrame({"hits": [1, 0], "tries": [4, 0]}).select(rate.value)["R"].to_list()
        [25.0, None]
        """
        # Scaling the integers first leaves one rounding.
        scaled = self.numerator.cast(pl.Int64) * self.scale
        return ratio(scaled, self.denominator.cast(pl.Int64)).alias(self.name)

    def evaluate(self, sums: pl.DataFrame) -> pl.DataFrame:
        """Take the ratio over a frame of sums.

        Args:
            sums: A frame with the sums that numerator and denominator speak of (integers).

        Returns:
            The frame with ``value`` (Float64, null where undefined) and ``denominator`` (Int64) added.
        """
        return sums.with_columns(
            self.value.alias("value"), self.denominator.cast(pl.Int64).alias("denominator")
        )


class Registry:
    """Metrics by name, in the order in which they were added; what lists metrics derives from it.

    >>> registry = Registry("routing")
    >>> registry["SR"]
    Traceback (most recent call last):
    ...
    skillshift.frame.errors.UsageError: routing: no metric 'SR', expected one of (none yet)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._metrics: dict[str, Metric] = {}

    def add(self, metric: Metric) -> Metric:
        """Register a metric.

        Raises:
            InputError: Another metric has the name.
        """
        if metric.name in self._metrics:
            raise InputError(
                f"{self.name}: the metric {metric.name!r} is registered already; give it another name"
            )
        self._metrics[metric.name] = metric
        return metric

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics' names, in order."""
        return tuple(self._metrics)

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._metrics.values())

    def __len__(self) -> int:
        return len(self._metrics)

    def __contains__(self, name: object) -> bool:
        return name in self._metrics

    def __getitem__(self, name: str) -> Metric:
        try:
            return self._metrics[name]
        except KeyError:
            names = ", ".join(self.names) or "(none yet)"
            raise UsageError(f"{self.name}: no metric {name!r}, expected one of {names}") from None

    def documentation(self) -> str:
        """The registry as a Markdown table: what the metrics page of the documentation shows."""
        titles = ("metric", "definition", "unit", "bounds", "better", "source")
        head = f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"
        rows = (
            f"| **{m.name}** ({m.title}) | {m.summary} | {m.unit} | {m.lower:g} to "
            f"{'any' if m.upper is None else format(m.upper, 'g')} | {m.better} | {m.source} |"
            for m in self
        )
        return head + "\n".join(rows) + "\n"


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """The nearest double of an exact ratio of integers, null where the denominator is empty.

    Args:
        numerator: An integer expression, below 2**53.
        denominator: An integer expression, below 2**53; where it is 0, negative or null there is no ratio.

    Returns:
        Float64. The same integers give the same double in every frame: Polars multiplies by the reciprocal
        of a constant divisor, which may be one unit in the last place off, so the divisor is made a column.

    >>> frame = pl.DataFrame({"hits": [100, 100]}).with_columns(tries=pl.lit(3))
    >>> frame.select(ratio(pl.col("hits"), pl.col("tries")))["hits"][0] == 100 / 3
    True
    """
    divisor = denominator + 0 * numerator
    return pl.when(denominator > 0).then(numerator / divisor)
