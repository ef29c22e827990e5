"""The leaderboard's commands: arguments only; heavy modules are imported where a command runs."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from skillshift.frame.console import FINDING, progress
from skillshift.frame.errors import UsageError
from skillshift.leaderboard.formats import BINARY, DEFAULT, FORMATS

SHOW = "show"
"""The command that a leaderboard runs where no other is named."""


class ShowByDefault(TyperGroup):
    """A group whose first argument is a folder unless it is a command: ``leaderboard FOLDER`` shows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named or not args else [SHOW, *args])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Document the default command's options with the group's own commands."""
        self.commands[SHOW].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


app = typer.Typer(
    cls=ShowByDefault,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    subcommand_metavar="FOLDER | check FOLDER --new FILE",
    options_metavar="[OPTIONS]",
    help="A folder of submissions, ranked; or what a new one would change in it.",
)

if TYPE_CHECKING:
    Format = str
else:
    Format = StrEnum("Format", {name: name for name in FORMATS})

_FOLDER = typer.Argument(help="The folder with the results documents.", show_default=False)
_SORT = typer.Option(
    metavar="METRIC", help="What to rank by: one of `skillshift metrics`, except SFR.", show_default=True
)


@app.command(SHOW, hidden=True)
def show(
    folder: Annotated[Path, _FOLDER],
    sort: Annotated[str, _SORT] = "SR",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="All ten numbers of this metric; repeat for several. Default: each overall number.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Only entries of this model; repeat for several. mixed: those that pool several.",
        ),
    ] = None,
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = DEFAULT,
) -> None:
    """A folder of submissions, ranked.

    Exit code 1 where an entry fails a check; it is listed and named.
    """
    if fmt in BINARY and sys.stdout.isatty():
        raise UsageError(f"--format {fmt}: not for a terminal; send it to a file, as in > leaderboard.{fmt}")
    from skillshift.leaderboard.board import read_board
    from skillshift.leaderboard.formats import render

    with progress("Reading submissions"):
        board = read_board(folder, sort=sort, metrics=metric or (), models=model or ())
        content = render(board, str(fmt))
    _send(content)
    if board.finding:
        raise typer.Exit(FINDING)


@app.command()
def check(
    folder: Annotated[Path, _FOLDER],
    new: Annotated[Path, typer.Option(help="The new results document; it may be in the folder already.")],
    receipt: Annotated[
        Path | None, typer.Option(help="Its receipt. Default: the one beside it, where there is one.")
    ] = None,
    digests: Annotated[
        Path | None, typer.Option(help="JSON of the official digests of the benchmark's environments.")
    ] = None,
    sort: Annotated[str, _SORT] = "SR",
) -> None:
    """Where a new entry lands, what changes, and the five checks: a pull request's comment, as Markdown.

    Exit code 1 where a check fails.
    """
    from skillshift.leaderboard.check import check_new
    from skillshift.leaderboard.comment import comment
    from skillshift.submission.receipt import read_digests

    official = None if digests is None else read_digests(digests)
    with progress("Checking the entry"):
        checked = check_new(folder, new, receipt=receipt, digests=official, sort=sort)
    _send(comment(checked).encode())
    if not checked.passed:
        raise typer.Exit(FINDING)


def _send(content: bytes) -> None:
    """Write to standard output, UTF-8 whatever the terminal's encoding; a closed pipe is a quiet end."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
