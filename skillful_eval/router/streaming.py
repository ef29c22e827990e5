"""Decisions as they come: single ones in pieces, pieces put together, and routers that decide in slices."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.router.protocol import StreamingRouter
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from skillful_eval.router.protocol import Router

    Piece = tuple[pl.Series, pl.DataFrame]

PIECE_S, PIECE_ROWS = 0.2, 256
"""A piece is handed over after so many seconds, or with so many rows: a frame of one row would cost more."""

_GLANCE = 0.1
"""Seconds without an answer after which what came before is handed over."""


def stream_of(router: Router, requests: pl.DataFrame) -> Iterator[Piece]:
    """What any router decides, piece by piece.

    Args:
        router: The router: one that streams, or one that decides in slices of its batch.
        requests: What it is to decide on.

    Returns:
        As :meth:`~skillful_eval.router.protocol.StreamingRouter.stream`.

    Raises:
        UsageError: The router's batch is less than 1.
    """
    return router.stream(requests) if isinstance(router, StreamingRouter) else in_slices(router, requests)


def in_slices(router: Router, requests: pl.DataFrame) -> Iterator[Piece]:
    """What a router decides, slice by slice of its batch, as :func:`stream_of`."""
    batch = max(requests.height, 1) if router.batch is None else router.batch
    if batch < 1:
        raise UsageError(f"{type(router).__name__}.batch: found {batch}, expected a whole number from 1")
    numbers = pl.int_range(requests.height, dtype=pl.UInt32, eager=True)
    for start in range(0, requests.height, batch):
        yield numbers.slice(start, batch), router.decide(requests.slice(start, batch))


def in_pieces(rows: Iterable[tuple[int, dict[str, Any]] | None], schema: pl.Schema) -> Iterator[Piece]:
    """Put single decisions into pieces.

    Args:
        rows: The number of a request and the columns that have a value; null where a moment passed without
            any, so that what waits does not wait for the next one.
        schema: The columns.

    Yields:
        Pieces; an empty one where nothing came for a moment. Where the rows end in an exception, an
        interruption too, what came before is handed over first.
    """
    source = iter(rows)
    failure: BaseException | None = None
    kept: list[tuple[int, dict[str, Any]]] = []
    since = time.monotonic()
    while True:
        try:
            row = next(source)
        except StopIteration:
            break
        except BaseException as error:  # noqa: BLE001 - raised again below
            failure = error
            break
        if row is not None:
            kept.append(row)
        if len(kept) >= PIECE_ROWS or time.monotonic() - since >= PIECE_S:
            yield _piece(kept, schema)
            kept, since = [], time.monotonic()
    try:
        if kept:
            yield _piece(kept, schema)
    finally:
        if failure is not None:  # also where nobody wants the last piece
            raise failure


def _piece(rows: list[tuple[int, dict[str, Any]]], schema: pl.Schema) -> Piece:
    numbers = pl.Series([number for number, _ in rows], dtype=pl.UInt32)
    return numbers, pl.DataFrame([row for _, row in rows], schema=schema)


def gathered(pieces: Iterable[Piece], empty: pl.DataFrame) -> pl.DataFrame:
    """Put pieces together.

    Args:
        pieces: Pieces that have every row once.
        empty: What no rows are.

    Returns:
        The rows, in the order of their numbers.
    """
    numbers, frames = [pl.Series(dtype=pl.UInt32)], [empty]
    for number, frame in pieces:
        numbers.append(number)
        frames.append(frame)
    return pl.concat(frames)[pl.concat(numbers).arg_sort()]


def at_once(
    ask: Callable[..., dict[str, Any]],
    requests: Iterable[tuple[Any, ...]],
    count: int,
    most: int,
    called_off: threading.Event,
) -> Generator[tuple[int, dict[str, Any]] | None, None, None]:
    """Ask about many requests, several at a time.

    Args:
        ask: Asks about one; in threads.
        requests: What it takes for each.
        count: How many requests there are.
        most: How many are on their way at most.
        called_off: Is set at the end, where it is closed or breaks off too, so that no answer is waited for.

    Yields:
        The number of a request and its answer, as they come; null where none does for a moment.

    Raises:
        BaseException: What asking raises; answers before it were handed over.
    """
    left = enumerate(requests)
    arrived: SimpleQueue[tuple[int, dict[str, Any]] | BaseException] = SimpleQueue()
    turn = threading.Lock()

    def ask_on() -> None:
        """Ask about one request after the other, until none is left or nobody wants an answer."""
        try:
            while not called_off.is_set():
                with turn:
                    number, request = next(left, (-1, None))
                if request is None:
                    return
                arrived.put((number, ask(*request)))
        except BaseException as error:  # noqa: BLE001 - raised where answers are waited for
            arrived.put(error)

    workers = min(most, count)
    pool = ThreadPoolExecutor(max(1, workers), "endpoint")
    try:
        for _ in range(workers):
            pool.submit(ask_on)
        while count:
            try:
                found = arrived.get(timeout=_GLANCE)
            except Empty:
                yield None
                continue
            if isinstance(found, BaseException):
                raise found
            count -= 1
            yield found
    finally:
        # Where it was interrupted, or nothing can go on, what waits or is on its way ends too.
        called_off.set()
        pool.shutdown(wait=True, cancel_futures=True)
