"""Making a submission from a log, and checking a log against a receipt."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.diagnostics.cells import cells as cells_of
from skillshift.diagnostics.marginals import marginals
from skillshift.frame.contract import FILE, collect
from skillshift.frame.errors import InputError, UsageError
from skillshift.frame.writing import staged
from skillshift.logs import scan_per_task
from skillshift.schema import RUN_KEYS
from skillshift.submission.build import aggregate, build
from skillshift.submission.checks import is_valid, validate
from skillshift.submission.checks.receipt import compare_aggregates
from skillshift.submission.commitment import canonical_form, digest, file_digest, keep_salt, salt_for
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.receipt import RECEIPT_FILE, RESULTS_FILE, Receipt, make_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillshift.submission.document import Results


SEVERAL_RUNS = "commitment.runs"
"""The finding that a log is of more than one run."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What was written.

    Attributes:
        results: The results document.
        receipt: The run's receipt.
        verdicts: What the checks say of the two, warnings included.
    """

    results: Results
    receipt: Receipt
    verdicts: tuple[Verdict, ...]


def submit(
    logs: Any,
    out: str | Path,
    *,
    salt_file: str | Path,
    env_digests: Mapping[str, str | None] | None = None,
    **about: Any,
) -> Submitted:
    """Compute a submission from one run's log and write its two files.

    The log itself is never copied: keep it and the salt, since they alone can answer a dispute.

    Args:
        logs: One run's per-task log, as :func:`skillshift.scan_per_task` takes it.
        out: The folder for ``results.json`` and ``run_receipt.json``; made if it does not exist.
        salt_file: Where the salt is kept, outside ``out``; made on first use, for its owner alone.
        env_digests: The digests of the environments that the run used, by name.
        about: What :func:`~skillshift.submission.build.build` says of the entry: ``name``, ``model``,
            ``date`` and so on.

    Returns:
        The documents and the verdicts on them.

    Raises:
        ContractError: A record breaks the log's contract.
        InputError: The run is not one complete run on the SkillShift grid, a field is not what the schema
            asks for, a check fails, or a file cannot be written. Then nothing is written.
        UsageError: The salt or a log lies in the folder that is published.
    """
    records = collect(logs if isinstance(logs, pl.LazyFrame) else scan_per_task(logs))
    _check_apart(records, out)
    cells = cells_of(records.lazy())
    results = build(marginals(cells), cells, **about)
    salt = salt_for(salt_file, out)
    receipt = make_receipt(
        results, records, cells, salt=salt, logs=log_digests(records, salt), env_digests=env_digests or {}
    )
    verdicts = validate(results, receipt, None)
    if not is_valid(verdicts):
        raise InputError(
            "the submission does not pass its own checks, so nothing was written:\n"
            + "\n".join(str(finding) for verdict in verdicts for finding in verdict.errors)
        )
    with staged(out) as folder:
        (folder / RESULTS_FILE).write_bytes(results.to_bytes())
        (folder / RECEIPT_FILE).write_bytes(receipt.to_bytes())
        keep_salt(salt_file, salt)  # last, but before the folder is there: no submission without its salt
    return Submitted(results, receipt, tuple(verdicts))


def log_digests(records: pl.DataFrame, salt: str) -> dict[str, str]:
    """The salted digests of the files that records came from, by their names below their common folder.

    Args:
        records: The records with the reader's ``_file``, if they came from files.
        salt: 64 hexadecimal digits.

    Returns:
        The digests; none for records that did not come from local files.

    Raises:
        InputError: A file is gone.
    """
    local = _local_files(records)
    if not local:
        return {}
    common = Path(os.path.commonpath([path.parent for path in local]))
    return {path.relative_to(common).as_posix(): file_digest(path, salt) for path in local}


def _local_files(records: pl.DataFrame) -> list[Path]:
    names = sorted(records[FILE].drop_nulls().unique().to_list()) if FILE in records.columns else []
    return [Path(name).absolute() for name in names if "://" not in name]


def _check_apart(records: pl.DataFrame, out: str | Path) -> None:
    """Refuse to write beside a log: what is in the folder gets published."""
    folder = Path(out).resolve()
    inside = next((path for path in _local_files(records) if folder in path.resolve().parents), None)
    if inside is not None:
        raise UsageError(
            f"{out}: this folder is what you publish, but the log {inside.name} is in it; choose another"
        )


def verify(receipt: Receipt, logs: Any, *, salt: str) -> list[Verdict]:
    """Check a log against the receipt of the run that it is said to be of.

    Args:
        receipt: The published receipt.
        logs: The per-task log, as :func:`skillshift.scan_per_task` takes it.
        salt: The submitter's salt.

    Returns:
        Two verdicts: ``commitment`` (the records are those of the receipt's one run that were committed to,
        each in every listed field) and ``aggregate`` (they give the numbers in the receipt; not checked
        where the log is not of one run).

    Raises:
        ContractError: The log is no per-task log.
        InputError: It cannot be read, or the salt is not one.
    """
    records = collect(logs if isinstance(logs, pl.LazyFrame) else scan_per_task(logs))
    run = _run(receipt, records)
    return [
        _commitment(receipt, records, salt, run),
        _recomputed(receipt, records, several=any(finding.code == SEVERAL_RUNS for finding in run)),
    ]


def _run(receipt: Receipt, records: pl.DataFrame) -> list[Finding]:
    """Whether the log is of one run, and of the receipt's: the digest does not bind the run keys."""
    keys = [key for key in RUN_KEYS if key in records.columns]
    runs = records.select(keys).unique(maintain_order=True)
    if keys and runs.height > 1:
        return [
            Finding(
                code=SEVERAL_RUNS,
                path="run",
                found=f"{runs.height:,} runs in the log by {', '.join(keys)}",
                expected="one",
                why="a receipt is about one run; give its log alone",
            )
        ]
    found = {key: str(value) for key, value in runs.row(0, named=True).items()} if runs.height else {}
    return [
        Finding(
            code="commitment.run",
            path=f"run.{key}",
            found=f"{show(found[key])} in the log" if key in found else "nothing in the log",
            expected=show(receipt.run[key]) if key in receipt.run else "no such run key",
            why="the log is of another run than the receipt, or was relabelled",
        )
        for key in dict.fromkeys((*receipt.run, *found))
        if receipt.run.get(key) != found.get(key)
    ]


