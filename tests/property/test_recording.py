"""Recordings: nothing private in their bytes, the same bytes in any order, and every request is answered."""

from __future__ import annotations

import base64
import json
import random
import re
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

httpx = pytest.importorskip("httpx")

from skillful_eval.recording.document import read_recording  # noqa: E402 - they need httpx
from skillful_eval.recording.journal import finish  # noqa: E402
from skillful_eval.recording.lines import journal_of  # noqa: E402
from skillful_eval.recording.transport import RecordingTransport, ReplayTransport  # noqa: E402
from skillful_eval.sanitise.private import Private  # noqa: E402

# A canary is told from everything else that is written; what holds it is private by its form.
canaries = st.text("qxzvkjw", min_size=7, max_size=10).map(lambda text: f"q{text}")

SHAPES = (
    "https://{c}.example.com/a?b=c#d",
    "http://example.com/docs/{c}/index.html",
    "postgres://admin:{c}@db.example.com:5432/main",
    "{c}@example.com",
    "/home/{c}/notes.md",
    "~/{c}/x",
    "C:\\Users\\{c}\\AppData\\x",
    "api_key={c}",
    "Authorization: Bearer {c}-0a1",
    "the password is {c}17",
    '"client_secret": "{c}"',
    "ghp_{c}0123456789",
)
shaped = st.builds(lambda shape, canary: shape.format(c=canary), st.sampled_from(SHAPES), canaries)

KEY_FORMS = (
    lambda key: key,
    lambda key: f"model-{key}",
    lambda key: f"x{key}y",
    lambda key: f"Bearer {key}",
    str.upper,
    lambda key: quote(f"/{key}/", safe=""),
    lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    lambda key: key.encode().hex(),
)
# As nobody's issuer marks it: found because it is known, not by its look.
apikeys = st.builds("{}-{}_{}".format, canaries, st.integers(10, 99), canaries)

OFFERED = ("claude:skill:global:undo", "claude:mcp:www.tools.example.com:search", "omp:rule:global:none")


def texts(key):
    """Text with something private in it."""
    echoed = st.sampled_from(KEY_FORMS).map(lambda form: form(key))
    return st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "see ", "x: "]),
        shaped | echoed,
        st.sampled_from(["", " now", "."]),
    )


@st.composite
def exchanges(draw):
    """A key, and requests with what is answered: text everywhere that text can be, private everywhere."""
    key = draw(apikeys)
    told = texts(key) | st.sampled_from(["none", *OFFERED, "plain text"])
    made = []
    for number in range(draw(st.integers(1, 4))):
        probabilities = draw(st.dictionaries(told, st.floats(0, 1), max_size=4)) | {
            OFFERED[0]: 0.5,
            "none": 0,
        }
        answers = {
            "primary": {
                "type": draw(told),
                "choice": draw(told),
                "confidence": 0.5,
                "probabilities": probabilities,
                draw(told): draw(told),
            },
            "c0": {"type": draw(told), "noul": 0.25, draw(told): draw(told)},
            f"x{draw(told)}": {"noul": draw(told)},
        }
        if draw(st.booleans()):
            answers["c1"] = {"noul": draw(told)}  # no number: the answer is not as documented
        answer = {
            "model": draw(told),
            "answers": answers,
            "usage": {"input_tokens": 3, draw(told): draw(told)},
        }
        answer[draw(told)] = draw(told)
        made.append(
            (
                draw(told),
                draw(st.sampled_from([f"f{number}", f"f{number} {key}", f"f{number}@example.org"])),
                answer,
            )
        )
    return key, made


def asking(task, fixture, repeat=0):
    body = {"state": {"task": task, "candidates": [{"id": name, "description": "d"} for name in OFFERED]}}
    about = {"skillful_eval": {"fixture": fixture, "repeat": repeat}}
    return httpx.Request("POST", "http://127.0.0.1:9/", json=body, extensions=about)


