"""The receipt check: a self-reported entry has one, and it says the same as the document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillshift.grid import SKILLSHIFT
from skillshift.submission.checks.schema import unknown_fields
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.model import problems
from skillshift.submission.receipt import RECEIPT_FILE, Receipt, harness_version
from skillshift.submission.sheet import MISSING, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECEIPT = "receipt"
"""How paths within the receipt begin."""

_HARNESS = re.compile(r"skillshift (\d+)\.(\d+)\.\d+\S*")


def check_receipt(
    sheet: Sheet, receipt: dict[str, Any] | None, digests: Mapping[str, str | None] | None
) -> Verdict:
    """Check a document against its run's receipt."""
    if receipt is None:
        return _without(sheet)
    inner = Sheet(receipt)
    schema = [*problems(Receipt, receipt), *unknown_fields(Receipt, receipt)]
    compared, unchecked = _environments(inner, digests)
    findings = [
        *(_within(finding) for finding in schema),
        *_about(sheet, inner),
        *_versions(sheet, inner),
        *_counts(inner),
        *_aggregate(sheet, inner),
        *compared,
    ]
    return Verdict("receipt", tuple(findings), unchecked=tuple(unchecked))


def _without(sheet: Sheet) -> Verdict:
    if not sheet.self_reported:
        return Verdict("receipt", unchecked=("no receipt given; a transcribed entry needs none",), ran=False)
    missing = Finding(
        code="receipt.missing",
        path=RECEIPT,
        found="no receipt",
        expected=f"the run's receipt ({RECEIPT_FILE})",
        why="a self-reported entry must commit to the records behind it",
    )
    return Verdict("receipt", (missing,))


def _within(finding: Finding) -> Finding:
    return Finding(
        # "receipt.missing" says that there is no receipt at all.
        code=finding.code.replace("schema.missing", "receipt.field-missing").replace("schema.", "receipt."),
        severity=finding.severity,
        path=f"{RECEIPT}.{finding.path}" if finding.path else RECEIPT,
        found=finding.found,
        expected=finding.expected,
        why=finding.why,
    )


def _about(sheet: Sheet, inner: Sheet) -> Iterator[Finding]:
    for field, place in (("name", ("name",)), ("date", ("date",)), ("model", ("model", "id"))):
        found, wanted = inner.at("submission", field), sheet.at("submission", *place)
        if MISSING not in (found, wanted) and found != wanted:
            yield Finding(
                code="receipt.other-submission",
                path=f"{RECEIPT}.submission.{field}",
                found=show(found),
                expected=f"{show(wanted)}, as the document says",
                why="the receipt belongs to another submission",
            )


def _versions(sheet: Sheet, inner: Sheet) -> Iterator[Finding]:
    path = f"{RECEIPT}.harness_version"
    found, wanted = inner.at("harness_version"), sheet.at("harness_version")
    if found is MISSING:
        return
    if wanted is not MISSING and found != wanted:
        yield Finding(
            code="receipt.harness",
            path=path,
            found=show(found),
            expected=f"{show(wanted)}, as the document says",
            why="the document and its receipt come from one computation",
        )
    software = inner.at("software", "skillshift")
    if isinstance(software, str) and harness_version(software) != found:
        yield Finding(
            code="receipt.software",
            path=f"{RECEIPT}.software.skillshift",
            found=show(software),
            expected=f"the version in {show(found)}, the receipt's harness_version",
            why="one version computed the numbers",
        )
    if not _is_supported(found):
        yield Finding(
            code="receipt.version",
            path=path,
            found=show(found),
            expected=f"a version that {harness_version()} can check",
            why="definitions may have changed between versions; compute it again with a supported one",
        )


def _is_supported(version: object) -> bool:
    """Whether a harness's numbers mean what this version's do: one major version, not from the future."""
    theirs = _HARNESS.fullmatch(version) if isinstance(version, str) else None
    ours = _HARNESS.fullmatch(harness_version())
    if theirs is None or ours is None:
        return False
    return theirs[1] == ours[1] and int(theirs[2]) <= int(ours[2])


