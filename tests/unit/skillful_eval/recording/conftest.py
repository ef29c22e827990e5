"""Requests as the router makes them, responses as endpoints give them, without any network."""

from __future__ import annotations

import json
import threading

import pytest

httpx = pytest.importorskip("httpx")

IDS = ("a:skill:x:undo", "a:agent:x:plan")


def answered(choice=IDS[0], *, none=0.1, **more):
    """What an endpoint answers."""
    probabilities = {choice: 0.9, "none": none} if choice != "none" else {"none": none}
    return {
        "model": "model-1",
        "answers": {
            "primary": {
                "type": "choice",
                "choice": choice,
                "confidence": 0.8,
                "probabilities": probabilities,
            },
            "c0": {"type": "noul", "noul": 0.5},
        },
        "usage": {"input_tokens": 12, "output_tokens": 3},
        **more,
    }


def asking(task, fixture="f", repeat=0, ids=IDS, **more):
    """A request."""
    body = {"state": {"task": task, "candidates": [{"id": name, "name": name} for name in ids]}, **more}
    about = {"fixture": fixture, "repeat": repeat}
    return httpx.Request("POST", "http://127.0.0.1:9/", json=body, extensions={"skillful_eval": about})


class Endpoint(httpx.BaseTransport):
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self, answer=None):
        self.answer = answer or (lambda _request: httpx.Response(200, json=answered()))
        self.tasks = []
        self.closed = False
        self.lock = threading.Lock()

    def handle_request(self, request):
        with self.lock:
            self.tasks.append(json.loads(request.read())["state"]["task"])
        return self.answer(request)

    def close(self):
        self.closed = True


@pytest.fixture
def ids():
    return IDS


@pytest.fixture
def answer():
    return answered


@pytest.fixture
def ask():
    return asking


@pytest.fixture
def endpoint():
    return Endpoint


@pytest.fixture
def saying():
    """An endpoint that always answers this JSON value."""
    return lambda value: Endpoint(lambda _request: httpx.Response(200, json=value))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recording.json"


@pytest.fixture
def lines_of():
    def read(path):
        journal = path.with_name(path.name + ".journal.jsonl")
        return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]

    return read
