"""Assertions about reports, with messages that say where and what.

A report is compared with another, or with the oracle's rows: a text, a count and a null must be the same, a
number the nearest double of the exact value within a few units in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from skillful_eval.metrics import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    Row = Mapping[str, Any]
    Rows = pl.DataFrame | Iterable[Row]

ULPS: Final = 4
"""How many units in the last place a number may be off when reports are compared."""

SHOWN: Final = 5
"""How many differences a message shows; the rest are counted."""

_PLACE: Final = ("scope", "metric")


def assert_reports_equal(left: Rows, right: Rows, *, ulps: int = ULPS) -> None:
    """Assert that two reports say the same, in whatever order their rows stand.

    Args:
        left: A report, or rows of :func:`skillful_eval.testing.oracle_report`.
        right: The same: what ``left`` should be.
        ulps: How many units in the last place a number may be off.

    Raises:
        AssertionError: They differ; the message names the first differences by key, scope, metric and column.
    """
    lefts, rights = _rows(left), _rows(right)
    keys = _keys(lefts or rights)
    found, expected = _by_place(lefts, keys), _by_place(rights, keys)
    wrong = [f"{_named(keys, place)}: only left" for place in found if place not in expected]
    wrong += [f"{_named(keys, place)}: only right" for place in expected if place not in found]
    for place, row in expected.items():
        for name, value in row.items():
            if place in found and not _same(found[place].get(name), value, ulps):
                wrong.append(
                    f"{_named(keys, place)}: {name}: found {_shown(found[place].get(name))}, "
                    f"expected {_shown(value)}"
                )
    _report("reports differ", wrong)


def assert_routing_identities(report: Rows) -> None:
    """Assert what holds between the metrics of any report, whatever was routed.

    In every scope: the gap between abstentionCorrectness and top1Accuracy is the wrong picks, with gold
    offered and without; recall grows with k, up to recall@K; MRR is not above it and not below its part of
    the longest shortlist; the confusion counts add up to the runs; and F1 counts what precision and recall
    count.

    Args:
        report: A report, or the oracle's rows.

    Raises:
        AssertionError: One of them does not hold; the message names key and scope and both sides.
    """
    rows = _rows(report)
    keys = _keys(rows)[:-1]
    wrong: list[str] = []
    scopes: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        scopes.setdefault(tuple(row[key] for key in keys), {})[row["metric"]] = row
    for place, metrics in scopes.items():
        wrong += [f"{_named(keys, place)}: {problem}" for problem in _broken(metrics)]
    _report("routing identities", wrong)


def assert_null_semantics(report: Rows) -> None:
    """Assert that every null has a known reason, every value none, and that nothing is NaN or out of range.

    Args:
        report: A report, or the oracle's rows.

    Raises:
        AssertionError: A null without a reason, a reason beside a value, a code that there is not, a value
            over nothing, a value that is not finite or is negative; the message names key, scope and metric.
    """
    rows = _rows(report)
    keys = _keys(rows)
    wrong = []
    for row in rows:
        value, reason, bottom = row["value"], row["reason"], row["denominator"]
        checks = (
            ((value is None) == (reason is not None), "a reason exactly where the value is null"),
            (reason is None or reason in REASONS, f"a reason among {', '.join(REASONS)}"),
            (value is None or bottom > 0, "null over a denominator of 0"),
            (value is None or (math.isfinite(value) and value >= 0), "a finite value from 0"),
            (row["fixtures"] >= 0, "a count of fixtures"),
        )
        told = f"value {_shown(value)}, denominator {bottom}, reason {_shown(reason)}"
        where = _named(keys, tuple(row[key] for key in keys))
        wrong += [f"{where}: found {told}, expected {expected}" for kept, expected in checks if not kept]
    _report("null semantics of the report", wrong)


def _broken(metrics: Mapping[str, Row]) -> list[str]:
    """The identities that do not hold among one scope's rows; each side is in whole runs."""

    def top(name: str) -> Any:
        return metrics[name]["numerator"]

    def bottom(name: str) -> Any:
        return metrics[name]["denominator"]

    def confusion(population: str) -> list[str]:
        return [name for name in metrics if name.startswith(population) and top(name) is not None]

    curve = {int(name[7:]): top(name) for name in metrics if name[:7] == "recall@" and name[7:].isdigit()}
    steps = [curve[k] for k in sorted(curve)]
    hits, longest = top("recall@K"), max(curve, default=0)
    least = Fraction(hits) / longest if longest else Fraction(0)
    answerable, abstain = confusion("answerable"), confusion("abstain")
    equal = {
        "abstentionCorrectness - top1Accuracy, as wrong picks": (
            top("abstentionCorrectness") - top("top1Accuracy"),
            top("wrongPickOffered") + top("wrongPickNotOffered"),
        ),
        "recall at the longest shortlist, as recall@K": (steps[-1] if steps else hits, hits),
        "decided answerable runs": (sum(map(top, answerable)), bottom(answerable[0])),
        "decided runs that must abstain": (sum(map(top, abstain)), bottom(abstain[0])),
        "decided runs": (bottom(answerable[0]) + bottom(abstain[0]), bottom("top1Accuracy")),
        "F1's numerator": (2 * top("nonePrecision"), top("noneF1")),
        "F1's denominator": (bottom("nonePrecision") + bottom("noneRecall"), bottom("noneF1")),
    }
    wrong = [f"{what}: found {a}, expected {b}" for what, (a, b) in equal.items() if a != b]
    if steps != sorted(steps):
        wrong.append(f"recall@1, recall@2, ...: found {steps}, expected hits that never fall")
    ranks = top("MRR")
    if not (_at_most(float(least), ranks) and _at_most(ranks, hits)):
        wrong.append(f"MRR: found {_shown(ranks)} reciprocal ranks, expected {_shown(least)} to {hits}")
    return wrong


