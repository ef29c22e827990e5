"""Logs behind URLs, from a server on this machine that speaks as much S3 as reading needs."""

from __future__ import annotations

import io
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

import polars as pl
import pytest

from skillshift.frame.errors import ContractError, InputError
from skillshift.frame.reading import scan

BUCKET = "/bucket/"
LISTING = "<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>{}</ListBucketResult>"
LISTED = (
    "<Contents><Key>{}</Key><Size>{}</Size><ETag>&quot;x&quot;</ETag>"
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
)


def parquet(**columns: list[object]) -> bytes:
    sink = io.BytesIO()
    pl.DataFrame({"name": ["a"], "flag": [True], "count": [1]} | columns).write_parquet(sink)
    return sink.getvalue()


FILES = {
    "runs/1.jsonl": b'{"name": "a", "flag": true, "count": 1}\n\n{"name": "b", "flag": true, "count": 2.0}',
    "runs/2.jsonl": b'\xef\xbb\xbf{"name": "c", "flag": null, "count": 3, "x": []}\n',
    "bad/1.jsonl": b'{"name": "a", "flag": true, "count": 1}\n{"name": "b"}\n{"name": ',
    "hive/run=01/a.parquet": parquet(),
    "hive/run=1/b.parquet": parquet(x=[1], count=[2.0], flag=pl.Series([None])),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urlsplit(self.path)
        asked = parse_qs(url.query)
        if "list-type" in asked:
            prefix = asked.get("prefix", [""])[0]
            keys = [key for key in FILES if key.startswith(prefix)]
            self.answer(
                200, LISTING.format("".join(LISTED.format(key, len(FILES[key])) for key in keys)).encode()
            )
            return
        content = FILES.get(unquote(url.path).removeprefix(BUCKET))
        if content is None:
            self.answer(404, b"")
            return
        size = len(content)
        part = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if part is None:
            self.answer(200, content)
            return
        first = int(part[1]) if part[1] else max(size - int(part[2]), 0)
        last = min(int(part[2]), size - 1) if part[1] and part[2] else size - 1
        self.answer(206, content[first : last + 1], f"bytes {first}-{last}/{size}")

    def answer(self, status, content, part=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"x"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        if part:
            self.send_header("Content-Range", part)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def s3(server, monkeypatch):
    settings = {
        "ENDPOINT_URL": server,
        "ALLOW_HTTP": "true",
        "REGION": "here",
        "ACCESS_KEY_ID": "a",
        "SECRET_ACCESS_KEY": "b",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)


def test_a_file_over_http(server, probe):
    url = f"{server}{BUCKET}runs/1.jsonl?version=2"
    frame = scan(url, probe).collect()
    assert frame.select("name", "count", "_file", "_record").rows() == [("a", 1, url, 0), ("b", 2, url, 1)]
    assert scan(f"{server}{BUCKET}hive/run=01/a.parquet", probe).select("run", "count").collect().rows() == [
        ("01", 1)
    ]


def test_a_glob_of_an_object_store(probe):
    frame = scan("s3://bucket/runs/*.jsonl", probe, run_from="path").collect()
    assert frame.select("name", "x", "run", "_record").rows() == [
        ("a", None, "1", 0), ("b", None, "1", 1), ("c", "[]", "2", 0),
    ]  # fmt: skip
    assert frame["_file"].unique().sort().to_list() == [
        "s3://bucket/runs/1.jsonl",
        "s3://bucket/runs/2.jsonl",
    ]


@pytest.mark.parametrize("pattern", ["*/*.parquet", "**/*.parquet"])
def test_partitions_of_an_object_store(probe, pattern):
    frame = scan(f"s3://bucket/hive/{pattern}", probe).collect()
    assert frame.select("run", "x", "_record").rows() == [("01", None, 0), ("1", 1, 0)]
    assert frame["count"].to_list() == [1, 2]


def test_local_and_remote_logs_together(probe, put, record):
    frame = scan(["s3://bucket/runs/1.jsonl", put("a.jsonl", [record(name="z")])], probe)
    assert frame.select("name").collect()["name"].to_list() == ["z", "a", "b"]


def test_bad_records_are_located(probe):
    with pytest.raises(ContractError) as caught:
        scan("s3://bucket/bad/1.jsonl", probe)
    places = [(why.file, why.line, why.code) for why in caught.value.violations]
    assert places == [
        ("s3://bucket/bad/1.jsonl", 2, "flag.missing-key"),
        ("s3://bucket/bad/1.jsonl", 2, "count.missing-key"),
        ("s3://bucket/bad/1.jsonl", 3, "json.cut"),
    ]


@pytest.mark.parametrize("name", ["no.jsonl", "no.parquet", "no/*.jsonl", "no/*.parquet"])
def test_what_is_not_there(probe, name):
    with pytest.raises(InputError, match="bucket/no") as caught:
        scan(f"s3://bucket/{name}", probe)
    assert "\n" not in str(caught.value)
