"""Planted secrets, in every field and form, never appear in the bytes of a corpus that was built."""

from __future__ import annotations

import html
import json
import re
import tempfile
import unicodedata
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval.catalog.build import build_corpus
from skillful_eval.sanitise.check import search
from skillful_eval.sanitise.markers import Markers
from skillful_eval.sanitise.private import Private
from skillshift.frame.errors import InputError

pytest.importorskip("yaml")

AS_OF = "2026-01-02T03:04:05Z"

# A canary is told from everything else that is written; what holds it is private by its form.
canaries = st.text("qxzvkjw", min_size=7, max_size=10).map(lambda text: f"q{text}")

SHAPES = {
    "https": "https://{c}.example.com/a?b=c#d",
    "url-path": "http://example.com/docs/{c}/index.html",
    "url-userinfo": "postgres://admin:{c}@db.example.com:5432/main",
    "url-scheme": "vscode://{c}/open",
    "www": "www.{c}.org/about",
    "host": "{c}.internal:8443",
    "host-path": "github.com/{c}/tools",
    "subdomain": "api.{c}.io",
    "git": "git@github.com:{c}/tools.git",
    "email": "{c}@example.com",
    "email-domain": "first.last+tag@{c}.co.uk",
    "home": "/home/{c}/notes.md",
    "users": "/Users/{c}/Library/Application Support/App/x.db",
    "absolute": "/opt/tools/{c}",
    "tilde": "~/{c}/skills/x/SKILL.md",
    "tilde-user": "~{c}/x",
    "variable": "$HOME/{c}/x",
    "braces": "${{CONFIG_ROOT}}/{c}/run.sh",
    "application": "/Applications/Big {c}.app/Contents/MacOS/run",
    "windows": "C:\\Users\\{c}\\AppData\\x",
    "windows-space": "C:\\Users\\Given {c}\\AppData",
    "appdata": "%APPDATA%\\{c}\\config.json",
    "share": "\\\\{c}\\share\\x",
    "quoted": '"/srv/our {c} files/x y"',
    "assigned": "api_key={c}",
    "header": "Authorization: Bearer {c}-0a1",
    "spoken": "the password is {c}17",
    "json-secret": '"client_secret": "{c}"',
    "issued": "ghp_{c}0123456789",
    # At the length that they are issued with, and without a digit.
    "aws": "AKIA{c:Q<16}",
    "aws-session": "ASIA{c:W<16}",
    "github": "ghp_{c:k<36}",
    "github-fine": "github_pat_{c:k<22}_qxzvkjwqxzvkjwqxzvkjwqxzvkjwqxzvkjwqxzvkjwqxzvkjwqxzvkjwqxz",
    "slack": "xoxb-{c:k<24}",
    "google": "AIza{c:k<35}",
    "stripe": "sk_live_{c:k<24}",
    "openai": "sk-proj-{c:k<48}",
    "anthropic": "sk-ant-{c:k<40}",
    "gitlab": "glpat-{c:k<20}",
    "npm": "npm_{c:k<36}",
    "hugging-face": "hf_{c:k<34}",
    "bearer": "Authorization: Bearer {c:k<20}",
    "basic": "Basic {c:k<16}",
    "pem": "-----BEGIN OPENSSH PRIVATE KEY-----\n{c}\n-----END OPENSSH PRIVATE KEY-----",
    "mcp-line": "MCP server (stdio): node {c}/server.js --port 1",
    "npx": "npx -y @{c}/mcp-server@latest",
}


def wide(text):
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


FORMS = {
    "as it is": lambda text: text,
    "upper case": str.upper,
    "title case": str.title,
    "full width": wide,
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent of reserved": lambda text: quote(text, safe=""),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "JSON string": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "entity names": lambda text: html.escape(text).replace("@", "&commat;").replace(":", "&colon;"),
    "zero width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "word joiners": "\u2060".join,
    "bold in the middle": lambda text: f"{text[: len(text) // 2]}**{text[len(text) // 2 :]}**",
    "emphasis": lambda text: f"*{text}*",
    "code": lambda text: f"`{text}`",
    "tags": lambda text: f"{text[: len(text) // 2]}<b>{text[len(text) // 2 :]}</b>",
    "link": lambda text: f"[here]({text})",
    "defanged": lambda text: text.replace(".", "[.]").replace("://", "[:]//"),
}


