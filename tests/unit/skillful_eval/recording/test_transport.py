"""Recording and replay under a client: what is asked, what is written, what comes back."""

from __future__ import annotations

import gzip
import json
import threading

import httpx
import pytest

from skillful_eval.recording.document import read_recording
from skillful_eval.recording.journal import finish
from skillful_eval.recording.lines import journal_of
from skillful_eval.recording.transport import RecordingTransport, ReplayTransport, UnrecordedError
from skillful_eval.router.connection import DEADLINE, MAX_BYTES, BodyError, Deadline
from skillful_eval.router.prompts import WITHHELD
from skillshift.frame.errors import InputError, UsageError


def of(response):
    """What a response says of itself."""
    return {name: response.extensions.get(name) for name in ("response_index", "replayed")}


LIVE, REPLAYED = {"replayed": None}, {"replayed": True}


def test_a_response_passes_through_and_is_written_first(path, endpoint, ask, lines_of, answer, ids):
    written = []

    def look(_request):
        written.append(len(lines_of(path)))
        return httpx.Response(200, json=answer(id="r-1"), headers={"x-trace": "t"})

    transport = RecordingTransport(endpoint(look), path)
    first = transport.handle_request(ask("undo it", repeat=0))
    second = transport.handle_request(ask("undo it", repeat=1))
    assert written == [0, 1]
    assert first.read() == httpx.Response(200, json=answer(id="r-1")).content
    assert first.headers["x-trace"] == "t"
    assert [of(first), of(second)] == [LIVE | {"response_index": 0}, LIVE | {"response_index": 1}]
    (line, _) = lines_of(path)
    asked = line.pop("asked")
    assert len(asked) == len(line.pop("check")) == 26
    assert line == {
        "fixture": "f",
        "repeat": 0,
        "task": "undo it",
        "candidates": list(ids),
        "response": answer(),
    }
    assert (transport.recorded, transport.resumed, transport.left_out) == (2, 0, 0)


def test_the_digest_of_what_was_asked_says_nothing_of_the_task(path, saying, ask, answer, lines_of):
    transport = RecordingTransport(saying(answer()), path)
    for request in (ask("undo it"), ask("plan it", "g"), ask("undo it", "h", model="other")):
        transport.handle_request(request)
    one, same, other = (line["asked"] for line in lines_of(path))
    assert one == same != other


def test_what_a_request_identifies_itself_with_is_not_recorded(path, saying, ask, answer, lines_of):
    """Even where nobody said that it is a secret."""
    transport = RecordingTransport(
        saying(answer(model="m plain-words, and other-words, query-words; 42")), path
    )
    request = ask("say plain-words")
    request.headers["authorization"] = "Bearer plain-words"
    request.url = httpx.URL("http://u:other-words@127.0.0.1:9/?key=query-words&n=42")
    transport.handle_request(request)
    (line,) = lines_of(path)
    assert line["task"] == "say [redacted]"
    assert line["response"]["model"] == "m [redacted], and [redacted], [redacted]; 42"


def test_a_client_can_use_it(path, saying, answer):
    body = {"state": {"task": "undo it", "candidates": [{"id": "a"}]}}
    about = {"skillful_eval": {"fixture": "f", "repeat": 0}}
    with httpx.Client(transport=RecordingTransport(saying(answer()), path)) as client:
        response = client.post("http://127.0.0.1:9/", json=body, extensions=about)
    assert response.json() == answer()
    assert response.elapsed.total_seconds() >= 0
    assert finish(path) == 1
    with httpx.Client(transport=ReplayTransport(read_recording(path))) as client:
        response = client.post("http://127.0.0.1:9/", json=body, extensions=about)
    assert response.json() == answer(candidates=["a"])


def test_compressed_responses_are_read_and_passed_on(path, endpoint, ask, answer, lines_of):
    def zipped(_request):
        content = gzip.compress(json.dumps(answer()).encode())
        stream = httpx.ByteStream(content)
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=stream)

    transport = RecordingTransport(endpoint(zipped), path)
    response = transport.handle_request(ask("undo it"))
    response.read()
    assert response.json() == answer()
    assert lines_of(path)[0]["response"] == answer()


def test_a_byte_order_mark_does_not_matter(path, endpoint, ask, answer):
    marked = endpoint(lambda _: httpx.Response(200, content=b"\xef\xbb\xbf" + json.dumps(answer()).encode()))
    transport = RecordingTransport(marked, path)
    assert of(transport.handle_request(ask("undo it")))["response_index"] == 0


