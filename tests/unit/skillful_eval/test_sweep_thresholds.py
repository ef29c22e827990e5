import polars as pl
import pytest

from skillful_eval.router.answers import ANSWERS
from skillful_eval.scopes import scopes_of
from skillful_eval.sweep_thresholds import Grid, ThresholdSums

GRID = Grid((0.2, 0.4, 0.6), (0.0, 0.3, 0.5))
SCHEMA = {
    "fixture_id": pl.String,
    "repeat": pl.Int64,
    "shortlist": pl.List(pl.String),
    "config": pl.String,
    "skip": pl.String,
    "response_index": pl.Int64,
    **ANSWERS,
}


@pytest.fixture
def values(fixtures_of, corpus):
    """What a metric is at every pair, from answers of one fixture: (choice, none_p, winner_p, index)."""

    def found(metric, *answers, skip=None, what="value"):
        fixtures = fixtures_of([("undo", "coding", ["ops:undo"])])
        rows = [
            {
                "fixture_id": "undo",
                "repeat": repeat,
                "shortlist": ["a:undo", "a:plan"],
                "config": "only",
                "skip": skip if repeat == 0 else None,
                "choice": choice,
                "none_p": none,
                "winner_p": winner,
                "response_index": index,
            }
            for repeat, (choice, none, winner, index) in enumerate(answers)
        ]
        scopes = scopes_of(fixtures.frame, groups=False, kinds=False)
        sums = ThresholdSums.of(pl.DataFrame(rows, schema=SCHEMA), GRID, scopes, fixtures, corpus)
        assert sums.blocks(6) == [range(2), range(2, 3)]
        flat = [one for block in sums.blocks(6) for one in sums.rows(metric, "all", range(1), block)[what]]
        return [flat[start : start + 3] for start in range(0, 9, 3)]

    return found


def test_a_run_is_injected_below_the_none_threshold_and_from_the_floor_on(values):
    """The probabilities are thresholds themselves: 0.4 reaches 0.4, and 0.3 reaches the floor 0.3."""
    assert values("answerableInjected", ("a:undo", 0.4, 0.3, 0)) == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert values("answerableInjected", ("a:undo", 0.39, 0.29, 0)) == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]


def test_what_is_not_offered_degrades_everywhere(values):
    assert values("degradedRate", ("a:db", 0.1, 0.9, 0)) == [[1] * 3] * 3


def test_repeats_agree_on_an_id_an_abstention_and_a_floor(values):
    """Two picks of one id: both none, then one of them, then both picked until the floor parts them."""
    found = values("agreementRate", ("a:undo", 0.2, 0.3, 0), ("a:undo", 0.4, 0.5, 1))
    # At 0.2 both abstain for none; at 0.4 one picks or is below the floor; at 0.6 both pick up to 0.3; at
    # 0.5 one is below the floor.
    assert found == [[1, 1, 1], [0, 0, 0], [1, 1, 0]]


def test_different_picks_agree_only_in_abstaining(values):
    found = values("agreementRate", ("a:undo", 0.2, 0.1, 0), ("a:plan", 0.2, 0.1, 1))
    assert found == [[1, 1, 1], [0, 1, 1], [0, 1, 1]]


def test_a_choice_of_none_agrees_with_a_high_probability_of_none(values):
    found = values("agreementRate", ("none", 0.9, 0.9, 0), ("a:undo", 0.4, 0.9, 1))
    assert found == [[1] * 3, [1] * 3, [0] * 3]


def test_a_run_that_was_skipped_before_asking_agrees_with_no_answer(values):
    found = values("agreementRate", (None, None, None, None), ("a:undo", 0.4, 0.9, 1), skip="slash-command")
    assert found == [[0] * 3] * 3


def test_a_silent_pick_makes_agreement_unknown_where_it_is_injected(values):
    """Of two silent picks, at least one is injected in the union of their quarters."""
    answers = (("a:undo", 0.1, 0.9, 0), ("a:undo", 0.2, 0.3, None), ("a:undo", 0.4, 0.5, None))
    found = values("agreementRate", *answers, what="reason")
    assert found == [[None] * 3, ["unrecorded-responses"] * 2 + [None], ["unrecorded-responses"] * 3]


def test_pairs_are_counted_in_their_order():
    assert GRID.pairs[:4] == [(0.2, 0.0), (0.2, 0.3), (0.2, 0.5), (0.4, 0.0)]
