from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.missing import MISSES, misses
from skillful_eval.runs import scan_runs
from skillful_eval.scoring import score
from skillful_eval.summary import report
from skillshift.frame.errors import InputError, UsageError

RIGHT = {
    "undo": (["b:undo"], "injected", "b:undo"),
    "plan": (["a:db"], "injected", "a:db"),
    "store": (["a:db"], "injected", "a:db"),
    "thanks": (["a:db"], "skipped", None),
}


@pytest.mark.parametrize(
    ("fixture", "shortlist", "decision", "chosen", "miss", "rank"),
    [
        ("undo", ["a:plan"], "injected", "a:plan", "gold-not-offered", None),
        ("undo", ["a:plan"], "skipped", None, "gold-not-offered", None),
        ("undo", ["a:plan"], "degraded", None, "gold-not-offered", None),
        ("undo", ["a:plan"], "injected", "b:undo", "gold-not-offered", None),
        ("undo", [], None, None, "gold-not-offered", None),
        ("undo", ["a:plan", "a:plan", "a:undo"], "injected", "a:plan", "gold-not-chosen", 2),
        ("undo", ["a:undo"], "skipped", None, "abstained-wrongly", 1),
        ("thanks", ["a:undo"], "injected", "a:undo", "picked-wrongly", None),
        ("undo", ["a:lint", "b:undo"], "degraded", None, "degraded", 2),
        ("thanks", ["a:undo"], "degraded", None, "degraded", None),
    ],
)
def test_what_went_wrong_first_is_named(scored_of, run_of, fixture, shortlist, decision, chosen, miss, rank):
    found = misses(scored_of(run_of(fixture, shortlist, decision, chosen, reason="why")))
    assert found.select("miss", "fixture_id", "repeat", "rank", "decision", "chosen", "reason").rows() == [
        (miss, fixture, 0, rank, decision, chosen, "why")
    ]
    assert found["prompt"].to_list() == [f"about {fixture}"]


def test_what_went_right_is_not_listed(scored_of, run_of):
    runs = [run_of(name, *how) for name, how in RIGHT.items()]
    found = misses(scored_of(*runs))
    assert found.height == 0
    assert found.schema == misses(scored_of(run_of("undo", ["a:plan"]))).schema


def test_retrieval_alone_can_only_lack_the_gold(scored_of, run_of):
    runs = [run_of("undo", ["b:undo"], None), run_of("plan", ["a:lint"], None), run_of("thanks", [], None)]
    assert misses(scored_of(*runs)).select("fixture_id", "miss").rows() == [("plan", "gold-not-offered")]


def test_misses_come_by_key_kind_fixture_and_repeat(scored_of, run_of):
    runs = [
        run_of("store", ["a:db"], "skipped", repeat=1, config="b"),
        run_of("store", ["a:db"], "skipped", config="b"),
        run_of("plan", ["a:db"], "degraded", config="b"),
        run_of("thanks", [], "injected", "a:db", config="a"),
        run_of("store", [], "skipped", config="a"),
        run_of("undo", [], "skipped", config="a"),
    ]
    found = misses(scored_of(*runs)).select("config", "miss", "fixture_id", "repeat")
    assert found.rows() == [
        ("a", "gold-not-offered", "undo", 0),
        ("a", "gold-not-offered", "store", 0),
        ("a", "picked-wrongly", "thanks", 0),
        ("b", "abstained-wrongly", "store", 0),
        ("b", "abstained-wrongly", "store", 1),
        ("b", "degraded", "plan", 0),
    ]


def test_the_counts_are_those_of_the_report(scored_of, whole):
    scored = scored_of(*whole)
    counts = dict(misses(scored).group_by("miss").len().rows())
    numbers = {row["metric"]: row for row in report(scored, groups=False, kinds=False).to_dicts()}
    recall = numbers["recall@K"]
    assert counts.get("gold-not-offered", 0) == recall["denominator"] - recall["numerator"]
    assert counts.get("gold-not-chosen", 0) == numbers["wrongPickOffered"]["numerator"]
    assert set(counts) <= set(MISSES)


SCORES = [("a:lint", 3.0), ("a:db", 2.0), ("a:plan", 2.0), ("b:undo", 1.0), ("a:planner", 1.5)]


def scores(*pairs):
    return [{"id": id_, "score": score} for id_, score in pairs]


