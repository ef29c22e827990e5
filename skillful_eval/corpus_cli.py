"""``skillful-eval corpus``: arguments only; heavy modules are imported where a command runs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations when it runs
from typing import Annotated

import typer

from skillshift.frame.console import FINDING, emit, note, progress

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing Rich for it takes longer than all the rest
    help="Corpora: the capabilities that a router chooses from.",
)


@app.callback()
def options() -> None:
    """Keep the command's name even while there is one."""


@app.command()
def build(  # noqa: PLR0917 - a command's options are keywords on the command line
    roots: Annotated[
        list[Path],
        typer.Argument(
            metavar="ROOT...",
            help="Folders with skills, agents, commands, rules, plugins, .mcp.json or config.toml below.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The corpus file.")],
    markers: Annotated[
        Path | None, typer.Option(help='A TOML file: markers = ["word", ...]. Entries with one are withheld.')
    ] = None,
    include_private: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--include-private", help="Turn sanitising off: withhold and redact nothing.")
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was taken, as 2026-09-17T11:10:16Z; now by default."),
    ] = None,
    runtime: Annotated[
        str | None, typer.Option(help="The runtime of what lies in no runtime's folder.")
    ] = None,
) -> None:
    """Take a snapshot of a catalogue on disk, without what is private.

    Exit code 1 where something private is found in what was to be written: the file is then what it was.
    """
    from skillful_eval.catalog.build import build_corpus
    from skillful_eval.sanitise.check import LeakError
    from skillful_eval.sanitise.markers import read_markers
    from skillshift.frame.writing import refuse_overwriting

    refuse_overwriting(
        {"--out": out}, {"--markers": markers, "ROOT": [one for one in roots if one.is_file()]}
    )
    with progress("Reading the catalogue"):
        built = build_corpus(
            roots,
            markers=None if markers is None else read_markers(markers),
            include_private=include_private,
            as_of=as_of,
            runtime=runtime,
        )
        try:
            built.write(out)
        except LeakError as error:
            note(f"error: {error}")
            raise typer.Exit(FINDING) from None
    emit(built.text())
