"""Results as a folder: Parquet, the document as Markdown, and a manifest; all whole or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.rendering.basis import basis_data, digests
from skillful_eval.rendering.document import versions
from skillful_eval.rendering.formats import markdown
from skillshift.frame.contract import FILE, collect
from skillshift.frame.writing import dump_json, refuse_overwriting, sha256, staged, write_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skillful_eval.rendering.document import Document
    from skillful_eval.scoring import Scored

REPORT, MANIFEST = "report.md", "manifest.json"
"""What is written beside the frames."""


def write_folder(
    folder: str | Path,
    document: Document,
    *,
    frames: Mapping[str, pl.DataFrame],
    scored: Scored,
    inputs: Sequence[str | Path],
    facts: Mapping[str, Any],
) -> None:
    """Write each frame as Parquet, ``report.md`` and ``manifest.json`` into a folder.

    All are whole or none is written, and earlier ones stay until the new ones are complete. The same runs
    give the same bytes, the manifest aside, which names the files.

    Args:
        folder: Where the files go; made if it does not exist.
        document: What ``report.md`` says.
        frames: The frames by the name of their file.
        scored: The runs that they rest on.
        inputs: The files that were read beside the runs.
        facts: What else the manifest says, such as the keys.

    Raises:
        UsageError: One of them would be written over a file that was read.
        InputError: The folder cannot be written to.
    """
    runs = _run_files(scored.source)
    names = [*(f"{name}.parquet" for name in frames), REPORT, MANIFEST]
    refuse_overwriting(
        {f"{name} in --out": Path(folder) / name for name in names}, {"the input": [*inputs, *runs]}
    )
    rests_on = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in digests(scored.provenance).items()
    }
    metadata = versions() | rests_on
    with staged(folder) as place:
        for name, frame in frames.items():
            write_parquet(frame, place / f"{name}.parquet", metadata)
        (place / REPORT).write_text(markdown.render(document), encoding="utf-8", newline="\n")
        outputs = {path.name: sha256(path) for path in sorted(place.iterdir())}
        manifest = {
            **versions(),
            **facts,
            "provenance": basis_data(scored.provenance),
            "inputs": [
                *({"file": str(path), "sha256": _sha256(str(path))} for path in inputs),
                *(
                    {"file": name, "records": records, "sha256": _sha256(name)}
                    for name, records in runs.items()
                ),
            ],
            "outputs": outputs,
        }
        (place / MANIFEST).write_text(dump_json(manifest), encoding="utf-8", newline="\n")


def _sha256(name: str) -> str | None:
    return sha256(name) if Path(name).is_file() else None


def _run_files(runs: pl.LazyFrame) -> dict[str, int]:
    """The files that the runs came from, with their numbers of records."""
    if FILE not in runs.collect_schema().names():
        return {}
    counted = collect(runs.group_by(FILE).agg(pl.len().cast(pl.Int64)).sort(FILE))
    return {row[FILE]: row["len"] for row in counted.to_dicts() if row[FILE] is not None}
