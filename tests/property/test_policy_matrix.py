"""The missing-data policy as a table: what an empty, a partial and a full cell are worth.

One website with two tasks under two conditions. The condition ``other`` is always scored in full; ``tested``
holds what the row says. Its records are measurements (``success``: one task solved, one not), errors, or
measurements of a method without executable skills.
"""

import polars as pl
import pytest

import skillshift as ss

GRID = ss.Grid("matrix", {"shop": 2}, ("tested", "other"))
TASKS = {"empty": 0, "partial": 1, "full": 2}
COUNTS = ("attempted", "errored", "scored", "missing")
METRICS = ("SR", "AS", "ASC", "SFR")

INCOMPLETE = (None, None, None, None, "incomplete")
NOTHING = (None, None, None, None, "nothing-scored")

CELLS = {
    # cell, records: counts, values and reason by default, and under incomplete="scored"
    ("empty", "success"): ((0, 0, 0, 2), INCOMPLETE, NOTHING),
    ("empty", "error"): ((0, 0, 0, 2), INCOMPLETE, NOTHING),
    ("empty", "not applicable"): ((0, 0, 0, 2), INCOMPLETE, NOTHING),
    ("partial", "success"): ((1, 0, 1, 1), INCOMPLETE, (100, 3, 4, 25, None)),
    ("partial", "error"): ((1, 1, 0, 1), INCOMPLETE, NOTHING),
    ("partial", "not applicable"): ((1, 0, 1, 1), INCOMPLETE, (100, 3, None, None, "not-applicable")),
    ("full", "success"): ((2, 0, 2, 0), (50, 4, 2, 25, None), (50, 4, 2, 25, None)),
    ("full", "error"): ((2, 2, 0, 0), INCOMPLETE, NOTHING),
    ("full", "not applicable"): (
        (2, 0, 2, 0),
        (50, 4, None, None, "not-applicable"),
        (50, 4, None, None, "not-applicable"),
    ),
}

# What the slots over the tested cell say of SR and SFR: value of `tested`, value of `overall`, reason,
# pooled value of `overall`. The other cell's SR is 100 and its SFR 50, over 4 calls.
HIDDEN = (None, None, "incomplete", None)
NO_SKILLS = (None, None, "not-applicable", None)
MARGINALS = {
    ("empty", "success"): {
        "undefined": {"SR": HIDDEN, "SFR": HIDDEN},
        "scored": {
            "SR": (None, None, "nothing-scored", 100),
            "SFR": (None, None, "nothing-scored", 50),
        },
    },
    ("empty", "error"): {
        "undefined": {"SR": HIDDEN, "SFR": HIDDEN},
        "scored": {
            "SR": (None, None, "nothing-scored", 100),
            "SFR": (None, None, "nothing-scored", 50),
        },
    },
    ("empty", "not applicable"): {
        "undefined": {"SR": HIDDEN, "SFR": NO_SKILLS},
        "scored": {"SR": (None, None, "nothing-scored", 100), "SFR": NO_SKILLS},
    },
    ("partial", "success"): {
        "undefined": {"SR": HIDDEN, "SFR": HIDDEN},
        "scored": {"SR": (100, 100, None, 100), "SFR": (25, 37.5, None, 37.5)},
    },
    ("partial", "error"): {
        "undefined": {"SR": HIDDEN, "SFR": HIDDEN},
        "scored": {
            "SR": (None, None, "nothing-scored", 100),
            "SFR": (None, None, "nothing-scored", 50),
        },
    },
    ("partial", "not applicable"): {
        "undefined": {"SR": HIDDEN, "SFR": NO_SKILLS},
        "scored": {"SR": (100, 100, None, 100), "SFR": NO_SKILLS},
    },
    ("full", "success"): {
        "undefined": {"SR": (50, 75, None, 75), "SFR": (25, 37.5, None, 37.5)},
        "scored": {"SR": (50, 75, None, 75), "SFR": (25, 37.5, None, 37.5)},
    },
    ("full", "error"): {
        "undefined": {"SR": HIDDEN, "SFR": HIDDEN},
        "scored": {
            "SR": (None, None, "nothing-scored", 100),
            "SFR": (None, None, "nothing-scored", 50),
        },
    },
    ("full", "not applicable"): {
        "undefined": {"SR": (50, 75, None, 75), "SFR": NO_SKILLS},
        "scored": {"SR": (50, 75, None, 75), "SFR": NO_SKILLS},
    },
}

