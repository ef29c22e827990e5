"""The decisions that answers stand for, case by case."""

from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.router.answers import ANSWERS
from skillful_eval.router.protocol import CAUSES
from skillful_eval.router.thresholds import ABSTENTIONS, MALFORMED, Thresholds, judged, judged_by, offered
from skillful_eval.schema import DECISIONS
from skillshift.frame.errors import UsageError

IDS = ["a", "b"]


def frame(*rows, ids=pl.String):
    schema = {**ANSWERS, "shortlist": pl.List(ids)}
    usual = {"choice": "a", "none_p": 0.1, "winner_p": 0.9, "shortlist": IDS}
    return pl.DataFrame([{**usual, **row} for row in rows], schema=schema)


def decide(*rows, thresholds=Thresholds(), ids=pl.String):  # noqa: B008 - immutable
    return frame(*rows, ids=ids).select(judged(thresholds)).rows()


def test_the_order_of_the_rules():
    failed = {"cause": "timeout", "detail": "late", "choice": "none"}
    stranger = {"choice": "c", "none_p": 1.0, "winner_p": 0.0}
    assert decide(
        failed, stranger, {"choice": "none", "winner_p": 0.1}, {"none_p": 0.5, "winner_p": 0.1}
    ) == [
        ("degraded", None, "timeout", "late"),
        ("degraded", None, "malformed", "chose c, which was not offered"),
        ("skipped", None, "none", None),
        ("skipped", None, "none", None),
    ]
    assert decide({"winner_p": 0.2}, {}) == [
        ("skipped", None, "winner-floor", None),
        ("injected", "a", None, None),
    ]


@pytest.mark.parametrize(
    ("none_p", "winner_p", "reason"),
    [
        (0.4, 0.5, "none"),
        (0.39999999999999997, 0.5, None),
        (0.1, 0.25, None),
        (0.1, 0.24999999999999997, "winner-floor"),
        (0.0, 1.0, None),
    ],
)
def test_boundaries_are_those_of_the_doubles(none_p, winner_p, reason):
    [(_, _, found, _)] = decide({"none_p": none_p, "winner_p": winner_p})
    assert found == reason


def test_extreme_thresholds():
    never = Thresholds(none=1, winner=0)
    assert [
        row[2] for row in decide({"none_p": 0.99, "winner_p": 0.0}, {"none_p": 1.0}, thresholds=never)
    ] == [
        None,
        "none",
    ]
    always = Thresholds(none=0, winner=1)
    assert [row[2] for row in decide({"none_p": 0.0, "winner_p": 1.0}, thresholds=always)] == ["none"]


@pytest.mark.parametrize("missing", [{"none_p": None}, {"winner_p": None}, {"none_p": float("nan")}])
def test_a_probability_that_is_missing(missing):
    assert [row[:3] for row in decide(missing)] == [("degraded", None, MALFORMED)]


def test_no_choice_and_no_shortlist():
    assert decide({"choice": None}) == [("degraded", None, MALFORMED, "chose nothing")]
    assert [row[0] for row in decide({"shortlist": []}, {"shortlist": [], "choice": "none"})] == [
        "degraded",
        "skipped",
    ]


def test_coded_shortlists():
    coded = pl.Enum(["b", "a", "c"])
    assert decide({}, {"choice": "c"}, {"choice": "zzz"}, ids=coded) == decide(
        {}, {"choice": "c"}, {"choice": "zzz"}
    )


def test_columns():
    result = frame({}).select(judged(Thresholds()))
    texts = dict.fromkeys(("chosen", "reason", "detail"), pl.String)
    assert dict(result.schema) == {"decision": pl.Enum(DECISIONS), **texts}
    assert MALFORMED in CAUSES
    assert not set(ABSTENTIONS) & set(CAUSES)


def test_thresholds_by_row_and_what_was_offered_before():
    rows = frame({"none_p": 0.3}, {"none_p": 0.3}).with_columns(
        none=pl.Series([0.3, 0.31]), floor=pl.Series([0.0, 0.0]), ok=offered()
    )
    result = rows.drop("shortlist").select(judged_by(pl.col("none"), pl.col("floor"), pl.col("ok")))
    assert result["decision"].to_list() == ["skipped", "injected"]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), True, "0.4", None])
@pytest.mark.parametrize("name", ["none", "winner"])
def test_what_is_no_threshold(name, value):
    with pytest.raises(UsageError, match=f"threshold {name}: found"):
        Thresholds(**{name: value})
