"""Bundled data: where it is found, and what it holds."""

from __future__ import annotations

import csv

import polars as pl
import pytest

import skillshift
from skillshift import SKILLSHIFT, InputError, datasets, read_grid


def test_table1_is_text_with_two_decimals():
    table = datasets.table1()
    numbers = [*SKILLSHIFT.website_names, *SKILLSHIFT.condition_names, "overall"]
    assert table.columns == ["method", "metric", *numbers]
    assert set(table.dtypes) == {pl.String}
    assert table.null_count().sum_horizontal().item() == 0
    assert table.select(pl.all_horizontal(pl.col(numbers).str.contains(r"^[0-9]+\.[0-9]{2}$")).all()).item()
    methods = ["SkillWeaver", "ASI", "WALT"]
    assert table.select("method", "metric").rows() == [
        *((method, metric) for method in methods for metric in ("SR", "AS", "ASC", "SFR")),
        ("AWM", "SR"),
        ("AWM", "AS"),
    ]


def test_every_row_of_table1_says_where_it_is_from():
    with datasets.path("table1.csv").open(encoding="utf-8", newline="") as lines:
        sources = [row["source"] for row in csv.DictReader(lines)]
    assert len(sources) == 14
    assert all(source.startswith("SkillShift-Bench paper, Table 1") for source in sources)


def test_the_sample_grid_is_the_airline_runs():
    grid = read_grid(datasets.path("tau.toml"))
    assert dict(grid.websites) == {"airline": 50}
    assert grid.condition_names == ("trial-0", "trial-1", "trial-2", "trial-3")
    assert grid.name == "tau-airline"
    assert not grid.inferred


def test_every_bundled_file_is_in_the_readme():
    folder = datasets.path("README.md").parent
    text = (folder / "README.md").read_text(encoding="utf-8")
    for item in folder.iterdir():
        assert item.name == "README.md" or f"`{item.name}{'/' * item.is_dir()}`" in text


@pytest.mark.parametrize(
    "name", ["nothing.csv", "", ".", "..", "../pyproject.toml", "/etc/hosts", "demo/../.."]
)
def test_what_is_not_bundled_is_named(name):
    with pytest.raises(InputError, match=r"expected one of: .*table1\.csv") as raised:
        datasets.path(name)
    assert repr(name) in str(raised.value)


def test_an_installation_without_its_data_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "_FOLDERS", (tmp_path / "_data", tmp_path / "data"))
    with pytest.raises(InputError, match="none there; install skillshift anew"):
        datasets.table1()


def test_the_packages_own_folder_comes_first(tmp_path, monkeypatch):
    for folder in ("_data", "data"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "table1.csv").write_text(f"method,source\n{folder},here\n", encoding="utf-8")
    monkeypatch.setattr(datasets, "_FOLDERS", (tmp_path / "_data", tmp_path / "data"))
    assert datasets.table1().rows() == [("_data",)]


def test_demo_holds_three_methods_whose_identities_hold():
    cells = skillshift.cells(datasets.demo())
    assert cells["complete"].all()
    assert cells.height == 3 * 18
    found = skillshift.identity(skillshift.marginals(cells))
    assert set(found["verdict"]) == {"holds", "undefined"}
    undefined = found.filter(pl.col("verdict") == "undefined")
    assert set(undefined["metric"]) <= {"ASC", "SFR"}
    # One method has no executable skills.
    assert undefined.filter(pl.col("reason") == "not-applicable")["metric"].to_list() == ["ASC", "SFR"]


def test_demo_is_the_demonstration_logs(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("skillshift.logs.scan_per_task", lambda source: seen.append(source) or pl.LazyFrame())
    (tmp_path / "demo" / "runs").mkdir(parents=True)
    monkeypatch.setattr(datasets, "_FOLDERS", (tmp_path,))
    assert isinstance(datasets.demo(), pl.LazyFrame)
    assert seen == [tmp_path / "demo" / "runs"]
