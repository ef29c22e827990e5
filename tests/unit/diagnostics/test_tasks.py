"""Which records are about the same task: duplicates, retries, and what canonical uids say."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift import Grid, cells
from skillshift.diagnostics.cells import measure
from skillshift.diagnostics.tasks import KEY, ODD, keyed
from skillshift.frame.contract import FILE, RECORD
from skillshift.frame.errors import ContractError

LONG = "0" * 60


def again(records, uid="skillshift.big.v1.0", **changes):
    """The records and one more of the first one's cell."""
    return [*records, records[0] | {"uid": uid, "steps": 40, "success": False} | changes]


# -- duplicates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(
    "uid",
    ["skillshift.big.v1.0", "skillshift.big.v2.0", "skillshift.big.v1.000", f"skillshift.big.v2.{LONG}"],
)
def test_a_task_scored_twice_is_refused_with_both_places(grid, complete, frame, uid, lazy):
    records = frame(again(complete(method="m"), uid))
    with pytest.raises(ContractError) as caught:
        cells(records.lazy() if lazy else records, grid=grid)
    assert caught.value.counts == {"task.duplicate": 1}
    (violation,) = caught.value.violations
    assert (violation.line, violation.field) == (11, "uid")
    assert "scored again in m / big / near" in violation.found
    assert violation.expected.endswith("the first is at row 1")
    assert "--on-duplicates" in violation.hint


def test_the_places_are_files_and_lines_where_they_are_known(grid, complete, frame, tmp_path):
    records = complete()
    halves = (records[:4], [*records[4:], records[0], records[5]])
    parts = []
    for name, half in zip(("a.jsonl", "b.jsonl"), halves, strict=True):
        (tmp_path / name).write_text("\n" + "{}\n" * len(half), encoding="utf-8")
        of_file = [pl.lit(str(tmp_path / name)).alias(FILE), pl.int_range(pl.len()).alias(RECORD)]
        parts.append(frame(half).with_columns(of_file))
    with pytest.raises(ContractError) as caught:
        cells(pl.concat(parts).lazy(), grid=grid)
    assert caught.value.counts == {"task.duplicate": 2}
    assert [v.where for v in caught.value.violations] == [f"{tmp_path / 'b.jsonl'}:{n}" for n in (8, 9)]
    firsts = [
        v.expected.removeprefix("one scored record a task; the first is at ") for v in caught.value.violations
    ]
    assert firsts == [f"{tmp_path / 'a.jsonl'}:2", f"{tmp_path / 'b.jsonl'}:3"]


def test_a_log_appended_to_itself_is_counted_and_bounded(complete, frame):
    grid = Grid("g", {"big": 50}, ["near"])
    records = [complete()[0] | {"uid": f"task {i}"} for i in range(50)]
    with pytest.raises(ContractError) as caught:
        cells(frame(records * 3), grid=grid)
    assert caught.value.counts == {"task.duplicate": 100}
    assert [v.line for v in caught.value.violations] == list(range(51, 71))


@pytest.mark.parametrize(("keep", "steps", "successes"), [("first", 9, 1), ("last", 47, 0)])
def test_the_first_or_the_last_is_kept_where_that_is_asked_for(
    grid, complete, frame, *, keep, steps, successes
):
    measured = measure(frame(again(complete(), "skillshift.big.v2.0")), grid=grid, on_duplicates=keep)
    row = measured.cells.row(0, named=True)
    assert (row["steps"], row["successes"], row["scored"], row["complete"]) == (steps, successes, 3, True)
    assert (measured.records, measured.duplicates) == (10, 1)


@pytest.mark.parametrize(("keep", "kept"), [("first", 1), ("last", 4)])
def test_the_order_is_that_of_path_then_line_and_not_of_the_rows(grid, complete, frame, keep, kept):
    # Line 10 comes after line 9, and the rows come in another order than both.
    places = [("a", 10, 2), ("b", 0, 4), ("a", 9, 1), ("a", 11, 3)]
    records = [complete()[0] | {"steps": steps} for _, _, steps in places]
    logs = frame(records).with_columns(
        pl.Series(FILE, [file for file, _, _ in places]), pl.Series(RECORD, [n for _, n, _ in places])
    )
    table = cells(logs.lazy(), grid=grid, on_duplicates=keep)
    assert table["steps"][0] == kept


@pytest.mark.parametrize("keep", ["first", "last"])
def test_where_nothing_is_doubled_nothing_is_left_out(grid, complete, frame, keep):
    measured = measure(frame(complete()), grid=grid, on_duplicates=keep)
    assert (measured.records, measured.duplicates) == (10, 0)
    assert measured.cells.equals(cells(frame(complete()), grid=grid))


