"""Writing results: whole or not at all, and the same rows give the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCHEMA_VERSION = "1"
"""The version of the output files' columns and fields; it changes when their meaning does."""


@contextmanager
def staged(folder: str | Path) -> Iterator[Path]:
    """Write several files into a folder, all whole or none at all.

    The files are written beside their place and moved there when the block ends well; on an error or an
    interruption they are removed, and what the folder held before is untouched.

    Args:
        folder: Where the files belong; made if it does not exist.

    Yields:
        An empty folder to write into.

    Raises:
        InputError: The folder cannot be made or written to, or the disk is full.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged(Path(home) / "out") as place:
    ...         _ = (place / "a.txt").write_text("whole")
    ...     (Path(home) / "out" / "a.txt").read_text()
    'whole'
    """
    if not str(folder):
        raise InputError("found an empty name for the folder of the results, expected one")
    target = Path(folder)
    try:
        exists = target.is_dir()
        if not exists:
            target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".partial-", dir=target if exists else target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield place
        _move(place, target, exists=exists)
    except (OSError, pl.exceptions.ComputeError) as error:
        raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _move(place: Path, target: Path, *, exists: bool) -> None:
    written = sorted(place.iterdir())
    for path in written:
        with path.open("rb") as file:
            os.fsync(file.fileno())
    if not exists:
        place.chmod(0o777 & ~_umask())
        place.rename(target)
        return
    earlier = place / ".earlier"
    earlier.mkdir()
    for path in written:
        if (target / path.name).exists():
            shutil.copy2(target / path.name, earlier / path.name)
    moved = []
    try:
        for path in written:
            moved.append(path.name)
            path.replace(target / path.name)
    except BaseException:
        _put_back(moved, earlier, target)
        raise


def _put_back(names: Sequence[str], earlier: Path, target: Path) -> None:
    """Undo the moves of a folder that could not be moved whole."""
    for name in names:
        if (earlier / name).exists():
            (earlier / name).replace(target / name)
        else:
            (target / name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(target: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(
        f"{target}: cannot be written: {reason}. Nothing was changed; choose a place with room that you may "
        "write to."
    )


def write_text(path: str | Path, text: str) -> None:
    """Write one text file whole or not at all; an earlier one stays until the new one is there.

    What is no regular file, such as ``/dev/stdout``, is written to and never replaced.

    Raises:
        InputError: The file cannot be written.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", newline="\n")
        else:
            _replace(target, text)
    except (OSError, ValueError) as error:  # no name, a null byte or a lone surrogate is a ValueError
        raise _unwritable(target, error) from error


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _replace(target: Path, text: str) -> None:
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        _write(partial, text)
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def write_parquet(frame: pl.DataFrame, path: Path, metadata: Mapping[str, str]) -> None:
    """Write a Parquet file (zstd) with key-value metadata; the same frame gives the same bytes."""
    # Through memory: of a full disk, Polars says no more than that its own format is broken.
    content = BytesIO()
    frame.rechunk().write_parquet(content, compression="zstd", metadata=dict(metadata))
    path.write_bytes(content.getvalue())


@contextmanager
def text_beside(path: str | Path, text: str) -> Iterator[None]:
    """Write a text file whole when the block ends well, and not at all when it does not.

    The text is on the disk before the block begins, so that a full disk or a read-only folder shows itself
    before anything else is done.

    Raises:
        InputError: The file cannot be written.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield
        write_text(target, text)
        return
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        _write(partial, text)
    except (OSError, ValueError) as error:
        partial.unlink(missing_ok=True)
        raise _unwritable(target, error) from error
    try:
        yield
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def refuse_overwriting(outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is read, or over another file that is written.

    Args:
        outputs: The files that are to be written, by what names them, such as ``--out``; null: none.
        inputs: What is read, by what names it: a file, a folder, a glob, a URL, or a list of those; null:
            nothing.

    Raises:
        UsageError: Two of them are one file, by another path or behind a link, too.

    >>> refuse_overwriting({"--out": "a"}, {"--replay": "./a"})
    Traceback (most recent call last):
    skillshift.frame.errors.UsageError: --out a: is the file of --replay ./a as well; give it another name
    """
    known: dict[object, str] = {}
    for name, source in inputs.items():
        for path in _read_from(source):
            for key in _identities(path):
                known.setdefault(key, f"{name} {path}")
    for name, path in outputs.items():
        if path is None:
            continue
        keys = _identities(path)
        other = next((known[key] for key in keys if key in known), None)
        if other is not None:
            raise UsageError(f"{name} {path}: is the file of {other} as well; give it another name")
        known |= dict.fromkeys(keys, f"{name} {path}")


def _read_from(source: Any) -> list[str]:
    from skillshift.frame.lines import is_remote
    from skillshift.frame.sources import find_logs

    if isinstance(source, list | tuple):
        return [path for one in source for path in _read_from(one)]
    if source is None or (is_remote(str(source)) and not str(source).startswith("file:")):
        return []
    with suppress(
        OSError, ValueError
    ):  # what is there is a file, and what cannot be found is told on reading
        if not Path(source).is_file():
            return [log.path for log in find_logs(source)]
    return [str(source)]


def _identities(path: str | Path) -> list[object]:
    """What tells whether two paths are one file: where they lead to and, if it is there, which file it is."""
    with suppress(OSError, ValueError):  # no file can have this name; reading or writing it says so
        where = os.path.realpath(path)
        if not Path(where).exists():
            return [where]
        status = Path(where).stat()
        # Of a device or a pipe nothing is replaced.
        return [where, (status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []
    return []


def dump_json(document: Any) -> str:
    """JSON as every output has it: sorted keys, two blanks of indentation, text as it is, no NaN."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False) + "\n"


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
