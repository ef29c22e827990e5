from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval.retrieval import LONGEST, MOST_SLOTS, exploded, retrieved, targets, unrolled

IDS = pl.Series("id", [f"i{number}" for number in range(8)])


def golds_frame(rows):
    schema = {"fixture": pl.UInt32, "answer": pl.UInt32, "id": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def runs_frame(rows):
    return pl.DataFrame(rows, schema={"fixture": pl.UInt32, "shortlist": pl.List(pl.UInt8)}, orient="row")


def one(golds, shortlist):
    """(length, rank, found) of one run, alike in both forms."""
    to = targets(golds_frame([(0, answer, f"i{code}") for answer, code in golds]), IDS, 1)
    runs = runs_frame([(0, shortlist)])
    fast = unrolled(runs, to, len(shortlist))
    assert fast.equals(exploded(runs, to))
    assert fast.equals(retrieved(runs, to))
    return fast.row(0)


@pytest.mark.parametrize(
    ("golds", "shortlist", "expected"),
    [
        ([(0, 1)], [], (0, None, 0)),
        ([], [1, 2], (2, None, 0)),
        ([(0, 1)], [2, 3], (2, None, 0)),
        ([(0, 1)], [1], (1, 1, 1)),
        ([(0, 1)], [2, 3, 1], (3, 3, 1)),
        ([(0, 1)], [2, 2, 1], (2, 2, 1)),
        ([(0, 1)], [2, 2, 1, 1, 3, 2], (3, 2, 1)),
        ([(0, 1), (1, 2)], [3, 2, 1], (3, 2, 2)),
        ([(0, 1), (0, 2)], [3, 2, 1], (3, 2, 1)),
        ([(0, 1), (0, 2), (1, 3)], [2, 1], (2, 1, 1)),
        ([(0, 1), (1, 1)], [1], (1, 1, 2)),
    ],
    ids=[
        "empty shortlist",
        "nothing expected",
        "not there",
        "first",
        "third",
        "a duplicate before it counts once",
        "duplicates count once",
        "two answers",
        "copies are one answer",
        "one of two answers",
        "one id for two answers",
    ],
)
def test_by_hand(golds, shortlist, expected):
    assert one(golds, shortlist) == expected


def test_ids_of_one_class_are_right_in_the_same_answers():
    to = targets(golds_frame([(0, 0, "i1"), (0, 0, "i2"), (1, 0, "i2"), (1, 0, "i3")]), IDS, 2)
    classes = to.class_of.to_list()
    assert classes[0] == 0
    assert len({classes[1], classes[2], classes[3]}) == 3
    same = targets(golds_frame([(0, 0, "i1"), (0, 0, "i2"), (1, 0, "i1"), (1, 0, "i2")]), IDS, 2)
    assert same.class_of[1] == same.class_of[2] != 0
    assert same.width == 1


codes = st.integers(0, 7)
answers = st.lists(st.sets(codes, min_size=1, max_size=3), max_size=3)


@given(
    fixtures=st.lists(answers, min_size=1, max_size=4),
    shortlists=st.lists(st.tuples(st.integers(0, 3), st.lists(codes, max_size=7)), max_size=6),
)
def test_both_forms_are_the_plain_definition(fixtures, shortlists):
    rows = [
        (fixture, answer, f"i{code}")
        for fixture, expected in enumerate(fixtures)
        for answer, some in enumerate(expected)
        for code in sorted(some)
    ]
    to = targets(golds_frame(rows), IDS, len(fixtures))
    runs = [(number % len(fixtures), shortlist) for number, shortlist in shortlists]
    frame = runs_frame(runs)
    fast = unrolled(frame, to, max((len(shortlist) for _, shortlist in runs), default=0))
    assert fast.equals(exploded(frame, to))
    assert fast.schema == exploded(frame, to).schema
    for (fixture, shortlist), found in zip(runs, fast.rows(), strict=True):
        distinct = list(dict.fromkeys(shortlist))
        expected = fixtures[fixture]
        places = [place for place, code in enumerate(distinct, 1) if any(code in some for some in expected)]
        reached = sum(bool(some & set(distinct)) for some in expected)
        assert found == (len(distinct), min(places, default=None), reached)


def test_long_shortlists_and_many_golds_take_the_general_form(monkeypatch):
    monkeypatch.setattr("skillful_eval.retrieval.unrolled", None)
    to = targets(golds_frame([(0, 0, "i1")]), IDS, 1)
    assert retrieved(runs_frame([(0, [0] * LONGEST + [1])]), to).row(0) == (2, 2, 1)
    ids = pl.Series("id", [f"i{number}" for number in range(20)])
    many = targets(golds_frame([(0, answer, f"i{answer}") for answer in range(MOST_SLOTS + 1)]), ids, 1)
    assert many.width == MOST_SLOTS + 1
    assert retrieved(runs_frame([(0, [19, 8, 7])]), many).row(0) == (3, 2, 2)


def test_the_general_form_is_the_same_in_parts(monkeypatch):
    to = targets(golds_frame([(0, 0, "i1"), (1, 0, "i2")]), IDS, 2)
    runs = runs_frame([(number % 2, [3, number % 8, 2]) for number in range(50)])
    whole = exploded(runs, to)
    monkeypatch.setattr("skillful_eval.retrieval._ELEMENTS", 7)
    assert exploded(runs, to).equals(whole)
