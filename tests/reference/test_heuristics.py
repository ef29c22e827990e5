"""The heuristics on the reference fixtures."""

from __future__ import annotations

import json

import pytest

import skillful_eval as se
from skillful_eval.router.heuristics import heuristic

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def corpus(reference):
    return se.read_corpus(reference / "routing" / "distractors.json")


def test_development_exactly_those_that_were_never_asked_about(reference, corpus):
    fixtures = se.read_fixtures(reference / "routing" / "routing.jsonl", corpus).frame
    recorded = json.loads((reference / "routing" / "replay.json").read_text(encoding="utf-8"))
    passed_over = fixtures.filter(heuristic(fixtures["prompt"]).is_not_null())["fixture_id"]
    assert set(passed_over) == set(fixtures["fixture_id"]) - set(recorded)
    assert len(passed_over) == 8


def test_holdout_none_that_wants_a_capability(reference, corpus):
    fixtures = se.read_fixtures(reference / "routing" / "routing.holdout.jsonl", corpus).frame
    passed_over = fixtures.filter(heuristic(fixtures["prompt"]).is_not_null())
    assert passed_over["abstain"].all()
    assert passed_over.height == 4


def test_metatool_next_to_none(reference):
    corpus = se.read_corpus(reference / "metatool" / "corpus.json")
    fixtures = se.read_fixtures(reference / "metatool" / "fixtures.holdout.jsonl", corpus).frame
    assert heuristic(fixtures["prompt"]).is_not_null().sum() <= 1
