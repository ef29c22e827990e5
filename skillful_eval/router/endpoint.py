"""One decision of an endpoint: its attempts, its waits, and why it failed where it did."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx

from skillful_eval.router.answers import SHOWN_CHARACTERS, MalformedError, parse
from skillful_eval.router.connection import DEADLINE, MAX_BYTES, BodyError, Deadline
from skillful_eval.router.http import EXTENSION
from skillful_eval.router.protocol import REPLAYED
from skillful_eval.sanitise.keys import Keys
from skillful_eval.sanitise.private import redact
from skillful_eval.schema import NONE
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

RESPONSE_INDEX, IS_REPLAYED = "response_index", "replayed"
"""The extensions of a response that was recorded: which response of its fixture it is, from 0; whether it
comes from a recording instead of the endpoint."""

_MILLISECONDS = 1000.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a decision may take, and how often it is tried.

    Attributes:
        budget_ms: Milliseconds for one decision, with all its attempts and waits.
        timeout_ms: Milliseconds for one attempt.
        retries: How many attempts may follow the first.
        backoff_ms: Milliseconds before the second attempt; doubled before every further one.

    Raises:
        UsageError: One of them is out of its range.
    """

    budget_ms: float = 30_000
    timeout_ms: float = 10_000
    retries: int = 2
    backoff_ms: float = 250

    def __post_init__(self) -> None:
        for name in ("budget_ms", "timeout_ms", "backoff_ms"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value <= _LONGEST_MS:
                raise UsageError(f"{name}: found {shorten(value)}, expected milliseconds, more than 0")
        if type(self.retries) is not int or not 0 <= self.retries <= _MOST_RETRIES:
            raise UsageError(f"retries: found {shorten(self.retries)}, expected 0 to {_MOST_RETRIES}")


_LONGEST_MS = 1e9
_MOST_RETRIES = 20


class _FailedError(Exception):
    """An attempt failed.

    Attributes:
        cause: One of :data:`~skillful_eval.router.protocol.CAUSES`.
        detail: What happened, in one short line.
        again: Whether another attempt may do better.
        after: Seconds that the endpoint asked to wait before it.
    """

    def __init__(self, cause: str, detail: str, *, again: bool = False, after: float = 0.0) -> None:
        super().__init__(detail)
        self.cause = cause
        self.detail = detail
        self.again = again
        self.after = after


class Endpoint:
    """What is asked, over one transport; threads may share it.

    Args:
        url: Its address.
        headers: The headers of every request.
        transport: What sends them; it is not closed here.
        patience: How long, how often.
        called_off: Set where no answer is wanted any more.
        clean: Takes what is secret out of a text.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: dict[str, str],
        transport: httpx.BaseTransport,
        patience: Patience,
        called_off: threading.Event,
        clean: Callable[[str], str],
    ) -> None:
        self._url = url
        self._headers = headers
        self._transport = transport
        self._patience = patience
        self._called_off = called_off
        self._clean = clean

    def ask(self, body: bytes, shortlist: Sequence[str], about: dict[str, Any]) -> dict[str, Any]:
        """Ask until there is an answer, or no time or attempt is left.

        Args:
            body: The request's body.
            shortlist: The ids that it offers, in order.
            about: For a transport that records or replays: ``fixture`` (its id), ``repeat`` (from 0),
                ``cut`` (whether the task is only the beginning of the prompt).

        Returns:
            Those columns of :data:`~skillful_eval.router.answers.REPLIES` that have a value. ``latency_ms``
            is from the start of the first attempt to the answer or to giving up, with all waits.
        """
        began = time.monotonic()
        end = began + self._patience.budget_ms / _MILLISECONDS
        wait = self._patience.backoff_ms / _MILLISECONDS
        attempts = 0
        while True:
            attempts += 1
            deadline = self._deadline(end)
            try:
                row = self._attempt(body, shortlist, deadline, about)
                break
            except _FailedError as failure:
                pause = max(wait * 2 ** (attempts - 1), failure.after)
                more = failure.again and attempts <= self._patience.retries
                spent = time.monotonic() + pause >= end
                if more and not spent and not self._called_off.wait(pause):
                    continue
                row = self._failed(failure, attempts, is_spent=more and spent)
                break
        replayed = row.pop(IS_REPLAYED, False)
        if replayed:
            return row | {"latency_reason": REPLAYED}
        return row | {"latency_ms": (time.monotonic() - began) * _MILLISECONDS}

    def _deadline(self, end: float) -> Deadline:
        timeout = time.monotonic() + self._patience.timeout_ms / _MILLISECONDS
        return Deadline(min(timeout, end), self._called_off)

    def _failed(self, failure: _FailedError, attempts: int, *, is_spent: bool) -> dict[str, Any]:
        detail = self._clean(failure.detail)
        if attempts > 1:
            detail += f"; {attempts} attempts"
        if is_spent:
            detail += f"; no time is left within {self._patience.budget_ms:g} ms"
        row: dict[str, Any] = {"cause": failure.cause, "detail": detail}
        if failure.cause == "unrecorded":
            row[IS_REPLAYED] = True
        return row

    def _attempt(
        self, body: bytes, shortlist: Sequence[str], deadline: Deadline, about: dict[str, Any]
    ) -> dict[str, Any]:
        left = max(deadline.left(), 1 / _MILLISECONDS)
        request = httpx.Request(
            "POST",
            self._url,
            headers=self._headers,
            content=body,
            extensions={
                "timeout": httpx.Timeout(left).as_dict(),
                DEADLINE: deadline,
                EXTENSION: about,
            },
        )
        try:
            response = self._transport.handle_request(request)
        except (httpx.RequestError, httpx.StreamError, OSError) as error:
            raise self._why(error, has_begun=False) from error
        response.request = request
        try:
            _check_status(response)
            content = _content(response, deadline)
        except (httpx.RequestError, httpx.StreamError, OSError) as error:
            raise self._why(error, has_begun=True) from error
        finally:
            response.close()
        return self._row(content, shortlist, response)

    def _row(self, content: bytes, shortlist: Sequence[str], response: httpx.Response) -> dict[str, Any]:
        replayed = response.extensions.get(IS_REPLAYED) is True
        try:
            row = parse(content, shortlist, recorded=replayed)
        except MalformedError as error:
            told = self._told(error, content, shortlist, recorded=replayed)
            row = {"cause": "malformed", "detail": redact(self._clean(told))[:SHOWN_CHARACTERS]}
        if "choice" in row and row["choice"] not in (*shortlist, NONE):
            row["choice"] = redact(self._clean(row["choice"]))
        if "model" in row:
            row["model"] = redact(self._clean(row["model"]))
        if RESPONSE_INDEX in response.extensions:
            row[RESPONSE_INDEX] = response.extensions[RESPONSE_INDEX]
        return row | {IS_REPLAYED: replayed}

    def _told(
        self, error: MalformedError, content: bytes, shortlist: Sequence[str], *, recorded: bool
    ) -> str:
        """What is said of an answer; where it is cut short and may hold half a secret, without any."""
        if "..." in str(error):
            clean = self._clean(content.decode("utf-8", "surrogateescape"))
            try:
                parse(clean.encode("utf-8", "surrogateescape"), shortlist, recorded=recorded)
            except MalformedError as without:
                return str(without)
        return str(error)

    def _why(self, error: Exception, *, has_begun: bool) -> _FailedError:
        """The failure that an exception of the transport is."""
        from skillful_eval.recording.transport import UnrecordedError

        clean = self._clean(str(error))
        if isinstance(error, UnrecordedError):
            said = clean[:SHOWN_CHARACTERS]
            return _FailedError("unrecorded", said or "no response to this request was recorded")
        # An endpoint's own words, such as a status line that is none, may be in it.
        said = redact(clean)[:SHOWN_CHARACTERS]
        told = f"{type(error).__name__}: {said}" if said else type(error).__name__
        match error:
            case httpx.TimeoutException():
                return _FailedError("timeout", f"no whole answer in time ({told})", again=True)
            case BodyError() | httpx.DecodingError():
                return _FailedError("malformed", f"the answer cannot be read: {said}")
            case httpx.RemoteProtocolError() if has_begun:
                return _FailedError("malformed", f"the answer is cut short: {said}")
            case httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | httpx.StreamError():
                return _FailedError("config", told)
        return _FailedError("network", told, again=True)


def _check_status(response: httpx.Response) -> None:
    """Refuse what is no answer.

    Raises:
        _FailedError: The status is not one of success.
    """
    status = response.status_code
    if response.is_success:
        return
    said = f"HTTP {status}"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise _FailedError("auth", f"{said}: the endpoint refused the key, or wants one")
    if status == HTTPStatus.REQUEST_TIMEOUT:
        raise _FailedError("timeout", said, again=True, after=_retry_after(response.headers))
    if status == HTTPStatus.TOO_MANY_REQUESTS or response.is_server_error:
        raise _FailedError("upstream", said, again=True, after=_retry_after(response.headers))
    if response.is_redirect:
        raise _FailedError("config", f"{said}: the endpoint has moved; redirects are not followed")
    raise _FailedError("config", f"{said}: the endpoint refused the request")


def _content(response: httpx.Response, deadline: Deadline) -> bytes:
    """The body, bounded in time and length whatever the transport."""
    parts = bytearray()
    for part in response.iter_bytes():
        parts += part
        if len(parts) > MAX_BYTES:
            raise BodyError(f"longer than {MAX_BYTES:,} bytes")
        if deadline.left() <= 0:
            raise httpx.ReadTimeout("the time was up")
    return bytes(parts)


def _retry_after(headers: httpx.Headers) -> float:
    """How many seconds to wait before the next attempt, as the endpoint asks; 0 where it does not."""
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", asked):
        return float(asked)
    until = _date(asked)
    if until is None:
        return 0.0
    # Both by the endpoint's own clock where it tells the time: ours may differ.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def cleaner(secrets: Sequence[str]) -> Callable[[str], str]:
    """What takes secrets out of a text, in every form of :class:`~skillful_eval.sanitise.keys.Keys`.

    >>> cleaner(["abc"])("Bearer abc!")
    'Bearer [redacted]!'
    """
    return Keys(secrets=secrets).redact
