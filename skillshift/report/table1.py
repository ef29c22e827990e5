"""What ``skillshift table1`` prints: the paper's rows as printed, and what the identity says of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.tables import Section, draw, markdown_table
from skillshift.frame.writing import dump_json
from skillshift.report.printed import table1_report

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTES = (
    "Figures as printed in the SkillShift-Bench paper, Table 1; each stands for itself plus or minus 0.005.",
    "The identity holds where the means of websites and of conditions and the overall number can be one.",
    "detects: the smallest slip of a website, condition or overall number that is sure to be seen, in 0.01.",
)


def render_table1(fmt: str) -> tuple[str, bool]:
    """Table 1 in a format of ``--format``, and whether every row that has an identity keeps it."""
    rows = table1_report()
    return _RENDERERS[fmt](rows), not (rows["verdict"] == "violated").any()


def _text(rows: pl.DataFrame) -> pl.DataFrame:
    means = {"websites": "mean of websites", "conditions": "mean of conditions"}
    told = [name for name in rows.columns if name not in ("source", "tolerance", "difference")]
    shown = rows.select(told).rename(means)
    if shown["reason"].null_count() == shown.height:
        shown = shown.drop("reason")
    return shown.select(pl.all().cast(pl.String).fill_null("")).rename(lambda name: name.replace("_", " "))


def _section(rows: pl.DataFrame) -> Section:
    return Section("Table 1, as printed", _text(rows), "metric", ("method",))


def _markdown(rows: pl.DataFrame) -> str:
    notes = "\n".join(f"- {note}" for note in _NOTES)
    return f"{markdown_table(_section(rows))}\n\n{notes}\n"


_RENDERERS: dict[str, Callable[[pl.DataFrame], str]] = {
    "csv": lambda rows: rows.write_csv(),
    "json": lambda rows: dump_json(rows.to_dicts()),
    "markdown": _markdown,
    "table": lambda rows: draw([_section(rows)], _NOTES),
}
