from __future__ import annotations

import itertools
from fractions import Fraction
from math import ceil, floor

import pytest

from skillshift.submission.checks.granularity import can_occur, neighbours
from skillshift.submission.slots import CONDITION_SLOTS, OVERALL_SLOT, WEBSITE_SLOTS, Slot

HALF = Fraction(1, 2)


def prints(exact: Fraction) -> range:
    """What an exact number of hundredths may be printed as; an exact half either way."""
    return range(ceil(exact - HALF), floor(exact + HALF) + 1)


def website_by_hand(tasks: int) -> set[int]:
    """Every printed mean of six cells, exact or rounded first, by plain enumeration of sums."""
    exact = {p for solved in range(6 * tasks + 1) for p in prints(Fraction(10_000 * solved, 6 * tasks))}
    cells = {p for solved in range(tasks + 1) for p in prints(Fraction(10_000 * solved, tasks))}
    sums = {0}
    for _ in range(6):
        sums = {total + cell for total in sums for cell in cells}
    return exact | {p for total in sums for p in prints(Fraction(total, 6))}


def test_a_websites_numbers_are_those_found_by_hand():
    slot = Slot("websites", "wordpress")
    assert {p for p in range(10_001) if can_occur(slot, p)} == website_by_hand(79)


def test_a_conditions_numbers_are_those_found_by_hand_near_zero():
    few = 6
    sums = itertools.product(range(few), repeat=3)
    exact = [
        Fraction(10_000, 3) * (Fraction(a, 162) + Fraction(b, 114) + Fraction(c, 79)) for a, b, c in sums
    ]
    by_hand = {p for x in exact for p in prints(x)}
    cells = [{p for k in range(few) for p in prints(Fraction(10_000 * k, n))} for n in (162, 114, 79)]
    by_hand |= {p for total in itertools.product(*cells) for p in prints(Fraction(sum(total), 3))}
    limit = 120  # below the least mean that six solved tasks on one website give
    assert {p for p in range(limit) if can_occur(CONDITION_SLOTS[0], p)} == {p for p in by_hand if p < limit}


@pytest.mark.parametrize("slot", [*WEBSITE_SLOTS, CONDITION_SLOTS[0], OVERALL_SLOT])
def test_none_and_all_can_occur_and_the_pattern_is_symmetric(slot):
    assert can_occur(slot, 0)
    assert can_occur(slot, 10_000)
    assert not can_occur(slot, 1)
    assert all(can_occur(slot, p) == can_occur(slot, 10_000 - p) for p in range(0, 10_001, 37))


def test_most_two_decimal_numbers_of_a_website_cannot_occur():
    shares = [sum(can_occur(slot, p) for p in range(10_001)) / 10_001 for slot in WEBSITE_SLOTS]
    assert all(0.05 < share < 0.2 for share in shares)


def overall_by_hand(cells: tuple[tuple[str, str], ...]) -> set[int]:
    """What overall prints for some solved tasks: cells exact or rounded first, sides rounded first or not."""
    found: set[int] = set()
    grid = list(itertools.product(("gitlab", "magento", "wordpress"), CONDITION_SLOTS))
    tasks = {"gitlab": 162, "magento": 114, "wordpress": 79}
    exact = {(site, c): Fraction(10_000 * cells.count((site, c.name)), tasks[site]) for site, c in grid}
    printed = {cell: Fraction(prints(value)[0]) for cell, value in exact.items()}
    for values in (exact, printed):
        found |= set(prints(sum(values.values()) / 18))
    for place in (0, 1):
        ordered = sorted(((str(cell[place]), cell) for cell in grid), key=str)
        groups = [[cell for _, cell in same] for _, same in itertools.groupby(ordered, lambda pair: pair[0])]
        sides = [
            {p for values in (exact, printed) for p in prints(sum(values[c] for c in cell) / len(cell))}
            for cell in groups
        ]
        found |= {p for means in itertools.product(*sides) for p in prints(Fraction(sum(means), len(sides)))}
    return found


def test_overall_only_numbers_near_the_ends_cannot_occur():
    grid = list(itertools.product(("gitlab", "magento", "wordpress"), (c.name for c in CONDITION_SLOTS)))
    # Four solved tasks on gitlab, the largest website, give 0.14; below that three are the most there can be.
    by_hand = {
        p
        for solved in range(4)
        for cells in itertools.combinations_with_replacement(grid, solved)
        for p in overall_by_hand(cells)
    }
    cannot = [p for p in [*range(200), *range(200, 5_001, 40)] if not can_occur(OVERALL_SLOT, p)]
    assert cannot == [p for p in range(13) if p not in by_hand]
    assert [p for p in range(5_001, 10_001) if not can_occur(OVERALL_SLOT, p)] == [
        10_000 - p for p in cannot[::-1]
    ]


def test_an_overall_number_may_come_from_rounded_conditions():
    # One task solved on gitlab: 0.0343 exactly; its condition is printed 0.21, and 0.21 / 6 is 0.035.
    assert can_occur(OVERALL_SLOT, 3)
    assert can_occur(OVERALL_SLOT, 4)


def test_gitlab_23_00_lies_between_22_94_and_23_05():
    slot = Slot("websites", "gitlab")
    assert not can_occur(slot, 2300)
    assert neighbours(slot, 2300) == ("22.94", "23.05")


def test_the_warning_says_so_and_no_more(check, transcribed, codes):
    verdict = check("granularity", transcribed({"metrics/SR/websites/gitlab": 23.0}))
    assert codes(verdict) == [("granularity.unattainable", "warning", "metrics.SR.websites.gitlab")]
    (finding,) = verdict.findings
    assert finding.found == "23.0, which lies between 22.94 and 23.05"
    assert finding.why == "the value cannot come from complete cells of the official counts"
    assert verdict.status == "passed", "it warns and never fails"


def test_a_run_of_ones_own_has_numbers_that_can_occur(check, tree):
    assert check("granularity", tree).findings == ()


def test_an_entry_that_pools_models_is_not_checked(check, transcribed):
    pooled = {"metrics/SR/websites/gitlab": 23.0, "submission/model/id": "mixed (a / b)"}
    assert check("granularity", transcribed(pooled)).status == "not checked"


@pytest.mark.parametrize("value", [None, "23.0", 23.001, -1, 101, 1e300])
def test_what_is_no_published_rate_is_left_to_the_other_checks(check, transcribed, value):
    assert check("granularity", transcribed({"metrics/SR/websites/gitlab": value})).findings == ()
