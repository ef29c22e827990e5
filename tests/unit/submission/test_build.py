from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

import skillshift as ss
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.exact import half_up
from skillshift.submission.build import aggregate, build, reasons
from skillshift.submission.document import read_results

ABOUT = {"name": "Mine", "model": "gpt-5-mini", "date": "2026-09-01"}


def test_a_complete_run_gives_a_document_that_reads_back(made):
    raw = made.results.to_bytes()
    assert read_results(raw).to_bytes() == raw
    assert made.results.schema_version == "1.1"
    assert made.results.submission.provenance.label == "self-reported"


def test_numbers_have_two_decimals_from_the_exact_sums(made):
    def mean_of(rows):
        ratios = [Fraction(100 * row["successes"], row["scored"]) for row in rows]
        return half_up(sum(ratios) / len(ratios))

    rows = made.cells.to_dicts()
    rates = made.results.metrics.SR
    for site in ("gitlab", "magento", "wordpress"):
        assert rates.websites[site].literal == mean_of([row for row in rows if row["website"] == site])
    assert rates.conditions["tgt-exec"].literal == mean_of([r for r in rows if r["condition"] == "tgt-exec"])
    assert rates.overall.literal == mean_of(rows)
    assert all(len(value.literal.split(".")[1]) == 2 for value in made.results.metrics.AS.websites.values())


def test_calls_are_counted_by_website_condition_and_overall(made):
    calls = made.results.n.skill_calls
    of = made.log.group_by("site").agg(pl.col("skill_calls").sum())
    assert calls.websites == dict(of.rows())
    assert calls.overall == made.log["skill_calls"].sum() == sum(calls.conditions.values())


def test_every_null_has_its_reason_at_its_slot(made):
    assert list(made.results.reasons) == ["SFR.websites.wordpress", "SFR.conditions.tgt-exec", "SFR.overall"]
    assert made.results.metrics.SFR.websites["wordpress"] is None
    assert made.results.metrics.ASC.websites["wordpress"] is not None


def test_a_reason_that_all_ten_share_stands_under_the_metric(without_skills, remake, made):
    assert list(without_skills.results.reasons) == ["ASC", "SFR"]
    assert without_skills.results.n.skill_calls is None
    quiet = made.log.with_columns(skill_calls=pl.lit(0, pl.Int64), skill_failures=pl.lit(0, pl.Int64))
    results = remake(quiet).results
    assert list(results.reasons) == ["SFR"]
    assert results.n.skill_calls.overall == 0
    assert results.metrics.ASC.overall == 0


def unfinished(log, kind):
    first = pl.int_range(pl.len()) == 0
    if kind == "missing":
        return log.filter(~first)
    return log.with_columns(
        pl.when(first).then(pl.lit("crashed")).otherwise(pl.col("error")).alias("error"),
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "161 of 162 tasks scored, 0 errored, 1 missing"),
        ("errored", "161 of 162 tasks scored, 1 errored, 0 missing"),
    ],
)
@pytest.mark.parametrize("incomplete", ["undefined", "scored"])
def test_an_incomplete_run_is_refused_with_its_cells(made, kind, message, incomplete):
    cells = ss.cells(unfinished(made.log, kind).lazy(), incomplete=incomplete)
    with pytest.raises(InputError, match="the run is incomplete: 1 of 18 cells") as error:
        build(ss.marginals(cells), cells, **ABOUT)
    assert f"gitlab / src: {message}" in str(error.value)


def test_several_runs_are_refused(made):
    two = pl.concat([made.log, made.log.with_columns(method=pl.lit("other"))])
    cells = ss.cells(two.lazy())
    with pytest.raises(
        InputError, match=r"found 2 runs by method, model \(mine / gpt-5-mini; other / gpt-5-mini\)"
    ):
        build(ss.marginals(cells), cells, **ABOUT)


def test_another_grid_is_refused():
    grid = ss.Grid("small", {"gitlab": 2}, ["src"])
    log = ss.simulate(grid, rates=ss.Rates.flat(grid, SR=50, AS=5, ASC=1, SFR=10), seed=1, method="m")
    cells = ss.cells(log.lazy(), grid=grid)
    with pytest.raises(InputError, match="not those of the skillshift grid"):
        build(ss.marginals(cells), cells, **ABOUT)


def test_marginals_of_another_run_are_refused(made):
    other = ss.marginals(ss.cells(made.log.with_columns(method=pl.lit("other")).lazy()))
    with pytest.raises(UsageError, match="not those of the cells"):
        build(other, made.cells, **ABOUT)
    with pytest.raises(UsageError, match="not those of the cells"):
        build(made.numbers.filter(pl.col("metric") != "SR"), made.cells, **ABOUT)


@pytest.mark.parametrize(
    "about",
    [
        {"name": "../mine"},
        {"date": "today"},
        {"model": ""},
        {"code_url": "javascript:x"},
        {"temperature": "hot"},
    ],
)
def test_a_field_that_does_not_fit_is_refused_by_name(made, about):
    with pytest.raises(InputError, match="the submission: 1 problem"):
        build(made.numbers, made.cells, **(ABOUT | about))


def test_what_is_said_of_the_entry_stands_in_it(made):
    about = {
        "method": "My method", "description": "It tries.", "paper_url": "https://a.org/p", "code_url": "http://b.org",
        "contact": "me@a.org", "temperature": 0.7, "vision": True, "repro_command": "make", "notes": "None.",
    }  # fmt: skip
    results = build(made.numbers, made.cells, **ABOUT, **about)
    told = results.submission
    assert (told.method.name, told.method.description, told.method.paper_url) == (
        "My method",
        "It tries.",
        "https://a.org/p",
    )
    assert (told.contact, told.repro_command, results.notes) == ("me@a.org", "make", "None.")
    assert (told.model.temperature.literal, told.model.vision) == ("0.7", True)
    assert told.provenance.code_released
    assert not made.results.submission.provenance.code_released


def test_the_order_of_the_records_and_cells_changes_nothing(made, remake):
    again = remake(made.log.sample(fraction=1, shuffle=True, seed=5))
    assert again.results.to_bytes() == made.results.to_bytes()
    assert again.receipt.to_bytes() == made.receipt.to_bytes()


def test_aggregate_and_reasons_need_no_document(made):
    assert aggregate(made.numbers)["n"]["websites"] == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert reasons(made.numbers.filter(pl.col("reason").is_null())) == {}
