"""The answers of an endpoint: their wire form, and the columns that they become."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.documents import FlawError, parse_json
from skillful_eval.schema import NONE
from skillshift.frame.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import ValidationError

ANSWERS = pl.Schema(
    {
        "cause": pl.String(),
        "detail": pl.String(),
        "choice": pl.String(),
        "none_p": pl.Float64(),
        "winner_p": pl.Float64(),
    }
)
"""What the thresholds judge: ``cause`` (of :data:`~skillful_eval.router.protocol.CAUSES`) and ``detail``,
null where the endpoint answered as documented; its ``choice``, an id or ``none``; the probability that it
gave to none and to its choice (the same one where it chose none)."""

REPLIES = pl.Schema(
    {
        **ANSWERS,
        "latency_ms": pl.Float64(),
        "latency_reason": pl.String(),
        "tokens_in": pl.Int64(),
        "tokens_out": pl.Int64(),
        "model": pl.String(),
        "response_index": pl.Int64(),
        "nouls": pl.List(pl.Float64()),
    }
)
"""All that is kept of a reply. ``nouls`` says how useful each candidate of the shortlist is, 0 to 1, in the
shortlist's order: an item is null where the endpoint did not say, all where it is not known that the
shortlist was the one that it was asked about."""

CANDIDATES = "candidates"
"""The field of a recorded response that may hold the ids that were offered, in order."""

NAME_CHARACTERS = 1_000
"""No name of a model is longer than this."""

SHOWN_CHARACTERS = 200
"""No detail is longer than this."""


class MalformedError(ValueError):
    """An answer is not as documented; the message says how, in one short line."""


def parse(content: bytes, shortlist: Sequence[str], *, recorded: bool = False) -> dict[str, Any]:
    """Read the body of an answer.

    Args:
        content: JSON text as UTF-8: ``answers`` with ``primary`` (``choice``: an id or ``none``;
            ``probabilities``: of its choice, of ``none`` and of any other id, each 0 to 1; ``confidence`` may
            be left out) and ``c0``, ``c1``... (each ``noul``, 0 to 1; any may be left out). ``model`` and
            ``usage`` (``input_tokens``, ``output_tokens``) may be left out or null. Other fields are passed
            over.
        shortlist: The ids that were offered, in order.
        recorded: Whether a recording answered: what it says by position (``c0``...) is then used only where
            it also holds the same ``candidates`` in the same order. Ids among its probabilities that are
            the same as the shortlist's do not tell the order, so they are not enough.

    Returns:
        Those columns of :data:`REPLIES` that the answer gives a value.

    Raises:
        MalformedError: It is not so. Whether the choice was offered is not looked at here.

    Example:
        >>> primary = b'{"choice": "a", "probabilities": {"a": 0.9, "none": 0.1}}'
        >>> parse(b'{"answers": {"primary": ' + primary + b"}}", ["a"])
        {'choice': 'a', 'none_p': 0.1, 'winner_p': 0.9, 'nouls': [None]}
    """
    return parse_document(_document(content), shortlist, recorded=recorded)


def parse_document(
    document: Mapping[str, Any], shortlist: Sequence[str], *, recorded: bool = False
) -> dict[str, Any]:
    """As :func:`parse`, of the JSON object that the body holds."""
    from pydantic import ValidationError

    from skillful_eval.router.wire import Reply

    answers = document.get("answers")
    by_position = answers if isinstance(answers, dict) else {}
    useful = [by_position.get(position(place)) for place in range(len(shortlist))]
    try:
        reply = Reply.model_validate({**document, "useful": useful})
    except ValidationError as error:
        raise MalformedError(_told(error)) from None
    primary, usage = reply.answers.primary, reply.usage
    for name in (primary.choice, NONE):
        if name not in primary.probabilities:
            raise MalformedError(f"answers.primary.probabilities: nothing for {shorten(name)}")
    row = {
        "choice": primary.choice,
        "none_p": primary.probabilities[NONE],
        "winner_p": primary.probabilities[primary.choice],
        "tokens_in": usage and usage.input_tokens,
        "tokens_out": usage and usage.output_tokens,
        "model": reply.model,
    }
    if not recorded or document.get(CANDIDATES) == list(shortlist):
        row["nouls"] = [one and one.noul for one in reply.useful]
    return {name: value for name, value in row.items() if value is not None}


def questions(shortlist: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What is asked about a shortlist: one ``primary`` choice, and how useful each candidate is.

    >>> list(questions(["a", "b"]))
    ['primary', 'c0', 'c1']
    """
    primary = {
        "type": "choice",
        "question": "Which one candidate does the task need? None, if it needs none of them.",
        "options": [*shortlist, NONE],
    }
    useful = {
        position(place): {
            "type": "noul",
            "question": "How useful is this candidate for the task, from 0 to 1?",
            "candidate": name,
        }
        for place, name in enumerate(shortlist)
    }
    return {"primary": primary, **useful}


def position(place: int) -> str:
    """The name of what is asked about a candidate.

    >>> position(0)
    'c0'
    """
    return f"c{place}"


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        document = parse_json(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON: {error.msg} at character {error.pos}") from None
    except UnicodeDecodeError:
        raise MalformedError("not JSON: not UTF-8 text") from None
    except FlawError as error:
        raise MalformedError(str(error)) from None
    if not isinstance(document, dict):
        raise MalformedError(f"found {shorten(document)}, expected a JSON object")
    return document


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(_named(part) for part in _place(first["loc"]))
    if first["type"] == "missing":
        return f"{where}: missing"
    wanted = "Input should be an object" if first["type"] == "model_type" else first["msg"]
    return f"{where}: {wanted} (found {shorten(first['input'])})"


def _place(where: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where it stands in the answer: what is said of each candidate was taken aside."""
    match where:
        case ("useful", int(place), *rest):
            return ("answers", position(place), *rest)
    return where


def _named(part: int | str) -> str:
    return part if isinstance(part, str) and part.isidentifier() else shorten(part)
