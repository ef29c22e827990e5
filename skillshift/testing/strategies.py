"""Hypothesis strategies for per-task logs: grids, records, whole runs, frames, and files with faults.

Everything is small, so that a test is quick: at most three websites, three conditions and six tasks a
website. What the strategies make is valid unless its name says otherwise:
:func:`skillshift.testing.oracle_verdict` accepts it.

Hypothesis comes with the ``test`` extra: ``pip install 'skillshift[test]'``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from skillshift.grid import Condition, Grid
from skillshift.testing.files import faulty_jsonl, jsonl_bytes
from skillshift.testing.needs import st
from skillshift.testing.verdict import RUN_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from hypothesis.strategies import DrawFn

    Record = dict[str, Any]

__all__ = ["faulty_jsonl", "frames", "grids", "jsonl_bytes", "logs", "records", "runs", "to_frame"]

MAX_WEBSITES = 3
MAX_CONDITIONS = 3
MAX_TASKS = 6

_WEBSITES = ("gitlab", "magento", "wordpress", "shop front", "café", "サイト", "a-b_c")
_CONDITIONS = (
    Condition("src", "src", "none"),
    Condition("src-perc", "src", "perceptual"),
    Condition("tgt", "tgt", "none"),
    Condition("tgt-exec", "tgt", "execution"),
    Condition("trial 1"),
    Condition("größer"),
)
_NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=6
) | st.sampled_from(("AWM", "gpt-5-mini", 'o\'Brien "x"', "01", "1", "été", "null"))

# One choice a record makes runs quick to draw and to shrink: each list begins with the simplest.
_CALLS = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 0), (5, 2), (7, 7), (29, 10), (30, 1), (31, 30), (1000, 333)]
_RESULTS = [(success, steps) for steps in (1, 0, 2, 3, 7, 30, 10_007) for success in (True, False)]
_WITH_CALLS = st.sampled_from([(*result, *calls) for calls in _CALLS for result in _RESULTS])
_QUIET = st.sampled_from([(*result, 0, 0) for result in _RESULTS])
_WITHOUT_SKILLS = st.sampled_from([(*result, None, None) for result in _RESULTS])
_FAILED = st.sampled_from(
    [
        (*result, *calls, error)
        for result in ((None, None), (True, 4), (False, None))
        for calls in ((None, None), (3, 1), (0, 0))
        for error in ("TimeoutError", "agent crashed: «\\n»", " ")
    ]
)
_ANY, _RARELY = st.booleans(), st.sampled_from((False, False, False, True))
_FREE = st.sampled_from(((), (0,), (1,), (0, 1)))
_FORMS = st.sampled_from(("v1.", "v2.", "v1.0", "v2.00"))
_ORDERS = st.integers(0, 2**32)


@st.composite
def grids(draw: DrawFn, /) -> Grid:
    """Grids of 1 to 3 websites of 1 to 6 tasks, and 1 to 3 conditions, with and without factors."""
    websites = draw(
        st.dictionaries(
            st.sampled_from(_WEBSITES), st.integers(1, MAX_TASKS), min_size=1, max_size=MAX_WEBSITES
        )
    )
    conditions = draw(
        st.lists(st.sampled_from(_CONDITIONS), min_size=1, max_size=MAX_CONDITIONS, unique=True)
    )
    return Grid("drawn", websites, conditions)


@st.composite
def records(draw: DrawFn, /, grid: Grid, *, skills: bool = True, errors: bool = True) -> Record:
    """One valid record of a grid.

    Args:
        draw: Comes from Hypothesis.
        grid: The grid that the record fits.
        skills: Whether the method has executable skills; without them both call counts are None.
        errors: Whether the record may be one with an error.
    """
    website, condition, planned = draw(st.sampled_from(list(grid.cells())))
    uid = _uid(draw, website, draw(st.integers(0, planned - 1)), free=draw(_ANY))
    if errors and draw(_ANY):
        return _errored(draw, website, condition, uid)
    return _scored(draw, website, condition, uid, skills=skills, quiet=draw(_ANY))


def _uid(draw: DrawFn, website: str, index: int, *, free: bool) -> str:
    """A uid of one task. Canonical ones differ in version and leading zeros and are still one task."""
    if free:
        # None is canonical, though each could be mistaken: the next task's index, say.
        return (f"tâche {index}", f"{index + 1}", f"#{index}", f"skillshift.{website}.v3.{index}")[index % 4]
    return f"skillshift.{website}.{draw(_FORMS)}{index}"


def _scored(draw: DrawFn, website: str, condition: str, uid: str, *, skills: bool, quiet: bool) -> Record:
    measures = draw((_QUIET if quiet else _WITH_CALLS) if skills else _WITHOUT_SKILLS)
    return _record(uid, website, condition, *measures)


def _errored(draw: DrawFn, website: str, condition: str, uid: str) -> Record:
    """A record with an error; what it says of success, steps and calls counts nowhere."""
    *measures, error = draw(_FAILED)
    return {**_record(uid, website, condition, *measures), "error": error}


def _record(uid: str, website: str, condition: str, *measures: Any) -> Record:
    names = ("success", "steps", "skill_calls", "skill_failures")
    place = {"uid": uid, "site": website, "condition": condition}
    return {**place, **dict(zip(names, measures, strict=True))}


@st.composite
def runs(
    draw: DrawFn,
    /,
    grid: Grid,
    *,
    complete: bool | None = None,
    errors: bool = True,
    skills: bool | None = None,
    quiet_cells: bool = True,
    keys: Mapping[str, Any] | None = None,
) -> list[Record]:
    """The records of one whole run, at least one, in any order.

    Args:
        draw: Comes from Hypothesis.
        grid: The grid that the run covers.
        complete: Whether every task is scored; None: either. An incomplete run has empty, partial and
            full cells.
        errors: Whether there may be records with errors: of tasks that were never scored, where the run
            is not complete, and failed attempts at tasks that a retry scored.
        skills: Whether the method has executable skills; None: either.
        quiet_cells: Whether cells may have no skill call at all, so that their SFR is undefined.
        keys: Run keys that every record carries.
    """
    whole = draw(_ANY) if complete is None else complete
    applicable = draw(_ANY) if skills is None else skills
    log: list[Record] = []
    for website, condition, planned in grid.cells():
        full = whole or draw(_ANY)
        quiet = quiet_cells and draw(_RARELY)
        free = draw(_FREE)
        outcomes = _outcomes(draw, planned, full=full, errors=errors)
        for index, (attempts, scored) in enumerate(outcomes):
            for attempt in range(attempts + scored):
                uid = _uid(draw, website, index, free=index % 2 in free)
                log.append(
                    _errored(draw, website, condition, uid)
                    if attempt < attempts
                    else _scored(draw, website, condition, uid, skills=applicable, quiet=quiet)
                )
    if not whole and complete is False:
        log = _one_missing(log)
    if not log:
        website, condition, _ = next(iter(grid.cells()))
        log = [_errored(draw, website, condition, f"skillshift.{website}.v1.0")]
    return [{**record, **(keys or {})} for record in _shuffled(draw, log)]


def _shuffled(draw: DrawFn, log: list[Record]) -> list[Record]:
    """The records in some order; 0, to which an order shrinks, leaves them as they are."""
    seed = draw(_ORDERS)
    # A test's order needs no secure randomness, and one seed is one choice to shrink.
    return random.Random(seed).sample(log, len(log)) if seed else log  # noqa: S311


def _outcomes(draw: DrawFn, planned: int, *, full: bool, errors: bool) -> list[tuple[int, bool]]:
    """Each task's failed attempts, and whether it was scored."""
    if not full and draw(_RARELY):
        return [(0, False)] * planned
    kinds = _OUTCOMES[full, errors]
    return [draw(kinds) for _ in range(planned)]