@pytest.mark.parametrize("keep", ["first", "last"])
def test_columns_of_others_do_not_get_in_the_way(grid, complete, frame, keep):
    records = [r | {"task": "x", "key": i} for i, r in enumerate(again(complete()))]
    records.append(records[1] | {"error": "down"})
    table = cells(frame(records), grid=grid, on_duplicates=keep)
    assert table["complete"].all()


def test_errors_are_no_duplicates_and_survive_the_choice(grid, complete, frame):
    records = again(complete()[:2])
    records += [complete()[2] | {"error": "down"}] * 2
    with pytest.raises(ContractError, match=r"task\.duplicate 1"):
        cells(frame(records), grid=grid)
    row = cells(frame(records), grid=grid, on_duplicates="first").row(0, named=True)
    assert (row["scored"], row["errored"], row["missing"]) == (2, 1, 0)


def test_the_same_task_elsewhere_is_another_one(grid, complete, frame):
    assert cells(frame(complete(run="1") + complete(run="2")), grid=grid)["complete"].all()


# -- retries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("uid", ["skillshift.big.v1.0", "skillshift.big.v2.00"])
@pytest.mark.parametrize("first", [True, False])
def test_errored_attempts_beside_one_scored_record_are_a_retry(grid, complete, frame, uid, first):
    attempts = [complete()[0] | {"uid": uid, "error": "down", "success": None, "steps": None}] * 3
    records = attempts + complete() if first else complete() + attempts
    table = cells(frame(records), grid=grid)
    assert table.equals(cells(frame(complete()), grid=grid))


def test_a_retry_in_another_cell_or_run_is_none(grid, complete, frame):
    errored = complete(run="1")[0] | {"error": "down"}
    records = [errored, *complete(run="1")[1:], *complete(run="2")]
    table = cells(frame(records), grid=grid)
    assert table.filter(run="1")["errored"].to_list() == [1, 0, 0, 0]
    assert table.filter(run="2")["errored"].to_list() == [0, 0, 0, 0]


# -- uids ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("error", [None, "down"])
@pytest.mark.parametrize(
    ("uid", "code"),
    [
        ("skillshift.small.v1.1", "uid.site"),
        ("skillshift.big.v2.3", "uid.range"),
        ("skillshift.big.v1.0003", "uid.range"),
        (f"skillshift.big.v1.9{LONG}", "uid.range"),
        ("skillshift.big.v1.4294967296", "uid.range"),
        ("skillshift.big.v1.18446744073709551616", "uid.range"),
    ],
)
def test_a_canonical_uid_agrees_with_its_site_and_range(grid, complete, frame, *, uid, code, error, lazy):
    records = frame([complete()[0], complete()[1] | {"uid": uid, "error": error}, *complete()[2:]])
    with pytest.raises(ContractError) as caught:
        cells(records.lazy() if lazy else records, grid=grid)
    assert caught.value.counts == {code: 1}
    assert caught.value.violations[0].line == 2


@pytest.mark.parametrize(
    "uid",
    [
        "skillshift.big.v3.9",
        "skillshift.big.v3.1",
        "skillshift.big.v1.+1",
        "skillshift.big.v1.-1",
        "skillshift.big.v1. 1",
        "skillshift.big.v1.1 ",
        "skillshift.big.v1.1.0",
        "skillshift.big.v1.1e0",
        "skillshift.big.v1.",
        "skillshift.big.v1",
        "skillshift.big.v11.1",
        "skillshift.",
        "skillshift.bigger.v3.0",
        "skillshift.big.v1.\u0661",
        "+1",
        "1",
        "#1",
        "01",
        "task 1 \U0001f600",
    ],
)
@pytest.mark.parametrize("error", [None, "down"])
def test_any_other_form_stands_for_itself(grid, complete, frame, uid, error):
    """It is neither task 1, which is scored too, nor out of range, and twice it is itself twice."""
    records = [*complete()[:2], complete()[2] | {"uid": uid, "error": error}]
    row = cells(frame(records), grid=grid).row(0, named=True)
    assert (row["scored"], row["errored"]) == ((3, 0) if error is None else (2, 1))
    doubled = frame([*records, records[-1]])
    if error is not None:
        assert cells(doubled, grid=grid).row(0, named=True) == row
        return
    with pytest.raises(ContractError, match=r"task\.duplicate 1"):
        cells(doubled, grid=grid)
    assert cells(doubled, grid=grid, on_duplicates="first").row(0, named=True) == row


