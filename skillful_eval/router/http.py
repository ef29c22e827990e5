"""The router that asks an endpoint: any that answers the documented questions over HTTP."""

from __future__ import annotations

import json
import re
import threading
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.router.answers import CANDIDATES, REPLIES, questions
from skillful_eval.router.prompts import INSTALL, sent
from skillful_eval.router.protocol import OUTCOMES, REQUESTS
from skillful_eval.router.streaming import at_once, gathered, in_pieces
from skillful_eval.router.thresholds import Thresholds, judged
from skillful_eval.snapshot import FIELDS
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    import httpx

    from skillful_eval.corpus import Corpus
    from skillful_eval.router.endpoint import Endpoint
    from skillful_eval.router.protocol import Router
    from skillful_eval.router.streaming import Piece

EXTENSION = "skillful_eval"
"""The extension of a request that tells a transport which ``fixture`` and ``repeat`` it is for."""

FIELD_NAMES = {column: name for name, column in FIELDS.items()}
"""What a corpus snapshot, and a request, calls the columns of an entry."""

_SENT = ("id", "name", "description", "when_to_use")
"""The columns of an entry that are sent, under the names that a corpus snapshot gives them."""

_ROUNDS = 16
"""How many requests for each that can be in flight :meth:`HttpRouter.decide` is given at a time."""

_MOST_CONNECTIONS = 256

_SECRET_LENGTH = 8
"""A value in an address's query that is as long may be a key; a shorter one is in too many other words."""