# SR's bounds over `overall`: every missing task fails, every missing task succeeds.
BOUNDS = {
    ("empty", "success"): (50, 100),
    ("empty", "error"): (50, 100),
    ("empty", "not applicable"): (50, 100),
    ("partial", "success"): (75, 100),
    ("partial", "error"): (50, 100),
    ("partial", "not applicable"): (75, 100),
    ("full", "success"): (75, 75),
    ("full", "error"): (50, 100),
    ("full", "not applicable"): (75, 75),
}


def run(cell, records):
    """The log of one row of the matrix."""
    skills = records != "not applicable"

    def record(condition, task, *, success, steps, calls, failures, error=None):
        return {
            "uid": f"skillshift.shop.v1.{task}",
            "site": "shop",
            "condition": condition,
            "success": success,
            "steps": steps,
            "skill_calls": calls if skills else None,
            "skill_failures": failures if skills else None,
            "error": error,
        }

    other = [record("other", task, success=True, steps=2, calls=2, failures=1) for task in (0, 1)]
    if records == "error":
        tested = [
            record("tested", task, success=None, steps=None, calls=1, failures=1, error="crash")
            for task in (0, 1)
        ]
    else:
        tested = [
            record("tested", 0, success=True, steps=3, calls=4, failures=1),
            record("tested", 1, success=False, steps=5, calls=0, failures=0),
        ]
    return pl.DataFrame([*tested[: TASKS[cell]], *other], schema_overrides={"error": pl.String})


def cells_of(row, incomplete):
    return ss.cells(run(*row), grid=GRID, incomplete=incomplete)


ROWS = [(cell, records) for cell in TASKS for records in ("success", "error", "not applicable")]


def test_every_row_has_its_expectations():
    assert set(ROWS) == set(CELLS) == set(MARGINALS) == set(BOUNDS)


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_cell(row):
    counts, undefined, scored = CELLS[row]
    for incomplete, expected in (("undefined", undefined), ("scored", scored)):
        cell = cells_of(row, incomplete).row(0, named=True)
        assert (cell["condition"], cell["planned"], cell["complete"]) == ("tested", 2, counts[2] == 2)
        assert tuple(cell[name] for name in COUNTS) == counts
        assert tuple(cell[name] for name in (*METRICS, "reason")) == expected
        assert (cell["skill_calls"] is None) == (row[1] == "not applicable")


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_other_cell_is_not_touched(row):
    for incomplete in ("undefined", "scored"):
        cell = cells_of(row, incomplete).row(1, named=True)
        without = row[1] == "not applicable"
        expected = (100, 2, None, None, "not-applicable") if without else (100, 2, 2, 50, None)
        assert tuple(cell[name] for name in (*METRICS, "reason")) == expected


@pytest.mark.parametrize("incomplete", ["undefined", "scored"])
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_marginals(row, incomplete):
    numbers = ss.marginals(cells_of(row, incomplete))
    for metric, expected in MARGINALS[row][incomplete].items():
        slots = {slot["slot"]: slot for slot in numbers.filter(metric=metric).to_dicts()}
        tested, overall = slots["tested"], slots["overall"]
        found = (tested["value"], overall["value"], overall["reason"], overall["pooled"])
        assert found == expected
        assert tested["reason"] == overall["reason"]
        assert slots["shop"]["value"] == overall["value"]
        assert slots["other"]["value"] == (
            100 if metric == "SR" else None if row[1] == "not applicable" else 50
        )
        assert overall["incomplete"] is slots["shop"]["incomplete"] is (CELLS[row][0][2] < 2)
        assert slots["other"]["incomplete"] is False


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_the_bounds(row):
    numbers = ss.marginals(cells_of(row, "undefined"))
    assert numbers.filter(metric="SR", slot="overall").select("lower", "upper").row(0) == BOUNDS[row]
    assert numbers.filter(pl.col("metric") != "SR").select("lower", "upper").null_count().row(0) == (
        15 - 3,
        15 - 3,
    )
