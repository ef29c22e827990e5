"""Bodies that are compressed, unasked or in malice: read where they can be, and never held whole."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

httpx = pytest.importorskip("httpx")

from skillful_eval.recording.transport import RecordingTransport  # noqa: E402
from skillful_eval.router.bodies import MAX_BYTES, BodyError, bounded, plain  # noqa: E402
from skillful_eval.router.connection import DeadlineTransport  # noqa: E402

TEXT = b'{"a": 1}' * 50
BARE = zlib.compressobj(wbits=-zlib.MAX_WBITS)
ENCODED = {
    "gzip": gzip.compress(TEXT, mtime=0),
    "X-GZIP": gzip.compress(TEXT, mtime=0),
    "identity, gzip": gzip.compress(TEXT, mtime=0),
    "deflate": zlib.compress(TEXT),
    " Deflate ": BARE.compress(TEXT) + BARE.flush(),
    "identity": TEXT,
    "": TEXT,
}


def response(encoding, *parts, status=200):
    class Parts(httpx.SyncByteStream):
        def __iter__(self):
            yield from parts

    return httpx.Response(status, headers={"content-encoding": encoding, "x-trace": "t"}, stream=Parts())


@pytest.mark.parametrize("encoding", ENCODED)
def test_what_a_proxy_compresses_is_read(encoding):
    raw = ENCODED[encoding]
    made = plain(response(encoding, raw[:1], raw[1:2], raw[2:]))
    assert made.read() == TEXT
    assert made.headers["x-trace"] == "t"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "x" * 1000])
def test_another_encoding_is_refused_when_it_is_read(encoding):
    made = plain(response(encoding, TEXT, status=503))
    assert made.status_code == 503, "a failure is one whatever its body"
    with pytest.raises(BodyError, match=r"its content encoding is .*expected none, or one of gzip") as caught:
        made.read()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"no gzip", "no valid gzip"),
        (ENCODED["gzip"][:-9], "ends early"),
        (ENCODED["gzip"][:5], "ends early"),
    ],
)
def test_what_is_not_as_its_header_says_is_refused(raw, said):
    with pytest.raises(httpx.DecodingError, match=said):
        plain(response("gzip", raw)).read()


def test_an_empty_body_is_empty_in_any_encoding():
    assert plain(response("gzip")).read() == b""


def test_the_limit_is_what_a_body_says():
    for length, fits in ((MAX_BYTES, True), (MAX_BYTES + 1, False)):
        for encoding, raw in (("gzip", gzip.compress(b" " * length)), ("identity", b" " * length)):
            made = plain(response(encoding, raw))
            if fits:
                assert len(bounded(made.iter_bytes(), None)) == length
            else:
                with pytest.raises(BodyError, match="longer than"):
                    bounded(made.iter_bytes(), None)


@pytest.fixture(scope="module")
def bomb():
    """Bytes that say two hundred times what may be held."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join([*(packer.compress(b"a" * MAX_BYTES) for _ in range(200)), packer.flush()])


@pytest.mark.parametrize("recording", [False, True])
def test_a_bomb_is_never_held(server, bomb, tmp_path, recording):
    server.answers(lambda handler, _: handler.send(bomb, headers=[("Content-Encoding", "gzip")]))
    made = DeadlineTransport(server.url, connections=1)
    transport = RecordingTransport(made, tmp_path / "r.json") if recording else made
    body = {"state": {"task": "undo it", "candidates": [{"id": "a"}]}}
    about = {"skillful_eval": {"fixture": "f", "repeat": 0}}
    request = httpx.Request("POST", server.url, json=body, extensions=about)
    tracemalloc.start()
    try:
        with transport, pytest.raises(BodyError, match="longer than"):
            transport.handle_request(request).read()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * MAX_BYTES


def test_no_encoding_is_asked_for(server):
    server.says({"fine": True})
    with DeadlineTransport(server.url, connections=1) as transport:
        for headers in ({}, {"accept-encoding": "gzip"}):
            request = httpx.Request("POST", server.url, content=b"{}", headers=headers)
            transport.handle_request(request).read()
    assert [httpx.Headers(headers)["accept-encoding"] for headers, _ in server.seen] == ["identity", "gzip"]