def _counts(inner: Sheet) -> Iterator[Finding]:
    given = inner.at("n_per_cell")
    if not isinstance(given, dict):
        return
    for website, condition, planned in SKILLSHIFT.cells():
        found = inner.at("n_per_cell", website, condition)
        if found != planned or isinstance(found, bool):
            yield Finding(
                code="receipt.count",
                path=f"{RECEIPT}.n_per_cell.{website}.{condition}",
                found="nothing" if found is MISSING else show(found),
                expected=str(planned),
                why="every cell of a submission covers all of its website's tasks",
            )
    known = {f"{website}.{condition}" for website, condition, _ in SKILLSHIFT.cells()}
    for path, found in _cells_of(given):
        if path not in known:
            yield Finding(
                code="receipt.count",
                path=f"{RECEIPT}.n_per_cell.{path}",
                found=show(found),
                expected="nothing",
                why="the benchmark has no such cell",
            )
    records, tasks = inner.at("per_task_commitment", "records"), SKILLSHIFT.tasks
    if isinstance(records, int) and records < tasks:
        yield Finding(
            code="receipt.records",
            path=f"{RECEIPT}.per_task_commitment.records",
            found=show(records),
            expected=f"at least {tasks:,}",
            why="each task of the benchmark has a record",
        )


def _cells_of(given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for website, counts in given.items():
        if isinstance(counts, dict) and counts:
            yield from ((f"{website}.{condition}", found) for condition, found in counts.items())
        elif website not in SKILLSHIFT.website_names:  # of a known one, the missing cells are told
            yield website, counts


def _aggregate(sheet: Sheet, inner: Sheet) -> Iterator[Finding]:
    given = inner.at("aggregate")
    if isinstance(given, dict):
        yield from compare_aggregates(given, sheet.tree, "as the receipt says")


def compare_aggregates(wanted: Mapping[str, Any], found: Mapping[str, Any], says: str) -> Iterator[Finding]:
    """Compare ``metrics`` and ``n`` number by number.

    Args:
        wanted: What they should be.
        found: What they are; a part that is missing here or there is passed over.
        says: Who says what they should be.

    Yields:
        A finding for each number that differs.
    """
    for part in ("metrics", "n"):
        if part not in wanted or part not in found:
            continue
        ours, theirs = dict(_leaves(found[part], part)), dict(_leaves(wanted[part], part))
        for path in ours | theirs:
            here, there = ours.get(path, MISSING), theirs.get(path, MISSING)
            if not _same(here, there):
                yield Finding(
                    code="receipt.aggregate",
                    path=path,
                    found=_shown(here),
                    expected=f"{_shown(there)}, {says}",
                    why="a document, its receipt and its log give the same numbers",
                )


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    else:
        yield path, value


def _same(one: Any, other: Any) -> bool:
    # True equals 1 in Python, and is no number in a document.
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else show(value)


def _environments(inner: Sheet, digests: Mapping[str, str | None] | None) -> tuple[list[Finding], list[str]]:
    if digests is None:
        return [], ["env_digests: no official digests given to compare with"]
    unpublished = [name for name, official in digests.items() if official is None]
    unchecked = [f"env_digests: no official digest yet for {', '.join(unpublished)}"] if unpublished else []
    findings = []
    for name, official in digests.items():
        found = inner.at("env_digests", name)
        if official is not None and found != official:
            findings.append(
                Finding(
                    code="receipt.digest",
                    path=f"{RECEIPT}.env_digests.{name}",
                    found="nothing" if found is MISSING else show(found),
                    expected=official,
                    why="the run must use the published environment",
                )
            )
    given = inner.at("env_digests")
    findings += [
        Finding(
            code="receipt.digest-unknown",
            severity="warning",
            path=f"{RECEIPT}.env_digests.{name}",
            found=show(value),
            expected=f"only {', '.join(digests)}",
            why="no official digest has this name, so it was not compared",
        )
        for name, value in (given.items() if isinstance(given, dict) else ())
        if name not in digests
    ]
    return findings, unchecked
