"""The reference catalogue of 488 files becomes a corpus."""

from __future__ import annotations

from collections import Counter

import pytest

from skillful_eval.catalog.build import build_corpus
from skillful_eval.corpus import read_corpus

pytest.importorskip("yaml")
pytestmark = pytest.mark.reference

AS_OF = "2026-01-02T03:04:05Z"


@pytest.fixture(scope="module")
def catalogue(reference):
    return reference / "catalogs" / "wshobson-agents"


@pytest.fixture(scope="module")
def built(catalogue):
    return build_corpus([catalogue], as_of=AS_OF)


def test_every_file_is_an_entry_with_an_id_of_its_own(built):
    entries = built.corpus.entries
    assert Counter(entries["kind"]) == {"skill": 181, "agent": 202, "command": 105}
    assert entries["id"].n_unique() == entries.height == 488
    assert built.unread == ()
    assert built.bare == 41


def test_twelve_command_names_occur_in_two_plugins(built):
    names = Counter(built.corpus.entries.filter(built.corpus.entries["kind"] == "command")["name"])
    assert sorted(names.values(), reverse=True)[:13] == [2] * 12 + [1]


def test_the_scope_is_the_plugin(catalogue):
    entries = build_corpus([catalogue], include_private=True, as_of=AS_OF).corpus.entries
    assert set(entries["scope"]) <= {path.name for path in (catalogue / "plugins").iterdir()}
    assert "tdd-workflows" in set(entries["scope"])


def test_the_root_does_not_matter(built, catalogue):
    plugins = build_corpus([catalogue / "plugins"], as_of=AS_OF)
    each = build_corpus(sorted((catalogue / "plugins").iterdir(), reverse=True), as_of=AS_OF)
    assert plugins.corpus.fingerprint == each.corpus.fingerprint == built.corpus.fingerprint


def test_the_written_corpus_is_read_back(built, tmp_path):
    built.write(tmp_path / "corpus.json")
    back = read_corpus(tmp_path / "corpus.json")
    assert (back.fingerprint, back.digest) == (built.corpus.fingerprint, built.corpus.fingerprint)
    assert (back.sanitised, back.excluded_count, back.redacted_count) == (True, 0, 1)


def test_entries_of_a_published_corpus_keep_nearly_all_of_their_text(reference):
    # Precision: of a corpus that somebody else has sanitised before, little is left to take out.
    from skillful_eval.sanitise.private import Private

    entries = read_corpus(reference / "routing" / "distractors.json").entries
    texts = {text for name in ("description", "when_to_use") for text in entries[name] if text}
    changed = {text for text in texts if Private().find(text)}
    assert len(changed) <= 5
