"""MCP servers, from the manifests that tell a runtime how to start them."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillful_eval.catalog.reading import decode, read_start
from skillful_eval.catalog.secrets import secrets_in
from skillful_eval.catalog.sources import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 4_194_304
"""Manifests are read up to so many bytes."""

_JSON_SERVERS = ("mcpServers", "mcp_servers", "servers")
_TOML_SERVERS = ("mcp_servers", "mcpServers")
_TOOLS = (
    "tools",
    "enabled_tools",
    "enabledTools",
    "includeTools",
    "allowedTools",
    "alwaysAllow",
    "autoApprove",
)
"""Where manifests list a server's tools; the first of these that lists some counts."""

_DESCRIPTION = "description"
_STARTS = ("command", "url", "httpUrl", "serverUrl", "type", "transport")
"""What tells a server's table from another, where servers stand at the top of a manifest."""

_TARGET_LENGTH = 6
_PLAIN_WORD = re.compile(r"[^\W\d_]+|[\d.]+|-{1,2}[\w-]*")


@dataclass(frozen=True, slots=True)
class Server:
    """One MCP server.

    Attributes:
        name: Its name in the manifest.
        description: Its description where the manifest has one, and its tools where the manifest lists them;
            never its command line or address.
        targets: What it runs, connects to and identifies itself with, which must not get into any corpus.
    """

    name: str
    description: str
    targets: tuple[str, ...]


def read_servers(path: Path) -> list[Server]:
    """Read the servers of a manifest.

    Args:
        path: A ``.mcp.json`` (servers below ``mcpServers``, or at the top) or a ``config.toml`` (tables
            ``mcp_servers.NAME``).

    Returns:
        The servers in the manifest's order; none where it lists none.

    Raises:
        UnreadableError: The file cannot be read, is not JSON or TOML, or a server is no table.
    """
    raw = read_start(path, LIMIT + 1)
    if len(raw) > LIMIT:
        raise UnreadableError(f"larger than {LIMIT:,} bytes")
    text = decode(raw)
    document = _toml(text) if path.suffix == ".toml" else _json(text)
    table = _servers(document, _TOML_SERVERS if path.suffix == ".toml" else _JSON_SERVERS)
    for server in table.values():
        if not isinstance(server, dict):
            raise UnreadableError("a server is no table, expected its settings by name")
    return [_server(name, settings) for name, settings in table.items()]


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"line {error.lineno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = sum(count > 1 for count in Counter(key for key, _ in pairs).values())
    if twice:
        raise ValueError(f"{twice} key(s) stand twice in one object")
    return dict(pairs)


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"line \d+", str(error))
        raise UnreadableError(f"{line[0]}: not TOML" if line else "not TOML") from None


def _servers(document: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise UnreadableError("the manifest is no object, expected servers by name")
    for name in names:
        if name in document:
            if not isinstance(document[name], dict):
                raise UnreadableError(f"{name} is no object, expected servers by name")
            return dict(document[name])
    tables = {name: value for name, value in document.items() if isinstance(value, dict)}
    return {name: value for name, value in tables.items() if any(field in value for field in _STARTS)}


def _server(name: str, settings: dict[str, Any]) -> Server:
    tools = next(filter(None, (_tools(settings.get(field)) for field in _TOOLS)), [])
    about = settings.get(_DESCRIPTION)
    texts = [about.strip()] if isinstance(about, str) and about.strip() else []
    texts += tools
    starting = {field: value for field, value in settings.items() if field not in (*_TOOLS, _DESCRIPTION)}
    return Server(name, "\n".join(texts), tuple(dict.fromkeys(_targets(starting))))


def _tools(listed: Any) -> list[str]:
    """Tools, one text each, in whichever way a manifest lists them: by name, or with descriptions."""
    if isinstance(listed, dict):
        listed = [
            {"name": name} | (value if isinstance(value, dict) else {_DESCRIPTION: value})
            for name, value in listed.items()
        ]
    if not isinstance(listed, list):
        return []
    return list(filter(None, map(_tool, listed)))


def _tool(tool: Any) -> str:
    if isinstance(tool, str):
        return "" if tool.strip() == "*" else tool.strip()
    if not isinstance(tool, dict):
        return ""
    parts = (tool.get(field) for field in ("name", _DESCRIPTION))
    return ": ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _targets(settings: dict[str, Any]) -> Iterator[str]:
    command, arguments = settings.get("command"), settings.get("args")
    if isinstance(command, str) and isinstance(arguments, list):
        yield " ".join([command, *map(str, arguments)])
    for text in _leaves(settings):
        value = text.partition("=")[2] if text.startswith("-") and "=" in text else text
        for part in (value, _host(value)):
            if len(part) >= _TARGET_LENGTH and not _PLAIN_WORD.fullmatch(part):
                yield part
    yield from secrets_in(settings)


def _leaves(value: Any) -> Iterator[str]:
    """Every text in a server's settings."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            pending += one.values() if isinstance(one, dict) else one


def _host(text: str) -> str:
    try:
        return urlsplit(text).hostname or "" if "://" in text else ""
    except ValueError:
        return ""
