"""The command line as users meet it: exit codes, one message on bad input, no output from bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from skillshift import cli, datasets
from skillshift.frame import console

GRID = """
name = "shops"
conditions = ["near", "far"]
[websites]
big = 3
small = 2
"""
CELLS = [("big", "near", 3), ("big", "far", 3), ("small", "near", 2), ("small", "far", 2)]


def run(**keys):
    """The records of a complete run."""
    return [
        {
            "uid": f"skillshift.{site}.v1.{index}",
            "site": site,
            "condition": condition,
            "success": index == 0,
            "steps": 2 + index,
            "skill_calls": 40,
            "skill_failures": index,
            **keys,
        }
        for site, condition, planned in CELLS
        for index in range(planned)
    ]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder with a small grid, in which the commands run."""
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def skillshift(monkeypatch, capsys):
    """A function that runs the command in this process: exit code, standard output, standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["skillshift", *map(str, arguments)])
        before = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            signal.signal(signal.SIGTERM, before)
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def report(skillshift, home):
    """A function that reports on lines of a log, on the small grid, with ``--out out``."""

    def call(lines, *options, name="runs/log.jsonl"):
        log = write(home / name, lines)
        return skillshift("report", log, "--grid", "grid.toml", "--out", "out", *options)

    return call


def left_behind(home):
    """What a failed command may not leave: anything but the input."""
    return sorted(path.name for path in home.iterdir() if path.name not in ("grid.toml", "runs"))


# -- what must work --------------------------------------------------------------------------------------


def test_the_demonstration_logs_are_reported(skillshift):
    code, out, err = skillshift("report", datasets.path("demo/runs"))
    assert (code, err) == (0, "")
    for shown in ("demo-code", "demo-few", "demo-tips", "18 of 18", "--", "undefined", "holds in 9 of 12"):
        assert shown in out


def test_table_1_has_fourteen_rows_each_with_its_verdict(skillshift):
    code, out, err = skillshift("table1")
    assert (code, err) == (0, "")
    assert sum(line.startswith("\u2502") and "holds" in line for line in out.splitlines()) == 14
    for method in ("SkillWeaver", "ASI", "WALT", "AWM"):
        assert method in out


def test_the_metrics_are_listed(skillshift):
    code, out, _ = skillshift("metrics")
    assert code == 0
    assert [line.split("**")[1] for line in out.splitlines()[2:]] == ["SR", "AS", "ASC", "SFR"]


@pytest.mark.reference
def test_real_runs_on_another_grid(skillshift, reference):
    log = reference / "tau-bench-airline" / "per_task.jsonl"
    grid = datasets.path("tau.toml")
    code, out, _ = skillshift("report", log, "--grid", grid, "--format", "json")
    assert code == 0
    cells = json.loads(out)["cells"]
    assert [cell["successes"] for cell in cells] == [21, 22, 20, 21]
    assert [cell["steps"] for cell in cells] == [642, 587, 579, 646]
    assert [cell["skill_calls"] for cell in cells] == [282, 290, 290, 302]
    assert [cell["skill_failures"] for cell in cells] == [17, 16, 21, 19]


def test_without_a_command_the_commands_are_shown(skillshift):
    code, out, err = skillshift()
    assert code == 2
    for command in ("report", "table1", "metrics"):
        assert command in out + err


def test_a_complete_run_is_exit_code_0_and_a_folder(report, home):
    code, out, err = report(run(method="m"))
    assert (code, err) == (0, "")
    assert "4 of 4" in out
    assert sorted(path.name for path in (home / "out").iterdir()) == [
        "cells.parquet",
        "manifest.json",
        "marginals.parquet",
        "report.md",
    ]


@pytest.mark.parametrize("fmt", ["csv", "json", "markdown", "table"])
def test_every_format_can_be_asked_for(report, fmt):
    code, out, _ = report(run(method="m"), "--format", fmt)
    assert code == 0
    assert "33.33" in out
    starts = {
        "csv": "method,metric,",
        "json": "{\n",
        "markdown": "# SkillShift report\n",
        "table": "Diagnostics\n",
    }
    assert out.startswith(starts[fmt])


def test_several_logs_folders_and_globs_are_one(skillshift, home):
    for name in ("a/1.jsonl", "a/2.jsonl", "b/\u00e9 \u00e0.jsonl"):
        write(home / "runs" / name, run(run=name))
    arguments = ("report", "runs/a", "runs/b/*.jsonl", "--grid", "grid.toml", "--format", "json")
    code, out, _ = skillshift(*arguments)
    assert code == 0
    assert [row["run"] for row in json.loads(out)["coverage"]] == [
        "a/1.jsonl",
        "a/2.jsonl",
        "b/\u00e9 \u00e0.jsonl",
    ]


def test_an_incomplete_run_is_a_finding_and_written(report, home):
    code, out, _ = report(run()[1:])
    assert code == 1
    assert "[16.67, 33.33]" in out
    assert pl.read_parquet(home / "out" / "cells.parquet")["complete"].to_list() == [False, True, True, True]


@pytest.mark.parametrize(("option", "reason"), [("undefined", "incomplete"), ("scored", "nothing-scored")])
def test_a_condition_whose_every_record_errored_is_an_incomplete_run(report, home, option, reason):
    errored = {"error": "down", "success": None, "steps": None}
    lines = [r | (errored if r["condition"] == "far" else {}) for r in run()]
    code, out, _ = report(lines, "--incomplete", option)
    assert code == 1
    assert "5" in out
    numbers = pl.read_parquet(home / "out" / "marginals.parquet")
    assert set(numbers.filter(slot="far")["reason"]) == {reason}
    assert numbers.filter(slot="far")["value"].null_count() == 4
    assert numbers.filter(slot="far", metric="SR").select("errored", "lower", "upper").row(0) == (
        5,
        0.0,
        100.0,
    )
    assert set(numbers.filter(slot="overall")["reason"]) == {reason}
    assert numbers.filter(slot="near")["value"].null_count() == 0


def test_values_over_what_was_scored_are_marked_in_every_format(report):
    for fmt in ("table", "markdown"):
        code, out, _ = report(run()[1:], "--incomplete", "scored", "--format", fmt)
        assert code == 1
        assert "16.67\u2020" in out
    _, out, _ = report(run()[1:], "--incomplete", "scored", "--format", "json")
    assert {row["incomplete"] for row in json.loads(out)["marginals"] if row["slot"] == "big"} == {True}


def test_an_inferred_grid_says_that_coverage_is_unknown(skillshift, home):
    log = write(home / "runs/log.jsonl", run()[:9])
    code, out, _ = skillshift("report", log, "--grid", "infer")
    assert code == 1  # near has a task that far lacks
    assert "coverage of what was planned could not be checked" in " ".join(out.split())


def test_keys_of_the_user_s_own_tell_runs_apart(report):
    lines = run(seed=1, agent="x") + run(seed=2, agent="x")
    code, out, _ = report(lines, "--by", "agent", "--by", "seed", "--format", "json")
    assert code == 0
    assert json.loads(out)["run_keys"] == ["agent", "seed"]


def test_of_duplicates_one_can_be_chosen(report):
    lines = [*run(), run()[0] | {"uid": "skillshift.big.v2.0", "steps": 42}]
    for choice, steps in (("first", 9), ("last", 49)):
        code, out, _ = report(lines, "--on-duplicates", choice, "--format", "json")
        assert code == 0
        assert json.loads(out)["cells"][0]["steps"] == steps
        assert json.loads(out)["duplicates_left_out"] == 1


def test_bad_records_can_be_quarantined(report, home):
    lines = [*run()[1:], run()[0] | {"success": "fail"}]
    code, out, err = report(lines, "--on-bad-records", "quarantine=bad.jsonl")
    assert code == 1
    assert "1 record refused and quarantined" in out
    assert err == "refused records: 1; they are in bad.jsonl with their reasons\n"
    (refused,) = (json.loads(line) for line in (home / "bad.jsonl").read_text(encoding="utf-8").splitlines())
    assert (refused["line"], refused["code"]) == (10, "success.type")
    assert pl.read_parquet(home / "out" / "cells.parquet")["complete"].to_list() == [False, True, True, True]


def as_dictionary(frame):
    """The conditions as a dictionary with an entry that no record has."""
    import pyarrow as pa

    entries = ["unused", "far", "near"]
    codes = pa.array([entries.index(name) for name in frame["condition"]], type=pa.int8())
    table = frame.to_arrow()
    at = table.schema.get_field_index("condition")
    return table.set_column(at, "condition", pa.DictionaryArray.from_arrays(codes, entries))


def as_enum(frame):
    """The conditions as an Enum in another order than the grid's, with entries that no record has."""
    return frame.with_columns(pl.col("condition").cast(pl.Enum(["tgt", "far", "near"])))


