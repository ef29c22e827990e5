"""What both command lines share: exit codes, quiet ends, one message on bad input, progress."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from skillshift.frame import console
from skillshift.frame.errors import ContractError, InputError, UsageError, Violation

APP = """
import time, typer
from pathlib import Path
from skillshift.frame.console import emit, note, run

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)

@app.command()
def lines(n: int = 1):
    for i in range(n):
        emit(f"line {i} \\N{WARNING SIGN}\\n")
    note("said beside it")

@app.command()
def wait(half: Path):
    half.touch()
    try:
        emit("ready\\n")
        time.sleep(30)
    finally:
        half.unlink()

run(app)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("app") / "app.py"
    path.write_text(APP, encoding="utf-8")
    return str(path)


def environment(root, **changes):
    return {**os.environ, "PYTHONPATH": str(root), **changes}


def done(script, root, *arguments, env=None, stdout=subprocess.PIPE):
    return subprocess.run(
        [sys.executable, script, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=env or environment(root),
        timeout=60,
    )


def test_results_go_to_stdout_and_notes_to_stderr(script, root):
    made = done(script, root, "lines")
    assert (made.returncode, made.stdout, made.stderr) == (0, "line 0 \u26a0\n", "said beside it\n")


def test_a_closed_pipe_is_a_quiet_end(script, root):
    with subprocess.Popen(
        [sys.executable, script, "lines", "--n", "50000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(root),
    ) as process:
        assert process.stdout.readline() == "line 0 \u26a0\n"
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == "said beside it\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")  # noqa: PTH110
def test_a_full_disk_behind_stdout_is_one_message(script, root):
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        made = done(script, root, "lines", stdout=full)
    assert made.returncode == 2
    assert made.stderr.startswith("error: standard output cannot be written: No space left on device")
    assert len(made.stderr.splitlines()) == 1


def test_a_terminal_without_the_character_gets_its_escape(script, root):
    made = done(script, root, "lines", env=environment(root, PYTHONIOENCODING="ascii"))
    assert (made.returncode, made.stdout) == (0, "line 0 \\u26a0\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_is_quiet_and_leaves_nothing_behind(script, root, tmp_path, sent, code):
    with subprocess.Popen(
        [sys.executable, script, "wait", str(tmp_path / "half")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(root),
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert any(tmp_path.iterdir())
        process.send_signal(sent)
        assert process.wait(timeout=30) == code
        assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []


# -- in this process -------------------------------------------------------------------------------------


@pytest.fixture
def kept_handler():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("no"), 2, "error: no\n"),
        (UsageError("no"), 2, "error: no\n"),
        (
            ContractError("log", {"a.b": 1}, [Violation(code="a.b", expected="x")]),
            2,
            "error: log: 1 violation (a.b 1)\n  ?: expected x [a.b]\n",
        ),
        (KeyboardInterrupt(), 130, ""),
        (SystemExit(console.FINDING), 1, ""),
    ],
)
def test_every_end_has_its_code(kept_handler, capsys, error, code, said):  # noqa: ARG001
    def app():
        raise error

    with pytest.raises(SystemExit) as ended:
        console.run(app)
    assert ended.value.code == code
    assert capsys.readouterr() == ("", said)


def test_a_bug_is_a_traceback_and_not_a_message(kept_handler):  # noqa: ARG001
    def app():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        console.run(app)


def test_an_app_that_returns_ends_well(kept_handler):  # noqa: ARG001
    with pytest.raises(SystemExit) as ended:
        console.run(lambda: None)
    assert ended.value.code == 0
    assert signal.getsignal(signal.SIGTERM) is console._terminate


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with console.progress("At work"):
        pass
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    """A stderr that people look at."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("after", "shown"), [(0.0, True), (60.0, False)])
def test_a_long_job_says_so_on_a_terminal_and_a_short_one_does_not(monkeypatch, after, shown):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(console, "PROGRESS_AFTER", after)
    monkeypatch.setenv("TERM", "xterm")
    with console.progress("Reading logs"):
        time.sleep(0.3)
    assert ("Reading logs" in screen.getvalue()) is shown


def test_progress_ends_where_the_job_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(console, "PROGRESS_AFTER", 0.0)
    with pytest.raises(InputError), console.progress("Reading logs"):
        raise InputError("no")


@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_closed_stream_is_no_finding(tmp_path, closed):
    # A job whose caller closed a stream keeps its exit code, and what it writes to the other one.
    app = tmp_path / "app.py"
    app.write_text(
        "import typer\n"
        "from skillshift.frame.console import emit, note, progress, run\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def main():\n"
        "    with progress('at work'):\n"
        "        emit('result')\n"
        "    note('note')\n"
        "run(app)\n"
    )
    command = f'exec "$0" "$1" {closed}>&-'
    done = subprocess.run(["/bin/sh", "-c", command, sys.executable, app], capture_output=True, check=False)
    assert done.returncode == 0
    assert (done.stdout, done.stderr) == ((b"", b"note\n") if closed == "1" else (b"result", b""))
