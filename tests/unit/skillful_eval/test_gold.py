from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.gold import GOLDS, resolve


def resolved(corpus, *golds):
    frame = pl.DataFrame({"gold": list(golds)}, schema={"gold": pl.List(pl.String)})
    return resolve(frame, corpus.entries)


def test_the_frame_has_its_columns_even_when_empty(corpus):
    assert resolved(corpus, ["none"]).schema == GOLDS
    assert resolved(corpus, ["plan"]).schema == GOLDS


@pytest.mark.parametrize("spelling", ["ops:undo", "ops-undo", "OPS:Undo", "Ops-uNDO"])
def test_a_name_stands_for_every_id_that_carries_it(corpus, spelling):
    golds = resolved(corpus, [spelling])
    assert golds["id"].to_list() == ["a:undo", "b:undo"]
    assert golds["answer"].to_list() == [0, 0]


def test_a_name_in_two_kinds_is_one_answer_of_both(corpus):
    golds = resolved(corpus, ["plan"])
    assert golds.select("id", "kind").rows() == [("a:plan", "skill"), ("a:planner", "agent")]
    assert golds["answer"].n_unique() == 1


def test_an_id_stands_for_itself_alone(corpus):
    assert resolved(corpus, ["b:undo"])["id"].to_list() == ["b:undo"]


def test_an_id_is_matched_exactly(corpus):
    assert resolved(corpus, ["B:undo"])["id"].to_list() == [None]


def test_golds_that_mean_one_capability_are_one_answer(corpus):
    golds = resolved(corpus, ["a:undo", "b:undo"], ["ops:undo", "ops-undo"], ["b:undo", "ops:undo"])
    assert golds.group_by("fixture", maintain_order=True).agg(
        pl.col("answer").n_unique(), pl.col("id").len()
    ).rows() == [(0, 1, 2), (1, 1, 2), (2, 1, 2)]


def test_answers_are_numbered_in_the_order_of_the_golds(corpus):
    golds = resolved(corpus, ["lint", "db"], ["db", "lint"])
    assert golds.select("fixture", "answer", "capability").rows() == [
        (0, 0, "lint"),
        (0, 1, "db"),
        (1, 0, "db"),
        (1, 1, "lint"),
    ]


def test_an_unknown_gold_has_no_id_and_stays_an_answer(corpus):
    golds = resolved(corpus, ["db", "nothing"])
    assert golds.select("gold", "id").rows() == [("db", "a:db"), ("nothing", None)]


def test_a_text_that_is_an_id_and_another_name_means_both_as_one_answer():
    entries = pl.DataFrame(
        {"id": ["x", "y", "z"], "kind": ["skill"] * 3, "capability": ["first", "x", "first"]}
    )
    golds = resolve(pl.DataFrame({"gold": [["x"]]}), entries)
    assert golds.select("answer", "capability", "id").rows() == [(0, "first", "x"), (0, "first", "y")]


def test_tens_of_thousands_resolve_with_joins():
    entries = pl.DataFrame({"id": [f"i{i}" for i in range(20_000)]}).with_columns(
        pl.lit("skill").alias("kind"), pl.col("id").str.slice(0, 5).alias("capability")
    )
    fixtures = pl.DataFrame({"gold": [[f"I{i % 1000}", f"i{i}"] for i in range(20_000)]})
    golds = resolve(fixtures, entries)
    assert golds["id"].null_count() == 0
    assert golds["fixture"].n_unique() == 20_000
