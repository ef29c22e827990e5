"""Under the router that is in production: what is recorded is what is replayed."""

from __future__ import annotations

import errno
import json
import os

import httpx
import polars as pl
import pytest

from skillful_eval.recording.document import read_recording
from skillful_eval.recording.journal import finish
from skillful_eval.recording.lines import journal_of
from skillful_eval.recording.transport import RecordingTransport, ReplayTransport
from skillful_eval.router.http import HttpRouter
from skillful_eval.router.prompts import WITHHELD
from skillful_eval.router.protocol import REPLAYED, shortlist_schema
from skillshift.frame import append
from skillshift.frame.errors import InputError

IDS = ["a:plan", "a:db", "b:undo"]
KEY = "an-odd-key-that-looks-like-words"


class Retriever:
    """Offers everybody the same."""

    batch = None
    settings = {}  # noqa: RUF012 - a protocol's property

    def __init__(self, corpus, ids):
        self.schema, self.ids = shortlist_schema(corpus), ids

    def shortlist(self, prompts):
        row = {"shortlist": self.ids, "scores": [1.0] * len(self.ids)}
        return pl.DataFrame([row] * len(prompts), schema=self.schema)


def say(request):
    """An endpoint that gives its key away, and is sure of one thing the first time only."""
    about = request.extensions["skillful_eval"]
    offered = [candidate["id"] for candidate in json.loads(request.read())["state"]["candidates"]]
    sure = 0.9 if about["repeat"] == 0 else 0.3
    probabilities = {offered[0]: sure, "none": 0.2, KEY: 0.01}
    answers = {
        "primary": {"type": "choice", "choice": offered[0], "probabilities": probabilities},
        **{f"c{place}": {"type": "noul", "noul": place / 4} for place in range(len(offered))},
    }
    usage = {"input_tokens": 5, "output_tokens": 1}
    return httpx.Response(200, json={"model": f"m ({KEY})", "answers": answers, "usage": usage})


@pytest.fixture
def router(corpus):
    def make(transport, ids=IDS, **options):
        url = "http://127.0.0.1:9/"
        return HttpRouter(corpus, Retriever(corpus, ids), url, transport=transport, key=KEY, **options)

    return make


@pytest.fixture
def decide(router):
    """Decide about prompts, twice each."""

    def run(transport, prompts=("undo it", "mail jane@example.org"), **options):
        made = router(transport, **options)
        asked = pl.DataFrame({"fixture_id": [f"f{n}" for n in range(len(prompts))], "prompt": prompts})
        asked = pl.concat([asked, made.shortlist(asked["prompt"])], how="horizontal")
        repeats = pl.DataFrame({"repeat": [0, 1]}, schema={"repeat": pl.Int64})
        return made.decide(asked.join(repeats, how="cross"))

    return run


def test_a_replay_decides_as_the_live_run_did(decide, path, endpoint):
    live = decide(RecordingTransport(endpoint(say), path, secrets=[KEY]))
    assert set(live["decision"]) == {"injected"}
    assert live["nouls"].to_list() == [[0.0, 0.25, 0.5]] * 4
    assert live["latency_ms"].null_count() == 0
    assert live["response_index"].to_list() == [0, 1, 0, 1]
    finish(path)
    assert KEY not in path.read_text(encoding="utf-8")
    transport = ReplayTransport(read_recording(path))
    again = decide(transport)
    assert again["latency_ms"].null_count() == 4
    assert set(again["latency_reason"]) == {REPLAYED}
    timed = ["latency_ms", "latency_reason"]
    assert again.drop(timed).equals(live.drop(timed))
    assert transport.unrecorded == 0


def test_answers_by_position_need_the_same_shortlist_in_the_same_order(decide, path, endpoint):
    decide(RecordingTransport(endpoint(say), path))
    finish(path)
    transport = ReplayTransport(read_recording(path))
    assert decide(transport, ids=IDS)["nouls"].null_count() == 0
    for ids in (IDS[::-1], IDS[:2]):
        again = decide(transport, ids=ids)
        assert again["nouls"].null_count() == 4
        assert set(again["chosen"]) == {IDS[0]}, "the choice is by id, and stays"


def test_what_was_not_recorded_degrades_with_its_cause(decide, path, endpoint):
    decide(RecordingTransport(endpoint(say), path), prompts=("undo it",))
    finish(path)
    transport = ReplayTransport(read_recording(path))
    again = decide(transport, prompts=("undo it", "never asked"))
    assert again["decision"].to_list() == ["injected", "injected", "degraded", "degraded"]
    assert again["reason"].to_list() == [None, None, "unrecorded", "unrecorded"]
    assert transport.missing == (("f1", 0), ("f1", 1))


def test_withheld_prompts_are_recorded_and_replayed_by_fixture(decide, path, endpoint):
    live = decide(RecordingTransport(endpoint(say), path), upload_prompts=False)
    finish(path)
    assert {entry.task for entry in read_recording(path).entries.values()} == {WITHHELD}
    again = decide(ReplayTransport(read_recording(path)), upload_prompts=False)
    assert again["chosen"].equals(live["chosen"])


def test_a_write_that_fails_is_no_degraded_run(decide, path, endpoint, monkeypatch):
    live = endpoint(say)
    transport = RecordingTransport(live, path)
    decide(transport, prompts=("undo it",))
    before = journal_of(path).read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(append.os, "write", full)
    with pytest.raises(InputError, match="No space left"):
        decide(transport, prompts=["undo it", *(f"task {n}" for n in range(20))], concurrency=2)
    assert len(live.tasks) <= 2 + 2, "what was on its way, and nothing more"
    assert journal_of(path).read_bytes() == before


def test_a_resumed_run_decides_the_same_without_asking(decide, path, endpoint):
    first = decide(RecordingTransport(endpoint(say), path))
    live = endpoint(say)
    again = decide(RecordingTransport(live, path))
    assert live.tasks == []
    assert again["decision"].equals(first["decision"])
    assert set(again["latency_reason"]) == {REPLAYED}
    assert again["response_index"].to_list() == [0, 1, 0, 1]
    assert again["nouls"].equals(first["nouls"])
