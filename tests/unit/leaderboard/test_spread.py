from __future__ import annotations

import json
from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.leaderboard.spread import variance_at_most
from skillshift.submission.jsontext import parse
from skillshift.submission.sheet import Sheet
from skillshift.submission.slots import OFFICIAL_COUNTS

TASKS = list(OFFICIAL_COUNTS["websites"].values())
SITES, CONDITIONS = tuple(OFFICIAL_COUNTS["websites"]), tuple(OFFICIAL_COUNTS["conditions"])


def exact(cells):
    """The variance of the mean of eighteen cells, in squared percentage points."""
    return sum(p * (1 - p) / n for row, n in zip(cells, TASKS, strict=True) for p in row) * 10_000 / 18**2


def mean(values):
    return sum(values) / len(values)


def published(value):
    return round(float(value) * 100, 2)


def sheet_of(cells, sides=("websites", "conditions")):
    websites = {name: published(mean(row)) for name, row in zip(SITES, cells, strict=True)}
    conditions = {
        name: published(mean(column))
        for name, column in zip(CONDITIONS, zip(*cells, strict=True), strict=True)
    }
    given = {"websites": websites, "conditions": conditions}
    rate = {side: given[side] if side in sides else dict.fromkeys(given[side]) for side in given}
    overall = published(mean([p for row in cells for p in row]))
    tree = {"metrics": {"SR": {**rate, "overall": overall}}, "n": OFFICIAL_COUNTS}
    return Sheet(parse(json.dumps(tree).encode(), "test"))


SIDES = [("websites", "conditions"), ("websites",), ("conditions",), ()]


@pytest.mark.parametrize("sides", SIDES)
@given(data=st.data())
def test_no_run_spreads_more_than_the_bound_that_its_document_gives(sides, data):
    solved = [[data.draw(st.integers(0, n)) for _ in CONDITIONS] for n in TASKS]
    cells = [[Fraction(s, n) for s in row] for row, n in zip(solved, TASKS, strict=True)]
    found = variance_at_most(sheet_of(cells, sides))
    # Each published number may be 0.005 off.
    assert sqrt(found) >= sqrt(exact(cells)) - 0.001


def test_each_bound_is_reached_by_the_cells_of_largest_spread():
    n = [Fraction(t) for t in TASKS]
    middle = mean(n)
    shift = [Fraction(k, 100) for k in (-5, -3, -1, 1, 3, 5)]
    websites = [Fraction(k, 100) for k in (30, 45, 60)]
    both = [[r + t * d / middle for d in shift] for r, t in zip(websites, n, strict=True)]
    rows = [[r] * 6 for r in websites]
    columns = [[(1 - (1 - 2 * (Fraction(1, 2) + d)) * t / middle) / 2 for d in shift] for t in n]
    flat = [[(1 - Fraction(1, 5) * t / middle) / 2] * 6 for t in n]
    for cells, sides in zip((both, rows, columns, flat), SIDES, strict=True):
        assert sqrt(variance_at_most(sheet_of(cells, sides))) == pytest.approx(sqrt(exact(cells)), abs=1e-4)


def test_by_hand(sheet):
    # 50 % in every cell: 6 * 0.25 / n a website, over 18 squared, in squared percentage points.
    wanted = (1.5 / 162 + 1.5 / 114 + 1.5 / 79) / 324 * 10_000
    assert float(variance_at_most(sheet(SR=50.0))) == pytest.approx(wanted)


def test_knowing_more_never_widens_the_bound():
    cells = [
        [Fraction(k, 20) for k in row] for row in ((1, 5, 9, 2, 3, 4), (8, 7, 6, 5, 4, 3), (9, 9, 1, 8, 2, 7))
    ]
    bounds = [variance_at_most(sheet_of(cells, sides)) for sides in SIDES]
    assert bounds[0] < bounds[1] < bounds[3]
    assert bounds[0] < bounds[2] <= bounds[3]


@pytest.mark.parametrize("value", [0.0, 100.0])
def test_all_or_nothing_does_not_spread(sheet, value):
    assert variance_at_most(sheet(SR=value)) == 0


def test_what_a_document_does_not_say_is_not_made_up(sheet):
    assert variance_at_most(sheet(SR=None)) is None
    assert variance_at_most(sheet(SR=140.0)) is None
    for broken in (0, None, "162", True):
        found = sheet()
        found.tree["n"]["websites"]["gitlab"] = broken
        assert variance_at_most(found) is None
    del found.tree["n"]
    assert variance_at_most(found) is None
