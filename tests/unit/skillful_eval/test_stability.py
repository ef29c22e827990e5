from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.coverage import uncovered
from skillful_eval.stability import unstable
from skillshift.frame.errors import UsageError


def repeats(run_of, fixture_id, *decisions, **other):
    return [
        run_of(fixture_id, ["a:db", "a:lint"], kind, chosen, reason=reason, repeat=repeat, **other)
        for repeat, (kind, chosen, reason) in enumerate(decisions)
    ]


PICK, OTHER = ("injected", "a:db", None), ("injected", "a:lint", None)
NONE, FLOOR, MUTE = ("skipped", None, "none"), ("skipped", None, "floor"), ("skipped", None, None)
FAIL = ("degraded", None, "timeout")


@pytest.mark.parametrize(
    ("decisions", "stable"),
    [
        ([PICK, PICK], True),
        ([PICK, OTHER], False),
        ([PICK, NONE], False),
        ([NONE, NONE], True),
        ([NONE, FLOOR], False),
        ([NONE, MUTE], False),
        ([MUTE, MUTE], True),
        ([FAIL, FAIL], False),
        ([PICK, FAIL], False),
        ([PICK], True),
        ([FAIL], True),
    ],
)
def test_which_fixtures_are_unstable(scored_of, run_of, decisions, stable):
    found = unstable(scored_of(*repeats(run_of, "undo", *decisions)))
    assert found.is_empty() is stable


def test_the_decisions_are_told_in_the_order_of_the_repeats(scored_of, run_of):
    rows = repeats(run_of, "undo", PICK, NONE, MUTE, FAIL)
    found = unstable(scored_of(*rows[::-1]))
    assert found.to_dicts() == [
        {
            "fixture_id": "undo",
            "group": "coding",
            "repeats": 4,
            "decisions": ["injected:a:db", "skipped:none", "skipped", "degraded:timeout"],
        }
    ]


def test_each_configuration_has_its_own(scored_of, run_of):
    rows = [
        *repeats(run_of, "undo", PICK, PICK, config="b"),
        *repeats(run_of, "plan", PICK, OTHER, config="b"),
        *repeats(run_of, "undo", OTHER, NONE, config="a"),
    ]
    found = unstable(scored_of(*rows))
    assert found.select("config", "fixture_id").rows() == [("a", "undo"), ("b", "plan")]
    with pytest.raises(UsageError, match="would pool"):
        unstable(scored_of(*rows), by=[])


def test_a_configuration_that_only_retrieves_decides_nothing(scored_of, run_of):
    assert unstable(scored_of(*repeats(run_of, "undo", (None, None, None), (None, None, None)))).is_empty()


def test_fixtures_without_runs_and_with_fewer_repeats_are_listed(scored_of, run_of):
    rows = [*repeats(run_of, "undo", PICK, PICK), *repeats(run_of, "thanks", NONE)]
    assert uncovered(scored_of(*rows)).rows() == [
        ("plan", "coding", False, 0, 2),
        ("store", "mcp", False, 0, 2),
        ("thanks", "trivial", True, 1, 2),
    ]


def test_coverage_is_asked_of_each_configuration(scored_of, run_of, whole):
    rows = [row | {"config": "whole"} for row in whole] + [run_of("undo", config="cut")]
    found = uncovered(scored_of(*rows))
    assert found["config"].unique().to_list() == ["cut"]
    assert found["fixture_id"].to_list() == ["plan", "store", "thanks"]
    assert found.schema["repeats"] == found.schema["expected"] == pl.Int64
