"""What a report says, gathered once for every format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from skillshift.diagnostics.identity import identity
from skillshift.diagnostics.marginals import marginals
from skillshift.diagnostics.summing import COUNTS
from skillshift.diagnostics.table import PARTIAL, Table1, table
from skillshift.metrics import FLAG, LOW_COUNT, METRICS, OF_SKILLS, REASONS

if TYPE_CHECKING:
    from skillshift.diagnostics.cells import Measured
    from skillshift.grid import Grid


@dataclass(frozen=True)
class Report:
    """The measured cells with all that follows from them, and the notes a reader needs.

    Attributes:
        measured: The cells, the grid and the counts beside them.
        refused: How many records were quarantined.
        unplaced: How many of them do not say which cell of the grid they belong to.
    """

    measured: Measured
    refused: int = field(default=0)
    unplaced: int = field(default=0)

    @property
    def grid(self) -> Grid:
        """The grid."""
        return self.measured.grid

    @property
    def by(self) -> tuple[str, ...]:
        """The run keys."""
        return self.measured.by

    @cached_property
    def constant_keys(self) -> dict[str, str]:
        """The run keys that are the same in every run, with their values."""
        same = [key for key in self.by if self.cells[key].n_unique() == 1]
        return {key: str(self.cells[key][0]) for key in same}

    @cached_property
    def varying_keys(self) -> tuple[str, ...]:
        """The run keys that tell the runs apart."""
        return tuple(key for key in self.by if key not in self.constant_keys)

    @property
    def cells(self) -> pl.DataFrame:
        """The cells."""
        return self.measured.cells

    @cached_property
    def numbers(self) -> pl.DataFrame:
        """The marginals."""
        return marginals(self.cells)

    @cached_property
    def table(self) -> Table1:
        """The marginals in the shape of Table 1."""
        return table(self.numbers)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """The identity's verdict a run and metric, and whether it is about an incomplete run's values."""
        partial = self.numbers.group_by(*self.by, "metric").agg(pl.col("incomplete").any())
        return identity(self.numbers).join(
            partial, on=[*self.by, "metric"], how="left", nulls_equal=True, maintain_order="left"
        )

    @cached_property
    def unfinished(self) -> pl.DataFrame:
        """The cells that are incomplete, with their counts."""
        return self.cells.filter(~pl.col("complete")).select(*self.by, "website", "condition", *COUNTS)

    @cached_property
    def coverage(self) -> pl.DataFrame:
        """Each run's task counts and its number of complete cells."""
        counts = (
            pl.len().cast(pl.Int64).alias("cells"),
            pl.col("complete").sum().cast(pl.Int64).alias("complete_cells"),
            pl.col(*COUNTS).sum(),
        )
        if not self.by:
            return self.cells.select(*counts)
        return self.cells.group_by(self.by, maintain_order=True).agg(*counts)

    @cached_property
    def finding(self) -> bool:
        """Whether something is wrong with the runs: incomplete, records refused, or the identity broken."""
        broken = (self.verdicts["verdict"] == "violated").any()
        return bool(self.refused or broken or not self.cells["complete"].all())

    @cached_property
    def pooled(self) -> pl.DataFrame:
        """The pooled values of the slots whose macro average is undefined for want of calls."""
        undefined = self.numbers.filter(
            (pl.col("reason") == "no-skill-calls") & pl.col("pooled").is_not_null()
        )
        return undefined.select(
            *self.by, "metric", "group", "slot", "pooled", "denominator", "min_cell_calls"
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the table's marks mean and what its numbers rest on, in sentences."""
        said = [self._grid_note(), self._unit_note(), self._identity_note()]
        flagged = self.numbers.filter(pl.col("low_count") & pl.col("value").is_not_null())
        if flagged.height:
            said.append(
                f"{FLAG} SFR on fewer than {LOW_COUNT} skill calls, with their number: too few to compare. "
                + "; ".join(
                    f"{self._run(row)}{row['slot']}: {row['skill_calls']} calls, "
                    f"{row['min_cell_calls']} in its smallest cell"
                    for row in flagged.to_dicts()
                )
                + "."
            )
        reasons = set(self.numbers["reason"].drop_nulls())
        if "not-applicable" in reasons:
            said.append(f"-- for {' and '.join(OF_SKILLS)}: {REASONS['not-applicable']}.")
        if "no-skill-calls" in reasons:
            said.append(
                f"undefined: {REASONS['no-skill-calls']}, and a mean that skipped the cell would break the "
                "identity. The pooled value (failed calls over calls) is listed apart."
            )
        said += self._incomplete_notes()
        if self.measured.duplicates:
            said.append(
                f"{_counted(self.measured.duplicates, 'scored record')} left out of tasks scored more than "
                "once, as --on-duplicates asks."
            )
        if self.refused:
            said.append(
                f"{_counted(self.refused, 'record')} refused and quarantined; cells that lost one are "
                "incomplete."
                + (f" Of {self.unplaced} it cannot be told which cell lost them." if self.unplaced else "")
            )
        return tuple(said)

    def _grid_note(self) -> str:
        grid = self.grid
        size = (
            f"{len(grid.websites)} websites x {len(grid.conditions)} conditions, {grid.tasks:,} tasks a run"
        )
        if grid.inferred:
            return f"Grid inferred from the logs ({size}): coverage of what was planned could not be checked."
        return f"Grid {grid.name}: {size}."

    def _unit_note(self) -> str:
        units: dict[str, list[str]] = {}
        for metric in METRICS:
            units.setdefault(metric.unit, []).append(f"{metric.name} ({metric.title})")
        said = "; ".join(f"{' and '.join(names)} in {unit}" for unit, names in units.items())
        same = ", ".join(f"{key} {value}" for key, value in self.constant_keys.items())
        return f"{said}." + (f" Every run: {same}." if same else "")

    def _identity_note(self) -> str:
        counted = Counter(self.verdicts["verdict"])
        of = f"{self.verdicts.height} combinations of run and metric"
        if counted["violated"]:
            return f"The marginal identity is VIOLATED in {counted['violated']} of {of}."
        undefined = counted["undefined"]
        rest = f"; {undefined} {'is' if undefined == 1 else 'are'} undefined" if undefined else ""
        partial = self.verdicts.filter("incomplete", verdict="holds").height
        rest += (
            f"; {partial} of those that hold {'is' if partial == 1 else 'are'} over what was scored"
            * bool(partial)
        )
        return (
            f"The marginal identity (mean of websites = mean of conditions = overall) holds in "
            f"{counted['holds']} of {of}{rest}. Means are unweighted; no value is weighted by tasks."
        )

    def _incomplete_notes(self) -> list[str]:
        said = []
        lacking = self.numbers.filter("incomplete")
        if lacking["value"].count():
            said.append(
                f"{PARTIAL} over what was scored of an incomplete slot: tasks are missing or errored, so the "
                "value may still move either way."
            )
        if lacking["reason"].is_in(["incomplete", "nothing-scored"]).any():
            said.append(
                "incomplete: a cell of the slot lacks scored tasks, so its values are undefined. For SR the "
                "brackets hold the value if all tasks without a score failed, and if all succeeded."
            )
        return said

    def _run(self, row: dict[str, object]) -> str:
        return "".join(f"{row[key]}, " for key in self.varying_keys)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
