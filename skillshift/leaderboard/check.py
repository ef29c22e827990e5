"""A new entry for a leaderboard: where it lands, what changes, and what the checks say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillshift.frame.errors import InputError
from skillshift.leaderboard.folder import Entry, Folder, check_name, read_folder, receipt_of
from skillshift.leaderboard.ranking import Ranked, ranked, ranking_of, sort_metric
from skillshift.submission.checks import FIVE_CHECKS, read_sheet, validate
from skillshift.submission.checks.naming import RESULTS_NAME, file_name
from skillshift.submission.document import Results
from skillshift.submission.model import require
from skillshift.submission.receipt import is_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift.frame.metric import Metric
    from skillshift.submission.findings import Verdict
    from skillshift.submission.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a new entry stands.

    Attributes:
        place: The new entry at its place.
        among: How many entries its ranking has with it.
        before: The ranking without it, in order.
        after: The ranking with it, in order.
        replaced: The entry that it replaces, because its file has the name; null where it replaces none.
        twins: Other entries with its name, model and date.
    """

    place: Ranked
    among: int
    before: tuple[Ranked, ...]
    after: tuple[Ranked, ...]
    replaced: Entry | None
    twins: tuple[Entry, ...]

    @property
    def moved(self) -> tuple[tuple[Ranked, int | None], ...]:
        """The other entries whose rank changes, each with its rank before; null for none."""
        ranks = {one.entry.file: one.rank for one in self.before}
        return tuple(
            (one, ranks[one.entry.file])
            for one in self.after
            if one.entry.file in ranks and one is not self.place and one.rank != ranks[one.entry.file]
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """What is said of a new entry.

    Attributes:
        file: Its file, as it was given.
        sheet: The document as the checks see it.
        verdicts: What the checks say.
        sort: The metric of the ranking.
        landing: Where it stands; null where the document does not fit its schema.
    """

    file: str
    sheet: Sheet
    verdicts: tuple[Verdict, ...]
    sort: Metric
    landing: Landing | None

    @property
    def five(self) -> tuple[Verdict, ...]:
        """The checks that it must pass."""
        return tuple(verdict for verdict in self.verdicts if verdict.check in FIVE_CHECKS)

    @property
    def further(self) -> tuple[Verdict, ...]:
        """The checks that only warn."""
        return tuple(verdict for verdict in self.verdicts if verdict.check not in FIVE_CHECKS)

    @property
    def passed(self) -> bool:
        """Whether it passes all of them."""
        return not any(verdict.errors for verdict in self.verdicts)


def check_new(
    folder: str | Path,
    new: str | Path,
    *,
    receipt: str | Path | None = None,
    digests: Mapping[str, str | None] | None = None,
    sort: str,
) -> Checked:
    """Check a new entry against a leaderboard's folder.

    Args:
        folder: The folder; it may hold the new file already.
        new: The new results document.
        receipt: Its receipt; by default the one beside it, where there is one.
        digests: The official digests of the benchmark's environments by name.
        sort: The metric to rank by, SFR excepted.

    Returns:
        The verdicts, and where the entry lands. An entry that fails a check lands too, so that a reviewer
        sees both.

    Raises:
        InputError: The folder, the document or its receipt cannot be used.
        UsageError: The metric cannot be sorted by.
    """
    metric = sort_metric(sort)
    path = Path(new)
    check_name(path)
    sheet = read_sheet(path)
    if is_receipt(sheet.tree):
        raise InputError(
            f"{path}: found a receipt, expected a results document; give the receipt as --receipt"
        )
    verdicts = tuple(validate(path, receipt_of(path) if receipt is None else receipt, digests))
    held = read_folder(folder, without=path)
    landing = None
    if not _misfit(verdicts):
        entry = Entry(sheet, require(Results, sheet.tree, str(path)), verdicts)
        landing = _landing(held, entry, metric)
    return Checked(str(path), sheet, verdicts, metric, landing)


def _misfit(verdicts: Sequence[Verdict]) -> bool:
    return any(verdict.check == "schema" and verdict.errors for verdict in verdicts)


def _landing(held: Folder, entry: Entry, metric: Metric) -> Landing:
    name = entry.file
    if name == RESULTS_NAME:
        name = file_name(entry.results.submission.date, entry.name, entry.model, mixed=entry.mixed)
    replaced = next((old for old in held.entries if old.file == name), None)
    rest = [old for old in held.entries if old is not replaced]
    ranking = ranking_of(entry)
    before = tuple(one for one in ranked(held.entries, metric) if one.ranking == ranking)
    after = tuple(one for one in ranked([*rest, entry], metric) if one.ranking == ranking)
    return Landing(
        place=next(one for one in after if one.entry is entry),
        among=len(after),
        before=before,
        after=after,
        replaced=replaced,
        twins=tuple(
            old for old in rest if (old.name, old.model, old.date) == (entry.name, entry.model, entry.date)
        ),
    )
