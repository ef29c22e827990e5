from fractions import Fraction

import pytest

from skillshift.grid import Grid
from skillshift.testing import oracle_cells, oracle_marginals, oracle_published

GRID = Grid("two", {"shop": 2, "wiki": 1}, ("src", "tgt"))


def record(uid, site="shop", condition="src", **other):
    return {
        "uid": uid,
        "site": site,
        "condition": condition,
        "success": True,
        "steps": 4,
        "skill_calls": 2,
        "skill_failures": 1,
        **other,
    }


def whole_run(**other):
    return [
        record("a", success=False, steps=1, **other),
        record("b", **other),
        record("a", condition="tgt", **other),
        record("b", condition="tgt", **other),
        record("a", site="wiki", **other),
        record("a", site="wiki", condition="tgt", **other),
    ]


def cell(cells, website, condition):
    return next(c for c in cells if (c["website"], c["condition"]) == (website, condition))


def slot(numbers, metric, name):
    return next(n for n in numbers if (n["metric"], n["slot"]) == (metric, name))


def test_a_complete_cell_by_hand():
    cells = oracle_cells(whole_run(), grid=GRID)
    assert [(c["website"], c["condition"]) for c in cells] == [
        ("shop", "src"),
        ("shop", "tgt"),
        ("wiki", "src"),
        ("wiki", "tgt"),
    ]
    assert cells[0] == {
        "website": "shop",
        "condition": "src",
        "planned": 2,
        "attempted": 2,
        "errored": 0,
        "scored": 2,
        "missing": 0,
        "complete": True,
        "successes": 1,
        "steps": 5,
        "skill_calls": 4,
        "skill_failures": 2,
        "SR": Fraction(50),
        "AS": Fraction(5, 2),
        "ASC": Fraction(2),
        "SFR": Fraction(50),
        "reason": None,
    }


def test_marginals_by_hand_are_means_of_cells_and_pooled_values_are_not():
    numbers = oracle_marginals(oracle_cells(whole_run(), grid=GRID))
    overall = slot(numbers, "SR", "overall")
    assert overall["value"] == Fraction(350, 4)
    assert overall["pooled"] == Fraction(500, 6)
    assert overall["published"] == "87.50"
    assert slot(numbers, "SR", "shop")["value"] == 75
    assert slot(numbers, "SR", "src")["value"] == 75
    assert [n["slot"] for n in numbers[:5]] == ["shop", "wiki", "src", "tgt", "overall"]
    assert [n["metric"] for n in numbers[::5]] == ["SR", "AS", "ASC", "SFR"]


def test_an_error_is_no_measurement_and_a_retry_is_one():
    lone = record("a", error="crash", success=None, steps=None)
    log = [lone, lone, record("b", error="crash", steps=99), record("b", steps=3)]
    found = cell(oracle_cells(log, grid=GRID), "shop", "src")
    assert (found["planned"], found["attempted"], found["errored"], found["scored"], found["missing"]) == (
        2,
        2,
        1,
        1,
        0,
    )
    assert (found["steps"], found["skill_calls"], found["complete"]) == (3, 2, False)
    assert (found["SR"], found["reason"]) == (None, "incomplete")


def test_scored_mode_gives_what_was_scored_and_says_where_nothing_was():
    cells = oracle_cells([record("b", steps=3)], grid=GRID, incomplete="scored")
    assert cell(cells, "shop", "src")["AS"] == 3
    assert cell(cells, "shop", "src")["reason"] is None
    assert cell(cells, "wiki", "tgt")["reason"] == "nothing-scored"
    assert slot(oracle_marginals(cells), "AS", "shop")["reason"] == "nothing-scored"
    assert slot(oracle_marginals(cells), "AS", "shop")["incomplete"] is True


