"""The bodies of answers: what they become, and what is refused with a short reason."""

from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.router.answers import ANSWERS, REPLIES, MalformedError, parse, position, questions
from skillful_eval.schema import TOKEN_LIMIT

SHORTLIST = ["x:a", "x:b"]


def body(*, primary=None, useful=None, **top):
    said = {"choice": "x:a", "probabilities": {"x:a": 0.7, "none": 0.1, "elsewhere": 0.2}, **(primary or {})}
    return json.dumps({"answers": {"primary": said, **(useful or {})}, **top}).encode()


def test_a_whole_answer():
    document = {
        "model": "m",
        "answers": {
            "primary": {
                "type": "choice",
                "choice": "x:b",
                "confidence": 1,
                "probabilities": {"x:b": 1, "none": 0},
                "more": [],
            },
            "c0": {"type": "noul", "noul": 0.5},
            "c1": {"type": "noul", "noul": 0},
            "c2": "beyond the shortlist",
        },
        "usage": {"input_tokens": 3, "output_tokens": TOKEN_LIMIT, "cached_tokens": "?"},
        "id": 5,
    }
    expected = {
        "choice": "x:b",
        "none_p": 0.0,
        "winner_p": 1.0,
        "tokens_in": 3,
        "tokens_out": TOKEN_LIMIT,
        "model": "m",
        "nouls": [0.5, 0.0],
    }
    parsed = parse(json.dumps(document).encode(), SHORTLIST)
    assert parsed == expected
    assert pl.DataFrame([parsed], schema=REPLIES).height == 1
    assert list(REPLIES)[: len(ANSWERS)] == list(ANSWERS)


def test_what_may_be_left_out():
    expected = {"choice": "x:a", "none_p": 0.1, "winner_p": 0.7, "nouls": [None, None]}
    assert parse(body(), SHORTLIST) == expected
    assert (
        parse(
            b"\xef\xbb\xbf" + body(usage=None, model=None, useful={"c0": None, "c1": {"noul": None}}),
            SHORTLIST,
        )
        == expected
    )


def test_none_is_its_own_winner():
    parsed = parse(body(primary={"choice": "none"}), SHORTLIST)
    assert parsed["none_p"] == parsed["winner_p"] == 0.1


def test_the_double_nearest_to_the_text_is_kept():
    text = body().replace(b"0.1", b"0.47000000000000003")
    assert parse(text, SHORTLIST)["none_p"].hex() == float("0.47000000000000003").hex()


@pytest.mark.parametrize(
    ("candidates", "known"), [(SHORTLIST, True), (SHORTLIST[::-1], False), ([], False), (None, False)]
)
def test_positions_of_a_recording(candidates, known):
    text = body(useful={"c0": {"noul": 0.5}}, candidates=candidates)
    assert ("nouls" in parse(text, SHORTLIST, recorded=True)) == known
    assert parse(text, SHORTLIST)["nouls"] == [0.5, None]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON: Expecting value"),
        (b"<html>", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"null", "found null, expected a JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "digits"),
        (b'{"a": {"b": 1, "b": 2}}', 'the key "b" stands twice'),
        (b'{"a": NaN}', "found NaN"),
        (b'{"a": -Infinity}', "found -Infinity"),
        (b"{}", "answers: missing"),
        (b'{"answers": []}', "answers: Input should be an object"),
        (b'{"answers": {}}', "answers.primary: missing"),
        (body(primary={"choice": None}), "answers.primary.choice"),
        (body(primary={"choice": "\ud800"}), "half of a surrogate pair"),
        (body(primary={"type": "noul"}), "answers.primary.type"),
        (body(primary={"confidence": 1.01}), "answers.primary.confidence"),
        (body(primary={"probabilities": None}), "answers.primary.probabilities"),
        (body(primary={"probabilities": {"x:a": 1}}), 'nothing for "none"'),
        (body(primary={"probabilities": {"none": 1}}), 'nothing for "x:a"'),
        (body(primary={"probabilities": {"x:a": 1, "none": True}}), "answers.primary.probabilities.none"),
        (body(primary={"probabilities": {"x:a": 1, "none": 0, "x:c": -1}}), 'probabilities."x:c"'),
        (body().replace(b"0.7", b"1e999"), "finite"),
        (body(useful={"c1": {"noul": 2}}), "answers.c1.noul"),
        (body(useful={"c0": 0.5}), "answers.c0: Input should be an object"),
        (body(usage={"input_tokens": -1}), "usage.input_tokens"),
        (body(usage={"output_tokens": TOKEN_LIMIT + 1}), "usage.output_tokens"),
        (body(usage={"output_tokens": 1.0}), "usage.output_tokens"),
        (body(model=3), "model"),
    ],
)
def test_what_is_malformed_and_why(content, reason):
    with pytest.raises(MalformedError) as caught:
        parse(content, SHORTLIST)
    message = str(caught.value)
    assert reason in message
    assert len(message) < 250
    message.encode()


def test_what_is_asked():
    asked = questions(SHORTLIST)
    assert asked["primary"]["options"] == [*SHORTLIST, "none"]
    assert [asked[position(place)]["candidate"] for place in range(2)] == SHORTLIST
    assert {name: question["type"] for name, question in asked.items()} == {
        "primary": "choice",
        "c0": "noul",
        "c1": "noul",
    }