_OUTCOMES = {
    (True, False): st.just((0, True)),
    (True, True): st.sampled_from(((0, True), (0, True), (1, True), (2, True))),
    (False, False): st.sampled_from(((0, True), (0, False))),
    (False, True): st.sampled_from(((0, True), (0, False), (1, True), (2, True), (1, False), (2, False))),
}


def _one_missing(log: list[Record]) -> list[Record]:
    """The run without its first scored record, so that it is incomplete whatever was drawn."""
    first = next((n for n, record in enumerate(log) if "error" not in record), None)
    return log if first is None else log[:first] + log[first + 1 :]


@st.composite
def logs(draw: DrawFn, /, grid: Grid, *, max_runs: int = 3, **options: Any) -> list[Record]:
    """Several runs in one log, told apart by run keys; one run may have none.

    Args:
        draw: Comes from Hypothesis.
        grid: The grid that the runs cover.
        max_runs: The greatest number of runs.
        **options: As for :func:`runs`.
    """
    keys = draw(st.lists(st.sampled_from(RUN_KEYS), unique=True, max_size=len(RUN_KEYS)))
    most = max_runs if keys else 1
    named = st.tuples(*(_labels(key) for key in keys))
    found = draw(st.lists(named, min_size=1, max_size=most, unique_by=lambda values: tuple(map(str, values))))
    drawn = [draw(runs(grid, keys=dict(zip(keys, values, strict=True)), **options)) for values in found]
    return _shuffled(draw, [record for run in drawn for record in run])


def _labels(key: str) -> st.SearchStrategy[Any]:
    return st.integers(0, 3) if key == "trial" else _NAMES


def to_frame(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Records as a DataFrame in the per-task log's types.

    Args:
        records: Valid records.

    Returns:
        The required columns, the optional ones that some record has, and whatever else the records carry.
        Labels that are whole numbers, all of them, stay Int64.
    """
    import polars as pl

    from skillshift.frame.contract import Kind
    from skillshift.schema import FIELDS

    names = dict.fromkeys(f.name for f in FIELDS if f.required)
    names |= dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    dtypes: dict[str, pl.DataType] = {f.name: f.kind.dtype for f in FIELDS}
    for field in FIELDS:
        values = [value for value in columns.get(field.name, []) if value is not None]
        if field.kind is Kind.LABEL and values and all(isinstance(value, int) for value in values):
            dtypes[field.name] = pl.Int64()
    return pl.DataFrame([pl.Series(name, values, dtype=dtypes.get(name)) for name, values in columns.items()])


@st.composite
def frames(draw: DrawFn, /, grid: Grid, **options: Any) -> pl.DataFrame:
    """Logs as DataFrames in the per-task log's types; options as for :func:`logs`."""
    return to_frame(draw(logs(grid, **options)))