def test_no_call_is_zero_calls_and_an_undefined_rate():
    log = [{**r, "skill_calls": 0, "skill_failures": 0} if r["site"] == "wiki" else r for r in whole_run()]
    cells = oracle_cells(log, grid=GRID)
    assert cell(cells, "wiki", "src")["ASC"] == 0
    assert cell(cells, "wiki", "src")["SFR"] is None
    numbers = oracle_marginals(cells)
    assert slot(numbers, "SFR", "shop")["value"] == 50
    assert slot(numbers, "SFR", "overall")["value"] is None
    assert slot(numbers, "SFR", "overall")["pooled"] == 50
    assert slot(numbers, "SFR", "wiki")["pooled"] is None
    assert slot(numbers, "SFR", "wiki")["reason"] == "no-skill-calls"
    assert slot(numbers, "ASC", "wiki")["value"] == 0


def test_a_method_without_skills_has_no_skill_metrics():
    cells = oracle_cells(whole_run(skill_calls=None, skill_failures=None), grid=GRID)
    assert {c["reason"] for c in cells} == {"not-applicable"}
    assert cells[0]["skill_calls"] is None
    numbers = oracle_marginals(cells)
    assert slot(numbers, "ASC", "overall")["reason"] == "not-applicable"
    assert slot(numbers, "SR", "overall")["reason"] is None
    assert slot(numbers, "SFR", "overall")["min_cell_calls"] is None
    assert slot(numbers, "SFR", "overall")["low_count"] is False


def test_few_calls_are_flagged_in_the_failure_rate_only():
    log = [{**r, "skill_calls": 15, "skill_failures": 1} for r in whole_run()]
    numbers = oracle_marginals(oracle_cells(log, grid=GRID))
    flagged = [(n["metric"], n["slot"], n["skill_calls"]) for n in numbers if n["low_count"]]
    assert flagged == []
    log[0]["skill_calls"] = 14
    numbers = oracle_marginals(oracle_cells(log[:2], grid=GRID))
    assert [(n["metric"], n["slot"]) for n in numbers if n["low_count"]] == [
        ("SFR", "shop"),
        ("SFR", "wiki"),
        ("SFR", "src"),
        ("SFR", "tgt"),
        ("SFR", "overall"),
    ]
    assert slot(numbers, "SFR", "shop")["skill_calls"] == 29
    assert slot(numbers, "SFR", "shop")["min_cell_calls"] == 0


def test_bounds_of_a_cell_let_the_missing_fail_or_succeed():
    numbers = oracle_marginals(oracle_cells([record("b")], grid=GRID))
    shop = slot(numbers, "SR", "shop")
    assert (shop["lower"], shop["upper"], shop["value"]) == (25, 100, None)
    assert slot(numbers, "AS", "shop")["lower"] is None


def test_runs_stay_apart_and_labels_are_text():
    log = [{**r, "trial": trial, "method": "m"} for trial in (2, 10) for r in whole_run()]
    cells = oracle_cells(log, grid=GRID)
    assert [c["trial"] for c in cells] == ["10"] * 4 + ["2"] * 4
    assert list(cells[0])[:3] == ["method", "trial", "website"]
    pooled = oracle_cells(log[:6], grid=GRID, by=())
    assert "trial" not in pooled[0]


def test_one_task_in_two_versions_is_one_task():
    attempts = [record("skillshift.shop.v1.01", error="crash"), record("skillshift.shop.v2.1")]
    assert cell(oracle_cells(attempts, grid=GRID), "shop", "src")["attempted"] == 1


def test_refused_records_have_no_cells():
    with pytest.raises(ValueError, match=r"^task\.duplicate$"):
        oracle_cells([record("a"), record("a")], grid=GRID)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0.00"),
        (Fraction(100), "100.00"),
        (Fraction(1, 200), "0.01"),
        (Fraction(5, 1000) - Fraction(1, 10**30), "0.00"),
        (Fraction(200, 3), "66.67"),
        (Fraction(1005, 1000), "1.01"),
    ],
)
def test_published_values_are_half_up(value, text):
    assert oracle_published(value) == text
