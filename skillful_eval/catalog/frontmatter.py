"""The YAML frontmatter of a capability's file: its name, its description, when to use it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from skillful_eval.catalog.reading import decode, read_start
from skillful_eval.catalog.sources import UnreadableError
from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 65_536
"""Frontmatter is read up to so many bytes."""

_DEPTH = 50
_NULL = "tag:yaml.org,2002:null"
_FENCE = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_END = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"

_FIELDS = {"name": "name", "description": "description", "whentouse": "when_to_use"}
"""The fields that are read, by their names without case, blanks, hyphens and underscores."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a file says of itself.

    Attributes:
        name: What it is called; null where it does not say.
        description: What it does; empty where it does not say.
        when_to_use: When to use it; null where it does not say.
        present: Whether the file has frontmatter at all.
    """

    name: str | None = None
    description: str = ""
    when_to_use: str | None = None
    present: bool = True


def read_frontmatter(path: Path) -> Frontmatter:
    """Read the frontmatter of a Markdown file.

    Args:
        path: The file. ``when_to_use`` may be spelled with hyphens, blanks, in camel case or in one word; a
            list of texts is taken line by line. Every scalar is text as it stands: ``name: 1.0`` is ``1.0``.

    Raises:
        UnreadableError: The file cannot be read or is no text; its frontmatter does not end, is not YAML, is
            no mapping, has a field twice, or has something else than text where text is expected.
        InputError: PyYAML is not installed.
    """
    raw = read_start(path, LIMIT + 1).removeprefix(_BOM)
    opening = _FENCE.match(raw)
    if opening is None:
        decode(_whole_characters(raw))
        return Frontmatter(present=False)
    end = _END.search(raw, opening.end())
    if end is None:
        limit = f" within {LIMIT:,} bytes" if len(raw) > LIMIT else ""
        raise UnreadableError(f"the frontmatter does not end{limit}: expected a line ---")
    return parse(decode(raw[opening.end() : end.start()]))


def _whole_characters(raw: bytes) -> bytes:
    """Bytes without the last few, which may be the first half of a character."""
    return raw if len(raw) <= LIMIT else raw[: LIMIT - 4].rsplit(b"\n", 1)[0]


def parse(text: str) -> Frontmatter:
    """Take the fields out of frontmatter.

    Nothing is constructed from the YAML: its nodes are looked at, so that tags do nothing and aliases,
    however often they nest, cost nothing.

    Raises:
        UnreadableError, InputError: As :func:`read_frontmatter`.
    """
    root = _composed(text)
    if root is None or root.tag == _NULL:
        return Frontmatter()
    if root.id != "mapping":
        raise UnreadableError(f"the frontmatter is a {root.id}, expected name: value lines")
    found: dict[str, str] = {}
    seen: set[str] = set()
    for key, value in root.value:
        field = _FIELDS.get(re.sub(r"[\s_-]", "", str(key.value)).lower()) if key.id == "scalar" else None
        if field is None:
            continue
        if field in seen:
            raise UnreadableError(f"line {key.start_mark.line + 1}: {field} stands there for the second time")
        seen.add(field)
        content = _text(value, field)
        if content:
            found[field] = content
    return Frontmatter(found.get("name"), found.get("description", ""), found.get("when_to_use"))


def _text(node: Any, field: str) -> str:
    if node.id == "scalar":
        return "" if node.tag == _NULL else str(node.value).strip()
    if node.id == "sequence" and all(one.id == "scalar" for one in node.value):
        return "\n".join(filter(None, (_text(one, field) for one in node.value)))
    raise UnreadableError(
        f"line {node.start_mark.line + 1}: {field} is a {node.id} of more than text, expected text"
    )


def yaml_library() -> Any:
    """PyYAML, which only this part of the package needs.

    Raises:
        InputError: It is not installed.
    """
    try:
        return import_module("yaml")
    except ImportError as error:
        raise InputError(
            "PyYAML is not installed, and frontmatter cannot be read without it; "
            "install it with: pip install 'skillshift[router]'"
        ) from error


def _composed(text: str) -> Any:
    yaml = yaml_library()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # First the depth, from the flat list of events: composing goes as deep as the nodes do.
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.events.CollectionStartEvent)
            depth -= isinstance(event, yaml.events.CollectionEndEvent)
            if depth > _DEPTH:
                raise UnreadableError(f"the frontmatter is nested more than {_DEPTH} levels deep")
        return yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableError(_complaint(error)) from error


def _complaint(error: Exception) -> str:
    """The library's complaint with its line in the file, and without the text that it repeats."""
    mark = getattr(error, "problem_mark", None)
    where = "" if mark is None else f"line {mark.line + 1}: "
    told = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
    problem = re.sub(r"'[^']*'|\"[^\"]*\"", "...", str(told))
    return f"{where}the frontmatter is not YAML: {problem}"
