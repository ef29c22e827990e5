"""The router that is a user's own code: a function that picks, or an object that is a whole router."""

from __future__ import annotations

import inspect
import math
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from skillful_eval.names import nearest
from skillful_eval.router.protocol import OUTCOMES, Router, StreamingRouter
from skillful_eval.router.streaming import gathered, in_pieces, in_slices
from skillful_eval.sanitise.private import redact
from skillful_eval.schema import DEGRADED, INJECTED, NONE, SKIPPED
from skillful_eval.snapshot import FIELDS
from skillshift.frame.console import Terminated
from skillshift.frame.errors import TEXT_WIDTH, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillful_eval.corpus import Corpus
    from skillful_eval.router.streaming import Piece

BATCH = 16
"""How many prompts a function is given at a time by who cannot stream."""

FAILED, MALFORMED = "upstream", "malformed"
"""The causes of a function's degraded runs: it raised; it returned what is no decision."""

_ANSWER = ("choice", "none_p", "winner_p")
_EXPECTED = f'an id that was offered, "{NONE}", or a mapping with {", ".join(_ANSWER)}'
_CANDIDATE = ("id", "name", "description", "when_to_use")


_ENDS = (KeyboardInterrupt, Terminated)
"""What ends a run, whatever code it comes upon."""


class PythonRouter:
    """A user's own code as a router.

    Args:
        corpus: The corpus.
        retriever: What shortlists for a function; a whole router shortlists itself.
        reference: ``module:attribute``, the attribute with dots where it is one of an object. The module is
            looked for in the working folder too. The attribute is

            - a function of a prompt (text) and its candidates, best first: a list of dictionaries with
              ``id``, ``name``, ``description`` and, where the entry has one, ``whenToUse``. It returns an id
              that was offered, ``"none"``, or a dictionary with ``choice`` (such an id, or ``"none"``) and
              optionally ``none_p`` and ``winner_p`` (probabilities, which are written down). It decides
              itself: no threshold is applied.
            - or an object that follows :class:`skillful_eval.router.protocol.Router`.

    Raises:
        UsageError: The module cannot be imported, lacks the attribute, or the attribute is neither.

    A function's exceptions are degraded runs (cause ``upstream``), and so is a return value that is no
    decision (cause ``malformed``). The latency is that of the call, one at a time. Where a whole router's
    ``decide`` raises, all runs that it was given are degraded.

    Example:
        >>> import sys, types
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> mine = types.ModuleType("mine")
        >>> mine.first = lambda prompt, candidates: candidates[0]["id"]
        >>> sys.modules["mine"] = mine  # as a file mine.py in the working folder would
        >>> router = PythonRouter(corpus, se.Bm25Router(corpus), "mine:first")
        >>> asked = pl.DataFrame({"fixture_id": ["f"], "prompt": ["undo a migration"], "repeat": [0]})
        >>> requests = asked.hstack(router.shortlist(asked["prompt"]))
        >>> router.decide(requests)["chosen"][0] == requests["shortlist"][0][0]
        True
    """

    def __init__(self, corpus: Corpus, retriever: Router, reference: str) -> None:
        self._corpus = corpus
        self._retriever = retriever
        self._reference = reference
        value = _load(reference)
        self._whole: Router | None = None if inspect.isfunction(value) else _router(value, reference)
        self._function: Callable[..., Any] | None = None
        if self._whole is None:
            self._function = _function(value, reference)
        names = {column: name for name, column in FIELDS.items()}
        self._candidates = [
            {names[column]: text for column, text in row.items() if text is not None}
            for row in corpus.entries.select(_CANDIDATE).to_dicts()
        ]

    @property
    def is_whole(self) -> bool:
        """Whether the code shortlists too, so that the retriever is not used."""
        return self._whole is not None

    @property
    def batch(self) -> int | None:
        """How many requests :meth:`decide` is given at most."""
        return BATCH if self._whole is None else self._whole.batch

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells this configuration of the router from another."""
        own = self._retriever.settings if self._whole is None else self._whole.settings
        inner = {
            f"{'retriever' if self._whole is None else 'own'}.{name}": text for name, text in own.items()
        }
        return {"router": "python", "function": self._reference, **inner}

    def shortlist(self, prompts: pl.Series) -> pl.DataFrame:
        """The retriever's shortlists, or the whole router's.

        Raises:
            UsageError: The whole router raised.
        """
        if self._whole is None:
            return self._retriever.shortlist(prompts)
        try:
            return self._whole.shortlist(prompts)
        except _ENDS:
            raise
        except BaseException as error:
            raise UsageError(
                f"{self._reference}: shortlist raised {_told(error)}; expected a frame with a shortlist and "
                "scores for each prompt: without shortlists nothing can be decided, so mend that method"
            ) from error

    def decide(self, requests: pl.DataFrame) -> pl.DataFrame:
        """What the code decides: one row a request, with the columns of the protocol's outcomes."""
        if self._whole is None:
            return gathered(self.stream(requests), OUTCOMES.to_frame())
        try:
            return self._whole.decide(requests)
        except _ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - a user's code may raise anything, SystemExit too
            return pl.DataFrame([_failed(error)] * requests.height, schema=OUTCOMES)

    def stream(self, requests: pl.DataFrame) -> Iterator[Piece]:
        """As :meth:`decide`, each decision of a function handed over soon after it was made.

        A whole router streams if it can; else it is given slices of its batch.

        Args:
            requests: One row a request, with the columns of the protocol's requests.

        Yields:
            The numbers of some rows of the requests, and one row each with the columns of the protocol's
            outcomes.
        """
        if isinstance(self._whole, StreamingRouter):
            yield from self._streamed(self._whole, requests)
        elif self._whole is not None:
            yield from in_slices(self, requests)
        else:
            yield from in_pieces(self._called(requests), OUTCOMES)

    def _streamed(self, whole: StreamingRouter, requests: pl.DataFrame) -> Iterator[Piece]:
        """What a whole router streams; where it raises, the rest is degraded."""
        left = np.ones(requests.height, dtype=bool)
        try:
            for numbers, outcomes in whole.stream(requests):
                left[numbers.to_numpy()] = False
                yield numbers, outcomes
        except Exception as error:  # noqa: BLE001 - whatever a user's code raises is a failure, not ours
            numbers = pl.Series(np.flatnonzero(left))
            yield numbers, pl.DataFrame([_failed(error)] * numbers.len(), schema=OUTCOMES)

    def _called(self, requests: pl.DataFrame) -> Iterator[tuple[int, dict[str, Any]]]:
        shortlists = requests["shortlist"].list.eval(pl.element().to_physical()).to_list()
        for number, asked in enumerate(zip(requests["prompt"], shortlists, strict=True)):
            yield number, self._call(*asked)

    def _call(self, prompt: str, shortlist: Sequence[int]) -> dict[str, Any]:
        if self._function is None:
            raise UsageError(f"{self._reference}: not a function")
        candidates = [dict(self._candidates[code]) for code in shortlist]  # copies: the code may change them
        offered = {candidate["id"] for candidate in candidates}
        began = time.perf_counter()
        try:
            answer = self._function(prompt, candidates)
            row = _row(answer, offered)
        except _ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - a user's code may raise anything, SystemExit too
            row = _failed(error)
        return row | {"latency_ms": (time.perf_counter() - began) * 1000}


