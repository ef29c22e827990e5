"""Where capabilities lie, whose they are, and what a walk must not fall for."""

from __future__ import annotations

import os
import sys

import pytest

from skillful_eval.catalog import places
from skillful_eval.catalog.layouts import walk
from skillshift.frame.errors import InputError


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


def touch(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def found(*roots, runtime=None):
    done = walk(roots, runtime)
    return sorted((one.runtime, one.kind, one.scope, one.name) for one in done.sources)


def test_every_layout_is_found_and_nothing_else(tmp_path):
    touch(
        tmp_path,
        "skills/a/SKILL.md",
        "agents/b.md",
        "commands/c.md",
        "rules/d.md",
        ".mcp.json",
        "config.toml",
        # and none of these
        "skills/SKILL.md",
        "skills/a/agents/inner.md",
        "skills/a/rules/inner.md",
        "skills/a/deeper/SKILL.md",
        "skills/notes/README.md",
        "agents/b.txt",
        "agents/deeper/e.md",
        "commands/f.md/x",
        "other/g.md",
        ".git/agents/h.md",
        "node_modules/x/skills/i/SKILL.md",
        "mcp.json",
    )
    assert found(tmp_path) == [
        ("claude-code", "mcp", "global", ".mcp.json"),
        ("codex", "mcp", "global", "config.toml"),
        ("unknown", "agent", "global", "b"),
        ("unknown", "command", "global", "c"),
        ("unknown", "rule", "global", "d"),
        ("unknown", "skill", "global", "a"),
    ]


@pytest.mark.parametrize(
    ("path", "runtime", "scope"),
    [
        ("home/.claude/skills/a/SKILL.md", "claude-code", "global"),
        ("home/.codex/skills/a/SKILL.md", "codex", "global"),
        ("home/.agents/skills/a/SKILL.md", "codex", "global"),
        ("home/.pi/agent/skills/a/SKILL.md", "pi", "global"),
        ("home/.omp/agent/skills/a/SKILL.md", "omp", "global"),
        ("shop/.claude/skills/a/SKILL.md", "claude-code", "project"),
        ("home/.claude/plugins/tool/skills/a/SKILL.md", "claude-code", "tool"),
        ("home/.claude/plugins/cache/market/tool/1.2.0/skills/a/SKILL.md", "claude-code", "tool"),
        ("shop/plugins/tool/skills/a/SKILL.md", "unknown", "tool"),
        ("shop/plugins/tool:x/skills/a/SKILL.md", "unknown", "tool-x"),
        ("shop/tool/skills/a/SKILL.md", "unknown", "tool"),
    ],
)
def test_the_folder_tells_runtime_and_scope(tmp_path, home, path, runtime, scope):  # noqa: ARG001
    touch(tmp_path, path)
    assert found(tmp_path) == [(runtime, "skill", scope, "a")]


def test_a_plugin_says_its_name(tmp_path):
    touch(tmp_path, "plugins/x1/skills/a/SKILL.md", "plugins/x2/src/agents/b.md", "plugins/x3/agents/c.md")
    for folder, content in (("x1", '{"name": "one: 1"}'), ("x2", '{"name": "two"}'), ("x3", "{broken")):
        manifest = tmp_path / "plugins" / folder / ".claude-plugin" / "plugin.json"
        manifest.parent.mkdir()
        manifest.write_text(content)
    assert found(tmp_path) == [
        ("claude-code", "agent", "x3", "c"),
        ("claude-code", "skill", "one- 1", "a"),
        ("unknown", "agent", "two", "b"),
    ]


def test_the_root_does_not_matter_for_a_plugin_or_a_runtimes_folder(tmp_path, home):
    touch(tmp_path, "plugins/tool/skills/a/SKILL.md", "home/.claude/skills/a/SKILL.md")
    for root in (
        tmp_path / "plugins",
        tmp_path / "plugins" / "tool",
        tmp_path / "plugins" / "tool" / "skills",
    ):
        assert found(root) == [("unknown", "skill", "tool", "a")]
    for root in (home, home / ".claude", home / ".claude" / "skills"):
        assert found(root) == [("claude-code", "skill", "global", "a")]


def test_a_given_runtime_is_for_what_lies_in_no_runtimes_folder(tmp_path):
    touch(tmp_path, "skills/a/SKILL.md", ".mcp.json", ".codex/skills/b/SKILL.md")
    assert found(tmp_path, runtime="mine") == [
        ("codex", "skill", "project", "b"),
        ("mine", "mcp", "global", ".mcp.json"),
        ("mine", "skill", "global", "a"),
    ]


def test_a_clone_called_like_a_layout_is_a_tree(tmp_path):
    touch(tmp_path, "agents/plugins/tool/agents/a.md", "agents/README.md")
    assert [one[3] for one in found(tmp_path / "agents")] == ["a"]
    assert [one[3] for one in found(tmp_path)] == ["a"]
    touch(tmp_path, "skills/skills/b/SKILL.md")
    assert [one[3] for one in found(tmp_path / "skills")] == ["b"]


def test_a_manifest_may_be_a_root(tmp_path):
    touch(tmp_path, ".mcp.json")
    assert found(tmp_path / ".mcp.json") == [("claude-code", "mcp", "global", ".mcp.json")]


@pytest.mark.parametrize(
    ("name", "told"), [("none", "does not exist"), ("file.md", "is no folder"), ("a\0b", "exist")]
)
def test_a_wrong_root_is_refused(tmp_path, name, told):
    touch(tmp_path, "file.md")
    with pytest.raises(InputError, match=told):
        walk([f"{tmp_path}/{name}"])


def test_paths_are_shown_below_the_root_as_it_was_written(tmp_path, monkeypatch):
    touch(tmp_path, "x/skills/a/SKILL.md", "x/.mcp.json")
    monkeypatch.chdir(tmp_path)
    assert sorted(one.shown for one in walk(["x"]).sources) == ["x/.mcp.json", "x/skills/a/SKILL.md"]
    assert sorted(one.shown for one in walk(["."]).sources) == ["x/.mcp.json", "x/skills/a/SKILL.md"]


# -- links, loops, what cannot be listed ------------------------------------------------------------------


def unread(*roots):
    return {os.path.basename(one.path): one.reason for one in walk(roots).unread}  # noqa: PTH119


def test_links_that_lead_back_end_the_walk(tmp_path):
    touch(tmp_path, "x/skills/a/SKILL.md")
    (tmp_path / "x" / "back").symlink_to(tmp_path)
    (tmp_path / "x" / "self").symlink_to("self")
    (tmp_path / "again").symlink_to("x")
    assert found(tmp_path) == [("unknown", "skill", "x", "a")]
    assert unread(tmp_path) == dict.fromkeys(
        ["back", "again"], "a symbolic link to a folder that is walked already"
    )


def test_links_do_not_multiply_the_walk(tmp_path):
    for level in range(30):
        (tmp_path / f"d{level}").mkdir()
        for name in ("left", "right"):
            (tmp_path / f"d{level}" / name).symlink_to(tmp_path / f"d{level + 1}")
    touch(tmp_path, "d30/skills/a/SKILL.md")
    assert found(tmp_path) == [("unknown", "skill", "d30", "a")]
    assert len(unread(tmp_path / "d0")) <= 60


def test_a_linked_folder_of_skills_is_each_runtimes_own(tmp_path):
    touch(tmp_path, ".agents/skills/a/SKILL.md", ".codex/x")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "skills").symlink_to(tmp_path / ".agents" / "skills")
    (tmp_path / ".pi" / "skills").mkdir(parents=True)
    (tmp_path / ".pi" / "skills" / "a").symlink_to(tmp_path / ".agents" / "skills" / "a")
    assert [one[0] for one in found(tmp_path)] == ["claude-code", "codex", "pi"]


