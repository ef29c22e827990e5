"""A slow oracle of shortlists: the documented rules in plain Python, one entry and one letter at a time."""

from __future__ import annotations

import math
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skillful_eval.router.index import K1, B
from skillful_eval.router.quotas import KIND_GROUPS
from skillful_eval.router.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Record = Mapping[str, Any]

_SUFFIXES = (".md", ".markdown", ".toml", ".json", ".yaml", ".yml", ".txt")


def oracle_tokens(text: str) -> list[str]:
    """The tokens of a text.

    Args:
        text: The text.

    Returns:
        The tokens, in order, each as often as it occurs.

    >>> oracle_tokens("Send claudeFable to HTTPServer, v2.md")
    ['send', 'claude', 'fable', 'http', 'server', 'v2']
    """
    text = unicodedata.normalize("NFC", text).rstrip()
    for suffix in _SUFFIXES:
        if text.lower().endswith(suffix):
            text = text[: -len(suffix)]
            break
    kinds = [*map(unicodedata.category, text), ""]
    parted = text[:1]
    for place, (before, kind) in enumerate(pairwise(kinds[:-1]), start=1):
        camel = before in ("Ll", "Nd") and kind == "Lu"
        acronym = before == kind == "Lu" and kinds[place + 1] == "Ll"
        parted += " " * (camel or acronym) + text[place]
    letters = (c if unicodedata.category(c)[0] in "LN" else " " for c in parted.lower())
    return [word for word in "".join(letters).split() if word not in STOP_WORDS]


def oracle_shortlists(
    entries: Sequence[Record],
    prompts: Iterable[str],
    quotas: Mapping[str, int],
    *,
    when_to_use: bool = True,
) -> list[list[tuple[str, float]]]:
    """The shortlist of every prompt.

    Args:
        entries: The corpus' entries, in JSON's fields: ``id``, ``kind``, ``name``, ``description`` and, where
            there is one, ``whenToUse``.
        prompts: The prompts.
        quotas: How many candidates each of :data:`~skillful_eval.router.quotas.GROUPS` has.
        when_to_use: Whether the when-to-use text is searched.

    Returns:
        For every prompt the ids with their scores, best first.
    """
    fields = ("name", "description", "whenToUse")[: 3 if when_to_use else 2]
    groups: dict[str, list[tuple[Record, list[str]]]] = {}
    for entry in entries:
        text = " ".join(entry[field] for field in fields if entry.get(field))
        groups.setdefault(KIND_GROUPS[entry["kind"]], []).append((entry, oracle_tokens(text)))
    found = []
    for prompt in prompts:
        wanted = oracle_tokens(prompt)
        picks = [pick for group, members in groups.items() for pick in _best(members, wanted, quotas[group])]
        found.append([(name, -score) for score, name in sorted(picks)])
    return found


def _best(
    members: Sequence[tuple[Record, list[str]]], wanted: Sequence[str], quota: int
) -> list[tuple[float, str]]:
    """The picks of one group: the scores, negative so that the best come first, and the ids."""
    average = sum(len(tokens) for _, tokens in members) / len(members)
    containing = {term: sum(term in tokens for _, tokens in members) for term in wanted}
    ranked = []
    for entry, tokens in members:
        score = 0.0
        for term in wanted:
            if term in tokens:
                n, f = containing[term], tokens.count(term)
                rarity = math.log(1 + (len(members) - n + 0.5) / (n + 0.5))
                score += rarity * (f / (K1 * ((1 - B) + B * len(tokens) / average) + f))
        ranked.append((-score, entry["id"], entry["kind"], entry["description"]))
    classes: set[tuple[str, str]] = set()
    picks = []
    for score, name, *capability in sorted(ranked):
        if tuple(capability) not in classes:
            classes.add((capability[0], capability[1]))
            picks.append((score, name))
    return picks[:quota]
