from __future__ import annotations

import pytest

from skillshift.leaderboard.nulls import MEANS, SHOWN_AS, STATUSES, reason_of, status_of
from skillshift.metrics import REASONS
from skillshift.submission.slots import OVERALL_SLOT, WEBSITE_SLOTS

CASES = {
    "a number": ("ASC", {}, {}, "value"),
    "zero is a number": ("ASC", {"ASC": 0.0}, {}, "value"),
    "SR is always applicable": ("SR", {"SR": None}, {"SR": "not applicable"}, "not-measured"),
    "even without skills": ("SR", {"SR": None, "ASC": None}, {"SR": "not applicable"}, "not-measured"),
    "AS is always applicable": ("AS", {"AS": None}, {"AS": "no denominator"}, "not-measured"),
    "the project's own words": ("ASC", {"ASC": None}, {"ASC": REASONS["not-applicable"]}, "not-applicable"),
    "the published words": (
        "SFR",
        {"ASC": None, "SFR": None},
        {"SFR": "Not applicable to it"},
        "not-applicable",
    ),
    "skills that were called exist": ("SFR", {"SFR": None}, {"SFR": "Not applicable here"}, "not-measured"),
    "no denominator": ("SFR", {"SFR": None}, {"SFR": REASONS["no-skill-calls"]}, "undefined"),
    "its reason at the slot": ("SFR", {"SFR": None}, {"SFR.overall": "no denominator"}, "undefined"),
    "not printed": ("SFR", {"SFR": None}, {"SFR": "Table 3 reports SR and ASC only."}, "not-measured"),
    "not printed either": ("ASC", {"ASC": None}, {"ASC": "Table 3 reports SR only."}, "not-measured"),
    "ASC has a denominator always": ("ASC", {"ASC": None}, {"ASC": "no denominator"}, "not-measured"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_null_of_a_transcribed_entry_says(sheet, case):
    metric, values, reasons, wanted = CASES[case]
    assert status_of(sheet(reasons=reasons, **values), metric, OVERALL_SLOT) == wanted


@pytest.mark.parametrize(
    ("metric", "values", "wanted"),
    [
        ("ASC", {"ASC": None, "SFR": None}, "not-applicable"),
        ("SFR", {"ASC": None, "SFR": None}, "not-applicable"),
        ("SFR", {"SFR": None}, "undefined"),
    ],
)
def test_a_null_of_a_complete_run_says_by_its_place_what_it_is(sheet, metric, values, wanted):
    found = sheet(label="self-reported", reasons={"ASC": "x", "SFR": "x"}, **values)
    assert status_of(found, metric, OVERALL_SLOT) == wanted


def test_counted_calls_make_a_null_rate_undefined(sheet):
    calls = {"websites": {"gitlab": 5, "magento": 0, "wordpress": 0}}
    found = sheet(SFR=None, calls=calls)
    assert status_of(found, "SFR", WEBSITE_SLOTS[0]) == "undefined"
    assert status_of(found, "SFR", OVERALL_SLOT) == "not-measured"


def test_the_slots_own_reason_comes_before_its_metrics(sheet):
    found = sheet(SFR=None, reasons={"SFR": "all", "SFR.overall": "one"})
    assert reason_of(found, "SFR", OVERALL_SLOT) == "one"
    assert reason_of(found, "SFR", WEBSITE_SLOTS[0]) == "all"
    assert reason_of(found, "SR", OVERALL_SLOT) is None


def test_every_null_is_shown_as_something_of_its_own():
    assert set(SHOWN_AS) == set(MEANS) == set(STATUSES) - {"value"}
    assert len(set(SHOWN_AS.values())) == len(SHOWN_AS)
    assert SHOWN_AS["not-applicable"] == "--"
    assert not SHOWN_AS["not-measured"]