def read(content):
    """What a reader could make of bytes; written without looking at how the package does it."""
    text = content.decode()
    for _ in range(4):
        text = unquote(html.unescape(text))
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return re.sub(r"[*`]|</?\w+>|[\[\]]", "", text).casefold()


WORDS = ("plan", "a", "run", "of", "tests", "before", "work", "begins")
words = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
before = st.sampled_from(["", " ", "\n", "(", " '", ": ", "- ", ", "])
after = st.sampled_from(["", " ", "\n", ")", "', ", ". ", ", ", "; "])

planted = st.tuples(
    canaries,
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(sorted(FORMS)),
    st.tuples(words, before),
    st.tuples(after, words),
)


def text_of(plan):
    canary, shape, form, (lead, opening), (closing, tail) = plan
    secret = FORMS[form](SHAPES[shape].format(c=canary))
    opening = opening if opening or not lead else " "
    closing = closing if closing or not tail else " "
    return lead + opening + secret + closing + tail


@given(planted)
def test_no_form_of_a_secret_outlives_redaction(plan):
    text = text_of(plan)
    clean, codes = Private().redact(text)
    assert plan[0] in read(text.encode())
    assert plan[0] not in read(clean.encode()), (text, clean)
    assert codes
    assert not Private().find(clean)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_no_shape_outlives_redaction_in_any_form(form):
    canary = "qxzvkjqw"
    for shape in SHAPES:
        text = text_of((canary, shape, form, ("a run", " "), (", ", "of tests")))
        clean, _ = Private().redact(text)
        assert canary in read(text.encode()), shape
        assert canary not in read(clean.encode()), (shape, text, clean)
        assert clean.startswith("a run "), (shape, text, clean)
        assert clean.endswith("of tests") or shape == "mcp-line", (shape, text, clean)


def skill(folder, called, /, **fields):
    (folder / called).mkdir(parents=True)
    # A JSON text is a YAML text, so no form needs quoting of its own.
    lines = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    content = "\n".join(["---", *lines, "---", *map(str, fields.values()), ""])
    (folder / called / "SKILL.md").write_text(content, encoding="utf-8")


def built(root, markers=None):
    out = root / "out" / "corpus.json"
    build = build_corpus([root / "in"], markers=markers, as_of=AS_OF)
    build.write(out)
    return build, out.read_bytes()


FIELDS = ("name", "description", "when_to_use", "metadata", "allowed-tools", "author")


@given(st.dictionaries(st.sampled_from(FIELDS), planted, min_size=1))
def test_no_secret_in_any_field_gets_into_the_file(plans):
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        skill(root / "in" / "skills", "plain", description="Plans a run of tests.")
        skill(root / "in" / "skills", "other", **{field: text_of(plan) for field, plan in plans.items()})
        build, content = built(root)
        said = build.text().encode()
    for canary, *_ in plans.values():
        assert canary not in read(content)
        assert canary not in read(said)
    assert build.corpus.entries["name"].to_list()[-1] == "plain"
    # A name that long is no name: its file is listed instead.
    assert build.corpus.excluded_count + len(build.unread) == ("name" in plans)


