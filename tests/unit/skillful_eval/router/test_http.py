"""What the router sends, what every answer decides, and what it keeps to itself; over real sockets."""

from __future__ import annotations

import json

import httpx
import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.recording.transport import UnrecordedError
from skillful_eval.router.connection import MAX_BYTES, BodyError
from skillful_eval.router.http import EXTENSION, HttpRouter
from skillful_eval.router.prompts import WITHHELD
from skillful_eval.router.protocol import OUTCOMES, Router
from skillful_eval.router.thresholds import Thresholds
from skillshift.frame.errors import UsageError

SHORTLIST = ["a:undo", "a:plan", "a:db"]
KEY = "open-sesame-of-ours"  # nothing tells by its form that it is a key


# What is in the primary answer, or a whole body; what it decides, and why.
ANSWERS = {
    "a pick": ({}, "injected", None),
    "none": ({"choice": "none", "probabilities": {"none": 0.3}}, "skipped", "none"),
    "none at the threshold": ({"probabilities": {"a:plan": 0.6, "none": 0.4}}, "skipped", "none"),
    "none below it": ({"probabilities": {"a:plan": 0.6, "none": 0.39}}, "injected", None),
    "a winner at its floor": ({"probabilities": {"a:plan": 0.25, "none": 0.1}}, "injected", None),
    "a winner below it": ({"probabilities": {"a:plan": 0.24, "none": 0.1}}, "skipped", "winner-floor"),
    "not offered": (
        {"choice": "a:style", "probabilities": {"a:style": 0.9, "none": 0}},
        "degraded",
        "malformed",
    ),
    "no winner's probability": ({"probabilities": {"none": 0.1}}, "degraded", "malformed"),
    "no probability of none": ({"probabilities": {"a:plan": 0.9}}, "degraded", "malformed"),
    "above one": ({"probabilities": {"a:plan": 1.1, "none": 0.1}}, "degraded", "malformed"),
    "below zero": ({"probabilities": {"a:plan": 0.9, "none": -0.1}}, "degraded", "malformed"),
    "NaN": ({"probabilities": {"a:plan": float("nan"), "none": 0.1}}, "degraded", "malformed"),
    "text for a number": ({"probabilities": {"a:plan": "0.9", "none": 0.1}}, "degraded", "malformed"),
    "a number for text": ({"choice": 1}, "degraded", "malformed"),
    "no answers": (b'{"model": "m"}', "degraded", "malformed"),
    "another shape": (b"[{}]", "degraded", "malformed"),
    "no JSON": (b"<html>It works!</html>", "degraded", "malformed"),
    "no UTF-8": (b'{"answers": "\xff"}', "degraded", "malformed"),
    "a key twice": (b'{"model": "a", "model": "b"}', "degraded", "malformed"),
    "nothing": (b"", "degraded", "malformed"),
    "too long": (b" " * (MAX_BYTES + 1), "degraded", "malformed"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_an_answer_decides(server, router_of, requests_of, name):
    content, decision, reason = ANSWERS[name]
    server.says(content if isinstance(content, bytes) else server.good(**content))
    outcome = router_of().decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["reason"]) == (decision, reason)
    assert outcome["chosen"] == ("a:plan" if decision == "injected" else None)
    assert (outcome["detail"] is not None) == (decision == "degraded")
    assert outcome["latency_ms"] > 0
    assert outcome["latency_reason"] is None
    assert len(server.seen) == 1


def test_what_is_sent(server, router_of, requests_of, corpus):
    router_of(model="m-2", key=KEY).decide(requests_of("hoàn tác giúp tôi"))
    [(headers, body)] = server.seen
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "m-2"
    assert body["state"]["task"] == "hoàn tác giúp tôi"
    sent = body["state"]["candidates"]
    assert [candidate["id"] for candidate in sent] == SHORTLIST
    entry = corpus.entries.row(0, named=True)
    assert sent[0] == {"id": entry["id"], "name": entry["name"], "description": entry["description"]}
    assert list(body["questions"]) == ["primary", "c0", "c1", "c2"]
    assert body["questions"]["primary"]["options"] == [*SHORTLIST, "none"]
    assert {body["questions"][f"c{place}"]["candidate"] for place in range(3)} == set(SHORTLIST)


def test_what_is_left_out(server, router_of, requests_of):
    router_of(max_prompt_chars=6).decide(requests_of("undo everything"))
    router_of(upload_prompts=False).decide(requests_of("my secret plan"))
    tasks = [body["state"]["task"] for _, body in server.seen]
    assert tasks == ["undo e", WITHHELD]
    assert all("model" not in body and "Authorization" not in headers for headers, body in server.seen)


def test_when_to_use_goes_along(good, requests_of, head, entries):
    entries[0]["whenToUse"] = "after a mistake"
    corpus = make_corpus(head, entries, "corpus.json")
    bodies = []

    def answer(request):
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json=good())

    retriever = type("Fixed", (), {"settings": {}})()
    router = HttpRouter(corpus, retriever, "http://localhost/", transport=httpx.MockTransport(answer))
    router.decide(requests_of("undo it please"))
    assert bodies[0]["state"]["candidates"][0]["whenToUse"] == "after a mistake"
    assert "whenToUse" not in bodies[0]["state"]["candidates"][1]


