"""The ``skillful-eval`` command line: arguments only; heavy modules are imported where a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillful_eval.corpus_cli import app as corpora
from skillful_eval.notes import noting
from skillful_eval.rendering.formats import DEFAULT, FORMATS
from skillful_eval.run_cli import run as run_router
from skillful_eval.sweep_cli import sweep
from skillshift.frame.console import FINDING, emit, progress, run

if TYPE_CHECKING:
    from skillful_eval.scoring import Scored

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing Rich for it takes longer than all the rest
    help="From recorded runs of a skill router to what they say of it, each number with its count.",
)
fixture_sets = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Fixtures: prompts with the capability that is right."
)
app.add_typer(fixture_sets, name="fixtures")
app.add_typer(corpora, name="corpus")
app.command("run")(run_router)
app.command("sweep")(sweep)

# A format is a module in rendering/formats: the choices come from there.
if TYPE_CHECKING:
    Format = str
else:
    Format = StrEnum("Format", {name: name for name in FORMATS})

SEVEN = "default"
"""What ``--group`` takes for the vocabulary of groups."""

Runs = Annotated[
    list[str], typer.Argument(help="Recorded runs (Parquet, JSONL, .gz, .zst), folders, globs, URLs.")
]
FixturesFile = Annotated[str, typer.Option("--fixtures", help="The fixtures that were routed (JSONL).")]
CorpusFile = Annotated[str, typer.Option("--corpus", help="The corpus snapshot (JSON).")]
By = Annotated[
    list[str] | None,
    typer.Option(
        help="A column that tells configurations apart; repeat for several. Default: config, if there."
    ),
]
Fmt = Annotated[Format, typer.Option("--format", help="What standard output gets.")]
Budget = Annotated[float, typer.Option(help="The latency budget of a run, in milliseconds.")]
BUDGET_MS = 2000.0
Out = Annotated[
    Path | None,
    typer.Option(
        help="Also write Parquet, report.md and manifest.json into this folder, whole or not at all."
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit code 1 where there are findings.")]


@app.command()
def report(
    runs: Runs,
    fixtures: FixturesFile,
    corpus: CorpusFile,
    by: By = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Show only this group of fixtures beside all; repeat for several. Default: every one."
        ),
    ] = None,
    budget_ms: Budget = BUDGET_MS,
    fmt: Fmt = DEFAULT,
    out: Out = None,
) -> None:
    """Both layers, stability and latency, over all fixtures, by group and by kind of gold.

    Exit code 1 where fixtures lack runs, so that values are undefined.
    """
    from skillful_eval.missing import misses as misses_of
    from skillful_eval.rendering.folder import write_folder
    from skillful_eval.rendering.formats import render
    from skillful_eval.rendering.report_document import Reported, only_groups, report_document
    from skillful_eval.summary import report as report_of

    with progress("Scoring runs"):
        scored = _scored(runs, fixtures, corpus)
        frame = only_groups(report_of(scored, by, budget_ms=budget_ms), scored.fixtures, group)
        reported = Reported.of(scored, frame, budget_ms)
        document = report_document(reported)
        text = render(document, fmt)
        if out is not None:
            frames = {
                "report": frame,
                "misses": misses_of(scored, by),
                "unstable": reported.unstable,
                "uncovered": reported.uncovered,
            }
            facts = {"keys": list(reported.by), "budget_ms": budget_ms}
            write_folder(out, document, frames=frames, scored=scored, inputs=[fixtures, corpus], facts=facts)
    emit(text)
    if reported.uncovered.height:
        raise typer.Exit(FINDING)


@app.command()
def gate(
    runs: Runs,
    fixtures: FixturesFile,
    corpus: CorpusFile,
    criteria: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file of [[criteria]]: metric, minimum or maximum, scope. Default: built in."
        ),
    ] = None,
    by: By = None,
    budget_ms: Budget = BUDGET_MS,
    fmt: Fmt = DEFAULT,
    out: Out = None,
) -> None:
    """Whether configurations meet the criteria on a holdout set.

    Exit code 0 where every criterion is met, 1 where one is not or is undefined, 2 where the input cannot be
    used or the set is refused, as runs that were tuned on it confirm nothing.
    """
    from skillful_eval.criteria import CRITERIA, read_criteria
    from skillful_eval.gating import PASSED
    from skillful_eval.gating import gate as gate_of
    from skillful_eval.rendering.folder import write_folder
    from skillful_eval.rendering.formats import render
    from skillful_eval.rendering.gate_document import gate_document
    from skillful_eval.summary import report as report_of

    asked = CRITERIA if criteria is None else read_criteria(criteria)
    with progress("Scoring runs"):
        scored = _scored(runs, fixtures, corpus)
        frame = report_of(scored, by, budget_ms=budget_ms)
        verdicts = gate_of(frame, asked, provenance=scored.provenance)
        document = gate_document(
            verdicts, scored.provenance, "built in" if criteria is None else criteria.name
        )
        text = render(document, fmt)
        if out is not None:
            inputs = [fixtures, corpus, *([] if criteria is None else [str(criteria)])]
            facts = {name: document.data[name] for name in ("keys", "verdict")} | {"budget_ms": budget_ms}
            frames = {"gate": verdicts, "report": frame}
            write_folder(out, document, frames=frames, scored=scored, inputs=inputs, facts=facts)
    emit(text)
    if document.data["verdict"] != PASSED:
        raise typer.Exit(FINDING)


@app.command()
def misses(
    runs: Runs,
    fixtures: FixturesFile,
    corpus: CorpusFile,
    by: By = None,
    fmt: Fmt = DEFAULT,
) -> None:
    """Which fixtures went wrong, and why: not offered, not chosen, abstained, picked, degraded."""
    from skillful_eval.missing import misses as misses_of
    from skillful_eval.rendering.formats import render
    from skillful_eval.rendering.misses_document import misses_document

    with progress("Scoring runs"):
        scored = _scored(runs, fixtures, corpus)
        text = render(misses_document(misses_of(scored, by), scored), fmt)
    emit(text)


@app.command()
def events(
    logs: Annotated[list[str], typer.Argument(help="Event logs of a live router (JSONL), folders, globs.")],
    by: Annotated[
        list[str] | None,
        typer.Option(help="A column that tells routers apart, such as runtime; repeat for several."),
    ] = None,
    budget_ms: Budget = BUDGET_MS,
    fmt: Fmt = DEFAULT,
) -> None:
    """What a live router did: rates, causes, latency, and an upper bound of acceptance.

    Exit code 1 where lines could not be read.
    """
    from skillful_eval.events import scan_events
    from skillful_eval.rendering.events_document import events_document
    from skillful_eval.rendering.formats import render

    with progress("Reading events"):
        found = scan_events(logs)
        text = render(events_document(found, by or [], budget_ms), fmt)
    emit(text)
    if found.unreadable.height:
        raise typer.Exit(FINDING)


@fixture_sets.callback()
def _keep_command_names() -> None:
    """Keep the command's name even while there is one."""


