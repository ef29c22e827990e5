"""What a sweep tries: quotas, thresholds and settings, and the names of their combinations."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from skillful_eval.router.quotas import GROUPS, Quotas, parse_quotas
from skillshift.frame.errors import UsageError, shorten
from skillshift.frame.nearest import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST = 1_000_000
"""How many configurations a sweep may try."""

EXAMPLE = f"{Quotas.DEFAULT.text},none=0.4,winner=0.25"

_NUMBER = re.compile(r"(?:0?\.[0-9]{1,9}|[01](?:\.[0-9]{1,9})?)")
_FORM = "numbers from 0 to 1 with at most 9 decimals, or FIRST:LAST:STEP, several parted by commas"

_THRESHOLDS = ("none", "winner")
_WHEN_TO_USE, _HEURISTICS, _LENGTH, _UPLOAD = _SETTINGS = (
    "when-to-use",
    "heuristics",
    "max-prompt-chars",
    "prompt-upload",
)
_NO = "no"


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """What is the same in every configuration of a sweep.

    Attributes:
        when_to_use: Whether retrieval reads the when-to-use text.
        heuristics: Whether prompts that need no capability by their form are skipped.
        max_prompt_chars: How many characters of a prompt were sent at most; null: all.
        upload_prompts: Whether prompts were sent.

    Example:
        >>> SweepSettings(heuristics=False).texts
        {'heuristics': 'no'}
    """

    when_to_use: bool = True
    heuristics: bool = True
    max_prompt_chars: int | None = None
    upload_prompts: bool = True

    @property
    def texts(self) -> dict[str, str]:
        """What differs from the default, as names of configurations have it."""
        said = {
            _WHEN_TO_USE: None if self.when_to_use else _NO,
            _HEURISTICS: None if self.heuristics else _NO,
            _LENGTH: None if self.max_prompt_chars is None else str(self.max_prompt_chars),
            _UPLOAD: None if self.upload_prompts else _NO,
        }
        return {name: text for name, text in said.items() if text is not None}


@dataclass(frozen=True, slots=True)
class Plan:
    """The configurations of a sweep: every quota with every none threshold and every winner floor.

    Attributes:
        quotas: The quotas.
        none: None thresholds, ascending; null where nothing is decided.
        winner: Winner floors, ascending; null where nothing is decided.
        settings: What is the same in all.

    Raises:
        UsageError: There is nothing to try, or more than :data:`MOST` configurations.
    """

    quotas: tuple[Quotas, ...]
    none: tuple[Decimal, ...] | None = None
    winner: tuple[Decimal, ...] | None = None
    settings: SweepSettings = SweepSettings()

    def __post_init__(self) -> None:
        count = len(self)
        if not count or len(set(self.quotas)) != len(self.quotas):
            twice = [quotas.text for quotas, times in Counter(self.quotas).items() if times > 1]
            found = f"{twice[0]} more than once" if twice else "none"
            raise UsageError(
                f"quotas: found {found}, expected at least one, each once; give others, or leave them "
                "out for the default"
            )
        if count > MOST:
            raise UsageError(
                f"the ranges span {count:,} configurations, expected at most {MOST:,}; give fewer values"
            )

    def __len__(self) -> int:
        """How many configurations there are."""
        return len(self.quotas) * len(self.pairs)

    @property
    def decides(self) -> bool:
        """Whether its configurations have thresholds."""
        return self.none is not None and self.winner is not None

    @property
    def pairs(self) -> list[tuple[Decimal, Decimal] | None]:
        """The pairs of thresholds in order; a single null where nothing is decided."""
        if self.none is None or self.winner is None:
            return [None]
        return [(none, winner) for none in self.none for winner in self.winner]

    @property
    def names(self) -> Iterator[str]:
        """The configurations' names: quotas in order and, for each, pairs in order."""
        settings = "".join(f",{name}={text}" for name, text in self.settings.texts.items())
        pairs = [
            "" if pair is None else f",none={_text(pair[0])},winner={_text(pair[1])}" for pair in self.pairs
        ]
        return (f"{quotas.text}{pair}{settings}" for quotas in self.quotas for pair in pairs)


def parse_thresholds(given: str | Iterable[float], name: str) -> tuple[Decimal, ...]:
    """Read thresholds: exact decimals, as they are written.

    Args:
        given: Text: numbers from 0 to 1 or ``FIRST:LAST:STEP`` (LAST included where a step ends there),
            several parted by commas. Or numbers.
        name: What they are, for messages.

    Returns:
        The thresholds, ascending, each once.

    Raises:
        UsageError: They are not so.

    >>> [str(one) for one in parse_thresholds("0.1:0.3:0.1,0.25", "none threshold")]
    ['0.1', '0.2', '0.25', '0.3']
    """
    parts = given.split(",") if isinstance(given, str) else [_written(one, name) for one in given]
    found = sorted({one for part in parts for one in _range(part.strip(), name)})
    if not found:
        raise UsageError(f"{name}: found nothing, expected {_FORM}")
    return tuple(found)


