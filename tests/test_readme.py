"""Every code block of the README does what it says. SKILLSHIFT_UPDATE_GOLDEN=1 rewrites shown output."""

from __future__ import annotations

import csv
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skillshift as ss
from skillshift.report.printed import table1_report
from skillshift.schema import PER_TASK

BASH = shutil.which("bash") or "/bin/bash"
README = Path(__file__).resolve().parent.parent / "README.md"
FENCE = re.compile(r"^```(?P<info>[^\n]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(match["info"], match["body"]) for match in FENCE.finditer(README.read_text(encoding="utf-8"))]


def of(kind: str) -> list[tuple[str, str]]:
    return [(info, body) for info, body in BLOCKS if info == kind or info.startswith(f"{kind} ")]


def run(command: str) -> str:
    """Run a command line as a user would, where the terminal is 80 columns wide and has no colour."""
    program, *arguments = command.split()
    script = Path(sys.executable).parent / program
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        [script, *arguments], cwd=README.parent, env=environment, capture_output=True, check=True
    )
    return done.stdout.decode()


def test_every_block_is_of_a_kind_that_a_test_runs():
    kinds = {info.split()[0] if info != "python test" else info for info, _ in BLOCKS}
    assert kinds == {"sh", "text", "toml", "python", "python test", "json"}


@pytest.mark.parametrize("info", [info for info, _ in of("text")])
def test_shown_output_is_what_the_command_prints(info):
    shown = dict(of("text"))[info]
    printed = run(info.removeprefix("text ")).rstrip("\n") + "\n"
    if os.environ.get("SKILLSHIFT_UPDATE_GOLDEN") == "1":
        text = README.read_text(encoding="utf-8")
        README.write_text(
            text.replace(f"```{info}\n{shown}```", f"```{info}\n{printed}```"), encoding="utf-8"
        )
        shown = printed
    assert printed == shown


def test_python_blocks_run_and_print_what_they_show():
    session = "\n".join(body for info, body in of("python") if info == "python")
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", str(README), 0)
    assert test.examples
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert outcome.failed == 0


def test_the_example_suite_passes(tmp_path):
    ((_, body),) = of("python test")
    suite = tmp_path / "test_example.py"
    suite.write_text(body, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"1 passed" in done.stdout


def test_the_shown_record_keeps_the_contract(tmp_path):
    ((_, body),) = of("json")
    log = tmp_path / "log.jsonl"
    log.write_text(body, encoding="utf-8")
    read = PER_TASK.validate(ss.scan_per_task(log)).collect()
    assert read.height == 1
    assert read["uid"][0] == json.loads(body)["uid"]


def test_the_shown_grid_is_one(tmp_path):
    ((_, body),) = of("toml")
    (tmp_path / "grid.toml").write_text(body, encoding="utf-8")
    grid = ss.read_grid(tmp_path / "grid.toml")
    assert grid.tasks == (40 + 25) * 2
    assert grid.conditions[1] == ss.Condition("moved", "tgt", "perceptual")


def test_the_figures_of_the_identity_check_are_those_of_the_golden_file(root):
    with (root / "tests" / "golden" / "identity_mutations.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    slips, caught = (sum(int(row[name]) for row in rows) for name in ("slips", "caught"))
    said = README.read_text(encoding="utf-8")
    assert f"Of all {slips:,} slips of one digit in Table 1 it sees {caught:,}" in said
    limits = table1_report()
    found = [
        f"0.{bound:02d}"
        for column in ("detects_website", "detects_condition", "detects_overall")
        for bound in (limits[column].min(), limits[column].max())
    ]
    sentence = "between {} and {} in a website, {} and {} in a condition, and {} and {} in the overall number"
    assert sentence.format(*found) in " ".join(said.split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("submission", ["receipt: passed", "commitment: passed", "Single-model entries"]),
        ("routing", ["75 fixtures x 1", "Recall at each rank", "11 configurations tried"]),
    ],
)
def test_the_shown_commands_pass_and_say_so(root, name, said):
    body = dict(of("sh"))[f"sh {name}"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [BASH, "-euo", "pipefail", "-c", body], cwd=root, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert [text for text in said if text not in done.stdout.decode()] == []


def test_the_table_of_slips_is_what_the_mutation_test_counts(root):
    published = (root / "tests" / "golden" / "submission" / "mutations.md").read_text(encoding="utf-8")
    assert published.strip() in README.read_text(encoding="utf-8")


def test_the_two_install_commands_are_the_ones_that_ci_runs():
    assert [info for info, _ in of("sh")] == ["sh main", "sh submission", "sh routing", "sh tests"]
    script = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert "readme_command main" in script
    assert "readme_command tests" in script
