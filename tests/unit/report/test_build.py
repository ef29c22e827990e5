"""From log files to a report, and a report to a folder."""

from __future__ import annotations

import json

import polars as pl
import pytest

import skillshift
from skillshift import cells, marginals
from skillshift.frame.errors import ContractError, InputError
from skillshift.frame.writing import SCHEMA_VERSION, sha256
from skillshift.report.build import build_report, write_outputs, write_report

FILES = ["cells.parquet", "manifest.json", "marginals.parquet", "report.md"]


def quarantined(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_report_is_that_of_the_cells_of_the_logs(grid, complete, frame, written):
    log = written(complete(method="m"))
    built = build_report(str(log), grid=grid)
    assert built.report.cells.equals(cells(frame(complete(method="m")), grid=grid))
    assert built.report.numbers.equals(marginals(built.report.cells))
    assert (built.report.by, built.report.grid, built.report.refused) == (("method",), grid, 0)
    assert not built.report.finding


def test_options_reach_the_cells(grid, complete, written):
    log = written([*complete(seed=1)[1:], complete(seed=1)[3] | {"steps": 50}])
    report = build_report(str(log), grid=grid, by=["seed"], incomplete="scored", on_duplicates="last").report
    assert report.by == ("seed",)
    assert report.cells["reason"].null_count() == 4
    assert report.cells["steps"].to_list()[1] == 50 + 3 + 4
    assert (report.measured.records, report.measured.duplicates) == (9, 1)
    assert report.finding


def test_a_grid_can_be_inferred(grid, complete, written):
    report = build_report(str(written(complete())), grid=None).report
    assert report.grid.inferred
    assert dict(report.grid.websites) == dict(grid.websites)
    assert sorted(report.grid.condition_names) == sorted(grid.condition_names)


def test_each_file_may_be_a_run(grid, complete, written):
    for name in ("one", "two"):
        written(complete(), f"runs/{name}.jsonl")
    report = build_report(
        str(written(complete(), "runs/three.jsonl").parent), grid=grid, run_from="path"
    ).report
    assert report.by == ("run",)
    assert report.cells["run"].unique().sort().to_list() == ["one", "three", "two"]


# -- quarantine ------------------------------------------------------------------------------------------


def test_bad_records_are_refused_unless_they_may_be_quarantined(grid, complete, written, tmp_path):
    log = written([complete()[0] | {"steps": -1}, *complete()[1:]])
    with pytest.raises(ContractError, match=r"steps\.negative 1"):
        build_report(str(log), grid=grid)
    assert not (tmp_path / "bad.jsonl").exists()


def test_quarantined_records_are_written_with_their_reasons_and_their_cells_are_incomplete(
    grid, complete, written, tmp_path
):
    first = complete(method="m")[0]
    lines = [
        *complete(method="m"),
        first | {"uid": "skillshift.big.v1.9"},  # out of range
        first | {"success": "fail", "condition": "far"},  # of the wrong type
        "{",
    ]
    log, bad = written(lines), tmp_path / "bad.jsonl"
    built = build_report(str(log), grid=grid, quarantine=bad)
    assert not bad.exists()
    write_outputs(built, None)
    assert [(one["line"], one["code"]) for one in quarantined(bad)] == [
        (11, "uid.range"),
        (12, "success.type"),
        (13, "json.syntax"),
    ]
    assert quarantined(bad)[0]["raw"] == json.dumps(lines[10])
    assert {one["file"] for one in quarantined(bad)} == {str(log)}
    assert built.report.cells["complete"].to_list() == [False, False, True, True]
    assert built.report.cells["scored"].to_list() == [3, 3, 2, 2]
    assert built.report.refused == 3
    assert built.report.unplaced == 1
    assert built.report.finding


def test_a_run_whose_every_record_was_refused_is_a_run_without_scores(grid, complete, written, tmp_path):
    lines = [*complete(method="m"), *(one | {"steps": -1} for one in complete(method="lost"))]
    built = build_report(str(written(lines)), grid=grid, quarantine=tmp_path / "bad.jsonl")
    assert built.report.cells["method"].unique(maintain_order=True).to_list() == ["lost", "m"]
    lost = built.report.cells.filter(method="lost")
    assert lost["scored"].to_list() == [0, 0, 0, 0]
    assert not lost["complete"].any()


def test_no_quarantine_is_left_of_a_report_that_cannot_be_written(grid, complete, written, tmp_path):
    log, bad, out = written([*complete(), "{"]), tmp_path / "bad.jsonl", tmp_path / "out"
    bad.write_text("earlier")
    out.write_text("no folder")
    with pytest.raises(InputError, match="cannot be written"):
        write_outputs(build_report(str(log), grid=grid, quarantine=bad), out)
    assert bad.read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({"bad.jsonl", "out", log.name})


@pytest.mark.parametrize("name", ["", "."])
def test_a_folder_with_the_logs_takes_no_report(grid, complete, written, tmp_path, monkeypatch, name):
    log = written(complete())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"holds the log|an empty name"):
        write_report(build_report(str(log), grid=grid), name)
    assert list(tmp_path.iterdir()) == [log]


