"""The strategies make what they say, and reach what a suite needs them to reach."""

import random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval import testing as sst
from skillful_eval.schema import NONE
from skillful_eval.testing.facts import folded


def has_copies(entries):
    return len({folded(entry["name"]) for entry in entries}) < len(entries)


@pytest.mark.parametrize("copies", [True, False])
@given(st.data())
def test_corpora_have_copies_as_asked(copies, data):
    entries = data.draw(sst.corpora(copies=copies))
    assert has_copies(entries) is copies
    assert sst.to_corpus(entries).entries.height == len(entries) <= 8


@pytest.mark.parametrize("abstain", [True, False])
@given(st.data())
def test_fixtures_abstain_as_asked(abstain, data):
    entries = data.draw(sst.corpora())
    fixtures = data.draw(sst.fixtures(entries, abstain=abstain))
    assert {fixture["gold"] == [NONE] for fixture in fixtures} == {abstain}
    assert sst.to_fixtures(fixtures, sst.to_corpus(entries)).frame.height == len(fixtures)


@given(sst.evaluations(complete=True, repeats=2, repeated_ids=False, decisions=["skipped"]))
def test_runs_are_as_asked(evaluation):
    assert len(evaluation.runs) == 2 * len(evaluation.fixtures)
    assert {run["decision"] for run in evaluation.runs} == {"skipped"}
    assert all(len(set(run["shortlist"])) == len(run["shortlist"]) for run in evaluation.runs)


@given(sst.evaluations(configs=2))
def test_configurations_are_told_apart(evaluation):
    assert {run["config"] for run in evaluation.runs} == {"config 0", "config 1"}


@given(sst.events())
def test_events_are_readable(log):
    events = sst.to_events(log)
    assert events.unreadable.is_empty()
    assert events.lines == len(log)


def test_frames_have_the_types_of_runs_even_without_rows():
    frame = sst.to_runs([])
    assert frame.columns == ["fixture_id", "repeat", "shortlist", "decision", "chosen", "reason"]
    assert se.scan_runs(frame).collect().is_empty()


@pytest.mark.parametrize(
    "seen",
    [
        lambda e: any(len(set(run["shortlist"])) < len(run["shortlist"]) for run in e.runs),
        lambda e: any(run["chosen"] and run["chosen"] not in run["shortlist"] for run in e.runs),
        lambda e: any(run["repeat"] > 1 for run in e.runs),
        lambda e: any(run.get("response_index") is not None for run in e.runs),
        lambda e: any(run.get("latency_ms") == 2_000 for run in e.runs),
        lambda e: any(len(fixture["gold"]) > 1 for fixture in e.fixtures),
        lambda e: has_copies(e.entries),
    ],
    ids=["id-twice", "off-list", "repeats", "replayed", "at-budget", "golds", "copies"],
)
def test_what_a_suite_must_meet_is_reached(seen):
    quick = settings(
        suppress_health_check=list(HealthCheck), max_examples=500, database=None, phases=[Phase.generate]
    )
    find(sst.evaluations(), seen, settings=quick, random=random.Random(1))  # noqa: S311
