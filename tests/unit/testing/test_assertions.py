import polars as pl
import pytest

from skillshift.grid import Grid
from skillshift.testing import (
    assert_cells_equal,
    assert_marginal_identity,
    assert_marginals_equal,
    assert_null_semantics,
    oracle_cells,
    oracle_marginals,
)

GRID = Grid("two", {"shop": 3, "wiki": 1}, ("src", "tgt"))


def run(**other):
    return [
        {
            "uid": f"skillshift.{site}.v1.{i}",
            "site": site,
            "condition": condition,
            "success": i != 1,
            "steps": 4 + i,
            "skill_calls": 3,
            "skill_failures": i,
            **other,
        }
        for site, condition, planned in GRID.cells()
        for i in range(planned)
    ]


CELLS = oracle_cells([*run(method="m"), *run(method="n")[:-1]], grid=GRID)
NUMBERS = oracle_marginals(CELLS)


def as_frame(rows):
    kinds = {
        "website": pl.String,
        **dict.fromkeys(("SR", "AS", "ASC", "SFR", "value", "pooled", "lower", "upper"), pl.Float64),
    }
    return pl.DataFrame(
        {
            name: pl.Series(
                [
                    float(r[name]) if kinds.get(name) == pl.Float64 and r[name] is not None else r[name]
                    for r in rows
                ],
                dtype=kinds.get(name),
            )
            for name in rows[0]
        }
    )


def changed(rows, at, **change):
    return [{**row, **change} if n == at else row for n, row in enumerate(rows)]


def fails(function, *arguments, **options):
    with pytest.raises(AssertionError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def test_equal_rows_pass_in_any_order_as_frames_or_rows():
    assert_cells_equal(as_frame(CELLS).reverse(), CELLS)
    assert_cells_equal(as_frame(CELLS), as_frame(CELLS))
    assert_marginals_equal(as_frame(NUMBERS).reverse(), NUMBERS)


def test_a_float_may_be_off_by_a_few_ulps_and_no_more():
    frame = as_frame(CELLS)
    off = 1 + 3 * 2.0**-52
    assert_cells_equal(frame.with_columns(pl.col("AS") * off), CELLS)
    message = fails(assert_cells_equal, frame.with_columns(pl.col("AS") * off), CELLS, ulps=1)
    assert message.startswith("cells differ: 7 wrong")
    assert "method m, website shop, condition src: AS: found" in message
    assert "... and 2 more" in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scored": 2}, "scored: found 2, expected 3"),
        ({"skill_calls": None}, "skill_calls: found null, expected 9"),
        ({"SR": float("nan")}, "SR: found nan, expected 66.66666666666667 (200/3)"),
        ({"reason": "incomplete"}, "reason: found 'incomplete', expected null"),
        ({"complete": 1}, "complete: found 1, expected True"),
        ({"steps": 15.0}, "steps: found 15.0, expected 15"),
        ({"website": "shop "}, "website shop , condition src: only left"),
    ],
)
def test_other_differences_are_named(change, said):
    assert said in fails(assert_cells_equal, changed(CELLS, 0, **change), CELLS)


def test_missing_rows_types_columns_and_repeats_are_named():
    frame = as_frame(CELLS)
    assert "condition tgt: only right" in fails(assert_cells_equal, CELLS[:-1], CELLS)
    assert "only right" in fails(assert_cells_equal, frame.head(0), frame)
    assert "only left" in fails(assert_cells_equal, CELLS, [])
    assert "scored: found type Int32, expected Int64" in fails(
        assert_cells_equal, frame.with_columns(pl.col("scored").cast(pl.Int32)), frame
    )
    assert "only left ['extra'], only right ['SR']" in fails(
        assert_cells_equal, frame.rename({"SR": "extra"}), frame
    )
    assert "found 2 rows" in fails(assert_cells_equal, [*CELLS, CELLS[0]], CELLS)
    assert "expected 'website' among them" in fails(assert_cells_equal, NUMBERS, NUMBERS)


