"""Retrieval in plain Python by the documented rules: regular expressions, dictionaries, a heap."""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import Counter, defaultdict

from skillful_eval.router.quotas import KIND_GROUPS
from skillful_eval.router.tokens import STOP_WORDS

WORD = re.compile(r"[^\W_]+")
CAMEL, ACRONYM = re.compile(r"([^\W\d_A-Z]|\d)([A-Z])"), re.compile(r"([A-Z])([A-Z][a-z])")
SUFFIX = re.compile(r"\.(?:md|markdown|toml|json|yaml|yml|txt)\s*$", re.IGNORECASE)


def plain_tokens(text):
    text = SUFFIX.sub("", unicodedata.normalize("NFC", text))
    text = ACRONYM.sub(r"\1 \2", CAMEL.sub(r"\1 \2", text)).lower()
    return [word for word in WORD.findall(text) if word not in STOP_WORDS]


def plain_index(members):
    """The postings of a group, in the order of its ids."""
    lengths = [counts.total() for _, counts in members]
    average, holders, postings = sum(lengths) / len(members), Counter(), defaultdict(list)
    for _, counts in members:
        holders.update(counts.keys())
    for place, ((_, counts), length) in enumerate(zip(members, lengths, strict=True)):
        for term, f in counts.items():
            rarity = math.log(1 + (len(members) - holders[term] + 0.5) / (holders[term] + 0.5))
            postings[term].append((place, rarity * (f / (1.2 * (0.25 + 0.75 * length / average) + f))))
    return postings


def plain_best(asked, quota, members, postings):
    """The picks of a group."""
    scores = defaultdict(float)
    for term in asked:
        for place, score in postings.get(term, ()):
            scores[place] += score
    heap = [(-score, place) for place, score in scores.items()]
    heapq.heapify(heap)
    zeros = (place for place in range(len(members)) if place not in scores)
    seen, picks = set(), []
    while len(picks) < quota:
        score, place = heapq.heappop(heap) if heap else (0.0, next(zeros, None))
        if place is None:
            break
        entry = members[place][0]
        if (entry["kind"], entry["description"]) not in seen:
            seen.add((entry["kind"], entry["description"]))
            picks.append((score, entry["id"]))
    return picks


def plain_shortlists(entries, texts, prompts, quotas):
    """Prepares, and returns a function that makes the shortlists of all prompts."""
    groups = defaultdict(list)
    for entry, text in sorted(zip(entries, texts, strict=True), key=lambda pair: pair[0]["id"]):
        groups[KIND_GROUPS[entry["kind"]]].append((entry, Counter(plain_tokens(text))))
    indices = [(quotas[group], members, plain_index(members)) for group, members in groups.items()]

    def work():
        found = []
        for prompt in prompts:
            asked = plain_tokens(prompt)
            picks = [pick for one in indices for pick in plain_best(asked, *one)]
            found.append([name for _, name in sorted(picks)])
        return found

    return work
