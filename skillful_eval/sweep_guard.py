"""Which sets nothing may be chosen on: those that are to confirm a choice."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from skillful_eval.splits import check_split
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.lines import is_remote
from skillshift.frame.sources import find_logs

if TYPE_CHECKING:
    from skillful_eval.fixtures import Fixtures

_TEST = {"test", "tests"}
_JOINED = re.compile("h[eo]ldout")
_PAIRS = {(one, other) for one in ("hold", "held") for other in ("out", "outs")}
_GLOB = re.compile(r"[*?\[]")

WHY = (
    "a set that confirms a choice may not make it: the best of many configurations is the best by chance as "
    "well, and would score better here than on anything else"
)


def is_holdout_name(name: str) -> bool:
    """Whether the name of a set or of its file says that it is to confirm: holdout, held-out, test.

    Holdout counts inside of a longer word too, test as a word of its own. Percent-encoding is seen through.

    >>> names = ("routing.holdout", "Held_Out-2", "testTwo", "routingh%6fldouts", "latest", "contest", "dev")
    >>> [is_holdout_name(name) for name in names]
    [True, True, True, True, False, False, False]
    """
    return is_holdout_folder(name) or bool(_TEST & set(_words(name)))


def is_holdout_folder(name: str) -> bool:
    """Whether a folder's name says that what is in it is to confirm; a folder of tests says nothing.

    >>> [is_holdout_folder(name) for name in ("holdout", "hold-outs", "threshold_outputs", "tests")]
    [True, True, False, False]
    """
    words = _words(name)
    return any(map(_JOINED.search, words)) or bool(_PAIRS & set(pairwise(words)))


def _words(name: str) -> list[str]:
    """The words of a name in lower case, parted by signs, digits and humps."""
    plain = unicodedata.normalize("NFKC", unquote(name))
    spelled = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", plain)
    return re.findall(r"[^\W\d_]+", spelled.casefold())


def _says(source: str) -> str | None:
    """The first name among the files that a set was read from, and their folders, that says so."""
    given = _given(source)
    for path in _files(source) or [given]:
        files, folders = _remote_names(path, given) if is_remote(path) else _names(Path(path), Path(given))
        said = [*filter(is_holdout_name, files), *filter(is_holdout_folder, folders)]
        if said:
            return path if said[0] in path else f"{path} ({said[0]})"
    return None


def _given(source: str) -> str:
    if source.startswith("file:"):
        return unquote(urlsplit(source).path)
    return source if is_remote(source) else str(Path(source).expanduser())


def _files(source: str) -> list[str]:
    """The files that are read; none where a set came from no file."""
    try:
        return [log.path for log in find_logs(source)]
    except InputError:  # such as the name of a frame's type; a file that is missing was told on reading
        return []


def _names(path: Path, given: Path) -> tuple[list[str], list[str]]:
    """The names of a file and of the folders that it lies in, as given and behind links.

    Folders count below the folder that was given (below the working folder where that is relative), and the
    one that holds the file in any case: what lies above is not about this set.
    """
    real = path.resolve()
    folders = [path.parent, *_below(path, _root(given))]
    names = [name for folder in folders for name in (folder.name, folder.resolve().name)]
    return [path.name, real.name], [*names, real.parent.name]


def _root(given: Path) -> Path | None:
    if not given.is_absolute():
        return None
    fixed = Path(*takewhile(lambda part: not _GLOB.search(part), given.parts))
    return fixed if fixed.is_dir() else fixed.parent


def _below(path: Path, root: Path | None) -> list[Path]:
    """The folders from the root, which is among them, down to the file; all that a relative path names."""
    if root is None:
        return [folder for folder in path.parents if folder.name not in {"", ".."}]
    return [folder for folder in path.parents if folder.is_relative_to(root)]


def _remote_names(url: str, given: str) -> tuple[list[str], list[str]]:
    """The same behind a URL: the folder that holds the file, and what a glob stands for."""
    parts = urlsplit(url).path.split("/")
    fixed = [*takewhile(lambda part: not _GLOB.search(part), urlsplit(given).path.split("/"))]
    return parts[-1:], [*parts[-2:-1], *parts[len(fixed) - 1 : -1]]


def refuse_holdout(fixtures: Fixtures, holdout: Fixtures | None) -> None:
    """Refuse to try several configurations on a set that is to confirm one.

    What counts is the name of the set, of every file that was read, and of the folders that these lie in. A
    copy under another name cannot be told by its name: for that, have the holdout set at hand.

    Args:
        fixtures: The set to try them on.
        holdout: The set that is to confirm, if it is at hand.

    Raises:
        UsageError: A name says that it is a holdout set; or it shares ids or
            near-identical prompts with the other.
    """
    way_out = (
        "Sweep a development set; to evaluate one configuration that was chosen elsewhere, name it with "
        "--confirm CONFIG"
    )
    said = fixtures.name if is_holdout_name(fixtures.name) else _says(fixtures.source)
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


def why_development(name: str, holdout: str | None) -> str:
    """Why a set that :func:`refuse_holdout` let pass counts as one to choose on, in a sentence.

    Args:
        name: The set's name.
        holdout: The name of the set that it was held against, if any.

    Example:
        >>> why_development("dev", "routing.holdout")
        'dev shares no id and no prompt with routing.holdout.'
    """
    if holdout is not None:
        return f"{name} shares no id and no prompt with {holdout}."
    return (
        f"{name} was taken for a development set, as its name does not say holdout or test; "
        "--holdout FILE checks what it shares."
    )
