"""Telling words of a language from keys that have no digit either."""

from __future__ import annotations

import re

from skillful_eval.sanitise.views import fold

_WORD = 5
"""One of the words has so many letters, or they are as likely a key in groups, such as ``abcd-efgh``."""

LONG = 16
"""A run of as many letters is a word only where it ends as long words do."""

_LONGEST = 28

_PARTS = re.compile("[-/]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HUMPED = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]{2,})(?:[A-Z][a-z]{2,})+")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_HARSH = re.compile("[bcdfghjklmnpqrstvwxz]{5}")
_ENDING = re.compile(
    "(?:ability|able|ably|age|ality|ally|ance|ancy|ant|ary|ate|ated|ates|ator|ators|ed|ely|ence|ency|ent|ents|"
    "eous|ers|ery|est|ful|fully|gram|grams|graph|graphy|ial|ible|ibly|ical|ics|ies|ified|ily|ing|ings|ion|ions|ious|"
    "ised|iser|isers|ises|ise|ism|ist|ists|ity|ive|ively|ized|izer|izers|izes|ize|less|ment|ments|ness|ogy|inal|ional|ory|"
    "ous|ously|ship|ships|ural|ure|ures|wise)\\Z"
)


def is_prose(text: str) -> bool:
    """Whether a text without blanks is plainly of words, with hyphens or slashes between them.

    Words are of letters alone; their case does not change inside of them but for ``JavaScript``; no five
    consonants follow one another; and a word of 16 letters or more ends as such words do. All of it is rare
    in keys, above all in long ones. What cannot be told is no prose.

    >>> is_prose("authentication-and-authorisation"), is_prose("responsibilities")
    (True, True)
    >>> is_prose("abcdefghijklmnopqrst"), is_prose("abcd-efgh-ijkl-mnop"), is_prose("deadbeefcafebabe")
    (False, False, False)
    """
    parts = [part for part in _PARTS.split(text) if part]
    return any(len(part) >= _WORD for part in parts) and all(map(_is_word, parts))


def _is_word(part: str) -> bool:
    if not _LETTERS.fullmatch(part):
        return False
    if not part.isascii():
        return _is_plain(fold(part))
    return bool(_HUMPED.fullmatch(part)) and all(_is_plain(hump.lower()) for hump in _HUMP.findall(part))


def _is_plain(word: str) -> bool:
    if len(word) > _LONGEST or _HARSH.search(word):
        return False
    return len(word) < LONG or bool(_ENDING.search(word))