def strings(value):
    """All texts of a JSON value, the names of fields too."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def search(content, key, planted):
    """What of the planted is in written bytes."""
    low = content.casefold()
    encoded = [key, base64.b64encode(f"user:{key}".encode()).decode()[8:20], key.encode().hex(), *planted]
    return [text for text in encoded if text.casefold() in low]


@given(exchanges())
def test_nothing_planted_is_in_the_bytes_and_every_request_finds_its_response(exchange):
    key, made = exchange
    planted = set(re.findall("q[qxzvkjw]{7,10}", json.dumps([key, made]), re.IGNORECASE))
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "recording.json"
        by_fixture = {fixture: answer for _, fixture, answer in made}

        class Live(httpx.BaseTransport):
            def handle_request(self, request):
                return httpx.Response(200, json=by_fixture[request.extensions["skillful_eval"]["fixture"]])

        transport = RecordingTransport(Live(), path, secrets=[key])
        recorded = [
            (task, fixture)
            for task, fixture, _ in made
            if "response_index" in transport.handle_request(asking(task, fixture)).extensions
        ]
        journal = journal_of(path).read_text(encoding="utf-8")
        assert transport.recorded == len(recorded)
        assert search(journal, key, planted) == []
        for line in journal.splitlines():
            assert json.loads(line)["candidates"] == list(OFFERED)
            for text in strings(json.loads(line)):
                assert text in OFFERED or Private().find(text) == []
        assert finish(path) == len(recorded)
        if not recorded:
            assert not path.exists()
            return
        document = path.read_text(encoding="utf-8")
        assert search(document, key, planted) == []
        for text in strings(json.loads(document)):
            assert text in OFFERED or Private().find(text) == []
        replay = ReplayTransport(read_recording(path))
        for task, fixture in recorded:
            replayed = replay.handle_request(asking(task, fixture)).json()
            probabilities = replayed["answers"]["primary"]["probabilities"]
            given_ones = by_fixture[fixture]["answers"]["primary"]["probabilities"]
            assert {name: given_ones[name] for name in (*OFFERED, "none") if name in given_ones} == {
                name: probabilities[name] for name in (*OFFERED, "none") if name in probabilities
            }
        assert replay.unrecorded == 0


@given(
    tasks=st.lists(
        st.sampled_from(["undo", "see https://a.example.org", "see https://b.example.org", "plan"]),
        min_size=1,
        max_size=12,
    ),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 99),
    cut=st.integers(0, 36),
)
def test_any_order_any_concurrency_and_any_interruption_give_the_same_bytes(tasks, repeats, seed, cut):
    wanted = [(task, f"f{number}", repeat) for number, task in enumerate(tasks) for repeat in range(repeats)]
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    waits = {key[1:]: chance.random() / 500 for key in wanted}

    class Live(httpx.BaseTransport):
        def __init__(self, waits):
            self.waits, self.asked, self.lock = waits, [], threading.Lock()

        def handle_request(self, request):
            about = request.extensions["skillful_eval"]
            key = about["fixture"], about["repeat"]
            with self.lock:
                self.asked.append(key)
            time.sleep(self.waits.get(key, 0))
            probabilities = {OFFERED[0]: len(self.asked) * 0 + about["repeat"] / 8, "none": 0.125}
            answers = {"primary": {"choice": OFFERED[0], "probabilities": probabilities}}
            return httpx.Response(200, json={"model": str(key), "answers": answers})

    with tempfile.TemporaryDirectory() as home:
        one, other = Path(home) / "one.json", Path(home) / "other.json"
        sequential = RecordingTransport(Live({}), one)
        for key in wanted:
            sequential.handle_request(asking(*key))
        shuffled = chance.sample(wanted, len(wanted))
        asked = []
        for part in (shuffled[:cut], shuffled):
            live = Live(waits)
            transport = RecordingTransport(live, other)
            with ThreadPoolExecutor(8) as pool:
                responses = list(pool.map(lambda key, use=transport: use.handle_request(asking(*key)), part))
            assert [response.extensions["response_index"] for response in responses] == [
                key[2] for key in part
            ]
            asked += live.asked
            transport.close()
        assert sorted(asked) == sorted(key[1:] for key in wanted), "each is asked for once"
        assert finish(one) == finish(other) == len(wanted)
        assert one.read_bytes() == other.read_bytes()


@given(
    recorded=st.dictionaries(
        st.sampled_from("abc"),
        st.tuples(st.sampled_from(["x", "y", "[redacted]"]), st.sets(st.integers(0, 4), min_size=1)),
        min_size=1,
    ),
    task=st.sampled_from(["x", "y", "z", "[redacted]"]),
    fixture=st.sampled_from("abcd"),
    repeat=st.integers(0, 6),
)
def test_a_lookup_is_what_its_definition_says(recorded, task, fixture, repeat):
    """Against the definition, spelled out."""
    from skillful_eval.recording.document import Entry, Recording

    entries = {
        name: Entry(text, {n: {"model": f"{name}{n}"} for n in sorted(repeats)})
        for name, (text, repeats) in sorted(recorded.items())
    }
    found = Recording(entries, "r.json").lookup(task, fixture, repeat)
    own = recorded.get(fixture)
    if own and own[0] in (task, "[redacted]"):
        names = [fixture]
    elif task == "[redacted]":
        names = []
    else:
        names = [name for name, (text, _) in recorded.items() if text == task]
    if not names:
        assert found is None
        return
    name = min(names, key=lambda name: (-len(recorded[name][1]), name))
    repeats = sorted(recorded[name][1])
    index = repeat if repeat in repeats else repeats[repeat % len(repeats)]
    assert found == ({"model": f"{name}{index}"}, index)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_content_of_a_file_breaks_the_reader(content):
    from skillshift.frame.errors import InputError

    with tempfile.TemporaryDirectory() as home:
        for path in (Path(home) / "r.json", Path(home) / "s.json.journal.jsonl"):
            path.write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(InputError):
                    read_recording(path)