def _commitment(receipt: Receipt, records: pl.DataFrame, salt: str, run: list[Finding]) -> Verdict:
    committed = receipt.per_task_commitment
    found = digest(canonical_form(records), salt)
    findings = [*run]
    if records.height != committed.records:
        findings.append(
            Finding(
                code="commitment.records",
                path="per_task_commitment.records",
                found=f"{records.height:,} records in the log",
                expected=f"{committed.records:,}",
                why="the log has lost or gained records since the receipt was made, or is of another run",
            )
        )
    if found != committed.digest:
        findings.append(
            Finding(
                code="commitment.digest",
                path="per_task_commitment.digest",
                found=f"{found} from the log and the salt",
                expected=committed.digest,
                why="at least one listed field of one record, or the salt, is not what was committed to",
            )
        )
    return Verdict("commitment", tuple(findings))


def _recomputed(receipt: Receipt, records: pl.DataFrame, *, several: bool) -> Verdict:
    if several:
        return Verdict("aggregate", unchecked=("the log is of several runs",), ran=False)
    try:
        again = aggregate(marginals(cells_of(records.lazy())))
    except InputError as error:
        return Verdict("aggregate", unchecked=(f"the log gives no numbers: {error}",), ran=False)
    published = receipt.aggregate.model_dump(exclude_unset=True)
    return Verdict("aggregate", tuple(compare_aggregates(again, published, "as the log gives them")))
