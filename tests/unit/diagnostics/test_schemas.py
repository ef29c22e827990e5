"""The contracts of cells and marginals: each rule finds what breaks it, and nothing else does."""

from __future__ import annotations

import polars as pl
import pytest

import skillshift as ss
from skillshift.diagnostics.schemas import CELLS_TABLE, MARGINALS_TABLE, undefined_for
from skillshift.frame.errors import ContractError
from skillshift.metrics import METRICS, REASONS

NULL = dict.fromkeys(METRICS.names)


@pytest.fixture
def cells(complete, frame, grid):
    return ss.cells(frame(complete(method="m")), grid=grid)


def codes(table, frame):
    """The codes of the rules that a frame breaks."""
    try:
        table.validate(frame.lazy())
    except ContractError as error:
        return set(error.counts)
    return set()


def changed(frame, changes):
    """The frame with some values of its first row replaced."""
    first = pl.int_range(pl.len()) == 0
    return frame.with_columns(
        pl.when(first).then(pl.lit(value, dtype=frame.schema[name])).otherwise(pl.col(name)).alias(name)
        for name, value in changes.items()
    )


def marginal(cells, metric, changes):
    return changed(ss.marginals(cells).filter(metric=metric, group="website"), changes)


# The first cell: 3 planned and scored tasks, 1 success, 9 steps, 6 calls, 3 failures.
OF_CELLS = [
    *(({name: -1}, f"{name}.negative") for name in ("planned", "attempted", "errored", "scored", "missing")),
    *(({name: -1}, f"{name}.negative") for name in ("successes", "steps", "skill_calls", "skill_failures")),
    *(({name: None}, f"{name}.missing") for name in ("website", "condition", "method", "steps", "complete")),
    ({"missing": 1}, "planned.sum"),
    ({"attempted": 2}, "attempted.sum"),
    ({"scored": 2}, "complete.scored"),
    ({"successes": 4}, "successes.above-scored"),
    ({"skill_failures": 7}, "skill_failures.above-calls"),
    ({"skill_failures": None}, "skill_calls.half"),
    ({"reason": "tired"}, "reason.unknown"),
    ({"reason": ""}, "reason.unknown"),
    ({"reason": "incomplete", **NULL}, "reason.incomplete"),
    ({"reason": "not-applicable", "ASC": None, "SFR": None}, "reason.not-applicable"),
    ({"reason": "nothing-scored", **NULL}, "reason.nothing-scored"),
    ({"reason": "no-skill-calls", "SFR": None}, "reason.no-skill-calls"),
    *(({name: None}, f"{name}.null") for name in METRICS.names),
    ({"reason": "incomplete", "complete": False}, "SR.null"),
    ({"reason": "no-skill-calls", "skill_calls": 0, "skill_failures": 0}, "SFR.null"),
    *(({name: -0.5}, f"{name}.range") for name in METRICS.names),
    *(({name: float("nan")}, f"{name}.range") for name in METRICS.names),
    ({"AS": float("inf")}, "AS.range"),
    ({"SR": 100.5}, "SR.range"),
    ({"SFR": 100.5}, "SFR.range"),
    *(({name: 1.25}, f"{name}.ratio") for name in METRICS.names),
]

# The first slot, of a website: 6 planned and scored tasks, 12 calls.
OF_MARGINALS = [
    *(("SR", {name: -1}, f"{name}.negative") for name in ("planned", "attempted", "errored", "scored")),
    *(("SR", {name: -1}, f"{name}.negative") for name in ("missing", "denominator", "skill_calls")),
    ("SR", {"min_cell_calls": -1}, "min_cell_calls.negative"),
    ("SR", {"low_count": None}, "low_count.missing"),
    ("SR", {"missing": 1}, "planned.sum"),
    ("SR", {"attempted": 2}, "attempted.sum"),
    ("SR", {"metric": "sr"}, "metric.unknown"),
    ("SR", {"group": "all"}, "group.unknown"),
    ("SR", {"reason": "tired"}, "reason.unknown"),
    ("SR", {"reason": ""}, "reason.unknown"),
    ("SR", {"reason": "incomplete", "incomplete": True}, "value.null"),
    ("SR", {"value": None}, "value.null"),
    ("SR", {"published": None}, "published.null"),
    ("SR", {"published": "33.3"}, "published.form"),
    ("SR", {"pooled": None}, "pooled.null"),
    ("SR", {"min_cell_calls": None}, "min_cell_calls.half"),
    ("SR", {"min_cell_calls": 13}, "min_cell_calls.above-calls"),
    ("SR", {"low_count": True}, "low_count.calls"),
    ("SFR", {"low_count": False}, "low_count.calls"),
    ("SFR", {"skill_calls": 30}, "low_count.calls"),
    ("SR", {"scored": 5, "attempted": 5, "missing": 1}, "incomplete.scored"),
    ("SR", {"reason": "incomplete", "value": None, "published": None}, "reason.incomplete"),
    ("SR", {"lower": None}, "lower.null"),
    ("AS", {"upper": 5.0}, "upper.null"),
    ("SR", {"lower": 50.0}, "lower.above-upper"),
    ("SR", {"lower": 50.0, "upper": 60.0}, "value.below-lower"),
    ("SR", {"lower": 10.0, "upper": 20.0}, "value.above-upper"),
    ("SR", {"reason": "not-applicable", "value": None, "published": None}, "reason.SR"),
    ("AS", {"reason": "no-skill-calls", "value": None, "published": None}, "reason.AS"),
    ("ASC", {"reason": "no-skill-calls", "value": None, "published": None}, "reason.ASC"),
    ("SFR", {"reason": "tired", "value": None, "published": None}, "reason.SFR"),
    *(
        (name, {column: -0.5}, f"{column}.range-{name}")
        for name in METRICS.names
        for column in ("value", "pooled", "lower", "upper")
    ),
    ("SR", {"upper": 100.5}, "upper.range-SR"),
    ("SFR", {"pooled": 100.5}, "pooled.range-SFR"),
    ("AS", {"value": float("nan")}, "value.range-AS"),
]