def test_a_website_s_name_may_be_the_beginning_of_another_s(frame, complete):
    grid = Grid("g", {"shop": 1, "shop-b": 2, "shop.b": 2}, ["near"])
    one = complete()[0]
    records = [
        one | {"site": "shop-b", "uid": "skillshift.shop-b.v1.1"},
        one | {"site": "shop", "uid": "skillshift.shop.v1.0"},
        one | {"site": "shop.b", "uid": "skillshift.shop.b.v1.0"},
        one | {"site": "shop.b", "uid": "skillshift.shop.b.v2.1"},
    ]
    assert cells(frame(records), grid=grid)["scored"].to_list() == [1, 1, 2]
    for uid in ("skillshift.shop-b.v1.0", "skillshift.shop.b.v1.0"):
        with pytest.raises(ContractError, match=r"uid\.site 1"):
            cells(frame([*records, one | {"site": "shop", "uid": uid}]), grid=grid)
    with pytest.raises(ContractError, match=r"uid\.range 1"):
        cells(frame([*records, records[2] | {"uid": "skillshift.shop.b.v1.2"}]), grid=grid)
    with pytest.raises(ContractError, match=r"task\.duplicate 1"):
        cells(frame([*records, records[2] | {"uid": "skillshift.shop.b.v2.00"}]), grid=grid)


def test_keys_are_equal_for_equal_tasks_and_differ_with_every_run_key(grid):
    uid = "skillshift.big.v1.1"
    odd = ["skillshift.big.v1.3", "skillshift.small.v1.1", "skillshift.big.v1", "skillshift.big.v1.1 "]
    frame = pl.DataFrame(
        {
            "run": ["1", "1", "2", *["1"] * 6],
            "site": ["big"] * 9,
            "condition": ["near", "near", "near", "far", *["near"] * 5],
            "uid": [uid, "skillshift.big.v2.01", uid, uid, "skillshift.big.v1.2", *odd],
        }
    )
    keys = keyed(frame.lazy(), ["run", "site", "condition"], grid, canonical=True).collect()[KEY]
    assert keys[0] == keys[1]
    assert keys.head(5).n_unique() == 4
    assert keys.to_list()[5:] == [ODD] * 4


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("uid", "code"),
    [
        ("skillshift.big.v2.01", "task.duplicate"),
        ("skillshift.small.v1.0", "uid.site"),
        ("skillshift.big.v1.3", "uid.range"),
        ("task 1", "task.duplicate"),
        ("skillshift.big.v1.2", None),
        ("task 2", None),
    ],
)
def test_canonical_uids_and_others_may_stand_in_one_log(grid, complete, frame, *, first, uid, code):
    """Which form the first record's uid has decides how keys are made, and nothing else."""
    of_cell = complete()[0]
    others = [of_cell | {"uid": name} for name in ("skillshift.big.v1.1", "task 1")]
    records = frame([*(others if first else others[::-1]), of_cell | {"uid": uid}])
    if code is None:
        assert cells(records, grid=grid)["scored"][0] == 3
        return
    with pytest.raises(ContractError) as caught:
        cells(records, grid=grid)
    assert caught.value.counts == {code: 1}
    assert caught.value.violations[0].line == 3


def test_keys_do_not_mix_up_the_run_keys_they_are_made_of(grid):
    frame = pl.DataFrame(
        {
            "a": ["x", "y", "x"],
            "b": ["y", "x", "x"],
            "site": ["big"] * 3,
            "condition": ["near"] * 3,
            "uid": ["1"] * 3,
        }
    )
    keys = keyed(frame.lazy(), ["a", "b", "site", "condition"], grid, canonical=False).collect()[KEY]
    assert keys.n_unique() == 3


def test_records_whose_keys_are_equal_by_chance_are_told_apart(grid, complete, frame, monkeypatch):
    from skillshift.diagnostics import summing, tasks

    def two_keys(frame, keys, grid, *, canonical):
        return keyed(frame, keys, grid, canonical=canonical).with_columns(pl.col(KEY) % 2 + 1)

    for module in (summing, tasks):
        monkeypatch.setattr(module, "keyed", two_keys)
    assert cells(frame(complete()), grid=grid)["complete"].all()
    with pytest.raises(ContractError, match=r"task\.duplicate 1"):
        cells(frame(again(complete())), grid=grid)


@pytest.mark.parametrize("first", ["free", "skillshift.big.v1.0", "skillshift.big.v3.0"])
def test_what_the_first_uid_is_like_does_not_decide_about_the_others(grid, complete, frame, first):
    one = complete()[0]
    records = [one | {"uid": first}, one | {"uid": "skillshift.big.v1.1"}, one | {"uid": "other"}]
    assert cells(frame(records), grid=grid)["scored"][0] == 3
    for uid in ("skillshift.big.v2.01", "other"):
        with pytest.raises(ContractError, match=r"task\.duplicate 1"):
            cells(frame([*records, one | {"uid": uid}]), grid=grid)
    for uid, code in (("skillshift.big.v1.3", "range"), ("skillshift.small.v1.1", "site")):
        with pytest.raises(ContractError, match=rf"uid\.{code} 1"):
            cells(frame([*records, one | {"uid": uid}]), grid=grid)
