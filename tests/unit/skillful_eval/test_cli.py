from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import NamedTuple

import polars as pl
import pytest
from typer.testing import CliRunner

from skillful_eval.cli import BUDGET_MS, app
from skillful_eval.latency import BUDGET_MS as DOCUMENTED_BUDGET_MS
from skillful_eval.schema import GROUPS
from skillshift.frame.errors import InputError

DONE, FINDING, REFUSED = 0, 1, 2


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path, monkeypatch, head, entries, fixtures, run_of):
    """A folder with a corpus, two sets of fixtures, and runs of two repeats that are all right."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.json").write_text(json.dumps(head | {"entries": entries}), encoding="utf-8")
    prompts = {
        "undo": "roll it back",
        "plan": "what comes first",
        "store": "where is it kept",
        "thanks": "thanks!",
    }
    lines = [
        {
            "id": row["fixture_id"],
            "group": row["group"],
            "prompt": prompts[row["fixture_id"]],
            "gold": row["gold"],
        }
        for row in fixtures.frame.to_dicts()
    ]
    text = "# made for a test\n" + "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "holdout.jsonl").write_text(text, encoding="utf-8")
    other = lines[0] | {"id": "other", "prompt": "ship the newsletter"}
    (tmp_path / "dev.jsonl").write_text(json.dumps(other) + "\n", encoding="utf-8")
    picks = {"undo": "b:undo", "plan": "a:plan", "store": "a:db"}
    runs = [
        run_of(name, [pick], "injected", pick, repeat=repeat, latency_ms=100.0)
        for name, pick in picks.items()
        for repeat in range(2)
    ] + [run_of("thanks", ["a:db"], reason="none", repeat=repeat, latency_ms=100.0) for repeat in range(2)]
    write_runs(tmp_path, runs)
    return tmp_path


def write_runs(folder, runs, name="runs.jsonl"):
    (folder / name).write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")


def read_runs(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def cli(home):  # noqa: ARG001  # the commands run there
    def run(*arguments):
        told = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if isinstance(told.exception, InputError):
            return Ran(REFUSED, told.stdout, f"error: {told.exception}")
        assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
        return Ran(told.exit_code, told.stdout, told.stderr)

    return run


INPUTS = ("runs.jsonl", "--fixtures", "holdout.jsonl", "--corpus", "corpus.json")


# -- report ----------------------------------------------------------------------------------------------


def test_the_report_in_every_format(cli):
    table = cli("report", *INPUTS)
    assert (table.code, table.err) == (DONE, "")
    assert "All fixtures" in table.out
    assert "holdout: 4 fixtures, 3 of them expect a capability" in table.out
    assert cli("report", *INPUTS, "--format", "markdown").out.startswith("# Routing report")
    data = json.loads(cli("report", *INPUTS, "--format", "json").out)
    assert data["provenance"]["fixture_set"] == "holdout"
    lines = list(csv.DictReader(io.StringIO(cli("report", *INPUTS, "--format", "csv").out)))
    recall = next(line for line in lines if line["metric"] == "recall@K")
    assert (recall["scope"], recall["value"], recall["denominator"]) == ("all", "1.0", "6")


def test_the_report_by_other_keys_and_of_one_group(cli, home):
    runs = [run | {"config": config, "model": "m"} for config in "ab" for run in read_runs(home)]
    write_runs(home, runs)
    found = cli("report", *INPUTS, "--by", "config", "--by", "model", "--group", "mcp", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(found.out)))
    assert {(line["config"], line["model"]) for line in lines} == {("a", "m"), ("b", "m")}
    assert {line["scope"] for line in lines if line["scope"].startswith("group:")} == {"group:mcp"}
    pooled = cli("report", *INPUTS, "--by", "model")
    assert (pooled.code, "would pool 2 configurations" in pooled.err) == (REFUSED, True)
    assert cli("report", *INPUTS, "--group", "mpc").code == REFUSED


def test_the_budget_is_an_option(cli):
    def over(*options):
        data = json.loads(cli("report", *INPUTS, "--format", "json", *options).out)
        return next(row["value"] for row in data["report"] if row["metric"] == "overBudgetRate")

    assert (over(), over("--budget-ms", "99.5")) == (0, 1)
    assert BUDGET_MS == DOCUMENTED_BUDGET_MS == 2000
    assert cli("report", *INPUTS, "--budget-ms", "-1").code == REFUSED


def test_fixtures_without_all_their_runs_are_a_finding(cli, home):
    write_runs(home, read_runs(home)[1:])
    found = cli("report", *INPUTS)
    assert found.code == FINDING
    assert "Fixtures that lack runs" in found.out
    assert "missing-repeats" in found.out


def test_the_report_s_folder(cli, home):
    assert cli("report", *INPUTS, "--out", "out").code == DONE
    names = sorted(path.name for path in (home / "out").iterdir())
    assert names == [
        "manifest.json", "misses.parquet", "report.md", "report.parquet", "uncovered.parquet",
        "unstable.parquet",
    ]  # fmt: skip
    manifest = json.loads((home / "out" / "manifest.json").read_text(encoding="utf-8"))
    inputs = {row["file"].rsplit("/")[-1]: row for row in manifest["inputs"]}
    assert set(inputs) == {"holdout.jsonl", "corpus.json", "runs.jsonl"}
    assert inputs["runs.jsonl"]["records"] == 8
    assert all(len(row["sha256"]) == 64 for row in inputs.values())
    assert manifest["budget_ms"] == 2000
    assert (home / "out" / "report.md").read_text(encoding="utf-8") == cli(
        "report", *INPUTS, "--format", "markdown"
    ).out


def test_bad_runs_write_no_folder(cli, home):
    write_runs(home, [*read_runs(home), read_runs(home)[0]])
    found = cli("report", *INPUTS, "--out", "out")
    assert (found.code, found.out) == (REFUSED, "")
    assert "run.duplicate" in found.err
    assert not (home / "out").exists()


# -- gate ------------------------------------------------------------------------------------------------


def test_a_gate_that_is_passed(cli):
    found = cli("gate", *INPUTS)
    assert (found.code, found.err) == (DONE, "")
    assert "6 of 6" in found.out


def test_a_gate_that_is_not_passed_says_what_blocks(cli, home):
    runs = read_runs(home)
    write_runs(home, [run | {"latency_ms": 1600.5} for run in runs])
    found = cli("gate", *INPUTS, "--format", "json")
    assert found.code == FINDING
    data = json.loads(found.out)
    assert (data["verdict"], data["configurations"][0]["blocked_by"]) == ("failed", ["latencyP95"])
    assert next(row for row in data["criteria"] if row["verdict"] == "failed")["shortfall"] == 100.5


def test_an_undefined_criterion_does_not_pass(cli, home):
    write_runs(home, [run for run in read_runs(home) if run["repeat"] == 0])
    found = cli("gate", *INPUTS)
    assert found.code == FINDING
    assert "agreementRate undefined (one-repeat)" in found.out


def test_one_bad_configuration_fails_the_gate(cli, home):
    good = [run | {"config": "good"} for run in read_runs(home)]
    bad = [run | {"config": "bad", "shortlist": [], "decision": "skipped", "chosen": None} for run in good]
    write_runs(home, good + bad)
    assert cli("gate", *INPUTS).code == FINDING
    write_runs(home, good)
    assert cli("gate", *INPUTS).code == DONE


def test_criteria_of_one_s_own(cli, home):
    (home / "gate.toml").write_text('[[criteria]]\nmetric = "recall@1"\nminimum = 1\n', encoding="utf-8")
    found = cli("gate", *INPUTS, "--criteria", "gate.toml", "--out", "out")
    assert (found.code, "1 of 1" in found.out) == (DONE, True)
    assert sorted(path.name for path in (home / "out").iterdir()) == [
        "gate.parquet", "manifest.json", "report.md", "report.parquet",
    ]  # fmt: skip
    manifest = json.loads((home / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["verdict"], manifest["keys"], manifest["budget_ms"]) == ("passed", [], 2000)
    assert "gate.toml" in {row["file"] for row in manifest["inputs"]}
    (home / "gate.toml").write_text('[[criteria]]\nmetric = "recall@1"\nminimum = 101\n', encoding="utf-8")
    refused = cli("gate", *INPUTS, "--criteria", "gate.toml")
    assert (refused.code, "gate.toml: criteria[1].minimum: found 101" in refused.err) == (REFUSED, True)
    assert cli("gate", *INPUTS, "--criteria", "none.toml").code == REFUSED


@pytest.mark.parametrize(
    "said", [{"tuned_on": "holdout"}, {"fixture_digest": "sha256:0"}, {"corpus_fingerprint": "x"}]
)
def test_a_set_that_confirms_nothing_is_refused(cli, home, said):
    write_runs(home, [run | said for run in read_runs(home)])
    found = cli("gate", *INPUTS, "--out", "out")
    assert (found.code, found.out) == (REFUSED, "")
    assert "holdout: refused: 8 runs" in found.err
    assert not (home / "out").exists()
    assert cli("report", *INPUTS).code == DONE


def test_what_a_parquet_file_s_metadata_says_is_heard(cli, home):
    runs = pl.read_ndjson(home / "runs.jsonl")
    runs.write_parquet(home / "runs.parquet", metadata={"tuned_on": "holdout"})
    found = cli("gate", "runs.parquet", *INPUTS[1:])
    assert (found.code, "tuned on this set" in found.err) == (REFUSED, True)


# -- misses, checks, events ------------------------------------------------------------------------------


def test_misses(cli, home):
    assert "0 of 8 runs went wrong" in cli("misses", *INPUTS).out
    runs = [run | {"decision": "skipped", "chosen": None} for run in read_runs(home)]
    write_runs(home, runs)
    found = cli("misses", *INPUTS)
    assert found.code == DONE
    assert "abstained-wrongly" in found.out
    assert "what comes first" in found.out
    assert len(json.loads(cli("misses", *INPUTS, "--format", "json").out)["misses"]) == 6


def test_fixtures_that_can_be_used(cli):
    found = cli(
        "fixtures", "check", "holdout.jsonl", "--corpus", "corpus.json", "--against", "dev.jsonl", "--strict"
    )
    assert (found.code, found.err) == (DONE, "")
    assert "Every gold resolves" in found.out


def test_fixtures_that_share_something_are_a_finding(cli, home):
    (home / "dev.jsonl").write_text((home / "holdout.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    found = cli("fixtures", "check", "holdout.jsonl", "--corpus", "corpus.json", "--against", "dev.jsonl")
    assert (found.code, "split.shared-id" in found.out) == (FINDING, True)


def test_findings_in_fixtures_fail_only_where_that_is_asked(cli, home):
    line = {"id": "again", "group": "coding", "prompt": "roll it back", "gold": ["plan"]}
    with (home / "holdout.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    arguments = ("fixtures", "check", "holdout.jsonl", "--corpus", "corpus.json")
    found = cli(*arguments)
    assert (found.code, "prompt.conflicting" in found.out) == (DONE, True)
    assert cli(*arguments, "--strict").code == FINDING


def test_fixtures_that_cannot_be_used_are_named(cli, home):
    with (home / "holdout.jsonl").open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"id": "bad", "group": "coding", "prompt": "x", "gold": ["palnner", "plan"]}) + "\n"
        )
    found = cli("fixtures", "check", "holdout.jsonl", "--corpus", "corpus.json")
    assert found.code == REFUSED
    assert 'holdout.jsonl:6: gold: found "palnner"' in found.err


def test_the_groups_are_checked_where_that_is_asked(cli, home):
    arguments = ("fixtures", "check", "holdout.jsonl", "--corpus", "corpus.json")
    assert cli(*arguments, "--group", "default").code == DONE
    assert cli(*arguments, "--group", "coding", "--group", "mcp", "--group", "trivial").code == DONE
    found = cli(*arguments, "--group", "mcp", "--group", "trivial")
    assert (found.code, "group.unknown 2" in found.err) == (REFUSED, True)
    text = (home / "holdout.jsonl").read_text(encoding="utf-8")
    (home / "holdout.jsonl").write_text(text.replace('"trivial"', '"small-talk"'), encoding="utf-8")
    assert cli(*arguments).code == DONE
    refused = cli(*arguments, "--group", "default")
    assert refused.code == REFUSED
    assert ", ".join(GROUPS) in refused.err


def test_a_corpus_is_checked(cli, home, head, entries):
    found = cli("corpus", "check", "corpus.json")
    assert (found.code, "corpus.fingerprint-unknown" in found.out) == (DONE, True)
    assert cli("corpus", "check", "corpus.json", "--strict").code == FINDING
    (home / "corpus.json").write_text(
        json.dumps(head | {"entries": [*entries, entries[0]]}), encoding="utf-8"
    )
    refused = cli("corpus", "check", "corpus.json")
    assert (refused.code, "id.duplicate" in refused.err) == (REFUSED, True)


def test_events(cli, home):
    line = {"kind": "route", "ts": "2026-01-31T09:30:00Z", "decision": "skipped", "runtime": "r"}
    (home / "events.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    found = cli("events", "events.jsonl", "--by", "runtime")
    assert (found.code, "acceptanceUpperBound" in found.out) == (DONE, True)
    (home / "events.jsonl").write_text(json.dumps(line) + "\nnot json\n", encoding="utf-8")
    found = cli("events", "events.jsonl", "--format", "json")
    assert (found.code, json.loads(found.out)["unreadable_lines"]) == (FINDING, 1)


# -- the command itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [(), ("report",), ("gate",), ("misses",), ("events",), ("fixtures", "check"), ("corpus", "check")],
)
def test_every_command_explains_itself(cli, command):
    found = cli(*command, "--help")
    assert (found.code, "Usage" in found.out) == (DONE, True)


def test_building_a_corpus_is_a_command_too(cli):
    assert "build" in cli("corpus", "--help").out


def test_a_missing_file_is_one_message_and_exit_code_2(home):
    command = [sys.executable, "-m", "skillful_eval.cli", "report", "none.jsonl", *INPUTS[1:]]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert done.stderr.startswith("error: none.jsonl")
    assert "Traceback" not in done.stderr


# -- what is read stays ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name"), [("report", "report.parquet"), ("gate", "gate.parquet"), ("gate", "manifest.json")]
)
def test_no_result_is_written_over_what_was_read(cli, home, command, name):
    (home / "out").mkdir()
    if name.endswith(".parquet"):
        pl.read_ndjson(home / "runs.jsonl").write_parquet(home / "out" / name)
        arguments = (command, "out", *INPUTS[1:])
    else:
        (home / "corpus.json").rename(home / "out" / name)
        arguments = (command, *INPUTS[:-1], f"out/{name}")
    before = (home / "out" / name).read_bytes()
    found = cli(*arguments, "--out", "out")
    assert (found.code, found.out) == (REFUSED, "")
    assert f"{name} in --out out/{name}: is the file of the input " in found.err
    assert [path.name for path in (home / "out").iterdir()] == [name]
    assert (home / "out" / name).read_bytes() == before
