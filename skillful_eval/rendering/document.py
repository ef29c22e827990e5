"""A document: titled tables of text and notes for people, one tidy frame and plain data for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.errors import SHOWN
from skillshift.frame.exact import half_up
from skillshift.frame.tables import Section, one_line
from skillshift.frame.writing import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

UNDEFINED = "--"
"""How an undefined value is shown."""

TEXT_WIDTH = 72
"""How much of a long text, such as a prompt, a table shows; a digest is just as long."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """What every format is made from.

    Attributes:
        title: Its heading.
        sections: Its tables, for people.
        notes: Sentences that a reader needs.
        rows: Its values as one tidy frame: what CSV holds.
        data: The whole as plain data: what JSON holds, beside the versions.
    """

    title: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    rows: pl.DataFrame
    data: dict[str, Any] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """The versions that every machine-readable output names."""
    try:
        package = version("skillshift")
    except PackageNotFoundError:  # run from a copy that was never installed
        package = "unknown"
    return {"schema_version": SCHEMA_VERSION, "package_version": package}


def as_text(frame: pl.DataFrame, *, width: int | None = None) -> pl.DataFrame:
    """A frame whose columns are all text, each value one harmless line; null is an empty text.

    Args:
        frame: Texts, whole numbers, flags and lists of texts.
        width: How much of each text to show.
    """
    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    values = frame.with_columns(pl.col(lists).list.join(", "))
    return values.select(
        pl.Series(name, [_text(value, width) for value in values[name]], dtype=pl.String)
        for name in values.columns
    )


def _text(value: object, width: int | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if type(value) is int else one_line(str(value), width)


def decimals(value: float | None, places: int) -> str:
    """A value half-up to fixed decimals, by its shortest decimal text; ``--`` where it is null.

    >>> decimals(0.0625, 3), decimals(1234.5, 1), decimals(None, 3)
    ('0.063', '1,234.5', '--')
    """
    if value is None:
        return UNDEFINED
    whole, point, rest = half_up(Fraction(repr(float(value))), places).partition(".")
    return f"{int(whole):,}{point}{rest}"


def bounded(
    frame: pl.DataFrame, title: str, numbers_from: str, owners: Sequence[str] = ()
) -> tuple[list[Section], list[str]]:
    """A section of a frame's first rows, with a note where there are more; nothing where it has none."""
    if not frame.height:
        return [], []
    shown = as_text(frame.head(SHOWN), width=TEXT_WIDTH).rename(spaced)
    section = Section(title, shown, spaced(numbers_from), tuple(map(spaced, owners)))
    return [section], hidden(frame.height, title)


def hidden(number: int, title: str) -> list[str]:
    """A note where only the first of many are shown."""
    if number <= SHOWN:
        return []
    return [f"{title}: the first {SHOWN} of {number:,} are shown; --format json has all."]


def spaced(name: str) -> str:
    """A column's name as a heading."""
    return name.replace("_", " ")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: ``1 run``, ``2 runs``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
