"""``skillful-eval run`` as users run it: options, exit codes, and what its runs are good for."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import skillful_eval as se
from skillful_eval.cli import app as reports
from skillful_eval.router.choosing import ROUTERS, check_options, option
from skillful_eval.run_cli import bar, run
from skillshift import datasets
from skillshift.frame.errors import InputError, UsageError

ROOT = Path(se.__file__).parents[1]
CORPUS = str(datasets.path("routing/corpus.json"))
DEV = str(datasets.path("routing/fixtures.dev.jsonl"))
FILES = ["--fixtures", DEV, "--corpus", CORPUS]

app = typer.Typer()
app.command()(run)


@pytest.fixture(autouse=True)
def _at_one_time(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    monkeypatch.delenv("SKILLFUL_EVAL_KEY", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def invoke(tmp_path):
    """Run the command: exit code and output; what stops it is raised, as the entry point shows it."""

    def make(*options, out="runs.parquet", files=FILES):
        ran = CliRunner().invoke(app, [*options, *files, "--out", str(tmp_path / out)])
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return ran

    return make


def test_bm25_runs_are_reported_and_gated(invoke, tmp_path):
    ran = invoke("--router", "bm25", "--quota", "skill=8", "--tuned-on", "other", "--config", "wide")
    assert ran.exit_code == 0
    assert "225 runs, 75 fixtures x 3, configuration wide" in ran.stdout
    runs = str(tmp_path / "runs.parquet")
    report = CliRunner().invoke(reports, ["report", runs, *FILES, "--format", "json"])
    assert report.exit_code == 0
    assert "wide" in report.stdout
    gate = CliRunner().invoke(reports, ["gate", runs, *FILES])
    assert gate.exit_code == 1  # a retriever alone does not meet the criteria, and it can be judged
    assert "refused" not in gate.stdout
    told = pl.read_parquet_metadata(runs)
    assert json.loads(told["configuration"])["router"]["quota"].startswith("skill=8,")
    assert {"bm25s", "polars", "python", "skillshift"} == set(json.loads(told["versions"]))
    runs = pl.read_parquet(runs)
    assert runs["shortlist"].list.len().max() == 17
    assert set(runs["decision"]) == {"injected", "skipped"}
    assert {"short-prompt", "social-turn"} <= set(runs["reason"].drop_nulls())


def test_runs_that_were_tuned_on_the_set_are_refused_by_the_gate(invoke, tmp_path):
    invoke("--router", "bm25", "--tuned-on", "fixtures.dev.jsonl")
    gate = CliRunner().invoke(reports, ["gate", str(tmp_path / "runs.parquet"), *FILES])
    assert "tuned" in gate.output + str(gate.exception)
    assert gate.exit_code != 0


def test_retrieval_only_decides_nothing(invoke, tmp_path):
    ran = invoke("--router", "bm25", "--retrieval-only", "--repeat", "1")
    assert ran.exit_code == 0
    assert "nothing was decided" in ran.stdout
    runs = pl.read_parquet(tmp_path / "runs.parquet")
    assert runs["decision"].null_count() == runs["reason"].null_count() == runs.height == 75
    report = CliRunner().invoke(reports, ["report", str(tmp_path / "runs.parquet"), *FILES])
    assert report.exit_code == 0


def test_a_function_of_ones_own(invoke, tmp_path, monkeypatch):
    code = "def pick(prompt, candidates):\n    return candidates[len(prompt) % 2]['id']\n"
    (tmp_path / "mine_here.py").write_text(
        code + "def fail(prompt, candidates):\n    return 1 / 0\n", "utf-8"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert invoke("--router", "python", "--function", "mine_here:pick").exit_code == 0
    runs = pl.read_parquet(tmp_path / "runs.parquet")
    assert runs.filter(decision="injected")["latency_ms"].null_count() == 0
    ran = invoke("--router", "python", "--function", "mine_here:fail", "--no-heuristics", "--repeat", "1")
    assert ran.exit_code == 1
    assert "upstream" in ran.stdout
    runs = pl.read_parquet(tmp_path / "runs.parquet")
    assert runs["detail"].unique().to_list() == ["ZeroDivisionError: division by zero"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--router", "bm25", "--url", "http://x/"], r"--url: --router bm25 does not take it; .* http does"),
        (["--router", "bm25", "--function", "m:f"], "--function: --router bm25 does not take it"),
        (["--router", "bm25", "--retries", "0"], "--retries: --router bm25 does not take it"),
        (["--router", "bm25", "--no-prompt-upload"], "--no-prompt-upload: --router bm25 does not"),
        (["--router", "python"], "--router python needs --function"),
        (
            ["--router", "python", "--function", "m:f", "--retrieval-only"],
            "--retrieval-only: --router python",
        ),
        (["--router", "http"], "needs --url, or --replay"),
        (["--router", "http", "--replay", "r.json", "--record", "s.json"], "--record and --replay"),
        (["--router", "http", "--replay", "r.json", "--url", "http://x/"], "--url: a replay sends nothing"),
        (["--router", "http", "--replay", "r.json", "--key-variable", "K"], "--key-variable: a replay sends"),
        (["--router", "http", "--replay", "absent.json"], "absent.json"),
        (["--router", "http", "--url", "http://x/", "--key-variable", "NO_SUCH"], "--key-variable NO_SUCH"),
        (["--router", "http", "--url", "nothing"], "url"),
        (["--router", "http", "--url", "http://x/", "--none-threshold", "2"], "none"),
        (["--router", "http", "--url", "http://x/", "--concurrency", "0"], "concurrency"),
        (["--router", "bm25", "--quota", "command=2"], "command"),
        (["--router", "bm25", "--repeat", "0"], "repeat"),
    ],
)
def test_options_that_cannot_be_used_are_refused_by_name(invoke, tmp_path, options, message):
    with pytest.raises(UsageError if "absent.json" not in options else InputError, match=message):
        invoke(*options)
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_begin_leaves_nothing(invoke, tmp_path):
    live = ["--router", "http", "--url", "http://127.0.0.1:9/"]
    with pytest.raises(InputError, match="journal"):
        invoke(*live, "--record", "absent/r.json")
    with pytest.raises(InputError, match="does not exist"):
        invoke(*live, "--record", "r.json", out="absent/runs.parquet")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "r.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"r\.json"):
        invoke(*live, "--record", "r.json")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_a_whole_router_takes_no_retrieval_options(invoke, tmp_path, monkeypatch):
    code = "class R:\n    batch, settings, shortlist, decide = None, {}, None, None\nr = R()\n"
    (tmp_path / "whole_here.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(UsageError, match="--quota: whole_here:r is a whole router"):
        invoke("--router", "python", "--function", "whole_here:r", "--quota", "skill=3")


def test_every_option_of_a_router_is_one_of_the_command():
    command = typer.main.get_command(app)
    there = {name for parameter in command.params for name in parameter.opts}
    for router, choice in ROUTERS.items():
        assert {option(name) for name in choice.takes} <= there
        assert set(choice.needs) <= set(choice.takes)
        check_options(router, dict.fromkeys(choice.needs, "x") | ({"url": "x"} if router == "http" else {}))


def test_the_module_is_light():
    heavy = ("polars", "httpx", "rich", "pydantic")
    code = f"import sys, skillful_eval.run_cli; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout == "[]\n"


def test_on_a_terminal_the_progress_has_rate_and_time_left(monkeypatch, capsys):
    with bar() as told:
        assert told is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with bar() as told:
        told(20, 100)
        for done in range(30, 100, 10):
            time.sleep(0.02)
            told(done, 100)
        time.sleep(0.2)
    shown = capsys.readouterr().err
    assert "90/100" in shown
    assert "/s" in shown
    assert "0:00:0" in shown


MAIN = """
import sys, typer
from skillful_eval.run_cli import run as command
from skillshift.frame.console import run
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(command)
run(app)
"""
SLOW = """
import time
def pick(prompt, candidates):
    time.sleep(0.008)
    return candidates[len(prompt) % 3]["id"]
