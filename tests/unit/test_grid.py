"""Grids: the cells that a run must cover, from Python, from TOML, as values."""

from __future__ import annotations

import copy
import pickle

import pytest

from skillshift.frame.errors import InputError
from skillshift.grid import CONTEXTS, SHIFTS, SKILLSHIFT, Condition, Grid, read_grid

AIRLINE = """
name = "airline"
conditions = ["trial-0", "trial-1"]
[websites]
airline = 50
"""


def read(tmp_path, text, name="grid.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_grid(path)


def test_the_benchmark_s_grid():
    assert dict(SKILLSHIFT.websites) == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert SKILLSHIFT.condition_names == ("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec")
    assert SKILLSHIFT.tasks == 2_130
    factors = {(c.context, c.shift) for c in SKILLSHIFT.conditions}
    assert factors == {(context, shift) for context in CONTEXTS for shift in SHIFTS}
    assert not SKILLSHIFT.inferred


def test_cells_come_website_by_website_in_table_order():
    grid = Grid("g", {"b": 2, "a": 3}, ["y", "x"])
    assert list(grid.cells()) == [("b", "y", 2), ("b", "x", 2), ("a", "y", 3), ("a", "x", 3)]
    assert grid.website_names == ("b", "a")
    assert grid.tasks == 10


def test_grids_are_values():
    one = Grid("g", {"a": 1, "b": 2}, ["x"])
    assert one == Grid("g", {"a": 1, "b": 2}, [Condition("x")])
    assert hash(one) == hash(Grid("g", {"a": 1, "b": 2}, ["x"]))
    others = [
        Grid("h", {"a": 1, "b": 2}, ["x"]),
        Grid("g", {"a": 1, "b": 3}, ["x"]),
        Grid("g", {"b": 2, "a": 1}, ["x"]),
        Grid("g", {"a": 1, "b": 2}, ["y"]),
        Grid("g", {"a": 1, "b": 2}, [Condition("x", "src")]),
        Grid("g", {"a": 1, "b": 2}, ["x"], inferred=True),
    ]
    assert one not in others
    assert len({one, *others}) == 1 + len(others)
    assert one != "g"


def test_a_grid_cannot_be_changed():
    given = {"a": 1}
    grid = Grid("g", given, ["x"])
    given["a"] = 2
    assert grid.websites == {"a": 1}
    with pytest.raises(TypeError):
        SKILLSHIFT.websites["gitlab"] = 1
    with pytest.raises(AttributeError):
        SKILLSHIFT.name = "other"


@pytest.mark.parametrize("back", [copy.copy, copy.deepcopy, lambda grid: pickle.loads(pickle.dumps(grid))])  # noqa: S301
def test_a_grid_survives_copies_and_other_processes(back):
    grid = Grid("g", {"b": 2, "a": 1}, [Condition("x", "tgt", "execution")], inferred=True)
    assert back(grid) == grid
    assert back(SKILLSHIFT) == SKILLSHIFT


def test_as_plain_data_it_can_be_built_again():
    data = SKILLSHIFT.to_dict()
    made = Grid(data["name"], data["websites"], [Condition(**c) for c in data["conditions"]])
    assert made == SKILLSHIFT
    assert data["inferred"] is False


@pytest.mark.parametrize(
    ("websites", "conditions", "says"),
    [
        ({}, ["x"], "at least one website and one condition"),
        ({"a": 1}, [], "at least one website and one condition"),
        ({"": 1}, ["x"], "found the name ''"),
        ({"a ": 1}, ["x"], "found the name 'a '"),
        ({1: 1}, ["x"], "found the name 1"),
        ({"a": 1}, ["x", ""], "found the name ''"),
        ({"a": 1}, ["x", "y", "x"], "conditions named twice: x"),
        ({"a": 0}, ["x"], "'a' has 0 tasks"),
        ({"a": -1}, ["x"], "'a' has -1 tasks"),
        ({"a": 1.5}, ["x"], "'a' has 1.5 tasks"),
        ({"a": True}, ["x"], "'a' has True tasks"),
        ({"a": "1"}, ["x"], "'a' has '1' tasks"),
    ],
)
def test_what_cannot_be_a_grid_is_refused(websites, conditions, says):
    with pytest.raises(InputError, match=r"grid 'g'") as caught:
        Grid("g", websites, conditions)
    assert says in str(caught.value)


def test_a_grid_is_read_from_toml(tmp_path):
    assert read(tmp_path, AIRLINE) == Grid("airline", {"airline": 50}, ["trial-0", "trial-1"])


def test_conditions_may_have_factors_and_the_file_s_name_is_the_default(tmp_path):
    text = """
    [websites]
    b = 2
    a = 1
    [[conditions]]
    name = "near"
    context = "src"
    [[conditions]]
    name = "far"
    context = "tgt"
    shift = "execution"
    """
    grid = read(tmp_path, text, "shops é.toml")
    assert grid == Grid(
        "shops é", {"b": 2, "a": 1}, [Condition("near", "src"), Condition("far", "tgt", "execution")]
    )


def test_the_sample_grid_is_one():
    from skillshift import datasets

    assert read_grid(datasets.path("tau.toml")).websites == {"airline": 50}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("websites", "not a TOML file"),
        ("name = 'x'", "expected a table [websites] of task counts and a list of conditions"),
        ("websites = 3\nconditions = ['x']", "expected a table [websites]"),
        ("conditions = 'x'\n[websites]\na = 1", "a list of conditions"),
        ("condition = ['x']\n[websites]\na = 1", "unknown key 'condition'"),
        ("name = 3\nconditions = ['x']\n[websites]\na = 1", "name: found 3, expected text"),
        ("conditions = ['x']\n[websites]\na = 1.5", "'a' has 1.5 tasks"),
        ("conditions = ['x', 3]\n[websites]\na = 1", "found the condition 3"),
        ("conditions = [{ context = 'src' }]\n[websites]\na = 1", "a table with a name"),
        ("conditions = [{ name = 'x', contxt = 'src' }]\n[websites]\na = 1", "unknown key 'contxt'"),
        ("conditions = [{ name = 'x', context = 'near' }]\n[websites]\na = 1", "context 'near'"),
        ("conditions = [{ name = 'x', shift = 'big' }]\n[websites]\na = 1", "shift 'big'"),
        ("conditions = ['x', 'x']\n[websites]\na = 1", "conditions named twice: x"),
    ],
)
def test_a_file_that_is_no_grid_is_refused_by_name(tmp_path, text, says):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "grid.toml"))
    assert says in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"missing\.toml: the grid cannot be read"):
        read_grid(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="the grid cannot be read"):
        read_grid(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match=r"latin\.toml: not a TOML file"):
        read_grid(tmp_path / "latin.toml")


@pytest.mark.parametrize("tasks", [2**32, 10**20])
def test_a_website_has_no_more_tasks_than_can_be_counted(tasks):
    with pytest.raises(InputError, match="from 1 to 4294967295"):
        Grid("g", {"shop": tasks}, ["src"])
    assert Grid("g", {"shop": 2**32 - 1}, ["src"]).tasks == 2**32 - 1
