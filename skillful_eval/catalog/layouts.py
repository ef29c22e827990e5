"""Where capabilities lie on disk: the walk over a catalogue's roots."""

from __future__ import annotations

import os
import unicodedata
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skillful_eval.catalog.places import Places
from skillful_eval.catalog.sources import Source, Unread, printable
from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import DirEntry, PathLike

SKILLS, SKILL_FILE = "skills", "SKILL.md"

LAYOUTS = {SKILLS: "skill", "agents": "agent", "commands": "command", "rules": "rule"}
"""The folders in which capabilities lie, and their kind: a skill is a folder with a SKILL.md, the others are
Markdown files."""

MANIFESTS = {".mcp.json": "claude-code", "config.toml": "codex"}
"""The files that list MCP servers, and the runtime whose format they are."""

_TREE = frozenset({"plugins", ".git", ".claude-plugin"})
"""A folder that holds one of these is a tree of its own, even where it is called like a layout's."""

_PASSED_OVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox"})


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk over roots found.

    Attributes:
        sources: Every file that describes capabilities, root by root.
        unread: What could not be looked at.
        manifests: The files that say whose a folder is.
    """

    sources: list[Source] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    manifests: list[Path] = field(default_factory=list)


def walk(roots: Sequence[str | PathLike[str]], runtime: str | None = None) -> Walk:
    """Find the files that describe capabilities.

    Each real folder is walked once, so that symbolic links that lead back end the walk instead of prolonging
    it. What lies inside a skill's folder, or below ``agents``, ``commands`` and ``rules``, is not looked at.

    Args:
        roots: Folders, or manifests.
        runtime: The runtime of what lies in no runtime's folder.

    Raises:
        InputError: A root does not exist, or is neither folder nor manifest.
    """
    found = Walk()
    for one in roots:
        given = os.fspath(one)
        root = Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111 - links stay, no user is no error
        places = Places(root, runtime)
        if root.is_file() and root.name in MANIFESTS:
            _manifest(found, root, printable(given), places)
        elif root.is_dir():
            _tree(found, root, given, places)
        else:
            what = "is no folder" if root.exists() else "does not exist"
            raise InputError(
                f"{given}: {what}; expected a folder with {', '.join(LAYOUTS)} or plugins somewhere below, "
                f"or one of {', '.join(MANIFESTS)}"
            )
        found.manifests.extend(sorted(places.manifests))
    return found


def _tree(found: Walk, root: Path, given: str, places: Places) -> None:
    seen: set[tuple[int, int]] = set()
    # Links wait until every real folder was walked, so that a folder keeps its own place.
    pending, links = deque([root]), deque[Path]()
    while pending or links:
        folder = pending.popleft() if pending else links.popleft()
        shown = printable((Path(given) / folder.relative_to(root)).as_posix())
        try:
            status = folder.stat()
            with os.scandir(folder) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.unread.append(Unread(shown, f"cannot be listed: {error.strerror or error}"))
            continue
        if _is_layout(folder, root, below):
            # Not walked any deeper, so a second link to it does no harm: it is another place's.
            _layout(found, folder, below, shown, places)
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            found.unread.append(Unread(shown, "a symbolic link to a folder that is walked already"))
            continue
        seen.add(identity)
        for entry in below:
            if entry.name in MANIFESTS and not _is_folder(entry):
                _manifest(found, Path(entry.path), f"{shown}/{entry.name}", places)
            elif entry.name not in _PASSED_OVER and _is_folder(entry):
                (links if entry.is_symlink() else pending).append(Path(entry.path))


def _is_layout(folder: Path, root: Path, below: Sequence[DirEntry[str]]) -> bool:
    holds = {entry.name for entry in below}
    # A root may be a clone of a repository that is called "agents".
    trees = _TREE | LAYOUTS.keys() if folder == root else _TREE
    return folder.name in LAYOUTS and not holds & trees


def _layout(found: Walk, folder: Path, below: Sequence[DirEntry[str]], shown: str, places: Places) -> None:
    runtime, scope = places.of(folder.parent)
    kind = LAYOUTS[folder.name]
    for entry in below:
        path, name = Path(entry.path), entry.name
        if folder.name == SKILLS:
            path /= SKILL_FILE
            there = _is_there(path) or (entry.is_symlink() and not _is_there(path.parent, follow=True))
        else:
            there = path.suffix == ".md" and not _is_folder(entry)
            name = path.stem
        if there:
            where = f"{shown}/{printable(path.relative_to(folder).as_posix())}"
            name = unicodedata.normalize("NFC", printable(name))
            found.sources.append(Source(path, where, kind, runtime, scope, name))


def _manifest(found: Walk, path: Path, shown: str, places: Places) -> None:
    runtime, scope = places.of(path.parent, otherwise=MANIFESTS[path.name])
    found.sources.append(Source(path, shown, "mcp", runtime, scope, path.name))


def _is_there(path: Path, *, follow: bool = False) -> bool:
    """Whether something is there, be it something that cannot be read: reading it says why."""
    try:
        path.stat(follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _is_folder(entry: DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself is no folder; it is read, and fails, as a file
        return False
