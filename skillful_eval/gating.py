"""The gate: a report held against criteria. What is undefined fails, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillful_eval.criteria import CRITERIA, Criterion
from skillful_eval.keys import check_names
from skillful_eval.schema import CONFIG
from skillful_eval.summary import REPORT
from skillshift.frame.errors import InputError, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillful_eval.provenance import Provenance

PASSED, FAILED = VERDICTS = ("passed", "failed")

BELOW, ABOVE = "below-minimum", "above-maximum"

REASONS = {
    BELOW: "the value is below the minimum",
    ABOVE: "the value is above the maximum",
    "not-in-report": "the report has no such metric in this scope",
    "not-finite": "the value is NaN or infinite",
    "zero-denominator": "nothing was counted",
    "undefined": "the value is null, and the report does not say why",
}
"""Why a criterion fails, by reason code, beside the report's own reasons for an undefined value."""


def gate(
    report: pl.DataFrame,
    criteria: Sequence[Criterion] = CRITERIA,
    *,
    provenance: Provenance | None = None,
) -> pl.DataFrame:
    """Hold a report against criteria. A value that is undefined, NaN or not there fails its criterion.

    Args:
        report: What :func:`skillful_eval.report` gives.
        criteria: What is asked for, see :class:`~skillful_eval.criteria.Criterion`.
        provenance: What the report rests on (:attr:`Scored.provenance
            <skillful_eval.scoring.Scored.provenance>`). A frame does not know what it was made from: without
            this, NOTHING IS REFUSED, and verdicts on a set that the configurations were tuned on look like
            any others. The command line always gives it. With it,
            :attr:`~skillful_eval.provenance.Provenance.unchecked_runs` says how many runs tell too little.

    Returns:
        One row a configuration and criterion, in the order of the report and of the criteria: the report's
        keys; ``criterion`` (text, the metric), ``scope`` (text), ``minimum``, ``maximum`` (Float64, one of
        them null), ``value`` (Float64, null where undefined), ``shortfall`` (Float64: by how much the value
        misses the limit, 0 where it does not, null where undefined), ``denominator``, ``fixtures`` (Int64:
        what the value rests on), ``verdict`` (text: ``passed`` or ``failed``), ``reason`` (text, null where
        passed: a code of :data:`REASONS`, or the report's own for an undefined value).
        The gate is passed where every verdict is: with several configurations, where each of them passes.

    Raises:
        InputError: The report is no report or has no rows, or holds a value twice; the runs say that they
            were tuned on this set, or were made on other fixtures or with another corpus.
        UsageError: There is no criterion, or one of them is none; a key of the report is no name for one.

    Example:
        >>> row = {"scope": "all", "metric": "MRR", "value": None, "numerator": 0.0, "denominator": 0}
        >>> report = pl.DataFrame(row | {"fixtures": 0, "reason": "no-answerable-fixtures"}, schema=REPORT)
        >>> gate(report, [Criterion("MRR", minimum=0.5)]).select("criterion", "verdict", "reason").row(0)
        ('MRR', 'failed', 'no-answerable-fixtures')
    """
    if not criteria or not all(isinstance(one, Criterion) for one in criteria):
        raise UsageError(f"criteria: found {shorten(criteria)}, expected at least one Criterion")
    keys = _keys(report)
    if provenance is not None:
        refuse_unfit(provenance)
    asked = pl.DataFrame(
        [(one.metric, one.scope, one.minimum, one.maximum) for one in criteria],
        schema={"criterion": pl.String, "scope": pl.String, "minimum": pl.Float64, "maximum": pl.Float64},
        orient="row",
    )
    found = report.with_columns(pl.lit(value=True).alias("_there"))
    judged = (
        _configurations(report, keys)
        .join(asked, how="cross", maintain_order="left_right")
        .join(
            found,
            left_on=[*keys, "scope", "criterion"],
            right_on=[*keys, "scope", "metric"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .with_columns(_undefined().alias("_undefined"))
        .with_columns(
            pl.when(pl.col("_undefined").is_null()).then("value").alias("value"),
        )
    )
    below, above = pl.col("minimum") - pl.col("value"), pl.col("value") - pl.col("maximum")
    reason = pl.coalesce(
        pl.col("_undefined"),
        pl.when(pl.col("value") < pl.col("minimum")).then(pl.lit(BELOW)),
        pl.when(pl.col("value") > pl.col("maximum")).then(pl.lit(ABOVE)),
    )
    return judged.with_columns(
        pl.when(pl.col("value").is_not_null()).then(pl.max_horizontal(0.0, below, above)).alias("shortfall"),
        pl.when(reason.is_null()).then(pl.lit(PASSED)).otherwise(pl.lit(FAILED)).alias("verdict"),
        reason.alias("reason"),
    ).select(
        *keys,
        *asked.columns,
        "value",
        "shortfall",
        "denominator",
        "fixtures",
        "verdict",
        "reason",
    )


def _undefined() -> pl.Expr:
    """Why there is no value to judge, else null; the report's own reason goes first."""
    value = pl.col("value")
    return pl.coalesce(
        pl.when(pl.col("_there").is_null()).then(pl.lit("not-in-report")),
        pl.when(value.is_null()).then(pl.coalesce("reason", pl.lit("undefined"))),
        pl.when(~value.is_finite()).then(pl.lit("not-finite")),
        pl.when(pl.col("denominator").fill_null(0) <= 0).then(pl.lit("zero-denominator")),
    )


def _keys(report: pl.DataFrame) -> list[str]:
    absent = [name for name in REPORT if name not in report.columns]
    if absent:
        raise InputError(f"report: no column {absent[0]!r}; expected what skillful_eval.report gives")
    wrong = [name for name, dtype in REPORT.items() if report.schema[name] not in (dtype, pl.Null())]
    if wrong:
        raise InputError(
            f"report: {wrong[0]}: found a column of {report.schema[wrong[0]]}, expected {REPORT[wrong[0]]}"
        )
    if not report.height:
        raise InputError("report: no rows; a gate over nothing would pass")
    keys = [name for name in report.columns if name not in REPORT]
    check_names(keys)
    twice = report.filter(report.select(*keys, "scope", "metric").is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise InputError(
            f"report: {row['metric']} in {row['scope']} stands there twice; expected each value once, and "
            f"configurations told apart by columns such as {CONFIG}"
        )
    return keys


def _configurations(report: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    if not keys:
        return pl.DataFrame({"_one": [0]})
    return report.select(keys).unique(maintain_order=True)


def tried(verdicts: pl.DataFrame) -> pl.DataFrame:
    """The configurations that a gate judged, each with what blocks it.

    Args:
        verdicts: What :func:`gate` gives.

    Returns:
        One row a configuration, in order: the keys, ``verdict`` (text: ``passed`` where it meets every
        criterion), ``criteria``, ``met`` (Int64, how many), ``blocked_by`` (list of text: the metrics of the
        criteria that it fails, with the scope where that is not all).
    """
    keys = verdicts.columns[: verdicts.columns.index("criterion")]
    met = pl.col("verdict") == PASSED
    scoped = (
        pl.when(pl.col("scope") == "all")
        .then("criterion")
        .otherwise(pl.format("{} in {}", "criterion", "scope"))
    )
    counts = [
        pl.when(met.all()).then(pl.lit(PASSED)).otherwise(pl.lit(FAILED)).alias("verdict"),
        pl.len().cast(pl.Int64).alias("criteria"),
        met.sum().cast(pl.Int64).alias("met"),
        scoped.filter(~met).alias("blocked_by"),
    ]
    if keys:
        return verdicts.group_by(keys, maintain_order=True).agg(counts)
    return verdicts.select(*counts[:3], counts[3].implode())


def refuse_unfit(provenance: Provenance) -> None:
    """Refuse to judge on a set that cannot confirm anything.

    Args:
        provenance: What the runs say of their making.

    Raises:
        InputError: Runs say that they were tuned on this set, by its name or digest or as the one that they
            were made on; or that they were made on fixtures or with a corpus of another digest.
    """
    declared, corpus = provenance.declared, provenance.corpus
    other_corpus = ~pl.col("corpus_fingerprint").is_in([corpus.fingerprint, corpus.digest])
    cases = (
        (
            "tuned_on",
            provenance.tuned_here,
            "say that they were tuned on this set, which then confirms nothing; gate on a holdout set",
        ),
        (
            "fixture_digest",
            declared.filter(pl.col("fixture_digest") != provenance.fixture_digest),
            f"say that they were made on other fixtures than these ({provenance.fixture_digest}); give those",
        ),
        (
            "corpus_fingerprint",
            declared.filter(other_corpus),
            f"say that they were made with another corpus than this one ({corpus.fingerprint}); give that",
        ),
    )
    for field, wrong, text in cases:
        if wrong.height:
            row = wrong.row(0, named=True)
            of = f", the first of {CONFIG} {shorten(row[CONFIG])}," if CONFIG in row else ""
            raise InputError(
                f"{provenance.fixture_set}: refused: {wrong['runs'].sum():,} runs{of} {text} "
                f"[{field} {shorten(row[field])}]"
            )
