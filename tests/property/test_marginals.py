"""Marginals are what the oracle says, hold the identity, and are null exactly where a cell is."""

import io
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillshift as ss
from skillshift.testing import (
    assert_marginal_identity,
    assert_marginals_equal,
    assert_null_semantics,
    grids,
    logs,
    oracle_cells,
    oracle_marginals,
    oracle_published,
    runs,
    to_frame,
)
from skillshift.testing.oracle import oracle_values

INCOMPLETE = st.sampled_from(("undefined", "scored"))
SLOT = ("metric", "group", "slot")


@st.composite
def grid_and_log(draw):
    grid = draw(grids())
    return grid, draw(logs(grid))


@st.composite
def counted_cells(draw):
    """Cells that nobody scored one by one: thousands of tasks, millions of steps."""
    grid = draw(grids())
    skills = draw(st.booleans())
    rows = []
    for website, condition, _ in grid.cells():
        planned = draw(st.integers(1, 10**6))
        scored = draw(st.sampled_from((planned, planned, planned, planned // 2)))
        calls = draw(st.integers(0, 10**7)) if skills else None
        counts = {
            "planned": planned,
            "attempted": scored,
            "errored": 0,
            "scored": scored,
            "missing": planned - scored,
            "complete": scored == planned,
            "successes": draw(st.integers(0, scored)),
            "steps": draw(st.integers(0, 10**9)),
            "skill_calls": calls,
            "skill_failures": None if calls is None else draw(st.integers(0, calls)),
        }
        rows.append({"website": website, "condition": condition, **counts, **oracle_values(counts)})
    return rows


def as_cells(rows):
    """The oracle's rows as a cells frame."""
    types = {
        **dict.fromkeys(("run", "website", "condition", "reason"), pl.String),
        **dict.fromkeys(("SR", "AS", "ASC", "SFR"), pl.Float64),
        "complete": pl.Boolean,
    }
    return pl.DataFrame(
        [
            pl.Series(
                name,
                [float(row[name]) if isinstance(row[name], Fraction) else row[name] for row in rows],
                dtype=types.get(name, pl.Int64),
            )
            for name in rows[0]
        ]
    )


def as_bytes(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


# -- equality with the oracle ----------------------------------------------------------------------------


@given(grid_and_log(), INCOMPLETE)
def test_marginals_are_the_oracles(pair, incomplete):
    grid, log = pair
    found = ss.marginals(ss.cells(to_frame(log), grid=grid, incomplete=incomplete))
    assert_marginals_equal(found, oracle_marginals(oracle_cells(log, grid=grid, incomplete=incomplete)))


@given(counted_cells())
def test_marginals_of_large_counts_are_the_oracles(rows):
    assert_marginals_equal(ss.marginals(as_cells(rows)), oracle_marginals(rows))


@given(grid_and_log())
def test_slots_stand_in_the_order_of_runs_metrics_and_grid(pair):
    grid, log = pair
    expected = oracle_marginals(oracle_cells(log, grid=grid))
    names = list(expected[0])[: list(expected[0]).index("value")]
    found = ss.marginals(ss.cells(to_frame(log), grid=grid)).select(names).rows()
    assert found == [tuple(row[name] for name in names) for row in expected]


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_published_values_are_half_up_from_the_exact_sums(off):
    # A run each: every half of a hundredth up to 20 steps, and its neighbours a hundred-millionth away.
    scored = 200 * 10**6
    rows = []
    for n in range(2_000):
        counts = {
            "planned": scored,
            "attempted": scored,
            "errored": 0,
            "scored": scored,
            "missing": 0,
            "complete": True,
            "successes": scored,
            "steps": (2 * n + 1) * 10**6 + off,
            "skill_calls": None,
            "skill_failures": None,
        }
        place = {"run": f"{n:04}", "website": "shop", "condition": "src"}
        rows.append({**place, **counts, **oracle_values(counts)})
    published = ss.marginals(as_cells(rows)).filter(metric="AS", slot="overall")["published"]
    assert published.to_list() == [oracle_published(row["AS"]) for row in rows]


# -- identity and nulls ----------------------------------------------------------------------------------


@given(grid_and_log(), INCOMPLETE)
def test_the_identity_holds_on_computed_values(pair, incomplete):
    grid, log = pair
    numbers = ss.marginals(ss.cells(to_frame(log), grid=grid, incomplete=incomplete))
    assert_marginal_identity(numbers)
    assert set(ss.identity(numbers)["verdict"]) <= {"holds", "undefined"}


@given(grid_and_log(), INCOMPLETE)
def test_every_null_is_where_it_must_be_and_has_its_reason(pair, incomplete):
    grid, log = pair
    cells = ss.cells(to_frame(log), grid=grid, incomplete=incomplete)
    assert_null_semantics(cells, ss.marginals(cells))


@given(st.data())
def test_a_task_not_scored_nulls_exactly_its_website_its_condition_and_the_overall_value(data):
    grid = data.draw(grids())
    run = data.draw(runs(grid, complete=True, errors=False, quiet_cells=False, skills=True))
    # Each record calls a skill, so that with all of them every value is defined.
    run = [{**record, "skill_calls": record["skill_calls"] + 1} for record in run]
    lost = data.draw(st.sampled_from(run))
    rest = [record for record in run if record is not lost] or [{**lost, "error": "crash"}]
    numbers = ss.marginals(ss.cells(to_frame(rest), grid=grid))
    assert ss.marginals(ss.cells(to_frame(run), grid=grid))["value"].null_count() == 0
    null = numbers.filter(pl.col("value").is_null())
    assert set(null.select("group", "slot").rows()) == {
        ("website", lost["site"]),
        ("condition", lost["condition"]),
        ("overall", "overall"),
    }
    assert null.height == 3 * 4
    assert set(null["reason"]) == {"incomplete"}


@given(st.data())
def test_a_cell_without_calls_nulls_its_failure_rates_and_nothing_else(data):
    grid = data.draw(grids())
    run = data.draw(runs(grid, complete=True, errors=False, quiet_cells=False, skills=True))
    website, condition, _ = data.draw(st.sampled_from(list(grid.cells())))
    run = [
        {**record, "skill_calls": 0, "skill_failures": 0}
        if (record["site"], record["condition"]) == (website, condition)
        else {**record, "skill_calls": record["skill_calls"] + 1}
        for record in run
    ]
    numbers = ss.marginals(ss.cells(to_frame(run), grid=grid))
    null = numbers.filter(pl.col("value").is_null())
    assert sorted(null.select(SLOT).rows()) == sorted(
        [("SFR", "website", website), ("SFR", "condition", condition), ("SFR", "overall", "overall")]
    )
    assert set(null["reason"]) == {"no-skill-calls"}
    # Pooled, the slot has calls as soon as another of its cells has.
    others = {
        (group, slot): any(
            cell[:2] != (website, condition) for cell in grid.cells() if slot in (*cell, "overall")
        )
        for _, group, slot in null.select(SLOT).rows()
    }
    pooled = {(row["group"], row["slot"]): row["pooled"] for row in null.to_dicts()}
    assert {place: value is not None for place, value in pooled.items()} == others


@given(st.data(), INCOMPLETE)
def test_a_method_without_skills_has_no_skill_metrics_and_the_others_are_the_same(data, incomplete):
    grid = data.draw(grids())
    run = data.draw(runs(grid, skills=True))
    without = [{**record, "skill_calls": None, "skill_failures": None} for record in run]
    numbers, bare = (
        ss.marginals(ss.cells(to_frame(log), grid=grid, incomplete=incomplete)) for log in (run, without)
    )
    others = pl.col("metric").is_in(["SR", "AS"])
    kept = pl.exclude("skill_calls", "min_cell_calls")
    assert bare.filter(others).select(kept).equals(numbers.filter(others).select(kept))
    skills = bare.filter(~others)
    if any("error" not in record for record in run):
        assert set(skills["reason"]) == {"not-applicable"}
        assert skills["skill_calls"].null_count() == skills.height
        assert not skills["low_count"].any()
    assert skills["value"].null_count() == skills["pooled"].null_count() == skills.height


@given(st.data())
def test_bounds_hold_whatever_the_missing_tasks_turn_out_to_be(data):
    grid = data.draw(grids())
    whole = data.draw(runs(grid, complete=True, errors=False))
    kept = data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
    part = [record for record, keep in zip(whole, kept, strict=True) if keep] or whole[:1]
    found, final = (
        ss.marginals(ss.cells(to_frame(log), grid=grid)).filter(metric="SR") for log in (part, whole)
    )
    assert (found["lower"] <= final["value"] + 1e-9).all()
    assert (final["value"] <= found["upper"] + 1e-9).all()
    assert final["lower"].equals(final["value"].rename("lower"))
    assert final["upper"].equals(final["value"].rename("upper"))


# -- invariance ------------------------------------------------------------------------------------------


@given(grid_and_log(), st.data())
def test_order_and_chunks_change_no_byte(pair, data):
    grid, log = pair
    frame = to_frame(log)
    order = data.draw(st.permutations(range(frame.height)))
    cut = data.draw(st.integers(0, frame.height))
    other = frame[list(order)]
    chunked = pl.concat([other.head(cut), other.tail(frame.height - cut)], rechunk=False)
    found = as_bytes(ss.marginals(ss.cells(frame, grid=grid)))
    assert as_bytes(ss.marginals(ss.cells(chunked, grid=grid))) == found


@given(grid_and_log())
def test_cells_read_back_have_the_same_marginals(pair):
    grid, log = pair
    cells = ss.cells(to_frame(log), grid=grid)
    again = pl.read_parquet(io.BytesIO(as_bytes(cells)))
    assert as_bytes(ss.marginals(again)) == as_bytes(ss.marginals(cells))


def alone(cells, keys):
    """Each run's marginals, from its own cells and from the marginals of all runs."""
    together = ss.marginals(cells)
    for run in cells.partition_by(keys, maintain_order=True):
        own = together.join(run.select(keys).unique(), on=keys, how="semi", maintain_order="left")
        yield ss.marginals(run), own


@given(st.data())
def test_runs_do_not_change_each_other(data):
    grid = data.draw(grids())
    log = [record for name in "ab" for record in data.draw(runs(grid, keys={"run": name}))]
    for found, expected in alone(ss.cells(to_frame(log), grid=grid), ["run"]):
        assert found.equals(expected)


def test_runs_on_a_grid_of_one_cell_do_not_change_each_other():
    # Polars multiplies by the reciprocal where it divides by a constant column, and 100 * (1 / 3) != 100 / 3.
    grid = ss.Grid("one", {"shop": 3}, ("src",))
    record = {"uid": "x", "site": "shop", "condition": "src", "success": True, "steps": 1}
    log = [{**record, "skill_calls": 1, "skill_failures": 0, "run": name} for name in "ab"]
    for found, expected in alone(ss.cells(to_frame(log), grid=grid), ["run"]):
        assert found.equals(expected)
        assert set(found.filter(metric="SR")["lower"]) == {100 / 3}
