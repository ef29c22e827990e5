import pytest

from skillshift.grid import Grid
from skillshift.testing import oracle_verdict, oracle_violations

GRID = Grid("two", {"shop": 2, "wiki": 1}, ("src", "tgt"))


def record(uid="a", **other):
    return {
        "uid": uid,
        "site": "shop",
        "condition": "src",
        "success": True,
        "steps": 4,
        "skill_calls": 2,
        "skill_failures": 1,
        **other,
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"uid": None}, "uid.missing"),
        ({"uid": ""}, "uid.missing"),
        ({"site": None}, "site.missing"),
        ({"condition": ""}, "condition.missing"),
        ({"success": None}, "success.missing"),
        ({"steps": None}, "steps.missing"),
        ({"steps": -1}, "steps.negative"),
        ({"skill_failures": -1}, "skill_failures.negative"),
        ({"skill_failures": 3}, "skill_failures.above-calls"),
        ({"skill_failures": None}, "skill_calls.half"),
        ({"skill_calls": None}, "skill_calls.half"),
        ({"error": ""}, "error.empty"),
        ({"site": "Shop"}, "site.unknown"),
        ({"site": "shop "}, "site.unknown"),
        ({"condition": "SRC"}, "condition.unknown"),
        ({"uid": "skillshift.wiki.v1.0"}, "uid.site"),
        ({"uid": "skillshift.shop.v1.2"}, "uid.range"),
        ({"uid": "skillshift.shop.v2." + "9" * 40}, "uid.range"),
    ],
)
def test_each_rule_about_one_record(change, code):
    assert oracle_verdict([record(), {**record("b"), **change}], GRID) == code
    assert oracle_violations([record(), {**record("b"), **change}], GRID) == {code: 1}


def test_a_brokencan_break_several_rules():
    broken = record(skill_calls=-1, skill_failures=-1, steps=-1)
    assert oracle_verdict([broken], GRID) == "steps.negative"
    assert oracle_violations([broken], GRID) == {
        "steps.negative": 1,
        "skill_calls.negative": 1,
        "skill_failures.negative": 1,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"success": None, "steps": None, "error": "crash"},
        {"skill_calls": None, "skill_failures": None, "error": "crash"},
        {"uid": "skillshift.shop.v2.001"},
        {"uid": "skillshift.shop.v3.7"},
        {"uid": "skillshift.shop.v1.7 "},
        {"uid": "skillshift.shop.v1.7\n"},
        {"uid": "skillshift.shop.v1.\N{ARABIC-INDIC DIGIT SEVEN}"},
        {"uid": "Skillshift.wiki.v1.7"},
        {"skill_calls": 0, "skill_failures": 0},
    ],
)
def test_what_is_allowed(change):
    assert oracle_verdict([record(), {**record("b"), **change}], GRID) is None


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([record(), record()], "task.duplicate"),
        ([record("skillshift.shop.v1.1"), record("skillshift.shop.v2.01")], "task.duplicate"),
        ([record(), record(error="crash"), record(error="crash")], None),
        ([record("1"), record("skillshift.shop.v1.1")], None),
        ([record(), record(condition="tgt")], None),
        ([record("a"), record("b"), record("c")], "cell.too-many"),
        ([record("a"), record("b"), record("c", error="crash")], "cell.too-many"),
        ([record(), record("b", skill_calls=None, skill_failures=None)], "skill_calls.mixed"),
        ([record(method="m"), record("b")], "method.missing"),
        ([record(method="m"), record("b", method="")], "method.missing"),
        ([record(method="m"), record(method="n")], None),
        ([record(method="m"), record(method="n", skill_calls=None, skill_failures=None)], None),
    ],
)
def test_what_only_shows_among_records(records, code):
    assert oracle_verdict(records, GRID) == code


def test_other_run_keys_may_be_asked_for():
    runs = [record(config="x"), record(config="y")]
    assert oracle_verdict(runs, GRID) == "task.duplicate"
    assert oracle_verdict(runs, GRID, by=["config"]) is None
    assert oracle_verdict([*runs, record("b")], GRID, by=["config"]) == "config.missing"


def test_a_run_key_that_is_null_everywhere_is_still_a_run_key():
    assert oracle_verdict([record(method=None)], GRID) == "method.missing"


def test_a_website_with_dots_has_canonical_uids_too():
    grid = Grid("dots", {"shop.example": 2}, ("src",))
    dotted = [record(f"skillshift.shop.example.v1.{n}", site="shop.example") for n in (0, 1, 2)]
    assert oracle_verdict(dotted[:2], grid) is None
    assert oracle_verdict(dotted, grid) == "uid.range"
    assert (
        oracle_verdict([dotted[1], {**dotted[1], "uid": "skillshift.shop.example.v2.1"}], grid)
        == "task.duplicate"
    )


def test_an_inferred_grid_has_no_ranges():
    grid = Grid("seen", {"shop": 2}, ("src",), inferred=True)
    assert oracle_verdict([record("skillshift.shop.v1.7")], grid) is None
