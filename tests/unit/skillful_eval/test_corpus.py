from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus, read_corpus
from skillshift.frame.errors import ContractError, InputError


@pytest.fixture
def written(tmp_path, head, entries):
    def write(text=None, **other):
        path = tmp_path / "corpus.json"
        path.write_text(text if text is not None else json.dumps(head | {"entries": entries} | other))
        return path

    return write


def test_a_snapshot_becomes_a_frame(written):
    corpus = read_corpus(written())
    assert corpus.entries.height == 7
    assert corpus.entries.columns == [
        "id",
        "kind",
        "name",
        "description",
        "runtime",
        "scope",
        "source_path",
        "when_to_use",
        "other",
        "capability",
    ]
    assert set(corpus.entries.dtypes) == {pl.String}
    assert corpus.entries["capability"].to_list()[:3] == ["ops-undo", "ops-undo", "plan"]
    assert corpus.entries["when_to_use"].null_count() == 7
    assert not corpus.is_filtered


def test_what_is_read_is_written_the_same(written, entries, tmp_path):
    entries[0] |= {"whenToUse": "after a mistake", "degraded": True, "tags": ["é", 1.5, None]}
    corpus = read_corpus(written())
    corpus.write(tmp_path / "again.json")
    again = read_corpus(tmp_path / "again.json")
    assert again.entries.equals(corpus.entries)
    assert again.digest == corpus.digest
    assert json.loads((tmp_path / "again.json").read_text())["entries"] == entries


def test_the_digest_is_that_of_the_entries_whatever_their_order(head, entries):
    one, other = make_corpus(head, entries, "x"), make_corpus(head, entries[::-1], "x")
    assert one.digest == other.digest
    entries[0]["description"] = "edited"
    assert make_corpus(head, entries, "x").digest != one.digest


def test_the_bundled_corpus_has_the_documented_fingerprint(root):
    corpus = read_corpus(root / "data" / "routing" / "corpus.json")
    assert corpus.fingerprint == corpus.digest
    assert corpus.findings().is_empty()


def test_findings_say_what_is_unfair(head, entries):
    for entry in entries:
        if entry["kind"] == "mcp":
            entry["description"] = "MCP server (http): [redacted]"
        if entry["kind"] in ("rule", "command"):
            entry["description"] = " "
    entries[5]["whenToUse"] = "to lint"
    head |= {"sanitised": True, "excludedCount": 50, "fingerprint": "sha256:other"}
    found = make_corpus(head, entries, "x").findings()
    assert found.select("code", "subject", "count").rows() == [
        ("corpus.filtered", "corpus", 50),
        ("corpus.redacted", "kind:mcp", 1),
        ("corpus.no-description", "kind:rule", 1),
        ("corpus.fingerprint-other", "corpus", 1),
    ]
    assert "1 of 1 mcp descriptions are redacted" in found["message"][1]


@pytest.mark.parametrize(
    "change",
    [{"sanitised": True}, {"excludedCount": 1}, {"redactedCount": 1}],
    ids=lambda change: next(iter(change)),
)
def test_a_filtered_corpus_says_so(head, entries, change):
    corpus = make_corpus(head | change, entries, "x")
    assert corpus.is_filtered
    assert "corpus.filtered" in corpus.findings()["code"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "corpus.json:1:2: not JSON"),
        ("[1]", "found [1], expected one JSON object"),
        ('{"a": NaN}', "found NaN, which is not JSON"),
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ("[" * 100_000, "nested too deeply"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not UTF-8"),
    ],
    ids=["cut", "list", "nan", "twice", "deep", "bytes"],
)
def test_what_is_no_snapshot_is_refused(tmp_path, text, message):
    path = tmp_path / "corpus.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        read_corpus(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_corpus(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("capturedAt", 5, "text"),
        ("fingerprint", None, "text"),
        ("fingerprint", "\ud800", "text"),
        ("sanitised", 0, "true or false"),
        ("excludedCount", True, "a whole number from 0"),
        ("excludedCount", -1, "a whole number from 0"),
        ("redactedCount", 1.0, "a whole number from 0"),
        ("entries", [], "a list of at least one entry"),
        ("entries", {}, "a list of at least one entry"),
    ],
)
def test_a_wrong_header_is_refused(written, name, value, expected):
    with pytest.raises(InputError) as error:
        read_corpus(written(**{name: value}))
    assert f"{name}: found" in str(error.value)
    assert f"expected {expected}" in str(error.value)
    str(error.value).encode()


def test_a_header_field_that_is_not_there_is_named(tmp_path, head, entries):
    del head["sanitised"]
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(head | {"entries": entries}))
    with pytest.raises(InputError, match="sanitised: found nothing, expected true or false"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "Skill"}, "kind.unknown"),
        ({"kind": 3}, "kind.type"),
        ({"kind": None}, "kind.type"),
        ({"name": "  "}, "name.empty"),
        ({"name": "none"}, "name.reserved"),
        ({"id": "none"}, "id.reserved"),
        ({"id": "a:plan"}, "id.duplicate"),
        ({"description": None}, "description.type"),
        ({"whenToUse": None}, "whenToUse.type"),
        ({"scope": 1}, "scope.type"),
        ({"name": "\ud800"}, "name.type"),
        ({"tag": "\ud800"}, "entry.text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_entry_is_named(head, entries, change, code):
    entries[4] |= change
    with pytest.raises(ContractError) as error:
        make_corpus(head, entries, "corpus.json")
    assert error.value.counts == {code: 1}
    assert error.value.violations[0].file.startswith("corpus.json: entry 5")
    str(error.value).encode()


@pytest.mark.parametrize("name", ["id", "kind", "name", "description", "runtime"])
def test_a_missing_field_is_named(head, entries, name):
    del entries[1][name]
    with pytest.raises(ContractError) as error:
        make_corpus(head, entries, "corpus.json")
    assert error.value.counts == {f"{name}.missing": 1}


def test_every_wrong_entry_is_counted_and_few_are_shown(head, entries):
    many = [entries[0] | {"id": f"x{i}", "kind": "spell"} for i in range(100)]
    with pytest.raises(ContractError) as error:
        make_corpus(head, [*entries, 5, *many], "corpus.json")
    assert error.value.counts == {"kind.unknown": 100, "entry.type": 1}
    assert len(error.value.violations) == 20
