"""Slips in a valid submission, one at a time, and which of them the checks catch; see mutations.md."""

from __future__ import annotations

import copy
import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import skillshift as ss
from skillshift.submission.build import build
from skillshift.submission.checks import validate
from skillshift.submission.receipt import make_receipt
from skillshift.submission.slots import METRIC_NAMES, SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterator

SALT = "0123456789abcdef" * 4
TABLE = Path(__file__).parent / "mutations.md"
HEAD = """\
| slip | cases | own entry with receipt | own entry without | transcribed entry |
| --- | --- | --- | --- | --- |
"""
Tree = dict[str, Any]
Path_ = tuple[str, ...]


def base() -> tuple[Tree, Tree]:
    """A valid document and its receipt: a simulated run in which one cell called no skill."""
    log = ss.simulate(
        rates=ss.Rates.flat(ss.SKILLSHIFT, SR=41.5, AS=8.25, ASC=0.4, SFR=20), seed=11, method="m"
    )
    silent = (pl.col("site") == "wordpress") & (pl.col("condition") == "tgt-exec")
    log = log.with_columns(
        pl.when(silent).then(0).otherwise(pl.col(name)).alias(name)
        for name in ("skill_calls", "skill_failures")
    )
    cells = ss.cells(log.lazy())
    results = build(ss.marginals(cells), cells, name="Mine", model="gpt-5-mini", date="2026-09-01")
    receipt = make_receipt(results, log, cells, salt=SALT, logs={}, env_digests={})
    return json.loads(results.to_bytes()), json.loads(receipt.to_bytes())


def transcribed(tree: Tree) -> Tree:
    """The same numbers as somebody would type them from a paper's table: no counts of calls, no receipt."""
    changed = copy.deepcopy(tree)
    changed["submission"]["provenance"]["label"] = "verified-paper"
    changed["n"]["skill_calls"] = None
    return changed


def at(tree: Tree, path: Path_) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Tree, path: Path_, value: Any) -> Tree:
    """The document with another value at a place, or without the field where the value is `...`."""
    changed = copy.deepcopy(tree)
    inner = at(changed, path[:-1])
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


def fields(tree: Tree, path: Path_ = ()) -> Iterator[Path_]:
    for key, value in tree.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from fields(value, (*path, key))


def published(tree: Tree) -> dict[Path_, float | None]:
    paths = [("metrics", metric, *slot.parts) for metric in METRIC_NAMES for slot in SLOTS]
    return {path: at(tree, path) for path in paths}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- the slips: each yields changed documents ------------------------------------------------------------


def missing(tree: Tree) -> Iterator[Tree]:
    for path in fields(tree):
        yield put(tree, path, ...)


def extra(tree: Tree) -> Iterator[Tree]:
    for path in [(), *fields(tree)]:
        if isinstance(at(tree, path), dict):
            yield put(tree, (*path, "extra"), 1)


def wrong_type(tree: Tree) -> Iterator[Tree]:
    for path in fields(tree):
        value = at(tree, path)
        if isinstance(value, dict):
            yield put(tree, path, list(value.values()))
        elif is_number(value):
            yield put(tree, path, str(value))
        else:
            yield put(tree, path, 7 if isinstance(value, str) else [value])


def out_of_range(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is None:
            continue
        yield put(tree, path, -value - 0.01)
        if ss.METRICS[path[1]].upper is not None:
            yield put(tree, path, 100 + value)


def wrong_count(tree: Tree) -> Iterator[Tree]:
    for path in fields(tree):
        if path[0] == "n" and is_number(at(tree, path)):
            yield put(tree, path, at(tree, path) + 1)
            yield put(tree, path, at(tree, path) - 1)


def transposed_digits(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is None:
            continue
        text = f"{value:.2f}"
        digits = [i for i, character in enumerate(text) if character.isdigit()]
        for one, other in pairwise(digits):
            if text[one] != text[other]:
                slipped = list(text)
                slipped[one], slipped[other] = slipped[other], slipped[one]
                yield put(tree, path, float("".join(slipped)))


def next_digit(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        text = "" if value is None else f"{value:.2f}"
        for i, character in enumerate(text):
            if character.isdigit():
                digit = str((int(character) + 1) % 10)  # the smallest slip, and so the hardest to see
                yield put(tree, path, float(text[:i] + digit + text[i + 1 :]))


def swapped(tree: Tree) -> Iterator[Tree]:
    for metric in METRIC_NAMES:
        for group in ("websites", "conditions"):
            for one, other in combinations(at(tree, ("metrics", metric, group)), 2):
                paths = [("metrics", metric, group, name) for name in (one, other)]
                values = [at(tree, path) for path in paths]
                if values[0] != values[1]:
                    yield put(put(tree, paths[0], values[1]), paths[1], values[0])


def null_for_a_number(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is not None:
            yield put(tree, path, None)


def explained_null_for_a_number(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is not None:
            yield put(put(tree, path, None), ("reasons", ".".join(path[1:])), "Not measured.")


def zero_for_null(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is None:
            yield put(tree, path, 0)


def unexplained_zero_for_null(tree: Tree) -> Iterator[Tree]:
    for path, value in published(tree).items():
        if value is None:
            yield put(put(tree, path, 0), ("reasons", ".".join(path[1:])), ...)


SLIPS = {
    "a field missing": missing,
    "a field of the wrong type": wrong_type,
    "an unknown field": extra,
    "a number out of its range": out_of_range,
    "a count one too high or low": wrong_count,
    "two neighbouring digits transposed": transposed_digits,
    "one digit replaced by the next": next_digit,
    "two websites or two conditions swapped": swapped,
    "null for a number": null_for_a_number,
    "null for a number, with a reason": explained_null_for_a_number,
    "0 for null, the reason left": zero_for_null,
    "0 for null, the reason removed": unexplained_zero_for_null,
}


def findings(tree: Tree, receipt: Tree | None) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """A document's errors and warnings, by code and place."""
    sealed = None if receipt is None else json.dumps(receipt).encode()
    verdicts = validate(json.dumps(tree).encode(), sealed)
    skip = "receipt.missing" if receipt is None else ""
    errors = {(f.code, f.path) for v in verdicts for f in v.errors if f.code != skip}
    return errors, {(f.code, f.path) for v in verdicts for f in v.warnings}


def caught(documents: list[Tree], valid: Tree, receipt: Tree | None) -> tuple[int, int]:
    """How many fail a check, and how many only raise a warning that the valid document does not."""
    _, usual = findings(valid, receipt)
    failed = warned = 0
    for document in documents:
        errors, warnings = findings(document, receipt)
        failed += bool(errors)
        warned += not errors and bool(warnings - usual)
    return failed, warned


def table() -> str:
    """Every kind of slip with the number of cases and of those caught, as Markdown."""
    own, receipt = base()
    typed = transcribed(own)
    rows = []
    for name, slip in SLIPS.items():
        cases = list(slip(own))
        counts = [
            caught(cases, own, receipt),
            caught(cases, own, None),
            caught(list(slip(typed)), typed, None),
        ]
        sizes = [len(cases), len(cases), len(list(slip(typed)))]
        told = [_told(*count, size) for count, size in zip(counts, sizes, strict=True)]
        rows.append(f"| {name} | {len(cases)} | {' | '.join(told)} |")
    return HEAD + "\n".join(rows) + "\n"


def _told(failed: int, warned: int, size: int) -> str:
    return f"{failed} of {size}" + (f", {warned} warned" if warned else "")
