from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.fixtures import read_fixtures
from skillful_eval.scoring import score


def codes(scored):
    others = scored.provenance.findings.filter(pl.col("code") != "runs.degraded")
    return others.select("code", "subject", "count").rows()


def test_degraded_runs_are_told_for_each_configuration(scored_of, whole):
    rows = [row | {"config": config} for row in whole for config in ("a", "b")]
    degraded = sum(row["decision"] == "degraded" for row in whole)
    told = scored_of(*rows).provenance.findings.filter(code="runs.degraded")
    assert told.select("subject", "count").rows() == [("a", degraded), ("b", degraded)]
    assert told["message"][0].startswith(f"{degraded} of {len(whole)} runs are degraded: their latency")


def test_what_the_values_rest_on(scored_of, whole, fixtures, corpus):
    told = scored_of(*whole).provenance
    assert (told.fixture_set, told.fixture_digest) == ("dev", fixtures.digest)
    assert (told.fixtures, told.answerable, told.runs) == (4, 3, 4)
    assert told.corpus is corpus
    assert told.declared.rows() == [(None, None, None, None, 4)]


def test_runs_that_say_nothing_are_told(scored_of, whole):
    assert codes(scored_of(*whole)) == [
        ("corpus.fingerprint-unknown", "corpus", 1),
        ("runs.undeclared", "runs", 4),
    ]


def test_runs_that_say_the_same_are_not(scored_of, whole, fixtures, corpus):
    said = {"fixture_digest": fixtures.digest, "corpus_fingerprint": corpus.digest}
    assert codes(scored_of(*(row | said for row in whole))) == [("corpus.fingerprint-unknown", "corpus", 1)]


def test_a_name_stands_in_for_a_digest(scored_of, whole, corpus):
    said = {"fixture_set": "dev", "corpus_fingerprint": corpus.digest}
    assert codes(scored_of(*(row | said for row in whole))) == [("corpus.fingerprint-unknown", "corpus", 1)]


def test_runs_made_with_something_else_are_told(scored_of, whole):
    rows = [
        row | {"config": config, "fixture_digest": digest, "corpus_fingerprint": "sha256:other"}
        for row in whole
        for config, digest in (("a", "sha256:x"), ("b", "sha256:y"))
    ]
    assert codes(scored_of(*rows))[1:] == [
        ("runs.other-fixtures", "a", 4),
        ("runs.other-fixtures", "b", 4),
        ("runs.other-corpus", "a", 4),
        ("runs.other-corpus", "b", 4),
    ]


def test_what_a_configuration_was_tuned_on_is_known(scored_of, whole, fixtures):
    rows = [
        row | {"config": config, "tuned_on": tuned}
        for row in whole
        for config, tuned in (("a", "dev"), ("b", "train"), ("c", fixtures.digest), ("d", None))
    ]
    told = scored_of(*rows).provenance
    assert told.tuned_here["config"].to_list() == ["a", "c"]
    assert told.declared["runs"].to_list() == [4, 4, 4, 4]


def test_picks_off_the_list_are_counted(scored_of, run_of):
    rows = [
        run_of("undo", ["a:db"], "injected", "a:undo", config="a"),
        run_of("plan", ["a:db"], "injected", "a:db", config="a"),
        run_of("undo", ["a:db"], "injected", "a:db", config="b"),
    ]
    assert ("runs.off-list", "a", 1) in codes(scored_of(*rows))
    told = scored_of(*rows, run_of("store", ["a:lint"], "injected", "a:db", config="b")).provenance.findings
    off = told.filter(code="runs.off-list")["message"].to_list()
    assert [text.split(";")[0] for text in off] == ["1 pick was not in its shortlist"] * 2
    assert ("runs.off-list", "b", 0) not in codes(scored_of(*rows))


@pytest.mark.parametrize("text", ["MCP server (stdio): [redacted]", "[REDACTED]", ""])
def test_groups_that_expect_only_mute_capabilities_are_unfair(head, entries, runs_of, run_of, text):
    entries[4]["description"] = text
    corpus = make_corpus(head, entries, "x")
    rows = [
        {"id": "a", "group": "mcp", "prompt": "p", "gold": ["db"]},
        {"id": "b", "group": "mcp", "prompt": "p", "gold": ["db", "plan"]},
        {"id": "c", "group": "coding", "prompt": "p", "gold": ["plan"]},
        {"id": "d", "group": "trivial", "prompt": "q", "gold": ["none"]},
    ]
    fixtures = read_fixtures(pl.DataFrame(rows), corpus)
    scored = score(runs_of(run_of("a")), fixtures, corpus)
    assert ("group.unfair", "group:mcp", 1) in codes(scored)
    assert not [code for code in codes(scored) if code[0] == "group.unfair" and code[1] != "group:mcp"]
    message = scored.provenance.findings.filter(code="group.unfair")["message"].item()
    assert message.startswith("1 of 2 answerable fixtures of the group mcp")
