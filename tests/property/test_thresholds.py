"""The vectorised decisions against plain Python, for any answers and thresholds."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval.router.answers import ANSWERS
from skillful_eval.router.protocol import CAUSES
from skillful_eval.router.thresholds import Thresholds, judged, judged_by

IDS = ("a", "b", "c", "none-such")

# Few values, so that answers and thresholds often meet exactly.
probabilities = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.1 + 0.2, 0.4, 0.5, 1.0]) | st.floats(0, 1)
answers = st.fixed_dictionaries(
    {
        "cause": st.none() | st.sampled_from(CAUSES),
        "choice": st.sampled_from([*IDS, "none", ""]) | st.none(),
        "none_p": probabilities | st.none(),
        "winner_p": probabilities | st.none(),
        "shortlist": st.lists(st.sampled_from(IDS), unique=True),
    }
).map(lambda row: {**row, "detail": row["cause"] and "why"})
thresholds = st.builds(Thresholds, none=probabilities, winner=probabilities)


def plainly(row, limits):
    if row["cause"] is not None:
        return "degraded", None, row["cause"]
    if row["choice"] is None or (row["choice"] != "none" and row["choice"] not in row["shortlist"]):
        return "degraded", None, "malformed"
    if row["none_p"] is None or row["winner_p"] is None:
        return "degraded", None, "malformed"
    if row["choice"] == "none" or row["none_p"] >= limits.none:
        return "skipped", None, "none"
    if row["winner_p"] < limits.winner:
        return "skipped", None, "winner-floor"
    return "injected", row["choice"], None


@given(st.lists(st.tuples(answers, thresholds), min_size=1, max_size=20), st.booleans())
def test_decisions_are_those_of_plain_python(pairs, coded):
    ids = pl.Enum(IDS) if coded else pl.String
    schema = {**ANSWERS, "shortlist": pl.List(ids), "none": pl.Float64, "winner": pl.Float64}
    rows = [{**row, "none": limits.none, "winner": limits.winner} for row, limits in pairs]
    frame = pl.DataFrame(rows, schema=schema)
    together = frame.select(judged_by(pl.col("none"), pl.col("winner")))
    assert together.drop("detail").rows() == [plainly(*pair) for pair in pairs]
    alone = [frame[number].select(judged(limits)).row(0) for number, (_, limits) in enumerate(pairs)]
    assert together.rows() == alone
    degraded = together["decision"] == "degraded"
    assert (together["detail"].is_not_null() == degraded).all()
