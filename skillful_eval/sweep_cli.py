"""``skillful-eval sweep``: arguments only; heavy modules are imported where the command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - Typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

from skillful_eval.rendering.formats import DEFAULT, FORMATS
from skillshift.frame.console import FINDING, emit, progress
from skillshift.frame.errors import UsageError

if TYPE_CHECKING:
    Format = str
else:
    Format = StrEnum("Format", {name: name for name in FORMATS})


def sweep(  # noqa: PLR0917 - a command's options are keywords on the command line
    fixtures: Annotated[str, typer.Option(help="The fixtures of a development set (JSONL).")],
    corpus: Annotated[str, typer.Option(help="The corpus snapshot (JSON).")],
    quota: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=FIRST:LAST",
            help="Quotas to try: skill, mcp, agent, command+rule; repeat. GROUP=N and a third, :STEP, too.",
        ),
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Recorded answers to judge. Without them, only retrieval has values.")
    ] = None,
    none_threshold: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST:LAST:STEP", help="None thresholds to try; numbers and commas too. Default: 0.4."
        ),
    ] = None,
    winner_floor: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST:LAST:STEP", help="Winner floors to try; numbers and commas too. Default: 0.25."
        ),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(help="How often every fixture is decided. Default: 3; 1 without a replay.")
    ] = None,
    without_when_to_use: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--without-when-to-use", help="Retrieve by name and description only.")
    ] = False,
    no_heuristics: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--no-heuristics", help="Take answers about greetings and slash commands too.")
    ] = False,
    max_prompt_chars: Annotated[
        int | None, typer.Option(help="The recording was made with no more characters of a prompt than this.")
    ] = None,
    no_prompt_upload: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--no-prompt-upload", help="The recording was made without sending prompts.")
    ] = False,
    criteria: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file of [[criteria]]: metric, minimum or maximum, scope. Default: built in."
        ),
    ] = None,
    confirm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONFIG",
            help="Evaluate this one configuration, chosen elsewhere, instead; a holdout set may do that. "
            "Ranges given beside it must contain it, and nothing else in them is tried.",
        ),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(help="The holdout set (JSONL): refuse fixtures that share anything with it."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write every configuration (Parquet).")] = None,
    fmt: Annotated[Format, typer.Option("--format", help="What standard output gets.")] = DEFAULT,
) -> None:
    """Try quotas and thresholds on a development set, without any call.

    Exit code 1 where a configuration that is to be confirmed does not pass, 2 where the input cannot be used,
    or the set is a holdout set and no single configuration is confirmed.
    """
    from skillful_eval.corpus import read_corpus
    from skillful_eval.criteria import CRITERIA, read_criteria
    from skillful_eval.fixtures import read_fixtures
    from skillful_eval.gating import PASSED
    from skillful_eval.limits import check_runs
    from skillful_eval.recording.lines import journal_of
    from skillful_eval.rendering.formats import render
    from skillful_eval.rendering.sweep_document import sweep_document
    from skillful_eval.router.quotas import parse_ranges
    from skillful_eval.sweep_plan import SweepSettings
    from skillful_eval.sweeping import sweep as sweep_of
    from skillshift.frame.writing import refuse_overwriting

    if confirm is not None and len(confirm) > 1:
        raise UsageError(
            f"--confirm: ambiguous: given {len(confirm)} times, expected one configuration; confirm one at a "
            "time"
        )
    answers = None if replay is None else [replay, journal_of(replay)]
    inputs = {"--replay": answers, "--fixtures": fixtures, "--corpus": corpus}
    refuse_overwriting({"--out": out}, inputs | {"--criteria": criteria, "--holdout": holdout})
    settings = SweepSettings(
        when_to_use=not without_when_to_use,
        heuristics=not no_heuristics,
        max_prompt_chars=max_prompt_chars,
        upload_prompts=not no_prompt_upload,
    )
    recording = None
    with progress("Sweeping"):
        if replay is not None:
            from skillful_eval.recording.document import read_recording

            recording = read_recording(replay)
        capabilities = read_corpus(corpus)
        prompts = read_fixtures(fixtures, capabilities)
        check_runs(prompts.frame.height, 1 if repeat is None else repeat)
        found = sweep_of(
            prompts,
            capabilities,
            quotas=parse_ranges(quota) if quota else None,
            recording=recording,
            none_thresholds=none_threshold,
            winner_floors=winner_floor,
            settings=settings,
            repeat=repeat,
            criteria=CRITERIA if criteria is None else read_criteria(criteria),
            confirm=confirm[0] if confirm else None,
            holdout=None if holdout is None else read_fixtures(holdout, capabilities),
        )
        text = render(sweep_document(found, "built in" if criteria is None else criteria.name), fmt)
        if out is not None:
            found.write(out)
    emit(text)
    if found.confirmed is not None and found.frame["verdict"].item() != PASSED:
        raise typer.Exit(FINDING)
