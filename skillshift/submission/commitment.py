r"""The commitment: a salted SHA-256 over a run's per-task records in one canonical form.

The digest binds a submitter to every listed field of every record without publishing any, and the salt
keeps a guessed vector of records from being confirmed by whoever has only the receipt.

**The canonical form**, version 1, is UTF-8 text. Its lines end in one line feed, the last one too; fields
are separated by one tab.

1. The first line is ``skillshift per-task form 1``.
2. The second line names the fields: ``condition site uid success steps skill_calls skill_failures error``.
3. Each further line is one record, errored ones too. Text stands as it is, not normalised, with ``\`` written
   as ``\\``, a tab as ``\t``, a line feed as ``\n`` and a carriage return as ``\r``; whole numbers in decimal
   digits; booleans as ``true`` and ``false``; null as ``\N``.
4. The record lines are sorted: by condition, site, uid and the remaining fields in the order of line 2, each
   compared as UTF-8 bytes, numbers by size, ``false`` before ``true``, null first.

**The digest** is the SHA-256 of the salt's 64 hexadecimal digits, a line feed, and the canonical form,
so that ``cat my.salt form.txt | sha256sum`` recomputes it.

Run keys are not part of it: they say whose records these are, and stand in the receipt.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import Final

import polars as pl

from skillshift.frame.contract import collect
from skillshift.frame.errors import InputError, UsageError
from skillshift.schema import PER_TASK

FORM: Final = "skillshift per-task form 1"
"""The first line of the canonical form: what it is, and its version."""

COMMITTED = ("condition", "site", "uid", "success", "steps", "skill_calls", "skill_failures", "error")
"""The fields that the digest binds, in the order in which they are written and sorted."""

SALT_DIGITS = 64
"""How many hexadecimal digits a salt has."""

_SALT = re.compile(rf"[0-9a-f]{{{SALT_DIGITS}}}")
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
_NULL = "\\N"


def canonical_form(records: pl.DataFrame | pl.LazyFrame) -> bytes:
    r"""Write a run's records in the canonical form.

    Args:
        records: Per-task records of one run: ``condition``, ``site``, ``uid`` (text), ``success`` (Boolean),
            ``steps``, ``skill_calls``, ``skill_failures`` (integers), and optionally ``error`` (text);
            further columns are left out.

    Returns:
        The canonical form, as the module describes it; the same for any order of the records and any split
        into files.

    Raises:
        ContractError: The records are no per-task records.

    >>> one = pl.DataFrame({
    ...     "uid": ["a"], "site": ["gitlab"], "condition": ["src"], "success": [True], "steps": [3],
    ...     "skill_calls": [None], "skill_failures": [None],
    ... })
    >>> canonical_form(one).decode().splitlines()[2].split("\t")
    ['src', 'gitlab', 'a', 'true', '3', '\\N', '\\N', '\\N']
    """
    conformed = PER_TASK.conform(records.lazy())
    if "error" not in conformed.collect_schema().names():
        conformed = conformed.with_columns(error=pl.lit(None, dtype=pl.String))
    ordered = conformed.select(COMMITTED).sort(COMMITTED, nulls_last=False)
    fields = [_written(name) for name in COMMITTED]
    lines = collect(ordered.select(pl.concat_str(fields, separator="\t")))
    return "\n".join([FORM, "\t".join(COMMITTED), *lines.to_series().to_list(), ""]).encode()


def _written(name: str) -> pl.Expr:
    field = PER_TASK[name].kind
    text = pl.col(name).cast(pl.String)
    if field.is_text:
        for character, escape in _ESCAPES:
            text = text.str.replace_all(character, escape, literal=True)
    return text.fill_null(_NULL)


def digest(content: bytes, salt: str) -> str:
    """The salted SHA-256 of a canonical form, or of a file.

    Args:
        content: The bytes to commit to.
        salt: 64 hexadecimal digits.

    Returns:
        ``sha256:`` and 64 hexadecimal digits.

    Raises:
        InputError: The salt is not one.
    """
    return "sha256:" + hashlib.sha256(f"{check_salt(salt)}\n".encode() + content).hexdigest()


def file_digest(path: str | Path, salt: str) -> str:
    """The same of a file's bytes, without holding the file in memory.

    Raises:
        InputError: The file cannot be read, or the salt is not one.
    """
    started = hashlib.sha256(f"{check_salt(salt)}\n".encode())
    try:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                started.update(block)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return f"sha256:{started.hexdigest()}"


def check_salt(salt: str) -> str:
    """The salt, if it is one.

    Raises:
        InputError: It is not 64 hexadecimal digits in lower case. The message does not repeat it.
    """
    if not _SALT.fullmatch(salt):
        raise InputError(
            f"the salt: found {len(salt)} characters, expected {SALT_DIGITS} hexadecimal digits in lower case"
        )
    return salt


def read_salt(path: str | Path) -> str:
    """Read the salt that an earlier submission made.

    Raises:
        InputError: There is no such file, or it holds no salt.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(SALT_DIGITS + 3)
    except OSError as error:
        raise InputError(f"{path}: the salt cannot be read: {error.strerror or error}") from error
    try:
        return check_salt(raw.decode("ascii", errors="replace").rstrip("\r\n"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def salt_for(path: str | Path, out: str | Path) -> str:
    """The salt in a file; a new one, not kept yet, where there is no such file.

    Args:
        path: Where the salt is kept, outside the folder that is published.
        out: The folder that is published.

    Returns:
        The salt, for :func:`keep_salt` once the submission is made.

    Raises:
        UsageError: The file lies in the folder that is published.
        InputError: It cannot be read, or holds something else.
    """
    file, folder = Path(path).resolve(), Path(out).resolve()
    if file == folder or folder in file.parents:
        raise UsageError(
            f"{path}: the salt must stay with you, but {out} is what you publish; keep it somewhere else"
        )
    return read_salt(path) if os.path.lexists(file) else secrets.token_hex(SALT_DIGITS // 2)


def keep_salt(path: str | Path, salt: str) -> None:
    """Keep a salt in a file, readable by its owner alone; one that is there already stays as it is.

    Args:
        path: Where the salt is kept.
        salt: 64 hexadecimal digits, from :func:`salt_for`.

    Raises:
        InputError: The file cannot be written, or holds another salt by now.
    """
    content = f"{check_salt(salt)}\n".encode("ascii")
    file = Path(path).resolve()
    try:
        # O_EXCL: a file that is there already is never overwritten, also when two runs start at once.
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if read_salt(path) != salt:
            raise InputError(
                f"{path}: found another salt, which was made in the meantime; submit again to use it"
            ) from None
        return
    except OSError as error:
        raise _not_kept(path, error) from error
    try:
        with os.fdopen(handle, "wb") as written:
            written.write(content)
    except OSError as error:
        file.unlink(missing_ok=True)
        raise _not_kept(path, error) from error


def _not_kept(path: str | Path, error: OSError) -> InputError:
    return InputError(f"{path}: the salt cannot be written: {error.strerror or error}")