@pytest.mark.parametrize("status", [301, 400, 401, 429, 500])
def test_what_is_no_success_is_not_recorded(path, endpoint, ask, status, answer):
    failing = endpoint(lambda _: httpx.Response(status, json=answer()))
    transport = RecordingTransport(failing, path)
    for _ in range(2):
        response = transport.handle_request(ask("undo it"))
        assert response.status_code == status
        assert of(response) == LIVE | {"response_index": None}
    assert len(failing.tasks) == 2, "a failure is asked for again"
    assert transport.recorded == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no JSON",
        b"\xff",
        b"[]",
        b"{}",
        b'{"answers": {"primary": {"choice": 1, "probabilities": {}}}}',
        b'{"answers": {"primary": {"choice": "none", "probabilities": {"none": NaN}}}}',
        b'{"answers": {"primary": {"choice": "none", "probabilities": {"none": 1e999}}}}',
        b'{"answers": {"primary": {"choice": "none", "probabilities": {"none": 1, "none": 0}}}}',
        b'{"answers": {"primary": {"choice": "\\ud800", "probabilities": {"none": 1}}}}',
        b'{"answers": {"primary": {"choice": "none", "probabilities": {"none": 1}}}, "usage": 3}',
        b"[" * 100_000,
    ],
)
def test_an_answer_of_other_types_is_passed_on_and_left_out(path, endpoint, ask, content):
    odd = endpoint(lambda _: httpx.Response(200, content=content))
    transport = RecordingTransport(odd, path)
    response = transport.handle_request(ask("undo it"))
    assert response.read() == content
    assert of(response) == LIVE | {"response_index": None}
    assert (transport.recorded, transport.left_out) == (0, 1)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"no gzip", httpx.DecodingError), (gzip.compress(b" " * (MAX_BYTES + 1)), BodyError)],
)
def test_a_compression_that_is_broken_or_swells_fails(path, endpoint, ask, raw, expected):
    def zipped(_request):
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(raw))

    transport = RecordingTransport(endpoint(zipped), path)
    with pytest.raises(expected):
        transport.handle_request(ask("undo it"))
    assert (transport.recorded, transport.left_out) == (0, 0)


class Dripping(httpx.SyncByteStream):
    """A body that does not end, or that fails."""

    def __init__(self, part, error=None):
        self.part, self.error, self.closed = part, error, False

    def __iter__(self):
        yield self.part
        if self.error is not None:
            raise self.error
        while True:
            yield self.part

    def close(self):
        self.closed = True


@pytest.mark.parametrize("failing", ["endless", "late", "cut"])
def test_reading_fails_as_it_would_without_recording(path, endpoint, ask, failing):
    called_off = threading.Event()
    called_off.set()
    request = ask("undo it")
    match failing:
        case "endless":
            stream, expected = Dripping(b" " * 100_000), BodyError
        case "late":
            stream, expected = Dripping(b" "), httpx.ReadTimeout
            request.extensions[DEADLINE] = Deadline(0, called_off)
        case "cut":
            error = httpx.RemoteProtocolError("peer closed the connection")
            stream, expected = Dripping(b"{", error), httpx.RemoteProtocolError
    transport = RecordingTransport(endpoint(lambda _: httpx.Response(200, stream=stream)), path)
    with pytest.raises(expected):
        transport.handle_request(request)
    assert stream.closed
    assert (transport.recorded, transport.left_out) == (0, 0)


def test_a_resumed_run_asks_only_for_what_is_missing(path, saying, ask, answer, ids):
    first = RecordingTransport(saying(answer()), path)
    for repeat in (0, 2):
        first.handle_request(ask("undo it", repeat=repeat))
    first.close()
    other = saying(answer("none"))
    again = RecordingTransport(other, path)
    assert again.resumed == 2
    responses = [again.handle_request(ask("undo it", repeat=repeat)) for repeat in (0, 1, 2)]
    assert other.tasks == ["undo it"]
    assert [of(response) for response in responses] == [
        REPLAYED | {"response_index": 0},
        LIVE | {"response_index": 1},
        REPLAYED | {"response_index": 2},
    ]
    assert responses[0].json() == answer(candidates=list(ids))
    assert responses[1].read() == httpx.Response(200, json=answer("none")).content


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": "undo all"}, "another task text"),
        ({"ids": ("a:agent:x:plan", "a:skill:x:undo")}, "other candidates"),
        ({"model": "other"}, "another model"),
        ({"questions": {}}, "other questions"),
    ],
)
def test_a_resumed_run_with_other_settings_is_refused(path, saying, ask, answer, change, said):
    RecordingTransport(saying(answer()), path).handle_request(ask("undo it"))
    other = saying(answer())
    again = RecordingTransport(other, path)
    with pytest.raises(UsageError, match=f"found responses to .*{said}"):
        again.handle_request(ask(**{"task": "undo it"} | change))
    with pytest.raises(InputError):
        again.handle_request(ask("plan it", "g"))
    assert other.tasks == [], "nothing is asked once the run cannot be recorded"


