"""The nearest known name: what a message suggests for an unknown one."""

from __future__ import annotations

import difflib
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def folded(name: str) -> str:
    """A name without what people do not see: case, outer blanks, Unicode form."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def suggest(found: object, known: Iterable[str]) -> str:
    """Say which known name an unknown one probably means, or nothing.

    >>> suggest("GitLab ", ["gitlab", "magento"])
    'differs from "gitlab" only by case, outer blanks or Unicode form; names must be exact'
    >>> suggest("magneto", ["gitlab", "magento"])
    'the nearest is "magento"'
    >>> suggest(None, ["gitlab"])
    ''
    """
    if not isinstance(found, str):
        return ""
    by_fold = {folded(name): name for name in known}
    same = by_fold.get(folded(found))
    if same is not None:
        return f'differs from "{same}" only by case, outer blanks or Unicode form; names must be exact'
    close = difflib.get_close_matches(folded(found), by_fold, n=1, cutoff=0.5)
    return f'the nearest is "{by_fold[close[0]]}"' if close else ""