ECHOES = {
    "refused": lambda server: server.says({}, 401),
    "as a choice": lambda server: server.says(server.good(choice=KEY, probabilities={KEY: 1, "none": 0})),
    "as a model": lambda server: server.says(server.good() | {"model": f"m {KEY}"}),
    "as a name": lambda server: server.says(server.good(probabilities={KEY: 5})),
    "as a wrong value": lambda server: server.says({KEY: 1, "answers": KEY}),
    "in what is no JSON": lambda server: server.says(KEY.encode()),
    "dropped": lambda server: server.answers(lambda handler, _: handler.drop()),
}


@pytest.mark.parametrize("name", ECHOES)
def test_the_key_is_nowhere(server, router_of, requests_of, name, caplog):
    ECHOES[name](server)
    router = router_of(f"{server.url}?token=hidden-hidden", key=KEY, retries=0)
    with caplog.at_level(0):
        outcomes = router.ask(requests_of("undo it please"))
        told = str(outcomes.to_dicts()) + str(router.decide(requests_of("undo it please")).to_dicts())
    told += repr(router) + str(router.settings) + caplog.text
    assert KEY not in told
    assert "hidden" not in told


@pytest.mark.parametrize("key", ["", "top secret", "abc123\n", "ключ"])
def test_a_key_that_cannot_be_one_is_refused_without_being_shown(router_of, key):
    with pytest.raises(UsageError, match="key: empty, or") as caught:
        router_of(key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://me:hidden@localhost/", "ftp://localhost/", "localhost", "http://", "/x"]
)
def test_an_address_that_cannot_be_one_is_refused(router_of, url):
    with pytest.raises(UsageError, match="url: ") as caught:
        router_of(url)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"budget_ms": 0},
        {"timeout_ms": float("nan")},
        {"retries": -1},
        {"retries": 1.5},
        {"concurrency": 0},
        {"concurrency": True},
        {"max_prompt_chars": 0},
        {"backoff_ms": -1},
    ],
    ids=str,
)
def test_an_option_that_cannot_be_so_is_refused_by_name(router_of, options):
    with pytest.raises(UsageError, match=f"^{next(iter(options))}: found "):
        router_of(**options)


def test_settings_tell_configurations_apart(server, router_of):
    router = router_of(f"{server.url}?token=hidden", model="m", max_prompt_chars=9, upload_prompts=False)
    assert router.settings == {
        "router": "http",
        "url": server.url,
        "model": "m",
        "retriever.router": "fixed",
        "none-threshold": "0.4",
        "winner-floor": "0.25",
        "max-prompt-chars": "9",
        "upload-prompts": "no",
    }
    assert isinstance(router, Router)
    other = router_of(thresholds=Thresholds(none=0.5))
    assert set(other.settings) == {
        "router",
        "url",
        "retriever.router",
        "none-threshold",
        "winner-floor",
        "upload-prompts",
    }
    assert other.settings["none-threshold"] == "0.5"


