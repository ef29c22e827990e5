"""What a run has decided so far, kept beside its output: whole parts, for one process at a time."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.router.protocol import OUTCOMES
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.writing import dump_json, write_parquet, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """There is no such lock here: one process at a time may run into a file."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # The kernel gives it back when the process ends, however it ends.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


SUFFIX = ".parquet"
"""What the output's name ends with: readers tell formats by it."""

ROW = "row"
"""The column of a part that says which run each decision belongs to: fixtures in order, then repeats."""

PART = pl.Schema({ROW: pl.UInt32(), **OUTCOMES})

_LOCK, _MANIFEST, _SHORTLISTS, _PARTIAL = "lock", "run.json", f"shortlists{SUFFIX}", "partial"
_PARTS = f"part-*{SUFFIX}"
_OURS = re.compile(rf"(?:{_LOCK}|\.?{_MANIFEST}.*|{_SHORTLISTS}|{_PARTIAL}|part-\d+{SUFFIX})$")


def parts_folder(out: Path) -> Path:
    """Where the parts of an output are, until it is written."""
    return out.with_name(f"{out.name}.parts")


@dataclass(eq=False)
class Parts:
    """The parts of one output; see :func:`open_parts`.

    Attributes:
        out: The output.
        folder: Where they are.
        done: What was decided before, one row a run: :data:`PART`.
    """

    out: Path
    folder: Path
    done: pl.DataFrame = field(default_factory=PART.to_frame)
    _count: int = 0

    def shortlists(self, schema: pl.Schema, height: int) -> pl.DataFrame | None:
        """The shortlists of an interrupted run; None where there are none."""
        found = _read(self.folder / _SHORTLISTS, schema)
        return found if found is not None and found.height == height else None

    def keep_shortlists(self, shortlists: pl.DataFrame) -> None:
        """Keep shortlists, so that a run that goes on decides on the same."""
        self._write(shortlists, self.folder / _SHORTLISTS, {})

    def keep(self, outcomes: pl.DataFrame) -> None:
        """Keep decisions, whole or not at all.

        Raises:
            InputError: They cannot be written.
        """
        self._count += 1
        self._write(outcomes.select(PART.names()), self.folder / f"part-{self._count:06}{SUFFIX}", {})

    def finish(self, runs: pl.DataFrame, metadata: Mapping[str, str]) -> None:
        """Put the output in place, whole or not at all; an earlier one stays until then.

        Raises:
            InputError: It cannot be written.
        """
        self._write(runs, self.out, metadata, durable=True)

    def clear(self) -> None:
        """Remove the folder. Without its manifest, what a kill leaves of it counts for nothing."""
        (self.folder / _MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(
        self, frame: pl.DataFrame, path: Path, metadata: Mapping[str, str], *, durable: bool = False
    ) -> None:
        partial = self.folder / _PARTIAL
        try:
            write_parquet(frame, partial, metadata)
            if durable:
                with partial.open("rb") as file:
                    os.fsync(file.fileno())
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise InputError(
                f"{path}: cannot be written: {error.strerror or error}; what was decided before is kept in "
                f"{self.folder}. Make room, check the folder's permissions, and give the same command again"
            ) from error


@contextmanager
def open_parts(out: str | os.PathLike[str], run: Mapping[str, str]) -> Iterator[Parts]:
    """Open the parts of an output, for this process alone.

    What an earlier run with the same settings decided is there again. When the block ends, by an error too,
    a folder that holds no decision is removed.

    Args:
        out: The output, a Parquet file.
        run: What is run, names and values as text: parts of something else are not mixed in.

    Raises:
        UsageError: The parts are those of another run, or of one that is going on.
        InputError: The output is no file, its folder does not exist or cannot be written to.
    """
    target = _checked(out)
    folder = parts_folder(target)
    try:
        folder.mkdir(exist_ok=True)
        strangers = sorted(path.name for path in folder.iterdir() if not _OURS.match(path.name))
        if strangers:
            raise InputError(
                f"{folder}: found {shorten(strangers[0])} in it, which no run wrote; the parts of {target} "
                "would be kept there and then removed. Choose another output"
            )
        lock = _locked(folder, target)
    except (OSError, ValueError) as error:  # a null byte in a name is a ValueError
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{shorten(str(target))}: cannot be written: {reason}; choose a place with room that you may "
            "write to"
        ) from error
    try:
        parts = Parts(target, folder)
        _resume(parts, dict(run))
        yield parts
    finally:
        try:
            if folder.is_dir() and not any(folder.glob(_PARTS)):
                parts.clear()
        finally:
            os.close(lock)


