import polars as pl
import pytest

from skillful_eval.criteria import Criterion
from skillful_eval.sweep_rows import best_first, judged_rows

CRITERIA = [
    Criterion("recall@K", minimum=0.8),
    Criterion("degradedRate", maximum=0.1),
    Criterion("noneRecall", minimum=0.5, scope="group:coding"),
    Criterion("MRR", minimum=0),
]


class Told:
    """Sums that tell given values, one a configuration."""

    def __init__(self, **values):
        self.values = values

    def rows(self, metric, scope, *_):
        values = self.values.get(metric if scope == "all" else f"{metric}[{scope}]", [])
        frame = pl.DataFrame({"value": values}, schema={"value": pl.Float64}).with_row_index("_place")
        return frame.select(
            "_place",
            pl.lit(metric).alias("metric"),
            "value",
            pl.lit(1.0).alias("numerator"),
            pl.lit(4, dtype=pl.Int64).alias("denominator"),
            pl.lit(4, dtype=pl.Int64).alias("fixtures"),
            pl.when(pl.col("value").is_null()).then(pl.lit("nothing-counted")).alias("reason"),
            pl.lit(scope).alias("scope"),
        )


def judged(**values):
    return judged_rows(Told(**values), CRITERIA, range(1), range(1)).to_dicts()


def test_a_shortfall_is_the_part_by_which_limits_are_missed():
    (row,) = judged(
        **{"recall@K": [0.6], "degradedRate": [0.4], "noneRecall[group:coding]": [0.5], "MRR": [0]}
    )
    assert row["shortfall"] == pytest.approx(0.25 + 0.75)
    assert (row["criteria"], row["criteria_met"], row["verdict"]) == (4, 2, "failed")
    assert row["blocked_by"] == ["recall@K: below-minimum", "degradedRate: above-maximum"]
    assert (row["noneRecall[group:coding]"], row["noneRecall[group:coding]_denominator"]) == (0.5, 4)


def test_what_is_undefined_or_missing_is_as_bad_as_nothing():
    (row,) = judged(**{"recall@K": [0.9], "degradedRate": [None], "MRR": [0.1]})
    assert row["shortfall"] == 2
    assert row["blocked_by"] == [
        "degradedRate: nothing-counted",
        "noneRecall in group:coding: not-in-report",
    ]
    assert row["noneRecall[group:coding]_denominator"] is None


def test_what_is_met_has_no_shortfall_and_no_block():
    rows = judged(
        **{
            "recall@K": [0.8, 1],
            "degradedRate": [0.1, 0],
            "noneRecall[group:coding]": [0.5, 1],
            "MRR": [0, 0],
        }
    )
    assert [(row["verdict"], row["shortfall"], row["blocked_by"]) for row in rows] == [("passed", 0, [])] * 2


def test_the_best_come_first():
    columns = ("config", "verdict", "criteria_met", "shortfall", "shortlist")
    rows = [
        ("a", "passed", 2, 0.0, 9),
        ("c", "failed", 1, 0.1, 3),
        ("d", "failed", 1, 0.1, 3),
        ("b", "failed", 1, 0.1, 4),
        ("e", "failed", 1, 0.2, 1),
        ("f", "failed", 0, 0.05, 1),
    ]
    frame = pl.DataFrame(rows[::-1], schema=columns, orient="row")
    assert best_first(frame).rows() == rows
