from __future__ import annotations

from fractions import Fraction

import pytest

from skillshift.frame.exact import Interval
from skillshift.submission.calls import average_of, calls_of, most_calls, overall_average
from skillshift.submission.sheet import Sheet
from skillshift.submission.slots import CONDITION_SLOTS, OVERALL_SLOT, WEBSITE_SLOTS

GITLAB, MAGENTO, WORDPRESS = WEBSITE_SLOTS
SRC = CONDITION_SLOTS[0]


def sheet(calls=None, model="m", **asc):
    slots = {"websites": {}, "conditions": {}} | asc
    return Sheet(
        {"metrics": {"ASC": slots}, "n": {"skill_calls": calls}, "submission": {"model": {"id": model}}}
    )


def test_a_websites_average_follows_from_its_calls():
    assert average_of(GITLAB, 972) == Interval(Fraction(1), Fraction(1))


def test_a_conditions_average_depends_on_where_the_calls_were_made():
    # 162 calls, all on gitlab: one a task there, a third overall; all on wordpress: 162 / 79 / 3.
    assert average_of(SRC, 162) == Interval(Fraction(1, 3), Fraction(162, 79 * 3))


def test_the_overall_average_follows_from_the_websites_calls():
    third = Fraction(1, 3)
    assert overall_average({GITLAB: 972, MAGENTO: 0, WORDPRESS: 0}) == Interval(third, third)
    assert overall_average({GITLAB: 972}) is None


def test_a_printed_average_bounds_the_calls():
    printed = sheet(websites={"wordpress": 0})
    assert calls_of(printed, WORDPRESS) == Interval(Fraction(0), Fraction(474, 200))
    # 0.995 to 1.005 a task: the fewest where wordpress made them, the most where gitlab did.
    assert calls_of(sheet(conditions={"src": 1}), SRC) == Interval(
        Fraction(995, 1000) * 237, Fraction(1005, 1000) * 486
    )
    assert calls_of(printed, GITLAB) is None


@pytest.mark.parametrize(
    ("document", "slot", "expected"),
    [
        (sheet(websites={"wordpress": 0}), WORDPRESS, 2),
        (sheet(websites={"wordpress": 0}, model="mixed (a / b)"), WORDPRESS, None),
        (sheet({"websites": {"wordpress": 17}}, websites={"wordpress": 0}), WORDPRESS, 17),
        (sheet(9, websites={"wordpress": 5}), WORDPRESS, 9),
        (sheet(9), GITLAB, 9),
        (sheet(), GITLAB, None),
        (sheet(websites={"gitlab": 0, "magento": 0, "wordpress": 0}, overall=0), OVERALL_SLOT, 10),
    ],
)
def test_the_most_calls_by_all_that_is_known(document, slot, expected):
    assert most_calls(document, slot) == expected
