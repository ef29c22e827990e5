"""Connections that keep a deadline to the end of an answer, however slowly its bytes come.

A read timeout of httpx bounds each read, so a server that sends a byte a second is never late. Here every
wait of an attempt ends when the attempt must, and soon after it is called off; but for the look-up of a
host's name, which the operating system bounds.
"""

from __future__ import annotations

import time
import urllib.request
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn

import httpcore
import httpx

from skillful_eval.router.bodies import LONGER, MAX_BYTES, BodyError, plain
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    import ssl
    import threading
    from collections.abc import Iterable, Iterator

__all__ = ["DEADLINE", "MAX_BYTES", "BodyError", "Deadline", "DeadlineTransport"]

DEADLINE = "skillful_eval.deadline"
"""The extension of a request that holds its :class:`Deadline`."""

_GLANCE = 0.1
"""A read looks this often, in seconds, whether it was called off."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Deadline:
    """When an attempt must be over.

    Args:
        at: The time of ``time.monotonic()``.
        called_off: Set where it is not wanted any more.
    """

    def __init__(self, at: float, called_off: threading.Event) -> None:
        self._at = at
        self._called_off = called_off

    def left(self) -> float:
        """How many seconds are left; 0 where none are, or it was called off."""
        return 0.0 if self._called_off.is_set() else max(0.0, self._at - time.monotonic())


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
"""The deadline of the request that this thread is at: connections outlive requests and change threads."""


class DeadlineTransport(httpx.BaseTransport):
    """An httpx transport whose requests keep the :class:`Deadline` among their extensions.

    Args:
        url: Where the requests go; it tells whether TLS and the environment's proxy are needed.
        connections: How many are open at most.

    Raises:
        UsageError: The environment names a proxy that is not spoken to over HTTP.
    """

    def __init__(self, url: str, *, connections: int) -> None:
        proxy = _proxy(httpx.URL(url))
        secure = "https" in (httpx.URL(url).scheme, proxy and proxy.url.scheme)
        context: ssl.SSLContext | None = httpx.create_ssl_context() if secure else None
        self._pool: httpcore.ConnectionPool
        if proxy is None:
            self._pool = httpcore.ConnectionPool(
                ssl_context=context, max_connections=connections, network_backend=_Backend()
            )
        else:
            self._pool = httpcore.HTTPProxy(
                proxy_url=_core_url(proxy.url),
                proxy_auth=proxy.raw_auth,
                ssl_context=context,
                max_connections=connections,
                network_backend=_Backend(),
            )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; its answer's body is read under the same deadline, and is :func:`plain`.

        No content encoding is asked for where the request's headers name none.

        Raises:
            httpx.TransportError: It failed, or the deadline passed; a :class:`BodyError` where that is the
                body's fault.
        """
        deadline = request.extensions.get(DEADLINE)
        if not isinstance(request.stream, httpx.SyncByteStream):
            raise UsageError("a synchronous transport was given an asynchronous request")
        headers = request.headers.raw
        if "accept-encoding" not in request.headers:
            headers = [*headers, (b"Accept-Encoding", b"identity")]
        core = httpcore.Request(
            method=request.method,
            url=_core_url(request.url),
            headers=headers,
            content=request.stream,
            extensions={name: value for name, value in request.extensions.items() if name == "timeout"},
        )
        with _until(deadline), _as_httpx():
            answer = self._pool.handle_request(core)
        return plain(
            httpx.Response(
                answer.status,
                headers=answer.headers,
                stream=_Body(answer, deadline),
                extensions=answer.extensions,
            )
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response, deadline: Deadline | None) -> None:
        self._answer = answer
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        parts = self._answer.iter_stream()
        total = 0
        while True:
            try:
                # Not around the yield: whoever reads must not run under this deadline.
                with _until(self._deadline), _as_httpx():
                    part = next(parts, None)
            except httpx.RemoteProtocolError as error:
                raise BodyError(str(error)) from error
            if part is None:
                return
            total += len(part)
            if total > MAX_BYTES:
                raise BodyError(LONGER)
            yield part

    def close(self) -> None:
        self._answer.close()


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        try:
            return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))
        except UnicodeError as error:  # what the resolver says of a label that is too long, say
            raise httpcore.ConnectError(str(error)) from error


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = None if until is None else max(0.0, until - time.monotonic())
            left = _left(rest, httpcore.ReadTimeout)
            try:
                return self._stream.read(max_bytes, _GLANCE if left is None else min(left, _GLANCE))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, late: type[httpcore.TimeoutException]) -> float | None:
    """How long a wait may take: what its own timeout and the deadline leave of it."""
    deadline = _CURRENT.get()
    limits = (timeout, None if deadline is None else deadline.left())
    left = min((limit for limit in limits if limit is not None), default=None)
    if left is not None and left <= 0:
        raise late("the time was up")
    return left


@contextmanager
def _until(deadline: Deadline | None) -> Iterator[None]:
    token = _CURRENT.set(deadline)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def _as_httpx() -> Iterator[None]:
    """The errors of httpcore as those of httpx, which have the same names."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
    ) as error:
        _raise_as_httpx(error)


def _raise_as_httpx(error: Exception) -> NoReturn:
    for kind in type(error).__mro__:
        same = getattr(httpx, kind.__name__, None)
        if isinstance(same, type) and issubclass(same, httpx.TransportError):
            raise same(str(error)) from error
    raise httpx.TransportError(str(error)) from error


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _proxy(url: httpx.URL) -> httpx.Proxy | None:
    """The proxy that the environment names for an address; never one for this machine itself."""
    proxies = urllib.request.getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or url.host in _LOOPBACK or urllib.request.proxy_bypass(url.host):
        return None
    with suppress(ValueError, httpx.InvalidURL):
        proxy = httpx.Proxy(found if "://" in found else f"http://{found}")
        if proxy.url.scheme in {"http", "https"}:
            return proxy
    raise UsageError(f"the environment's proxy for {url.scheme} is not one that is spoken to over HTTP")
