"""Every row of a sweep is what the gate says of the runs that the judged rule gives at its thresholds."""

import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval import testing as sst
from skillful_eval.gating import FAILED, PASSED, gate
from skillful_eval.metrics import METRICS, PERCENTILES
from skillful_eval.router.answers import ANSWERS
from skillful_eval.router.thresholds import Thresholds
from skillful_eval.schema import CONFIG, NONE
from skillful_eval.scopes import scopes_of
from skillful_eval.sweep_rows import DENOMINATOR, column_of, judged_rows
from skillful_eval.sweep_thresholds import Grid, ThresholdSums, decided

# Probabilities that are thresholds as well, so that ties are met, and some between.
PROBABILITIES = st.sampled_from((0.0, 0.1, 0.25, 0.3, 0.4, 0.5, 1.0))
GRIDS = st.builds(
    Grid,
    *(st.sets(PROBABILITIES, min_size=1, max_size=4).map(lambda drawn: tuple(sorted(drawn))) for _ in "ab"),
)
SCHEMA = {
    "fixture_id": pl.String,
    "repeat": pl.Int64,
    "shortlist": pl.List(pl.String),
    "config": pl.String,
    "skip": pl.String,
    "response_index": pl.Int64,
    "tokens_in": pl.Int64,
    **ANSWERS,
}


@st.composite
def answered(draw, evaluation, ids, config, *, alike, whole):
    """Recorded answers of a configuration.

    ``alike`` makes repeats agree more often; ``whole`` leaves nothing out and no response unnamed.
    """
    rows = []
    # What a router would abstain from by itself is skipped in every repeat, or in one only.
    skips = st.sampled_from((None, None, None, None, "slash-command"))
    few = st.sampled_from(ids[:1] if alike else [*ids, NONE])
    causes = st.sampled_from((None,) * (20 if alike else 6) + ("timeout", "unrecorded"))
    indexed = "all" if whole else draw(st.sampled_from(("all", "some", "none")))
    repeats = draw(st.integers(2 if whole else 1, 3))
    counts = st.sampled_from((repeats, repeats, repeats, 0, 1)) if not whole else st.just(repeats)
    for fixture in evaluation.fixtures:
        for repeat in range(draw(counts)):
            listed = st.just(ids) if alike else st.lists(st.sampled_from(ids), max_size=4, unique=True)
            cause, skip = draw(causes), draw(skips)
            asked = cause is None and skip is None
            index = draw(st.sampled_from((None, repeat, 0))) if indexed == "some" else repeat
            rows.append(
                {
                    "fixture_id": fixture["id"],
                    "repeat": repeat,
                    "shortlist": draw(listed),
                    "config": config,
                    "skip": skip,
                    "cause": cause if skip is None else None,
                    "choice": draw(few) if asked else None,
                    "none_p": draw(PROBABILITIES) if asked else None,
                    "winner_p": draw(PROBABILITIES) if asked else None,
                    "response_index": None if indexed == "none" else index,
                    "tokens_in": draw(st.sampled_from((None, 1, 7))),
                }
            )
    return rows


@st.composite
def recorded(draw, *, whole=False):
    entries = draw(sst.corpora())
    evaluation = sst.Evaluation(entries, draw(sst.fixtures(entries)), [])
    ids = [entry["id"] for entry in entries]
    rows = []
    for config in "ba"[: draw(st.integers(1, 2))]:
        rows += draw(answered(evaluation, ids, config, alike=draw(st.booleans()), whole=whole))
    return evaluation, pl.DataFrame(rows, schema=SCHEMA)


def criteria_of(fixtures, maximum):
    scopes = scopes_of(fixtures.frame, groups=True, kinds=True).table["scope"].to_list()
    names = [*METRICS.names, *PERCENTILES, "recall@1", "recall@99"]
    limits = []
    for name in names:
        lower = name in PERCENTILES or (name in METRICS and METRICS[name].better == "lower")
        limits.append((name, {"maximum": maximum} if lower else {"minimum": 0.5}))
    return [
        se.Criterion(name, scope=scope, **limit) for name, limit in limits for scope in [*scopes, "kind:x"]
    ]


def blocks(row):
    where = "" if row["scope"] == "all" else f" in {row['scope']}"
    return f"{row['criterion']}{where}: {row['reason']}"


def check_rows(evaluation, frame, grid, criteria, places, *, groups):
    """Some rows of a sweep against the gate over runs judged one pair at a time."""
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    asked = criteria(fixtures)
    scopes = scopes_of(fixtures.frame, groups=groups, kinds=groups)
    sums = ThresholdSums.of(frame, grid, scopes, fixtures, corpus)
    configs = frame[CONFIG].unique(maintain_order=True).to_list()
    found = judged_rows(sums, asked, range(len(configs)), range(len(grid.none)))
    of_rows = [(config, *pair) for config in configs for pair in grid.pairs]
    assert found.height == len(of_rows)
    picked = sorted({place % len(of_rows) for place in places})
    judged = []
    for place in picked:
        config, none, winner = of_rows[place]
        own = frame.filter(pl.col(CONFIG) == config)
        judged.append(
            decided(own, Thresholds(none, winner)).with_columns(pl.lit(f"{place:04}").alias(CONFIG))
        )
    report = se.report(se.score(pl.concat(judged), fixtures, corpus), groups=groups, kinds=groups)
    verdicts = gate(report, asked)
    for place, own in zip(picked, verdicts.partition_by(CONFIG, maintain_order=True), strict=True):
        row = found.row(place, named=True)
        for one, verdict in zip(asked, own.to_dicts(), strict=True):
            assert row[column_of(one)] == verdict["value"], (one, of_rows[place])
            assert row[column_of(one) + DENOMINATOR] == verdict["denominator"], (one, of_rows[place])
        failed = own.filter(verdict=FAILED).to_dicts()
        assert row["blocked_by"] == [blocks(verdict) for verdict in failed]
        assert (row["criteria"], row["criteria_met"]) == (len(asked), len(asked) - len(failed))
        assert row["verdict"] == (FAILED if failed else PASSED)


PLACES = st.lists(st.integers(0, 999), min_size=3, max_size=6)


@given(recorded(), GRIDS, st.sampled_from((0, 0.5)), PLACES, st.randoms(use_true_random=False))
def test_each_row_is_the_gate_over_the_runs_that_the_rule_gives(drawn, grid, maximum, places, chance):
    evaluation, frame = drawn
    assume(frame.height)

    def criteria(fixtures):
        return chance.sample(criteria_of(fixtures, maximum), 12)

    check_rows(evaluation, frame, grid, criteria, places, groups=True)


@given(recorded(whole=True), GRIDS, PLACES)
@settings(max_examples=settings().max_examples * 2)
def test_agreement_is_that_of_the_runs_at_every_pair(drawn, grid, places):
    """Where nothing is missing or used again, so that agreement is measured."""
    names = ("agreementRate", "nonePrecision", "top1Accuracy", "offListRate")
    asked = [se.Criterion(name, **{"maximum" if name == "offListRate" else "minimum": 0.5}) for name in names]
    check_rows(*drawn, grid, lambda _: asked, places, groups=False)
