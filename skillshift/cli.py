"""The ``skillshift`` command line: arguments only; heavy modules are imported where a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillshift.frame.console import FINDING, emit, note, progress, run
from skillshift.frame.errors import InputError, UsageError
from skillshift.leaderboard.cli import app as leaderboard
from skillshift.report.formats import FORMATS
from skillshift.submission.cli import app as submission

if TYPE_CHECKING:
    from skillshift.grid import Grid

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing Rich for it takes longer than all the rest
    help="From per-task logs of a web-agent benchmark to its diagnostics, each number with its count.",
)

# A format is a module in report/formats: the choices come from there.
if TYPE_CHECKING:
    Format = str
else:
    Format = StrEnum("Format", {name: name for name in FORMATS})
DEFAULT = "table"
QUARANTINE = "quarantine="

app.add_typer(submission)
app.add_typer(leaderboard, name="leaderboard")


@app.callback()
def options() -> None:
    """Keep the commands' names even while there is one."""


@app.command()
def report(
    logs: Annotated[
        list[str], typer.Argument(help="Log files (JSONL, .gz, .zst, Parquet), folders, globs, URLs.")
    ],
    grid: Annotated[
        str, typer.Option(help="The grid: skillshift, a TOML file, or infer to read it off the logs.")
    ] = "skillshift",
    by: Annotated[
        list[str] | None, typer.Option(help="A run key; repeat for several. Default: those present.")
    ] = None,
    incomplete: Annotated[
        Literal["undefined", "scored"],
        typer.Option(help="Values of incomplete cells: undefined, or over what was scored (marked)."),
    ] = "undefined",
    on_duplicates: Annotated[
        Literal["refuse", "first", "last"],
        typer.Option(
            help="What to do with a task scored twice in its cell, in the order of path, then line."
        ),
    ] = "refuse",
    on_bad_records: Annotated[
        str, typer.Option(help="refuse, or quarantine=FILE to write the refused lines there and go on.")
    ] = "refuse",
    run_from: Annotated[
        Literal["path"] | None, typer.Option(help="path: each file or folder is a run, named after it.")
    ] = None,
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = DEFAULT,
    out: Annotated[
        Path | None, typer.Option(help="Also write cells, marginals, report and manifest into this folder.")
    ] = None,
) -> None:
    """The four diagnostics of every run in the logs.

    Exit code 1 where a run is incomplete, records were quarantined, or the identity does not hold.
    """
    quarantine = _quarantine(on_bad_records)
    from skillshift.report.build import build_report, write_outputs
    from skillshift.report.formats import render

    _refuse_overwriting(out, quarantine, grid)
    with progress("Reading logs"):
        built = build_report(
            logs,
            grid=_grid(grid),
            by=by,
            incomplete=incomplete,
            on_duplicates=on_duplicates,
            run_from=run_from,
            quarantine=quarantine,
        )
        text = render(built.report, fmt)
        write_outputs(built, out)
    emit(text)
    if quarantine is not None and built.report.refused:
        note(f"refused records: {built.report.refused}; they are in {quarantine} with their reasons")
    if built.report.finding:
        raise typer.Exit(FINDING)


@app.command()
def table1(
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = DEFAULT,
) -> None:
    """The paper's Table 1 as printed, each row with the verdict of the marginal identity.

    Exit code 1 where a row breaks the identity.
    """
    from skillshift.report.table1 import render_table1

    text, holds = render_table1(fmt)
    emit(text)
    if not holds:
        raise typer.Exit(FINDING)


@app.command()
def metrics() -> None:
    """What each metric is: definition, unit, bounds, direction, source (Markdown)."""
    from skillshift.metrics import METRICS

    emit(METRICS.documentation())


def _refuse_overwriting(out: Path | None, quarantine: Path | None, grid: str) -> None:
    """Refuse an output that is the grid's file, or the other output; the logs are looked at when read."""
    from skillshift.frame.writing import refuse_overwriting
    from skillshift.report.build import OUTPUTS

    files = {} if out is None else {f"{name} in --out": out / name for name in OUTPUTS}
    refuse_overwriting(files | {f"--on-bad-records {QUARANTINE}": quarantine}, {"--grid": grid})


def _grid(name: str) -> Grid | None:
    """The grid an option names; null means to infer it."""
    from skillshift.grid import SKILLSHIFT, read_grid

    if name == SKILLSHIFT.name:
        return SKILLSHIFT
    if name == "infer":
        return None
    return read_grid(name if Path(name).exists() else _bundled(name))


def _bundled(name: str) -> str | Path:
    """The bundled grid of that name, such as tau.toml, where there is no such file here."""
    from skillshift import datasets

    if Path(name).name != name:
        return name
    try:
        return datasets.path(name)
    except InputError:
        return name


def _quarantine(option: str) -> Path | None:
    if option == "refuse":
        return None
    if option.startswith(QUARANTINE) and len(option) > len(QUARANTINE):
        return Path(option.removeprefix(QUARANTINE))
    raise UsageError(f"--on-bad-records: found {option!r}, expected refuse or {QUARANTINE}FILE")


def main() -> None:
    """The entry point of the ``skillshift`` command."""
    run(app)


if __name__ == "__main__":
    main()
