from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.names import capability, nearest


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ops:undo", "ops-undo", True),
        ("Explore", "explore", True),
        ("ÄRGER", "ärger", True),
        ("a:b:c", "A-b-C", True),
        ("ops_undo", "ops-undo", False),
        ("ops undo", "ops-undo", False),
        ("undo", "undo ", False),
    ],
)
def test_which_spellings_are_one_name(one, other, same):
    values = pl.select(capability(pl.Series([one, other]))).to_series()
    assert (values[0] == values[1]) is same


def test_the_nearest_of_many_is_the_nearest_of_all():
    known = [f"tool-{i:05d}" for i in range(5_000)] + ["ops-rollback", "ops-roll-forward"]
    assert nearest("ops-rolback", known, count=1) == ["ops-rollback"]
    assert nearest("qqqq", known) == []
    assert nearest("", known) == []
    assert nearest("a", ["a", "b"], count=1) == ["a"]
