"""The identity of the three means on computed values."""

from __future__ import annotations

import math
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.diagnostics.identity import identity
from skillshift.frame.errors import InputError, UsageError
from skillshift.metrics import REASONS

SCHEMA = {
    "method": pl.String,
    "metric": pl.String,
    "group": pl.String,
    "slot": pl.String,
    "value": pl.Float64,
    "reason": pl.String,
}
SLOTS = [
    *(("website", name) for name in ("a", "b", "c")),
    *(("condition", name) for name in ("u", "v")),
    ("overall", "overall"),
]


def _mean(values):
    return None if None in values else sum(values) / len(values)


def _marginals(cells, method="M", metric="SR"):
    """The marginals of a matrix of cell values, website by website."""
    groups = {
        "website": [_mean(row) for row in cells],
        "condition": [_mean(column) for column in zip(*cells, strict=True)],
        "overall": [_mean([value for row in cells for value in row])],
    }
    rows = [
        (method, metric, group, f"{group}-{i}", value, "incomplete" if value is None else None)
        for group, values in groups.items()
        for i, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _of(values, reasons=None):
    """One run on a grid of three websites and two conditions, with the values given slot by slot."""
    rows = [
        ("M", "SR", group, slot, value, reason)
        for (group, slot), value, reason in zip(SLOTS, values, reasons or [None] * len(SLOTS), strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


grids = st.tuples(st.integers(1, 6), st.integers(1, 9))
values = st.floats(0, 1e9, allow_subnormal=False)


@given(
    grids.flatmap(
        lambda size: st.lists(
            st.lists(values, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )
)
def test_rounding_alone_never_breaks_it(cells):
    found = identity(_marginals(cells)).row(0, named=True)
    assert found["verdict"] == "holds"
    assert found["reason"] is None
    assert found["difference"] <= found["tolerance"]


@given(
    st.lists(st.lists(st.floats(1, 100), min_size=6, max_size=6), min_size=3, max_size=3),
    st.integers(0, 9),
    st.sampled_from([1 - 1e-12, 1 + 1e-12]),
)
def test_a_slip_beyond_rounding_in_any_slot_breaks_it(cells, slot, factor):
    numbers = _marginals(cells).with_row_index("row")
    # A slip in one website or condition moves its group's mean by a share of itself.
    group = numbers["group"][slot]
    slipped = numbers.with_columns(
        value=pl.when(pl.col("group") == group).then(pl.col("value") * factor).otherwise("value")
    ).drop("row")
    found = identity(slipped).row(0, named=True)
    assert (found["verdict"], found["reason"]) == ("violated", "means-differ")
    assert found["difference"] > found["tolerance"]


def test_what_it_says_of_one_run():
    found = identity(_of([1.0, 2.0, 6.0, 2.0, 4.0, 3.0]))
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
    ]
    # 3 websites, 2 conditions, 6 cells: (6 + 3 + 2) // 2 + 2 = 7 ulps of 3.
    assert found.row(0) == ("M", "SR", 3.0, 3.0, 3.0, "holds", 0.0, 7 * 2.0**-52 * 3.0, None)


def test_the_tolerance_can_be_given():
    numbers = _of([1.0, 2.0, 6.0, 2.0, 4.0, math.nextafter(3.0, 4.0)])
    assert identity(numbers)["verdict"].item() == "holds"
    assert identity(numbers, tolerance_ulps=1)["verdict"].item() == "holds"
    assert identity(numbers, tolerance_ulps=0)["verdict"].item() == "violated"
    with pytest.raises(UsageError, match="-1"):
        identity(numbers, tolerance_ulps=-1)


GROUP_SLOTS = {"website": 1, "condition": 4, "overall": 5}


@pytest.mark.parametrize("groups", [c for n in (1, 2, 3) for c in combinations(GROUP_SLOTS, n)])
def test_nulls_agree_between_the_groups_or_it_is_violated(groups):
    given_values = [1.0, 2.0, 6.0, 2.0, 4.0, 3.0]
    reasons = [None] * 6
    for group in groups:
        given_values[GROUP_SLOTS[group]] = None
        reasons[GROUP_SLOTS[group]] = "no-skill-calls"
    found = identity(_of(given_values, reasons)).row(0, named=True)
    expected = ("undefined", "no-skill-calls") if len(groups) == 3 else ("violated", "null-pattern")
    assert (found["verdict"], found["reason"]) == expected
    means = {"website": "websites", "condition": "conditions", "overall": "overall"}
    assert [group for group in means if found[means[group]] is None] == list(groups)
    assert found["difference"] is None
    assert found["tolerance"] is None


@pytest.mark.parametrize("reason", [*REASONS, None])
def test_an_undefined_metric_is_undefined_for_its_reason(reason):
    found = identity(_of([None] * 6, [reason] * 6)).row(0, named=True)
    assert (found["verdict"], found["reason"]) == ("undefined", reason or "not-given")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("slot", range(6))
def test_what_is_not_finite_never_holds(value, slot):
    given_values = [1.0, 2.0, 6.0, 2.0, 4.0, 3.0]
    given_values[slot] = value
    found = identity(_of(given_values)).row(0, named=True)
    assert (found["verdict"], found["reason"], found["difference"]) == ("violated", "not-finite", None)


def test_zero_everywhere_holds():
    found = identity(_of([0.0] * 6)).row(0, named=True)
    assert (found["verdict"], found["difference"], found["tolerance"]) == ("holds", 0.0, 0.0)


def test_many_runs_in_their_order_with_null_keys():
    good, bad = [[1.0, 3.0]], [[1.0, None]]
    numbers = pl.concat(
        [
            _marginals(good, "Z", "SR"),
            _marginals(bad, "Z", "SFR"),
            _marginals(good, None, "SR"),
            _marginals(good, "A", "SR"),
        ]
    )
    found = identity(numbers)
    assert found.select("method", "metric", "verdict").rows() == [
        ("Z", "SR", "holds"),
        ("Z", "SFR", "undefined"),
        (None, "SR", "holds"),
        ("A", "SR", "holds"),
    ]


def test_a_frame_without_run_keys_is_one_run():
    numbers = _marginals([[1.0, 3.0]]).drop("method")
    assert identity(numbers).columns[0] == "metric"
    assert identity(numbers)["verdict"].to_list() == ["holds"]
    assert identity(numbers.clear()).height == 0


WHOLE = _marginals([[1.0, 3.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (WHOLE.filter(pl.col("group") != "overall"), "0 of group overall"),
        (WHOLE.filter(pl.col("group") != "website"), "0 of group website"),
        (WHOLE.filter(pl.col("group") != "condition"), "0 of group condition"),
        (WHOLE.vstack(WHOLE), "4 of group website"),
        (WHOLE.vstack(WHOLE[:1]), "3 of group website"),
        (WHOLE.with_columns(slot=pl.lit("same")), "2 of group website"),
        (WHOLE.vstack(WHOLE[-1:].with_columns(slot=pl.lit("total"))), "2 of group overall"),
        (WHOLE.vstack(WHOLE[:1].with_columns(group=pl.lit("cell"))), "6 rows (2 of group website"),
        (WHOLE.vstack(WHOLE[:1].with_columns(group=pl.lit(None, pl.String))), "6 rows (2 of group website"),
        (WHOLE.vstack(WHOLE.with_columns(method=pl.lit("N"))[1:]), 'method "N", metric "SR": 4 rows'),
        (WHOLE.with_columns(group=pl.col("group").replace("website", "site")), "5 rows"),
        (WHOLE.vstack(WHOLE.with_columns(method=pl.lit("N"))).drop("method"), 'metric "SR": 10 rows'),
    ],
)
def test_marginals_that_are_not_whole_are_refused(numbers, message):
    with pytest.raises(
        InputError, match="expected each website and condition of the grid and overall, once"
    ) as e:
        identity(numbers)
    assert message in str(e.value)


@pytest.mark.parametrize("column", ["metric", "group", "slot", "value", "reason"])
def test_a_missing_column_is_named(column):
    with pytest.raises(InputError, match=f"no column '{column}'"):
        identity(WHOLE.drop(column))


def test_values_are_numbers():
    with pytest.raises(InputError, match="value is String"):
        identity(WHOLE.with_columns(pl.col("value").cast(pl.String)))
    whole = WHOLE.with_columns(pl.when(pl.col("value") > 0).then(2).alias("value"))
    assert identity(whole)["verdict"].to_list() == ["holds"]


@pytest.mark.parametrize("other", ["pooled", "published"])
def test_only_the_value_counts(other):
    numbers = WHOLE.with_columns(pl.lit(None, dtype=pl.String).alias(other), lower=pl.lit(5.0))
    assert identity(numbers).equals(identity(WHOLE))
