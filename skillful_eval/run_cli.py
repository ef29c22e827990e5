"""``skillful-eval run``: arguments only; heavy modules are imported where the command runs."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - Typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillful_eval.router.choosing import ROUTERS, check_options
from skillshift.frame.console import FINDING, INTERRUPTED, emit, note, progress
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if TYPE_CHECKING:
    RouterName = str
else:
    RouterName = StrEnum("RouterName", {name: name for name in ROUTERS})

KEY_VARIABLE = "SKILLFUL_EVAL_KEY"
"""The environment variable that the endpoint's key is taken from, unless another is named."""


def run(  # noqa: PLR0917 - a command's options are keywords on the command line
    router: Annotated[RouterName, typer.Option(help="What decides.")],
    fixtures: Annotated[str, typer.Option(help="The fixtures (JSONL).")],
    corpus: Annotated[str, typer.Option(help="The corpus snapshot (JSON).")],
    out: Annotated[Path, typer.Option(help="The runs (Parquet), written whole at the end.")],
    repeat: Annotated[int, typer.Option(help="How many times every fixture is decided.")] = 3,
    quota: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=N", help="Shortlist places of a group: skill, mcp, agent, command+rule; repeat."
        ),
    ] = None,
    without_when_to_use: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--without-when-to-use", help="Retrieve by name and description only.")
    ] = False,
    retrieval_only: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--retrieval-only", help="bm25: shortlist, and decide nothing.")
    ] = False,
    function: Annotated[
        str | None, typer.Option(metavar="MODULE:ATTRIBUTE", help="python: your function, or router.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="http: the endpoint.")] = None,
    model: Annotated[str | None, typer.Option(help="http: the model that is asked for.")] = None,
    record: Annotated[Path | None, typer.Option(help="http: write every response into this file.")] = None,
    replay: Annotated[
        Path | None, typer.Option(help="http: answer from this recording, without an endpoint or a key.")
    ] = None,
    none_threshold: Annotated[
        float | None, typer.Option(help="http: abstain where none is this probable. Default: 0.4.")
    ] = None,
    winner_floor: Annotated[
        float | None, typer.Option(help="http: abstain where the winner is less probable. Default: 0.25.")
    ] = None,
    budget_ms: Annotated[
        float | None, typer.Option(help="http: milliseconds for a run, retries included.")
    ] = None,
    timeout_ms: Annotated[float | None, typer.Option(help="http: milliseconds for a request.")] = None,
    retries: Annotated[int | None, typer.Option(help="http: how often a request is tried again.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="http: how many requests at a time.")] = None,
    max_prompt_chars: Annotated[
        int | None, typer.Option(help="http: send no more characters of a prompt than this.")
    ] = None,
    no_prompt_upload: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--no-prompt-upload", help="http: send a placeholder instead of prompts.")
    ] = False,
    key_variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"http: the environment variable with the key. Default: {KEY_VARIABLE}."
        ),
    ] = None,
    no_heuristics: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--no-heuristics", help="Ask about greetings, thanks and slash commands too.")
    ] = False,
    config: Annotated[
        str | None, typer.Option(help="The configuration's name. Default: one made of the settings.")
    ] = None,
    tuned_on: Annotated[
        str | None, typer.Option(help="The set that this configuration was tuned on; for the gate.")
    ] = None,
) -> None:
    """Run a router over fixtures, and write its runs.

    An interrupted run goes on where it was when the same command is given again. Exit code 1 where runs are
    degraded (they are written, and counted by cause), 2 where the input cannot be used.
    """
    given: dict[str, Any] = {
        "quota": quota or None,
        "without_when_to_use": without_when_to_use or None,
        "retrieval_only": retrieval_only or None,
        "function": function,
        "url": url,
        "model": model,
        "record": record,
        "replay": replay,
        "none_threshold": none_threshold,
        "winner_floor": winner_floor,
        "budget_ms": budget_ms,
        "timeout_ms": timeout_ms,
        "retries": retries,
        "concurrency": concurrency,
        "max_prompt_chars": max_prompt_chars,
        "no_prompt_upload": no_prompt_upload or None,
        "key_variable": key_variable,
    }
    given = {name: value for name, value in given.items() if value is not None}
    check_options(router, given)
    _refuse_overwriting(given, fixtures, corpus, out)
    options: dict[str, Any] = {
        "out": out,
        "repeat": repeat,
        "heuristics": not (no_heuristics or retrieval_only),
        "config": config,
        "tuned_on": tuned_on,
    }
    if _run(str(router), given, fixtures, corpus, options):
        raise typer.Exit(FINDING)


def _run(name: str, given: dict[str, Any], fixtures: str, corpus: str, options: dict[str, Any]) -> int:
    """Run, and tell what came of it; how many runs are degraded."""
    from skillful_eval.corpus import read_corpus
    from skillful_eval.fixtures import read_fixtures
    from skillful_eval.limits import check_runs
    from skillful_eval.runner import run_router
    from skillful_eval.runner_parts import parts_folder

    choice, out = ROUTERS[name], options["out"]
    if name == "http" and "replay" not in given:
        given = {**given, "key": _key(given.get("key_variable"))}
    with ExitStack() as closing:
        with progress("Reading fixtures"):
            capabilities = read_corpus(corpus)
            prompts = read_fixtures(fixtures, capabilities)
            check_runs(prompts.frame.height, options["repeat"])
            made = choice.make(capabilities, given, closing)
        try:
            with bar() as told:
                summary = run_router(
                    made.router,
                    prompts,
                    capabilities,
                    facts=made.facts,
                    packages=choice.packages,
                    progress=told,
                    written=made.written,
                    **options,
                )
        except KeyboardInterrupt:
            kept = parts_folder(out)
            if kept.is_dir():
                note(f"interrupted: what was decided is in {kept}; the same command goes on with it")
            else:
                note("interrupted: no decision was kept yet")
            raise typer.Exit(INTERRUPTED) from None
    emit(summary.text())
    return summary.degraded


def _refuse_overwriting(given: dict[str, Any], fixtures: str, corpus: str, out: Path) -> None:
    """Refuse an output that is an input, or the other output."""
    from skillful_eval.recording.lines import journal_of
    from skillshift.frame.writing import refuse_overwriting

    record, replay = given.get("record"), given.get("replay")
    outputs = {"--record": record, "the journal of --record": record and journal_of(record), "--out": out}
    answers = None if replay is None else [replay, journal_of(replay)]
    refuse_overwriting(outputs, {"--fixtures": fixtures, "--corpus": corpus, "--replay": answers})


def _key(variable: str | None) -> str | None:
    """The endpoint's key, from the environment alone."""
    key = os.environ.get(variable or KEY_VARIABLE)
    if variable is not None and not key:
        raise UsageError(f"--key-variable {variable}: the environment has no such variable, or it is empty")
    return key or None


@contextmanager
def bar() -> Iterator[Callable[[int, int], None] | None]:
    """On a terminal's stderr, how far a run is, its rate and the time left; on anything else, nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Runs a second."""

        def render(self, task: Any) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.1f}/s")

    columns = (
        TextColumn("Running"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("run", total=None)
        begun = False

        def told(done: int, total: int) -> None:
            nonlocal begun
            if not begun:
                # What was there before counts as done, and not into the rate.
                shown.reset(task, total=total, completed=done)
                begun = True
            shown.update(task, total=total, completed=done)

        yield told
