"""The sweep: many configurations on a development set, without calls: one ranking, and recorded answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillful_eval.criteria import CRITERIA, Criterion
from skillful_eval.provenance import Provenance, provenance_of
from skillful_eval.router.quotas import GROUPS, Quotas
from skillful_eval.schema import BATCHED, CONFIG, PROVENANCE
from skillful_eval.scopes import scopes_of
from skillful_eval.sweep_guard import refuse_holdout, why_development
from skillful_eval.sweep_plan import Plan, SweepSettings, parse_thresholds, plan_of
from skillful_eval.sweep_rows import best_first, judged_rows
from skillful_eval.sweep_thresholds import Grid, ThresholdSums
from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures
    from skillful_eval.recording.document import Recording

REPLAYS, RETRIEVALS = 3, 1
"""How often each fixture is decided by default: from recorded answers; or only retrieved, always alike."""

_RUNS, _ROWS = 500_000, 250_000
"""How many runs are scored, and how many configurations judged, at a time; more would only cost memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What a sweep found.

    Attributes:
        frame: One row a configuration, the best first (see :data:`skillful_eval.sweep_rows.BEST_FIRST`):
            ``config`` (text: its name, which ``confirm`` takes),
            one column a quota group (Int64),
            ``shortlist`` (Int64: the sum of the quotas, the most ids that are offered),
            ``none_threshold``, ``winner_floor`` (Float64, null where nothing is decided),
            for each criterion its value under the metric's name (Float64, null where undefined) and
            ``<metric>_denominator`` (Int64: what it rests on; null where a report has no such row); where the
            scope is not all, the name is ``<metric>[<scope>]``,
            ``criteria``, ``criteria_met`` (Int64),
            ``blocked_by`` (list of text: each criterion that is not met, and the reason code, such as
            ``noneRecall: below-minimum``),
            ``shortfall`` (Float64: the sum over these of the part by which the limit is missed, 1 - value /
            minimum or 1 - maximum / value; 1 for an undefined value),
            ``verdict`` (text: ``passed`` where every criterion is met, else ``failed``).
        plan: What was tried.
        criteria: What was asked for.
        repeat: How often each fixture was decided.
        confirmed: The configuration that was to be confirmed; null in a sweep.
        provenance: What the values rest on.
        holdout: The name of the holdout set that it was found to share nothing with; null where none was
            given, or one configuration is confirmed.
    """

    frame: pl.DataFrame
    plan: Plan
    criteria: tuple[Criterion, ...]
    repeat: int
    confirmed: str | None
    provenance: Provenance
    holdout: str | None = None

    @property
    def why_development(self) -> str | None:
        """Why the set counts as one to choose on, in a sentence; null where one is confirmed."""
        return (
            None if self.confirmed is not None else why_development(self.provenance.fixture_set, self.holdout)
        )

    @property
    def metadata(self) -> dict[str, str]:
        """What a file of it says of its making: text by key."""
        from skillful_eval.rendering.basis import digests
        from skillful_eval.rendering.document import versions

        rests_on = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in digests(self.provenance).items()
        }
        return {
            "kind": "sweep" if self.confirmed is None else "confirmation",
            **versions(),
            **rests_on,
            "configurations": str(len(self.plan)),
            "repeat": str(self.repeat),
            "criteria": json.dumps([asdict(one) for one in self.criteria], ensure_ascii=False),
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the frame as Parquet with :attr:`metadata`, whole or not at all.

        Raises:
            InputError: The file cannot be written; an earlier one is then as it was.
        """
        from skillshift.frame.writing import staged, write_parquet

        target = Path(path)
        if not target.name or target.is_dir():
            raise UsageError(f"{path}: found a folder, expected the name of a file for the sweep")
        with staged(target.parent) as place:
            write_parquet(self.frame, place / target.name, self.metadata)


