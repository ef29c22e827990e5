"""The published figures of retrieval, and MetaTool end to end: shortlists, runs, scores, report."""

from __future__ import annotations

import json
from fractions import Fraction

import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.router.bm25 import Bm25Router
from skillful_eval.router.quotas import Quotas, parse_quotas
from skillful_eval.testing.oracle_retrieval import oracle_shortlists
from skillshift.frame.exact import half_up

pytestmark = pytest.mark.reference

SAMPLE = 300
"""How many of MetaTool's prompts the oracle ranks."""


@pytest.fixture(scope="module")
def corpus(reference):
    return se.read_corpus(reference / "routing" / "distractors.json")


@pytest.fixture(scope="module")
def metatool(reference):
    return se.read_corpus(reference / "metatool" / "corpus.json")


def runs_of(router, fixtures):
    """One run of every fixture by a router that only retrieves."""
    asked = fixtures.frame.select("fixture_id", "prompt", repeat=pl.lit(0, dtype=pl.Int64))
    requests = asked.hstack(router.shortlist(asked["prompt"]))
    outcomes = router.decide(requests).select("decision", "chosen", "reason")
    return requests.select("fixture_id", "repeat", "shortlist").hstack(outcomes)


def metrics(router, fixtures, corpus):
    """The report's rows, by scope and metric."""
    report = se.report(se.score(runs_of(router, fixtures), fixtures, corpus))
    return {(row["scope"], row["metric"]): row for row in report.to_dicts()}


def printed(row):
    return half_up(Fraction(str(row["value"])), 3)


@pytest.mark.parametrize(
    ("name", "when_to_use", "quota", "length", "recall", "reciprocal"),
    [
        ("routing", False, 6, 13, "0.765", "0.518"),
        ("routing", True, 6, 13, "0.804", "0.572"),
        ("routing", True, 8, 15, "0.824", "0.574"),
        ("routing.holdout", False, 6, 13, "0.500", "0.264"),
        ("routing.holdout", True, 4, 11, "0.550", "0.338"),
        ("routing.holdout", True, 6, 13, "0.600", "0.348"),
        ("routing.holdout", True, 8, 15, "0.600", "0.347"),
        ("routing.holdout", True, 14, 21, "0.650", "0.350"),
    ],
)
def test_the_published_figures(reference, corpus, name, when_to_use, quota, length, recall, reciprocal):
    fixtures = se.read_fixtures(reference / "routing" / f"{name}.jsonl", corpus)
    router = Bm25Router(corpus, quotas=Quotas(skill=quota), when_to_use=when_to_use, retrieval_only=True)
    found = metrics(router, fixtures, corpus)
    assert found["all", "recall@K"]["denominator"] == {"routing": 51, "routing.holdout": 20}[name]
    assert found["all", "meanShortlistLength"]["value"] == length
    assert printed(found["all", "recall@K"]) == recall
    assert printed(found["all", "MRR"]) == reciprocal
    assert found["all", "top1Accuracy"]["reason"] == "retrieval-only"


def test_the_published_figure_of_the_vietnamese_group(reference, corpus):
    fixtures = se.read_fixtures(reference / "routing" / "routing.jsonl", corpus)
    row = metrics(Bm25Router(corpus, retrieval_only=True), fixtures, corpus)["group:vietnamese", "recall@K"]
    assert (row["numerator"], row["denominator"]) == (3, 7)
    assert printed(row) == "0.429"


@pytest.mark.parametrize("name", ["routing", "routing.holdout"])
@pytest.mark.parametrize("when_to_use", [False, True])
def test_every_reference_shortlist_is_the_oracle_s(reference, corpus, name, when_to_use):
    fixtures = se.read_fixtures(reference / "routing" / f"{name}.jsonl", corpus)
    entries = json.loads((reference / "routing" / "distractors.json").read_text(encoding="utf-8"))["entries"]
    quotas = Quotas(skill=14)
    shortlists = Bm25Router(corpus, quotas=quotas, when_to_use=when_to_use).shortlist(
        fixtures.frame["prompt"]
    )
    expected = oracle_shortlists(entries, fixtures.frame["prompt"], quotas.by_group, when_to_use=when_to_use)
    assert pairs(shortlists) == expected


def pairs(shortlists):
    named = shortlists.with_columns(pl.col("shortlist").cast(pl.List(pl.String)))
    return [list(zip(ids, scores, strict=True)) for ids, scores in named.rows()]


def test_metatool_end_to_end(reference, metatool):
    files = [reference / "metatool" / f"fixtures.{name}.jsonl" for name in ("dev", "holdout")]
    fixtures = se.read_fixtures(files, metatool, name="metatool")
    router = Bm25Router(metatool, quotas=parse_quotas(["mcp=5"]), retrieval_only=True)
    runs = runs_of(router, fixtures)
    assert runs.height == 21_631
    entries = json.loads((reference / "metatool" / "corpus.json").read_text(encoding="utf-8"))["entries"]
    sample = pl.int_range(0, runs.height, runs.height // SAMPLE, eager=True).head(SAMPLE)
    prompts = fixtures.frame["prompt"].gather(sample)
    quotas = Quotas(mcp=5)
    expected = oracle_shortlists(entries, prompts, quotas.by_group)
    assert pairs(router.shortlist(prompts)) == expected
    ids = [[name for name, _ in picks] for picks in expected]
    assert runs["shortlist"].gather(sample).cast(pl.List(pl.String)).to_list() == ids
    report = se.report(se.score(runs, fixtures, metatool)).filter(scope="all")
    rows = {row["metric"]: row for row in report.to_dicts()}
    assert (rows["recall@5"]["numerator"], rows["recall@5"]["denominator"]) == (11_538, 21_111)
    assert rows["recall@5"]["value"] == rows["recall@K"]["value"]
    assert rows["meanShortlistLength"]["value"] == 5


@pytest.mark.parametrize(
    ("name", "hits", "answerable", "recall", "reciprocal"),
    [("dev", 9_209, 16_940, "0.544", "0.429"), ("holdout", 2_329, 4_171, "0.558", "0.444")],
)
def test_metatool_s_figures(reference, metatool, name, hits, answerable, recall, reciprocal):
    fixtures = se.read_fixtures(reference / "metatool" / f"fixtures.{name}.jsonl", metatool)
    found = metrics(Bm25Router(metatool, quotas=Quotas(mcp=5), retrieval_only=True), fixtures, metatool)
    row = found["all", "recall@5"]
    assert (row["numerator"], row["denominator"]) == (hits, answerable)
    assert (printed(row), printed(found["all", "MRR"])) == (recall, reciprocal)