def test_the_same_request_at_the_same_time_is_recorded_once(path, endpoint, ask, answer):
    both = threading.Barrier(2)

    def slow(request):
        both.wait(10)
        return httpx.Response(200, json=answer(model=request.headers["x-who"]))

    transport = RecordingTransport(endpoint(slow), path)
    got = {}

    def run(who):
        request = ask("undo it")
        request.headers["x-who"] = who
        response = transport.handle_request(request)
        response.read()
        got[who] = response

    threads = [threading.Thread(target=run, args=(who,)) for who in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert transport.recorded == 1
    assert len({response.json()["model"] for response in got.values()}) == 1
    assert sorted(of(response)["replayed"] is True for response in got.values()) == [False, True]


def test_a_write_that_fails_surfaces_and_stops_the_asking(path, saying, ask, answer):
    live = saying(answer())
    transport = RecordingTransport(live, path)
    transport.handle_request(ask("undo it"))
    before = journal_of(path).read_bytes()
    journal_of(path).unlink()
    journal_of(path).mkdir()
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            transport.handle_request(ask("plan it", "g"))
        assert not isinstance(caught.value, OSError | httpx.HTTPError), (
            "a router takes those for a failed run"
        )
    assert len(live.tasks) == 2
    journal_of(path).rmdir()
    journal_of(path).write_bytes(before)
    transport.close()
    assert RecordingTransport(live, path).resumed == 1


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path, saying, answer):
    live = saying(answer())
    with pytest.raises(InputError, match="no regular file"):
        RecordingTransport(live, tmp_path)
    assert live.tasks == []


def test_a_request_of_somebody_else_is_refused(path, saying, ask, answer):
    transport = RecordingTransport(saying(answer()), path)
    without = ask("undo it")
    del without.extensions["skillful_eval"]
    odd = httpx.Request("POST", "http://127.0.0.1:9/", content=b"{}", extensions=ask("x").extensions)
    for request in (without, odd):
        with pytest.raises(UsageError, match=r"not the router's .*expected JSON with state\.task"):
            transport.handle_request(request)


def test_closing_closes_what_is_inside(path, saying, answer):
    live = saying(answer())
    RecordingTransport(live, path).close()
    assert live.closed
    assert not journal_of(path).exists()


@pytest.fixture
def recorded(path, endpoint, ask, answer, ids):
    """A recording of two fixtures, three repeats and one."""

    def say(request):
        repeat = request.extensions["skillful_eval"]["repeat"]
        return httpx.Response(200, json=answer(model=f"model-{repeat}"))

    transport = RecordingTransport(endpoint(say), path)
    for repeat in range(3):
        transport.handle_request(ask("undo it", "f", repeat))
    transport.handle_request(ask("plan it", "g", ids=ids[:1]))
    finish(path)
    return read_recording(path)


def test_a_replay_says_which_response_it_is(recorded, ask, answer, ids):
    transport = ReplayTransport(recorded)
    for repeat in range(3):
        response = transport.handle_request(ask("undo it", "f", repeat))
        assert response.status_code == 200
        assert response.json() == answer(model=f"model-{repeat}", candidates=list(ids))
        assert of(response) == REPLAYED | {"response_index": repeat}


def test_a_reused_response_says_so(recorded, ask):
    transport = ReplayTransport(recorded)
    used = [of(transport.handle_request(ask("plan it", "g", n)))["response_index"] for n in range(3)]
    assert used == [0, 0, 0]
    assert of(transport.handle_request(ask("undo it", "f", 4)))["response_index"] == 1


def test_the_candidates_are_those_of_the_recording(recorded, ask, ids):
    """Answers by position belong to the shortlist of recording time, whatever is offered now."""
    transport = ReplayTransport(recorded)
    response = transport.handle_request(ask("plan it", "g", ids=ids[::-1]))
    assert response.json()["candidates"] == list(ids[:1])


def test_what_was_not_recorded_is_told_and_counted_once(recorded, ask):
    transport = ReplayTransport(recorded)
    for fixture, repeat in (("h", 1), ("h", 0), ("h", 1)):
        request = ask("else", fixture, repeat)
        with pytest.raises(UnrecordedError, match=rf'no response to fixture "h", repeat {repeat}') as caught:
            transport.handle_request(request)
        assert isinstance(caught.value, httpx.TransportError)
        assert caught.value.request is request
        assert "else" not in str(caught.value), "a task may be private"
    assert transport.unrecorded == 2
    assert transport.missing == (("h", 0), ("h", 1))


def test_threads_count_what_was_not_recorded(recorded, ask):
    transport = ReplayTransport(recorded)

    def run(start):
        for n in range(start, start + 50):
            with pytest.raises(UnrecordedError):
                transport.handle_request(ask("else", "h", n))

    threads = [threading.Thread(target=run, args=(start,)) for start in range(0, 200, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert transport.unrecorded == 225


def test_withheld_prompts_are_told_apart_by_their_fixture(path, endpoint, ask, answer):
    def say(request):
        return httpx.Response(200, json=answer(model=request.extensions["skillful_eval"]["fixture"]))

    transport = RecordingTransport(endpoint(say), path)
    for fixture in ("a", "b"):
        transport.handle_request(ask(WITHHELD, fixture))
    finish(path)
    replay = ReplayTransport(read_recording(path))
    for fixture in ("b", "a"):
        assert replay.handle_request(ask(WITHHELD, fixture)).json()["model"] == fixture
    with pytest.raises(UnrecordedError):
        replay.handle_request(ask(WITHHELD, "c"))