def _at_most(low: float, high: float) -> bool:
    return low <= high or _same(float(low), float(high), ULPS)


def _rows(rows: Rows) -> list[dict[str, Any]]:
    to_dicts = getattr(rows, "to_dicts", None)
    found: Iterable[Row] = to_dicts() if to_dicts else rows  # type: ignore[assignment]
    return [dict(row) for row in found]


def _keys(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns that place a row: what stands before the scope, the scope, the metric."""
    names = tuple(rows[0]) if rows else _PLACE
    absent = [name for name in _PLACE if name not in names]
    if absent:
        raise AssertionError(f"found the columns {', '.join(names)}, expected {absent[0]!r} among them")
    return (*names[: names.index(_PLACE[0])], *_PLACE)


def _by_place(rows: Iterable[Row], keys: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    found: dict[tuple[Any, ...], Row] = {}
    again = []
    for row in rows:
        place = tuple(row.get(key) for key in keys)
        if found.setdefault(place, row) is not row:
            again.append(f"{_named(keys, place)}: found again")
    _report("reports with a row twice", again)
    return found


def _named(keys: Sequence[str], place: Sequence[Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in zip(keys, place, strict=True))


def _shown(value: Any) -> str:
    """A value as messages repeat it: an exact one beside its double."""
    if value is None:
        return "null"
    return f"{float(value)!r} ({value})" if isinstance(value, Fraction) else repr(value)


def _same(found: Any, expected: Any, ulps: int) -> bool:
    if found is None or expected is None:
        return found is expected
    if isinstance(found, float | Fraction) and isinstance(expected, float | Fraction):
        one, other = float(found), float(expected)
        return abs(one - other) <= ulps * math.ulp(max(abs(one), abs(other)))
    return type(found) is type(expected) and bool(found == expected)


def _report(what: str, wrong: Sequence[str]) -> None:
    """Raise if anything is wrong: the first problems and a count of the rest."""
    if wrong:
        hidden = len(wrong) - SHOWN
        more = [f"... and {hidden} more"] if hidden > 0 else []
        raise AssertionError("\n  ".join([f"{what}: {len(wrong)} wrong", *wrong[:SHOWN], *more]))
