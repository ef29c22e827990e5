"""What is kept of a response: the fields that decisions rest on, of the right type."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from skillful_eval.documents import encodes
from skillful_eval.router.answers import NAME_CHARACTERS
from skillshift.frame.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

Response = dict[str, Any]
"""``answers`` with ``primary`` and, as far as given, ``c0``, ``c1``...; ``model`` and ``usage`` if given."""

TOKENS = ("input_tokens", "output_tokens")
"""What ``usage`` counts."""

PROBABILITIES = "probabilities"

_POSITIONAL = re.compile(r"c(?:0|[1-9]\d*)", re.ASCII)


class WrongError(ValueError):
    """A value is not of the type that it must have; the message says where, what was found and expected."""

    def within(self, where: str) -> WrongError:
        """The same, in something larger."""
        return WrongError(f"{where}: {self}")


def wrong(place: str, found: str, expected: str) -> WrongError:
    """Say that a value is wrong.

    Args:
        place: The fields that lead to the value, separated by full stops; empty for the whole.
        found: What was found, for messages.
        expected: What was expected.
    """
    return WrongError(f"{place}: found {found}, expected {expected}".removeprefix(": "))


def checked(value: Any) -> Response:
    """What is kept of a response.

    Only types are looked at, so that an answer that makes no sense is recorded, and replayed, as it is.
    Optional fields may be null, which is as good as left out; unknown fields are left out.

    Args:
        value: A JSON value.

    Returns:
        The fields of :data:`Response`.

    Raises:
        WrongError: There are no answers, or a field has the wrong type.

    >>> checked({"id": 7, "answers": {"primary": {"choice": "a", "probabilities": {"a": 1}}, "other": 1}})
    {'answers': {'primary': {'choice': 'a', 'probabilities': {'a': 1}}}}
    >>> checked({"answers": {"primary": {"choice": 1}}})
    Traceback (most recent call last):
    skillful_eval.recording.responses.WrongError: answers.primary.choice: found 1, expected text
    """
    _object("", value)
    kept: Response = {}
    _keep(kept, value, "", "model", _name)
    answers = _object("answers", _of(value, "answers", ""))
    kept["answers"] = {
        "primary": _primary(_of(answers, "primary", "answers.")),
        **{
            name: _useful(f"answers.{name}", answer)
            for name, answer in answers.items()
            if _POSITIONAL.fullmatch(name) and answer is not None
        },
    }
    if value.get("usage") is not None:
        usage = _object("usage", value["usage"])
        kept["usage"] = {}
        for name in TOKENS:
            _keep(kept["usage"], usage, "usage.", name, whole)
    return kept


def _primary(value: Any) -> dict[str, Any]:
    place = "answers.primary"
    given = _object(place, value)
    kept: dict[str, Any] = {}
    _keep(kept, given, f"{place}.", "type", text)
    kept["choice"] = text(f"{place}.choice", _of(given, "choice", f"{place}."))
    _keep(kept, given, f"{place}.", "confidence", _number)
    under = f"{place}.{PROBABILITIES}"
    probabilities = _object(under, _of(given, PROBABILITIES, f"{place}."))
    kept[PROBABILITIES] = {
        text(under, name): _number(f"{under}.{name}", number) for name, number in probabilities.items()
    }
    return kept


def _useful(place: str, value: Any) -> dict[str, Any]:
    given = _object(place, value)
    kept: dict[str, Any] = {}
    _keep(kept, given, f"{place}.", "type", text)
    _keep(kept, given, f"{place}.", "noul", _number)
    return kept


def _keep(
    kept: dict[str, Any], given: dict[str, Any], under: str, name: str, check: Callable[[str, Any], Any]
) -> None:
    if given.get(name) is not None:
        kept[name] = check(f"{under}{name}", given[name])


def _of(given: dict[str, Any], name: str, under: str) -> Any:
    if name not in given:
        raise wrong(f"{under}{name}", "nothing", "a value")
    return given[name]


def _object(place: str, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise wrong(place, shorten(value), "an object")
    return value


def text(place: str, value: Any) -> str:
    """A value that must be text.

    Raises:
        WrongError: It is something else, or has half of a surrogate pair.
    """
    if type(value) is not str or not encodes(value):
        raise wrong(place, shorten(value), "text")
    return value


def _name(place: str, value: Any) -> str:
    name = text(place, value)
    if len(name) > NAME_CHARACTERS:
        raise wrong(place, f"{len(name):,} characters", f"a name of up to {NAME_CHARACTERS:,}")
    return name


def whole(place: str, value: Any) -> int:
    """A value that must be a whole number from 0.

    Raises:
        WrongError: It is something else.
    """
    if type(value) is not int or value < 0:
        raise wrong(place, shorten(value), "a whole number from 0")
    return value


def _number(place: str, value: Any) -> float:
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    raise wrong(place, shorten(value), "a number")