def _checked(out: str | os.PathLike[str]) -> Path:
    """The output's path, if it can be one; nothing is written to find that out."""
    target = Path(out)
    if target.suffix != SUFFIX:
        raise UsageError(f"{target}: runs are written as Parquet; expected a name that ends in {SUFFIX}")
    try:
        folder, there, file = target.is_dir(), target.exists(), target.is_file()
        home = target.parent.is_dir()
    except OSError as error:  # a name too long, or a folder that may not be looked into
        raise InputError(
            f"{shorten(str(target))}: cannot be written: {error.strerror or error}; choose another name"
        ) from error
    if there and not file:
        wrong = "is a folder" if folder else "is no regular file"
        raise InputError(f"{target}: {wrong}; expected the name of a file to write")
    if not home:
        raise InputError(f"{target}: the folder {target.parent} does not exist; make it first")
    return target


def _locked(folder: Path, target: Path) -> int:
    path = folder / _LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(descriptor)
        # What was locked may have been removed meanwhile, by a process that was just done.
        alone = os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        alone = False
    except OSError:
        os.close(descriptor)
        raise
    if not alone:
        os.close(descriptor)
        raise UsageError(
            f"{target}: another process is running into this file; wait for it, or choose another file"
        )
    return descriptor


def _resume(parts: Parts, run: dict[str, str]) -> None:
    folder = parts.folder
    (folder / _PARTIAL).unlink(missing_ok=True)
    manifest = folder / _MANIFEST
    kept = sorted(folder.glob(_PARTS))
    known = _manifest(manifest) if manifest.exists() else None
    if known != run:
        if known is not None and kept:
            raise UsageError(_differences(parts, known, run))
        for path in (*kept, folder / _SHORTLISTS):
            path.unlink(missing_ok=True)
        write_text(manifest, dump_json(run))
        return
    found = {path: _read(path, PART) for path in kept}
    for path, part in found.items():
        if part is None:  # cut off by more than a kill, such as a loss of power
            path.unlink(missing_ok=True)
    whole = [part for part in found.values() if part is not None]
    parts.done = pl.concat([parts.done, *whole]).unique(ROW, keep="first", maintain_order=True)
    parts._count = max((int(path.stem.rpartition("-")[2]) for path in kept), default=0)  # noqa: SLF001


def _manifest(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise InputError(
            f"{path}: not what a run writes; remove the folder {path.parent} if nothing else needs it"
        )
    return found


def _differences(parts: Parts, known: dict[str, Any], run: dict[str, str]) -> str:
    names = [name for name in {**known, **run} if known.get(name) != run.get(name)]
    told = "; ".join(
        f"{name}: found {shorten(known.get(name))}, expected {shorten(run.get(name))}" for name in names
    )
    return (
        f"{parts.folder}: these are the parts of another run, which was interrupted ({told}). Give the "
        f"options of that run to go on with it, name another output, or remove the folder"
    )


def _read(path: Path, schema: pl.Schema) -> pl.DataFrame | None:
    """A part, or None where it is not there or not whole."""
    try:
        found = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (OSError, pl.exceptions.PolarsError):
        return None
    return found if found.schema == schema else None
