"""Development and holdout sets: whether something of the one is in the other."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from skillshift.frame.errors import UsageError, shorten

if TYPE_CHECKING:
    from skillful_eval.fixtures import Fixtures

SIMILARITY = "0.8"
"""How alike two prompts must be to count as near-identical: the words they share over those of either,
or, of short prompts, the runs of three characters."""

SHORT = 8
"""Up to so many distinct words a prompt is short: one word in another form makes it another by its words."""

_MEASURES = ("words", "trigrams")

_WORD = r"[\p{L}\p{N}\p{M}]+"


def check_split(dev: Fixtures, holdout: Fixtures, *, similarity: str | Fraction = SIMILARITY) -> pl.DataFrame:
    """Find what a development and a holdout set share: what both hold confirms nothing.

    Args:
        dev: The set that configurations are chosen on.
        holdout: The set that confirms the chosen one.
        similarity: From which likeness on prompts count as near-identical, above 0 and at most 1, as text or
            a Fraction: the distinct words that two prompts share over those that either has, with case,
            Unicode form and everything but letters, marks and digits left aside; or, where both have at most
            :data:`SHORT` distinct words and it is greater, the same of runs of three characters.

    Returns:
        One row a shared id and a pair of near-identical prompts, the most alike first: ``code``
        (``split.shared-id``, ``split.similar-prompt``), ``dev_id``, ``holdout_id``, ``dev_prompt``,
        ``holdout_prompt`` (text), ``similarity`` (Float64; for a shared id that of its prompts). No row: the
        sets are apart.

    Raises:
        UsageError: The similarity is not such a number.

    Example:
        >>> from skillful_eval import read_corpus, read_fixtures
        >>> from skillshift import datasets
        >>> corpus = read_corpus(datasets.path("routing/corpus.json"))
        >>> sets = [f"routing/fixtures.{name}.jsonl" for name in ("dev", "holdout")]
        >>> dev, holdout = (read_fixtures(datasets.path(name), corpus) for name in sets)
        >>> check_split(dev, holdout).is_empty()
        True
    """
    least = _least(similarity)
    here, there = _side(dev.frame, "dev"), _side(holdout.frame, "holdout")
    by_id = here.join(there, left_on="dev_id", right_on="holdout_id", coalesce=False)
    pairs = pl.concat(
        [
            by_id.select(pl.lit("split.shared-id").alias("code"), "dev", "holdout"),
            pl.concat(_candidates(here, there, least, measure) for measure in _MEASURES)
            .unique()
            .select(pl.lit("split.similar-prompt").alias("code"), "dev", "holdout"),
        ]
    )
    both = pairs.join(here, on="dev").join(there, on="holdout")
    counts = {measure: _counts(measure) for measure in _MEASURES}
    enough = [
        (shared * least.denominator >= either * least.numerator) & (either > 0)
        for shared, either in counts.values()
    ]
    shares = [
        pl.when(_compared(measure)).then(shared / either) for measure, (shared, either) in counts.items()
    ]
    return (
        both.with_columns(pl.max_horizontal(shares).alias("similarity"))
        .filter((pl.col("code") == "split.shared-id") | pl.any_horizontal(enough))
        .sort("code", "similarity", "dev", "holdout", descending=[False, True, False, False])
        .select("code", "dev_id", "holdout_id", "dev_prompt", "holdout_prompt", "similarity")
    )


def _compared(measure: str) -> pl.Expr:
    """Whether both prompts of a pair have what the measure compares: long ones have no trigrams."""
    return (pl.col(f"dev_{measure}").list.len() > 0) & (pl.col(f"holdout_{measure}").list.len() > 0)


def _counts(measure: str) -> tuple[pl.Expr, pl.Expr]:
    """How much a pair of prompts shares, and how much either has; of what is not compared, 0."""
    one, other = pl.col(f"dev_{measure}"), pl.col(f"holdout_{measure}")
    shared, either = one.list.set_intersection(other), one.list.set_union(other)
    lengths = (pl.when(_compared(measure)).then(each.list.len().cast(pl.Int64)) for each in (shared, either))
    shared, either = (each.fill_null(0) for each in lengths)
    return shared, either


def _least(similarity: str | Fraction) -> Fraction:
    try:
        least = Fraction(similarity) if isinstance(similarity, str | Fraction) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        least = Fraction(0)
    if not 0 < least <= 1 or least.denominator > 10**6:
        raise UsageError(
            f"similarity: found {shorten(similarity)}, expected text such as {SIMILARITY!r}, or a Fraction, "
            "above 0 and at most 1"
        )
    return least


def _side(fixtures: pl.DataFrame, name: str) -> pl.DataFrame:
    plain = pl.col("prompt").str.normalize("NFKC").str.to_lowercase()
    written = plain.str.extract_all(_WORD)
    # A prompt without any word (a lone emoji, say) stands for itself.
    written = pl.when(written.list.len() > 0).then(written).otherwise(pl.concat_list(plain.str.strip_chars()))
    words = written.list.unique(maintain_order=True)
    text = written.list.join(" ")
    runs = pl.concat_list(text.str.slice(start).str.extract_all("(?s).{3}") for start in range(3))
    runs = pl.when(runs.list.len() > 0).then(runs).otherwise(pl.concat_list(text))
    trigrams = runs.list.unique(maintain_order=True).list.head(
        pl.when(words.list.len() <= SHORT).then(2**31).otherwise(0)
    )
    return fixtures.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias(name),
        pl.col("fixture_id").alias(f"{name}_id"),
        pl.col("prompt").alias(f"{name}_prompt"),
        words.alias(f"{name}_words"),
        trigrams.alias(f"{name}_trigrams"),
    )


def _candidates(dev: pl.DataFrame, holdout: pl.DataFrame, least: Fraction, measure: str) -> pl.DataFrame:
    """Pairs that may be alike enough, found without comparing every prompt with every other.

    Two sets of words (or trigrams) that share the part ``least`` share a word among the rarest of each: of
    n words, those that may be missing and one more.
    """
    parts = [
        side.select(pl.col(name), pl.col(f"{name}_{measure}").alias("word"))
        .with_columns(pl.col("word").list.len().cast(pl.Int64).alias("size"))
        .explode("word", empty_as_null=False)
        for side, name in ((dev, "dev"), (holdout, "holdout"))
    ]
    frequency = pl.concat(part.select("word") for part in parts).group_by("word").len("frequency")
    rarest = [
        part.join(frequency, on="word")
        .with_columns(pl.struct("frequency", "word").rank("ordinal").over(name).cast(pl.Int64).alias("place"))
        # ceil(n * least) words must be shared, so one of the first n - ceil(n * least) + 1 is.
        .filter(
            pl.col("place")
            <= pl.col("size")
            - (pl.col("size") * least.numerator + least.denominator - 1) // least.denominator
            + 1
        )
        for part, name in zip(parts, ("dev", "holdout"), strict=True)
    ]
    alike = (
        pl.min_horizontal("size", "size_right") * least.denominator
        >= pl.max_horizontal("size", "size_right") * least.numerator
    )
    return rarest[0].join(rarest[1], on="word").filter(alike).select("dev", "holdout").unique()
