"""The shape of Table 1: a row a run and metric, a column a slot, flags and dashes as a reader sees them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import polars as pl

from skillshift.diagnostics.marginals import MARGINALS, double_text, run_keys
from skillshift.diagnostics.summing import check_keys
from skillshift.frame.errors import InputError
from skillshift.metrics import FLAG

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_APPLICABLE = "--"
"""Shown where the method has no executable skills."""

UNDEFINED = "undefined"
"""Shown where a value has no denominator in some cell; the pooled value stands elsewhere."""

PARTIAL = "\N{DAGGER}"
"""Marks a value over what was scored of an incomplete slot."""


class Table1(pl.DataFrame):
    """A table of texts as :func:`table` gives it; it shows itself whole, in a terminal and in a notebook."""

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The table in aligned columns, numbers to the right."""
        return "\n".join(aligned(self)) if "metric" in self.columns else super().__str__()

    def _repr_html_(self, *, _from_series: bool = False) -> str:
        if "metric" not in self.columns:  # some columns of a table are a frame like any other
            return super()._repr_html_(_from_series=_from_series)
        keys = set(run_keys(self, "metric")) | {"metric"}
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)

        def cell(name: str, shown: object) -> str:
            value = escape("" if shown is None else str(shown))
            if name in keys:
                return f'<th scope="row" style="text-align:left">{value}</th>'
            return f'<td style="text-align:right;white-space:nowrap">{value}</td>'

        body = "".join(
            f"<tr>{''.join(cell(name, row[name]) for name in self.columns)}</tr>" for row in self.to_dicts()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(numbers: pl.DataFrame) -> Table1:
    """Lay marginals out as Table 1 does.

    Args:
        numbers: What :func:`skillshift.marginals` gives.

    Returns:
        A DataFrame of text, one row a run and metric: the run keys, ``metric``, then a column for each
        website, each condition and ``overall``. A cell holds the published value; ``0.32 ⚠︎ (12)`` for a
        Skill Failure Rate on 12 calls, fewer than 30; ``--`` where the method has no executable skills;
        ``undefined`` where some cell has no denominator; of an incomplete slot, the bounds of SR as
        ``[30.10, 45.00]`` and ``incomplete`` for the others, or ``35.29†`` where the value over what was
        scored was asked for.

    Raises:
        InputError: The frame is no marginals frame, or a website and a condition share a name.

    Example:
        >>> from skillshift import Grid, cells, marginals
        >>> log = pl.DataFrame({
        ...     "uid": ["a", "a"], "site": ["shop", "shop"], "condition": ["src", "tgt"],
        ...     "success": [True, False], "steps": [3, 5], "skill_calls": [1, 0], "skill_failures": [1, 0],
        ... })
        >>> table(marginals(cells(log, grid=Grid("one", {"shop": 1}, ["src", "tgt"]))))
        metric       shop           src        tgt    overall
        SR          50.00        100.00       0.00      50.00
        AS           4.00          3.00       5.00       4.00
        ASC          0.50          1.00       0.00       0.50
        SFR     undefined  100.00 ⚠︎ (1)  undefined  undefined
    """
    by = run_keys(numbers, "metric")
    lacking = [name for name in MARGINALS if name not in numbers.columns]
    if lacking:
        raise InputError(f"expected a marginals frame, but it lacks {', '.join(lacking)}")
    slots = numbers.select("group", "slot").unique(maintain_order=True)
    columns = ["metric", *slots["slot"]]
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            f"two columns of the table would be named {twice[0]!r}; a grid's websites and conditions need "
            "names of their own, other than metric and overall"
        )
    check_keys(by, slots["slot"])
    shown = numbers.select(*by, "metric", "slot", shown_text().alias("_text"))
    wide = shown.pivot(on="slot", index=[*by, "metric"], values="_text", aggregate_function="first")
    return Table1(wide.select(*by, "metric", *slots["slot"]))


def shown_text() -> pl.Expr:
    """What a reader sees of a marginal: text, never null."""
    bounds = pl.format("[{}, {}]", double_text("lower"), double_text("upper"))
    flag = pl.when("low_count").then(pl.format(f" {FLAG} ({{}})", "skill_calls")).otherwise(pl.lit(""))
    mark = pl.when("incomplete").then(pl.lit(PARTIAL)).otherwise(pl.lit(""))
    return (
        pl.when(pl.col("value").is_not_null())
        .then(pl.concat_str("published", mark, flag))
        .when(pl.col("reason") == "not-applicable")
        .then(pl.lit(NOT_APPLICABLE))
        .when(pl.col("reason") == "no-skill-calls")
        .then(pl.lit(UNDEFINED))
        .when(pl.col("lower").is_not_null())
        .then(bounds)
        .otherwise(pl.lit("incomplete"))
    )


def aligned(frame: pl.DataFrame, numbers_from: str = "metric") -> list[str]:
    """A frame of text as lines of aligned columns: those after ``numbers_from`` to the right."""
    left = frame.columns.index(numbers_from) + 1
    columns = [[name, *("" if v is None else str(v) for v in frame[name])] for name in frame.columns]
    widths = [max(map(display_width, column)) for column in columns]

    def line(texts: Sequence[str]) -> str:
        padded = (
            text + " " * (width - display_width(text))
            if i < left
            else " " * (width - display_width(text)) + text
            for i, (text, width) in enumerate(zip(texts, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return [line(texts) for texts in zip(*columns, strict=True)]


def display_width(text: str) -> int:
    """How many terminal cells a text takes."""
    from rich.cells import cell_len

    return cell_len(text)
