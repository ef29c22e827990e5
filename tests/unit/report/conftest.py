"""Small logs on a small grid, in memory and as files."""

from __future__ import annotations

import json

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
    """A function that makes the records of a complete run, with 40 calls a record unless told otherwise."""

    def records(*, calls=40, **keys):
        return [
            {
                "uid": f"skillshift.{site}.v1.{index}",
                "site": site,
                "condition": condition,
                "success": index == 0,
                "steps": 2 + index,
                "skill_calls": calls,
                "skill_failures": calls and index,
                **keys,
            }
            for site, condition, planned in GRID.cells()
            for index in range(planned)
        ]

    return records


@pytest.fixture
def frame():
    """A function that makes a frame of records."""
    return to_frame


@pytest.fixture
def written(tmp_path):
    """A function that writes records, or lines as they are, into a log and gives its path."""

    def write(lines, name="log.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    return write
