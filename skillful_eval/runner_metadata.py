"""What a file of runs says of its making."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.snapshot import UNKNOWN_FINGERPRINT
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.writing import sha256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
"""The environment variable that sets the time of making, in seconds since 1970: for reproducible files."""

_CORE = ("skillshift", "polars")
_NAME_DIGITS = 8


def config_name(settings: Mapping[str, str], *, heuristics: bool) -> str:
    """The name of a configuration: what router it is, and eight digits of its settings' digest.

    >>> config_name({"router": "bm25", "quotas": "skill=6"}, heuristics=True)
    'bm25-69c517bd'
    """
    told = _canonical({**settings, "heuristics": str(heuristics)})
    digest = hashlib.sha256(told.encode()).hexdigest()[:_NAME_DIGITS]
    return f"{settings.get('router', 'router')}-{digest}"


def metadata(
    fixtures: Fixtures,
    corpus: Corpus,
    *,
    settings: Mapping[str, str],
    repeat: int,
    heuristics: bool,
    facts: Mapping[str, str],
    tuned_on: str | None,
    packages: Sequence[str],
) -> dict[str, str]:
    """The key-value metadata of the runs, without what depends on the decisions.

    Raises:
        UsageError: ``SOURCE_DATE_EPOCH`` is set to something else than seconds.
        InputError: The fixtures' file can no longer be read.
    """
    known = corpus.fingerprint not in ("", UNKNOWN_FINGERPRINT)
    told = {
        **_file_of(fixtures),
        "fixture_set": fixtures.name,
        "fixture_digest": fixtures.digest,
        "corpus_fingerprint": corpus.fingerprint if known else corpus.digest,
        "configuration": _canonical(
            {**facts, "router": dict(settings), "repeat": repeat, "heuristics": heuristics}
        ),
        "versions": _canonical(_versions(packages)),
        "made_at": _made_at(),
    }
    return told if tuned_on is None else told | {"tuned_on": tuned_on}


def _file_of(fixtures: Fixtures) -> dict[str, str]:
    """The name and the digest of the file that the fixtures came from, where that is one regular file.

    Their own digest covers what they say, whatever file it stands in. Folders are nobody's business who reads
    the runs.
    """
    path = Path(fixtures.source)
    try:
        if not path.is_file():
            return {}
        digest = sha256(path)
    except (OSError, ValueError) as error:  # a null byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{shorten(fixtures.source)}: cannot be read: {reason}, expected "
            "the file that the fixtures were read from; put it back, and give the same command again"
        ) from error
    return {"fixture_file": path.name, "fixture_file_digest": f"sha256:{digest}"}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    return {name: _version(name) for name in (*_CORE, *packages)} | {"python": platform.python_version()}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a copy that was never installed
        return "unknown"


def _made_at() -> str:
    text = os.environ.get(EPOCH_VARIABLE)
    try:
        time = datetime.now(UTC) if text is None else datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{EPOCH_VARIABLE}: found {shorten(text)}, expected whole seconds since 1970, or no such variable"
        ) from error
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