@fixture_sets.command("check")
def check_fixtures(
    fixtures: Annotated[str, typer.Argument(metavar="FIXTURES", help="The fixtures (JSONL).")],
    corpus: CorpusFile,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A group that a fixture may have; repeat. {SEVEN}: seven usual ones. Default: any."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Another set, such as the one for development, that must not share anything."),
    ] = None,
    strict: Strict = False,  # noqa: FBT002  # a flag of the command line
    fmt: Fmt = DEFAULT,
) -> None:
    """Whether fixtures can be used: every line, every gold name, and what is in them.

    Exit code 2 where they cannot, 1 where they share ids or near-identical prompts with the other set.
    """
    from skillful_eval.corpus import read_corpus
    from skillful_eval.fixtures import read_fixtures
    from skillful_eval.rendering.checks_document import fixtures_document
    from skillful_eval.rendering.formats import render
    from skillful_eval.splits import check_split

    with progress("Reading fixtures"):
        capabilities = read_corpus(corpus)
        found = read_fixtures(fixtures, capabilities, groups=_vocabulary(group))
        shared = None if against is None else check_split(read_fixtures(against, capabilities), found)
        text = render(fixtures_document(found, shared), fmt)
    emit(text)
    if (shared is not None and shared.height) or (strict and found.findings().height):
        raise typer.Exit(FINDING)


@corpora.command("check")
def check_corpus(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="The corpus snapshot (JSON).")],
    strict: Strict = False,  # noqa: FBT002  # a flag of the command line
    fmt: Fmt = DEFAULT,
) -> None:
    """Whether a corpus can be used: every entry, and what a reader of a report must know of it.

    Exit code 2 where it cannot.
    """
    from skillful_eval.corpus import read_corpus
    from skillful_eval.rendering.checks_document import corpus_document
    from skillful_eval.rendering.formats import render

    with progress("Reading the corpus"):
        found = read_corpus(corpus)
        text = render(corpus_document(found), fmt)
    emit(text)
    if strict and found.findings().height:
        raise typer.Exit(FINDING)


def _scored(runs: list[str], fixtures: str, corpus: str) -> Scored:
    from skillful_eval.corpus import read_corpus
    from skillful_eval.fixtures import read_fixtures
    from skillful_eval.runs import scan_runs
    from skillful_eval.scoring import score

    capabilities = read_corpus(corpus)
    return score(scan_runs(runs), read_fixtures(fixtures, capabilities), capabilities)


def _vocabulary(groups: list[str] | None) -> list[str] | None:
    """The groups that are allowed, with the usual ones in place of their name."""
    from skillful_eval.schema import GROUPS

    if not groups:
        return None
    return [name for group in groups for name in (GROUPS if group == SEVEN else (group,))]


def main() -> None:
    """The entry point of the ``skillful-eval`` command."""
    with noting():
        run(app)


if __name__ == "__main__":
    main()
