"""MCP servers: their tools describe them, and what they run is kept apart."""

from __future__ import annotations

import json

import pytest

from skillful_eval.catalog.servers import LIMIT, read_servers
from skillful_eval.catalog.sources import UnreadableError


@pytest.fixture
def read(tmp_path):
    def make(content, name=".mcp.json"):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return read_servers(tmp_path / name)

    return make


START = {"command": "npx", "args": ["-y", "@acme/server@1.2"]}


@pytest.mark.parametrize("top", ["mcpServers", "mcp_servers", "servers", None])
def test_servers_stand_below_a_field_or_at_the_top(read, top):
    servers = {"finder": START, "other": {"url": "https://mcp.example.com/x"}}
    assert [one.name for one in read({top: servers} if top else servers)] == ["finder", "other"]


@pytest.mark.parametrize("document", [{}, {"mcpServers": {}}, {"hooks": {"x": {"y": 1}}, "version": 1}])
def test_a_manifest_may_list_no_server(read, document):
    assert read(document) == []


@pytest.mark.parametrize(
    ("settings", "description"),
    [
        ({"tools": ["look_up", "store"]}, "look_up\nstore"),
        (
            {"tools": [{"name": "look_up", "description": "Looks up."}, {"name": "b"}]},
            "look_up: Looks up.\nb",
        ),
        (
            {"tools": {"look_up": {"description": "Looks up."}, "b": "Does b."}},
            "look_up: Looks up.\nb: Does b.",
        ),
        ({"tools": ["*"]}, ""),
        ({"tools": ["*"], "alwaysAllow": ["a"]}, "a"),
        ({"tools": [1, None, {}, {"name": 5}, [], "a"]}, "a"),
        ({"tools": "a"}, ""),
        ({"enabled_tools": ["a"]}, "a"),
        ({"description": " Finds. ", "tools": ["a"]}, "Finds.\na"),
        ({"description": 5}, ""),
        ({}, ""),
        ({"url": "https://mcp.example.com", "env": {"TOKEN": "x"}}, ""),
    ],
)
def test_a_server_is_described_by_its_tools_and_never_by_what_it_runs(read, settings, description):
    (server,) = read({"mcpServers": {"finder": START | settings}})
    assert server.description == description


def test_targets_are_what_is_particular_to_the_server(read):
    settings = {
        "command": "/opt/x/run",
        "args": ["-y", "--port=8080", "--root=/srv/data1", "@acme/server@1.2", "serve", "--verbose"],
        "env": {"ACME_TOKEN": "t0pSecret", "MODE": "production"},
        "headers": {"Authorization": "Bearer abc1"},
        "url": "https://mcp.example.com:8443/x",
        "type": "stdio",
        "timeout": 30,
        "tools": ["look_up2"],
        "description": "Version-2 finder.",
    }
    (server,) = read({"mcpServers": {"finder": settings}})
    assert set(server.targets) == {
        "/opt/x/run -y --port=8080 --root=/srv/data1 @acme/server@1.2 serve --verbose",
        "/opt/x/run",
        "/srv/data1",
        "@acme/server@1.2",
        "t0pSecret",
        "Bearer abc1",
        "https://mcp.example.com:8443/x",
        "mcp.example.com",
    }


def test_an_address_that_cannot_be_taken_apart_is_a_target_all_the_same(read):
    (server,) = read({"mcpServers": {"x": {"url": "https://[bad/x"}}})
    assert server.targets == ("https://[bad/x",)


def test_servers_in_toml(read):
    content = '[mcp_servers.finder]\ncommand = "node"\nenabled_tools = ["a"]\n[mcp_servers.other]\nurl = "https://x.example"\n'
    assert [(one.name, one.description) for one in read(content, "config.toml")] == [
        ("finder", "a"),
        ("other", ""),
    ]
    assert read('model = "x"\n[tui]\ntheme = "dark"\n', "config.toml") == []


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        ("{", ".mcp.json", "line 1: not JSON"),
        ('{"a": 1,\n "a": 2}', ".mcp.json", r"1 key\(s\) stand twice"),
        ("[1]", ".mcp.json", "is no object"),
        ('{"mcpServers": []}', ".mcp.json", "mcpServers is no object"),
        ('{"mcpServers": {"x": "y"}}', ".mcp.json", "a server is no table"),
        ("[" * 100_000, ".mcp.json", "nested too deeply"),
        ("x = zebrafish", "config.toml", "line 1: not TOML"),
        ("x = " + "[" * 100_000, "config.toml", "not TOML"),
        ('mcp_servers = "x"', "config.toml", "mcp_servers is no object"),
        ("\0", ".mcp.json", "null bytes"),
        (" " * (LIMIT + 1), ".mcp.json", "larger than"),
        ("1" * 5_000, ".mcp.json", "not JSON|no object"),
    ],
)
def test_what_cannot_be_read_ends_in_a_reason(read, content, name, reason):
    with pytest.raises(UnreadableError, match=reason) as raised:
        read(content, name)
    assert "zebrafish" not in str(raised.value)
