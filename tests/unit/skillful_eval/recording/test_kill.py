"""A recording process is killed at any moment: what it had received is there, and the rest is asked again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from skillful_eval.recording.document import read_recording
from skillful_eval.recording.journal import finish
from skillful_eval.recording.lines import journal_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")

FIXTURES, REPEATS = 30, 3
WANTED = {(f"f{n}", repeat) for n in range(FIXTURES) for repeat in range(REPEATS)}

# Says what it has received once it has it: the journal must know no less.
CLIENT = f"""
import sys
from concurrent.futures import ThreadPoolExecutor
import httpx
from skillful_eval.recording.transport import RecordingTransport
url, path = sys.argv[1:]
wanted = [(f"f{{n}}", repeat) for repeat in range({REPEATS}) for n in range({FIXTURES})]
with httpx.Client(transport=RecordingTransport(httpx.HTTPTransport(), path)) as client:
    def ask(wanted):
        fixture, repeat = wanted
        body = {{"state": {{"task": f"mail {{fixture}}@example.org", "candidates": [{{"id": "a:b:c:d"}}]}}}}
        about = {{"skillful_eval": {{"fixture": fixture, "repeat": repeat}}}}
        client.post(url, json=body, extensions=about, headers={{"x-key": f"{{fixture}} {{repeat}}"}}).json()
        sys.stdout.write(f"{{fixture}} {{repeat}}\\n")
        sys.stdout.flush()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, wanted))
"""


@pytest.fixture
def server():
    """An endpoint on loopback, and what it was asked."""
    asked = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            fixture, repeat = self.headers["x-key"].split()
            with lock:
                asked[fixture, int(repeat)] += 1
            primary = {"choice": "a:b:c:d", "probabilities": {"a:b:c:d": 0.8, "none": 0.1}}
            content = json.dumps({"model": f"{fixture}.{repeat}", "answers": {"primary": primary}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        serving.daemon_threads = True
        thread = threading.Thread(target=serving.serve_forever, args=(0.02,))
        thread.start()
        serving.asked = asked
        yield serving
        serving.shutdown()
        thread.join()


def start(root, server, path):
    url = f"http://127.0.0.1:{server.server_port}/"
    command = [sys.executable, "-c", CLIENT, url, str(path)]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def keys(lines):
    return {(fixture, int(repeat)) for fixture, repeat in (line.split() for line in lines)}


@pytest.mark.filterwarnings("ignore::skillshift.frame.append.TornLineWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_kill_loses_nothing_that_was_received(root, server, path):
    chance = random.Random(7)  # noqa: S311 - a moment, not a secret
    held = set()
    for _ in range(3):
        process = start(root, server, path)
        received = [process.stdout.readline() for _ in range(len(held) + chance.randrange(1, 15))]
        process.send_signal(signal.SIGKILL)
        received += process.stdout.readlines()
        process.wait(10)
        process.stdout.close()
        # The last line may be cut: then its response was received all the same, but it cannot be named.
        received = keys(line for line in received if line.endswith("\n"))
        recording = read_recording(path)
        assert not recording.finished
        now = {(name, repeat) for name, entry in recording.entries.items() for repeat in entry.responses}
        assert held | received <= now <= WANTED
        held = now
    assert 0 < len(held) < len(WANTED)
    server.asked.clear()
    process = start(root, server, path)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert keys(out.splitlines()) == WANTED
    assert server.asked == dict.fromkeys(WANTED - held, 1), "what was there is not asked for again"
    assert finish(path) == len(WANTED)
    assert not journal_of(path).exists()
    entries = read_recording(path).entries
    for name, entry in entries.items():
        models = {repeat: response["model"] for repeat, response in entry.responses.items()}
        assert models == {repeat: f"{name}.{repeat}" for repeat in range(REPEATS)}