@pytest.mark.parametrize(("changes", "code"), OF_CELLS)
def test_each_rule_of_cells_finds_what_breaks_it(cells, changes, code):
    assert code in codes(CELLS_TABLE, changed(cells, changes))


@pytest.mark.parametrize(("metric", "changes", "code"), OF_MARGINALS)
def test_each_rule_of_marginals_finds_what_breaks_it(cells, metric, changes, code):
    assert code in codes(MARGINALS_TABLE, marginal(cells, metric, changes))


def test_no_rule_is_without_a_case():
    assert {rule.code for rule in CELLS_TABLE.rules} <= {code for *_, code in OF_CELLS}
    assert {rule.code for rule in MARGINALS_TABLE.rules} <= {code for *_, code in OF_MARGINALS}


@pytest.mark.parametrize("table", [CELLS_TABLE, MARGINALS_TABLE], ids=lambda table: table.name)
def test_a_reason_code_says_one_thing(table):
    found = [rule.code for rule in table.all_rules(table.names)]
    assert len(set(found)) == len(found)


def test_rounding_breaks_no_rule(cells):
    nearby = {"SR": 100 / 3 * (1 + 1e-12)}
    assert codes(CELLS_TABLE, changed(cells, nearby)) == set()
    assert codes(MARGINALS_TABLE, marginal(cells, "SR", {"lower": 100 / 3 * (1 + 1e-12)})) == set()


def test_the_tables_have_the_columns_of_the_outputs(complete, frame, grid):
    keys = {"method": "m", "model": "l", "run": "r", "trial": "1"}
    cells = ss.cells(frame(complete(**keys)), grid=grid)
    for table, made in ((CELLS_TABLE, cells), (MARGINALS_TABLE, ss.marginals(cells))):
        assert {f.name: f.kind.dtype for f in table.fields} == dict(made.schema)
        assert list(table.names) == made.columns


def test_every_reason_is_one_of_some_metric():
    assert {reason for metric in METRICS for reason in undefined_for(metric)} == set(REASONS)


@pytest.mark.parametrize("incomplete", ["undefined", "scored"])
def test_the_demonstration_keeps_the_contracts(incomplete):
    logs = ss.scan_per_task(ss.datasets.path("demo") / "runs")
    part = logs.filter(pl.col("uid").hash(1) % 3 > 0)
    for some in (logs, part, part.filter(condition="src", site="gitlab")):
        cells = ss.cells(some, incomplete=incomplete)
        assert codes(CELLS_TABLE, cells) == codes(MARGINALS_TABLE, ss.marginals(cells)) == set()


def test_the_models_are_pandera_s_own(cells):
    import pandera.errors

    assert (ss.Cells, ss.Marginals) == (CELLS_TABLE.model(), MARGINALS_TABLE.model())
    assert ss.Cells.validate(cells, lazy=True).equals(cells)
    with pytest.raises(pandera.errors.SchemaErrors, match=r"planned\.sum"):
        ss.Cells.validate(changed(cells, {"missing": 1}).lazy(), lazy=True)
    with pytest.raises(pandera.errors.SchemaErrors, match=r"value\.null"):
        ss.Marginals.validate(marginal(cells, "SR", {"value": None}), lazy=True)


def test_an_unknown_name_is_an_attribute_error():
    from skillshift.diagnostics import schemas

    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        schemas.Nothing  # noqa: B018