def sweep(
    fixtures: Fixtures,
    corpus: Corpus,
    *,
    quotas: Sequence[Quotas] | None = None,
    recording: Recording | None = None,
    none_thresholds: str | Sequence[float] | None = None,
    winner_floors: str | Sequence[float] | None = None,
    settings: SweepSettings | None = None,
    repeat: int | None = None,
    criteria: Sequence[Criterion] = CRITERIA,
    confirm: str | None = None,
    holdout: Fixtures | None = None,
) -> Sweep:
    """Try every quota with every pair of thresholds, without asking anybody.

    Prompts are ranked once and cut at every quota; recorded answers are read once and judged by every pair.
    Each row is what the gate would say of the runs that such a configuration gives.

    Args:
        fixtures: A development set.
        corpus: The corpus that they were resolved in.
        quotas: The quotas to try, such as :func:`skillful_eval.router.quotas.parse_ranges` gives; null: the
            default ones.
        recording: Recorded answers; without them nothing is decided, so only retrieval has values.
        none_thresholds: The none thresholds to try: numbers, or text such as ``0.1:0.9:0.05``; null: the
            default one.
        winner_floors: The floors of the winner's probability to try; the same.
        settings: What is the same in every configuration.
        repeat: How often each fixture is decided; null: 3 with a recording, else 1.
        criteria: What is asked for.
        confirm: The name of one configuration that was chosen elsewhere: exactly that one is evaluated, and
            the set may be a holdout set. What else is given must contain it.
        holdout: The holdout set, to be sure that the fixtures share nothing with it.

    Returns:
        What was found.

    Raises:
        UsageError: The fixtures are a holdout set, by their name or by what they share with ``holdout``, and
            no configuration is confirmed; ``confirm`` names none, several or another one; thresholds or
            settings need a recording; there is nothing to try, or too much.
        InputError: A library that this needs is not installed.

    Example:
        >>> import skillful_eval as se
        >>> from skillful_eval.router.quotas import parse_ranges
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> dev = se.read_fixtures(datasets.path("routing/fixtures.dev.jsonl"), corpus)
        >>> asked = [se.Criterion("recall@K", minimum=0.5)]
        >>> found = sweep(dev, corpus, quotas=parse_ranges(["skill=2:10:4"]), criteria=asked)
        >>> found.frame.select("skill", "recall@K_denominator", "verdict").rows()
        [(10, 57, 'failed'), (6, 57, 'failed'), (2, 57, 'failed')]
    """
    criteria = tuple(criteria)
    if not criteria or not all(isinstance(one, Criterion) for one in criteria):
        raise UsageError(f"criteria: found {shorten(criteria)}, expected at least one Criterion")
    if fixtures.corpus is not corpus and fixtures.corpus.digest != corpus.digest:
        raise UsageError(f"{fixtures.name}: resolved in another corpus; read the fixtures with this one")
    repeat = _checked(repeat, RETRIEVALS if recording is None else REPLAYS)
    plan = plan_of(
        quotas=quotas,
        none=None if none_thresholds is None else parse_thresholds(none_thresholds, "none threshold"),
        winner=None if winner_floors is None else parse_thresholds(winner_floors, "winner floor"),
        settings=settings or SweepSettings(),
        confirm=confirm,
        decides=recording is not None,
    )
    if confirm is None:
        refuse_holdout(fixtures, holdout)
    runs = _runs(fixtures, repeat)
    answered = _undecided(runs) if recording is None else _answered(runs, recording, plan)
    rows = _judged(plan, fixtures, corpus, answered, criteria)
    frame = best_first(pl.concat([_named(plan), rows], how="horizontal"))
    confirmed = None if confirm is None else next(plan.names)
    checked = None if confirm is not None or holdout is None else holdout.name
    return Sweep(frame, plan, criteria, repeat, confirmed, _provenance(fixtures, corpus, repeat), checked)


def _checked(repeat: int | None, usual: int) -> int:
    if repeat is None:
        return usual
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise UsageError(f"repeat: found {shorten(repeat)}, expected a whole number from 1")
    return repeat


def _named(plan: Plan) -> pl.DataFrame:
    """What tells configurations apart, one row each, in the order of their names."""
    pairs = plan.pairs
    of_quotas = np.repeat(np.arange(len(plan.quotas)), len(pairs))
    by_group = {group: [quotas[group] for quotas in plan.quotas] for group in GROUPS}
    quotas = pl.DataFrame(by_group, schema=dict.fromkeys(GROUPS, pl.Int64))
    quotas = quotas.with_columns(pl.sum_horizontal(GROUPS).alias("shortlist"))[of_quotas]
    told = [(None, None) if pair is None else tuple(map(float, pair)) for pair in pairs]
    schema = {"none_threshold": pl.Float64, "winner_floor": pl.Float64}
    thresholds = pl.DataFrame(told, schema=schema, orient="row")
    names = pl.DataFrame({CONFIG: pl.Series(list(plan.names), dtype=pl.String)})
    numbers = np.tile(np.arange(len(pairs)), len(plan.quotas))
    return pl.concat([names, quotas, thresholds[numbers]], how="horizontal")


