"""Runs as a lazy frame that says where they come from and what they were made with."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.schema import PROVENANCE, RUNS, RUNS_AS_TEXT
from skillshift.frame.contract import FILE
from skillshift.frame.frames import frame_of
from skillshift.frame.reading import scan
from skillshift.frame.sources import find_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift.frame.reading import Refused
    from skillshift.frame.sources import Log


def scan_runs(source: Any, *, refused: list[Refused] | None = None) -> pl.LazyFrame:
    """Scan routing runs into one lazy frame.

    Args:
        source: A file (Parquet, JSONL, also ``.gz`` and ``.zst``), a folder of them, a glob, an object-store
            URL, a list of those, or a frame of any library that Narwhals reads.
        refused: Without it, bad records raise. With a list, they are appended to it and left out.

    Returns:
        A LazyFrame with the fields of :data:`skillful_eval.schema.RUNS` that the runs have: ``fixture_id``
        (text), ``repeat`` (Int64), ``shortlist`` (list of text, or of Enum or Categorical where all files
        have the same of those, which is several times faster), ``decision``, ``chosen``, ``reason`` (text),
        and optionally ``none_p``, ``winner_p``, ``latency_ms`` (Float64), ``tokens_in``, ``tokens_out``
        (Int64), ``config``, ``model`` (text), ``response_index`` (Int64), ``fixture_set``,
        ``fixture_digest``, ``corpus_fingerprint``, ``tuned_on`` (text). The last four may stand in the
        key-value metadata of a local Parquet file instead, under the same names; they become columns here.
        Further columns are kept.

    Raises:
        ContractError: Records are not what the fields say.
        InputError: A file is missing, empty, unreadable or cut, or there is none.

    Example:
        >>> from skillshift import datasets
        >>> runs = scan_runs(datasets.path("routing/runs"))
        >>> runs.group_by("fixture_set").len().sort("fixture_set").collect().rows()
        [('fixtures.dev', 450), ('fixtures.holdout', 150)]
    """
    if frame_of(source) is not None:
        return scan(source, RUNS, refused=refused)
    logs = find_logs(source)
    frame = scan(source, RUNS if _coded_alike(logs) else RUNS_AS_TEXT, refused=refused)
    told = {log.path: _metadata(log.path) for log in logs if log.is_parquet and not log.is_remote}
    present = set(frame.collect_schema().names())
    return frame.with_columns(
        _from_files(name, {path: values[name] for path, values in told.items() if name in values}, present)
        for name in PROVENANCE
        if any(name in values for values in told.values())
    )


def _coded_alike(logs: Sequence[Log]) -> bool:
    """Whether the shortlists of all logs have the same type; else text is what they have in common."""
    if not all(log.is_parquet for log in logs):
        return False
    try:
        types = {pl.scan_parquet(log.path, glob=False).collect_schema().get("shortlist") for log in logs}
    except (OSError, pl.exceptions.PolarsError):
        return False  # the reader says what is wrong with the file
    return len(types) == 1


def _metadata(path: str) -> dict[str, str]:
    return {name: text for name, text in pl.read_parquet_metadata(path).items() if name in PROVENANCE}


def _from_files(name: str, by_file: dict[str, str], present: set[str]) -> pl.Expr:
    """What the files say; a record's own value goes first."""
    said = reduce(
        lambda other, item: pl.when(pl.col(FILE) == item[0]).then(pl.lit(item[1])).otherwise(other),
        by_file.items(),
        pl.lit(None, dtype=pl.String),
    )
    return (pl.coalesce(name, said) if name in present else said).alias(name)