def test_scores_say_which_rank_the_gold_would_have_had(scored_of, run_of):
    runs = [
        run_of("undo", ["a:lint"], scores=scores(*SCORES)),
        run_of("plan", ["a:lint"], scores=scores(*SCORES)),
        run_of("store", ["a:lint"], scores=scores(("a:lint", 3.0))),
        run_of("store", ["a:lint"], repeat=1, scores=None),
        run_of("store", ["a:db"], repeat=2, scores=scores(*SCORES)),
    ]
    found = misses(scored_of(*runs)).select("fixture_id", "repeat", "would_rank")
    # Of equal scores the smaller id stands first; copies of a capability count as their best.
    assert found.rows() == [
        ("undo", 0, 5),
        ("plan", 0, 2),
        ("store", 0, None),
        ("store", 1, None),
        ("store", 2, None),
    ]


def test_an_id_that_was_scored_twice_stands_at_its_better_place(scored_of, run_of):
    twice = scores(("a:lint", 2.0), ("b:undo", 1.0), ("a:lint", 0.5), ("b:undo", 9.0))
    assert misses(scored_of(run_of("undo", ["a:lint"], scores=twice)))["would_rank"].to_list() == [1]


def test_scores_in_json_lines(tmp_path, run_of, fixtures, corpus):
    path = tmp_path / "runs.jsonl"
    lines = [run_of("undo", ["a:lint"], scores=scores(*SCORES)), run_of("store", ["a:lint"], scores=None)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = misses(score(scan_runs(path), fixtures, corpus))
    assert found.select("fixture_id", "would_rank").rows() == [("undo", 5), ("store", None)]


@pytest.mark.parametrize("value", ['"x"', "[1]", '[{"id": "a", "score": "high"}]'])
def test_scores_that_are_none_are_refused(tmp_path, run_of, fixtures, corpus, value):
    path = tmp_path / "runs.jsonl"
    good = json.dumps(run_of("store", ["a:lint"], scores=scores(("a", 1))))
    bad = json.dumps(run_of("undo", ["a:lint"], scores=json.loads(value)))
    path.write_text(f"{good}\n{bad}\n", encoding="utf-8")
    with pytest.raises(InputError, match="routing runs: scores: "):
        misses(score(scan_runs(path), fixtures, corpus))


def test_scores_must_be_numbers_beside_ids(scored_of, run_of):
    for bad in (
        {"id": "a:db", "score": float("nan")},
        {"id": None, "score": 1.0},
        {"id": "a:db", "score": None},
    ):
        with pytest.raises(InputError, match='scores: repeat 0 of "undo" has a score without an id, or'):
            misses(scored_of(run_of("undo", ["a:lint"], scores=[bad, {"id": "a:lint", "score": 1.0}])))
    with pytest.raises(InputError, match="scores: found a column of type Int64"):
        misses(scored_of(run_of("undo", ["a:lint"], scores=5)))


def test_scores_that_nobody_recorded_are_as_if_not_there(scored_of, run_of):
    assert misses(scored_of(run_of("undo", ["a:lint"], scores=None)))["would_rank"].to_list() == [None]


def test_keys_are_checked(scored_of, run_of):
    scored = scored_of(run_of("undo", [], config="a", model="m"))
    assert misses(scored, by=["config", "model"]).columns[:3] == ["config", "model", "miss"]
    with pytest.raises(UsageError, match="no column 'router'"):
        misses(scored, by=["router"])
    with pytest.raises(UsageError, match="'fixture_id' does not tell configurations apart"):
        misses(scored, by=["config", "fixture_id"])


def test_many_scores_are_ranked_in_parts(monkeypatch, scored_of, run_of):
    runs = [run_of("undo", ["a:lint"], repeat=i, scores=scores(*SCORES)) for i in range(5)]
    whole = misses(scored_of(*runs))
    monkeypatch.setattr("skillful_eval.missing._ELEMENTS", 7)
    assert misses(scored_of(*runs)).equals(whole)
    assert whole["would_rank"].to_list() == [5] * 5


def test_a_frame_keeps_its_types(scored_of, run_of):
    found = misses(scored_of(run_of("undo", [])))
    assert found.schema["rank"] == pl.UInt32
    assert found.schema["would_rank"] == pl.Int64
    assert found.schema["gold"] == pl.List(pl.String)
