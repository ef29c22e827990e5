from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.runs import scan_runs
from skillful_eval.schema import RUNS
from skillful_eval.scoring import score
from skillshift.frame.errors import ContractError


def test_parquet_jsonl_and_frames_are_the_same(tmp_path, runs_of, whole, fixtures, corpus):
    frame = runs_of(*whole)
    frame.write_parquet(tmp_path / "runs.parquet")
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in whole))
    scored = [
        score(scan_runs(source), fixtures, corpus).runs.collect()
        for source in (frame, frame.to_arrow(), tmp_path / "runs.parquet", tmp_path / "runs.jsonl")
    ]
    assert all(other.equals(scored[0]) for other in scored)


def test_coded_shortlists_stay_coded(tmp_path, runs_of, whole, corpus):
    ids = pl.List(pl.Enum(corpus.entries["id"]))
    runs_of(*whole).with_columns(pl.col("shortlist").cast(ids)).write_parquet(tmp_path / "runs.parquet")
    scanned = scan_runs(tmp_path / "runs.parquet")
    assert scanned.collect_schema()["shortlist"] == ids
    assert scanned.select("shortlist").collect()["shortlist"].to_list() == [row["shortlist"] for row in whole]


def test_what_a_parquet_file_says_of_its_making_becomes_columns(tmp_path, runs_of, whole):
    frame = runs_of(*whole)
    frame.write_parquet(tmp_path / "a.parquet", metadata={"fixture_set": "dev", "tuned_on": "dev", "x": "y"})
    frame.write_parquet(tmp_path / "b.parquet", metadata={"fixture_set": "holdout"})
    frame.write_parquet(tmp_path / "c.parquet")
    found = scan_runs(tmp_path).select("fixture_set", "tuned_on").unique(maintain_order=True).collect()
    assert found.rows() == [("dev", "dev"), ("holdout", None), (None, None)]
    assert "x" not in scan_runs(tmp_path).collect_schema()


def test_a_record_s_own_word_goes_first(tmp_path, runs_of, whole):
    rows = [row | {"fixture_set": "dev" if i else None} for i, row in enumerate(whole)]
    runs_of(*rows).write_parquet(tmp_path / "a.parquet", metadata={"fixture_set": "holdout"})
    found = scan_runs(tmp_path / "a.parquet").collect()["fixture_set"].to_list()
    assert found == ["holdout", "dev", "dev", "dev"]


def test_a_bad_line_is_located(tmp_path, whole):
    lines = [json.dumps(row) for row in whole]
    lines[2] = lines[2].replace('"repeat": 0', '"repeat": 0.5')
    (tmp_path / "runs.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(ContractError) as error:
        scan_runs(tmp_path / "runs.jsonl")
    assert error.value.violations[0].line == 3


def test_a_broken_rule_is_located_by_file_and_line(tmp_path, whole, fixtures, corpus):
    whole[3]["latency_ms"], whole[2]["latency_ms"] = -1.0, 2.0
    for row in whole[:2]:
        row["latency_ms"] = None
    path = tmp_path / "runs.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in whole) + "\n")
    with pytest.raises(ContractError) as error:
        score(scan_runs(path), fixtures, corpus)
    assert (error.value.violations[0].file, error.value.violations[0].line) == (str(path), 7)


def test_the_pandera_model_finds_the_same(runs_of, whole):
    import pandera.errors

    model = RUNS.model()
    model.validate(runs_of(*whole), lazy=True)
    whole[0]["chosen"] = None
    with pytest.raises(pandera.errors.SchemaErrors):
        model.validate(runs_of(*whole), lazy=True)


def test_files_that_code_their_ids_differently_meet_as_text(tmp_path, runs_of, whole, fixtures, corpus):
    ids = corpus.entries["id"].to_list()
    types = {"a": pl.Enum(ids), "b": pl.Enum(ids[::-1]), "c": pl.Categorical(), "d": pl.String()}
    for config, dtype in types.items():
        frame = runs_of(*(row | {"config": config} for row in whole))
        frame.with_columns(
            pl.col("shortlist").cast(pl.List(dtype)), pl.col("chosen").cast(dtype)
        ).write_parquet(tmp_path / f"{config}.parquet")
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(row | {"config": "e"}) + "\n" for row in whole))
    scanned = scan_runs(tmp_path)
    assert scanned.collect_schema()["shortlist"] == pl.List(pl.String)
    scored = score(scanned, fixtures, corpus).runs.collect()
    expected = score(runs_of(*whole), fixtures, corpus).runs.collect()
    for config in "abcde":
        assert (
            scored.filter(config=config)
            .select(expected.columns)
            .drop("choice")
            .equals(expected.drop("choice"))
        )
