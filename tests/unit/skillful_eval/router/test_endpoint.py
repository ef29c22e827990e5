"""What each failure is called, whether it is tried again, and that no decision outlasts its budget."""

from __future__ import annotations

import base64
import json
import signal
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

import pytest

from skillful_eval.router.endpoint import cleaner
from skillful_eval.sanitise.views import MARK


def says(content, status=200, headers=(), length=None):
    return lambda handler, _: handler.send(content, status, headers, length)


def answers(handler, _):
    handler.send(handler.server.owner.good())


def delays(seconds):
    def step(handler, _):
        if not handler.wait(seconds):
            handler.send(handler.server.owner.good())

    return step


def drips(handler, _, head=b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"):
    handler.wfile.write(head)
    while not handler.wait(0.02):
        handler.wfile.write(b" ")


def drips_its_head(handler, body):
    drips(handler, body, head=b"HTTP/1.1 200 OK\r\nX-Slow:")


def drops(handler, _):
    handler.drop()


def resets(handler, _):
    handler.send(b"{", length=100)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    socket.close(handler.connection.detach())  # a reset, not an end
    handler.drop()


def truncates(handler, _):
    handler.send(b'{"answers": {', length=1000)
    handler.drop()


def talks_other(handler, _):
    handler.wfile.write(b"220 mail ready\r\n")
    handler.drop()


def chunks_forever(handler, _):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not handler.wait(0):
        handler.wfile.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


FAILURES = {
    # What the endpoint does, the cause, and how many attempts two retries make of it.
    "401": (says({}, 401), "auth", 1),
    "403": (says({}, 403), "auth", 1),
    "400": (says({}, 400), "config", 1),
    "404": (says({}, 404), "config", 1),
    "302": (says({}, 302, [("Location", "/elsewhere")]), "config", 1),
    "408": (says({}, 408), "timeout", 3),
    "429": (says({}, 429), "upstream", 3),
    "500": (says({}, 500), "upstream", 3),
    "503": (says({}, 503), "upstream", 3),
    "429, come back tomorrow": (says({}, 429, [("Retry-After", "86400")]), "upstream", 1),
    "dropped": (drops, "network", 3),
    "reset": (resets, "network", 3),
    "truncated": (truncates, "malformed", 1),
    "other protocol": (talks_other, "network", 3),
    "204": (says(b"", 204), "malformed", 1),
    "without end": (chunks_forever, "malformed", 1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_a_failure_is_called_and_whether_it_is_tried_again(server, router_of, requests_of, name):
    step, cause, attempts = FAILURES[name]
    server.answers(step)
    outcome = router_of().decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["reason"]) == ("degraded", cause)
    assert outcome["detail"]
    assert outcome["chosen"] is outcome["none_p"] is outcome["response_index"] is None
    assert len(server.seen) == attempts
    assert (f"{attempts} attempts" in outcome["detail"]) == (attempts > 1)


@pytest.mark.parametrize("step", [delays(5), drips, drips_its_head], ids=["late", "drip", "dripped head"])
@pytest.mark.parametrize(("timeout_ms", "attempts"), [(60, 2), (5_000, 1)])
def test_no_decision_outlasts_its_budget_whatever_comes(
    server, router_of, requests_of, step, timeout_ms, attempts
):
    server.answers(step)
    router = router_of(budget_ms=200, timeout_ms=timeout_ms, retries=1)
    began = time.monotonic()
    outcome = router.decide(requests_of("undo it please")).row(0, named=True)
    assert time.monotonic() - began < 2  # unless the machine is busy, 0.2
    assert (outcome["decision"], outcome["reason"]) == ("degraded", "timeout")
    assert outcome["latency_ms"] < 2_000
    assert len(server.seen) == attempts


def test_nobody_listens(router_of, requests_of):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        outcome = router_of(url).decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["reason"]) == ("degraded", "network")


@pytest.mark.parametrize("step", [says({}, 429), says({}, 500), drops, resets, delays(1)])
def test_a_later_attempt_may_do(server, router_of, requests_of, step):
    server.answers(step, step, answers)
    outcome = router_of(timeout_ms=100).decide(requests_of("undo it please")).row(0, named=True)
    assert (outcome["decision"], outcome["chosen"], outcome["detail"]) == ("injected", "a:plan", None)
    assert len(server.seen) == 3


def test_no_retries(server, router_of, requests_of):
    server.answers(says({}, 500))
    router_of(retries=0).decide(requests_of("undo it please"))
    assert len(server.seen) == 1


def test_waits_double_and_are_part_of_the_latency(server, router_of, requests_of):
    server.answers(says({}, 500), says({}, 500), answers)
    latency = router_of(backoff_ms=60).decide(requests_of("undo it please"))["latency_ms"].item()
    assert 180 <= latency < 2_000


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_endpoint_says_when_to_come_back(server, router_of, requests_of, form):
    # By the endpoint's clock, which is ten days slow.
    its_time = datetime.now(UTC) - timedelta(days=10)
    after = "0.2" if form == "seconds" else format_datetime(its_time + timedelta(seconds=1), usegmt=True)
    asks = [("Retry-After", after)]

    def refuse(handler, _):
        handler.date_time_string = lambda *_: format_datetime(its_time, usegmt=True)
        handler.send({}, 429, asks)

    server.answers(refuse, answers)
    outcome = router_of().decide(requests_of("undo it please")).row(0, named=True)
    assert outcome["decision"] == "injected"
    assert outcome["latency_ms"] >= (200 if form == "seconds" else 900)


@pytest.mark.parametrize("after", ["soon", "-5", "", "Thu, 99 Foo 2026 00:00:00 GMT"])
def test_a_retry_after_that_says_nothing_is_passed_over(server, router_of, requests_of, after):
    server.answers(says({}, 503, [("Retry-After", after)]), answers)
    assert router_of().decide(requests_of("undo it please"))["decision"].item() == "injected"


def test_requests_in_flight_never_exceed_the_limit_and_come_back_in_order(server, router_of, requests_of):
    prompts = [f"prompt number {number}" for number in range(24)]

    def step(handler, body):
        number = int(body["state"]["task"].rsplit(" ", 1)[1])
        handler.wait(0.02 if number % 2 else 0.04)
        choice = server.shortlist[number % 3]
        if number == 7:
            handler.drop()
        else:
            handler.send(server.good(choice=choice, probabilities={choice: 0.9, "none": 0}))

    server.answers(step)
    outcomes = router_of(concurrency=3, retries=0).decide(requests_of(*prompts))
    assert 2 <= server.most <= 3
    expected = [None if number == 7 else server.shortlist[number % 3] for number in range(24)]
    assert outcomes["chosen"].to_list() == expected
    assert outcomes["reason"].to_list() == ["network" if number == 7 else None for number in range(24)]


def hangs(handler, _):
    handler.wait(5)
    handler.drop()


@pytest.mark.parametrize(
    "step",
    [hangs, drips, says({}, 429, [("Retry-After", "4")])],
    ids=["no answer", "drip", "between attempts"],
)
def test_an_interruption_ends_at_once_and_asks_no_more(server, router_of, requests_of, step):
    server.answers(step)

    def interrupt():
        while not server.seen:
            time.sleep(0.01)
        time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        router_of(concurrency=2).decide(requests_of(*["undo it please"] * 50))
    helper.join()
    assert time.monotonic() - began < 3
    assert len(server.seen) <= 2


# Nothing in its look tells that it is a key, nor in what it is encoded as.
KEY = "plain-words/are+keys-as-well"
LONG_KEY = "-and-".join([KEY] * 4)

ECHOES = {
    "as it is": str,
    "lower case": str.lower,
    "upper case": str.upper,
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of credentials": lambda key: base64.urlsafe_b64encode(f"us:{key}:x".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "upper hexadecimal": lambda key: key.encode().hex().upper(),
    "percent": lambda key: quote(key, safe=""),
    "percent of all": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "percent twice": lambda key: quote(quote(key, safe=""), safe=""),
}


def in_model(good, echo):
    return good() | {"model": f"proxy {echo}"}


def in_choice(good, echo):
    return good(choice=echo, probabilities={echo: 0.9, "none": 0.05})


def in_what_is_missing(good, echo):
    return good(choice=f"x {echo}", probabilities={"none": 0.05})


def in_a_wrong_value(good, echo):
    return good(probabilities=f"of {echo}")


def in_a_name(good, echo):
    return good(probabilities={f"a:{echo}": 2})


def in_no_object(good, echo):
    return [echo, good()]


def twice(_, echo):
    name = json.dumps(f"the {echo}")
    return f"{{{name}: 1, {name}: 2}}".encode()


def pieces(text):
    """What of a text would tell it, whatever else there is."""
    return {text[first : first + 10].casefold() for first in range(len(text) - 9)}


@pytest.mark.parametrize("key", [KEY, LONG_KEY], ids=["short", "cut by a message"])
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize(
    "place",
    [in_model, in_choice, in_what_is_missing, in_a_wrong_value, in_a_name, in_no_object, twice],
)
def test_a_key_that_is_echoed_in_any_form_is_in_nothing_that_is_kept(
    server, router_of, requests_of, key, echo, place
):
    echoed = ECHOES[echo](key)
    server.says(place(server.good, echoed))
    outcomes = router_of(key=key).decide(requests_of("undo it please"))
    said = outcomes.write_json().casefold()
    assert MARK in said
    # In base64 the first and last characters may be those of what is beside the key, too.
    assert not [piece for piece in pieces(echoed[6:-6]) | pieces(key) if piece in said]


def test_an_error_of_the_transport_that_holds_the_key_is_cleaned(router_of, requests_of):
    import httpx

    def fail(request):
        raise httpx.ConnectError(f"no way with {request.headers['authorization'].upper()}")

    router = router_of(key=KEY, retries=0, transport=httpx.MockTransport(fail))
    detail = router.decide(requests_of("undo it please"))["detail"].item()
    assert detail == f"ConnectError: no way with BEARER {MARK}"


def test_a_key_is_taken_out_before_what_else_is_private_or_parts_of_it_would_stay(
    server, router_of, requests_of
):
    key = "zeta=/home/quux?plum"
    server.says(in_choice(server.good, f"see {key}"))
    detail = router_of(key=key).decide(requests_of("undo it please"))["detail"].item()
    assert MARK in detail
    assert not [word for word in ("zeta", "quux", "plum") if word in detail]


def test_nothing_else_is_taken_out_of_a_model():
    clean = cleaner([KEY, "", " "])
    assert clean("openrouter/auto@https://x.example 550e8400-e29b-41d4-a716-446655440000") == (
        "openrouter/auto@https://x.example 550e8400-e29b-41d4-a716-446655440000"
    )
    assert cleaner([])("a b") == cleaner([""])("a b") == "a b"


def test_cleaning_a_short_text_takes_no_time():
    clean = cleaner([KEY, LONG_KEY])
    started = time.process_time()
    for _ in range(1_000):
        clean("claude-sonnet-4-20250514")
    assert time.process_time() - started < 1
