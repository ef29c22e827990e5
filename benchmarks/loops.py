"""The peers in plain Python: a loop over the lines of a log with the checks that skillshift makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from records import CONDITIONS, WEBSITES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def loop(path: Path, loads: Callable[[bytes], Any], planned: int) -> tuple[int, ...]:
    """Successes, steps, calls, failures and records of a log, every record checked."""
    seen: dict[tuple[str, str], set[int]] = {(site, name): set() for site in WEBSITES for name in CONDITIONS}
    successes = steps = calls = failures = number = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):  # the last number is the count
            record = loads(line)
            if not _right(record, seen, planned):
                raise ValueError(f"line {number}")
            successes += record["success"]
            steps += record["steps"]
            calls += record["skill_calls"]
            failures += record["skill_failures"]
    return successes, steps, calls, failures, number


def _right(record: dict[str, Any], seen: dict[tuple[str, str], set[int]], planned: int) -> bool:
    uid, site, condition = record["uid"], record["site"], record["condition"]
    steps, calls, failures = record["steps"], record["skill_calls"], record["skill_failures"]
    tasks = seen.get((site, condition))
    if tasks is None or type(uid) is not str or not _counts(steps, calls, failures):
        return False
    prefix, named, version, index = uid.split(".")
    task = int(index)
    if task in tasks:
        return False
    tasks.add(task)
    return (
        prefix == "skillshift"
        and named == site
        and version in ("v1", "v2")
        and task < planned
        and type(record["success"]) is bool
        and steps >= 0
        and 0 <= failures <= calls
    )


def _counts(*values: object) -> bool:
    return all(type(value) is int for value in values)


def strict_json(line: bytes) -> Any:
    """A line with each key once and no number that JSON does not have."""
    return json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)
