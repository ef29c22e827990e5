"""A leaderboard's folder: its submissions as entries; receipts and other files passed over and counted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillshift.frame.errors import SHOWN, InputError
from skillshift.submission.checks import read_sheet, validate
from skillshift.submission.checks.naming import RESULTS_NAME
from skillshift.submission.document import Results
from skillshift.submission.jsontext import is_utf8, printable
from skillshift.submission.model import require
from skillshift.submission.receipt import RECEIPT_FILE, RECEIPT_SUFFIX, is_receipt, receipt_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from skillshift.submission.findings import Verdict
    from skillshift.submission.sheet import Sheet

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}--.+\.json")
_PARTS = ("submission", "metrics")
_LARGEST = 1 << 23


@dataclass(frozen=True)
class Entry:
    """A submission on a leaderboard.

    Attributes:
        sheet: The document as the checks see it.
        results: The document.
        verdicts: What the checks say of it, with its receipt where it has one.
    """

    sheet: Sheet
    results: Results
    verdicts: tuple[Verdict, ...]

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.sheet.file_name or ""

    @property
    def name(self) -> str:
        """What the leaderboard calls it."""
        return self.results.submission.name

    @property
    def model(self) -> str:
        """The language model's id."""
        return self.results.submission.model.id

    @cached_property
    def date(self) -> date:
        """When it ran."""
        from datetime import date

        return date.fromisoformat(self.results.submission.date)

    @property
    def provenance(self) -> str:
        """Where its numbers come from: its label."""
        return self.results.submission.provenance.label

    @property
    def mixed(self) -> bool:
        """Whether it pools several models."""
        return self.sheet.mixed

    @property
    def failed(self) -> tuple[str, ...]:
        """The checks that it fails."""
        return tuple(verdict.check for verdict in self.verdicts if verdict.errors)

    @property
    def label(self) -> str:
        """How messages name it."""
        return printable(f"{self.name} ({self.model}, {self.results.submission.date})")


@dataclass(frozen=True, slots=True)
class Folder:
    """What a leaderboard's folder holds.

    Attributes:
        path: The folder.
        entries: Its submissions, by file name.
        receipts: The names of the receipts.
        others: The names of everything else that was passed over; a folder's ends in a slash.
    """

    path: Path
    entries: tuple[Entry, ...]
    receipts: tuple[str, ...]
    others: tuple[str, ...]


def read_folder(path: str | Path, *, without: Path | None = None) -> Folder:
    """Read a leaderboard's folder.

    Args:
        path: The folder. A submission is a JSON document with ``submission`` and ``metrics``, or any file
            that is named like one: ``results.json``, or a date, ``--`` and more. Folders in it are not
            entered.
        without: A file to leave out, as if it were not there.

    Returns:
        The folder; its entries carry what the checks say of them.

    Raises:
        InputError: The folder cannot be read, or a submission in it cannot be used. Every such file is named;
            no board is made of the rest.
    """
    folder = Path(path)
    try:
        paths = sorted(folder.iterdir(), key=lambda found: found.name)
        files = {found: found.is_file() for found in paths if not _is_same(found, without)}
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be read as a folder of submissions: {error.strerror or error}"
        ) from error
    entries, receipts, others, problems = [], [], [], []
    for found, is_file in files.items():
        kind = _kind(found) if is_file else "other"
        if kind == "receipt":
            receipts.append(found.name)
        elif kind == "other":
            others.append(found.name if is_file else f"{found.name}/")
        else:
            try:
                entries.append(read_entry(found))
            except InputError as error:
                problems.append(str(error))
    if problems:
        count = f"{len(problems)} of {len(problems) + len(entries)} submissions"
        more = [f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        told = "\n".join([*problems[:SHOWN], *more])
        raise InputError(f"{folder}: {count} cannot be used; correct or remove them:\n{told}")
    return Folder(folder, tuple(entries), tuple(receipts), tuple(others))


def read_entry(
    path: str | Path,
    receipt: str | Path | None = None,
    digests: Mapping[str, str | None] | None = None,
) -> Entry:
    """Read one submission and run the checks on it.

    Args:
        path: The results document.
        receipt: Its receipt; by default the one beside it, where there is one.
        digests: The official digests of the benchmark's environments by name.

    Returns:
        The entry.

    Raises:
        InputError: A document cannot be read, its file's name is no text, or the submission does not fit its
            schema.
    """
    check_name(path)
    sheet = read_sheet(Path(path))
    results = require(Results, sheet.tree, str(path))
    verdicts = validate(Path(path), receipt_of(path) if receipt is None else receipt, digests)
    return Entry(sheet, results, tuple(verdicts))


def check_name(path: str | Path) -> None:
    """Refuse a submission whose file's name no board could print: the name stands in every format.

    Raises:
        InputError: The name is not UTF-8.
    """
    if not is_utf8(Path(path).name):
        raise InputError(printable(f"{path}: the file's name is not UTF-8; rename the file"))


def receipt_of(path: str | Path) -> Path | None:
    """The receipt beside a submission, where there is one: its own by name, or what ``submit`` writes."""
    results = Path(path)
    names = [receipt_path(results)]
    if results.name == RESULTS_NAME:
        names.append(results.with_name(RECEIPT_FILE))
    return next((name for name in names if name.is_file()), None)


def _is_same(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()


def _kind(path: Path) -> str:
    """What a file is: ``submission``, ``receipt`` or ``other``."""
    name = path.name
    if name == RECEIPT_FILE or name.endswith(RECEIPT_SUFFIX):
        return "receipt"
    if not name.endswith(".json"):
        return "other"
    # What is named like a submission is one, however broken; passing it over would hide that it is.
    named = name == RESULTS_NAME or _DATED.fullmatch(name) is not None
    try:
        tree: Mapping[str, Any] = read_sheet(path).tree
    except InputError:
        return "submission" if named or _may_be_one(path) else "other"
    if is_receipt(tree):
        return "receipt"
    return "submission" if named or all(part in tree for part in _PARTS) else "other"


def _may_be_one(path: Path) -> bool:
    """Whether a document that cannot be used may have been a submission.

    Nobody can tell that a damaged one was none, and every other entry's rank hangs on it.
    """
    try:
        if path.stat().st_size > _LARGEST:
            return False
        tree = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(tree, dict) and any(part in tree for part in _PARTS)
