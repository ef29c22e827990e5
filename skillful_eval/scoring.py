"""From runs to scored runs: the contract checked, and every quantity that a metric sums, run by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.conformity import check_runs, prepared
from skillful_eval.decision import decided
from skillful_eval.provenance import Provenance, provenance_of
from skillful_eval.retrieval import retrieved, targets
from skillful_eval.runs import scan_runs
from skillful_eval.schema import CONFIG, DECISIONS, PROVENANCE, RUNS, SCORED
from skillshift.frame.contract import FILE, RECORD, collect
from skillshift.frame.errors import InputError, UsageError

if TYPE_CHECKING:
    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures
    from skillful_eval.retrieval import Targets

_RAW = ("shortlist", FILE, RECORD)
_DROPPED = (*_RAW, *PROVENANCE)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scored runs.

    Attributes:
        runs: One row a run, in the runs' order. The runs' own columns, without the shortlist and where they
            come from; and, from scoring:
            ``fixture`` (UInt32, the row number in ``fixtures``),
            ``group`` (text, the fixture's),
            ``abstain`` (Boolean, the fixture must be abstained from),
            ``golds`` (UInt32, its gold names; 0 where it must be abstained from),
            ``length`` (UInt32, distinct ids in the shortlist),
            ``rank`` (UInt32, the first gold's place among them, from 1; null where none is there),
            ``found`` (UInt32, gold names reached through any of their ids),
            ``picked_gold`` (Boolean, whether the chosen id is a gold; null where nothing was chosen),
            ``listed`` (Boolean, whether the chosen id is in the shortlist; null where nothing was chosen),
            ``choice`` (UInt64, equal for equal decisions: kind, and id or reason; null where degraded or not
            decided; it has no meaning beyond this frame).
            It is a LazyFrame over rows that are in memory already.
        fixtures: One row a fixture, see :attr:`Fixtures.frame <skillful_eval.fixtures.Fixtures.frame>`.
        provenance: What the values rest on.
        source: The runs as they were given; with ``config`` (where there is one), ``fixture_id`` and
            ``repeat`` a scored run is found there again, with its shortlist.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> scored = se.score(runs, holdout, corpus)
        >>> scored.provenance.runs, scored.fixtures.height
        (150, 25)
    """

    runs: pl.LazyFrame
    fixtures: pl.DataFrame
    provenance: Provenance
    source: pl.LazyFrame


def score(runs: Any, fixtures: Fixtures, corpus: Corpus) -> Scored:
    """Check runs against fixtures and corpus, and take every quantity that a metric sums, run by run.

    Args:
        runs: What :func:`skillful_eval.scan_runs` gives, or anything that it takes.
        fixtures: The fixtures that were routed.
        corpus: The corpus that the fixtures were resolved in.

    Returns:
        The scored runs, the fixtures, and what both rest on.

    Raises:
        ContractError: A run breaks the contract: an id is chosen without an injection, a fixture or an id is
            unknown, the same fixture and repeat of a configuration occurs twice, a latency is negative or
            NaN, a probability is outside 0 to 1, or a configuration has decisions in some runs only.
        InputError: There are no runs, or one of their columns has a name that scoring needs, or begins with
            an underscore.
        UsageError: The fixtures were resolved in another corpus.

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> scored = se.score(runs, holdout, corpus)
        >>> scored.runs.filter(config="wide-20", repeat=0).select(pl.col("rank").count()).collect().item()
        16
    """
    if fixtures.corpus is not corpus and fixtures.corpus.digest != corpus.digest:
        raise UsageError(
            f"{fixtures.name}: resolved in the corpus {fixtures.corpus.source}, not in {corpus.source}; "
            "read the fixtures with the corpus that they are scored with"
        )
    source = RUNS.conform(runs if isinstance(runs, pl.LazyFrame) else scan_runs(runs))
    names = source.collect_schema().names()
    hidden = [name for name in names if name.startswith("_") and name not in (FILE, RECORD)]
    if hidden:
        raise InputError(
            f"{RUNS.name}: the column {hidden[0]!r} begins with an underscore, as working columns do; "
            "rename it"
        )
    taken = sorted(set(names) & set(SCORED))
    if taken:
        raise InputError(
            f"{RUNS.name}: the column {taken[0]!r} has a name that scoring gives to one of its own; rename it"
        )
    coded = prepared(source, fixtures, corpus)
    kept = [name for name in names if name not in _RAW]
    # Texts of which there are few are numbered while there are many rows of them.
    few = [pl.col(name).cast(pl.Categorical) for name in kept if name in (CONFIG, "reason", *PROVENANCE)]
    compact = collect(
        coded.select(*kept, "_fixture", "_chosen", "_shortlist", "_violated").with_columns(
            pl.col("decision").cast(pl.Enum(DECISIONS), strict=False), *few
        )
    )
    if not compact.height:
        raise InputError(f"{RUNS.name}: no records; expected at least one")
    check_runs(compact, coded, fixtures, corpus)
    to = targets(fixtures.golds, corpus.entries["id"], fixtures.frame.height)
    scored = _scored(compact, to, fixtures)
    provenance = provenance_of(compact.with_columns(scored["listed"]), fixtures, corpus)
    own = [name for name in names if name not in _DROPPED and name not in scored.columns]
    runs = (
        compact.select(own).hstack(scored).select(*(name for name in names if name not in _DROPPED), *SCORED)
    )
    return Scored(runs.lazy(), fixtures.frame, provenance, source)


def _scored(compact: pl.DataFrame, to: Targets, fixtures: Fixtures) -> pl.DataFrame:
    """What scoring adds to the runs, and their numbered texts as texts again."""
    of_fixture = fixtures.frame.select("group", "abstain", pl.col("answers").cast(pl.UInt32).alias("golds"))
    looked_up = [pl.lit(column).gather(pl.col("_fixture")).alias(column.name) for column in of_fixture]
    texts = pl.col([name for name, dtype in compact.schema.items() if dtype == pl.Categorical])
    added = compact.lazy().select(
        pl.col("_fixture").alias("fixture"), *looked_up, *decided(to), texts.cast(pl.String)
    )
    return collect(added).hstack(retrieved(compact.select(fixture="_fixture", shortlist="_shortlist"), to))
