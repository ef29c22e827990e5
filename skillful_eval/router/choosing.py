"""The routers that a command line can choose: what each takes, needs, and how it is made.

Importing this module imports no router: a command line lists their names before it needs one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack
    from pathlib import Path

    import httpx

    from skillful_eval.corpus import Corpus
    from skillful_eval.router.protocol import Router

REPLAY_URL = "http://replay.invalid/"
"""What a replay's requests are addressed to; nothing is sent there."""


@dataclass(frozen=True, slots=True)
class Made:
    """A router that was made, and what belongs to a run of it.

    Attributes:
        router: The router.
        written: To be called when the runs are written: it completes the recording.
        facts: Where its responses come from or go to, for the runs' metadata.
    """

    router: Router
    written: Callable[[], object] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """A router that can be chosen.

    Attributes:
        make: Makes it of a corpus, the options that were given, by name, and a stack that closes what it
            opens.
        takes: The options that it takes.
        needs: The options that it cannot do without.
        packages: The packages beside Polars that its results depend on.
    """

    make: Callable[[Corpus, Mapping[str, Any], ExitStack], Made]
    takes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = field(default=())


def _bm25(corpus: Corpus, given: Mapping[str, Any], _: ExitStack) -> Made:
    return Made(_retriever(corpus, given))


def _retriever(corpus: Corpus, given: Mapping[str, Any]) -> Router:
    from skillful_eval.router.bm25 import Bm25Router
    from skillful_eval.router.quotas import parse_quotas

    return Bm25Router(
        corpus,
        quotas=parse_quotas(given.get("quota", ())),
        when_to_use=not given.get("without_when_to_use", False),
        retrieval_only=given.get("retrieval_only", False),
    )


def _http(corpus: Corpus, given: Mapping[str, Any], closing: ExitStack) -> Made:
    from skillful_eval.router.http import HttpRouter
    from skillful_eval.router.thresholds import Thresholds

    thresholds = {"none": given.get("none_threshold"), "winner": given.get("winner_floor")}
    names = ("model", "budget_ms", "timeout_ms", "retries", "concurrency", "max_prompt_chars", "key")
    url = given.get("url", REPLAY_URL)
    router = partial(
        HttpRouter,
        corpus,
        _retriever(corpus, given),
        url,
        thresholds=Thresholds(**{name: value for name, value in thresholds.items() if value is not None}),
        upload_prompts=not given.get("no_prompt_upload", False),
        **{name: given[name] for name in names if name in given},
    )
    live = router()  # what cannot be is refused before a recording is begun
    if "replay" in given:
        return _replayed(router, given["replay"])
    if "record" in given:
        from skillful_eval.router.connection import DeadlineTransport

        concurrency = given.get("concurrency", signature(HttpRouter).parameters["concurrency"].default)
        transport = DeadlineTransport(url, connections=concurrency)
        return _recorded(router, transport, given["record"], closing)
    return Made(live)


def _replayed(router: Callable[..., Router], path: Path) -> Made:
    from skillful_eval.recording.document import read_recording
    from skillful_eval.recording.transport import ReplayTransport
    from skillshift.frame.writing import sha256

    recording = read_recording(path)  # of an interrupted run, its journal is what there is
    transport = ReplayTransport(recording)
    return Made(router(transport=transport), facts={"replay": f"sha256:{sha256(recording.source)}"})


def _recorded(
    router: Callable[..., Router], asks: httpx.BaseTransport, path: Path, closing: ExitStack
) -> Made:
    from skillful_eval.recording.journal import finish
    from skillful_eval.recording.transport import RecordingTransport

    transport = RecordingTransport(asks, path)
    closing.callback(transport.close)
    # The name alone: where it lies is nobody's business who reads the runs.
    return Made(router(transport=transport), lambda: finish(path), {"record": path.name})


def _python(corpus: Corpus, given: Mapping[str, Any], _: ExitStack) -> Made:
    from skillful_eval.router.python import PythonRouter

    router = PythonRouter(corpus, _retriever(corpus, given), given["function"])
    refuse = [name for name in _RETRIEVAL if name in given]
    if router.is_whole and refuse:
        raise UsageError(f"{option(refuse[0])}: {given['function']} is a whole router and shortlists itself")
    return Made(router)


_RETRIEVAL = ("quota", "without_when_to_use")
_LIVE = ("url", "key_variable")

ROUTERS: dict[str, Choice] = {
    "bm25": Choice(_bm25, (*_RETRIEVAL, "retrieval_only"), packages=("bm25s",)),
    "http": Choice(
        _http,
        (
            *_RETRIEVAL,
            *_LIVE,
            "model",
            "record",
            "replay",
            "none_threshold",
            "winner_floor",
            "budget_ms",
            "timeout_ms",
            "retries",
            "concurrency",
            "max_prompt_chars",
            "no_prompt_upload",
        ),
        packages=("bm25s", "httpx"),
    ),
    "python": Choice(_python, (*_RETRIEVAL, "function"), needs=("function",), packages=("bm25s",)),
}
"""The routers by name."""


def option(name: str) -> str:
    """An option as it is typed.

    >>> option("retrieval_only")
    '--retrieval-only'
    """
    return "--" + name.replace("_", "-")


def check_options(router: str, given: Mapping[str, Any]) -> None:
    """Refuse options that the chosen router does not take, lacks, or cannot use together.

    Args:
        router: The name of one of :data:`ROUTERS`.
        given: The options that were given, by name.

    Raises:
        UsageError: The first of them, named.
    """
    choice = ROUTERS[router]
    for name in given:
        if name not in choice.takes:
            others = [other for other, one in ROUTERS.items() if name in one.takes]
            raise UsageError(
                f"{option(name)}: --router {router} does not take it; --router {' or '.join(others)} does"
            )
    for name in choice.needs:
        if name not in given:
            raise UsageError(f"--router {router} needs {option(name)}")
    if router == "http":
        _check_source(given)


def _check_source(given: Mapping[str, Any]) -> None:
    """Where responses come from: an endpoint, or a recording."""
    if "replay" not in given:
        if "url" not in given:
            raise UsageError("--router http needs --url, or --replay with a recording")
        return
    if "record" in given:
        raise UsageError("--record and --replay: a replay has nothing new to record; leave one of them out")
    for name in _LIVE:
        if name in given:
            raise UsageError(f"{option(name)}: a replay sends nothing, so it takes no {option(name)}")