def _runs(fixtures: Fixtures, repeat: int) -> pl.DataFrame:
    """One row a run: ``fixture_id``, ``prompt``, ``repeat``, and ``_fixture``, the fixture's row number."""
    numbered = fixtures.frame.select("fixture_id", "prompt").with_row_index("_fixture")
    runs = numbered[np.repeat(np.arange(numbered.height), repeat)]
    return runs.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).mod(repeat).alias("repeat"))


def _judged(
    plan: Plan, fixtures: Fixtures, corpus: Corpus, answered: pl.DataFrame, criteria: Sequence[Criterion]
) -> pl.DataFrame:
    """One row a configuration, in the order of their names."""
    from skillful_eval.router.ranking import Retriever

    depth = Quotas(*(max(quotas[group] for quotas in plan.quotas) for group in GROUPS))
    retriever = Retriever(corpus, when_to_use=plan.settings.when_to_use)
    ranking = retriever.rank(fixtures.frame["prompt"], depth)
    fixture, answered = answered["_fixture"], answered.drop("_fixture", "prompt")
    grid = None
    if plan.none is not None and plan.winner is not None:
        grid = Grid(tuple(map(float, plan.none)), tuple(map(float, plan.winner)))
    scopes = scopes_of(fixtures.frame, groups=True, kinds=True)
    at_once = max(1, min(_RUNS // answered.height, _ROWS // len(plan.pairs)))
    parts = []
    for start in range(0, len(plan.quotas), at_once):
        some = plan.quotas[start : start + at_once]
        frames = [
            answered.with_columns(
                ranking.cut(one)["shortlist"].gather(fixture), pl.lit(one.text).alias(CONFIG)
            )
            for one in some
        ]
        sums = ThresholdSums.of(pl.concat(frames), grid, scopes, fixtures, corpus)
        keys = range(len(some))
        parts += [judged_rows(sums, criteria, keys, block) for block in sums.blocks(_ROWS // len(some))]
    return pl.concat(parts)


def _undecided(runs: pl.DataFrame) -> pl.DataFrame:
    """Runs that only retrieve."""
    nothing = (pl.lit(None, dtype=pl.String).alias(name) for name in ("decision", "chosen", "reason"))
    return runs.with_columns(nothing)


def _answered(runs: pl.DataFrame, recording: Recording, plan: Plan) -> pl.DataFrame:
    """The recorded answers, and why some runs are skipped before anything is asked."""
    from skillful_eval.recording.replies import recorded_replies
    from skillful_eval.router.heuristics import heuristic
    from skillful_eval.router.prompts import sent

    settings = plan.settings
    skip = pl.Series("skip", [None], dtype=pl.String).new_from_index(0, runs.height)
    if settings.heuristics:
        skip = heuristic(runs["prompt"]).cast(pl.String).alias("skip")
    # What is recorded does not depend on the shortlist; whether the choice was offered is judged later.
    asked = runs.filter(skip.is_null())
    tasks = sent(asked["prompt"], max_chars=settings.max_prompt_chars, upload=settings.upload_prompts)
    place = pl.DataFrame({"asked": skip.is_null()}).select(
        pl.when("asked").then(pl.col("asked").cum_sum() - 1)
    )
    replies = recorded_replies(recording, asked, tasks).select(pl.all().gather(place.to_series()))
    return (
        runs.hstack([skip])
        .hstack(replies)
        .with_columns(
            pl.when(pl.col("skip").is_null()).then("latency_reason").otherwise(pl.lit(BATCHED)).name.keep()
        )
    )


def _provenance(fixtures: Fixtures, corpus: Corpus, repeat: int) -> Provenance:
    """What the values rest on: these very fixtures and this corpus."""
    said = (fixtures.name, fixtures.digest, corpus.digest, None)
    runs = pl.select(
        pl.repeat(None, fixtures.frame.height * repeat, dtype=dtype).alias(name)
        for name, dtype in (("listed", pl.Boolean), ("decision", pl.String))
    ).with_columns(
        pl.lit(text, dtype=pl.String).alias(name) for name, text in zip(PROVENANCE, said, strict=True)
    )
    return provenance_of(runs, fixtures, corpus)
