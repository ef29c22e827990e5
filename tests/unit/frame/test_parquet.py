from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skillshift.frame.errors import InputError
from skillshift.frame.parquet import scan_parquet
from skillshift.frame.sources import find_logs


@pytest.fixture
def put_rows(tmp_path):
    def write(name, **columns):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(columns).write_parquet(path)
        return path

    return write


def read(source):
    return pl.concat(
        [part.frame.collect() for part in scan_parquet(find_logs(source))], how="diagonal_relaxed"
    )


def test_rows_know_their_file_and_number(put_rows, tmp_path):
    paths = [put_rows("1.parquet", a=[1, 2]), put_rows("2.parquet", a=[3])]
    assert read(tmp_path).select("a", "_file", "_record").rows() == [
        (1, str(paths[0]), 0), (2, str(paths[0]), 1), (3, str(paths[1]), 0),
    ]  # fmt: skip
    assert read(paths[1]).select("a", "_record").rows() == [(3, 0)]


def test_what_is_not_asked_for_is_not_read(put_rows, tmp_path):
    put_rows("1.parquet", a=[1], b=[2])
    (part,) = scan_parquet(find_logs(tmp_path))
    assert "PROJECT 1/2 COLUMNS" in part.frame.select("a").explain()


def test_neighbours_of_one_schema_are_one_scan(put_rows, tmp_path):
    put_rows("1.parquet", a=[1])
    put_rows("2.parquet", a=[2])
    put_rows("3.parquet", a=["x"])
    put_rows("k=v/4.parquet", a=["x"])
    assert [len(part.logs) for part in scan_parquet(find_logs(tmp_path))] == [2, 1, 1]


def test_hive_partitions_are_text(put_rows, tmp_path):
    put_rows("run=01/x=/1.parquet", a=[1])
    put_rows("run=1/x=__HIVE_DEFAULT_PARTITION__/1.parquet", a=[2])
    put_rows("run=a%20b/x=y/k=v.parquet", a=[3])
    expected = [(1, "01", ""), (2, "1", None), (3, "a b", "y")]
    for source in [tmp_path, f"{tmp_path}/*/*/*.parquet", [log.path for log in find_logs(tmp_path)]]:
        assert read(source).select("a", "run", "x").rows() == expected
    assert read(tmp_path / "run=01/x=/1.parquet")["run"].to_list() == ["01"]
    assert "k" not in read(tmp_path).columns


def test_folders_that_polars_passes_over(put_rows, tmp_path):
    put_rows("run=a=b/1.parquet", a=[1])
    assert read(tmp_path)["run"].to_list() == ["a=b"]


def test_a_key_that_the_file_has_too(put_rows, tmp_path):
    put_rows("run=1/y=2/1.parquet", a=[1], run=[1])
    assert read(tmp_path).select("a", "run", "y").rows() == [(1, 1, "2")]
    put_rows("run=2/y=2/1.parquet", a=[1], run=[3])
    with pytest.raises(InputError, match=r'run=2.*found run "3" in a record'):
        read(tmp_path)


def test_names_with_marks(put_rows):
    path = put_rows("a [1]*/é?.parquet", a=[1])
    assert read(path)["_file"].to_list() == [str(path)]


def test_dictionaries_of_pyarrow(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["x", "y", "unused"]))
    pq.write_table(pa.table({"a": column}), tmp_path / "1.parquet")
    assert read(tmp_path)["a"].cast(pl.String).to_list() == ["y", "x"]


@pytest.mark.parametrize("name", ["_file", "_record"])
def test_columns_that_readers_add(put_rows, name):
    with pytest.raises(InputError, match=rf"1\.parquet: has a column {name}"):
        read(put_rows("1.parquet", **{name: [1]}))


def test_a_file_without_rows(put_rows, tmp_path):
    put_rows("1.parquet", a=[1])
    put_rows("2.parquet", a=pl.Series([], dtype=pl.Int64))
    for source in [tmp_path, tmp_path / "2.parquet"]:
        with pytest.raises(InputError, match=r"2\.parquet: has no rows"):
            read(source)


def test_a_cut_file(put_rows):
    path = put_rows("1.parquet", a=[1])
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputError, match=r"1\.parquet: cannot be read as Parquet"):
        read(path)