def _written(value: object, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise UsageError(f"{name}: found {shorten(value)}, expected {_FORM}")
    exact = Decimal(str(value))
    return f"{exact:f}" if exact.is_finite() else str(value)


def _range(text: str, name: str) -> list[Decimal]:
    parts = text.split(":")
    if len(parts) not in {1, 3} or not all(map(_NUMBER.fullmatch, parts)):
        raise UsageError(f"{name}: found {shorten(text)}, expected {_FORM}")
    # Without trailing zeros, so that equal numbers have one text.
    numbers = [Decimal(part) for part in parts]
    if len(numbers) == 1:
        numbers = [numbers[0], numbers[0], Decimal(1)]
    first, last, step = numbers
    if step == 0 or last < first or last > 1:
        raise UsageError(
            f"{name}: found {shorten(text)}, expected FIRST no larger than LAST, a STEP, up to 1"
        )
    count = int((last - first) // step) + 1
    if count > MOST:
        raise UsageError(f"{name}: {shorten(text)} are {count:,} thresholds, expected at most {MOST:,}")
    return [first + number * step for number in range(count)]


def _text(threshold: Decimal) -> str:
    """A threshold's only text: without trailing zeros or an exponent."""
    text = f"{threshold:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_configuration(text: str) -> Plan:
    """Read the name of one configuration.

    Args:
        text: A name as the column ``config`` of a sweep has it: every quota group with one number; with a
            replay also ``none`` and ``winner``, each with one number; and settings that are not the default.
            In any order.

    Returns:
        A plan of exactly that one.

    Raises:
        UsageError: It names no configuration, or leaves open which.

    >>> list(parse_configuration("mcp=4,skill=6,agent=3,command+rule=2").names)
    ['skill=6,mcp=4,agent=3,command+rule=2']
    """
    expected = f"the name of one configuration as a sweep's column config has it, such as {EXAMPLE}"
    known = (*GROUPS, *_THRESHOLDS, *_SETTINGS)
    found: dict[str, str] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or name not in known:
            hint = suggest(name, known)
            raise UsageError(
                f"confirm: unknown: found {shorten(part)}, expected {expected}"
                + (f" ({hint})" if hint else "")
            )
        if name in found:
            raise UsageError(f"confirm: ambiguous: {name} stands there twice; expected {expected}")
        found[name] = value
    required = [*GROUPS, *(_THRESHOLDS if set(_THRESHOLDS) & set(found) else ())]
    open_ones = [name for name in required if name not in found]
    if open_ones:
        raise UsageError(f"confirm: ambiguous: {', '.join(open_ones)} left open; expected {expected}")
    several = [name for name, value in found.items() if ":" in value]
    if several:
        raise UsageError(f"confirm: ambiguous: {several[0]} has a range; expected {expected}")
    quotas = parse_quotas([f"{group}={found[group]}" for group in GROUPS])
    none, winner = (parse_thresholds(found[name], name) if name in found else None for name in _THRESHOLDS)
    return Plan((quotas,), none, winner, _settings(found, expected))


def _settings(found: dict[str, str], expected: str) -> SweepSettings:
    for name in (_WHEN_TO_USE, _HEURISTICS, _UPLOAD):
        if found.get(name, _NO) != _NO:
            raise UsageError(f"confirm: unknown: {name}={found[name]}; expected {name}=no, or not to name it")
    length = found.get(_LENGTH)
    if length is not None and not re.fullmatch(r"[1-9][0-9]{0,8}", length):
        raise UsageError(f"confirm: unknown: {_LENGTH}={length}; expected {expected}")
    return SweepSettings(
        when_to_use=_WHEN_TO_USE not in found,
        heuristics=_HEURISTICS not in found,
        max_prompt_chars=None if length is None else int(length),
        upload_prompts=_UPLOAD not in found,
    )


def plan_of(
    *,
    quotas: Sequence[Quotas] | None,
    none: tuple[Decimal, ...] | None,
    winner: tuple[Decimal, ...] | None,
    settings: SweepSettings,
    confirm: str | None,
    decides: bool,
) -> Plan:
    """The plan of a sweep, or of the one configuration that is to be confirmed.

    Args:
        quotas: The quotas to try; null: the default ones.
        none: The none thresholds to try; null: the default one, if anything is decided.
        winner: The winner floors to try; as well.
        settings: What is the same in all.
        confirm: The name of the only configuration; with it, what else is given must contain it.
        decides: Whether there are recorded answers to judge.

    Raises:
        UsageError: Thresholds or settings are given that nothing depends on; the configuration is unknown,
            ambiguous, or not among those given.
    """
    from skillful_eval.router.thresholds import Thresholds

    told = [name for name, value in (("none threshold", none), ("winner floor", winner)) if value is not None]
    told += [name for name in settings.texts if name != _WHEN_TO_USE]
    if told and not decides:
        raise UsageError(f"{told[0]}: nothing depends on it without recorded answers; give a replay")
    if confirm is None:
        usual = Thresholds()
        defaults = (parse_thresholds([usual.none], "none"), parse_thresholds([usual.winner], "winner"))
        if decides:
            none, winner = none or defaults[0], winner or defaults[1]
        return Plan(tuple(quotas or (Quotas.DEFAULT,)), none, winner, settings)
    plan = parse_configuration(confirm)
    if plan.decides != decides:
        raise UsageError(
            "confirm: ambiguous: with a replay, none= and winner= belong to the name"
            if decides
            else "confirm: none= and winner= judge recorded answers; give the replay that they were chosen on"
        )
    if plan.none is None and set(plan.settings.texts) - {_WHEN_TO_USE}:
        raise UsageError("confirm: its settings concern recorded answers; give the replay")
    given = {"quotas": quotas, "none threshold": none, "winner floor": winner}
    own = {"quotas": plan.quotas[0], "none threshold": plan.none, "winner floor": plan.winner}
    for name, values in given.items():
        one = own[name][0] if isinstance(own[name], tuple) else own[name]  # type: ignore[index]
        if values is not None and one not in values:
            raise UsageError(f"confirm: unknown: its {name} is not among those given; give one or the other")
    if any(plan.settings.texts.get(name) != text for name, text in settings.texts.items()):
        raise UsageError("confirm: unknown: its settings are not those given; give one or the other")
    return plan
