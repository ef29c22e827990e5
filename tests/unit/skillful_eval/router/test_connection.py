"""Connections keep their deadline in every phase, and find the environment's proxy."""

from __future__ import annotations

import socket
import threading
import time

import httpx
import pytest

from skillful_eval.router.connection import DEADLINE, BodyError, Deadline, DeadlineTransport
from skillshift.frame.errors import UsageError


@pytest.fixture
def silent():
    """A socket that accepts and says nothing."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def ask(url, seconds, called_off=None):
    deadline = Deadline(time.monotonic() + seconds, called_off or threading.Event())
    request = httpx.Request("POST", url, content=b"{}", extensions={DEADLINE: deadline})
    with DeadlineTransport(url, connections=1) as transport:
        return transport.handle_request(request).read()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_silent_peer(silent, scheme):
    began = time.monotonic()
    with pytest.raises(httpx.TimeoutException):
        ask(f"{scheme}://127.0.0.1:{silent}/", 0.1)
    assert time.monotonic() - began < 2


def test_a_deadline_that_is_past_or_called_off(silent):
    with pytest.raises(httpx.TimeoutException, match="time was up"):
        ask(f"http://127.0.0.1:{silent}/", 0)
    called_off = threading.Event()
    called_off.set()
    with pytest.raises(httpx.TimeoutException, match="time was up"):
        ask(f"http://127.0.0.1:{silent}/", 60, called_off)


def test_calling_off_ends_a_read(silent):
    called_off = threading.Event()
    timer = threading.Timer(0.05, called_off.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(httpx.TimeoutException):
        ask(f"http://127.0.0.1:{silent}/", 60, called_off)
    timer.join()
    assert time.monotonic() - began < 2


def test_a_peer_that_speaks_no_tls(server):
    with pytest.raises(httpx.ConnectError):
        ask(server.url.replace("http:", "https:"), 2)


def test_a_host_that_no_resolver_takes():
    with pytest.raises(httpx.ConnectError):
        ask(f"http://{'a' * 70}/", 2)


def test_a_body_that_is_cut_is_told_from_a_connection_that_fails(server):
    def cuts(handler, _):
        handler.send(b"{", length=10)
        handler.drop()

    server.answers(cuts)
    with pytest.raises(BodyError):
        ask(server.url, 2)
    server.answers(lambda handler, _: handler.drop())
    with pytest.raises(httpx.RemoteProtocolError) as caught:
        ask(server.url, 2)
    assert not isinstance(caught.value, BodyError)


def test_a_body_without_end(server):
    def flows(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not handler.wait(0):
            handler.wfile.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

    server.answers(flows)
    with pytest.raises(BodyError, match="longer than"):
        ask(server.url, 10)


def test_a_body_a_byte_at_a_time(server):
    def drips(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        while not handler.wait(0.05):
            handler.wfile.write(b" ")

    server.answers(drips)
    with pytest.raises(httpx.ReadTimeout):
        ask(server.url, 0.2)


def test_an_ordinary_client_can_use_it_and_keeps_its_connection(server):
    server.says({"fine": True})
    transport = DeadlineTransport(server.url, connections=2)
    with httpx.Client(transport=transport, timeout=2) as client:
        assert [client.post(server.url, json={}).json() for _ in range(2)] == [{"fine": True}] * 2
        assert len(transport._pool.connections) == 1


@pytest.fixture
def _proxied(monkeypatch, server):
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", server.url)


@pytest.mark.usefixtures("_proxied")
def test_the_proxy_of_the_environment(server):
    server.says({"by": "proxy"})
    assert ask("http://endpoint.invalid/", 2) == b'{"by": "proxy"}'
    assert server.seen[0][0]["Host"] == "endpoint.invalid"


@pytest.mark.usefixtures("_proxied")
def test_this_machine_needs_no_proxy(server, silent):
    with pytest.raises(httpx.TimeoutException):
        ask(f"http://127.0.0.1:{silent}/", 0.05)
    assert not server.seen


@pytest.mark.usefixtures("_proxied")
@pytest.mark.parametrize("proxy", ["socks5://localhost:1", "ftp://localhost", "http://localhost:port"])
def test_a_proxy_of_another_kind_is_refused(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(UsageError, match="proxy"):
        DeadlineTransport("http://endpoint.invalid/", connections=1)
