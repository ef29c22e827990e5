"""``skillful-eval run --router http``: recorded from a real server, interrupted, replayed."""

from __future__ import annotations

import _thread
import json
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from skillful_eval.run_cli import run
from skillshift import datasets

FILES = [
    "--fixtures",
    str(datasets.path("routing/fixtures.dev.jsonl")),
    "--corpus",
    str(datasets.path("routing/corpus.json")),
]
KEY = "sk-0123456789abcdefghij"

app = typer.Typer()
app.command()(run)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    monkeypatch.setenv("SKILLFUL_EVAL_KEY", KEY)
    monkeypatch.chdir(tmp_path)


def answer(handler, body):
    """Picks by the prompt's length; now and then none."""
    ids = [candidate["id"] for candidate in body["state"]["candidates"]]
    place = len(body["state"]["task"]) % 5
    choice = ids[place] if place < 4 else "none"
    chances = {choice: 0.8, "none": 0.8 if place == 4 else 0.1}
    primary = {"type": "choice", "choice": choice, "confidence": 0.8, "probabilities": chances}
    usage = {"input_tokens": 10, "output_tokens": 2}
    handler.send({"model": "m-1", "answers": {"primary": primary}, "usage": usage})


@pytest.fixture
def invoke(server):
    server.answers(answer)

    def make(*options, out="runs.parquet"):
        ran = CliRunner().invoke(app, ["--router", "http", *FILES, *options, "--out", out])
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return ran

    return make


def decisions(path):
    timing = ["latency_ms", "latency_reason", "config"]
    return pl.read_parquet(path).drop(timing)


def test_a_replay_of_a_recording_decides_the_same_without_a_request(invoke, server, tmp_path):
    live = ["--url", server.url]
    ran = invoke(*live, "--record", "recording.json")
    assert ran.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recording.json", "runs.parquet"]
    asked = len(server.seen)
    runs = pl.read_parquet("runs.parquet")
    assert asked == runs.filter(pl.col("response_index").is_not_null()).height > 0
    assert {headers["Authorization"] for headers, _ in server.seen} == {f"Bearer {KEY}"}
    ran = invoke("--replay", "recording.json", "--concurrency", "3", out="again.parquet")
    assert ran.exit_code == 0
    assert len(server.seen) == asked
    assert decisions("again.parquet").equals(decisions("runs.parquet"))
    again = pl.read_parquet("again.parquet")
    assert again["latency_ms"].null_count() == again.height
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes()


def test_the_bytes_of_a_replay_do_not_depend_on_the_concurrency(invoke, server):
    invoke("--url", server.url, "--record", "recording.json", "--repeat", "1")
    made = []
    for concurrency in ("1", "7"):
        invoke("--replay", "recording.json", "--repeat", "2", "--concurrency", concurrency)
        made.append(Path("runs.parquet").read_bytes())
    assert made[0] == made[1]


def test_reuse_of_responses_and_requests_without_one_are_told(invoke, server, tmp_path):
    invoke("--url", server.url, "--record", "recording.json", "--repeat", "1")
    ran = invoke("--replay", "recording.json", "--repeat", "2")
    assert "agreement will be undefined" in ran.stdout
    recording = json.loads((tmp_path / "recording.json").read_text("utf-8"))
    fixture = next(iter(recording))
    del recording[fixture]
    (tmp_path / "fewer.json").write_text(json.dumps(recording), encoding="utf-8")
    ran = invoke("--replay", "fewer.json", "--repeat", "2")
    assert ran.exit_code == 1
    assert "2 requests have no recorded response" in ran.stdout
    runs = pl.read_parquet("runs.parquet").filter(decision="degraded")
    assert runs.select("fixture_id", "reason").rows() == [(fixture, "unrecorded")] * 2


