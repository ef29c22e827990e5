"""What a report says: notes, findings, coverage, pooled values."""

from __future__ import annotations

import pytest

from skillshift import Grid
from skillshift.report.build import build_report
from skillshift.report.content import Report
from skillshift.report.sections import sections


@pytest.fixture
def report(grid, frame):
    """A function that makes the report of records."""
    return lambda records, **options: build_report(frame(records), **{"grid": grid, **options}).report


def note(report, of):
    """The one note that has the text."""
    (found,) = [said for said in report.notes if of in said]
    return found


def titles(report):
    return [section.title for section in sections(report)]


def test_a_complete_run_without_flags_has_three_notes(report, complete):
    made = report(complete(method="m"))
    grid, units, identity = made.notes
    assert grid == "Grid shops: 2 websites x 2 conditions, 10 tasks a run."
    assert units == (
        "SR (Success Rate) in % of tasks; AS (Average Steps) in steps per task; "
        "ASC (Average Skill Calls) in skill calls per task; SFR (Skill Failure Rate) in % of skill calls. "
        "Every run: method m."
    )
    assert identity == (
        "The marginal identity (mean of websites = mean of conditions = overall) holds in 4 of 4 "
        "combinations of run and metric. Means are unweighted; no value is weighted by tasks."
    )
    assert not made.finding
    assert titles(made) == ["Diagnostics", "Coverage"]


def test_rates_on_few_calls_are_told_with_their_counts_and_smallest_cell(report, complete):
    made = report(complete(calls=4, run="a") + complete(run="b"))
    said = note(made, "fewer than 30")
    assert "a, big: 24 calls, 12 in its smallest cell" in said
    assert "a, small: 16 calls, 8 in its smallest cell" in said
    assert "overall" not in said
    assert "b, " not in said


def test_not_applicable_is_explained(report, complete):
    made = report(complete(calls=None))
    assert note(made, "--") == "-- for ASC and SFR: the method has no executable skills."
    assert "2 are undefined" in note(made, "identity")
    assert not made.finding


def test_an_undefined_mean_is_explained_and_pooled_apart(report, complete):
    records = [
        r | ({"skill_calls": 0, "skill_failures": 0} if r["condition"] == "near" else {}) for r in complete()
    ]
    made = report(records)
    assert "no skill was called in a cell" in note(made, "undefined: ")
    assert titles(made)[2:] == ["Pooled over the calls of a slot"]
    frame = sections(made)[2].frame
    assert frame["slot"].to_list() == ["big", "small", "overall"]
    assert frame["calls"].to_list() == ["120", "80", "200"]
    assert frame["pooled"].to_list() == ["2.50", "1.25", "2.00"]
    assert set(frame["calls in smallest cell"]) == {"0"}
    assert not made.finding


@pytest.mark.parametrize(("fewer", "flag"), [(0, ""), (1, " \u26a0\ufe0e")])
def test_a_pooled_rate_on_few_calls_is_flagged_like_any_other(report, complete, fewer, flag):
    records = [r | {"skill_calls": 10, "skill_failures": 0} for r in complete()]
    records = [r | ({"skill_calls": 0} if r["condition"] == "near" else {}) for r in records]
    records[3]["skill_calls"] -= fewer
    frame = sections(report(records))[2].frame.filter(slot="big")
    assert frame.select("pooled", "calls").row(0) == (f"0.00{flag}", str(30 - fewer))


def test_an_incomplete_run_is_a_finding_and_explained(report, complete):
    made = report(complete()[1:])
    assert made.finding
    assert "brackets hold the value" in note(made, "incomplete: ")
    assert "4 are undefined" in note(made, "identity")


def test_values_over_what_was_scored_are_explained(report, complete):
    made = report(complete()[1:], incomplete="scored")
    assert made.finding
    assert "may still move either way" in note(made, "\u2020")
    assert not [said for said in made.notes if "brackets" in said]


def test_duplicates_left_out_are_told(report, complete):
    made = report([*complete(), complete()[0]], on_duplicates="first")
    assert note(made, "--on-duplicates").startswith("1 scored record left out")
    assert not made.finding


def test_an_inferred_grid_is_told(report, complete):
    made = report(complete(), grid=None)
    assert "coverage of what was planned could not be checked" in note(made, "Grid inferred")


def test_refused_records_are_told_and_a_finding(report, complete):
    whole = report(complete())
    assert not Report(whole.measured).finding
    made = Report(whole.measured, refused=2)
    assert note(made, "quarantined").startswith("2 records refused")
    assert made.finding


def test_a_broken_identity_is_a_finding(report, complete):
    made = report(complete())
    wrong = made.numbers.with_columns(value=made.numbers["value"] + made.numbers.with_row_index()["index"])
    made.__dict__["numbers"] = wrong
    assert made.finding
    assert "VIOLATED in 4 of 4" in note(made, "identity")


def test_coverage_counts_tasks_and_cells_a_run(report, complete):
    records = complete(run="a") + complete(run="b")[1:]
    records += [complete(run="b")[0] | {"error": "down"}]
    made = report(records)
    assert made.coverage.rows() == [("a", 4, 4, 10, 10, 0, 10, 0), ("b", 4, 3, 10, 10, 1, 9, 0)]
    frame = sections(made)[1].frame
    assert frame["complete cells"].to_list() == ["4 of 4", "3 of 4"]
    assert report(complete()).coverage.row(0) == (4, 4, 10, 10, 0, 10, 0)


def test_keys_that_every_run_shares_are_left_to_the_notes(report, complete):
    made = report(complete(method="m", run="a") + complete(method="m", run="b"))
    assert (made.constant_keys, made.varying_keys) == ({"method": "m"}, ("run",))
    assert sections(made)[0].frame.columns[:2] == ["run", "metric"]
    assert "Every run: method m." in note(made, "Every run")
    alone = report(complete(method="m", run="a"))
    assert sections(alone)[0].frame.columns[0] == "metric"
    assert sections(alone)[1].frame.columns[0] == "runs"


def test_a_grid_of_thousands_of_tasks_is_readable(report, complete):
    large = Grid("large", {"big": 1500}, ["near"])
    assert "1,500 tasks a run" in report(complete()[:1], grid=large).notes[0]
