import csv
import io
import json
import subprocess
import sys

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from skillful_eval.sweep_cli import sweep
from skillshift import datasets
from skillshift.frame.errors import InputError

DONE, FINDING = 0, 1
CORPUS, DEV, HOLDOUT = (
    datasets.path(f"routing/{name}")
    for name in ("corpus.json", "fixtures.dev.jsonl", "fixtures.holdout.jsonl")
)
ONE = "skill=6,mcp=4,agent=3,command+rule=2"
EASY = '[[criteria]]\nmetric = "recall@K"\nminimum = 0.1\n'
HARD = '[[criteria]]\nmetric = "recall@K"\nminimum = 1\n\n[[criteria]]\nmetric = "MRR"\nminimum = 0.01\n'


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Runs the command in a folder with files of criteria; bad input raises, for the entry point to tell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "easy.toml").write_text(EASY, encoding="utf-8")
    (tmp_path / "hard.toml").write_text(HARD, encoding="utf-8")
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(sweep)

    def ran(*arguments, fixtures=DEV):
        done = CliRunner().invoke(app, ["--fixtures", str(fixtures), "--corpus", str(CORPUS), *arguments])
        if isinstance(done.exception, InputError):
            raise done.exception
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout

    return ran


@pytest.fixture
def recording(tmp_path):
    """One answer to every prompt that is not short."""
    prompts = [json.loads(line) for line in DEV.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
    long = [one for one in prompts if len(one["prompt"]) > 30]
    primary = {"choice": "none", "probabilities": {"none": 0.9}}
    entries = {
        one["id"]: {"task": one["prompt"], "responses": [{"answers": {"primary": primary}}]} for one in long
    }
    path = tmp_path / "recording.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return str(path)


def test_the_table_shows_the_best_and_what_blocks_them(ask):
    code, out = ask("--quota", "skill=2:14", "--criteria", "hard.toml")
    assert code == DONE
    assert "13 configurations tried on fixtures.dev, 1 repeat each, 0 passed. Criteria: hard.toml." in out
    assert "recall@K: below-minimum" in out
    assert "The first 10 are shown" in out
    assert out.count(",mcp=4,agent=3,command+rule=2 ") == 10
    assert "optimistic" in out
    assert "--confirm" in out


def test_a_criterion_that_nothing_can_meet_is_told(ask):
    _, out = ask()
    assert "Undefined in every configuration, so that none can pass: top1Accuracy, noneRecall" in out
    _, out = ask("--criteria", "easy.toml")
    assert "Undefined in every" not in out


def test_the_file_holds_every_configuration(ask, tmp_path):
    ask("--quota", "skill=2:14", "--out", "sweep.parquet")
    assert pl.read_parquet(tmp_path / "sweep.parquet").height == 13


def test_json_and_csv_hold_every_configuration(ask):
    _, out = ask("--quota", "skill=2:14", "--format", "json")
    document = json.loads(out)
    assert (document["kind"], document["tried"], len(document["configurations"])) == ("sweep", 13, 13)
    assert document["provenance"]["fixture_set"] == "fixtures.dev"
    _, out = ask("--quota", "skill=2:14", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["config"] for row in rows] == [row["config"] for row in document["configurations"]]
    assert set(rows[0]) >= {"fixture_digest", "corpus_digest", "findings"}
    _, out = ask("--quota", "skill=2:14", "--format", "markdown")
    assert out.startswith("# Sweep: 0 of 13 configurations passed")


def test_thresholds_of_recorded_answers(ask, recording):
    arguments = ("--replay", recording, "--none-threshold", "0.1:0.9:0.4", "--winner-floor", "0,0.5")
    _, out = ask(*arguments, "--quota", "skill=2:3", "--format", "json")
    document = json.loads(out)
    assert (document["tried"], document["repeat"]) == (12, 3)
    reasons = {text for row in document["configurations"] for text in row["blocked_by"]}
    assert "agreementRate: reused-responses" in reasons


def test_a_holdout_set_is_refused_unless_one_is_confirmed(ask):
    with pytest.raises(InputError, match=r"refused.*--confirm CONFIG"):
        ask("--quota", "skill=6", fixtures=HOLDOUT)
    code, out = ask("--confirm", ONE, "--criteria", "easy.toml", fixtures=HOLDOUT)
    assert code == DONE
    assert "This one was chosen elsewhere" in out
    assert "optimistic" not in out
    code, out = ask("--confirm", ONE, "--criteria", "hard.toml", fixtures=HOLDOUT)
    assert code == FINDING
    assert "recall@K: below-minimum" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--quota", "skill=14:4"),
        ("--none-threshold", "0.5"),
        ("--no-heuristics",),
        ("--replay", "absent.json"),
        ("--holdout", str(DEV)),
        ("--out", "."),
        ("--confirm", "best"),
        ("--repeat", "0"),
        ("--criteria", "absent.toml"),
    ],
)
def test_bad_input_is_one_message_and_no_output(ask, arguments, tmp_path):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError):
        ask(*arguments)
    assert sorted(tmp_path.iterdir()) == before


def test_importing_the_command_is_light():
    code = "import sys, skillful_eval.sweep_cli; print([m for m in ('polars', 'httpx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_configuration_is_confirmed_at_a_time(ask):
    with pytest.raises(InputError, match="--confirm: ambiguous: given 2 times"):
        ask("--confirm", ONE, "--confirm", ONE, "--criteria", "easy.toml", fixtures=HOLDOUT)


def test_more_runs_than_can_be_held_are_refused(ask):
    with pytest.raises(InputError, match=r"--repeat 100,000,000: .*7,500,000,000 runs, expected at most"):
        ask("--repeat", "100000000")


@pytest.mark.parametrize("option", ["--replay", "--fixtures", "--corpus", "--criteria", "--holdout"])
def test_no_input_is_written_over(ask, recording, tmp_path, option):
    (tmp_path / "dev.jsonl").write_bytes(DEV.read_bytes())
    (tmp_path / "corpus.json").write_bytes(CORPUS.read_bytes())
    (tmp_path / "sealed.jsonl").write_bytes(HOLDOUT.read_bytes())
    files = {
        "--replay": recording,
        "--fixtures": "dev.jsonl",
        "--corpus": "./corpus.json",
        "--criteria": "easy.toml",
        "--holdout": "sealed.jsonl",
    }
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    arguments = [text for pair in files.items() for text in pair]
    with pytest.raises(InputError, match=rf"--out \S+: is the file of {option} \S+ as well"):
        ask(*arguments, "--out", str(tmp_path / files[option]))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