def test_how_useful_each_candidate_is_and_what_it_cost(router_of, requests_of):
    outcomes = router_of().decide(requests_of("undo it please", "plan it please"))
    assert dict(outcomes.schema) == {**OUTCOMES, "nouls": pl.List(pl.Float64)}
    assert outcomes["nouls"].to_list() == [[0.0, 0.1, 0.2]] * 2
    assert outcomes.select("model", "tokens_in", "tokens_out").unique().rows() == [("m-1", 100, 20)]


def test_no_requests(router_of, requests_of):
    none = requests_of("undo it please").clear()
    assert router_of().decide(none).height == 0


def test_requests_that_are_none(router_of, requests_of):
    with pytest.raises(UsageError, match="no column prompt"):
        router_of().decide(requests_of("undo it please").drop("prompt"))
    strangers = requests_of("undo it please").with_columns(shortlist=pl.lit(pl.Series([["x:y"]])))
    with pytest.raises(UsageError, match="no id of the corpus"):
        router_of().decide(strangers)


class Recorded(httpx.BaseTransport):
    """Answers as a recording does, and says what it was asked for."""

    def __init__(self, document, **extensions):
        self.document = document
        self.extensions = extensions
        self.asked = []
        self.closed = False

    def handle_request(self, request):
        self.asked.append(request.extensions[EXTENSION])
        return httpx.Response(200, json=self.document, extensions=self.extensions)

    def close(self):
        self.closed = True


def test_a_replayed_answer_has_no_latency(good, router_of, requests_of):
    transport = Recorded(good(), response_index=2, replayed=True)
    outcome = router_of(transport=transport).decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["latency_ms"]) == ("injected", None)
    assert (outcome["latency_reason"], outcome["response_index"]) == ("replayed", 2)
    assert transport.asked == [{"fixture": "f0", "repeat": 0, "cut": False}]
    assert not transport.closed, "it may be used again"


def test_an_answer_that_was_just_recorded_has_one(good, router_of, requests_of):
    outcome = router_of(transport=Recorded(good(), response_index=0)).decide(requests_of("undo it please"))
    assert outcome["latency_ms"].item() > 0
    assert outcome["latency_reason"].item() is None
    assert outcome["response_index"].item() == 0


@pytest.mark.parametrize(
    ("candidates", "nouls"),
    [(SHORTLIST, [0.0, 0.1, 0.2]), (SHORTLIST[::-1], None), (SHORTLIST[:2], None), (None, None)],
)
def test_positions_are_those_of_the_shortlist_of_the_recording(
    good, router_of, requests_of, candidates, nouls
):
    document = good() | ({} if candidates is None else {"candidates": candidates})
    replies = router_of(transport=Recorded(document, replayed=True)).ask(requests_of("undo it please"))
    assert replies["nouls"].item() is None if nouls is None else replies["nouls"].to_list() == [nouls]


def test_a_request_that_was_not_recorded(router_of, requests_of):
    asked = []

    def answer(request):
        asked.append(request)
        raise UnrecordedError("no response to this task")

    router = router_of(transport=httpx.MockTransport(answer))
    outcome = router.decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["reason"]) == ("degraded", "unrecorded")
    assert (outcome["latency_ms"], outcome["latency_reason"]) == (None, "replayed")
    assert len(asked) == 1


def test_a_recording_transport_may_be_the_first_to_see_a_bad_body(router_of, requests_of):
    asked = []

    def answer(request):
        asked.append(request)
        raise BodyError("cut short")

    router = router_of(transport=httpx.MockTransport(answer))
    assert router.decide(requests_of("undo it please"))["reason"].item() == "malformed"
    assert len(asked) == 1


def test_what_cannot_be_recorded_stops_everything(router_of, requests_of):
    asked = []

    def answer(request):
        asked.append(request)
        raise UsageError("the disk is full")

    router = router_of(transport=httpx.MockTransport(answer), concurrency=1)
    with pytest.raises(UsageError, match="disk is full"):
        router.decide(requests_of(*["undo it please"] * 20))
    assert len(asked) < 5
