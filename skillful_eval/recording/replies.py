"""All answers of a recording at once: what a replay gives, without requests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.router.answers import REPLIES, SHOWN_CHARACTERS, MalformedError, parse_document
from skillful_eval.router.protocol import REPLAYED
from skillful_eval.sanitise.private import redact
from skillful_eval.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillful_eval.recording.document import Recording
    from skillful_eval.recording.responses import Response

_ANSWERED = pl.Schema({name: dtype for name, dtype in REPLIES.items() if name != "nouls"})


def recorded_replies(recording: Recording, requests: pl.DataFrame, tasks: pl.Series) -> pl.DataFrame:
    """What a recording answers to requests that offer nothing: each response is read once.

    What an answer says by position depends on what is offered, so that is left out here.

    Args:
        recording: The recording.
        requests: One row a request, with ``fixture_id`` (text) and ``repeat`` (Int64, from 0).
        tasks: The task texts that would be sent (text), see :func:`~skillful_eval.router.prompts.sent`.

    Returns:
        One row a request, in order, with the columns of :data:`~skillful_eval.router.answers.REPLIES` but
        ``nouls``: what :meth:`~skillful_eval.router.http.HttpRouter.ask` gives over
        :class:`~skillful_eval.recording.transport.ReplayTransport` where the shortlists are empty.

    Example:
        >>> from skillful_eval.recording.document import Entry, Recording
        >>> answers = {"primary": {"choice": "a", "probabilities": {"a": 0.75, "none": 0.25}}}
        >>> recording = Recording({"f": Entry("tidy up", {0: {"answers": answers}})}, "recording.json")
        >>> requests = pl.DataFrame({"fixture_id": ["f", "f"], "repeat": [0, 1]})
        >>> found = recorded_replies(recording, requests, pl.Series(["tidy up", "another"]))
        >>> found.select("cause", "choice", "winner_p").rows()
        [(None, 'a', 0.75), ('unrecorded', None, None)]
    """
    rows: list[dict[str, Any]] = []
    shown = cache(redact)  # a choice occurs many times
    seen: dict[tuple[int, int], int] = {}
    places = []
    for task, fixture, repeat in zip(tasks, requests["fixture_id"], requests["repeat"], strict=True):
        found = recording.lookup(task, fixture, repeat)
        if found is None:
            places.append(len(rows))
            detail = recording.lacking(fixture, repeat)[:SHOWN_CHARACTERS]
            rows.append({"cause": "unrecorded", "detail": detail})
            continue
        response, index = found
        # The recording holds its responses, so an identity is that of one response throughout.
        place = seen.setdefault((id(response), index), len(rows))
        if place == len(rows):
            rows.append(_row(response, shown) | {"response_index": index})
        places.append(place)
    answered = pl.DataFrame(rows, schema=_ANSWERED).with_columns(latency_reason=pl.lit(REPLAYED))
    return answered[pl.Series(places, dtype=pl.UInt32)]


def _row(response: Response, shown: Callable[[str], str]) -> dict[str, Any]:
    """The columns of one response that have a value."""
    try:
        row = parse_document(response, (), recorded=True)
    except MalformedError as error:
        return {"cause": "malformed", "detail": redact(str(error))[:SHOWN_CHARACTERS]}
    choice = row["choice"]
    row.pop("nouls", None)
    if "model" in row:
        row["model"] = shown(row["model"])
    return row | {"choice": choice if choice == NONE else shown(choice)}
