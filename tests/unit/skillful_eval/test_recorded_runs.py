"""The bundled runs: what their script makes, what their README says, and that they score."""

from __future__ import annotations

import importlib.util
import sys

import polars as pl
import pytest

import skillful_eval as se

SETS = {"dev": 75, "holdout": 25}


@pytest.fixture(scope="module")
def routing(root):
    return root / "data" / "routing"


@pytest.fixture(scope="module")
def corpus(routing):
    return se.read_corpus(routing / "corpus.json")


@pytest.fixture(scope="module")
def script(routing):
    spec = importlib.util.spec_from_file_location("make_runs", routing / "make_runs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_runs"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make_runs"]


@pytest.fixture(scope="module", params=SETS)
def scored(request, routing, corpus):
    fixtures = se.read_fixtures(routing / f"fixtures.{request.param}.jsonl", corpus)
    return se.score(se.scan_runs(routing / "runs" / f"{request.param}.parquet"), fixtures, corpus)


def test_the_holdout_runs_are_what_the_script_makes(script, routing, corpus):
    frame, metadata = script.simulated("holdout", corpus)
    path = routing / "runs" / "holdout.parquet"
    assert pl.read_parquet(path).equals(frame)
    written = pl.read_parquet_metadata(path)
    assert {name: written[name] for name in metadata} == metadata


def test_every_fixture_has_its_repeats(scored):
    counts = (
        scored.runs.group_by("config").agg(pl.len(), pl.col("repeat").n_unique()).sort("config").collect()
    )
    runs = 3 * scored.provenance.fixtures
    assert counts.rows() == [("narrow-8", runs, 3), ("wide-20", runs, 3)]
    assert scored.provenance.fixtures == SETS[scored.provenance.fixture_set.removeprefix("fixtures.")]
    assert se.uncovered(scored).is_empty()


def test_they_say_what_they_were_made_with(scored):
    assert set(scored.provenance.findings["code"]) == {"runs.degraded"}
    is_dev = scored.provenance.fixture_set == "fixtures.dev"
    assert scored.provenance.tuned_here.height == (2 if is_dev else 0)


def test_the_report_is_defined(scored):
    report = se.report(scored).filter(scope="all")
    undefined = report.filter(pl.col("value").is_null()).select("metric", "reason").unique().sort("metric")
    # A run that asked nothing, or had no answer, tells no tokens.
    assert undefined.rows() == [
        ("tokensInMean", "partly-recorded"),
        ("tokensOutMean", "partly-recorded"),
    ]
    values = dict(report.filter(config="wide-20").select("metric", "value").rows())
    assert values["meanShortlistLength"] == 20.0
    if scored.provenance.fixture_set == "fixtures.holdout":
        assert values["recall@K"] == 16 / 18