"""


@pytest.fixture
def start(tmp_path):
    (tmp_path / "slow_here.py").write_text(SLOW, encoding="utf-8")

    def make(out):
        command = [sys.executable, "-c", MAIN, "--router", "python", "--function", "slow_here:pick"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [*command, "--no-heuristics", "--repeat", "7", *FILES, "--out", out],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )

    return make


def next_part(folder, process):
    """Wait until something more is kept."""
    before = len(list(folder.glob("part-*")))
    while process.poll() is None and len(list(folder.glob("part-*"))) == before:
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_kills_and_interruptions_at_any_moment_lose_little_and_change_nothing(start, tmp_path):
    folder = tmp_path / "runs.parquet.parts"
    told = {}
    for end in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        process = start("runs.parquet")
        next_part(folder, process)
        time.sleep(random.random() / 5)  # noqa: S311 - any moment will do
        process.send_signal(end)
        told[end] = (*process.communicate(), process.returncode)
        assert not (tmp_path / "runs.parquet").exists()
    assert told[signal.SIGKILL][2] == -signal.SIGKILL
    out, err, code = told[signal.SIGINT]
    assert (out, code) == ("", 130)
    assert "Traceback" not in err
    assert told[signal.SIGTERM][2] == 128 + signal.SIGTERM
    assert "Traceback" not in told[signal.SIGTERM][1]
    last = start("runs.parquet")
    out, err = last.communicate()
    assert (last.returncode, err) == (0, "")
    assert "decisions were there from an interrupted run" in out
    prompts = se.read_fixtures(DEV, se.read_corpus(CORPUS)).frame.select("fixture_id", "prompt")
    runs = pl.read_parquet(tmp_path / "runs.parquet").join(prompts, on="fixture_id", maintain_order="left")
    place = pl.col("prompt").str.len_chars() % 3
    picked = runs.select(pl.col("shortlist").list.get(place).cast(pl.String)).to_series()
    assert runs["chosen"].to_list() == picked.to_list()
    expected = [(name, repeat) for name in prompts["fixture_id"] for repeat in range(7)]
    assert runs.select("fixture_id", "repeat").rows() == expected
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interruption_says_how_to_go_on(start, tmp_path):
    process = start("runs.parquet")
    next_part(tmp_path / "runs.parquet.parts", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "interrupted: what was decided is in runs.parquet.parts; the same command goes on with it\n"


@pytest.mark.parametrize("option", ["--fixtures", "--corpus", "--replay", "--record"])
def test_no_input_and_no_other_output_is_written_over(invoke, tmp_path, option):
    (tmp_path / "dev.jsonl").write_bytes(Path(DEV).read_bytes())
    (tmp_path / "corpus.json").write_bytes(Path(CORPUS).read_bytes())
    (tmp_path / "answers.json").write_text("{}", encoding="utf-8")
    names = {"--fixtures": "dev.jsonl", "--corpus": "corpus.json"}
    answers = (
        ["--record", "new.json", "--url", "http://127.0.0.1:9/"]
        if option == "--record"
        else ["--replay", "answers.json"]
    )
    names |= {answers[0]: answers[1]}
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    files = [text for pair in names.items() if pair[0] not in answers for text in pair]
    with pytest.raises(UsageError, match=rf"--out \S+: is the file of {option} \S+ as well"):
        invoke("--router", "http", *answers, files=files, out=names[option])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_journal_of_a_recording_is_an_output_too(invoke, tmp_path):
    options = ("--router", "http", "--url", "http://127.0.0.1:9/", "--record", "new.json")
    with pytest.raises(UsageError, match="is the file of the journal of --record"):
        invoke(*options, out="new.json.journal.jsonl")
    (tmp_path / "new.json.journal.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="is the file of --replay"):
        invoke("--router", "http", "--replay", "new.json", out="new.json.journal.jsonl")


def test_more_runs_than_can_be_held_are_refused_before_anything_is_asked(invoke, tmp_path):
    options = ("--router", "http", "--url", "http://127.0.0.1:9/", "--record", "new.json")
    with pytest.raises(UsageError, match=r"7,500,000,000 runs, expected at most 10,000,000; give a smaller"):
        invoke(*options, "--repeat", "100000000")
    assert not list(tmp_path.iterdir())
