"""The sweep on the reference router: the published figures stand in its rows."""

import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.recording.document import read_recording
from skillful_eval.router.quotas import parse_ranges
from skillful_eval.sweep_plan import SweepSettings
from skillful_eval.sweeping import sweep

pytestmark = pytest.mark.reference

CRITERIA = [
    se.Criterion("recall@K", minimum=0.8),
    se.Criterion("MRR", minimum=0.5),
    se.Criterion("noneRecall", minimum=0.8),
    se.Criterion("agreementRate", minimum=0.9),
    se.Criterion("recall@K", minimum=0.4, scope="group:vietnamese"),
]


@pytest.fixture(scope="module")
def routing(reference):
    return reference / "routing"


@pytest.fixture(scope="module")
def corpus(routing):
    return se.read_corpus(routing / "distractors.json")


@pytest.fixture(scope="module")
def dev(routing, corpus):
    return se.read_fixtures(routing / "routing.jsonl", corpus)


@pytest.fixture(scope="module")
def holdout(routing, corpus):
    return se.read_fixtures(routing / "routing.holdout.jsonl", corpus)


def told(value):
    return f"{value:.3f}"


@pytest.mark.parametrize(
    ("when_to_use", "quota", "recall", "mrr"),
    [(False, 6, "0.765", "0.518"), (True, 6, "0.804", "0.572"), (True, 8, "0.824", "0.574")],
)
def test_the_published_figures_of_development_stand_in_their_rows(
    dev, corpus, when_to_use, quota, recall, mrr
):
    settings = SweepSettings(when_to_use=when_to_use)
    found = sweep(dev, corpus, quotas=parse_ranges(["skill=4:14"]), settings=settings, criteria=CRITERIA)
    assert found.frame.height == 11
    row = found.frame.row(by_predicate=pl.col("skill") == quota, named=True)
    assert (told(row["recall@K"]), told(row["MRR"])) == (recall, mrr)
    assert row["recall@K_denominator"] == 51
    if when_to_use:
        assert told(row["recall@K[group:vietnamese]"]) == "0.429"
        assert row["recall@K[group:vietnamese]_denominator"] == 7


@pytest.mark.parametrize(("quota", "recall"), [(4, "0.550"), (6, "0.600"), (8, "0.600"), (14, "0.650")])
def test_a_configuration_is_confirmed_on_the_holdout_set(holdout, corpus, quota, recall):
    with pytest.raises(se.UsageError, match="holdout"):
        sweep(holdout, corpus, quotas=parse_ranges([f"skill={quota}"]))
    name = f"skill={quota},mcp=4,agent=3,command+rule=2"
    found = sweep(holdout, corpus, confirm=name, criteria=CRITERIA[:2])
    assert told(found.frame["recall@K"].item()) == recall


def test_the_sets_are_apart(dev, holdout, corpus):
    sweep(dev, corpus, criteria=CRITERIA, holdout=holdout)


def test_the_recorded_answers_give_the_published_step(routing, dev, corpus):
    recording = read_recording(routing / "replay.json")
    found = sweep(
        dev, corpus, recording=recording, none_thresholds="0.1:0.9:0.05", winner_floors="0:0.5:0.05",
        criteria=CRITERIA,
    )  # fmt: skip
    assert found.frame.height == 17 * 11
    by_threshold = dict(
        found.frame.filter(winner_floor=0.25).select("none_threshold", "noneRecall").iter_rows()
    )
    assert (by_threshold[0.5], by_threshold[0.4]) == (0.75, 0.8125)
    row = found.frame.row(by_predicate=pl.col("config").str.ends_with("none=0.4,winner=0.25"), named=True)
    assert row["agreementRate"] == 65 / 67
    assert row["noneRecall_denominator"] == 48
