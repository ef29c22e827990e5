"""Bodies of answers: bounded in length before anything is made of them, whatever they are encoded as."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import httpx

from skillshift.frame.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillful_eval.router.connection import Deadline

MAX_BYTES = 1 << 20
"""No answer is longer than this, many times what a shortlist of a hundred candidates takes."""

LONGER = f"longer than {MAX_BYTES:,} bytes"

_GZIP, _ZLIB, _BARE = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_ENCODINGS = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (_ZLIB, _BARE)}
"""How each content encoding that is read may be framed. None is asked for; a proxy may choose one."""


class BodyError(httpx.RemoteProtocolError):
    """An answer began and is not whole, or does not end."""


def bounded(parts: Iterable[bytes], deadline: Deadline | None) -> bytes:
    """Put the parts of a body together.

    Args:
        parts: The parts, as they come.
        deadline: When they must all be there, if ever.

    Raises:
        BodyError: There are more than :data:`MAX_BYTES`.
        httpx.ReadTimeout: The time is up.
    """
    whole = bytearray()
    for part in parts:
        whole += part
        if len(whole) > MAX_BYTES:
            raise BodyError(LONGER)
        if deadline is not None and deadline.left() <= 0:
            raise httpx.ReadTimeout("the time was up")
    return bytes(whole)


def plain(response: httpx.Response) -> httpx.Response:
    """The same response, with a body that has no content encoding any more.

    httpx decodes a piece before anybody can look at its length, and a piece may swell a thousandfold. Here
    neither what comes nor what it says is ever longer than :data:`MAX_BYTES`. Reading the body raises a
    :class:`BodyError` where it is longer, or of an encoding that is not read here, and an
    ``httpx.DecodingError`` where it is not what its header says.

    Args:
        response: A response whose body has not been read yet.
    """
    stated = response.headers.get("content-encoding", "").lower().split(",")
    encodings = [name for name in map(str.strip, stated) if name not in {"", "identity"}]
    if not encodings or not isinstance(response.stream, httpx.SyncByteStream):
        return response
    about_the_bytes = {"content-encoding", "content-length"}
    return httpx.Response(
        response.status_code,
        headers=[item for item in response.headers.multi_items() if item[0].lower() not in about_the_bytes],
        stream=_Plain(response.stream, encodings),
        extensions=response.extensions,
    )


class _Plain(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, encodings: list[str]) -> None:
        self._stream = stream
        self._encodings = encodings

    def __iter__(self) -> Iterator[bytes]:
        framings = _ENCODINGS.get(self._encodings[0]) if len(self._encodings) == 1 else None
        if framings is None:
            raise BodyError(
                f"its content encoding is {shorten(', '.join(self._encodings))}, expected none, or one of "
                + ", ".join(_ENCODINGS)
            )
        raw = bounded(self._stream, None)
        if raw:
            yield _decoded(raw, framings, self._encodings[0])

    def close(self) -> None:
        self._stream.close()


def _decoded(raw: bytes, framings: tuple[int, ...], encoding: str) -> bytes:
    for framing in framings:
        decoder = zlib.decompressobj(framing)
        try:
            found = decoder.decompress(raw, MAX_BYTES + 1)
        except zlib.error:
            continue
        if len(found) > MAX_BYTES:
            raise BodyError(LONGER)
        if decoder.eof:
            return found
        raise httpx.DecodingError(f"the {encoding} encoding ends early")
    raise httpx.DecodingError(f"is no valid {encoding}, which its header states")
