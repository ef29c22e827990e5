"""The strategies make what they say, and reach what a suite needs them to reach."""

import pytest
from hypothesis import given
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