def test_the_identity_holds_and_breaks():
    assert_marginal_identity(as_frame(NUMBERS))
    assert_marginal_identity(NUMBERS)
    at = next(n for n, r in enumerate(NUMBERS) if (r["metric"], r["slot"]) == ("AS", "tgt"))
    value = float(NUMBERS[at]["value"])
    assert_marginal_identity(changed(NUMBERS, at, value=value * (1 + 2.0**-51)))
    message = fails(assert_marginal_identity, changed(NUMBERS, at, value=value * (1 + 2.0**-40)))
    assert "method m, metric AS: found means website 4.5" in message
    assert "null" in fails(assert_marginal_identity, changed(NUMBERS, at, value=None))
    assert "found nan, expected numbers" in fails(
        assert_marginal_identity, changed(NUMBERS, at, value=float("nan"))
    )


def test_an_identity_needs_its_three_means():
    lone = [row for row in NUMBERS if row["group"] != "overall"]
    assert "'overall': 0" in fails(assert_marginal_identity, lone)


def test_null_semantics_hold():
    assert_null_semantics(as_frame(CELLS), as_frame(NUMBERS))
    for incomplete in ("undefined", "scored"):
        for other in (
            {},
            {"skill_calls": 0, "skill_failures": 0},
            {"skill_calls": None, "skill_failures": None},
        ):
            cells = oracle_cells(run(**other)[1:-1], grid=GRID, incomplete=incomplete)
            assert_null_semantics(cells, oracle_marginals(cells))


INCOMPLETE = next(n for n, row in enumerate(CELLS) if not row["complete"])


@pytest.mark.parametrize(
    ("at", "change", "said"),
    [
        (0, {"planned": 4}, "planned 4, expected scored + errored + missing = 3"),
        (0, {"attempted": 2}, "attempted 2, expected scored + errored = 3"),
        (0, {"complete": False}, "complete False, expected True (3 of 3 scored)"),
        (0, {"successes": 4}, "successes 4, expected 0 to 3"),
        (0, {"skill_failures": 10}, "skill_failures 10, expected 0 to 9"),
        (0, {"skill_failures": None}, "expected both null or both counts"),
        (0, {"skill_calls": None, "skill_failures": None}, "skill_calls null in some cells"),
        (0, {"steps": -1}, "found a negative count"),
        (0, {"SR": None}, "method m, website shop, condition src: SR: found null, expected 66.6"),
        (0, {"reason": "no-skill-calls"}, "reason: found 'no-skill-calls', expected null"),
        (INCOMPLETE, {"SR": 0.0}, "SR: found 0.0, expected null (incomplete)"),
        (INCOMPLETE, {"reason": None}, "reason: found null, expected 'nothing-scored'"),
    ],
)
def test_cells_that_break_the_semantics_are_named(at, change, said):
    assert said in fails(assert_null_semantics, changed(CELLS, at, **change), NUMBERS)


def slot(method, metric, name):
    return next(
        n for n, r in enumerate(NUMBERS) if (r["method"], r["metric"], r["slot"]) == (method, metric, name)
    )


@pytest.mark.parametrize(
    ("at", "change", "said"),
    [
        (
            slot("m", "SR", "shop"),
            {"value": None},
            "method m, metric SR, group website, slot shop: value: found null",
        ),
        (slot("n", "SR", "tgt"), {"value": 3.0}, "value: found 3.0, expected null (incomplete)"),
        (slot("n", "SR", "src"), {"value": None, "reason": "incomplete"}, "value: found null, expected 83.3"),
        (slot("n", "SFR", "overall"), {"reason": "no-skill-calls"}, "expected 'incomplete'"),
        (slot("n", "SFR", "overall"), {"pooled": 1.0}, "pooled: found 1.0, expected null"),
        (slot("m", "SFR", "overall"), {"low_count": False}, "low_count: found False, expected True"),
        (slot("n", "SR", "tgt"), {"incomplete": False}, "incomplete: found False, expected True"),
        (slot("m", "AS", "tgt"), {"lower": 1.0}, "lower: found 1.0, expected null"),
        (slot("m", "AS", "tgt"), {"published": None}, "published: found null, expected '4."),
        (slot("m", "AS", "tgt"), {"scored": 3}, "scored: found 3, expected 4"),
        (slot("m", "AS", "tgt"), {"slot": "src-exec"}, "slot src-exec: found a slot of no cell"),
    ],
)
def test_marginals_that_break_the_semantics_are_named(at, change, said):
    assert said in fails(assert_null_semantics, CELLS, changed(NUMBERS, at, **change))


def test_a_lost_slot_is_named():
    assert "slot tgt: found no such slot" in fails(
        assert_null_semantics, CELLS, [row for row in NUMBERS if row["slot"] != "tgt"]
    )
