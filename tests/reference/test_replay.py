"""The reference recording, replayed under the production router: the published figures."""

from __future__ import annotations

import json
from typing import NamedTuple

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

import skillful_eval as se
from skillful_eval.run_cli import run
from skillshift.frame.writing import sha256

pytestmark = pytest.mark.reference

CHANGED_MIND = 1
"""How many fixtures change their mind between repeats."""


class Replayed(NamedTuple):
    ran: Result
    runs: pl.DataFrame
    report: pl.DataFrame
    told: dict[str, str]


@pytest.fixture(scope="module")
def replayed(reference, tmp_path_factory):
    """What a replay of the development fixtures comes to: exit code, runs, report; each made once."""
    routing = reference / "routing"
    corpus = se.read_corpus(routing / "distractors.json")
    fixtures = se.read_fixtures(routing / "routing.jsonl", corpus)
    app = typer.Typer()
    app.command()(run)
    known = {}

    def make(*options):
        if options not in known:
            out = tmp_path_factory.mktemp("replay") / "runs.parquet"
            files = [
                "--fixtures",
                str(routing / "routing.jsonl"),
                "--corpus",
                str(routing / "distractors.json"),
            ]
            source = ["--router", "http", "--replay", str(routing / "replay.json"), "--quota", "skill=6"]
            ran = CliRunner().invoke(app, [*source, *files, "--out", str(out), *options])
            assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
            scored = se.score(se.scan_runs(out), fixtures, corpus)
            report = se.report(scored).filter(scope="all")
            known[options] = Replayed(ran, pl.read_parquet(out), report, pl.read_parquet_metadata(out))
        return known[options]

    return make


def row(report, metric):
    return report.filter(metric=metric).select("value", "numerator", "denominator", "reason").row(0)


@pytest.mark.parametrize(("threshold", "found", "thousandths"), [("0.5", 36, 750), ("0.4", 39, 813)])
@pytest.mark.parametrize("text", [(), ("--without-when-to-use",)])
def test_a_lower_none_threshold_abstains_more(replayed, threshold, found, thousandths, text):
    """39 of 48 is 0.8125 exactly, published as 0.813: half up, from the sums."""
    _, _, report, _ = replayed("--none-threshold", threshold, *text)
    recall, numerator, denominator, _ = row(report, "noneRecall")
    assert (recall, numerator, denominator) == (found / 48, found, 48)
    assert (2 * 1000 * found + 48) // (2 * 48) == thousandths


def test_two_fixtures_do_not_agree_as_one_recorded_winner_is_no_longer_offered(replayed):
    ran, runs, report, _ = replayed()
    assert row(report, "agreementRate") == (65 / 67, 65, 67, None)
    degraded = runs.filter(decision="degraded")
    assert degraded.select("fixture_id", "repeat", "reason").rows() == [
        ("amb-release", repeat, "malformed") for repeat in range(3)
    ]
    assert ran.exit_code == 1
    assert "malformed" in ran.stdout


def test_with_the_text_of_recording_time_the_published_live_figure_comes_out(replayed):
    """The shortlists that were recorded had been retrieved without the when-to-use texts."""
    ran, runs, report, _ = replayed("--without-when-to-use")
    assert row(report, "agreementRate") == (66 / 67, 67 - CHANGED_MIND, 67, None)
    assert runs.filter(decision="degraded").height == 0
    assert ran.exit_code == 0


@pytest.mark.parametrize("text", [(), ("--without-when-to-use",)])
def test_with_more_repeats_than_responses_agreement_is_not_measured(replayed, text):
    ran, runs, report, _ = replayed("--repeat", "5", *text)
    value, _, _, reason = row(report, "agreementRate")
    assert (value, reason) == (None, "reused-responses")
    assert "reused in 59 fixtures: agreement will be undefined" in ran.stdout
    assert runs.height == 335


def test_every_request_has_a_response_and_no_latency(replayed):
    runs = replayed().runs
    by_reason = dict(runs.group_by("latency_reason").agg(pl.len().cast(pl.Int64)).rows())
    assert by_reason == {"replayed": 201}
    assert runs["latency_ms"].null_count() == runs.height
    asked = runs.filter(pl.col("response_index").is_not_null())
    assert asked.height == 59 * 3
    assert asked["response_index"].to_list() == asked["repeat"].to_list()
    assert runs.filter(reason="unrecorded").height == 0


def test_the_file_says_which_recording_answered(replayed, reference):
    configuration = json.loads(replayed().told["configuration"])
    assert configuration["replay"] == f"sha256:{sha256(reference / 'routing' / 'replay.json')}"
    assert configuration["router"]["none-threshold"] == "0.4"