def test_what_is_there_and_cannot_be_read_is_found(tmp_path):
    touch(tmp_path, "skills/a/SKILL.md")
    (tmp_path / "skills" / "loop").symlink_to("loop")
    (tmp_path / "skills" / "gone").symlink_to("nowhere")
    (tmp_path / "skills" / "folder" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "loop.md").symlink_to("loop.md")
    assert [one[3] for one in found(tmp_path)] == ["loop", "a", "folder", "gone", "loop"]


def test_a_skill_in_a_folder_that_may_not_be_entered_is_found(tmp_path, monkeypatch):
    (tmp_path / "skills" / "closed").mkdir(parents=True)
    lstat = os.stat

    def refuse(path, **options):
        if os.fspath(path).endswith("closed/SKILL.md"):
            raise PermissionError(13, "Permission denied")
        return lstat(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    assert [one[3] for one in found(tmp_path)] == ["closed"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes there")
def test_a_name_that_is_no_text_is_shown_with_escapes(tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/agents")  # noqa: PTH103
    with open(os.fsencode(tmp_path) + b"/agents/caf\xe9.md", "wb"):  # noqa: PTH123
        pass
    (source,) = walk([tmp_path]).sources
    assert source.name == "caf\\udce9"
    assert source.shown.encode().endswith(b"caf\\udce9.md")


def test_a_folder_that_cannot_be_listed_is_told(tmp_path, monkeypatch):
    touch(tmp_path, "x/y", "skills/a/SKILL.md")
    scandir = os.scandir

    def refuse(path):
        if os.fspath(path).endswith("/x"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert unread(tmp_path) == {"x": "cannot be listed: Permission denied"}
    assert len(found(tmp_path)) == 1


def test_names_are_composed(tmp_path):
    touch(tmp_path, "agents/cafe\u0301.md")
    assert found(tmp_path)[0][3] == "caf\u00e9"


def test_every_runtime_is_a_word_that_fits_an_id():
    assert all(":" not in runtime for runtime in places.RUNTIMES.values())