def test_without_a_bad_record_no_quarantine_is_written(grid, complete, written, tmp_path):
    built = build_report(str(written(complete())), grid=grid, quarantine=tmp_path / "bad.jsonl")
    assert not (tmp_path / "bad.jsonl").exists()
    assert not built.report.finding


@pytest.mark.parametrize("broken", [{"steps": -1}, {"uid": "skillshift.small.v1.1"}])
def test_no_grid_is_inferred_from_logs_that_lost_a_record(complete, written, tmp_path, broken):
    # The lost record's task would not be planned, so a missing task could raise a score.
    log = str(written([*complete(), complete()[0] | broken]))
    with pytest.raises(InputError, match="name the grid"):
        build_report(log, grid=None, quarantine=tmp_path / "bad.jsonl")
    whole = str(written(complete()))
    assert build_report(whole, grid=None, quarantine=tmp_path / "bad.jsonl").report.grid.inferred


@pytest.mark.parametrize("name", ["good.jsonl", "bad.jsonl", "../{}/bad.jsonl"])
def test_a_log_is_never_overwritten_with_its_own_bad_records(grid, complete, written, tmp_path, name):
    good, bad = written(complete(), "good.jsonl"), written(["{"], "bad.jsonl")
    before = [path.read_bytes() for path in (good, bad)]
    with pytest.raises(InputError, match="is one of the logs"):
        build_report([str(good), str(bad)], grid=grid, quarantine=tmp_path / name.format(tmp_path.name))
    assert [path.read_bytes() for path in (good, bad)] == before


# -- a folder --------------------------------------------------------------------------------------------


def test_a_folder_holds_cells_marginals_report_and_manifest(grid, complete, written, tmp_path):
    log = written(complete(method="m", run="1") + complete(method="m", run="2")[1:])
    built = build_report(str(log), grid=grid)
    write_report(built, tmp_path / "out")
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert pl.read_parquet(out / "cells.parquet").equals(built.report.cells)
    assert pl.read_parquet(out / "marginals.parquet").equals(built.report.numbers)
    assert (out / "report.md").read_text(encoding="utf-8").startswith("# SkillShift report\n")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["inputs"] == [{"file": str(log), "records": 19, "sha256": sha256(log)}]
    assert manifest["outputs"] == {name: sha256(out / name) for name in FILES if name != "manifest.json"}
    assert manifest["grid"] == grid.to_dict()
    assert manifest["run_keys"] == ["method", "run"]
    assert manifest["counts"] == {
        "runs": 2,
        "cells": 8,
        "incomplete_cells": 1,
        "records": 19,
        "duplicates_left_out": 0,
        "records_refused": 0,
    }


def test_parquet_files_say_what_they_are(grid, complete, written, tmp_path):
    write_report(build_report(str(written(complete())), grid=grid), tmp_path / "out")
    for name in ("cells.parquet", "marginals.parquet"):
        said = pl.read_parquet_metadata(tmp_path / "out" / name)
        assert said["schema_version"] == SCHEMA_VERSION
        assert said["package_version"] == skillshift.__version__
        assert json.loads(said["grid"]) == grid.to_dict()


def test_null_zero_and_error_stay_apart_in_parquet(grid, complete, written, tmp_path):
    records = complete(run="quiet", calls=0) + complete(run="tips", calls=None)
    records += [complete(run="wrong")[0] | {"error": "down", "success": None, "steps": None}]
    write_report(build_report(str(written(records)), grid=grid), tmp_path / "out")
    back = pl.read_parquet(tmp_path / "out" / "cells.parquet").filter(website="big", condition="near")
    assert back.select("run", "errored", "skill_calls", "ASC", "SFR", "reason").rows() == [
        ("quiet", 0, 0, 0.0, None, "no-skill-calls"),
        ("tips", 0, None, None, None, "not-applicable"),
        ("wrong", 1, 0, None, None, "incomplete"),
    ]


def test_a_report_that_cannot_be_written_damages_none(grid, complete, written, tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_report(build_report(str(written(complete())), grid=grid), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    later = build_report(str(written(complete()[1:])), grid=grid)
    monkeypatch.setattr("skillshift.report.formats.markdown.render", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(later, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def interrupted(_report):
    raise KeyboardInterrupt


def test_a_frame_has_no_files_to_name(grid, complete, frame, tmp_path):
    write_report(build_report(frame(complete()), grid=grid), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["inputs"] == []
    assert manifest["counts"]["records"] == 10
