"""All answers of a recording at once, against the router over a replay."""

from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.recording.document import Entry, Recording
from skillful_eval.recording.replies import recorded_replies
from skillful_eval.recording.transport import ReplayTransport
from skillful_eval.router.http import HttpRouter
from skillful_eval.router.prompts import WITHHELD, sent


def response(choice, none=0.1, **other):
    chances = {choice: 0.5} | ({} if none is None else {"none": none})
    return {"answers": {"primary": {"choice": choice, "probabilities": chances}}, **other}


SHARED = response("a:db", usage={"input_tokens": 7, "output_tokens": None}, model="m-1")
ENTRIES = {
    "plain": Entry("plain", {0: SHARED, 1: response("none"), 3: SHARED}),
    "twin": Entry("plain", {0: response("a:plan")}),
    "odd": Entry("odd", {0: response("jane.doe@example.org"), 1: response("a:db", none=None)}),
    "high": Entry("high", {0: response("a:db", none=7), 1: response("x", usage={"input_tokens": -1})}),
    "typed": Entry("typed", {0: {"answers": []}, 1: {}, 2: response("a:db", candidates=["a:db"])}),
    "useful": Entry("useful", {0: {"answers": response("a:db")["answers"] | {"c0": {"noul": 5}}}}),
    "cut": Entry("cu", {0: response("a:undo")}),
    "hidden": Entry(WITHHELD, {0: response("a:undo")}),
    "masked": Entry("mail [redacted] now", {0: response("a:plan")}),
}
PROMPTS = {name: name for name in ENTRIES} | {
    "twin": "plain",
    "stranger": "plain",
    "masked": "mail jane.doe@example.org now",
    "nobody " * 60: "nothing recorded",
}


@pytest.mark.parametrize("how", [{}, {"max_chars": 2}, {"upload": False}])
def test_each_column_is_that_of_the_router_over_a_replay(corpus, how):
    recording = Recording(ENTRIES, "recording.json")
    rows = [(name, text, repeat) for name, text in PROMPTS.items() for repeat in range(5)]
    requests = pl.DataFrame(rows, schema=["fixture_id", "prompt", "repeat"], orient="row")
    retriever = type("Nothing", (), {"settings": {}})()
    router = HttpRouter(
        corpus,
        retriever,
        "http://replay.invalid/",
        transport=ReplayTransport(recording),
        max_prompt_chars=how.get("max_chars"),
        upload_prompts=how.get("upload", True),
    )
    expected = router.ask(requests.with_columns(shortlist=pl.lit([], dtype=pl.List(pl.String))))
    found = recorded_replies(recording, requests, sent(requests["prompt"], **how))
    assert found.columns == [name for name in expected.columns if name != "nouls"]
    for name in found.columns:
        assert found[name].to_list() == expected[name].to_list(), name
    assert found["cause"].null_count() < found.height
    if not how:
        assert set(found["cause"]) == {None, "unrecorded", "malformed"}


def test_no_requests():
    requests = pl.DataFrame(schema={"fixture_id": pl.String, "repeat": pl.Int64})
    found = recorded_replies(Recording(ENTRIES, "r"), requests, pl.Series(dtype=pl.String))
    assert found.height == 0
