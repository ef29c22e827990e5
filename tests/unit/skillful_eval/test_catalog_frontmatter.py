"""YAML frontmatter: what is read, and what ends in a reason."""

from __future__ import annotations

import os
import sys

import pytest

from skillful_eval.catalog import frontmatter
from skillful_eval.catalog.frontmatter import LIMIT, Frontmatter, parse, read_frontmatter, yaml_library
from skillful_eval.catalog.sources import UnreadableError
from skillshift.frame.errors import InputError

pytest.importorskip("yaml")


@pytest.fixture
def read(tmp_path):
    def make(content):
        path = tmp_path / "x.md"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_frontmatter(path)

    return make


@pytest.mark.parametrize(
    "spelling",
    [
        "when_to_use",
        "when-to-use",
        "whenToUse",
        "when to use",
        "whentouse",
        "WhenToUse",
        "WHEN_TO_USE",
        '"when_to_use"',
    ],
)
def test_when_to_use_has_many_spellings(spelling):
    assert parse(f"name: x\n{spelling}: Now.").when_to_use == "Now."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name: x\ndescription: Does.", Frontmatter("x", "Does.")),
        ("Name: x\nDescription: Does.", Frontmatter("x", "Does.")),
        ("description: >\n  Does\n  this.\n", Frontmatter(None, "Does this.")),
        ("description: |\n  Does\n  this.\n", Frontmatter(None, "Does\nthis.")),
        ('description: "a: b # c \\u00e9"', Frontmatter(None, "a: b # c \u00e9")),
        ("description: Does # a comment", Frontmatter(None, "Does")),
        ("when_to_use: [a, b]", Frontmatter(when_to_use="a\nb")),
        ("when_to_use:\n- a\n- ''\n- b", Frontmatter(when_to_use="a\nb")),
        ("name: 1.0\ndescription: yes\nwhen_to_use: 2026-01-01", Frontmatter("1.0", "yes", "2026-01-01")),
        ("name: null\ndescription: ~\nwhen_to_use:", Frontmatter()),
        ("name: '  '", Frontmatter()),
        ("", Frontmatter()),
        ("# only a comment", Frontmatter()),
        ("other: {deep: [1, {er: x}]}\nname: x", Frontmatter("x")),
        ("name: !!python/object:os.system x", Frontmatter("x")),
        ("a: &a Does.\ndescription: *a", Frontmatter(None, "Does.")),
        ("[a, b]: x\n? {c: d}\n: y\nname: x", Frontmatter("x")),
    ],
)
def test_the_fields_are_text_as_it_stands(text, found):
    assert parse(text) == found


@pytest.mark.parametrize(
    "content",
    [
        "---\nname: x\n---\nbody",
        "\ufeff---\nname: x\n---\nbody",
        "---\r\nname: x\r\n---\r\nbody",
        "--- \nname: x\n---\t\nbody\n---\n",
        "---\nname: x\n...\nbody",
        "---\nname: x\n---",
        b"---\nname: x\n---\nbody \xff\xfe\x00",
    ],
)
def test_frontmatter_ends_at_its_fence(read, content):
    assert read(content) == Frontmatter("x")


@pytest.mark.parametrize(
    "content", ["# Title\n---\nname: x\n---\n", "", "text", "----\nname: x\n---\n", " ---\n"]
)
def test_a_file_without_frontmatter_says_so(read, content):
    assert read(content) == Frontmatter(present=False)


def test_the_end_of_a_long_file_is_not_read(read):
    assert read("\u00e9" * LIMIT + "\n" + "x" * LIMIT) == Frontmatter(present=False)
    assert read("---\nname: x\n---\n" + "x" * 3 * LIMIT) == Frontmatter("x")


BOMB = "\n".join(
    ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12))]
)
MERGES = "\n".join(
    ["a0: &a0 {x: 1}", *(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 12))]
)


def test_a_bomb_does_no_harm():
    assert parse(f"{BOMB}\nname: x") == Frontmatter("x")
    assert parse(f"{MERGES}\nname: x") == Frontmatter("x")
    with pytest.raises(UnreadableError, match="line 13: description is a sequence of more than text"):
        parse(f"\n{BOMB}\ndescription: *a11")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("---\nname: x\n", "does not end: expected a line ---"),
        ("---\n" + "x: y\n" * LIMIT, f"does not end within {LIMIT:,} bytes"),
        ("---\n- a\n---\n", "is a sequence, expected"),
        ("---\njust text\n---\n", "is a scalar, expected"),
        ("---\nname: x\nname: y\n---\n", "line 3: name stands there for the second time"),
        (
            "---\nwhen_to_use: x\nwhen-to-use: x\n---\n",
            "line 3: when_to_use stands there for the second time",
        ),
        ("---\nname: {a: b}\n---\n", "line 2: name is a mapping"),
        ("---\nname: [[a]]\n---\n", "line 2: name is a sequence of more than text"),
        ("---\ndescription: Use: this\n---\n", "line 2: the frontmatter is not YAML: mapping values"),
        ("---\nname: [a\n---\n", "not YAML"),
        ("---\nname: *zebrafish\n---\n", "not YAML: found undefined alias"),
        ("---\nname: 'x\n---\n", "not YAML"),
        ("---\nname: x\ty\x07\n---\n", "not YAML"),
        ("---\nname: x\n--- x\nname: y\n---\n", "not YAML"),
        ("---\nx: " + "[" * 60 + "]" * 60 + "\n---\n", "nested more than 50 levels"),
        ("---\nx: " + "[" * 60_000 + "\n---\n", "nested more than 50 levels|not YAML"),
        ("---\nx: " + "{a: " * 10_000 + "\n---\n", "nested more than 50 levels|not YAML"),
        ("---\n" + "".join(" " * i + "a:\n" for i in range(300)) + "---\n", "nested more than 50 levels"),
        (b"---\nname: \xff\n---\n", r"not UTF-8 text \(at byte 8\)"),
        (b"---\nname: x\x00\n---\n", "null bytes"),
        (b"\x7fELF\x00\x01", "null bytes"),
        (b"\xff\xfe-\x00-\x00-\x00", "null bytes"),
        (b"caf\xe9", "not UTF-8"),
    ],
)
def test_what_cannot_be_read_ends_in_a_reason(read, content, reason):
    with pytest.raises(UnreadableError, match=reason) as raised:
        read(content)
    assert "zebrafish" not in str(raised.value)


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "loop.md").symlink_to("loop.md")
    for name, reason in {
        "pipe.md": "not a regular file",
        "loop.md": "cannot be read: Too many levels",
        "none.md": "cannot be read: No such file",
        ".": "not a regular file",
    }.items():
        with pytest.raises(UnreadableError, match=reason):
            read_frontmatter(tmp_path / name)


def test_without_the_yaml_library_there_is_one_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(InputError, match=r"PyYAML is not installed.*pip install 'skillshift\[router\]'"):
        yaml_library()


def test_without_libyaml_the_same_is_read(monkeypatch):
    monkeypatch.delattr(yaml_library(), "CSafeLoader", raising=False)
    assert frontmatter.parse("name: x\ndescription: >\n  a\n  b") == Frontmatter("x", "a b")
    with pytest.raises(UnreadableError, match="nested more than 50"):
        parse("x: " + "[" * 60_000)
