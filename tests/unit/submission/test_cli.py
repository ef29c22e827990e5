from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from skillshift.frame.errors import InputError
from skillshift.submission.cli import app

CODE = "from skillshift.frame.console import run; from skillshift.submission.cli import app; run(app)"
DONE, FAILED, REFUSED = 0, 1, 2


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def home(made, tmp_path):
    made.log.drop("error").write_ndjson(tmp_path / "per_task.jsonl")
    (tmp_path / "digests.json").write_text(json.dumps({"gitlab-v12": "sha256:" + "0" * 64}))
    return tmp_path


@pytest.fixture
def skillshift(home, monkeypatch):
    """Run a command in the folder, in this process."""
    monkeypatch.chdir(home)

    def run(*arguments: str) -> Ran:
        told = CliRunner().invoke(app, arguments)
        if isinstance(told.exception, InputError):
            return Ran(REFUSED, told.stdout, f"error: {told.exception}")
        assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
        return Ran(told.exit_code, told.stdout, told.stderr)

    return run


@pytest.fixture
def process(home):
    """The same in a process of its own, as users run it."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", CODE, *arguments]
        return subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)

    return run


SUBMIT = (
    "submit", "per_task.jsonl", "--name", "Mine", "--model", "gpt-5-mini", "--out", "submission",
    "--salt-file", "my.salt", "--date", "2026-09-01",
)  # fmt: skip


def test_submit_validate_verify(home, skillshift):
    done = skillshift(*SUBMIT, "--digests", "digests.json")
    assert (done.returncode, done.stdout.split()) == (
        0,
        ["submission/results.json", "submission/run_receipt.json"],
    )
    assert "Keep the per-task log and my.salt" in done.stderr
    assert sorted(path.name for path in (home / "submission").iterdir()) == [
        "results.json",
        "run_receipt.json",
    ]

    both = ("validate", "submission/results.json", "--receipt", "submission/run_receipt.json")
    checked = skillshift(*both, "--digests", "digests.json")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert [line.split()[1] for line in checked.stdout.splitlines() if not line.startswith(" ")] == [
        *["passed"] * 6,
        "not",
    ]

    settled = skillshift("verify", "submission/run_receipt.json", "per_task.jsonl", "--salt-file", "my.salt")
    assert (settled.returncode, settled.stdout) == (0, "commitment: passed\naggregate: passed\n")


def test_a_failed_check_ends_with_1(home, skillshift):
    skillshift(*SUBMIT)
    alone = skillshift("validate", "submission/results.json")
    assert alone.returncode == 1
    assert "receipt: failed (1 error)" in alone.stdout
    as_json = skillshift("validate", "submission/results.json", "--format", "json")
    assert (as_json.returncode, json.loads(as_json.stdout)["valid"]) == (1, False)
    (home / "other.salt").write_text("0" * 64)
    wrong = skillshift("verify", "submission/run_receipt.json", "per_task.jsonl", "--salt-file", "other.salt")
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("commitment: failed (1 error)")


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "absent.json"),
        ("validate", "per_task.jsonl"),
        ("verify", "absent.json", "per_task.jsonl", "--salt-file", "my.salt"),
        (*SUBMIT[:1], "absent.jsonl", *SUBMIT[2:]),
        (*SUBMIT, "--name", "a/b"),
        (*SUBMIT, "--salt-file", "submission/my.salt"),
        (*SUBMIT, "--digests", "per_task.jsonl"),
        ("schema", "log"),
        SUBMIT[:2],
    ],
)
def test_bad_input_is_one_message_and_2_and_writes_nothing(home, skillshift, arguments):
    before = sorted(home.iterdir())
    done = skillshift(*arguments)
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert "Traceback" not in done.stderr
    assert done.stderr
    assert sorted(home.iterdir()) == before


def test_exit_codes_as_a_shell_sees_them(process):
    assert process(*SUBMIT).returncode == DONE
    assert process("validate", "submission/results.json").returncode == FAILED
    refused = process("validate", "absent.json")
    assert (refused.returncode, refused.stdout) == (REFUSED, "")
    assert refused.stderr.startswith("error: absent.json: cannot be read")


def test_the_date_is_today_where_none_is_given(home, skillshift):
    from datetime import UTC, datetime

    before = datetime.now(UTC).date().isoformat()
    assert skillshift(*SUBMIT[:-2]).returncode == 0
    date = json.loads((home / "submission" / "results.json").read_text())["submission"]["date"]
    assert before <= date <= datetime.now(UTC).date().isoformat()


@pytest.mark.parametrize("document", ["results", "receipt"])
def test_schemas_describe_what_submit_writes(document, made):
    jsonschema = pytest.importorskip("jsonschema")
    told = CliRunner().invoke(app, ["schema", document])
    schema = json.loads(told.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    written = json.loads(getattr(made, document).to_bytes())
    assert not list(jsonschema.Draft202012Validator(schema).iter_errors(written))
    assert list(jsonschema.Draft202012Validator(schema).iter_errors({}))


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from skillshift.submission.cli import app;"
        "CliRunner().invoke(app, ['--help']);"
        "print([m for m in ('polars', 'pydantic', 'pandera') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


HOSTILE = {
    "long.json": lambda: b'{"notes": "' + b"x" * 50_000_000 + b'"}',
    "deep.json": lambda: b'{"notes":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "many.json": lambda: b'{"reasons": {' + b",".join(b'"%d": %d' % (i, i) for i in range(30_000)) + b"}}",
    "brackets.json": lambda: b'{"notes": ' + b"[" * 250_000,
    "quotes.json": lambda: b'{"notes": "' + b'\\"' * 250_000,
    "digits.json": lambda: b'{"notes": ' + b"9" * 500_000 + b"}",
}

MEASURED = """
import json, sys, time
from skillshift.frame.errors import InputError
from skillshift.submission.checks import validate
from skillshift.submission.document import read_results
took = {}
for path in sys.argv[1:]:
    for read in (read_results, lambda path: "\\n".join(map(str, validate(path)))):
        started = time.process_time()
        try:
            read(path)
        except InputError as error:
            assert len(str(error)) < 100_000
        took[path] = max(took.get(path, 0), time.process_time() - started)
# Not ru_maxrss: that counts the memory of the process that started this one.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([took, int(status["VmHWM"].split()[0])]))
"""


def test_hostile_documents_end_within_two_seconds_and_500_mb(tmp_path):
    for name, content in HOSTILE.items():
        (tmp_path / name).write_bytes(content())
    command = [sys.executable, "-c", MEASURED, *HOSTILE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    took, kilobytes = json.loads(done.stdout)
    assert max(took.values()) < 2, took
    assert kilobytes < 500_000


def test_the_digests_are_not_written_over(home, skillshift):
    (home / "submission").mkdir()
    for name in ("results.json", "run_receipt.json"):
        place = home / "submission" / name
        place.write_text(json.dumps({"gitlab-v12": "sha256:" + "0" * 64}), encoding="utf-8")
        before = place.read_bytes()
        done = skillshift(*SUBMIT, "--digests", f"submission/{name}")
        assert (done.returncode, f"is the file of --digests submission/{name}" in done.stderr) == (
            REFUSED,
            True,
        )
        assert place.read_bytes() == before
        place.unlink()
