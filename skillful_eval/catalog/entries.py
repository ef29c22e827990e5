"""From a catalogue's files to entries of a corpus: each file becomes one, or is listed with its reason."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillful_eval.catalog.frontmatter import read_frontmatter
from skillful_eval.catalog.layouts import walk
from skillful_eval.catalog.servers import read_servers
from skillful_eval.catalog.sources import Source, Unread, UnreadableError
from skillful_eval.schema import NONE
from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

_RUNTIME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """What was read from a catalogue's roots.

    Attributes:
        records: The entries, sorted by id, as objects with a corpus snapshot's fields.
        unread: What was not read, and why.
        bare: How many entries come from files without frontmatter, known by their name only.
        targets: What the MCP servers run, connect to and identify themselves with; in no entry.
        files: The files that were read, or could not be.
    """

    records: list[dict[str, Any]]
    unread: list[Unread]
    bare: int
    targets: tuple[str, ...]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    source: Source
    name: str
    description: str
    when_to_use: str | None = None
    bare: bool = False

    @property
    def id(self) -> str:
        source = self.source
        return f"{source.runtime}:{source.kind}:{source.scope}:{self.name}"


def read_catalogue(roots: Sequence[str | PathLike[str]], runtime: str | None = None) -> Catalogue:
    """Read the capabilities below some folders.

    Args:
        roots: Folders that hold ``skills/*/SKILL.md``, ``agents/*.md``, ``commands/*.md``, ``rules/*.md``,
            ``.mcp.json`` or ``config.toml``, themselves or somewhere below; or such a manifest.
        runtime: The runtime of what lies in no runtime's folder (``.claude``, ``.codex``, ...). By default a
            manifest's is that whose format it is, and any other's is ``unknown``.

    Returns:
        The entries, with ids ``runtime:kind:scope:name``. Where two files give the same id the first is kept,
        in the order of the roots, and the other is listed.

    Raises:
        InputError: No root is given, a root does not exist, nothing was found, a runtime cannot be in an
            id, or PyYAML is not installed.
    """
    if not roots:
        raise InputError("no root is given; expected folders with capabilities")
    if runtime is not None and not _RUNTIME.fullmatch(runtime):
        raise InputError(
            "--runtime: expected lower-case letters, digits, hyphens, full stops and underscores"
        )
    found = walk(roots, runtime)
    unread = list(found.unread)
    entries: dict[str, _Read] = {}
    targets: dict[str, None] = {}
    for source in _distinct(found.sources):
        try:
            read, runs = _read(source)
        except UnreadableError as error:
            unread.append(Unread(source.shown, str(error)))
            continue
        targets |= dict.fromkeys(runs)
        for one in read:
            _admit(one, entries, unread)
    if not entries:
        raise InputError(_nothing(roots, unread))
    return Catalogue(
        records=[_record(entries[key]) for key in sorted(entries)],
        unread=unread,
        bare=sum(one.bare for one in entries.values()),
        targets=tuple(targets),
        files=(*(source.path for source in found.sources), *found.manifests),
    )


def _distinct(sources: Sequence[Source]) -> Iterator[Source]:
    """The files, each once, though several roots may lead to it."""
    seen = set()
    for source in sources:
        place = (os.path.realpath(source.path), source.runtime, source.kind, source.scope, source.name)
        if place not in seen:
            seen.add(place)
            yield source


def _read(source: Source) -> tuple[list[_Read], tuple[str, ...]]:
    if source.kind == "mcp":
        servers = read_servers(source.path)
        targets = tuple(target for server in servers for target in server.targets)
        return [_Read(source, _one_line(server.name), server.description) for server in servers], targets
    told = read_frontmatter(source.path)
    name = _one_line(told.name or source.name)
    return [_Read(source, name, told.description, told.when_to_use, bare=not told.present)], ()


def _one_line(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()))


def _admit(one: _Read, entries: dict[str, _Read], unread: list[Unread]) -> None:
    """Take an entry in, or list why not."""
    reason = _unfit(one)
    if reason is None:
        earlier = entries.setdefault(one.id, one)
        if earlier is one:
            return
        reason = f"the same id as {earlier.source.shown}, which was read first"
    unread.append(Unread(one.source.shown, reason))


def _unfit(one: _Read) -> str | None:
    if not one.name:
        return "the name is empty"
    if one.name == NONE:
        return f"the name {NONE!r} is reserved: it is the gold of fixtures that must be abstained from"
    if len(one.name) > _NAME_LENGTH:
        return f"the name is longer than {_NAME_LENGTH} characters"
    try:
        (one.id + one.description + (one.when_to_use or "")).encode()
    except UnicodeEncodeError:
        return "not text: it holds half a surrogate pair"
    return None


def _record(one: _Read) -> dict[str, Any]:
    record = {
        "id": one.id,
        "kind": one.source.kind,
        "name": one.name,
        "description": one.description,
        "runtime": one.source.runtime,
        "scope": one.source.scope,
        "sourcePath": one.source.shown,
    }
    return record | ({"whenToUse": one.when_to_use} if one.when_to_use else {})


def _nothing(roots: Sequence[str | PathLike[str]], unread: Sequence[Unread]) -> str:
    where = ", ".join(map(str, roots))
    first = f"; {len(unread):,} were not read, the first: {unread[0].reason}" if unread else ""
    return (
        f"{where}: no capability was found{first}; expected skills/*/SKILL.md, agents/*.md, commands/*.md, "
        "rules/*.md, .mcp.json or config.toml below"
    )