@pytest.mark.parametrize("shape", [as_dictionary, as_enum])
def test_parquet_with_a_dictionary_or_an_enum_is_fine(skillshift, home, shape):
    import pyarrow.parquet as pq

    write(home / "runs" / "log.jsonl", run())
    table = shape(pl.DataFrame(run()))
    if isinstance(table, pl.DataFrame):
        table.write_parquet(home / "runs" / "log.parquet")
    else:
        pq.write_table(table, home / "runs" / "log.parquet")
    _, expected, _ = skillshift("report", "runs/log.jsonl", "--grid", "grid.toml")
    code, out, _ = skillshift("report", "runs/log.parquet", "--grid", "grid.toml")
    assert (code, out) == (0, expected)


def test_hundreds_of_files_of_one_run_each(skillshift, home):
    for n in range(500):
        write(home / f"runs/{n:03}.jsonl", run())
    code, out, _ = skillshift(
        "report", "runs", "--grid", "grid.toml", "--run-from", "path", "--format", "json"
    )
    assert code == 0
    assert len(json.loads(out)["coverage"]) == 500
    code, out, err = skillshift("report", "runs", "--grid", "grid.toml")
    assert (code, out) == (2, "")
    assert "task.duplicate 4,990" in err
    assert "--run-from path" in err


