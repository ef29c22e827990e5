"""From a catalogue on disk to a corpus file, by the library and from the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from skillful_eval.catalog.build import NOT_SANITISED, build_corpus
from skillful_eval.catalog.entries import read_catalogue
from skillful_eval.corpus import read_corpus
from skillful_eval.corpus_cli import app
from skillful_eval.sanitise import DISCLAIMER
from skillful_eval.sanitise.check import search
from skillful_eval.sanitise.markers import Markers
from skillshift.frame.errors import InputError, UsageError

pytest.importorskip("yaml")

AS_OF = "2026-01-02T03:04:05Z"


def write(root, path, content=""):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content, encoding="utf-8")


def skill(root, called, description="Does a thing.", **fields):
    lines = [f"{key}: {json.dumps(value)}" for key, value in {"description": description, **fields}.items()]
    write(root, f"skills/{called}/SKILL.md", "\n".join(["---", *lines, "---", "The body: ~/secret."]))


def ids(roots, **options):
    return [record["id"] for record in read_catalogue(roots, **options).records]


def reasons(roots):
    return [one.reason for one in read_catalogue(roots).unread]


def test_entries_are_sorted_by_id_whatever_the_order_of_roots(tmp_path):
    skill(tmp_path / "x", "b")
    skill(tmp_path / "y", "a", name="ak:a", when_to_use="Now.")
    write(tmp_path, "y/commands/c.md", "No frontmatter.")
    one, other = [
        read_catalogue(roots)
        for roots in ([tmp_path / "x", tmp_path / "y"], [tmp_path / "y", tmp_path / "x"])
    ]
    assert one.records == other.records
    assert [record["id"] for record in one.records] == [
        "unknown:command:global:c",
        "unknown:skill:global:ak:a",
        "unknown:skill:global:b",
    ]
    assert one.records[1] | {"sourcePath": ""} == {
        "id": "unknown:skill:global:ak:a",
        "kind": "skill",
        "name": "ak:a",
        "description": "Does a thing.",
        "runtime": "unknown",
        "scope": "global",
        "sourcePath": "",
        "whenToUse": "Now.",
    }
    assert one.bare == 1


def test_names_stay_on_one_line(tmp_path):
    skill(tmp_path, "x", name="  a\n b ")
    assert ids([tmp_path]) == ["unknown:skill:global:a b"]


def test_what_cannot_be_read_is_listed_and_does_not_stop_the_rest(tmp_path):
    skill(tmp_path, "good")
    skill(tmp_path, "long", name="x" * 201)
    skill(tmp_path, "half", name="\ud800")
    skill(tmp_path, "none")
    write(tmp_path, "agents/bad.md", "---\nname: [\n---\n")
    write(tmp_path, ".mcp.json", "{")
    (tmp_path / "agents" / "loop.md").symlink_to("loop.md")
    assert ids([tmp_path]) == ["unknown:skill:global:good"]
    told = {one.path.removeprefix(f"{tmp_path}/"): one.reason for one in read_catalogue([tmp_path]).unread}
    assert set(told) == {
        "skills/long/SKILL.md",
        "skills/half/SKILL.md",
        "skills/none/SKILL.md",
        "agents/bad.md",
        "agents/loop.md",
        ".mcp.json",
    }
    assert "longer than 200" in told["skills/long/SKILL.md"]
    assert "reserved" in told["skills/none/SKILL.md"]
    assert re.search("surrogate|not YAML", told["skills/half/SKILL.md"])


def test_a_second_file_with_the_same_id_is_listed(tmp_path):
    skill(tmp_path, "a", name="x", description="First.")
    skill(tmp_path, "b", name="x", description="Second.")
    read = read_catalogue([tmp_path])
    assert [record["description"] for record in read.records] == ["First."]
    (one,) = read.unread
    assert one.path.endswith("skills/b/SKILL.md")
    assert one.reason == f"the same id as {tmp_path}/skills/a/SKILL.md, which was read first"


def test_the_same_file_by_two_ways_is_one_entry(tmp_path):
    skill(tmp_path, "a")
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"x": {}, "y": {}}}))
    assert len(ids([tmp_path, tmp_path / "skills", tmp_path / ".mcp.json"])) == 3
    assert reasons([tmp_path, tmp_path / "skills", tmp_path / ".mcp.json"]) == []


def test_two_servers_whose_names_become_one_are_told(tmp_path):
    skill(tmp_path, "a")
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"x": {}, " x": {}, "": {}}}))
    assert sorted(reasons([tmp_path])) == [
        "the name is empty",
        f"the same id as {tmp_path}/.mcp.json, which was read first",
    ]


def test_a_given_runtime_is_in_the_ids(tmp_path):
    skill(tmp_path, "a")
    assert ids([tmp_path], runtime="mine-2") == ["mine-2:skill:global:a"]
    with pytest.raises(InputError, match="--runtime"):
        read_catalogue([tmp_path], runtime="A:b")


def test_nothing_found_is_an_error_with_the_first_reason(tmp_path):
    with pytest.raises(InputError, match="no capability was found; expected skills/"):
        read_catalogue([tmp_path])
    write(tmp_path, "agents/bad.md", "---\n")
    with pytest.raises(InputError, match="1 were not read, the first: the frontmatter does not end"):
        read_catalogue([tmp_path])
    with pytest.raises(InputError, match="no root"):
        read_catalogue([])


# -- the corpus -------------------------------------------------------------------------------------------


def test_a_corpus_is_sanitised_unless_asked_otherwise(tmp_path):
    skill(tmp_path, "a", "See https://x.example/y.")
    built = build_corpus([tmp_path], as_of="2026-01-02T04:04:05+01:00")
    entry = built.corpus.entries.row(0, named=True)
    assert (entry["description"], entry["scope"], entry["source_path"]) == ("See [redacted].", None, None)
    assert (built.corpus.sanitised, built.corpus.redacted_count, built.codes) == (True, 1, {"url": 1})
    assert built.corpus.captured_at == "2026-01-02T03:04:05.000Z"
    assert (
        "sanitised with private markers: 0; entries withheld: 0; entries redacted: 1 (url 1)\n"
        in built.text()
    )
    assert DISCLAIMER in built.text()
    assert built.corpus.findings()["code"].to_list() == ["corpus.filtered"]


def test_private_matters_are_included_where_asked(tmp_path):
    skill(tmp_path, "a", "See https://x.example/y.")
    built = build_corpus([tmp_path], include_private=True, as_of=AS_OF)
    entry = built.corpus.entries.row(0, named=True)
    assert (entry["description"], entry["scope"]) == ("See https://x.example/y.", "global")
    assert entry["source_path"] == f"{tmp_path}/skills/a/SKILL.md"
    assert not built.corpus.is_filtered
    assert NOT_SANITISED in built.text()
    assert DISCLAIMER not in built.text()
    built.write(tmp_path / "out.json")
    assert read_corpus(tmp_path / "out.json").entries.equals(built.corpus.entries)
    with pytest.raises(UsageError, match="one of the two"):
        build_corpus([tmp_path], include_private=True, markers=Markers())


def test_the_same_files_give_the_same_bytes_and_the_fingerprint_is_the_digest(tmp_path):
    skill(tmp_path, "a")
    skill(tmp_path, "b")
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    build_corpus([tmp_path], as_of=AS_OF).write(first)
    build_corpus([tmp_path], as_of=AS_OF).write(second)
    assert first.read_bytes() == second.read_bytes()
    back = read_corpus(first)
    assert back.fingerprint == back.digest
    skill(tmp_path, "a", "Another thing.")
    assert build_corpus([tmp_path], as_of=AS_OF).corpus.fingerprint != back.fingerprint


@pytest.mark.parametrize(
    "given", ["", "today", "2026-01-02", "2026-01-02T03:04:05", "0001-01-01T00:00:00+10:00"]
)
def test_a_time_needs_its_zone(tmp_path, given):
    skill(tmp_path, "a")
    with pytest.raises(InputError, match=r"--as-of: found .* expected a time with its zone"):
        build_corpus([tmp_path], as_of=given)


def test_without_a_time_it_is_now(tmp_path):
    skill(tmp_path, "a")
    assert re.fullmatch(
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", build_corpus([tmp_path]).corpus.captured_at
    )


def test_what_is_listed_is_veiled_where_it_tells_a_name(tmp_path):
    skill(tmp_path, "hidden", "For orca.", name="zebrafish")
    skill(tmp_path, "plain")
    write(tmp_path, "agents/orca-helper.md", "---\n")
    write(tmp_path, "agents/zebrafish.md", "---\n")
    write(tmp_path, "agents/dull.md", "---\n")
    built = build_corpus([tmp_path], markers=Markers.of(["orca"]))
    assert sorted(one.path.rpartition("/")[2] for one in built.unread) == [
        "(a path that is withheld)",
        "(a path that is withheld)",
        "dull.md",
    ]
    assert "zebrafish" not in built.text()
    assert "orca" not in built.text()


def test_a_server_is_never_described_by_what_it_runs(tmp_path):
    start = {"command": "/opt/zebrafish/run", "args": ["--token", "t0pSecret"], "tools": ["look_up"]}
    write(
        tmp_path,
        ".mcp.json",
        json.dumps({"mcpServers": {"finder": start, "bare": {"url": "https://x.example"}}}),
    )
    skill(tmp_path, "a", "Starts /opt/zebrafish/run with t0pSecret.")
    for private in (True, False):
        built = build_corpus([tmp_path], include_private=private)
        texts = dict(built.corpus.entries.select("name", "description").rows())
        assert (texts["finder"], texts["bare"]) == ("look_up", "")
        assert "\n1 of 2 mcp entries " in built.text()
    assert texts["a"] == "Starts [redacted] with [redacted]."


# -- the command line -------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["build", *map(str, arguments)])


def test_the_command_writes_and_says_what_it_did(tmp_path):
    skill(tmp_path / "in", "a", "For orca.")
    skill(tmp_path / "in", "b")
    write(tmp_path, "private.toml", 'markers = ["Orca"]')
    out = tmp_path / "out" / "corpus.json"
    done = run(tmp_path / "in", "--out", out, "--markers", tmp_path / "private.toml", "--as-of", AS_OF)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:3] == [
        "entries: 1 (skill 1)",
        "sanitised with private markers: 1; entries withheld: 1; entries redacted: 0",
        DISCLAIMER,
    ]
    corpus = read_corpus(out)
    assert (corpus.excluded_count, corpus.sanitised) == (1, True)
    assert b"orca" not in out.read_bytes().lower()


def test_a_hit_exits_1_and_leaves_the_earlier_file(tmp_path):
    skill(tmp_path / ".codex", "a")
    # The runtime's name is in every id, and no entry can be withheld for it.
    write(tmp_path, "private.toml", 'markers = ["codex"]')
    out = tmp_path / "corpus.json"
    out.write_text("earlier")
    done = run(tmp_path, "--out", out, "--markers", tmp_path / "private.toml")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "not written: the search of what was to be put there found marker 2" in done.stderr
    assert "codex" not in done.stderr
    assert out.read_text() == "earlier"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".partial")]


def test_bad_input_is_one_message(tmp_path):
    skill(tmp_path, "a")
    for arguments in (
        (tmp_path / "none", "--out", tmp_path / "o.json"),
        (tmp_path, "--out", tmp_path),
        (tmp_path, "--out", tmp_path / "o.json", "--markers", tmp_path / "none.toml"),
        (tmp_path, "--out", tmp_path / "o.json", "--as-of", "now"),
        (tmp_path, "--out", tmp_path / "o.json", "--runtime", "A b"),
    ):
        done = run(*arguments)
        assert isinstance(done.exception, InputError), done.output
        assert not (tmp_path / "o.json").exists()


def test_help_is_quick_and_loads_no_heavy_module(root):
    code = (
        "import sys; from skillful_eval.corpus_cli import app;"
        "app(['build', '--help'], standalone_mode=False);"
        "print([m for m in ('polars', 'pandera', 'yaml', 'rich.console') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--include-private" in done.stdout


# -- what a manifest names -------------------------------------------------------------------------------

SECRETS = ("hdrsecret99x", "plainsecretvalue", "hunterhunter", "argtoken77", "querysecret5", "91827364")
SERVER = {
    "command": "npx",
    "args": ["--api-key", "hunterhunter", "--header", "Authorization: Bearer argtoken77"],
    "headers": {"Authorization": "Bearer hdrsecret99x"},
    "env": {
        "API_KEY": "plainsecretvalue",
        "DB_PASSWORD": 91827364,
        "LOG_LEVEL": "information",
        "DEBUG": "true",
    },
    "url": "https://x.example/sse?token=querysecret5",
    "description": "Uses hdrsecret99x, plainsecretvalue; hunterhunter, argtoken77 (querysecret5), 91827364.",
}


@pytest.mark.parametrize("name", [".mcp.json", "config.toml"])
def test_secrets_that_a_manifest_names_are_in_no_entry(tmp_path, name):
    if name == ".mcp.json":
        write(tmp_path, name, json.dumps({"mcpServers": {"finder": SERVER}}))
    else:
        fields = {key: value for key, value in SERVER.items() if not isinstance(value, dict)}
        tables = [f"[mcp_servers.finder.{key}]" for key in ("headers", "env")]
        lines = ["[mcp_servers.finder]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())]
        for table, key in zip(tables, ("headers", "env"), strict=True):
            lines += [table, *(f"{one} = {json.dumps(value)}" for one, value in SERVER[key].items())]
        write(tmp_path, name, "\n".join(lines))
    said = "Production information, true. " + " and ".join(SECRETS).upper()
    skill(tmp_path, "one", said, when_to_use=said)
    built = build_corpus([tmp_path], as_of=AS_OF)
    built.write(tmp_path / "corpus.json")
    content = (tmp_path / "corpus.json").read_text(encoding="utf-8")
    assert not [secret for secret in SECRETS if secret in content.casefold()]
    assert content.count("Production information, true. [redacted]") == 2
    for secret in SECRETS:
        leaked = content.replace("Production information", f"Production {secret}", 1)
        assert search(leaked.encode(), built.private) == [(2, "description", "mcp-target")]


@pytest.mark.parametrize(
    "place", ["mk.toml", "skills/one/SKILL.md", ".mcp.json", "p/.claude-plugin/plugin.json", "link.json"]
)
def test_no_file_of_the_catalogue_is_written_over(tmp_path, place):
    skill(tmp_path, "one")
    skill(tmp_path / "p", "two")
    write(tmp_path, "p/.claude-plugin/plugin.json", '{"name": "p"}')
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"finder": SERVER}}))
    write(tmp_path, "mk.toml", 'markers = ["zebrafish"]')
    (tmp_path / "link.json").symlink_to("skills/one/SKILL.md")
    before = (tmp_path / place).read_bytes()
    markers = ["--markers", str(tmp_path / "mk.toml")]
    ran = CliRunner().invoke(app, ["build", str(tmp_path), *markers, "--out", str(tmp_path / place)])
    assert isinstance(ran.exception, UsageError)
    assert re.search(r"is the file of (--markers|the catalogue's) \S+ as well", str(ran.exception))
    assert (tmp_path / place).read_bytes() == before
