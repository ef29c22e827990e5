from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.router.bm25 import Bm25Router
from skillful_eval.router.protocol import OUTCOMES, Router
from skillful_eval.router.quotas import DEFAULT, Quotas

PROMPTS = pl.Series("prompt", ["does somebody plan", "qqq", "plan the db", ""])


def requests(router, repeats=1):
    shortlists = PROMPTS.to_frame().hstack(router.shortlist(PROMPTS))
    return pl.concat(
        shortlists.with_row_index("fixture_id").with_columns(
            pl.col("fixture_id").cast(pl.String), repeat=pl.lit(repeat, dtype=pl.Int64)
        )
        for repeat in range(repeats)
    )


def test_it_is_a_router(corpus):
    router = Bm25Router(corpus)
    assert isinstance(router, Router)
    assert router.batch is None


def test_its_settings_tell_configurations_apart(corpus):
    settings = Bm25Router(corpus).settings
    assert settings == {
        "router": "bm25",
        "quota": DEFAULT.text,
        "when-to-use": "yes",
        "retrieval-only": "no",
    }
    others = [
        Bm25Router(corpus, quotas=Quotas(skill=1)),
        Bm25Router(corpus, when_to_use=False),
        Bm25Router(corpus, retrieval_only=True),
    ]
    assert all(other.settings != settings for other in others)
    assert {type(value) for value in settings.values()} == {str}


@pytest.mark.parametrize("when_to_use", [False, True])
def test_it_searches_when_to_use_as_it_was_told(head, entries, when_to_use):
    corpus = make_corpus(head, [*entries, entries[0] | {"id": "z", "whenToUse": "zebras"}], "corpus.json")
    router = Bm25Router(corpus, when_to_use=when_to_use)
    best = router.shortlist(pl.Series(["zebras"]))["scores"].list.first().item()
    assert (best > 0) is when_to_use


def test_it_picks_its_best_and_abstains_where_nothing_scores(corpus):
    router = Bm25Router(corpus)
    found = router.decide(asked := requests(router, repeats=2))
    assert found.schema == OUTCOMES
    assert found.height == 2 * len(PROMPTS)
    first, second = found.head(4), found.tail(4)
    assert first.equals(second)
    assert first["decision"].to_list() == ["injected", "skipped", "injected", "skipped"]
    assert first["reason"].to_list() == [None, "no-match", None, "no-match"]
    assert first["detail"].is_null().to_list() == [True, False, True, False]
    best = asked["shortlist"].list.first().cast(pl.String).to_list()
    assert first["chosen"].to_list() == [best[0], None, best[2], None]
    # What only a model has, and a latency of one request among many, is not there.
    told = ("decision", "chosen", "reason", "detail", "latency_reason")
    assert all(found[name].null_count() == found.height for name in OUTCOMES if name not in told)
    assert set(found["latency_reason"]) == {"batched"}


def test_it_abstains_where_quotas_leave_nothing(corpus):
    router = Bm25Router(corpus, quotas=Quotas(0, 0, 0, 0))
    found = router.decide(requests(router))
    assert set(found["decision"]) == {"skipped"}
    assert set(found["reason"]) == {"no-match"}


def test_it_may_only_retrieve(corpus):
    router = Bm25Router(corpus, retrieval_only=True)
    asked = requests(router)
    assert asked["shortlist"].equals(requests(Bm25Router(corpus))["shortlist"])
    found = router.decide(asked)
    assert found.schema == OUTCOMES
    assert found.height == len(PROMPTS)
    told = found.select(pl.exclude("latency_reason"))
    assert told.null_count().row(0) == (len(PROMPTS),) * told.width


@pytest.mark.parametrize("retrieval_only", [False, True])
def test_nothing_asked_is_nothing_decided(corpus, retrieval_only):
    router = Bm25Router(corpus, retrieval_only=retrieval_only)
    found = router.decide(requests(router).clear())
    assert found.schema == OUTCOMES
    assert not found.height
