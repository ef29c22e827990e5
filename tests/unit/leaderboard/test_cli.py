from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from skillshift.frame.errors import InputError
from skillshift.leaderboard.cli import SHOW, app
from skillshift.leaderboard.formats import FORMATS

RUN = CliRunner()
MOUNTED = """
import typer
from skillshift.frame.console import run
from skillshift.leaderboard.cli import app
main = typer.Typer(rich_markup_mode=None)
main.add_typer(app, name="leaderboard")
@main.command()
def other(): ...
run(main)
"""


def whole(*args, **options):
    """Run the commands as a part of the whole program, in a process of its own."""
    command = [sys.executable, "-c", MOUNTED, "leaderboard", *map(str, args)]
    return subprocess.run(command, capture_output=True, check=False, **options)


@pytest.fixture
def folder(board_folder, document):
    return board_folder(a=document("A", SR=50.0, AS=9.0), b=document("B", SR=40.0, AS=3.0))


def lines_of(done):
    """The lines of entries: they begin with a rank."""
    return [line for line in done.output.split("\n") if line[:1].isdigit()]


def first_names(done):
    return [line.split()[2] for line in lines_of(done)]


@pytest.mark.parametrize(
    "args",
    [["{}"], ["{}", "--sort", "SR"], ["--sort", "SR", "{}"], ["--sort=SR", "{}"], [SHOW, "{}"], ["--", "{}"]],
)
def test_a_folder_is_shown_wherever_its_options_stand(folder, args):
    done = RUN.invoke(app, [arg.format(folder) for arg in args])
    assert done.exit_code == 0, done.output
    assert first_names(done) == ["A", "B"]


def test_the_options_do_what_they_say(folder):
    assert [line.split()[1] for line in lines_of(RUN.invoke(app, [str(folder), "--sort", "AS"]))] == [
        "B",
        "A",
    ]
    assert "gitlab" in RUN.invoke(app, [str(folder), "--metric", "SFR"]).output
    done = RUN.invoke(app, [str(folder), "--metric", "SR", "--metric", "AS", "--format", "csv"])
    assert pl.read_csv(io.StringIO(done.output))["metric"].unique().sort().to_list() == ["AS", "SR"]
    assert RUN.invoke(app, [str(folder), "--model", "gpt-5-mini"]).exit_code == 0


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_comes_out_as_bytes(folder, fmt):
    done = RUN.invoke(app, [str(folder), "--format", fmt])
    assert done.exit_code == 0
    assert len(done.stdout_bytes) > 500


def test_help_names_both_ways_and_the_formats_as_they_are():
    done = RUN.invoke(app, ["--help"])
    assert done.exit_code == 0
    assert "FOLDER | check FOLDER --new FILE" in done.output
    assert "|".join(FORMATS) in done.output.replace("\n", "").replace(" ", "")
    assert "  check " in done.output
    assert RUN.invoke(app, ["check", "--help"]).exit_code == 0
    assert RUN.invoke(app, []).exit_code == 2


def test_as_part_of_the_whole_program(folder, tmp_path, document):
    done = whole(folder, "--format", "json", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert [entry["name"] for entry in json.loads(done.stdout)["entries"]] == ["A", "B"]
    new = tmp_path / "new.json"
    new.write_text(json.dumps(document("New", SR=45.0)))
    done = whole("check", folder, "--new", new)
    assert done.returncode == 0, done.stderr
    assert b"**Rank 2** of 3" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--sort", "SFR"], "never sorted by SFR: it is a share"),
        (["--sort", "XY"], "expected one of SR, AS, ASC"),
        (["--metric", "XY"], "no metric 'XY', expected one of SR, AS, ASC, SFR"),
        (["--model", "x"], "expected one of gpt-5-mini"),
    ],
)
def test_unusable_options_are_one_message(folder, args, message):
    done = RUN.invoke(app, [str(folder), *args])
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
    assert not done.stdout


def test_unusable_input_ends_with_2(folder):
    for args in ([folder, "--sort", "SFR"], ["check", folder, "--new", folder / "nothing.json"]):
        done = whole(*args)
        assert (done.returncode, done.stdout) == (2, b""), args
        assert done.stderr.startswith(b"error: ")
        assert b"Traceback" not in done.stderr
    for args in (["check", str(folder)], [str(folder), "--format", "pdf"], [str(folder), "more"]):
        assert RUN.invoke(app, args).exit_code == 2


def test_a_failing_check_ends_with_1(folder, document):
    bad = document("Bad")
    bad["metrics"]["SR"]["overall"] = 77.0
    path = folder / "2026-09-02--bad--model.json"
    path.write_text(json.dumps(bad))
    assert RUN.invoke(app, ["check", str(folder), "--new", str(path)]).exit_code == 1
    done = RUN.invoke(app, [str(folder)])
    assert done.exit_code == 1
    assert first_names(done) == ["Bad", "A", "B"]


def test_digests_are_compared(tmp_path, folder, few_calls):
    path = tmp_path / "results.json"
    path.write_bytes(few_calls[0])
    (tmp_path / "run_receipt.json").write_bytes(few_calls[1])
    digests = tmp_path / "digests.json"
    digests.write_text(json.dumps({"gitlab": "sha256:" + "0" * 64}))
    assert RUN.invoke(app, ["check", str(folder), "--new", str(path)]).exit_code == 0
    args = ["check", str(folder), "--new", str(path), "--digests", str(digests)]
    assert RUN.invoke(app, args).exit_code == 1
    assert RUN.invoke(app, [*args, "--receipt", str(tmp_path / "run_receipt.json")]).exit_code == 1


def test_a_closed_pipe_is_a_quiet_end(folder):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", MOUNTED, "leaderboard", str(folder), "--format", "parquet"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_parquet_never_goes_to_a_terminal(folder):
    parent, child = pty.openpty()
    command = [sys.executable, "-c", MOUNTED, "leaderboard", str(folder), "--format", "parquet"]
    done = subprocess.run(command, stdout=child, stderr=subprocess.PIPE, check=False)
    os.close(child)
    os.close(parent)
    assert done.returncode == 2
    assert b"not for a terminal" in done.stderr


def test_loading_the_commands_loads_no_heavy_library():
    heavy = {"polars", "numpy", "pydantic", "rich"}
    code = f"import sys, skillshift.leaderboard.cli; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
