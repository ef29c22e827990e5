"""The reference corpus, its fixtures, and MetaTool: they load, resolve and score."""

from __future__ import annotations

import time

import polars as pl
import pytest

import skillful_eval as se

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def routing(reference):
    return reference / "routing"


@pytest.fixture(scope="module")
def corpus(routing):
    return se.read_corpus(routing / "distractors.json")


@pytest.fixture(scope="module")
def metatool(reference):
    return se.read_corpus(reference / "metatool" / "corpus.json")


def scored_without_decisions(fixtures, corpus, shortlist):
    """Runs of a retriever that offers everybody the same."""
    runs = fixtures.frame.select(
        "fixture_id",
        repeat=0,
        shortlist=pl.lit(shortlist, dtype=pl.List(pl.String)),
        decision=pl.lit(None, dtype=pl.String),
        chosen=pl.lit(None, dtype=pl.String),
        reason=pl.lit(None, dtype=pl.String),
    )
    return se.score(runs, fixtures, corpus)


def test_the_corpus_loads_and_says_that_it_is_filtered(corpus):
    assert corpus.entries.height == 533
    assert corpus.is_filtered
    counts = dict(corpus.entries.group_by("kind").len().rows())
    assert counts == {"skill": 434, "agent": 72, "rule": 16, "command": 6, "mcp": 5}
    found = corpus.findings()
    assert found.filter(code="corpus.filtered")["count"].item() == 50


def test_the_corpus_is_written_as_it_was_read(corpus, tmp_path):
    corpus.write(tmp_path / "corpus.json")
    again = se.read_corpus(tmp_path / "corpus.json")
    assert again.entries.equals(corpus.entries)
    assert (again.digest, again.fingerprint) == (corpus.digest, corpus.fingerprint)


@pytest.mark.parametrize(
    ("name", "fixtures", "answerable"), [("routing", 67, 51), ("routing.holdout", 27, 20)]
)
def test_every_gold_resolves(routing, corpus, name, fixtures, answerable):
    found = se.read_fixtures(routing / f"{name}.jsonl", corpus, groups=se.GROUPS)
    assert found.frame.height == fixtures
    assert (~found.frame["abstain"]).sum() == answerable
    assert found.golds["id"].null_count() == 0
    assert found.golds["fixture"].n_unique() == answerable
    assert found.findings().is_empty()


def test_the_two_sets_share_nothing(routing, corpus):
    dev, holdout = (
        se.read_fixtures(routing / f"{name}.jsonl", corpus) for name in ("routing", "routing.holdout")
    )
    assert se.check_split(dev, holdout).is_empty()
    assert se.check_split(dev, dev).height == 2 * dev.frame.height


def test_redacted_servers_are_unfair_to_their_group(routing, corpus):
    fixtures = se.read_fixtures(routing / "routing.jsonl", corpus)
    shortlist = corpus.entries.filter(kind="mcp")["id"].to_list()
    scored = scored_without_decisions(fixtures, corpus, shortlist)
    found = scored.provenance.findings
    assert found.filter(code="corpus.redacted", subject="kind:mcp")["count"].item() == 5
    assert "5 of 5 mcp descriptions are redacted" in found.filter(code="corpus.redacted")["message"].item()
    assert found.filter(code="group.unfair", subject="group:mcp").height == 1
    report = se.report(scored)
    assert report.filter(scope="kind:mcp", metric="recall@K")["value"].item() == 1.0
    assert set(report.filter(metric="noneRecall", scope="all")["reason"]) == {"retrieval-only"}


def test_metatool_loads_and_scores(reference, metatool):
    assert metatool.entries.height == 199
    files = [reference / "metatool" / f"fixtures.{name}.jsonl" for name in ("dev", "holdout")]
    fixtures = se.read_fixtures(files, metatool, name="metatool")
    assert fixtures.frame.height == 21_631
    assert dict(fixtures.frame.group_by("group").len().rows()) == {
        "single": 20_614,
        "multi": 497,
        "none": 520,
    }
    assert fixtures.findings().filter(code="prompt.conflicting").height == 11
    assert fixtures.frame.filter(group="multi")["answers"].unique().to_list() == [2]
    shortlist = metatool.entries["id"].to_list()
    report = se.report(scored_without_decisions(fixtures, metatool, shortlist))
    everything = report.filter(scope="all")
    recall = everything.filter(metric="recall@K").row(0, named=True)
    assert (recall["value"], recall["numerator"], recall["denominator"]) == (1.0, 21_111.0, 21_111)
    # The curve ends at the whole corpus, and each step adds what the next tool is gold of.
    curve = everything.filter(pl.col("metric").str.contains(r"^recall@\d+$"))
    assert curve["metric"].to_list() == [f"recall@{k}" for k in range(1, 200)]
    assert curve["value"].is_sorted()
    assert everything.filter(metric="goldInShortlistRate")["denominator"].item() == 20_614 + 2 * 497


def test_metatool_is_split_with_near_copies(reference, metatool):
    dev, holdout = (
        se.read_fixtures(reference / "metatool" / f"fixtures.{name}.jsonl", metatool)
        for name in ("dev", "holdout")
    )
    found = se.check_split(dev, holdout)
    assert found.filter(code="split.shared-id").is_empty()
    assert found.height == 106
    assert (found["similarity"] == 1).sum() > 10


def test_gold_resolution_takes_well_under_a_second(reference, metatool):
    from skillful_eval.gold import resolve

    fixtures = pl.read_ndjson(reference / "metatool" / "fixtures.dev.jsonl")
    started = time.process_time()
    golds = resolve(fixtures, metatool.entries)
    assert time.process_time() - started < 1
    assert golds["fixture"].n_unique() == 16_940
