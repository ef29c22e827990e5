from __future__ import annotations

import polars as pl

from skillful_eval.decision import decided
from skillful_eval.retrieval import targets
from skillful_eval.schema import DECISIONS

IDS = pl.Series("id", [f"i{number}" for number in range(4)])
GOLDS = pl.DataFrame(
    [(0, 0, "i1"), (1, 0, "i2")],
    schema={"fixture": pl.UInt32, "answer": pl.UInt32, "id": pl.String},
    orient="row",
)
SCHEMA = {
    "_fixture": pl.UInt32,
    "_chosen": pl.UInt32,
    "_shortlist": pl.List(pl.UInt8),
    "decision": pl.Enum(DECISIONS),
    "reason": pl.Enum(["x", "y", "z"]),
}


def of(*rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").select(decided(targets(GOLDS, IDS, 2)))


def test_a_pick_is_a_gold_of_its_own_fixture_only():
    found = of(
        (0, 1, [1, 2], "injected", None), (0, 2, [1, 2], "injected", None), (1, 2, [1], "injected", None)
    )
    assert found.select("picked_gold", "listed").rows() == [(True, True), (False, True), (True, False)]


def test_no_pick_is_like_an_abstention_and_no_reason_like_another():
    picks = [(0, code, [], "injected", None) for code in range(4)]
    abstentions = [(0, None, [], "skipped", reason) for reason in (None, "x", "y", "z")]
    choices = of(*picks, *abstentions)["choice"]
    assert choices.null_count() == 0
    assert choices.n_unique() == 8


def test_what_failed_or_was_not_decided_is_no_choice():
    found = of((0, None, [1], "degraded", "x"), (0, None, [1], None, None))
    assert found.rows() == [(None, None, None)] * 2
