"""What the assertions share: rows of frames or of the oracle, their places, and messages."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    Row = Mapping[str, Any]
    Rows = pl.DataFrame | Iterable[Row]

SHOWN: Final = 5
"""How many differences a message shows; the rest are counted."""


def close(found: float | Fraction, expected: float | Fraction, ulps: int) -> bool:
    """Whether two numbers are the same double within some units in the last place; NaN never is."""
    one, other = float(found), float(expected)
    return abs(one - other) <= ulps * math.ulp(max(abs(one), abs(other)))


def mean_of(values: Sequence[float | Fraction | None]) -> Fraction | None:
    """The exact mean of the values as they are; None where one of them is."""
    known = [Fraction(value) for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(values) else None


def rows_of(rows: Rows) -> list[dict[str, Any]]:
    """The rows of a frame, or the rows as they are."""
    to_dicts = getattr(rows, "to_dicts", None)
    found: Iterable[Row] = to_dicts() if to_dicts else rows  # type: ignore[assignment]
    return [dict(row) for row in found]


def names_of(side: Rows, rows: Sequence[Row]) -> list[str]:
    """The columns, known even where a frame has no rows."""
    return list(getattr(side, "columns", rows[0] if rows else ()))


def run_keys(rows: Sequence[Row], first: str) -> tuple[str, ...]:
    """The run keys: the columns before the first one that every frame of its kind has."""
    names = tuple(rows[0]) if rows else (first,)
    if first not in names:
        raise AssertionError(f"found the columns {', '.join(names)}, expected {first!r} among them")
    return names[: names.index(first)]


def place_of(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    """The row's values of the keys."""
    return tuple(row[key] for key in keys)


def grouped(
    rows: Iterable[dict[str, Any]], keys: Sequence[str]
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The rows by place, in order."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(place_of(row, keys), []).append(row)
    return groups


def unique(
    rows: Iterable[dict[str, Any]], keys: Sequence[str], what: str
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows by place, each place once.

    Raises:
        AssertionError: Two rows have the same place.
    """
    groups = grouped(rows, keys)
    report(
        what,
        [f"{named(keys, place)}: found {len(own)} rows" for place, own in groups.items() if len(own) > 1],
    )
    return {place: own[0] for place, own in groups.items()}


def named(keys: Sequence[str], place: Sequence[Any]) -> str:
    """A place as messages name it."""
    return ", ".join(f"{key} {value}" for key, value in zip(keys, place, strict=True)) or "the run"


def shown(value: Any) -> str:
    """A value as messages repeat it: an exact one beside its double."""
    if value is None:
        return "null"
    return f"{float(value)!r} ({value})" if isinstance(value, Fraction) else repr(value)


def report(what: str, wrong: Sequence[str]) -> None:
    """Raise if anything is wrong: the first problems and a count of the rest."""
    if wrong:
        hidden = len(wrong) - SHOWN
        more = [f"... and {hidden} more"] if hidden > 0 else []
        raise AssertionError("\n  ".join([f"{what}: {len(wrong)} wrong", *wrong[:SHOWN], *more]))
