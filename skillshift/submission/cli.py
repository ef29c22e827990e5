"""The commands about submissions: arguments only; heavy modules are imported where a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillshift.frame.console import FINDING, emit, note, progress

if TYPE_CHECKING:
    from skillshift.submission.findings import Verdict

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)

Format = Literal["text", "json"]


@app.command()
def submit(
    logs: Annotated[
        list[str], typer.Argument(help="One run's log: files (JSONL, .gz, .zst, Parquet), folders, globs.")
    ],
    name: Annotated[str, typer.Option(help="What the leaderboard calls the entry.")],
    model: Annotated[str, typer.Option(help="The language model's id.")],
    out: Annotated[Path, typer.Option(help="The folder for results.json and run_receipt.json.")],
    salt_file: Annotated[
        Path, typer.Option(help="Where the salt is kept, outside --out; made on first use. Never publish it.")
    ],
    date: Annotated[
        str | None, typer.Option(help="When it ran, as YYYY-MM-DD. Default: today, in UTC.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="The method's name in full. Default: --name.")] = None,
    description: Annotated[str | None, typer.Option(help="What the method does.")] = None,
    paper_url: Annotated[str | None, typer.Option(help="Its paper.")] = None,
    code_url: Annotated[str | None, typer.Option(help="Its code.")] = None,
    contact: Annotated[str | None, typer.Option(help="How to reach you.")] = None,
    temperature: Annotated[float | None, typer.Option(help="The model's temperature.")] = None,
    vision: Annotated[bool | None, typer.Option(help="Whether the model saw screenshots.")] = None,
    repro_command: Annotated[str | None, typer.Option(help="The command that runs it again.")] = None,
    notes: Annotated[str | None, typer.Option(help="Anything else.")] = None,
    digests: Annotated[
        Path | None, typer.Option(help="JSON of the digests of the environments that the run used.")
    ] = None,
) -> None:
    """Compute a submission from one complete run: results.json and run_receipt.json.

    The per-task log is never copied. Keep it and the salt: they alone can answer a dispute.
    """
    from datetime import UTC, datetime

    from skillshift.frame.writing import refuse_overwriting
    from skillshift.submission.receipt import RECEIPT_FILE, RESULTS_FILE, read_digests
    from skillshift.submission.submit import submit as run_submit

    files = {f"{name} in --out": out / name for name in (RESULTS_FILE, RECEIPT_FILE)}
    refuse_overwriting(files, {"--digests": digests, "--salt-file": salt_file})
    with progress("Computing the submission"):
        done = run_submit(
            logs,
            out,
            salt_file=salt_file,
            env_digests=None if digests is None else read_digests(digests),
            name=name,
            model=model,
            date=datetime.now(UTC).date().isoformat() if date is None else date,
            method=method,
            description=description,
            paper_url=paper_url,
            code_url=code_url,
            contact=contact,
            temperature=temperature,
            vision=vision,
            repro_command=repro_command,
            notes=notes,
        )
    emit(f"{out / RESULTS_FILE}\n{out / RECEIPT_FILE}\n")
    for verdict in done.verdicts:
        for finding in verdict.warnings:
            note(str(finding))
    note(
        f"Publish these two files only. Keep the per-task log and {salt_file} as they are and to yourself:"
        " if the entry is questioned, nothing else can answer."
    )


@app.command()
def validate(
    results: Annotated[Path, typer.Argument(help="The results document.")],
    receipt: Annotated[
        Path | None, typer.Option(help="The run's receipt; a self-reported entry needs one.")
    ] = None,
    digests: Annotated[
        Path | None, typer.Option(help="JSON of the official digests of the benchmark's environments.")
    ] = None,
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = "text",
) -> None:
    """Check a submission: schema, coverage, marginals, ranges, receipt, and two checks that only warn.

    Exit code 1 where a check fails.
    """
    from skillshift.submission.checks import validate as run_checks
    from skillshift.submission.receipt import read_digests

    official = None if digests is None else read_digests(digests)
    _tell(run_checks(results, receipt, official), fmt)


@app.command()
def verify(
    receipt: Annotated[Path, typer.Argument(help="The published receipt.")],
    logs: Annotated[list[str], typer.Argument(help="The per-task log, as it was submitted.")],
    salt_file: Annotated[Path, typer.Option(help="The submitter's salt.")],
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = "text",
) -> None:
    """Settle a dispute: does this log match that commitment?

    Exit code 1 where it does not.
    """
    from skillshift.submission.commitment import read_salt
    from skillshift.submission.receipt import read_receipt
    from skillshift.submission.submit import verify as run_verify

    with progress("Verifying the log"):
        verdicts = run_verify(read_receipt(receipt), logs, salt=read_salt(salt_file))
    _tell(verdicts, fmt)


@app.command()
def schema(
    document: Annotated[Literal["results", "receipt"], typer.Argument(help="Which document.")],
) -> None:
    """The JSON Schema of a document, derived from its model."""
    from skillshift.frame.writing import dump_json
    from skillshift.submission.document import Results
    from skillshift.submission.model import json_schema
    from skillshift.submission.receipt import Receipt

    emit(dump_json(json_schema(Results if document == "results" else Receipt)))


def _tell(verdicts: list[Verdict], fmt: Format) -> None:
    from skillshift.submission.checks import is_valid, verdicts_to_json

    emit(f"{verdicts_to_json(verdicts)}\n" if fmt == "json" else "".join(f"{v}\n" for v in verdicts))
    if not is_valid(verdicts):
        raise typer.Exit(FINDING)