def test_a_recording_that_was_broken_off_goes_on(invoke, server, tmp_path):
    whole = invoke("--url", server.url, "--record", "whole.json", out="whole.parquet")
    assert whole.exit_code == 0
    asked = len(server.seen)
    server.seen.clear()

    def broken_off(handler, body):
        if len(server.seen) == 120:
            _thread.interrupt_main()
        answer(handler, body)

    server.answers(broken_off)
    ran = invoke("--url", server.url, "--record", "recording.json", "--concurrency", "2")
    assert ran.exit_code == 130
    assert "the same command goes on" in ran.output
    assert (tmp_path / "runs.parquet.parts").is_dir()
    server.answers(answer)
    ran = invoke("--url", server.url, "--record", "recording.json", "--concurrency", "2")
    assert ran.exit_code == 0
    # What was on its way when it was broken off may have been asked and not recorded.
    assert asked <= len(server.seen) <= asked + 2
    assert (tmp_path / "recording.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert decisions("runs.parquet").equals(decisions("whole.parquet"))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".json", ".parquet", ".parquet"]


def test_a_refused_key_degrades_and_is_counted(invoke, server):
    server.answers(lambda handler, _: handler.send({"error": "no"}, status=401))
    ran = invoke("--url", server.url, "--repeat", "1")
    assert ran.exit_code == 1
    assert "auth" in ran.stdout
    runs = pl.read_parquet("runs.parquet")
    assert set(runs.filter(decision="degraded")["reason"]) == {"auth"}


def test_the_key_may_come_from_another_variable(invoke, server, monkeypatch):
    monkeypatch.delenv("SKILLFUL_EVAL_KEY")
    monkeypatch.setenv("OTHER_KEY", "other-key-0123456789")
    invoke("--url", server.url, "--repeat", "1", "--key-variable", "OTHER_KEY")
    assert {headers["Authorization"] for headers, _ in server.seen} == {"Bearer other-key-0123456789"}
    server.seen.clear()
    invoke("--url", server.url, "--repeat", "1")
    assert all("Authorization" not in headers for headers, _ in server.seen)


def test_prompts_need_not_leave(invoke, server):
    invoke("--url", server.url, "--repeat", "1", "--no-prompt-upload")
    assert {body["state"]["task"] for _, body in server.seen} == {"[prompt withheld]"}
    assert len({tuple(one["id"] for one in body["state"]["candidates"]) for _, body in server.seen}) > 1


def test_a_key_that_the_endpoint_repeats_is_in_no_file(invoke, server, monkeypatch, tmp_path):
    key = "plainwordsarekeystoo"
    monkeypatch.setenv("SKILLFUL_EVAL_KEY", key)

    def repeats(handler, _):
        chances = {"none": 0.9}
        primary = {"type": "choice", "choice": "none", "confidence": 0.8, "probabilities": chances}
        handler.send({"model": f"m {key}", "answers": {"primary": primary}})

    server.answers(repeats)
    ran = invoke("--url", server.url, "--record", "recording.json", "--repeat", "1")
    assert key not in ran.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recording.json", "runs.parquet"]
    for path in tmp_path.iterdir():
        assert key.encode() not in path.read_bytes()
    assert not pl.read_parquet("runs.parquet")["model"].str.contains(key).any()


def test_a_prompt_that_is_cut_records_no_half_of_a_secret(invoke, server, tmp_path):
    lines = [
        {"id": "mail", "group": "g", "prompt": "mail jane@example.org about it", "gold": ["none"]},
        {"id": "other", "group": "g", "prompt": "mail jim@example.org about it", "gold": ["none"]},
    ]
    (tmp_path / "fixtures.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    cut = ["--fixtures", "fixtures.jsonl", "--max-prompt-chars", "13"]
    assert invoke("--url", server.url, "--record", "recording.json", *cut).exit_code == 0
    said = (tmp_path / "recording.json").read_text(encoding="utf-8")
    assert {entry["task"] for entry in json.loads(said).values()} == {"mail [redacted]"}
    assert "jane" not in said
    ran = invoke("--replay", "recording.json", *cut, out="again.parquet")
    assert ran.exit_code == 0
    assert decisions("again.parquet").equals(decisions("runs.parquet"))
