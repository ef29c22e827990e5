"""Per-task records from an agent: written checked, whole, and with the right nulls."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import pytest

import skillshift.recorder as module
from skillshift.diagnostics.cells import cells
from skillshift.frame.append import TornLineWarning
from skillshift.frame.errors import ContractError, InputError, UsageError
from skillshift.grid import Grid
from skillshift.logs import scan_per_task
from skillshift.recorder import PerTaskWriter, SkillRecorder

TASK = {"uid": "skillshift.gitlab.v1.9", "site": "gitlab", "condition": "tgt-exec"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "mine" / "per_task.jsonl"


@pytest.fixture
def writer(path):
    return PerTaskWriter(path, method="mine", model="some-model", run=1)


def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_task_is_written_when_it_finishes(path, writer):
    with writer.task(**TASK, recorder=SkillRecorder()) as task:
        with task.recorder.call("log in") as call:
            call.fail("no button")
        with task.recorder.call("log in"):
            pass
        task.finish(success=True, steps=12, extra={"seconds": 3.5})
        assert path.read_text("utf-8") == (
            '{"uid": "skillshift.gitlab.v1.9", "site": "gitlab", "condition": "tgt-exec", "success": true,'
            ' "steps": 12, "skill_calls": 2, "skill_failures": 1, "error": null, "method": "mine",'
            ' "model": "some-model", "run": 1, "seconds": 3.5}\n'
        )
    assert len(read(path)) == 1


def test_no_call_is_0_and_no_recorder_is_null(tmp_path):
    for name, recorder, count in (("skills", SkillRecorder(), 0), ("none", None, None)):
        path = tmp_path / f"{name}.jsonl"
        with PerTaskWriter(path).task(**TASK, recorder=recorder) as task:
            task.finish(success=False, steps=3)
        (record,) = read(path)
        assert record["skill_calls"] == record["skill_failures"] == count
        assert "method" not in record


def test_a_task_without_a_recorder_has_none_to_use(writer):
    with pytest.raises(UsageError, match="has no recorder"), writer.task(**TASK) as task:
        _ = task.recorder


@pytest.mark.parametrize("error", [ValueError("no bröwser"), KeyboardInterrupt(), SystemExit()])
def test_a_task_that_raises_is_a_record_with_its_error_and_raised_again(path, writer, error):
    def run():
        with writer.task(**TASK, recorder=SkillRecorder()) as task:
            with task.recorder.call("log in"):
                pass
            with task.recorder.call("search"):
                raise error

    with pytest.raises(type(error)) as raised:
        run()
    assert raised.value is error
    (record,) = read(path)
    assert record["error"] == (
        "ValueError: no bröwser" if isinstance(error, ValueError) else type(error).__name__
    )
    assert (record["success"], record["steps"]) == (None, None)
    assert (record["skill_calls"], record["skill_failures"]) == (2, 1)


def test_a_task_that_raises_after_it_finished_has_one_scored_record(path, writer):
    def run():
        with writer.task(**TASK) as task:
            task.finish(success=True, steps=2)
            raise ValueError("closing the browser")

    with pytest.raises(ValueError, match="closing"):
        run()
    (record,) = read(path)
    assert record["success"] is True
    assert record["error"] is None


def test_a_task_that_gives_up_is_a_record_with_its_error(path, writer):
    with writer.task(**TASK) as task:
        task.give_up("the website did not start", extra={"attempt": 2})
    (record,) = read(path)
    assert (record["error"], record["success"], record["attempt"]) == ("the website did not start", None, 2)


def test_a_task_left_unfinished_is_an_error_and_a_record_with_it(path, writer):
    with pytest.raises(UsageError, match=r"left without finish\(\)"), writer.task(**TASK):
        pass
    (record,) = read(path)
    assert record["error"] == "left without finish() or give_up()"


def test_a_task_has_one_record(path, writer):
    with writer.task(**TASK) as task:
        task.finish(success=True, steps=2)
        with pytest.raises(UsageError, match="written already"):
            task.finish(success=False, steps=2)
        with pytest.raises(UsageError, match="written already"):
            task.give_up("no")
    assert len(read(path)) == 1


def test_a_task_refused_for_a_wrong_value_can_be_finished_rightly(path, writer):
    recorder = SkillRecorder()
    with writer.task(**TASK, recorder=recorder) as task:
        with pytest.raises(ContractError, match="steps: found -1"):
            task.finish(success=True, steps=-1)
        assert not recorder.closed
        assert not path.exists()
        task.finish(success=True, steps=1)
    assert recorder.closed
    assert len(read(path)) == 1


def test_a_wrong_value_left_to_itself_is_an_errored_record(path, writer):
    with pytest.raises(ContractError), writer.task(**TASK) as task:
        task.finish(success=0.5, steps=1)
    (record,) = read(path)
    assert record["error"].startswith("ContractError: per-task log: 1 violation (success.type 1)")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"uid": 9}, "uid.type"),
        ({"uid": "skillshift.magento.v1.9"}, "uid.site"),
        ({"uid": "skillshift.gitlab.v1.162"}, "uid.range"),
        ({"site": "Gitlab"}, "site.unknown"),
        ({"condition": "tgt_exec"}, "condition.unknown"),
    ],
)
def test_a_task_s_id_is_checked_before_the_task_runs(path, writer, change, code):
    with pytest.raises(ContractError) as raised:
        writer.task(**{**TASK, **change})
    assert code in raised.value.counts
    assert not path.exists()


def test_run_keys_are_checked_before_anything_runs(path):
    with pytest.raises(ContractError, match=r"method: found 7, expected text"):
        PerTaskWriter(path, method=7)
    with pytest.raises(ContractError, match=r'trial: found ""'):
        PerTaskWriter(path, trial="")
    assert not path.parent.exists()


def test_another_grid_s_names_are_the_known_ones(path):
    writer = PerTaskWriter(path, grid=Grid("airline", {"airline": 50}, ["trial-0"]))
    writer.write(uid="tau.3", site="airline", condition="trial-0", success=True, steps=4)
    assert read(path)[0]["site"] == "airline"
    with pytest.raises(ContractError, match="expected one of airline"):
        writer.write(**TASK, success=True, steps=4)
    assert len(read(path)) == 1


def test_a_written_recorder_is_not_used_again(path, writer):
    recorder = SkillRecorder()
    writer.write(**TASK, success=True, steps=1, recorder=recorder)
    with pytest.raises(UsageError, match="one SkillRecorder a task"):
        writer.write(**TASK, success=True, steps=1, recorder=recorder)
    with pytest.raises(UsageError, match="one SkillRecorder a task"):
        writer.task(**TASK, recorder=recorder)
    with pytest.raises(UsageError, match="one SkillRecorder a task"), recorder.call("late"):
        pass
    assert len(read(path)) == 1


def test_a_record_is_not_written_during_a_call(path, writer):
    recorder = SkillRecorder()
    with recorder.call("search"), pytest.raises(UsageError, match="'search' is under way"):
        writer.write(**TASK, success=True, steps=1, recorder=recorder)
    writer.write(**TASK, success=True, steps=1, recorder=recorder)
    assert read(path)[0]["skill_calls"] == 1


@pytest.mark.parametrize("first", [True, False])
def test_a_run_has_recorders_everywhere_or_nowhere(path, writer, first):
    def recorder(attached):
        return SkillRecorder() if attached else None

    writer.write(**TASK, success=None, steps=None, error="no answer", recorder=recorder(not first))
    writer.write(**TASK, success=True, steps=1, recorder=recorder(first))
    with pytest.raises(UsageError, match="earlier tasks of this writer have"):
        writer.write(**TASK, success=True, steps=1, recorder=recorder(not first))
    writer.write(**TASK, success=None, steps=None, error="no answer", recorder=recorder(not first))
    assert len(read(path)) == 3


def test_a_refused_record_does_not_say_what_the_run_has(path, writer):
    with pytest.raises(ContractError):
        writer.write(**TASK, success=True, steps=-1, recorder=SkillRecorder())
    writer.write(**TASK, success=True, steps=1)
    assert read(path)[0]["skill_calls"] is None


@pytest.mark.parametrize("name", ["steps", "error", "run"])
def test_further_columns_are_not_the_fields(writer, path, name):
    with pytest.raises(UsageError, match=f"extra names the field '{name}'"):
        writer.write(**TASK, success=True, steps=1, extra={name: "x"})
    assert not path.exists()


def test_a_record_as_it_stands_is_checked_too(path, writer):
    record = {**TASK, "success": True, "steps": 1, "skill_calls": 2, "skill_failures": 0}
    writer.append(record)
    with pytest.raises(ContractError, match="skill_calls: found -2"):
        writer.append({**record, "skill_calls": -2})
    assert read(path) == [record]


def test_names_with_blanks_and_other_letters_are_fine(tmp_path):
    path = tmp_path / "läufe und 実験" / "per task.jsonl"
    PerTaskWriter(path, method="mein Verfahren ✓").write(**TASK, success=True, steps=1)
    assert "mein Verfahren ✓" in path.read_text("utf-8")


@pytest.mark.parametrize("name", ["per_task.json.gz", "per_task.parquet", "per_task", "per_task.jsonl.zst"])
def test_a_name_that_promises_another_format_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"ends in \.jsonl or \.ndjson"):
        PerTaskWriter(tmp_path / name)


def test_a_folder_that_cannot_be_is_refused_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="the folder cannot be made"):
        PerTaskWriter(tmp_path / "file" / "per_task.jsonl")
    (tmp_path / "per_task.jsonl").mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        PerTaskWriter(tmp_path / "per_task.jsonl")


def test_opening_makes_no_file_and_keeps_an_earlier_one(path, writer):
    assert path.parent.is_dir()
    assert not path.exists()
    writer.write(**TASK, success=True, steps=1)
    before = path.read_bytes()
    PerTaskWriter(path).write(**TASK, success=True, steps=2)
    assert path.read_bytes().startswith(before)
    assert len(read(path)) == 2


def test_a_torn_record_is_told_of_when_the_file_is_opened_and_when_it_is_written(path, writer):
    writer.write(**TASK, success=True, steps=1)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    with pytest.warns(TornLineWarning, match="its task has no record"):
        PerTaskWriter(path)
    assert path.read_bytes() == whole
    path.write_bytes(whole + whole[:30])
    with pytest.warns(TornLineWarning):
        writer.write(**TASK, success=True, steps=2)
    assert [record["steps"] for record in read(path)] == [1, 2]
    assert path.with_name("per_task.jsonl.torn").read_bytes() == whole[:40] + b"\n" + whole[:30] + b"\n"


def test_where_the_record_cannot_be_written_the_task_s_own_exception_is_seen(writer, path):
    def run():
        with writer.task(**TASK):
            path.mkdir()
            raise ValueError("no button")

    with pytest.raises(ValueError, match="no button") as raised:
        run()
    (note,) = raised.value.__notes__
    assert "its record was not written" in note
    assert "Is a directory" in note


def test_a_record_that_could_not_be_written_leaves_its_recorder_open(writer, path):
    recorder = SkillRecorder()
    path.mkdir()
    with pytest.raises(InputError):
        writer.write(**TASK, success=True, steps=1, recorder=recorder)
    path.rmdir()
    writer.write(**TASK, success=True, steps=1, recorder=recorder)
    assert len(read(path)) == 1


@pytest.mark.parametrize("fsync", [True, False])
def test_a_record_waits_for_the_disk_if_asked(path, monkeypatch, fsync):
    def fail(_descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    writer = PerTaskWriter(path, fsync=fsync)
    if fsync:
        with pytest.raises(InputError, match="Input/output error"):
            writer.write(**TASK, success=True, steps=1)
        assert path.read_bytes() == b""
    else:
        writer.write(**TASK, success=True, steps=1)
        assert len(read(path)) == 1


def test_threads_share_a_writer(path, writer):
    def work(name):
        for i in range(60):
            with writer.task(
                uid=f"{name}.{i}", site="gitlab", condition="src", recorder=SkillRecorder()
            ) as task:
                with task.recorder.call("skill"):
                    pass
                task.finish(success=True, steps=i)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = read(path)
    assert {record["uid"] for record in records} == {f"{name}.{i}" for name in "abc" for i in range(60)}
    assert len(records) == 180
    assert {record["skill_calls"] for record in records} == {1}


def test_a_writer_can_be_sent_to_another_process(path, writer):
    sent = pickle.loads(pickle.dumps(writer))  # noqa: S301 - our own bytes
    sent.write(**TASK, success=True, steps=1)
    assert read(path)[0]["method"] == "mine"


def test_what_is_written_is_read_back_and_what_is_torn_is_no_log(path, writer):
    for i in range(3):
        writer.write(
            uid=f"skillshift.gitlab.v1.{i}", site="gitlab", condition="src", success=i == 1, steps=i,
            recorder=SkillRecorder(), extra={"cost": i / 2},
        )  # fmt: skip
    with pytest.raises(LookupError), writer.task(**TASK, recorder=SkillRecorder()):
        raise LookupError("no answer")
    with path.open("ab") as stream:
        stream.write(b'{"uid": "skill')
    with pytest.warns(TornLineWarning):
        PerTaskWriter(path)
    log = scan_per_task(path.parent.parent).collect()
    assert log["uid"].to_list() == [record["uid"] for record in read(path)]
    assert log["success"].to_list() == [False, True, False, None]
    assert log["skill_calls"].to_list() == [0, 0, 0, 0]
    assert log["error"].to_list() == [None, None, None, "LookupError: no answer"]
    assert log["run"].to_list() == ["1"] * 4
    assert log["cost"].to_list() == [0.0, 0.5, 1.0, None]
    assert cells(log).row(0, named=True)["scored"] == 3


def run(root, script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_forked_workers_write_after_their_parent_used_its_dataframes(root, path):
    # Polars' threads do not survive a fork: a query in a forked worker would wait for ever.
    done = run(
        root,
        """
        import os, sys
        import polars as pl
        from skillshift.recorder import PerTaskWriter, SkillRecorder
        frame = pl.DataFrame({"a": range(100_000)})
        frame.lazy().group_by(pl.col("a") % 7).agg(pl.len()).collect()
        shared = PerTaskWriter(sys.argv[1], method="mine", fsync=False)
        workers = []
        for name in "abc":
            worker = os.fork()
            if worker == 0:
                own = PerTaskWriter(sys.argv[1], method="mine", fsync=False)
                for i in range(200):
                    writer = shared if i % 2 else own
                    with writer.task(uid=f"{name}.{i}", site="gitlab", condition="src") as task:
                        task.finish(success=True, steps=i, extra={"filler": name * (i * 29 % 3000)})
                os._exit(0)
            workers.append(worker)
        sys.exit(any(os.waitpid(worker, 0)[1] for worker in workers))
        """,
        path,
    )
    assert done.returncode == 0, done.stderr
    records = read(path)
    assert len(records) == 600
    for name in "abc":
        own = [record for record in records if record["uid"].startswith(name)]
        assert [record["steps"] for record in own] == list(range(200))
        assert all(record["filler"] == name * (record["steps"] * 29 % 3000) for record in own)


def test_importing_the_recorder_imports_no_dataframe_library(root):
    done = run(
        root,
        """
        import sys
        import skillshift.recorder
        sys.exit(sorted({"polars", "pandas", "pyarrow", "pandera", "numpy"} & set(sys.modules)).__repr__())
        """,
    )
    assert done.stderr.strip() == "[]"


def test_the_module_names_what_it_offers():
    assert all(hasattr(module, name) for name in module.__all__)
