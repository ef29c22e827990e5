"""Assemble corpus.json from the hand-written tables in source/: `python data/routing/make_corpus.py`.

The same tables give the same bytes. Nothing is drawn at random, nothing is read from the clock or from a
catalogue on disk, and no text is generated here: the script spells each name the way its runtime does,
derives ids and paths, sorts, and fingerprints.
"""  # noqa: INP001 - a script beside its data, not a package

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from pathlib import Path

from skillshift.frame.errors import InputError

HERE = Path(__file__).resolve().parent
CAPTURED_AT = "2026-11-30T19:47:00.000Z"
"""When the tables were written; a constant, so that assembling again changes nothing."""

COLUMNS = ("kind", "name", "installs", "description", "when_to_use")
DEFAULT_SCOPE = "global"

# What a home directory or a project looks like to each runtime.
ROOTS = {
    ("claude-code", "global"): "~/.claude",
    ("claude-code", "project"): ".claude",
    ("codex", "global"): "~/.codex",
    ("codex", "project"): ".codex",
    ("opencode", "global"): "~/.config/opencode",
}
MCP_MANIFESTS = {
    ("claude-code", "global"): "~/.claude.json",
    ("codex", "global"): "~/.codex/config.toml",
    ("opencode", "global"): "~/.config/opencode/opencode.json",
}
FILES = {
    "skill": "skills/{slug}/SKILL.md",
    "agent": "agents/{slug}.md",
    "command": "commands/{slug}.md",
    "rule": "rules/{slug}.md",
}
# The one runtime that keeps a namespace's colon and a name's capitals; the others write a slug.
KEEPS_SPELLING = "claude-code"

Entry = dict[str, str]


def slug(name: str) -> str:
    """Spell a name without colon and capitals, as file systems and most runtimes want it."""
    return name.replace(":", "-").lower()


def source_path(kind: str, name: str, runtime: str, scope: str) -> str:
    """Say where the runtime would keep the capability."""
    if kind == "mcp":
        return MCP_MANIFESTS[runtime, scope]
    return f"{ROOTS[runtime, scope]}/{FILES[kind].format(slug=slug(name))}"


def installed(row: Entry, install: str, where: str) -> Entry:
    """Make the entry of one installation of a capability."""
    runtime, _, scope = install.partition("/")
    scope = scope or DEFAULT_SCOPE
    kind = row["kind"]
    known = MCP_MANIFESTS if kind == "mcp" else ROOTS
    if (runtime, scope) not in known or (kind != "mcp" and kind not in FILES):
        raise InputError(
            f"{where}: no place is known for kind {kind!r} in {install!r}; "
            f"expected mcp or one of {sorted(FILES)}, in one of {sorted('/'.join(key) for key in known)}"
        )
    name = row["name"] if runtime == KEEPS_SPELLING else slug(row["name"])
    entry = {
        "id": f"{runtime}:{kind}:{scope}:{name}",
        "kind": kind,
        "name": name,
        "description": row["description"],
        "runtime": runtime,
        "scope": scope,
        "sourcePath": source_path(kind, name, runtime, scope),
    }
    # A capability without the text lacks the field, as one whose frontmatter lacks it would.
    return entry | ({"whenToUse": row["when_to_use"]} if row["when_to_use"] else {})


def read_table(path: Path) -> list[tuple[str, Entry]]:
    """Read one table: a header, then one capability a line, every field but the last filled."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    if tuple(header.split("\t")) != COLUMNS:
        raise InputError(
            f"{path.name}:1: found the header {header!r}, expected {' '.join(COLUMNS)}, tabs between"
        )
    rows = []
    for number, line in enumerate(lines, start=2):
        where = f"{path.name}:{number}"
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or not all(cells[:-1]) or any(cell != cell.strip() for cell in cells):
            raise InputError(
                f"{where}: found {len(cells)} fields {[cell[:20] for cell in cells]}, "
                f"expected {len(COLUMNS)} with tabs between, no spaces around them, only when_to_use empty"
            )
        rows.append((where, dict(zip(COLUMNS, cells, strict=True))))
    return rows


def fingerprint(entries: list[Entry]) -> str:
    """Digest the entries: SHA-256 over their canonical JSON, sorted by id."""
    canonical = json.dumps(
        sorted(entries, key=lambda entry: entry["id"]),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return f"sha256:{hashlib.sha256(canonical.encode('utf-8')).hexdigest()}"


def assemble(source: Path) -> bytes:
    """Make the corpus snapshot, as the bytes of its JSON file, from a folder of tables."""
    rows = [row for path in sorted(source.glob("*.tsv")) for row in read_table(path)]
    names: dict[str, str] = {}
    for where, row in rows:
        first = names.setdefault(slug(row["name"]), where)
        if first != where:
            raise InputError(
                f"{where}: the name {row['name']!r} is taken by {first}; give one of them another"
            )
    entries = sorted(
        (installed(row, install, where) for where, row in rows for install in row["installs"].split(" ")),
        key=lambda entry: entry["id"],
    )
    twice = [one["id"] for one, other in itertools.pairwise(entries) if one["id"] == other["id"]]
    if twice:
        raise InputError(f"installed twice in the same place: {', '.join(twice)}; name each place once")
    snapshot = {
        "capturedAt": CAPTURED_AT,
        "fingerprint": fingerprint(entries),
        "sanitised": False,
        "excludedCount": 0,
        "redactedCount": 0,
        "entries": entries,
    }
    return (json.dumps(snapshot, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def main() -> None:
    """Write corpus.json; on an error in a table the old file stays as it was."""
    try:
        content = assemble(HERE / "source")
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    aside = HERE / "corpus.json.new"
    aside.write_bytes(content)
    aside.replace(HERE / "corpus.json")


if __name__ == "__main__":
    main()