# -- bad input: one clear message, exit code 2, no output ------------------------------------------------

SECOND = {k: v for k, v in run()[1].items() if k != "skill_calls"}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{}", *run()], ":1: uid: "),
        (
            [*run(), {**run()[0], "success": 0}, {**run()[0], "success": 0.5}],
            ":11: success: found 0, expected true or false",
        ),
        ([*run(), *run()], ':11: uid: found "skillshift.big.v1.0" scored again'),
        ([*run()[:4], '{"uid": "skillshift.big.v1.'], ":5: "),
        ([*run()[:4], json.dumps(run()[4] | {"steps": float("nan")})], ":5: steps: "),
        ([*run()[:4], "[1, 2]"], ":5: "),
        ([*run()[:4], json.dumps(run()[4])[:-1] + ', "steps": 3}'], ":5: steps: "),
        ([*run()[:4], run()[4] | {"steps": 2.5}], ":5: steps: found 2.5, expected a whole number"),
        ([*run()[:4], run()[4] | {"uid": 9}], ":5: uid: found 9, expected text"),
        ([*run()[:4], run()[4] | {"site": "bgi"}], 'the nearest is "big"'),
        ([*run()[:4], run()[4] | {"site": "Big"}], 'differs from "big" only by case'),
        ([*run()[:4], run()[4] | {"condition": "far "}], 'differs from "far" only by case'),
        ([*run()[:4], run()[4] | {"steps": -1}], ":5: steps: found -1"),
        (
            [*run()[:4], run()[4] | {"skill_failures": 41}],
            ":5: skill_failures: found 41, expected at most skill_calls",
        ),
        ([*run()[:4], run()[4] | {"uid": "skillshift.big.v1.3"}], ":5: uid: "),
        ([*run()[:4], run()[4] | {"uid": "skillshift.small.v1.1"}], ":5: uid: "),
        ([*run(), {**run()[0], "uid": "extra"}], "4 tasks in big / near, expected at most 3"),
        (
            [run()[0] | {"skill_calls": None, "skill_failures": None}, *run()[1:]],
            ":1: skill_calls: found null",
        ),
        ([*run()[:4], run()[4] | {"skill_failures": None}], ":5: skill_calls: "),
        ([], "log.jsonl"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(report, home, lines, says):
    code, out, err = report(lines)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("error: ") == 1
    assert says in err
    assert "Traceback" not in err
    assert left_behind(home) == []


def test_a_key_that_first_appears_after_thousands_of_lines_is_missed_before(report, home):
    early = [r | {"uid": f"task {n}", "method": "m"} for n, r in enumerate(run()[:1] * 5_000)]
    late = [{k: v for k, v in r.items() if k != "skill_calls"} for r in early[:4_999]] + early[4_999:]
    code, out, err = report(late)
    assert (code, out) == (2, "")
    assert "4,999" in err
    assert ":1: skill_calls: " in err
    assert len(err.splitlines()) <= 25
    assert left_behind(home) == []


def test_the_second_of_two_files_lacks_a_key(skillshift, home):
    write(home / "runs/a.jsonl", run(run="a"))
    write(home / "runs/b.jsonl", [SECOND | {"run": "b"}])
    code, out, err = skillshift("report", "runs", "--grid", "grid.toml", "--out", "out")
    assert (code, out) == (2, "")
    assert "b.jsonl:1: skill_calls: " in err
    assert left_behind(home) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("missing.jsonl",), "missing.jsonl"),
        (("empty",), "empty"),
        (("runs/*.nothing",), "runs/*.nothing"),
        (("runs", "--grid", "missing.toml"), "missing.toml: the grid cannot be read"),
        (("runs", "--grid", "runs/log.jsonl"), "not a TOML file"),
        (("runs",), 'site: found "big", expected one of gitlab, magento, wordpress'),
        (("runs", "--grid", "grid.toml", "--by", "seed"), "the logs have no column 'seed'"),
        (("runs", "--grid", "grid.toml", "--by", "site"), "'site' cannot be a run key"),
        (("runs", "--grid", "grid.toml", "--on-bad-records", "ignore"), "expected refuse or quarantine=FILE"),
        (
            ("runs", "--grid", "grid.toml", "--on-bad-records", "quarantine="),
            "expected refuse or quarantine=FILE",
        ),
        (("runs", "--format", "xml"), "--format"),
        (("runs", "--incomplete", "partly"), "--incomplete"),
        (("runs", "--run-from", "name"), "--run-from"),
        (("runs", "--on-duplicates", "any"), "--on-duplicates"),
        (("runs", "--colour"), "--colour"),
        ((), "logs"),
    ],
)
def test_wrong_arguments_are_one_message(skillshift, home, arguments, says):
    write(home / "runs/log.jsonl", run())
    (home / "empty").mkdir()
    code, out, err = skillshift("report", *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize("out", ["taken", "taken/deeper"])
def test_a_folder_that_cannot_be_made_is_one_message(skillshift, home, out):
    write(home / "runs/log.jsonl", run())
    (home / "taken").write_text("a file", encoding="utf-8")
    code, shown, err = skillshift("report", "runs", "--grid", "grid.toml", "--out", out)
    assert (code, shown) == (2, "")
    assert "cannot be written" in err
    assert (home / "taken").read_text(encoding="utf-8") == "a file"


def test_bad_input_does_not_damage_an_earlier_report(report, home):
    report(run())
    before = {path.name: path.read_bytes() for path in (home / "out").iterdir()}
    code, _, _ = report(["{}"], name="runs/bad.jsonl")
    assert code == 2
    assert {path.name: path.read_bytes() for path in (home / "out").iterdir()} == before


# -- as another process ----------------------------------------------------------------------------------


@pytest.fixture
def process(root, home):  # noqa: ARG001
    """A function that starts the command as users do."""

    def start(*arguments, **options):
        return subprocess.Popen(
            [sys.executable, "-m", "skillshift.cli", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root)},
            **{"stdout": subprocess.PIPE, **options},
        )

    return start


