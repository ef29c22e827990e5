"""Recording and replay under the router that is in production, as httpx transports.

A replay so exercises the same shortlist, thresholds and abstention as a live run.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from skillful_eval.documents import canonical, parse_json
from skillful_eval.recording.journal import Journal
from skillful_eval.recording.lines import Line
from skillful_eval.recording.redaction import TELLING, Redactor, digest
from skillful_eval.recording.responses import Response, checked
from skillful_eval.router.http import EXTENSION
from skillful_eval.router.prompts import INSTALL
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skillful_eval.recording.document import Recording

try:
    import httpx

    from skillful_eval.router.bodies import bounded, plain
    from skillful_eval.router.connection import DEADLINE, Deadline
    from skillful_eval.router.endpoint import IS_REPLAYED, RESPONSE_INDEX
except ModuleNotFoundError as missing:
    raise UsageError(f"recording and replay need the library httpx, which is missing: {INSTALL}") from missing


class UnrecordedError(httpx.TransportError):
    """A replay has no response to a request."""


class ReplayTransport(httpx.BaseTransport):
    """Answers from a recording, and never touches the network. Threads may share it.

    A response has two extensions: ``response_index``, the repeat that it was recorded for, and ``replayed``,
    true. Its body may have ``candidates`` beside the endpoint's fields: the ids that were offered when it was
    recorded, in order, to which ``c0``, ``c1``... belong.

    Args:
        recording: The recording.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        self._missing: set[tuple[str, int]] = set()

    @property
    def missing(self) -> tuple[tuple[str, int], ...]:
        """Which requests had no recorded response so far: fixture and repeat, sorted."""
        with self._lock:
            return tuple(sorted(self._missing))

    @property
    def unrecorded(self) -> int:
        """How many requests had no recorded response so far; the same one asked again counts once."""
        return len(self.missing)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request.

        Raises:
            UnrecordedError: Nothing was recorded for its task text.
            UsageError: The request is not one of the router's.
        """
        asked = _asked(request)
        found = self._recording.lookup(asked.task, asked.fixture, asked.repeat)
        if found is None:
            with self._lock:
                self._missing.add(asked.key)
            raise UnrecordedError(self._recording.lacking(asked.fixture, asked.repeat), request=request)
        response, index = found
        return _replayed(response, index)


class RecordingTransport(httpx.BaseTransport):
    """Records what an endpoint answers, redacted, while another transport does the asking.

    Every response that the client gets is in the journal before the client has it. What a journal holds
    already, since an earlier run was interrupted, is not asked for again. Only successful responses with the
    documented fields are recorded: failures, and answers of other types, are asked for again when the run is
    resumed. Threads may share a transport; a second process that would record to the same file is refused.
    Close it, so that the next one is not.

    A response that is recorded has the extension ``response_index``, its repeat; one that the journal held
    has ``replayed`` too, as :class:`ReplayTransport` says.

    Args:
        inner: What asks.
        path: The recording; :func:`~skillful_eval.recording.journal.finish` makes it of the journal.
        secrets: Keys that must not occur in the recording in any form. What a request identifies itself
            with, in its ``Authorization`` header or its address, is one anyway.

    Raises:
        UsageError: The recording exists already, or is being made.
        InputError: The journal cannot be written, or what is in it is not as it was written.
    """

    def __init__(self, inner: httpx.BaseTransport, path: str | Path, *, secrets: Sequence[str] = ()) -> None:
        self._redactor = Redactor(secrets)
        self._journal = Journal(path)
        self._inner = inner
        self._lock = threading.Lock()
        self._left_out = 0

    @property
    def resumed(self) -> int:
        """How many responses the journal held from the start."""
        return self._journal.resumed

    @property
    def recorded(self) -> int:
        """How many responses the journal holds by now."""
        return len(self._journal)

    @property
    def left_out(self) -> int:
        """How many successful responses were not recorded, since they are not of the documented types."""
        return self._left_out

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request from the journal, or have it answered and record that.

        Raises:
            InputError: The response cannot be written; every later request fails in the same way without
                being sent. What was recorded stays.
            UsageError: The journal holds a response to other candidates, say; or the request is not one of
                the router's.
        """
        redactor = self._redactor = self._redactor.beside(_credentials(request))
        asked = _asked(request)
        is_cut = bool(request.extensions[EXTENSION].get("cut"))
        task = redactor.beginning(asked.task) if is_cut else redactor.text(asked.task)
        asked = replace(asked, fixture=redactor.fixture(asked.fixture), task=task)
        held = self._journal.find(asked)
        if held is not None:
            return _replayed(held.kept(), held.repeat)
        response = self._inner.handle_request(request)
        if not response.is_success:
            return response
        content, response = _read(response, request.extensions.get(DEADLINE))
        line = _line(asked, content, redactor)
        if line is None:
            with self._lock:
                self._left_out += 1
            return response
        kept = self._journal.add(line)
        if kept is not line:  # another thread was first with the same request
            return _replayed(kept.kept(), kept.repeat)
        response.extensions[RESPONSE_INDEX] = line.repeat
        return response

    def close(self) -> None:
        """Close the other transport, and remove the journal where nothing was recorded."""
        try:
            self._inner.close()
        finally:
            self._journal.close()


def _asked(request: httpx.Request) -> Line:
    """What a request asks, as a line without a response yet."""
    try:
        about = request.extensions[EXTENSION]
        body = json.loads(request.read())
        state = body["state"]
        rest = {name: value for name, value in state.items() if name != "task"}
        return Line(
            fixture=about["fixture"],
            repeat=about["repeat"],
            task=state["task"],
            candidates=tuple(candidate["id"] for candidate in state["candidates"]),
            asked=digest(canonical({**body, "state": rest})),
            response={},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"found a request that is not the router's ({type(error).__name__}: {error}), expected JSON with "
            f"state.task and state.candidates, and the extension {EXTENSION!r} with fixture and repeat"
        ) from error


def _credentials(request: httpx.Request) -> Iterator[str]:
    """What a request identifies itself with."""
    yield from request.headers.get("authorization", "").split()[1:]
    yield request.url.password
    yield from (value for value in request.url.params.values() if len(value) >= TELLING)


def _line(asked: Line, content: bytes, redactor: Redactor) -> Line | None:
    """What is recorded of a response, if anything."""
    try:
        given = checked(parse_json(content.decode("utf-8-sig")))
    except ValueError:  # no text, no JSON, wrong types
        return None
    return replace(asked, response=redactor.response(given, frozenset(asked.candidates)))


def _replayed(response: Response, index: int) -> httpx.Response:
    return httpx.Response(
        200,
        headers={"content-type": "application/json"},
        content=canonical(response).encode(),
        extensions={RESPONSE_INDEX: index, IS_REPLAYED: True},
    )


def _read(response: httpx.Response, deadline: Deadline | None) -> tuple[bytes, httpx.Response]:
    """The body, and the same response with all of it here; reading may fail as reading always may."""
    response = plain(response)
    stream = response.stream
    if not isinstance(stream, httpx.SyncByteStream):
        raise UsageError("found an asynchronous response, expected a synchronous one")
    try:
        content = bounded(stream, deadline)
    finally:
        response.close()
    return content, httpx.Response(
        response.status_code,
        headers=response.headers,
        stream=httpx.ByteStream(content),
        extensions=dict(response.extensions),
    )
