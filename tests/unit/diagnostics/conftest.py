"""Small logs that the tests of the diagnostics share."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift.grid import Grid
from skillshift.testing import to_frame

GRID = Grid("shops", {"big": 3, "small": 2}, ["near", "far"])


@pytest.fixture
def grid():
    """Two websites of 3 and 2 tasks, two conditions: four cells, ten tasks a run."""
    return GRID


@pytest.fixture
def complete():
    """A function that makes the records of a complete run, with keys of its own and calls or none."""

    def records(*, skills=True, **keys):
        return [
            {
                "uid": f"skillshift.{site}.v1.{index}",
                "site": site,
                "condition": condition,
                "success": index == 0,
                "steps": 2 + index,
                "skill_calls": index + 1 if skills else None,
                "skill_failures": index if skills else None,
                **keys,
            }
            for site, condition, planned in GRID.cells()
            for index in range(planned)
        ]

    return records


@pytest.fixture
def frame():
    """A function that makes a frame of records."""
    return lambda records: pl.DataFrame(to_frame(records))
