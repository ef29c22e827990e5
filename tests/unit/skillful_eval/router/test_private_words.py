"""What an endpoint says of its own accord is redacted before anybody reads it."""

from __future__ import annotations

import json

import httpx
import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.router.answers import NAME_CHARACTERS

PRIVATE = "ask jane@example.org, or see /home/jane/secret.txt"


class Canned(httpx.BaseTransport):
    def __init__(self, act):
        self.act = act

    def handle_request(self, _request):
        if isinstance(self.act, Exception):
            raise self.act
        return httpx.Response(200, json=self.act)


def answered(corpus, act):
    retriever = se.Bm25Router(corpus)
    router = se.HttpRouter(corpus, retriever, "http://127.0.0.1/", transport=Canned(act), retries=0)
    asked = pl.DataFrame({"fixture_id": ["f"], "prompt": ["undo the last migration"], "repeat": [0]})
    return router.decide(asked.hstack(router.shortlist(asked["prompt"]))).row(0, named=True)


def answer(**fields):
    return {"answers": {"primary": {"choice": "none", "probabilities": {"none": 1}}}, **fields}


@pytest.mark.parametrize(
    "act",
    [
        answer(model=PRIVATE),
        httpx.RemoteProtocolError(f"illegal status line: {PRIVATE}"),
        httpx.ConnectError(PRIVATE),
    ],
    ids=["model", "status line", "connection"],
)
def test_private_words_are_in_no_column(corpus, act):
    row = answered(corpus, act)
    said = json.dumps(row, ensure_ascii=False)
    assert "jane" not in said
    assert "[redacted]" in said


def test_a_model_name_without_end_is_malformed(corpus):
    assert answered(corpus, answer(model="m" * NAME_CHARACTERS))["decision"] == "skipped"
    row = answered(corpus, answer(model="m" * (NAME_CHARACTERS + 1)))
    assert (row["decision"], row["reason"]) == ("degraded", "malformed")
    assert row["detail"].startswith("model: ")
