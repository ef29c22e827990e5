"""Assertions about cells and marginals, on any grid, with messages that say where and what.

Frames are compared with frames, or with the oracle's rows: an integer, a text and a null must be the same,
a float the nearest double of the exact value within a few units in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from skillshift.testing.oracle import RATIOS, oracle_marginals, oracle_values
from skillshift.testing.rows import (
    close,
    grouped,
    mean_of,
    named,
    names_of,
    place_of,
    report,
    rows_of,
    run_keys,
    shown,
    unique,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillshift.testing.rows import Row, Rows

ULPS: Final = 4
"""How many units in the last place a float may be off when rows are compared."""


def assert_cells_equal(left: Rows, right: Rows, *, ulps: int = ULPS) -> None:
    """Assert that two sets of cells say the same, in whatever order their rows stand.

    Args:
        left: A cells frame, or rows of :func:`skillshift.testing.oracle_cells`.
        right: The same: what ``left`` should be.
        ulps: How many units in the last place a float may be off. Integers, texts, flags and nulls must be
            the same, and so must the types where both are frames.

    Raises:
        AssertionError: They differ; the message names the first differences by run, cell and column.
    """
    _assert_equal(left, right, ("website", "condition"), ulps=ulps, what="cells")


def assert_marginals_equal(left: Rows, right: Rows, *, ulps: int = ULPS) -> None:
    """Assert that two sets of marginals say the same, in whatever order their rows stand.

    Args:
        left: A marginals frame, or rows of :func:`skillshift.testing.oracle_marginals`.
        right: The same: what ``left`` should be.
        ulps: As for :func:`assert_cells_equal`.

    Raises:
        AssertionError: They differ; the message names the first differences by run, metric, slot and column.
    """
    _assert_equal(left, right, ("metric", "group", "slot"), ulps=ulps, what="marginals")


def assert_marginal_identity(numbers: Rows, *, ulps: int = 8) -> None:
    """Assert that the mean of the websites, the mean of the conditions and the overall value are one.

    Args:
        numbers: A marginals frame (run keys, ``metric``, ``group``, ``slot``, ``value``, ...), or its rows.
        ulps: How many units in the last place the three may differ by.

    Raises:
        AssertionError: They differ in some run and metric; or some of them have a value and others do not;
            or a run and metric lacks its websites, its conditions or its overall value.
    """
    rows = rows_of(numbers)
    keys = run_keys(rows, "metric")
    wrong = []
    for place, own in grouped(rows, (*keys, "metric")).items():
        where = named((*keys, "metric"), place)
        slots = {group: [r["value"] for r in own if r["group"] == group] for group in _GROUPS}
        if not slots["website"] or not slots["condition"] or len(slots["overall"]) != 1:
            found = {group: len(values) for group, values in slots.items()}
            wrong.append(f"{where}: found {found}, expected websites, conditions and one overall value")
            continue
        unreal = [v for values in slots.values() for v in values if v is not None and not math.isfinite(v)]
        if unreal:
            wrong.append(f"{where}: found {shown(unreal[0])}, expected numbers or null")
            continue
        means = {group: mean_of(values) for group, values in slots.items()}
        known = [mean for mean in means.values() if mean is not None]
        if known and (len(known) < len(means) or not close(max(known), min(known), ulps)):
            said = ", ".join(f"{group} {shown(mean)}" for group, mean in means.items())
            wrong.append(f"{where}: found means {said}, expected one value within {ulps} ulps")
    report("marginal identity", wrong)


def assert_null_semantics(cells: Rows, numbers: Rows) -> None:
    """Assert that every null is where it must be and has its reason, and that nothing else is null.

    From each cell's counts follows which of its values are undefined, and why; from the cells follow the
    same for every marginal: a null cell nulls its website, its condition and the overall value, and no other.
    The counts must add up (planned = scored + errored + missing), slots must carry their cells' counts, and
    a run's calls are either all null or all counts.

    Args:
        cells: A cells frame, or its rows.
        numbers: The marginals of the same cells, or their rows.

    Raises:
        AssertionError: Some null, reason, count or flag is not what follows; the message names run, cell or
            metric and slot, what was found and what was expected.
    """
    rows = rows_of(cells)
    keys = run_keys(rows, "website")
    unique(rows, (*keys, "website", "condition"), "cells")
    wrong = [problem for row in rows for problem in _count_problems(row, keys)]
    for run, own in grouped(rows, keys).items():
        if len({row["skill_calls"] is None for row in own}) > 1:
            wrong.append(
                f"{named(keys, run)}: found skill_calls null in some cells, expected all null or none"
            )
    report("null semantics of cells", wrong)

    # A frame is of one kind: either incomplete cells have no values, or those over what was scored.
    scored = not any(row["reason"] == "incomplete" for row in rows)
    exact = [{**row, **oracle_values(row, incomplete="scored" if scored else "undefined")} for row in rows]
    wrong = []
    for row, right in zip(rows, exact, strict=True):
        wrong += _pattern_problems(row, right, (*keys, "website", "condition"), (*RATIOS, "reason"))
    report("null semantics of cells", wrong)

    slot = (*keys, *_SLOT)
    expected = unique(oracle_marginals(exact), slot, "marginals")
    found = unique(rows_of(numbers), slot, "marginals")
    wrong = [f"{named(slot, place)}: found no such slot" for place in expected if place not in found]
    wrong += [f"{named(slot, place)}: found a slot of no cell" for place in found if place not in expected]
    for place, right in expected.items():
        if place in found:
            columns = [name for name in right if name not in slot]
            wrong += _pattern_problems(found[place], right, slot, columns)
    report("null semantics of marginals", wrong)


_GROUPS: Final = ("website", "condition", "overall")
_SLOT: Final = ("metric", "group", "slot")


def _count_problems(row: Row, keys: Sequence[str]) -> list[str]:
    """What does not add up in one cell."""
    where = named((*keys, "website", "condition"), place_of(row, (*keys, "website", "condition")))
    sums = row["scored"] + row["errored"] + row["missing"]
    calls, failures = row["skill_calls"], row["skill_failures"]
    checks = (
        (row["planned"] == sums, f"planned {row['planned']}", f"scored + errored + missing = {sums}"),
        (
            row["attempted"] == row["scored"] + row["errored"],
            f"attempted {row['attempted']}",
            f"scored + errored = {row['scored'] + row['errored']}",
        ),
        (
            row["complete"] is (row["scored"] == row["planned"]),
            f"complete {row['complete']}",
            f"{row['scored'] == row['planned']} ({row['scored']} of {row['planned']} scored)",
        ),
        (
            0 <= row["successes"] <= row["scored"],
            f"successes {row['successes']}",
            f"0 to {row['scored']}, the scored tasks",
        ),
        (
            min(row[name] for name in ("planned", "attempted", "errored", "scored", "missing", "steps")) >= 0,
            "a negative count",
            "counts from 0",
        ),
        (
            (calls is None) == (failures is None),
            f"skill_calls {shown(calls)} and skill_failures {shown(failures)}",
            "both null or both counts",
        ),
        (
            calls is None or failures is None or 0 <= failures <= calls,
            f"skill_failures {shown(failures)}",
            f"0 to {shown(calls)}, the skill calls",
        ),
    )
    return [f"{where}: found {found}, expected {expected}" for kept, found, expected in checks if not kept]


def _pattern_problems(row: Row, right: Row, keys: Sequence[str], columns: Iterable[str]) -> list[str]:
    """Where a row is null and should not be, the reverse, or counts, flags and reasons differ."""
    where = named(keys, place_of(row, keys))
    return [
        f"{where}: {name}: found {shown(row[name])}, expected {shown(right[name])}"
        + (f" ({right['reason']})" if right["reason"] and right[name] is None and name != "reason" else "")
        for name in columns
        if (row[name] is None) != (right[name] is None)
        or (isinstance(right[name], int | str) and name != "published" and row[name] != right[name])
    ]


def _assert_equal(left: Rows, right: Rows, cell: Sequence[str], *, ulps: int, what: str) -> None:
    lefts, rights = rows_of(left), rows_of(right)
    names = [names_of(side, rows) for side, rows in ((left, lefts), (right, rights))]
    if set(names[0]) != set(names[1]) and names[0] and names[1]:
        extra, absent = sorted(set(names[0]) - set(names[1])), sorted(set(names[1]) - set(names[0]))
        raise AssertionError(f"{what}: columns differ: only left {extra}, only right {absent}")
    wrong = _type_problems(left, right)
    keys = (*run_keys(lefts or rights, cell[0]), *cell)
    found, expected = (unique(rows, keys, what) for rows in (lefts, rights))
    wrong += [f"{named(keys, place)}: only left" for place in found if place not in expected]
    wrong += [f"{named(keys, place)}: only right" for place in expected if place not in found]
    for place, row in found.items():
        for name, value in expected.get(place, {}).items():
            if not _same(row[name], value, ulps):
                wrong.append(
                    f"{named(keys, place)}: {name}: found {shown(row[name])}, expected {shown(value)}"
                )
    report(f"{what} differ", wrong)


def _type_problems(left: Rows, right: Rows) -> list[str]:
    schemas = getattr(left, "schema", None), getattr(right, "schema", None)
    if schemas[0] is None or schemas[1] is None:
        return []
    return [
        f"{name}: found type {schemas[0][name]}, expected {dtype}"
        for name, dtype in schemas[1].items()
        if schemas[0][name] != dtype
    ]


def _same(found: Any, expected: Any, ulps: int) -> bool:
    if found is None or expected is None:
        return found is expected
    if isinstance(found, float | Fraction) and isinstance(expected, float | Fraction):
        return close(found, expected, ulps)
    return type(found) is type(expected) and bool(found == expected)