class HttpRouter:
    """Asks an endpoint which candidate of a shortlist a prompt needs.

    Args:
        corpus: The corpus.
        retriever: What makes the shortlists.
        url: The endpoint's address (http or https). A key does not belong there.
        model: The model to ask for; null leaves it to the endpoint.
        thresholds: When an answer is an abstention.
        budget_ms: Milliseconds for one decision, with all its attempts and waits.
        timeout_ms: Milliseconds for one attempt.
        retries: How many attempts may follow the first: after a status of 408, 429 or 5xx, an attempt that
            took too long, or a connection that failed. Nothing else is tried again.
        concurrency: How many requests are in flight at most.
        max_prompt_chars: At most so many characters of a prompt are sent, see
            :func:`~skillful_eval.router.prompts.sent`; null sends all.
        upload_prompts: Whether prompts are sent; if not, a placeholder is, and only the shortlist tells the
            endpoint what it is about.
        key: Sent as a bearer token; it is in no setting, message, or answer that is kept.
        transport: Sends the requests instead of connections of its own; it is not closed.
        backoff_ms: Milliseconds before the second attempt, doubled before every further one. A longer wait
            that the endpoint asks for (Retry-After) goes before it; one that does not fit into the budget
            ends the decision.

    Raises:
        UsageError: One of them cannot be so, or httpx is not installed. The key is never repeated.

    Example:
        >>> import httpx
        >>> import skillful_eval as se
        >>> from skillful_eval.router.bm25 import Bm25Router
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> primary = {"choice": "none", "probabilities": {"none": 1}}
        >>> answer = {"answers": {"primary": primary}}
        >>> endpoint = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
        >>> router = HttpRouter(corpus, Bm25Router(corpus), "http://localhost/", transport=endpoint)
        >>> requests = router.shortlist(pl.Series(["tidy up"])).with_columns(
        ...     fixture_id=pl.lit("f"), prompt=pl.lit("tidy up"), repeat=pl.lit(0)
        ... )
        >>> router.decide(requests).select("decision", "reason", "none_p").row(0)
        ('skipped', 'none', 1.0)
    """

    def __init__(
        self,
        corpus: Corpus,
        retriever: Router,
        url: str,
        *,
        model: str | None = None,
        thresholds: Thresholds | None = None,
        budget_ms: float = 30_000,
        timeout_ms: float = 10_000,
        retries: int = 2,
        concurrency: int = 8,
        max_prompt_chars: int | None = None,
        upload_prompts: bool = True,
        key: str | None = None,
        transport: httpx.BaseTransport | None = None,
        backoff_ms: float = 250,
    ) -> None:
        try:
            from skillful_eval.router.endpoint import Patience, cleaner
        except ImportError as error:
            raise UsageError(
                f"the http router needs the library httpx, which is missing: {INSTALL}"
            ) from error
        if type(concurrency) is not int or not 1 <= concurrency <= _MOST_CONNECTIONS:
            raise UsageError(
                f"concurrency: found {shorten(concurrency)}, expected 1 to {_MOST_CONNECTIONS} requests"
            )
        self._retriever = retriever
        self._url, shown, secrets = _checked_url(url)
        self._model = model
        self._thresholds = Thresholds() if thresholds is None else thresholds
        self._patience = Patience(budget_ms, timeout_ms, retries, backoff_ms)
        self._concurrency = concurrency
        self._max_prompt_chars = max_prompt_chars
        self._upload_prompts = upload_prompts
        sent(pl.Series([""]), max_chars=max_prompt_chars)  # refuses a limit that cannot be one
        self._transport = transport
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {_checked_key(key)}"
        self._clean = cleaner([key or "", *secrets])
        self._candidates = {
            row["id"]: {FIELD_NAMES[column]: text for column, text in row.items() if text is not None}
            for row in corpus.entries.select(_SENT).to_dicts()
        }
        self._settings = {
            "router": "http",
            "url": shown,
            "model": model,
            **{f"retriever.{name}": text for name, text in retriever.settings.items()},
            "none-threshold": str(self._thresholds.none),
            "winner-floor": str(self._thresholds.winner),
            "max-prompt-chars": None if max_prompt_chars is None else str(max_prompt_chars),
            "upload-prompts": "yes" if upload_prompts else "no",
        }

    @property
    def batch(self) -> int:
        """So many that the requests in flight are renewed many times; :meth:`stream` needs no such slices."""
        return _ROUNDS * self._concurrency

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells this configuration from another; the address is without its query, the key not there."""
        return {name: text for name, text in self._settings.items() if text is not None}

    def shortlist(self, prompts: pl.Series) -> pl.DataFrame:
        """The retriever's shortlists, of the whole prompts, whatever of them is sent later."""
        return self._retriever.shortlist(prompts)

    def decide(self, requests: pl.DataFrame) -> pl.DataFrame:
        """Ask, and judge the answers by the thresholds.

        Args:
            requests: As :meth:`ask` takes them.

        Returns:
            One row a request, in order, with the columns of :data:`~skillful_eval.router.protocol.OUTCOMES`
            and ``nouls``, as :meth:`ask` gives it.

        Raises:
            UsageError: As :meth:`ask`.
        """
        return gathered(
            self.stream(requests), self._judged(REPLIES.to_frame(), requests["shortlist"].clear())
        )

    def stream(self, requests: pl.DataFrame) -> Iterator[Piece]:
        """As :meth:`decide`, every answer handed over soon after it came.

        Args:
            requests: As :meth:`ask` takes them.

        Yields:
            The numbers of some rows of the requests, and one row each as :meth:`decide` gives it. Closing
            the iterator, or an exception, calls off what is on its way.

        Raises:
            UsageError: As :meth:`ask`; what was answered before is handed over first.
        """
        with closing(self._replies(requests)) as pieces:
            for numbers, replies in pieces:
                yield numbers, self._judged(replies, requests["shortlist"].gather(numbers))

    def _judged(self, replies: pl.DataFrame, shortlists: pl.Series) -> pl.DataFrame:
        answered = replies.with_columns(shortlists.alias("shortlist"))
        return answered.with_columns(judged(self._thresholds)).select(*OUTCOMES, "nouls").cast(OUTCOMES)

    def ask(self, requests: pl.DataFrame) -> pl.DataFrame:
        """Ask the endpoint about every request; at most ``concurrency`` at a time.

        Args:
            requests: One row a request, with the columns of
                :data:`~skillful_eval.router.protocol.REQUESTS`.

        Returns:
            One row a request, in order, with the columns of :data:`~skillful_eval.router.answers.REPLIES`.
            ``cause`` and ``detail`` are null where there is an answer, and only there is a ``choice``.
            ``latency_ms`` is from the start of the first attempt to the answer or to giving up; null where a
            recording answered, and then ``latency_reason`` says so. ``response_index`` is null where nothing
            was recorded.

        Raises:
            UsageError: A column is missing, a shortlist holds an id that the corpus has not, or a transport
                cannot record.
        """
        return gathered(self._replies(requests), REPLIES.to_frame())

    def _replies(self, requests: pl.DataFrame) -> Generator[Piece, None, None]:
        """What :meth:`ask` gives, piece by piece."""
        from skillful_eval.router.connection import DeadlineTransport

        for name in REQUESTS:
            if name not in requests.columns and name != "scores":
                raise UsageError(f"requests: no column {name}; expected {', '.join(REQUESTS)}")
        own = self._transport is None
        transport = self._transport or DeadlineTransport(self._url, connections=self._concurrency)
        with transport if own else nullcontext(), closing(self._asked(requests, transport)) as rows:
            yield from in_pieces(rows, REPLIES)

    def _asked(
        self, requests: pl.DataFrame, transport: httpx.BaseTransport
    ) -> Generator[tuple[int, dict[str, Any]] | None, None, None]:
        """The number of each request and its row as they come; null where none does for a moment."""
        from skillful_eval.router.endpoint import Endpoint

        called_off = threading.Event()
        endpoint = Endpoint(
            self._url,
            headers=self._headers,
            transport=transport,
            patience=self._patience,
            called_off=called_off,
            clean=self._clean,
        )
        waiting = self._requests(requests)
        with closing(
            at_once(partial(self._one, endpoint), waiting, requests.height, self._concurrency, called_off)
        ) as rows:
            yield from rows

    def _requests(self, requests: pl.DataFrame) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
        tasks = sent(requests["prompt"], max_chars=self._max_prompt_chars, upload=self._upload_prompts)
        cut = (tasks != requests["prompt"]) & self._upload_prompts
        shortlists = requests["shortlist"].cast(pl.List(pl.String)).to_list()
        abouts = requests.select(fixture="fixture_id", repeat="repeat", cut=cut).to_dicts()
        return zip(tasks, shortlists, abouts, strict=True)

    def _one(
        self, endpoint: Endpoint, task: str, shortlist: Sequence[str], about: dict[str, Any]
    ) -> dict[str, Any]:
        return endpoint.ask(self._body(task, shortlist), shortlist, about)

    def _body(self, task: str, shortlist: Sequence[str]) -> bytes:
        unknown = next((name for name in shortlist if name not in self._candidates), None)
        if unknown is not None:
            raise UsageError(
                f"shortlist: {shorten(unknown)} is no id of the corpus, expected ids of the one that the "
                "router was made with; make the shortlists with its own shortlist"
            )
        document: dict[str, Any] = {
            "state": {"task": task, CANDIDATES: [self._candidates[name] for name in shortlist]},
            "questions": questions(shortlist),
        }
        if self._model is not None:
            document["model"] = self._model
        return json.dumps(document, ensure_ascii=False).encode()


def _checked_url(url: str) -> tuple[str, str, list[str]]:
    """The address, the same as it may be shown, and what no message may hold of it."""
    import httpx

    try:
        parsed = httpx.URL(url).copy_with(fragment=None)
    except (httpx.InvalidURL, TypeError, ValueError):
        raise UsageError("url: not an address; expected one such as https://example.org/route") from None
    if parsed.userinfo:
        raise UsageError("url: has a user or a password in it; give the key in the environment instead")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise UsageError("url: expected an address that begins with http:// or https:// and has a host")
    secrets = []
    if parsed.query:
        values = [value for _, value in parsed.params.multi_items() if len(value) >= _SECRET_LENGTH]
        secrets = [str(parsed), parsed.raw_path.decode("ascii"), *values]
    return str(parsed), str(parsed.copy_with(query=None)), secrets


def _checked_key(key: str) -> str:
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError(
            "key: empty, or has a blank, a line's end, or a character that is not ASCII in it;"
            " expected what the endpoint's bearer token is"
        )
    return key
