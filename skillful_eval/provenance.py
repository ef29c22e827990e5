"""What values rest on: which fixtures, which corpus, what the runs say of their making."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.corpus import is_redacted, is_undescribed
from skillful_eval.findings import Finding, findings_frame
from skillful_eval.schema import DEGRADED, PROVENANCE, config_keys
from skillshift.frame.contract import collect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillful_eval.corpus import Corpus
    from skillful_eval.fixtures import Fixtures


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """What the values of a report rest on.

    Attributes:
        fixture_set: The fixture set's name.
        fixture_digest: Its digest.
        fixtures: How many fixtures it has.
        answerable: How many of them expect a capability.
        corpus: The corpus; :attr:`Corpus.is_filtered <skillful_eval.corpus.Corpus.is_filtered>` must be told.
        runs: How many runs were scored.
        declared: What the runs say of their making, one row a configuration and distinct saying: ``config``
            (where there is one), ``fixture_set``, ``fixture_digest``, ``corpus_fingerprint``, ``tuned_on``
            (text, null where they do not say), ``runs`` (Int64); sorted.
        findings: What a reader must know, as :data:`skillful_eval.findings.FINDINGS`: those of the corpus and
            of the fixtures, and ``group.unfair`` (``count`` fixtures of the group expect only capabilities
            without a description), ``runs.off-list`` (picks that the shortlist did not offer),
            ``runs.degraded`` (runs without a decision), ``runs.other-fixtures``, ``runs.other-corpus`` (runs
            that say they were made with another),
            ``runs.undeclared`` (runs that do not say).

    Example:
        >>> import skillful_eval as se
        >>> from skillshift import datasets
        >>> corpus = se.read_corpus(datasets.path("routing/corpus.json"))
        >>> holdout = se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)
        >>> runs = se.scan_runs(datasets.path("routing/runs/holdout.parquet"))
        >>> found = se.score(runs, holdout, corpus).provenance
        >>> found.fixture_set, found.answerable, found.tuned_here.height, found.unchecked_runs
        ('fixtures.holdout', 18, 0, 0)
    """

    fixture_set: str
    fixture_digest: str
    fixtures: int
    answerable: int
    corpus: Corpus
    runs: int
    declared: pl.DataFrame
    findings: pl.DataFrame

    @property
    def tuned_here(self) -> pl.DataFrame:
        """The rows of ``declared`` that say they were tuned on this very set; a gate must refuse it.

        ``tuned_on`` may list several sets, with commas. A set is known by its digest or its name: that of the
        fixtures, or of those that the row says it was made on; in whatever case, with or without a folder
        and a suffix such as ``.jsonl``.
        """
        said = pl.col("tuned_on").str.split(",").list.eval(_plain(pl.element()))
        names = (
            pl.lit(self.fixture_set),
            pl.lit(self.fixture_digest),
            pl.col("fixture_set"),
            pl.col("fixture_digest"),
        )
        named = (
            (said.list.contains(_plain(name)) & (_plain(name) != "")).fill_null(value=False) for name in names
        )
        return self.declared.filter(pl.any_horizontal(named))

    @property
    def unchecked_runs(self) -> int:
        """How many runs leave open whether they were tuned on this set, so that no gate can tell.

        They do not say what they were tuned on, or name neither the fixture set nor the digest of what they
        were made on.
        """
        nameless = pl.col("fixture_set").is_null() & pl.col("fixture_digest").is_null()
        return int(self.declared.filter(pl.col("tuned_on").is_null() | nameless)["runs"].sum())


def _plain(name: pl.Expr) -> pl.Expr:
    """A set's name without its folder, its suffixes and its case."""
    return (
        name.str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace(r"^.*[/\\]", "")
        .str.strip_chars()
        .str.replace(r"(\.(jsonl|ndjson|json|parquet))?(\.(gz|zst))?$", "")
    )


def provenance_of(runs: pl.DataFrame, fixtures: Fixtures, corpus: Corpus) -> Provenance:
    """Gather what the values rest on.

    Args:
        runs: The runs' own columns, with ``listed`` (Boolean).
        fixtures: The fixtures.
        corpus: The corpus.
    """
    declared = _declared(runs)
    found = [
        *_unfair(fixtures, corpus),
        *_off_list(runs),
        *_degraded(runs),
        *_made_otherwise(declared, fixtures, corpus),
    ]
    return Provenance(
        fixture_set=fixtures.name,
        fixture_digest=fixtures.digest,
        fixtures=fixtures.frame.height,
        answerable=int((~fixtures.frame["abstain"]).sum()),
        corpus=corpus,
        runs=runs.height,
        declared=declared,
        findings=pl.concat([corpus.findings(), fixtures.findings(), findings_frame(found)]),
    )