def _load(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    if not module or not attribute:
        raise UsageError(f"--function: found {shorten(reference)}, expected module:attribute")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)  # an installed command does not look into the working folder by itself
    try:
        value: Any = import_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{reference}: the module {module} cannot be imported: {_told(error)}") from error
    try:
        for name in attribute.split("."):
            value = getattr(inside := value, name)
    except AttributeError as error:
        known = [one for one in dir(inside) if not one.startswith("_")]
        close = nearest(name, known)
        near = f"; the nearest are {', '.join(close)}" if close else ""
        raise UsageError(
            f"{reference}: found no {shorten(name)} in it, expected the name of a function or a router that "
            f"{module} has{near}"
        ) from error
    return value


def _router(value: Any, reference: str) -> Router | None:
    """A whole router, or None where the value does not look like one."""
    parts = ("batch", "settings", "shortlist", "decide")
    lacks = [name for name in parts if not hasattr(value, name)]
    if "shortlist" in lacks or "decide" in lacks:
        return None
    if inspect.isclass(value):
        raise UsageError(f"{reference}: found a class, expected an object of it, or a function")
    if lacks:
        raise UsageError(f"{reference}: lacks {' and '.join(lacks)}; a router has {', '.join(parts)}")
    if not isinstance(value.settings, Mapping):
        raise UsageError(
            f"{reference}: settings: found {shorten(value.settings)}, expected names and values, as text"
        )
    router: Router = value
    return router


