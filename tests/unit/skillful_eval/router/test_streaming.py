"""Decisions as they come: what is handed over when, and what an interruption leaves."""

from __future__ import annotations

import _thread
import threading
import time
from itertools import pairwise

import polars as pl
import pytest

from skillful_eval.router import streaming
from skillful_eval.router.protocol import OUTCOMES, StreamingRouter
from skillful_eval.router.streaming import gathered, in_pieces, stream_of
from skillful_eval.runner import run_router
from skillful_eval.runner_parts import parts_folder
from skillshift.frame.errors import InputError, UsageError

SCHEMA = pl.Schema({"text": pl.String()})


def rows_of(count, failure=None):
    for number in range(count):
        yield count - 1 - number, {"text": str(number)}
    if failure is not None:
        raise failure


@pytest.mark.parametrize("count", [0, 1, streaming.PIECE_ROWS, streaming.PIECE_ROWS + 1, 1000])
def test_pieces_hold_every_row_once_and_gather_in_order(count):
    pieces = list(in_pieces(rows_of(count), SCHEMA))
    assert [numbers.len() for numbers, _ in pieces] == [frame.height for _, frame in pieces]
    assert len(pieces) == -(-count // streaming.PIECE_ROWS)
    whole = gathered(pieces, SCHEMA.to_frame())
    assert whole["text"].to_list() == [str(count - 1 - number) for number in range(count)]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), SystemExit(1), InputError("no room")])
def test_what_came_before_a_failure_is_handed_over_first(failure):
    pieces = in_pieces(rows_of(3, failure), SCHEMA)
    assert next(pieces)[1]["text"].to_list() == ["0", "1", "2"]
    with pytest.raises(type(failure)):
        next(pieces)
    unwanted = in_pieces(rows_of(3, failure), SCHEMA)
    next(unwanted)
    with pytest.raises(type(failure)):
        unwanted.close()


def test_what_waits_is_handed_over_where_nothing_comes(monkeypatch):
    monkeypatch.setattr(streaming, "PIECE_S", 0.0)
    pieces = in_pieces(iter([None, (0, {"text": "a"}), None]), SCHEMA)
    assert [numbers.to_list() for numbers, _ in pieces] == [[], [0], []]


# -- an endpoint ---------------------------------------------------------------------------------------------


@pytest.fixture
def many(fixtures_of):
    return fixtures_of([(f"f{number}", "coding", ["db"]) for number in range(40)])


def test_an_interruption_in_the_middle_keeps_what_was_answered(router_of, server, many, corpus, tmp_path):
    """Ninety requests of 120 are answered when it is interrupted; a slice would be 128."""
    stuck = threading.Event()

    def answer(handler, number, _):
        if number < 90:
            handler.send(server.good())
            return
        if not stuck.is_set():
            stuck.set()
            threading.Timer(0.6, _thread.interrupt_main).start()
        handler.wait(1.5)

    server.behaviour = answer
    out, told = tmp_path / "runs.parquet", []
    given = {"out": out, "repeat": 3, "heuristics": False}
    router = router_of(concurrency=8, timeout_ms=60_000, budget_ms=60_000)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_router(router, many, corpus, progress=lambda *at: told.append(at), **given)
    assert time.monotonic() - began < 10
    assert told[0] == (0, 120)
    assert told[-1] == (90, 120)
    kept = pl.concat(pl.read_parquet(part) for part in parts_folder(out).glob("part-*"))
    assert kept["row"].n_unique() == kept.height == 90
    server.seen.clear()
    server.says(server.good())
    summary = run_router(router, many, corpus, **given)
    assert (summary.resumed, len(server.seen)) == (90, 30)
    again = run_router(router_of(concurrency=1), many, corpus, **given | {"out": tmp_path / "whole.parquet"})
    assert again.runs == 120
    both = [pl.read_parquet(tmp_path / name).drop("latency_ms") for name in ("runs.parquet", "whole.parquet")]
    assert both[0].equals(both[1])


def test_progress_is_told_while_answers_come(router_of, server, many, corpus, tmp_path):
    def answer(handler, _):
        handler.wait(0.05)
        handler.send(server.good())

    server.answers(answer)
    told = []
    options = {"out": tmp_path / "runs.parquet", "repeat": 1, "heuristics": False}
    run_router(router_of(concurrency=2), many, corpus, progress=lambda *at: told.append(at[0]), **options)
    steps = [after - before for before, after in pairwise(told)]
    assert sum(steps) == 40
    assert max(steps) <= 20, "of one second, a fifth is a piece"


def test_closing_the_stream_calls_off_what_is_on_its_way(router_of, server, requests_of):
    def answer(handler, number, _):
        if number:
            handler.wait(5)
        handler.send(server.good())

    server.behaviour = answer
    router = router_of(concurrency=2, timeout_ms=60_000, budget_ms=60_000)
    assert isinstance(router, StreamingRouter)
    pieces = router.stream(requests_of(*["undo it please"] * 4))
    found = next(numbers for numbers, _ in pieces if numbers.len())
    assert found.len() == 1
    began = time.monotonic()
    pieces.close()
    assert time.monotonic() - began < 2
    server.over.set()


# -- what a router hands over --------------------------------------------------------------------------------


class Streams:
    batch = 4
    settings = {"router": "streams"}  # noqa: RUF012 - read only

    def __init__(self, corpus, pieces):
        self.pieces, self.corpus = pieces, corpus

    def shortlist(self, prompts):
        rows = {"shortlist": [["a:db"]] * len(prompts), "scores": [[1.0]] * len(prompts)}
        return pl.DataFrame(rows)

    def decide(self, requests):
        raise NotImplementedError

    def stream(self, requests):
        for numbers in self.pieces:
            row = {"decision": "skipped", "reason": "none"}
            yield (
                pl.Series(numbers, dtype=pl.Int64),
                pl.DataFrame(
                    [row | {"detail": f"{requests['fixture_id'][number % 4]}"} for number in numbers],
                    schema=OUTCOMES,
                ),
            )


def test_a_stream_may_come_in_any_order(fixtures, corpus, tmp_path):
    out = tmp_path / "runs.parquet"
    run_router(Streams(corpus, [[3], [], [1, 0], [2]]), fixtures, corpus, out=out, repeat=1, heuristics=False)
    assert pl.read_parquet(out)["detail"].to_list() == fixtures.frame["fixture_id"].to_list()


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([[0, 1], [1, 2, 3]], "found the row number 1, expected each below 4 once"),
        ([[0, 0]], "found the row number 0, expected"),
        ([[4]], "found the row number 4, expected"),
        ([[-1]], "expected the numbers of rows"),
        ([[0, 2, 3]], "1 of 4 rows missing, the first of them 1"),
    ],
)
def test_a_stream_that_is_not_every_row_once_is_refused(fixtures, corpus, tmp_path, pieces, message):
    router = Streams(corpus, pieces)
    with pytest.raises(UsageError, match=f"Streams.stream: .*{message}"):
        run_router(router, fixtures, corpus, out=tmp_path / "r.parquet", repeat=1, heuristics=False)


def test_a_router_without_a_stream_gets_slices(fixtures):
    sizes = []

    class Plain:
        batch = 2

        def decide(self, requests):
            sizes.append(requests.height)
            return requests

    requests, plain = fixtures.frame.head(3), Plain()
    assert [numbers.to_list() for numbers, _ in stream_of(plain, requests)] == [[0, 1], [2]]
    assert sizes == [2, 1]
    plain.batch = 0
    with pytest.raises(UsageError, match="batch: found 0"):
        list(stream_of(plain, requests))