def _declared(runs: pl.DataFrame) -> pl.DataFrame:
    said = [name for name in PROVENANCE if name in runs.columns]
    keys = [*config_keys(runs.columns), *said]
    count = pl.len().cast(pl.Int64).alias("runs")
    table = collect(runs.lazy().group_by(keys).agg(count)) if keys else runs.select(count)
    texts = pl.col(keys).cast(pl.String)
    unsaid = (pl.lit(None, dtype=pl.String).alias(name) for name in PROVENANCE if name not in said)
    return (
        table.with_columns(texts, *unsaid)
        .select(*config_keys(runs.columns), *PROVENANCE, "runs")
        .sort(pl.all())
    )


def _unfair(fixtures: Fixtures, corpus: Corpus) -> Iterator[Finding]:
    mute = corpus.entries.select("id", mute=is_redacted() | is_undescribed())
    groups = (
        fixtures.golds.join(mute, on="id")
        .group_by("fixture")
        .agg(pl.col("mute").all())
        .join(fixtures.frame.with_row_index("fixture"), on="fixture")
        .group_by("group")
        .agg(pl.len().cast(pl.Int64).alias("fixtures"), pl.col("mute").sum().cast(pl.Int64))
        .filter(pl.col("mute") > 0)
        .sort("group")
    )
    for group, count, mute_count in groups.rows():
        yield (
            "group.unfair",
            f"group:{group}",
            mute_count,
            (
                f"{mute_count:,} of {count:,} answerable fixtures of the group {group} expect only "
                "capabilities whose descriptions are redacted or missing; its values are unfair to retrieval"
            ),
        )


def _off_list(runs: pl.DataFrame) -> Iterator[Finding]:
    count = (~pl.col("listed")).sum().cast(pl.Int64)
    keys = config_keys(runs.columns)
    table = collect(runs.lazy().group_by(keys).agg(count)) if keys else runs.select(count)
    for *config, picks in table.sort(pl.all()).rows():
        if picks:
            which = "1 pick was not in its" if picks == 1 else f"{picks:,} picks were not in their"
            text = f"{which} shortlist; is the shortlist what the router was offered?"
            yield ("runs.off-list", "".join(config) or "runs", picks, text)


def _degraded(runs: pl.DataFrame) -> Iterator[Finding]:
    counts = [(pl.col("decision") == DEGRADED).sum().cast(pl.Int64), pl.len().cast(pl.Int64).alias("runs")]
    keys = config_keys(runs.columns)
    table = collect(runs.lazy().group_by(keys).agg(counts)) if keys else runs.select(counts)
    for *config, degraded, count in table.sort(pl.all()).rows():
        if degraded:
            text = (
                f"{degraded:,} of {count:,} runs are degraded: their latency is how long they took to fail, "
                "so a router that fails quickly looks quick"
            )
            yield ("runs.degraded", "".join(config) or "runs", degraded, text)


def _made_otherwise(declared: pl.DataFrame, fixtures: Fixtures, corpus: Corpus) -> Iterator[Finding]:
    same_set = pl.coalesce(
        pl.col("fixture_digest") == fixtures.digest, pl.col("fixture_set") == fixtures.name
    )
    same_corpus = pl.col("corpus_fingerprint").is_in([corpus.fingerprint, corpus.digest])
    cases = (
        ("runs.other-fixtures", ~same_set, f"say that they were made on other fixtures than {fixtures.name}"),
        (
            "runs.other-corpus",
            ~same_corpus,
            f"say that they were made with another corpus than {corpus.source}",
        ),
        (
            "runs.undeclared",
            same_set.is_null() | same_corpus.is_null(),
            "do not say on which fixtures or with which corpus they were made",
        ),
    )
    keys = config_keys(declared.columns)
    for code, where, text in cases:
        wrong = declared.filter(where)
        table = (
            wrong.group_by(keys).agg(pl.col("runs").sum()).sort(keys) if keys else wrong.select("runs").sum()
        )
        for *config, runs in table.rows():
            if runs:
                yield (code, "".join(config) or "runs", runs, f"{runs:,} runs {text}")
