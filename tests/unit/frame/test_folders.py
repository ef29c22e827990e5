from __future__ import annotations

import polars as pl
import pytest

from skillshift.frame.contract import FILE, RECORD, Field, Kind, Table
from skillshift.frame.errors import ContractError, InputError
from skillshift.frame.folders import Part, typed_folders, with_folders, with_runs
from skillshift.frame.sources import Log


def logs(*paths_and_keys):
    return tuple(
        Log(path, is_parquet=False, is_named=False, partitions=keys) for path, keys in paths_and_keys
    )


FRAME = pl.LazyFrame({"_file": ["a", "a", "b"], "own": [1, 1, 2]})


def test_folders_give_text():
    part = with_folders(
        Part(logs(("a", (("run", "01"), ("x", None))), ("b", (("run", "02"), ("x", "y")))), FRAME)
    )
    assert part.frame.collect().to_dict(as_series=False) == {
        "_file": ["a", "a", "b"], "own": [1, 1, 2], "run": ["01", "01", "02"], "x": [None, None, "y"],
    }  # fmt: skip


def test_one_value_for_all_needs_no_look_at_the_file():
    part = with_folders(Part(logs(("a", (("run", "1"),)), ("b", (("run", "1"),))), FRAME.drop("_file")))
    assert part.frame.collect()["run"].to_list() == ["1"] * 3


def test_a_column_that_the_records_have_stays_if_it_says_the_same():
    part = with_folders(Part(logs(("a", (("own", "1"),)), ("b", (("own", "2"),))), FRAME))
    assert part.frame.collect().equals(FRAME.collect())


@pytest.mark.parametrize("said", ["01", "2", None])
def test_records_and_folders_that_contradict_each_other(said):
    with pytest.raises(InputError, match=r'a: found own "1" in a record'):
        with_folders(Part(logs(("a", (("own", said),)), ("b", (("own", "2"),))), FRAME))


def test_runs():
    assert with_runs(FRAME, {"a": "x", "b": "y"}).collect()["run"].to_list() == ["x", "x", "y"]


KINDS = {"n": Kind.COUNT, "f": Kind.NUMBER, "b": Kind.FLAG, "l": Kind.LABEL}
TABLE = Table("t", "T", tuple(Field(name, kind, "") for name, kind in KINDS.items()))


def typed(**values):
    part = with_folders(Part(logs(("a", tuple(values.items()))), pl.LazyFrame({"_file": ["a"]})))
    return typed_folders(part.frame, part.logs, TABLE).drop("_file").collect().row(0, named=True)


def test_folders_of_fields_that_are_not_text():
    assert typed(n="-07", f="1.5", b="false", l="01", z="1") == {
        "n": -7,
        "f": 1.5,
        "b": False,
        "l": "01",
        "z": "1",
    }
    assert typed(n=None, f="2", b=None) == {"n": None, "f": 2.0, "b": None}


@pytest.mark.parametrize(
    "wrong", [{"n": "1.5"}, {"n": "x"}, {"n": ""}, {"n": "9" * 19}, {"f": "nan"}, {"b": "1"}]
)
def test_folders_that_are_not_what_their_field_asks_for(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(
        ContractError, match=rf'a: {name}: found "{value}" in the folder\'s name.*\[{name}\.type\]'
    ):
        typed(**wrong)


def test_a_column_of_the_records_is_not_parsed():
    part = Part(logs(("a", ())), pl.LazyFrame({"n": ["1"]}))
    assert typed_folders(part.frame, part.logs, TABLE).collect_schema()["n"] == pl.String


def test_a_record_without_the_key_is_what_its_folder_says():
    # Files are read together: where one has the key, the records of the others have a null there.
    frame = pl.LazyFrame({"own": ["1", None, "2"], FILE: ["a", "b", "a"], RECORD: [0, 0, 1]})
    part = with_folders(Part(logs(("b", (("own", "3"),))), frame.filter(pl.col(FILE) == "b")))
    assert part.frame.collect()["own"].to_list() == ["3"]