@given(
    canary=canaries,
    field=st.sampled_from(["command", "args", "url", "env", "headers", "cwd", "bearer_token", "nested"]),
    shape=st.sampled_from(["/opt/{c}/server", "https://{c}.example.com/mcp", "{c}-server@1.2.3", "{c}9"]),
    form=st.sampled_from(["as it is", "upper case", "full width", "zero width", "bold in the middle"]),
)
def test_no_target_of_a_server_gets_into_the_file(canary, field, shape, form):
    target = shape.format(c=canary)
    value = {
        "args": ["-y", target],
        "env": {"X": target},
        "headers": {"X": target},
        "nested": [{"a": [target]}],
    }
    server = {"command": "node", "tools": [{"name": "look_up", "description": "Looks things up."}]}
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        skill(root / "in" / "skills", "plain", description=f"It runs {FORMS[form](target)}, on demand.")
        manifest = {"mcpServers": {"finder": server | {field: value.get(field, target)}}}
        (root / "in" / ".mcp.json").write_text(json.dumps(manifest), encoding="utf-8")
        build, content = built(root)
    assert canary not in read(content)
    finder = build.corpus.entries.filter(build.corpus.entries["name"] == "finder")
    assert finder["description"].to_list() == ["look_up: Looks things up."]


HIDDEN = {name: form for name, form in FORMS.items() if name not in {"link", "defanged"}}


@given(
    canary=canaries,
    length=st.sampled_from([4, 8]),
    form=st.sampled_from(sorted(HIDDEN)),
    field=st.sampled_from(["name", "description", "when_to_use"]),
    lead=words,
)
def test_an_entry_with_a_marker_is_withheld_and_its_name_is_nowhere(canary, length, form, field, lead):
    marker, name = canary[:length], f"{canary[::-1]}jj"
    fields = {"name": name, "description": "Does a thing.", "when_to_use": "Now and then."}
    fields[field] = f"{lead} {HIDDEN[form](marker)} {fields[field]}"
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        skill(
            root / "in" / "skills", "plain", description=f"Hand over to {name} or to /ops:{name}, then stop."
        )
        skill(root / "in" / "skills", "hidden", **fields)
        # Another copy of it does not carry the marker, and has the name all the same.
        skill(root / "in" / "more" / "skills", "copy", name=fields["name"].upper(), description="Short.")
        build, content = built(root, Markers.of([marker.upper()]))
        said = build.text().encode()
    assert build.corpus.excluded_count == 2
    assert build.corpus.entries["name"].to_list() == ["plain"]
    if field != "name":
        assert name not in read(content)
        assert (
            build.corpus.entries["description"].item()
            == "Hand over to [redacted] or to /ops:[redacted], then stop."
        )
    assert marker not in read(content).replace(name, "")
    assert name not in read(said)


@given(st.text("abcXY019/\\.:@~$%*`_-[](){}<>&#;'\" \n\u200b\u0301\uff0fé", max_size=60))
def test_redaction_is_done_once_and_for_all(text):
    clean, codes = Private().redact(text)
    assert not Private().find(clean)
    assert Private().redact(clean) == (clean, frozenset())
    assert bool(codes) == (clean != text)


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyzéüđ", min_size=1, max_size=9), max_size=12))
def test_plain_words_are_left_alone(texts):
    text = " ".join(texts)
    assert Private().redact(text) == (text, frozenset())


@given(planted, st.sampled_from(["id", "name", "description", "whenToUse", "sourcePath"]))
def test_the_search_finds_what_a_failing_filter_would_leave(plan, field):
    from skillshift.frame.writing import dump_json

    entry = {"id": "a:skill:global:x", "kind": "skill", "name": "x", "description": "", "runtime": "a"}
    if field == "id":
        entry["id"] = f"a:skill:global:{text_of(plan)}"
    else:
        entry[field] = text_of(plan)
    document = {"capturedAt": AS_OF, "entries": [entry]}
    assert search(dump_json(document).encode(), Private())


@given(st.integers(1, 4), st.data())
def test_nothing_is_written_where_everything_is_withheld(count, data):
    marker = data.draw(canaries)
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        for number in range(count):
            skill(root / "in" / "skills", f"s{number}", description=f"Uses {marker}.")
        with pytest.raises(InputError, match=f"all {count} entries were withheld") as raised:
            built(root, Markers.of([marker]))
        assert marker not in str(raised.value)
        assert not (root / "out").exists()
