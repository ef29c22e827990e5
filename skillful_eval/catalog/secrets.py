"""What MCP servers identify themselves with: the secrets that a manifest names."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from skillful_eval.sanitise.prose import LONG, is_prose

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST = 6
"""A secret has so many characters at least: a shorter one cannot be told from what texts hold anyway."""

SHORTEST_WORD = 8
"""And so many where it is of letters or digits alone, and only its variable's name tells it from a word."""

_TELLING = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|passphrase|pwd|credential|auth(?:orization|entication)?(?!or)|cookie"
    r"|bearer|jwt|signature|session|(?<![a-z])(?:pass|pat)(?![a-z]))"
)
_AT_END = re.compile(_TELLING.pattern + r"s?[\W_\d]*\Z")
_ORDINARY = frozenset({
    "anonymous", "authorization", "automatic", "credentials", "default", "development", "disabled", "enabled",
    "optional", "password", "placeholder", "production", "redacted", "required", "undefined",
})  # fmt: skip
"""Words that stand where a secret belongs, and are none."""

_SCHEME = re.compile(
    r"(?i)(?:apikey|aws4-hmac-sha256|basic|bearer|digest|dpop|hmac|jwt|key|negotiate|oauth|token)[\s:]+"
)
_PARTS = re.compile(r"[\s;,&]+")
_NAMED = re.compile(r"-*([A-Za-z][\w.-]*)\s*[=:]\s*(.+)", re.DOTALL)
_QUOTES = "\"'`"


def secrets_in(settings: Any) -> Iterator[str]:
    """The secrets among a server's settings, each without the scheme in front of it.

    A value counts where the name of its variable, header or option tells it (key, token, secret, password,
    auth, credential, ...) and it has at least :data:`SHORTEST` characters; of letters or digits alone it
    needs :data:`SHORTEST_WORD`, a name that ends so, and to be none of the words that stand for no secret.
    Whatever the name, it counts behind a scheme such as ``Bearer``, and where it is of letters alone, too
    many for a word (:data:`~skillful_eval.sanitise.prose.LONG`).

    Args:
        settings: A server's settings, as its manifest has them.

    >>> env = {"API_KEY": "plainsecretvalue", "LOG_LEVEL": "information", "AUTH_MODE": "interactive"}
    >>> sorted(secrets_in({"env": env, "headers": {"Authorization": "Bearer hdrsecret99x"}, "port": 8080}))
    ['hdrsecret99x', 'plainsecretvalue']
    """
    for name, value in _named("", settings):
        for given in {value, unquote(value)}:
            yield from _secrets(name.lower(), given.strip().strip(_QUOTES))


def _secrets(name: str, value: str) -> Iterator[str]:
    bare = _SCHEME.sub("", value, count=1) if _SCHEME.match(value) else value
    if _TELLING.search(name):
        sure = _AT_END.search(name) is not None
        parts = (part.partition("=")[2] or part for part in _PARTS.split(bare))
        yield from (one for one in {bare, *(part.strip(_QUOTES) for part in parts)} if _tells(one, sure=sure))
    elif bare != value:
        yield from (one for one in (bare,) if _tells(one, sure=False) and not is_prose(one))
    elif value.isalpha() and len(value) >= LONG and not is_prose(value):
        yield value


def _tells(text: str, *, sure: bool) -> bool:
    if not (text.isalpha() or text.isdigit()):
        return len(text) >= SHORTEST and any(map(str.isalnum, text))
    if text.isalpha() and len(text) >= LONG and not is_prose(text):
        return True
    return sure and len(text) >= SHORTEST_WORD and text.lower() not in _ORDINARY


def _named(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every value with its name: of a field, of an option, of a variable that an argument sets."""
    pending = [(name, value)]
    while pending:
        named, one = pending.pop()
        if isinstance(one, dict):
            pending += one.items()
        elif isinstance(one, list):
            pending += [(named, item) for item in one]
            pending += [
                (option, item)
                for option, item in pairwise(one)
                if isinstance(option, str) and option.startswith("-") and "=" not in option
            ]
        elif isinstance(one, int) and not isinstance(one, bool):
            yield named, str(one)
        elif isinstance(one, str):
            yield named, one
            sets = _NAMED.fullmatch(one)
            if sets is not None:
                yield sets[1], sets[2]
            yield from _in_address(one)


def _in_address(text: str) -> Iterator[tuple[str, str]]:
    """The password and the query of an address, by name."""
    try:
        address = urlsplit(text) if "://" in text else None
    except ValueError:
        return
    if address is not None:
        if address.password:
            yield "password", address.password
        yield from parse_qsl(address.query)
