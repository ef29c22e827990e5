"""The run's receipt: what was run, on what, what came out, and a commitment to every record behind it.

A receipt holds no per-task judgement. The commitment and the digests of the log files are salted, because
a log that somebody guesses must not be confirmed by its plain digest; the salt stays with the submitter.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import polars as pl
from pydantic import Field, StrictStr

import skillshift
from skillshift.frame.errors import InputError
from skillshift.submission.commitment import FORM, canonical_form, digest
from skillshift.submission.document import Counts, Metrics, Results  # noqa: TC001 - pydantic reads them
from skillshift.submission.jsontext import dump, parse, read_bytes
from skillshift.submission.model import AnyText, Count, Date, Name, Part, Text, read_as, require

if TYPE_CHECKING:
    from collections.abc import Mapping

RECEIPT_VERSION: Final = "1"
"""The version of the receipt's fields."""

RESULTS_FILE, RECEIPT_FILE = "results.json", "run_receipt.json"
"""What ``submit`` writes."""

RECEIPT_SUFFIX = ".receipt.json"
"""How a receipt's name ends in a leaderboard's folder, in the place of its document's ``.json``."""

_SHOWN_RUNS = 5

Digest = Annotated[StrictStr, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Commitment(Part):
    """The salted digest of the records in their canonical form."""

    form: Literal["skillshift per-task form 1"]
    records: Count
    digest: Digest


class LogFile(Part):
    """One log file and the salted digest of its bytes."""

    name: Text
    digest: Digest


class About(Part):
    """Which submission the receipt belongs to."""

    name: Name
    date: Date
    model: Text


class Software(Part):
    """What computed the numbers."""

    skillshift: Text
    polars: Text
    python: Text


class Aggregate(Part):
    """The numbers that the run gave, as the results document must repeat them."""

    metrics: Metrics
    n: Counts


class Receipt(Part):
    """A run's receipt."""

    receipt_version: Literal["1"]
    submission: About
    run: dict[AnyText, AnyText]
    harness_version: Text
    software: Software
    n_per_cell: dict[AnyText, dict[AnyText, Count]]
    env_digests: dict[AnyText, Digest | None]
    logs: list[LogFile]
    per_task_commitment: Commitment
    aggregate: Aggregate

    def to_bytes(self) -> bytes:
        """The receipt as it is written."""
        return f"{dump(self.model_dump(exclude_unset=True))}\n".encode()


def make_receipt(
    results: Results,
    records: pl.DataFrame | pl.LazyFrame,
    cells: pl.DataFrame,
    *,
    salt: str,
    logs: Mapping[str, str],
    env_digests: Mapping[str, str | None],
) -> Receipt:
    """Make the receipt of a complete run.

    Args:
        results: The run's results document.
        records: The run's per-task records, as :func:`~skillshift.submission.commitment.canonical_form`
            takes them.
        cells: The run's cells, as :func:`skillshift.cells` gives them.
        salt: 64 hexadecimal digits, from :func:`~skillshift.submission.commitment.salt_for`.
        logs: The salted digests of the log files by name.
        env_digests: The digests of the environments that the run used, by name.

    Returns:
        The receipt; the same run and salt give the same one.

    Raises:
        ContractError: The records are no per-task records.
        InputError: The salt is not one, or a digest or a name is not what the receipt's schema asks for.
    """
    form = canonical_form(records)
    tree = {
        "receipt_version": RECEIPT_VERSION,
        "submission": {
            "name": results.submission.name,
            "date": results.submission.date,
            "model": results.submission.model.id,
        },
        "run": run_of(cells),
        "harness_version": results.harness_version,
        "software": {
            "skillshift": skillshift.__version__,
            "polars": pl.__version__,
            "python": platform.python_version(),
        },
        "n_per_cell": scored_per_cell(cells),
        "env_digests": env_digests,
        "logs": [{"name": name, "digest": found} for name, found in sorted(logs.items())],
        "per_task_commitment": {
            "form": FORM,
            "records": form.count(b"\n") - 2,
            "digest": digest(form, salt),
        },
        "aggregate": {"metrics": results.metrics, "n": results.n},
    }
    return require(Receipt, tree, "the receipt")


def harness_version(version: str = skillshift.__version__) -> str:
    """What our own documents and receipts say computed them.

    >>> harness_version("1.2.3")
    'skillshift 1.2.3'
    """
    return f"skillshift {version}"


def run_of(cells: pl.DataFrame) -> dict[str, str]:
    """The run keys of the one run in a cells frame.

    Raises:
        InputError: There are several runs, or none.
    """
    # Imported here, so that reading and checking documents costs nothing of what computing numbers needs.
    from skillshift.diagnostics.marginals import run_keys

    keys = run_keys(cells, "website")
    if not keys:
        return {}
    runs = cells.select(keys).unique(maintain_order=True)
    if runs.height != 1:
        shown = "; ".join(" / ".join(map(str, row)) for row in runs.head(_SHOWN_RUNS).rows())
        more = "; ..." if runs.height > _SHOWN_RUNS else ""
        raise InputError(
            f"found {runs.height:,} runs by {', '.join(keys)} ({shown}{more}), expected exactly one: a"
            " submission and its receipt are about one run; give its log alone"
        )
    return {key: str(value) for key, value in runs.row(0, named=True).items()}


def scored_per_cell(cells: pl.DataFrame) -> dict[str, dict[str, int]]:
    """How many tasks each cell scored: by website, then condition."""
    found: dict[str, dict[str, int]] = {}
    for website, condition, scored in cells.select("website", "condition", "scored").rows():
        found.setdefault(website, {})[condition] = scored
    return found


def read_receipt(source: str | Path | bytes) -> Receipt:
    """Read a receipt.

    Args:
        source: A file, or a receipt's bytes.

    Returns:
        The receipt.

    Raises:
        InputError: It cannot be read, or does not fit the schema; every problem is named with its path.
    """
    return read_as(Receipt, source)[0]


def receipt_path(results: str | Path) -> Path:
    """Where a leaderboard's folder keeps the receipt of a document.

    >>> receipt_path("2026-09-01--mine--gpt-5-mini.json").name
    '2026-09-01--mine--gpt-5-mini.receipt.json'
    """
    path = Path(results)
    return path.with_name(path.name.removesuffix(".json") + RECEIPT_SUFFIX)


def is_receipt(tree: Mapping[str, Any]) -> bool:
    """Whether a parsed document is a receipt and not a submission."""
    return "receipt_version" in tree


def read_digests(source: str | Path | bytes) -> dict[str, str | None]:
    """Read the published digests of the benchmark's environments.

    Args:
        source: A JSON object of ``sha256:`` digests by environment; null for one not published yet.

    Returns:
        The digests by name.

    Raises:
        InputError: The file cannot be read, or holds something else.
    """
    return read_as(_Digests, b'{"digests": ' + _object(source) + b"}")[0].digests


class _Digests(Part):
    digests: dict[AnyText, Digest | None]


def _object(source: str | Path | bytes) -> bytes:
    raw, name = read_bytes(source)
    parse(raw, name)
    return raw.removeprefix(b"\xef\xbb\xbf")
