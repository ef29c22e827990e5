"""Which sets nothing may be chosen on: those that are to confirm a choice."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from skillful_eval.splits import check_split
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.sources import find_logs

if TYPE_CHECKING:
    from skillful_eval.fixtures import Fixtures

_WORDS = {"holdout", "heldout", "test"}
_PAIRS = {("hold", "out"), ("held", "out")}

WHY = (
    "a set that confirms a choice may not make it: the best of many configurations is the best by chance as "
    "well, and would score better here than on anything else"
)


def is_holdout_name(name: str) -> bool:
    """Whether a set's name says that it is to confirm: holdout, held-out, test, as a word of its own.

    >>> [is_holdout_name(name) for name in ("routing.holdout", "Held_Out-2", "testTwo", "latest", "dev")]
    [True, True, True, False, False]
    """
    spelled = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    words = re.findall(r"[^\W\d_]+", spelled.casefold())
    return bool(_WORDS & set(words)) or bool(_PAIRS & set(pairwise(words)))


def _files(source: str) -> list[str]:
    """The names of the files that a set was read from: also those in a folder, of a glob, behind links."""
    path = Path(source)
    several = path.is_dir() or any(sign in source for sign in "*?[")
    paths = [path, *(Path(log.path) for log in (find_logs(source) if several else ()))]
    return [name for one in paths for name in (one.name, one.resolve().name)]


def refuse_holdout(fixtures: Fixtures, holdout: Fixtures | None) -> None:
    """Refuse to try several configurations on a set that is to confirm one.

    Args:
        fixtures: The set to try them on.
        holdout: The set that is to confirm, if it is at hand.

    Raises:
        UsageError: The set's name, or its file's, says that it is a holdout set; or it shares ids or
            near-identical prompts with the other.
    """
    way_out = (
        "Sweep a development set; to evaluate one configuration that was chosen elsewhere, name it with "
        "--confirm CONFIG"
    )
    said = next((name for name in (fixtures.name, *_files(fixtures.source)) if is_holdout_name(name)), None)
    if said is not None:
        raise UsageError(f"{said}: refused, as by its name it is a holdout set: {WHY}. {way_out}.")
    if holdout is None:
        return
    shared = check_split(fixtures, holdout)
    if shared.height:
        row = shared.row(0, named=True)
        raise UsageError(
            f"{fixtures.name}: refused, as it shares ids or prompts with {holdout.name}, {shared.height:,} "
            f"in all, the first {shorten(row['dev_id'])} [{row['code']}]: {WHY}. {way_out}."
        )
