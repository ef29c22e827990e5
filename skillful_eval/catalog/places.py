"""Whose a folder is: the runtime that reads it, and the scope in which it applies."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from pathlib import Path

from skillful_eval.catalog.reading import decode, read_start
from skillful_eval.catalog.sources import UnreadableError, printable

UNKNOWN_RUNTIME = "unknown"
"""The runtime of what lies in no runtime's folder, where nobody says."""

GLOBAL, PROJECT = "global", "project"

RUNTIMES = {
    ".claude": "claude-code",
    ".codex": "codex",
    ".agents": "codex",
    ".omp": "omp",
    ".pi": "pi",
    ".gemini": "gemini",
    ".cursor": "cursor",
    ".opencode": "opencode",
}
"""Folders in which a runtime looks for capabilities; ``.agents`` is shared, and read by codex first."""

_INNER = "agent"
"""Some runtimes keep their capabilities one folder deeper, in ``.pi/agent``."""

_PLUGINS = "plugins"
_PLUGIN_MANIFEST = Path(".claude-plugin") / "plugin.json"
_MANIFEST_LIMIT = 65_536
_VERSION = re.compile(r"v?\d+(?:\.\w+)+|[0-9a-f]{7,40}")
_CLAUDE = RUNTIMES[".claude"]


class Places:
    """The runtimes and scopes below one root.

    Attributes:
        manifests: The plugins' manifests that were there.
    """

    def __init__(self, root: Path, runtime: str | None) -> None:
        """Note where to look.

        Args:
            root: The root, as an absolute path.
            runtime: The runtime of what lies in no runtime's folder.
        """
        self._root = root
        self._runtime = runtime
        self.manifests: set[Path] = set()
        self._home = Path(os.path.expanduser("~"))  # noqa: PTH111 - without a home this is no error

    def of(self, base: Path, otherwise: str = UNKNOWN_RUNTIME) -> tuple[str, str]:
        """The runtime and scope of what lies in a folder.

        The folder tells the runtime where it, or one above it, is a runtime's. The scope is the plugin's
        name in a plugin (``plugin.json`` says it, or else its folder), ``global`` in a runtime's folder in
        the home folder, ``project`` in one elsewhere; outside of all these it is ``global`` in the root
        itself, and the folder's name below it.

        Args:
            base: The folder that holds the layout's folders, or the manifest.
            otherwise: The runtime where neither the folder nor the user says it.
        """
        owner = next((folder for folder in (base, *base.parents) if folder.name in RUNTIMES), None)
        plugin = self._plugin(base, owner)
        if owner is not None:
            runtime = RUNTIMES[owner.name]
        elif self._runtime is not None:
            runtime = self._runtime
        else:
            runtime = _CLAUDE if (base / _PLUGIN_MANIFEST).is_file() else otherwise
        if plugin is not None:
            return runtime, plugin
        if owner is not None:
            return runtime, GLOBAL if owner.parent == self._home else PROJECT
        return runtime, GLOBAL if base in (self._root, self._root.parent) else _scope(base.name)

    def _plugin(self, base: Path, owner: Path | None) -> str | None:
        for folder in (base, *base.parents):
            manifest = folder / _PLUGIN_MANIFEST
            if manifest.is_file():
                self.manifests.add(manifest)
            named = _plugin_name(manifest)
            if named:
                return _scope(named)
            if folder.name == _PLUGINS or folder in (owner, self._root):
                break
        if owner is not None and base in (owner, owner / _INNER):
            return None
        if owner is None and _PLUGINS not in (folder.name for folder in base.parents):
            return None
        # Installed plugins lie in a folder for each version.
        return _scope(base.parent.name if _VERSION.fullmatch(base.name) else base.name)


def _plugin_name(manifest: Path) -> str | None:
    if not manifest.is_file():
        return None
    try:
        document = json.loads(decode(read_start(manifest, _MANIFEST_LIMIT)))
    except (UnreadableError, ValueError, RecursionError):
        return None
    name = document.get("name") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def _scope(name: str) -> str:
    """A scope without colons, which part an id."""
    return unicodedata.normalize("NFC", printable(name)).strip().replace(":", "-") or GLOBAL