def test_a_reader_that_leaves_early_ends_it_quietly(process):
    demo = str(datasets.path("demo/runs"))
    with process("report", demo, "--format", "json") as running:
        assert running.stdout.readline() == "{\n"
        running.stdout.close()
        assert running.wait(timeout=60) == 0
        assert running.stderr.read() == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, console.INTERRUPTED), (signal.SIGTERM, 143)])
def test_an_interruption_ends_it_quietly(process, home, sent, code):
    """The command waits for its grid, which comes through a pipe that nobody fills."""
    write(home / "runs/log.jsonl", run())
    os.mkfifo(home / "pipe.toml")
    with process("report", "runs", "--grid", "pipe.toml", "--out", "out") as running:
        writer = opened_when_read(home / "pipe.toml", running)
        try:
            running.send_signal(sent)
            assert running.wait(timeout=60) == code
            assert (running.stdout.read(), running.stderr.read()) == ("", "")
        finally:
            running.kill()  # else one that does not end would keep the whole suite waiting
            os.close(writer)
    assert not (home / "out").exists()


def opened_when_read(pipe, running):
    """The writing end of a pipe, once somebody reads it."""
    while running.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.01)
    raise AssertionError(running.stderr.read())


def test_a_full_disk_is_one_message_and_damages_nothing(process, home):
    write(home / "runs/log.jsonl", run())
    (home / "out").mkdir()
    (home / "out" / "report.md").write_text("earlier", encoding="utf-8")
    options = {"preexec_fn": limited} if sys.platform != "win32" else {}
    with process("report", "runs", "--grid", "grid.toml", "--out", "out", **options) as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (2, "")
    assert err.startswith("error: out: cannot be written: ")
    assert [path.name for path in (home / "out").iterdir()] == ["report.md"]
    assert (home / "out" / "report.md").read_text(encoding="utf-8") == "earlier"


def limited():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))


def test_the_grid_is_not_written_over(skillshift, home):
    log = write(home / "runs" / "log.jsonl", ["not a record", *run()])
    (home / "out").mkdir()
    (home / "out" / "manifest.json").write_text(GRID, encoding="utf-8")
    refused = [
        ("--grid", "grid.toml", "--on-bad-records", "quarantine=grid.toml"),
        ("--grid", "out/manifest.json", "--out", "out"),
        ("--grid", "grid.toml", "--on-bad-records", "quarantine=out/report.md", "--out", "out"),
    ]
    for options in refused:
        code, out, err = skillshift("report", log, *options)
        assert (code, out, "as well; give it another name" in err) == (2, "", True)
    assert (home / "grid.toml").read_text(encoding="utf-8") == GRID
    assert [(path.name, path.read_text(encoding="utf-8")) for path in (home / "out").iterdir()] == [
        ("manifest.json", GRID)
    ]
