"""The gate's criteria: which metric must reach which value, or stay below it. They are data."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.metrics import METRICS, PERCENTILES, RECALL
from skillful_eval.scopes import ALL, GROUP, KIND
from skillshift.frame.errors import InputError, UsageError, shorten
from skillshift.frame.nearest import suggest

if TYPE_CHECKING:
    from os import PathLike

    from skillshift.frame.metric import Direction

_AT_RANK = re.compile(r"recall@[1-9][0-9]{0,5}")
"""The points of the recall curve."""

_TABLE = "criteria"
"""The key of a criteria file: an array of tables."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that a gate asks for.

    Attributes:
        metric: A metric of :data:`skillful_eval.METRICS`, a percentile of latency such as ``latencyP95``, or
            a point of the recall curve such as ``recall@5``.
        minimum: The least value that passes, where more is better; else null.
        maximum: The greatest value that passes, where less is better; else null.
        scope: Where it is asked for: ``all``, ``group:`` and a group, or ``kind:`` and a kind of gold.

    Raises:
        UsageError: The metric is unknown, both limits or none are given, a limit is no number, lies outside
            the metric's bounds or on the side that would ask for a worse value, or the scope is none.

    >>> Criterion("recall@K", minimum=0.9).limit
    0.9
    >>> Criterion("latencyP95", minimum=1500)
    Traceback (most recent call last):
    ...
    skillshift.frame.errors.UsageError: minimum: less is better for latencyP95; give a maximum
    """

    metric: str
    minimum: float | None = None
    maximum: float | None = None
    scope: str = ALL

    def __post_init__(self) -> None:
        direction, upper = _facts(self.metric)
        if (self.minimum is None) == (self.maximum is None):
            found = "neither" if self.minimum is None else "both"
            raise UsageError(f"minimum: found {found}, expected either a minimum or a maximum")
        for side, limit, worse in (("minimum", self.minimum, "lower"), ("maximum", self.maximum, "higher")):
            if limit is None:
                continue
            _check_limit(side, limit, self.metric, upper)
            if direction == worse:
                other, more = ("maximum", "less") if side == "minimum" else ("minimum", "more")
                raise UsageError(f"{side}: {more} is better for {self.metric}; give a {other}")
        is_named = isinstance(self.scope, str) and any(
            self.scope.startswith(prefix) and self.scope != prefix for prefix in (GROUP, KIND)
        )
        if self.scope != ALL and not is_named:
            raise UsageError(
                f"scope: found {shorten(self.scope)}, expected {ALL}, {GROUP}NAME or {KIND}NAME, such as "
                f"{KIND}mcp"
            )

    @property
    def limit(self) -> float:
        """The one limit that it has."""
        return next(limit for limit in (self.minimum, self.maximum) if limit is not None)


def _facts(metric: object) -> tuple[Direction, float | None]:
    """Which direction is better, and the greatest value that can occur."""
    if isinstance(metric, str):
        if metric in METRICS:
            return METRICS[metric].better, METRICS[metric].upper
        if metric in PERCENTILES:
            return "lower", None
        if _AT_RANK.fullmatch(metric):
            return RECALL.better, RECALL.upper
    known = (*METRICS.names, *PERCENTILES)
    hint = suggest(metric, known)
    raise UsageError(
        f"metric: found {shorten(metric)}, expected one of {', '.join(known)}, or recall@ and a rank"
        + (f" ({hint})" if hint else "")
    )


def _check_limit(side: str, limit: object, metric: str, upper: float | None) -> None:
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool) and isfinite(limit)
    if is_number and 0 <= limit <= (limit if upper is None else upper):  # type: ignore[operator]
        return
    bounds = "from 0" if upper is None else f"from 0 to {upper:g}"
    raise UsageError(f"{side}: found {_written(limit)}, expected a number {bounds}, as {metric} is")


def _written(value: object) -> str:
    return repr(value) if isinstance(value, float) else shorten(value)


CRITERIA = (
    Criterion("recall@K", minimum=0.90),
    Criterion("top1Accuracy", minimum=0.80),
    Criterion("noneRecall", minimum=0.90),
    Criterion("noneF1", minimum=0.80),
    Criterion("agreementRate", minimum=0.90),
    Criterion("latencyP95", maximum=1500),
)
"""What a gate asks for where nothing else is said."""


def read_criteria(path: str | PathLike[str]) -> tuple[Criterion, ...]:
    r"""Read a gate's criteria from TOML.

    Args:
        path: The file: ``[[criteria]]`` tables, each with ``metric``, either ``minimum`` or ``maximum``, and
            optionally ``scope``, as :class:`Criterion` has them.

    Returns:
        The criteria, in the file's order.

    Raises:
        InputError: The file cannot be read, is not TOML, holds no criterion, or one of them is wrong or there
            twice; the message names the file and the key.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     path = Path(home) / "gate.toml"
    ...     _ = path.write_text('[[criteria]]\nmetric = "MRR"\nminimum = 0.5\n')
    ...     read_criteria(path)
    (Criterion(metric='MRR', minimum=0.5, maximum=None, scope='all'),)
    """
    where = str(path)
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{where}: the criteria cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: not a TOML file: {error}") from error
    _check_keys(document, (_TABLE,), where)
    tables = document.get(_TABLE)
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        found = shorten(tables) if _TABLE in document else "nothing"
        raise InputError(
            f"{where}: {_TABLE}: found {found}, expected at least one table [[{_TABLE}]]; without any, "
            "everything would pass"
        )
    criteria: dict[Criterion, str] = {}
    for number, table in enumerate(tables, 1):
        key = f"{_TABLE}[{number}]"
        criterion = _criterion(table, where, key)
        earlier = criteria.setdefault(criterion, key)
        if earlier != key:
            raise InputError(f"{where}: {key}: is {earlier} again; leave one of them out")
    return tuple(criteria)


def _criterion(table: dict[str, Any], where: str, key: str) -> Criterion:
    names = tuple(f.name for f in fields(Criterion))
    _check_keys(table, names, where, f"{key}.")
    if "metric" not in table:
        raise InputError(f"{where}: {key}.metric: found nothing, expected a metric's name")
    try:
        return Criterion(**table)
    except UsageError as error:
        raise InputError(f"{where}: {key}.{error}") from error


def _check_keys(table: dict[str, Any], known: tuple[str, ...], where: str, place: str = "") -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        hint = suggest(unknown[0], known)
        raise InputError(
            f"{where}: {place}{unknown[0]}: unknown key, expected {', '.join(known)}"
            + (f" ({hint})" if hint else "")
        )
