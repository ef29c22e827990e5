"""Which records are about the same task: duplicates are found, and errored tasks are counted.

The usual path reads each uid once, as a 64-bit key: equal tasks have equal keys, so a log without
equal keys has no duplicate. Only where keys are equal does an exact comparison decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from skillshift.frame.contract import FILE, RECORD, Rule, check, collect
from skillshift.frame.engine import collect_beside, sort
from skillshift.frame.errors import SHOWN, ContractError, Violation, shorten
from skillshift.frame.lines import line_numbers
from skillshift.schema import PER_TASK, PREFIX, TASK, per_task, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.engine import UInts
    from skillshift.grid import Grid

OnDuplicates = Literal["refuse", "first", "last"]

KEY = "_key"
"""The column that :func:`keyed` makes."""

ODD = 0
"""The key of a uid that only the exact rules can judge."""

SUSPECT = "_suspect"
"""The column that :func:`suspected` makes."""

_INDEX = "_index"
_VERSION = len(".v1.")
_SPREAD = pl.lit(0x9E3779B97F4A7C15, dtype=pl.UInt64)


def uid_checks(grid: Grid) -> list[Rule]:
    """All rules that speak of uids: they are there, and canonical ones fit their record's site."""
    return [rule for rule in per_task(grid).all_rules(["uid"]) if rule.field == "uid"]


def suspected(frame: pl.LazyFrame, grid: Grid, *, canonical: bool) -> pl.LazyFrame:
    """The records with whether their uid may break a rule; a quick look that never overlooks one which does.

    Args:
        frame: The records, conformed.
        grid: The grid.
        canonical: Whether canonical uids are expected; without, every one of them is suspect.

    Returns:
        The records with the column ``_suspect`` (Boolean), and where canonical uids are expected, with
        ``_index`` (UInt32): a canonical uid's task, null where its site has no such task or is another.
    """
    uid, site = pl.col("uid"), pl.col("site")
    suspect = (uid.str.starts_with(PREFIX) | (uid == "")).fill_null(value=True)
    if canonical:
        # What these steps leave of a canonical uid is a number only where it names the record's own site.
        tail = uid.str.strip_prefix(PREFIX).str.strip_prefix(site).str.slice(_VERSION)
        frame = frame.with_columns(tail.cast(pl.UInt32, strict=False).alias(_INDEX))
        index = pl.col(_INDEX)
        if not grid.inferred:
            planned = pl.lit(None, dtype=pl.UInt32)
            for website, tasks in grid.websites.items():
                planned = pl.when(site == website).then(pl.lit(tasks, dtype=pl.UInt32)).otherwise(planned)
            frame = frame.with_columns(pl.when(index < planned).then(index).alias(_INDEX))
        # Polars leaves a branch alone that no row of a batch takes.
        suspect = pl.when(index.is_not_null()).then(pl.lit(value=False)).otherwise(suspect)
    return frame.with_columns(suspect.alias(SUSPECT))


def keyed(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid, *, canonical: bool) -> pl.LazyFrame:
    """The records with a 64-bit key of each one's task within its run and cell.

    Records of one task have one key. Two tasks may share a key by chance, or because the one uid is not
    quite canonical (``v3``, ``+5``); only the exact comparison tells those apart.

    Args:
        frame: The records, conformed.
        keys: The run keys, site and condition.
        grid: The grid.
        canonical: As for :func:`suspected`.

    Returns:
        The records with the column ``_key`` (UInt64); ``ODD`` where the uid is suspect.
    """
    cell = pl.lit(0, dtype=pl.UInt64)
    for seed, name in enumerate(keys, start=1):
        cell = cell * _SPREAD + pl.col(name).hash(seed)
    key = pl.when(SUSPECT).then(pl.lit(ODD, dtype=pl.UInt64)).otherwise(pl.col("uid").hash(0) + cell)
    if canonical:
        index = pl.col(_INDEX)
        key = (
            pl.when(index.is_not_null()).then(index.cast(pl.UInt64).hash(len(keys) + 1) + cell).otherwise(key)
        )
    return suspected(frame, grid, canonical=canonical).with_columns(key.alias(KEY))


def begins_canonical(frame: pl.LazyFrame) -> bool:
    """Whether the first record's uid begins like a canonical one, so that such uids are to be expected."""
    first = collect(frame.select(pl.col("uid").str.starts_with(PREFIX)).head(1)).to_series()
    return bool(first.any())


def has_suspects(frame: pl.LazyFrame) -> bool:
    """Whether a uid is missing or begins like a canonical one.

    Comparisons, unlike a look at how a text begins, are ones that the statistics in Parquet files often
    answer without a uid being read.
    """
    uid = pl.col("uid")
    begins = (uid >= PREFIX) & (uid < PREFIX[:-1] + chr(ord(PREFIX[-1]) + 1))
    return bool(collect(frame.filter(uid.is_null() | (uid == "") | begins).select("uid").head(1)).height)


