"""Write per-task logs from an agent: count its skill calls, append its records.

Importing this module imports no dataframe library, and writing a record runs none: an agent may fork its
workers, and a dataframe library's threads do not survive a fork.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillshift.calls import OpenCall, SkillCall, SkillRecorder, describe
from skillshift.frame.append import TornLineWarning, append_line, mend
from skillshift.frame.errors import InputError, UsageError
from skillshift.grid import SKILLSHIFT, Grid
from skillshift.record import Scalar, as_line, check_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

__all__ = ["OpenCall", "PerTaskWriter", "RecordedTask", "SkillCall", "SkillRecorder", "TornLineWarning"]

SUFFIXES = (".jsonl", ".ndjson")
"""How the name of a written log may end."""


class PerTaskWriter:
    """Appends per-task records to one JSON Lines file.

    Every record is checked against the per-task log's rules, then appended whole or not at all: one
    write under the file's lock. Several threads and processes may write one file, each with its own
    writer or with this one; nothing needs to be closed. A piece of a record that a killed process or a
    full disk left at the file's end is moved to ``<file>.torn`` with a ``TornLineWarning``, so that it is
    neither joined with the next record nor lost unseen.

    The writer does not know what the file holds: a task that is written twice is found when the log is
    read.

    Args:
        path: The file, ``*.jsonl`` or ``*.ndjson``. It is appended to if it exists; else its folder is made
            now and the file with the first record.
        grid: The websites and conditions that records may name.
        method: The method; written into every record, as the three below; null leaves the key out.
        model: The language model.
        run: The run's name.
        trial: Which repetition this is.
        fsync: Whether every record waits for the disk: a few milliseconds a task, against losing the last
            records with the machine's power.

    Raises:
        UsageError: The file's name ends otherwise.
        ContractError: A run key has the wrong type or is empty.
        InputError: The file cannot be written.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> writer = PerTaskWriter(Path(folder.name) / "mine" / "per_task.jsonl", method="mine", model="a-model")
    >>> uid = "skillshift.gitlab.v1.9"
    >>> with writer.task(uid=uid, site="gitlab", condition="src", recorder=SkillRecorder()) as task:
    ...     with task.recorder.call("log in") as call:
    ...         call.fail("no such button")
    ...     task.finish(success=False, steps=4)
    >>> print(writer.path.read_text()[:96])
    {"uid": "skillshift.gitlab.v1.9", "site": "gitlab", "condition": "src", "success": false, "steps
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | Path,
        *,
        grid: Grid = SKILLSHIFT,
        method: str | None = None,
        model: str | None = None,
        run: str | int | None = None,
        trial: str | int | None = None,
        fsync: bool = True,
    ) -> None:
        self.path = Path(path)
        self.grid = grid
        self.fsync = fsync
        if self.path.suffix not in SUFFIXES:
            raise UsageError(f"{path}: expected a name that ends in {' or '.join(SUFFIXES)}, uncompressed")
        keys = {"method": method, "model": model, "run": run, "trial": trial}
        self._run = {name: value for name, value in keys.items() if value is not None}
        self._counts_calls: bool | None = None
        check_record(self._run, grid, self.path, partial=True)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.path.parent}: the folder cannot be made: {error.strerror or error}"
            ) from error
        mend(self.path)

    def task(
        self, *, uid: str, site: str, condition: str, recorder: SkillRecorder | None = None
    ) -> RecordedTask:
        """Run one task and write its record: ``with writer.task(...) as task: ... task.finish(...)``.

        Args:
            uid: The task's id.
            site: Its website.
            condition: Its condition.
            recorder: The task's recorder; null where the method has no executable skills.

        Returns:
            The task, to be entered. Its id is checked here, before any work is done.

        Raises:
            ContractError: ``uid``, ``site`` or ``condition`` breaks a rule.
            UsageError: The recorder belongs to a task that is written.
        """
        record = {"uid": uid, "site": site, "condition": condition}
        check_record(record, self.grid, self.path, partial=True)
        if recorder is not None and recorder.closed:
            raise UsageError(f"task {uid!r}: its recorder's task is written; make one SkillRecorder a task")
        return RecordedTask(self, record, recorder)

    def write(
        self,
        *,
        uid: str,
        site: str,
        condition: str,
        success: bool | None,
        steps: int | None,
        recorder: SkillRecorder | None = None,
        error: str | None = None,
        extra: Mapping[str, Scalar] | None = None,
    ) -> None:
        """Write the record of a task that is over, and close its recorder.

        Args:
            uid: The task's id.
            site: Its website.
            condition: Its condition.
            success: Whether it was solved; null only beside an error.
            steps: The agent's steps; null only beside an error.
            recorder: The task's recorder; null where the method has no executable skills.
            error: What kept the task from being measured; null where it was.
            extra: Further columns, one text, number, true, false or null each.

        Raises:
            ContractError: The record breaks a rule; nothing is written and the recorder stays open.
            UsageError: A call is under way, the recorder's task is written, or some of this writer's tasks
                have a recorder and others none.
            InputError: The file cannot be written; it is as it was.
        """
        if recorder is not None and recorder.closed:
            raise UsageError(f"task {uid!r}: its recorder's task is written; make one SkillRecorder a task")
        if recorder is not None and recorder.open_call is not None:
            raise UsageError(f"task {uid!r}: the call of {recorder.open_call!r} is under way; leave it first")
        if error is None:
            self._check_recorder(uid, attached=recorder is not None)
        record = {
            "uid": uid,
            "site": site,
            "condition": condition,
            "success": success,
            "steps": steps,
            "skill_calls": None if recorder is None else recorder.calls,
            "skill_failures": None if recorder is None else recorder.failures,
            "error": error,
        }
        clash = sorted(set(extra or {}) & {*record, *self._run})
        if clash:
            raise UsageError(f"task {uid!r}: extra names the field {clash[0]!r}; give it as an argument")
        self.append({**record, **self._run, **(extra or {})})
        if error is None:
            self._counts_calls = recorder is not None
        if recorder is not None:
            recorder.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Append one record as it stands, checked; the writer's run keys are not added.

        Args:
            record: The per-task log's fields by name, and further columns. Keys are written in the fields'
                order, further ones sorted after them.

        Raises:
            ContractError: The record breaks a rule; nothing is written.
            InputError: The file cannot be written; it is as it was.
        """
        checked = check_record(record, self.grid, self.path)
        append_line(self.path, as_line(checked), fsync=self.fsync)

    def _check_recorder(self, uid: str, *, attached: bool) -> None:
        if self._counts_calls is None or self._counts_calls == attached:
            return
        has, others = ("a recorder", "none") if attached else ("no recorder", "one")
        raise UsageError(
            f"task {uid!r}: has {has}, but earlier tasks of this writer have {others}: give every task"
            " a SkillRecorder if the method has executable skills (no call counts 0), else none"
        )


class RecordedTask:
    """One task that is under way; :meth:`PerTaskWriter.task` makes it.

    Leave its block through :meth:`finish` or :meth:`give_up`. An exception that leaves the block before
    either, ``KeyboardInterrupt`` included, is written as the record's ``error`` and raised again: the task
    was attempted and not measured, which is no failure of the agent's. After either, the record stands and
    the exception is only raised again.
    """

    def __init__(
        self, writer: PerTaskWriter, record: Mapping[str, str], recorder: SkillRecorder | None
    ) -> None:
        self._writer = writer
        self._task = dict(record)
        self._recorder = recorder
        self._written = False

    @property
    def recorder(self) -> SkillRecorder:
        """The task's recorder.

        Raises:
            UsageError: The task was made without one.
        """
        if self._recorder is None:
            raise UsageError(f"{self._name}: has no recorder; give writer.task() a SkillRecorder()")
        return self._recorder

    def finish(self, *, success: bool, steps: int, extra: Mapping[str, Scalar] | None = None) -> None:
        """Write the task's measurement, now.

        Args:
            success: Whether the task was solved.
            steps: The agent's steps.
            extra: Further columns, one text, number, true, false or null each.

        Raises:
            ContractError: The record breaks a rule; nothing is written.
            UsageError: The record is written already, or as :meth:`PerTaskWriter.write`.
            InputError: The file cannot be written.
        """
        self._write(success=success, steps=steps, error=None, extra=extra)

    def give_up(self, error: str, *, extra: Mapping[str, Scalar] | None = None) -> None:
        """Write that the task could not be measured, now: its website did not start, say.

        Args:
            error: What kept it from being measured.
            extra: Further columns, one text, number, true, false or null each.

        Raises:
            ContractError: The record breaks a rule; nothing is written.
            UsageError: The record is written already, or a skill's call is under way.
            InputError: The file cannot be written.
        """
        self._write(success=None, steps=None, error=error, extra=extra)

    @property
    def _name(self) -> str:
        return f"task {self._task['uid']!r}"

    def _write(
        self,
        *,
        success: bool | None,
        steps: int | None,
        error: str | None,
        extra: Mapping[str, Scalar] | None,
    ) -> None:
        if self._written:
            raise UsageError(f"{self._name}: its record is written already; a task has one record")
        self._writer.write(
            **self._task, success=success, steps=steps, recorder=self._recorder, error=error, extra=extra
        )
        self._written = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._written:
            return
        if error is None:
            unfinished = "left without finish() or give_up()"
            self.give_up(unfinished)
            raise UsageError(f"{self._name}: {unfinished}; it is written as a record with this error")
        try:
            self.give_up(describe(error))
        except (InputError, TornLineWarning) as unwritten:
            # The task's own exception is the one to see; what became of its record stands beside it.
            error.add_note(f"and its record was not written: {unwritten}")
