"""A real HTTP server on this machine that answers, delays, drops, truncates, refuses."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

from skillful_eval.router.http import HttpRouter
from skillful_eval.router.protocol import shortlist_schema

SHORTLIST = ["a:undo", "a:plan", "a:db"]


def good(**primary):
    """An answer as an endpoint should give it."""
    answer = {"choice": "a:plan", "probabilities": {"a:plan": 0.9, "none": 0.05}, **primary}
    useful = {f"c{place}": {"noul": place / 10} for place in range(len(SHORTLIST))}
    return {
        "model": "m-1",
        "answers": {"primary": answer, **useful},
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 3

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        server = self.server.owner
        with server.lock:
            number = len(server.seen)
            server.seen.append((dict(self.headers.items()), json.loads(body)))
            server.now += 1
            server.most = max(server.most, server.now)
        try:
            server.behaviour(self, number, json.loads(body))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with server.lock:
                server.now -= 1

    def send(self, content, status=200, headers=(), length=None):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def wait(self, seconds):
        """Wait, but not longer than the test lasts."""
        return self.server.owner.over.wait(seconds)

    def drop(self):
        """Hang up."""
        self.close_connection = True

    def log_message(self, *_):
        """Say nothing."""


class Server:
    """What the endpoint does: ``behaviour(handler, number of the request, its body)``."""

    shortlist = SHORTLIST
    good = staticmethod(good)

    def __init__(self):
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.seen = []
        self.now = self.most = 0
        self.behaviour = lambda handler, *_: handler.send(good())
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.http.daemon_threads = False  # so that closing waits for them
        self.http.owner = self
        self.url = f"http://127.0.0.1:{self.http.server_port}/route"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def answers(self, *steps):
        """Do one step a request; the last one again and again."""
        self.behaviour = lambda handler, number, body: steps[min(number, len(steps) - 1)](handler, body)

    def says(self, content, status=200, headers=(), length=None):
        """Answer every request so."""
        self.answers(lambda handler, _: handler.send(content, status, headers, length))

    def close(self):
        self.over.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture(name="good")
def good_answer():
    return good


@pytest.fixture
def server():
    threads = threading.active_count()
    one = Server()
    yield one
    one.close()
    assert threading.active_count() == threads, "a thread is left"


class Retriever:
    """Gives every prompt the same shortlist."""

    batch = None
    settings = {"router": "fixed"}  # noqa: RUF012 - read only

    def __init__(self, corpus):
        self.schema = shortlist_schema(corpus)

    def shortlist(self, prompts):
        scores = [float(place) for place in range(len(SHORTLIST), 0, -1)]
        return pl.DataFrame(
            {"shortlist": [SHORTLIST] * len(prompts), "scores": [scores] * len(prompts)}, schema=self.schema
        )

    def decide(self, requests):
        raise NotImplementedError


@pytest.fixture
def requests_of(corpus):
    def make(*prompts):
        return (
            Retriever(corpus)
            .shortlist(pl.Series(prompts))
            .with_columns(
                fixture_id=pl.Series([f"f{number}" for number in range(len(prompts))]),
                prompt=pl.Series(prompts),
                repeat=pl.lit(0, dtype=pl.Int64),
            )
        )

    return make


@pytest.fixture
def router_of(corpus, server):
    """An impatient router of the server."""

    def make(url=None, **options):
        patience = {"budget_ms": 5_000, "timeout_ms": 2_000, "backoff_ms": 1}
        return HttpRouter(corpus, Retriever(corpus), url or server.url, **{**patience, **options})

    return make
