"""The identity on printed numbers, against intervals of fractions and against brute force."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift import SKILLSHIFT, Grid, datasets
from skillshift.diagnostics.identity import detection_limits, identity_printed
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.exact import Interval, half_up, printed_number
from skillshift.metrics import REASONS

NUMBERS = (*SKILLSHIFT.website_names, *SKILLSHIFT.condition_names, "overall")
SMALL = Grid("small", {"a": 1, "b": 1}, ("u", "v", "w"))


def _row(method, metric):
    return datasets.table1().filter(method=method, metric=metric)


def test_skillweavers_sfr_averages_to_another_number_and_holds():
    row = _row("SkillWeaver", "SFR")
    websites = [printed_number(row[name].item()) for name in SKILLSHIFT.website_names]
    assert half_up(sum(websites) / 3) == "1.98"
    assert row["overall"].item() == "1.97"
    found = identity_printed(row).row(0, named=True)
    assert (found["websites"], found["conditions"], found["overall"]) == ("1.9767", "1.9750", "1.97")
    assert (found["verdict"], found["difference"], found["tolerance"]) == ("holds", "0.0067", "0.0100")


def test_the_macro_average_is_not_the_task_weighted_one():
    row = _row("AWM", "SR")
    websites = {name: printed_number(row[name].item()) for name in SKILLSHIFT.website_names}
    weighted = sum(SKILLSHIFT.websites[name] * value for name, value in websites.items())
    assert half_up(sum(websites.values()) / 3) == row["overall"].item() == "35.29"
    assert half_up(weighted / sum(SKILLSHIFT.websites.values())) == "30.21"
    # The weighted mean in the place of the macro average is found out.
    assert identity_printed(row.with_columns(overall=pl.lit("30.21")))["verdict"].item() == "violated"


def test_all_fourteen_rows_hold():
    found = identity_printed(datasets.table1())
    assert found["verdict"].to_list() == ["holds"] * 14
    assert found["reason"].null_count() == 14
    assert found.columns == [
        "method",
        "metric",
        "websites",
        "conditions",
        "overall",
        "verdict",
        "difference",
        "tolerance",
        "reason",
        "detects_website",
        "detects_condition",
        "detects_overall",
    ]


units = st.integers(0, 40)
grids = st.tuples(st.integers(1, 4), st.integers(1, 7)).map(
    lambda size: Grid("any", {f"site-{i}": 1 for i in range(size[0])}, [f"cond-{i}" for i in range(size[1])])
)


@st.composite
def printed_rows(draw):
    """A grid and a row of printed numbers near the identity, in hundredths."""
    grid = draw(grids)
    sites = draw(st.lists(units, min_size=len(grid.websites), max_size=len(grid.websites)))
    conditions = draw(st.lists(units, min_size=len(grid.conditions), max_size=len(grid.conditions)))
    # The last number of each group is pulled to the overall value, so that many rows hold.
    overall = draw(units)
    sites[-1] = max(0, overall * len(sites) - sum(sites[:-1]) + draw(st.integers(-4, 4)))
    conditions[-1] = max(0, overall * len(conditions) - sum(conditions[:-1]) + draw(st.integers(-8, 8)))
    return grid, sites, conditions, overall


def _frame(grid, rows):
    slots = [*grid.website_names, *grid.condition_names, "overall"]
    return pl.DataFrame(
        [[half_up(Fraction(n, 100)) for n in row] for row in rows],
        schema=dict.fromkeys(slots, pl.String),
        orient="row",
    )


def _oracle(sites, conditions, overall):
    def mean(numbers):
        return Interval.mean([Interval.printed(half_up(Fraction(n, 100))) for n in numbers])

    return mean(sites).meets(mean(conditions), mean([overall]))


@given(printed_rows())
def test_the_verdict_is_that_of_intervals(drawn):
    grid, sites, conditions, overall = drawn
    found = identity_printed(_frame(grid, [[*sites, *conditions, overall]]), grid=grid).row(0, named=True)
    assert found["verdict"] == ("holds" if _oracle(sites, conditions, overall) else "violated")
    assert found["reason"] == (None if found["verdict"] == "holds" else "means-differ")
    means = [Fraction(sum(sites), len(sites)), Fraction(sum(conditions), len(conditions)), Fraction(overall)]
    assert found["difference"] == half_up((max(means) - min(means)) / 100, 4)
    assert found["websites"] == half_up(means[0] / 100, 4)
    assert found["conditions"] == half_up(means[1] / 100, 4)


@given(printed_rows())
def test_the_limits_are_what_trying_every_slip_shows(drawn):
    grid, sites, conditions, overall = drawn
    row = [*sites, *conditions, overall]
    # Base numbers high enough that a slip down stays above 0.
    row = [n + 100 for n in row]
    table = _frame(grid, [row])
    limits = {group: (up, down) for group, up, down in detection_limits(table, grid=grid).rows()}
    judged = identity_printed(table, grid=grid).row(0, named=True)
    if judged["verdict"] == "violated":
        assert set(limits.values()) == {(None, None)}
        assert [judged[f"detects_{group}"] for group in limits] == [None] * 3
        return
    place = {"website": 0, "condition": len(sites), "overall": len(row) - 1}
    for group, i in place.items():
        up, down = limits[group]
        assert judged[f"detects_{group}"] == max(up, down)
        slips = [*range(1, 30), *range(-29, 0)]
        slipped = [[*row[:i], row[i] + slip, *row[i + 1 :]] for slip in slips]
        verdicts = identity_printed(_frame(grid, slipped), grid=grid)["verdict"].to_list()
        for slip, verdict in zip(slips, verdicts, strict=True):
            caught = slip >= up if slip > 0 else -slip >= down
            assert verdict == ("violated" if caught else "holds"), (group, slip)


def test_every_number_of_a_group_has_its_groups_limit():
    row = _row("WALT", "SFR")
    limits = {group: (up, down) for _, _, group, up, down in detection_limits(row).rows()}
    for slot in NUMBERS[:-1]:
        group = "website" if slot in SKILLSHIFT.websites else "condition"
        up, down = limits[group]
        value = printed_number(row[slot].item())
        for slip, verdict in [(up, "violated"), (up - 1, "holds"), (-down, "violated"), (1 - down, "holds")]:
            slipped = row.with_columns(pl.lit(half_up(value + Fraction(slip, 100))).alias(slot))
            assert identity_printed(slipped)["verdict"].item() == verdict, (slot, slip)


def test_the_limits_come_in_the_order_of_the_rows():
    table = datasets.table1()
    groups = ("website", "condition", "overall")
    expected = [(*keys, group) for keys in table.select("method", "metric").rows() for group in groups]
    assert detection_limits(table).select("method", "metric", "group").rows() == expected


def test_two_slips_that_cancel_are_not_seen():
    row = _row("ASI", "SR").with_columns(gitlab=pl.lit("21.81"), magento=pl.lit("26.78"))
    assert identity_printed(row)["verdict"].item() == "holds"


def _small(*numbers, **keys):
    slots = dict(zip(("a", "b", "u", "v", "w", "overall"), numbers, strict=True))
    schema = dict.fromkeys(keys, pl.String) | dict.fromkeys(slots, pl.String)
    return pl.DataFrame([{**keys, **slots}], schema=schema)


@pytest.mark.parametrize(
    ("numbers", "verdict", "reason"),
    [
        (["--"] * 6, "undefined", "not-applicable"),
        ([None] * 6, "undefined", "not-given"),
        (["--", "--", "--", "--", "--", None], "undefined", "not-given"),
        ([None, "1.00", None, "1.00", "1.00", None], "undefined", "not-given"),
        (["1.00", "1.00", None, "1.00", "1.00", None], "violated", "null-pattern"),
        ([None, "1.00", "1.00", "1.00", "1.00", None], "violated", "null-pattern"),
        ([None, "1.00", None, "1.00", "1.00", "1.00"], "violated", "null-pattern"),
        (["1.00", "1.00", "1.00", "1.00", "1.00", "--"], "violated", "null-pattern"),
        (["1.00", "1.00", "1.00", "1.00", "1.00", "1.02"], "violated", "means-differ"),
        (["1.00", "1.00", "1.00", "1.00", "1.00", "1.01"], "holds", None),
    ],
)
def test_nulls_and_dashes(numbers, verdict, reason):
    found = identity_printed(_small(*numbers, method="M"), grid=SMALL).row(0, named=True)
    assert (found["verdict"], found["reason"]) == (verdict, reason)
    assert (found["difference"] is None) == (None in numbers or "--" in numbers)
    assert (found["detects_overall"] is None) == (verdict != "holds")
    assert "not-applicable" in REASONS


def test_numbers_are_taken_by_their_shortest_text():
    text = datasets.table1()
    floats = text.with_columns(pl.col(NUMBERS).cast(pl.Float64))
    assert identity_printed(floats).equals(identity_printed(text))
    decimals = text.with_columns(pl.col(NUMBERS).cast(pl.Decimal(8, 2)))
    assert identity_printed(decimals).equals(identity_printed(text))
    short = text.with_columns(pl.col(NUMBERS).str.replace(r"\.?0+$", ""))
    assert identity_printed(short).equals(identity_printed(text))


@pytest.mark.parametrize("bad", ["16.905", "n/a", "", "1e2", "NaN", " 1.00"])
def test_a_number_that_cannot_be_printed_is_located(bad):
    table = datasets.table1().with_columns(
        tgt=pl.when((pl.col("method") == "AWM") & (pl.col("metric") == "AS"))
        .then(pl.lit(bad))
        .otherwise("tgt")
    )
    with pytest.raises(InputError) as raised:
        identity_printed(table)
    expected = f'row 14 (method "AWM", metric "AS"), column \'tgt\': found "{bad}"'
    assert expected in str(raised.value)


@pytest.mark.parametrize("check", [identity_printed, detection_limits])
def test_tables_of_another_shape_are_refused(check):
    table = datasets.table1()
    with pytest.raises(InputError, match="no column 'tgt', expected one for each slot: gitlab"):
        check(table.drop("tgt"))
    with pytest.raises(InputError, match="column 'tgt' is Boolean"):
        check(table.with_columns(tgt=pl.lit(value=True)))
    with pytest.raises(UsageError, match="two slots are named 'x'"):
        check(table, grid=Grid("twice", {"x": 1}, ("x",)))
    with pytest.raises(UsageError, match="two slots are named 'overall'"):
        check(table, grid=Grid("twice", {"overall": 1}, ("x",)))
    with pytest.raises(UsageError, match="'verdict'"):
        check(table.rename({"method": "verdict"}))
    with pytest.raises(UsageError, match="'_row'"):
        check(table.rename({"method": "_row"}))


def test_other_columns_are_kept_and_an_empty_table_is_empty():
    table = _small("1.00", "1.00", "1.00", "1.00", "1.00", "1.00", venue="here", method="M")
    assert identity_printed(table, grid=SMALL).columns[:2] == ["venue", "method"]
    assert detection_limits(table, grid=SMALL).rows() == [
        ("here", "M", "website", 3, 3),
        ("here", "M", "condition", 4, 4),
        ("here", "M", "overall", 2, 2),
    ]
    assert identity_printed(table.clear(), grid=SMALL).height == 0
    assert detection_limits(table.clear(), grid=SMALL).height == 0
