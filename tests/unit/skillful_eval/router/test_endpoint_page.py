"""The page on the wire format shows what is sent and what is read."""

from __future__ import annotations

import json
import re

import httpx
import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.corpus import make_corpus
from skillful_eval.router.protocol import CAUSES


@pytest.fixture
def page(root):
    return (root / "docs" / "endpoint.md").read_text(encoding="utf-8")


def block(page, name):
    return re.search(rf"```json {name}\n(.*?)```", page, re.DOTALL)[1]


class Canned(httpx.BaseTransport):
    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def handle_request(self, request):
        self.seen.append(json.loads(request.read()))
        return httpx.Response(200, text=self.answer)


def test_the_request_and_the_answer_are_as_shown(page):
    shown = json.loads(block(page, "request"))
    entries = [
        {"kind": one["id"].split(":")[1], "runtime": "a", **one} for one in shown["state"]["candidates"]
    ]
    head = {"capturedAt": "", "fingerprint": "unknown", "sanitised": False}
    corpus = make_corpus(head | {"excludedCount": 0, "redactedCount": 0}, entries, "corpus")
    retriever = se.Bm25Router(corpus, quotas=se.Quotas(skill=1, mcp=1, agent=0, command_rule=0))
    transport = Canned(block(page, "answer"))
    router = se.HttpRouter(
        corpus, retriever, "http://127.0.0.1/", model=shown["model"], key="k", transport=transport
    )
    asked = pl.DataFrame({"fixture_id": ["f"], "prompt": [shown["state"]["task"]], "repeat": [0]})
    outcome = router.decide(asked.hstack(router.shortlist(asked["prompt"])))
    assert transport.seen == [shown]
    told = outcome.select("decision", "chosen", "none_p", "winner_p", "tokens_in", "tokens_out", "model")
    assert told.row(0) == ("injected", "a:mcp:global:calendar", 0.08, 0.9, 210, 40, "router-1")


def test_every_cause_is_listed(page):
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(CAUSES)