def _function(value: Any, reference: str) -> Callable[..., Any]:
    expected = "expected a function of a prompt and its candidates, or an object with shortlist and decide"
    if not callable(value) or inspect.isclass(value):
        found = "a class" if inspect.isclass(value) else type(value).__name__
        raise UsageError(f"{reference}: found {found}, {expected}")
    if inspect.iscoroutinefunction(value):
        raise UsageError(f"{reference}: found an asynchronous function; wrap it in one that waits for it")
    try:
        inspect.signature(value).bind("", [])
    except TypeError as error:
        raise UsageError(f"{reference}: {expected}: {error}") from error
    except ValueError:  # a function in C may not tell what it takes
        pass
    function: Callable[..., Any] = value
    return function


def _row(answer: Any, offered: set[str]) -> dict[str, Any]:
    """The decision that an answer stands for."""
    told = {"choice": answer} if isinstance(answer, str) else answer
    wrong = _wrong(told, offered)
    if wrong:
        return {"decision": DEGRADED, "reason": MALFORMED, "detail": wrong}
    chances = {name: None if told.get(name) is None else float(told[name]) for name in _ANSWER[1:]}
    if told["choice"] == NONE:
        return {"decision": SKIPPED, "reason": NONE, **chances}
    return {"decision": INJECTED, "chosen": told["choice"], **chances}


def _wrong(told: Any, offered: set[str]) -> str | None:
    """What is wrong with an answer, or None."""
    if not isinstance(told, dict):
        return f"returned {redact(shorten(told))}, expected {_EXPECTED}"
    unknown = [name for name in told if name not in _ANSWER]
    if unknown or "choice" not in told:
        return f"returned a mapping with {redact(shorten(list(map(str, told))))}, expected {_EXPECTED}"
    choice = told["choice"]
    if not isinstance(choice, str) or (choice != NONE and choice not in offered):
        return f"chose {redact(shorten(choice))}, which was not offered"
    for name in _ANSWER[1:]:
        chance = told.get(name)
        if chance is None:
            continue
        number = not isinstance(chance, bool) and hasattr(chance, "__float__")
        if not number or math.isnan(float(chance)) or not 0 <= float(chance) <= 1:
            return f"{name}: found {redact(shorten(chance))}, expected a probability, 0 to 1"
    return None


def _failed(error: BaseException) -> dict[str, Any]:
    """The run in which code raised."""
    return {"decision": DEGRADED, "reason": FAILED, "detail": _told(error)}


def _told(error: BaseException) -> str:
    """An exception's type and first line, without what looks private."""
    try:
        said = str(error).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - what it says is made by a user's code too
        said = ""
    first = said.strip().partition("\n")[0]
    text = f"{type(error).__name__}: {redact(first)}" if first else type(error).__name__
    return text if len(text) <= 2 * TEXT_WIDTH else text[: 2 * TEXT_WIDTH - 3] + "..."