def numbered(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The records with their numbers, for frames that did not come from files."""
    return frame if RECORD in frame.collect_schema().names() else frame.with_row_index(RECORD)


def check_mixed(cells: pl.DataFrame, frame: pl.LazyFrame, keys: Sequence[str]) -> None:
    """Refuse a run whose scored records have null skill calls here and counts there.

    Args:
        cells: The cells with the run keys, ``scored`` and ``called`` (scored records with counted calls).
        frame: The records, read again only to locate.
        keys: The run keys, site and condition.

    Raises:
        ContractError: A run mixes the two.
    """
    if not (cells["called"] < cells["scored"]).any() or not cells["called"].sum():
        return
    by = list(keys[:-2])
    counted = cells.select(*by, "scored", "called")
    runs = counted.group_by(by).sum() if by else counted.sum()
    mixed = runs.filter((pl.col("called") > 0) & (pl.col("called") < pl.col("scored")))
    if not mixed.height:
        return
    inside = numbered(frame)
    if by:
        inside = inside.join(mixed.lazy().select(by), on=by, how="semi", maintain_order="left")
    rule = Rule(
        "skill_calls.mixed",
        "skill_calls",
        pl.col("skill_calls").is_null() & pl.col("error").is_null(),
        "a count in every record of a run, or null in every one",
        "null means that the method has no executable skills; no call made is 0",
    )
    check(inside, [rule], PER_TASK.name)


def check_tasks(
    frame: pl.LazyFrame, found: UInts, keys: Sequence[str], grid: Grid, *, canonical: bool
) -> bool:
    """Check the uids and whether a task was scored twice in its cell.

    Args:
        frame: The records, conformed.
        found: The task keys of the scored ones, which are sorted in place.
        keys: The run keys, site and condition.
        grid: The grid.
        canonical: As the keys were made.

    Returns:
        Whether some task was scored twice.

    Raises:
        ContractError: A uid is missing, or a canonical one names another site or a task that its site does
            not have.
    """
    sort(found)
    scored = pl.col("error").is_null()
    if len(found) and found[0] == ODD:
        records = keyed(numbered(frame), keys, grid, canonical=canonical)
        check(records.filter(pl.col(KEY) == ODD), uid_checks(grid), PER_TASK.name)
        if not canonical:
            others = keyed(frame, keys, grid, canonical=True).filter(scored).select(KEY)
            return check_tasks(frame, collect_beside(others)[0], keys, grid, canonical=True)
    again = found[1:][found[1:] == found[:-1]]
    if not len(again):
        return False
    candidates = pl.Series(np.unique(again)).implode()
    twice = (
        keyed(frame, keys, grid, canonical=canonical)
        .filter(scored & pl.col(KEY).is_in(candidates))
        .group_by(*keys, task())
        .agg(pl.len())
        .filter(pl.col("len") > 1)
    )
    return bool(collect(twice.select(pl.len())).item())


def drop_duplicates(frame: pl.LazyFrame, keys: Sequence[str], keep: Literal["first", "last"]) -> pl.LazyFrame:
    """Keep one scored record a task: the first or the last in the order of path, then line.

    Args:
        frame: The records, errored ones too; those are kept untouched.
        keys: The run keys, site and condition.
        keep: Which scored record stays.

    Returns:
        The records without the other scored ones.
    """
    scored = frame.filter(pl.col("error").is_null()).with_columns(task())
    kept = scored.sort(_place(frame), maintain_order=True).unique(
        [*keys, TASK], keep=keep, maintain_order=True
    )
    return pl.concat([kept.drop(TASK), frame.filter(pl.col("error").is_not_null())])


def duplicate_error(frame: pl.LazyFrame, keys: Sequence[str]) -> ContractError:
    """The error that names the tasks scored twice, with both places.

    Args:
        frame: The records, numbered.
        keys: The run keys, site and condition.

    Returns:
        The error, to raise.
    """
    cell = [*keys, TASK]
    place = _place(frame)
    ordered = frame.filter(pl.col("error").is_null()).with_columns(task()).sort(place, maintain_order=True)
    firsts = [pl.col(name).first().over(cell).alias(f"_first{name}") for name in place]
    extra = ordered.with_columns(pl.int_range(pl.len()).over(cell).alias("_nth"), *firsts).filter(
        pl.col("_nth") > 0
    )
    count, rows = collect(extra.select(pl.len())).item(), collect(extra.head(SHOWN)).to_dicts()
    again = [(row.get(FILE), row[RECORD]) for row in rows]
    first = [(row.get(f"_first{FILE}"), row[f"_first{RECORD}"]) for row in rows]
    lines = line_numbers(again + first)
    violations = [
        Violation(
            code="task.duplicate",
            file=there[0],
            line=lines[there],
            field="uid",
            found=f"{shorten(row['uid'])} scored again in {' / '.join(str(row[key]) for key in keys)}",
            expected="one scored record a task; the first is at "
            + Violation(code="", file=earlier[0], line=lines[earlier]).where,
            hint="keep one, or choose with --on-duplicates (on_duplicates=) first or last; "
            "several runs need a run key (--run-from path)",
        )
        for row, there, earlier in zip(rows, again, first, strict=True)
    ]
    return ContractError(PER_TASK.name, {"task.duplicate": count}, violations)


def _place(frame: pl.LazyFrame) -> list[str]:
    return [name for name in (FILE, RECORD) if name in frame.collect_schema().names()]


def errored_tasks(frame: pl.LazyFrame, keys: Sequence[str], grid: Grid) -> pl.LazyFrame:
    """How many tasks of each cell have an errored record and no scored one.

    Args:
        frame: The records.
        keys: The run keys, site and condition.
        grid: The grid.

    Returns:
        A plan with the keys and ``errored`` (Int64); cells without such a task are left out.

    Raises:
        ContractError: An errored record's uid breaks a rule; :func:`check_tasks` sees the scored ones only.
    """
    cell = [*keys, TASK]
    errors = numbered(frame).filter(pl.col("error").is_not_null())
    check(errors, uid_checks(grid), PER_TASK.name)
    wrong = errors.select(*keys, task()).unique()
    scored = frame.filter(pl.col("error").is_null()).select(*keys, task())
    return (
        wrong.join(scored, on=cell, how="anti", nulls_equal=True)
        .group_by(keys)
        .agg(pl.len().cast(pl.Int64).alias("errored"))
    )
