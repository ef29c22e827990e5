"""A slow, plain second implementation of the report, in exact fractions: what a report must say.

It reads records, not frames, resolves gold by itself, and shares no arithmetic with the package.

>>> entries = [{"id": "a", "kind": "skill", "name": "undo"}, {"id": "b", "kind": "skill", "name": "plan"}]
>>> fixtures = [{"id": "f", "group": "g", "prompt": "undo it", "gold": ["undo"]}]
>>> run = {"fixture_id": "f", "repeat": 0, "shortlist": ["b", "b", "a"], "decision": "skipped"}
>>> [row["value"] for row in oracle_report(entries, fixtures, [run]) if row["metric"] == "MRR"][0]
Fraction(1, 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from skillful_eval.schema import CONFIG, DECISIONS, DEGRADED, INJECTED, KINDS, REPLAYED, SKIPPED
from skillful_eval.testing.facts import Expected, Run, expectations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Record = Mapping[str, Any]
    Count = Callable[[Run], "int | Fraction"]

_ANSWERABLE, _ABSTAIN = "answerable", "abstain"
_BOTH: Final = (_ANSWERABLE, _ABSTAIN)


@dataclass(frozen=True, slots=True)
class _Ratio:
    """What a run adds above and below the line, over which fixtures; and why there may be no value."""

    top: Count
    bottom: Count
    over: tuple[str, ...] = _BOTH
    layer: str = "decision"
    empty: str = "nothing-counted"


def _is(run: Run, population: str, *decisions: str) -> int:
    return int(run.answerable == (population == _ANSWERABLE) and run.decision in decisions)


def _retrieval(top: Count, bottom: Count | None = None) -> _Ratio:
    return _Ratio(
        lambda run: top(run) if run.answerable else 0,
        bottom or (lambda run: int(run.answerable)),
        (_ANSWERABLE,),
        "retrieval",
    )


def _within(k: int) -> _Ratio:
    return _retrieval(lambda run: int(run.rank is not None and run.rank <= k))


def _share(population: str, decision: str) -> _Ratio:
    return _Ratio(
        lambda run: _is(run, population, decision),
        lambda run: _is(run, population, *DECISIONS),
        (population,),
    )


def _told(name: str) -> Count:
    return lambda run: int(run.record.get(name) is not None)


def _tokens(name: str) -> _Ratio:
    return _Ratio(
        lambda run: run.record.get(name) or 0, _told(name), _BOTH, layer="tokens", empty="not-recorded"
    )


def _decided(run: Run) -> int:
    return int(run.decision is not None)


def _true(run: Run) -> int:
    return _is(run, _ABSTAIN, SKIPPED)


def _false(run: Run) -> int:
    return _is(run, _ANSWERABLE, SKIPPED)


def _missed(run: Run) -> int:
    return _is(run, _ABSTAIN, INJECTED, DEGRADED)


def _nanoseconds(run: Run) -> Fraction:
    """The latency in ms, in whole nanoseconds."""
    return Fraction(round(Fraction(run.record.get("latency_ms") or 0) * 10**6), 10**6)


_RATIOS: Final[Mapping[str, _Ratio]] = {
    "recall@K": _retrieval(lambda run: int(run.rank is not None)),
    "MRR": _retrieval(lambda run: Fraction(1, run.rank) if run.rank else 0),
    "goldInShortlistRate": _retrieval(lambda run: run.found, lambda run: len(run.expected.answers)),
    "meanShortlistLength": _retrieval(lambda run: len(run.shortlist)),
    "top1Accuracy": _Ratio(lambda run: int(run.right_pick) + _true(run), _decided),
    "abstentionCorrectness": _Ratio(lambda run: _is(run, _ANSWERABLE, INJECTED) + _true(run), _decided),
    "wrongPickNotOffered": _Ratio(lambda run: int(run.wrong_pick and run.rank is None), _decided),
    "wrongPickOffered": _Ratio(lambda run: int(run.wrong_pick and run.rank is not None), _decided),
    "nonePrecision": _Ratio(_true, lambda run: _true(run) + _false(run), empty="nothing-abstained"),
    "noneRecall": _Ratio(_true, lambda run: _true(run) + _missed(run), (_ABSTAIN,)),
    "noneF1": _Ratio(
        lambda run: 2 * _true(run),
        lambda run: 2 * _true(run) + _false(run) + _missed(run),
        empty="nothing-abstained",
    ),
    "degradedRate": _Ratio(lambda run: int(run.decision == DEGRADED), _decided),
    "offListRate": _Ratio(
        lambda run: int(run.off_list), lambda run: int(run.decision == INJECTED), empty="nothing-picked"
    ),
    **{
        f"{population}{decision.capitalize()}": _share(population, decision)
        for population in _BOTH
        for decision in DECISIONS
    },
    "latencyMean": _Ratio(_nanoseconds, _told("latency_ms"), layer="latency"),
    "tokensInMean": _tokens("tokens_in"),
    "tokensOutMean": _tokens("tokens_out"),
}
"""The metrics that are sums over runs; agreement, percentiles and coverage are taken below."""

_PERCENTILES: Final = {
    "latencyP50": Fraction(50, 100),
    "latencyP95": Fraction(95, 100),
    "latencyP99": Fraction(99, 100),
    "latencyMax": Fraction(1),
}


def oracle_report(
    entries: Iterable[Record],
    fixtures: Iterable[Record],
    runs: Iterable[Record],
    *,
    budget_ms: float = 2000,
) -> list[dict[str, Any]]:
    """Every row that a report must have, in exact arithmetic.

    Args:
        entries: The corpus' entries: ``id``, ``kind``, ``name``.
        fixtures: The fixtures: ``id``, ``group``, ``gold``.
        runs: Valid runs; an absent key is the same as None. Where one has ``config``, it is the key.
        budget_ms: What ``overBudgetRate`` compares latencies with.

    Returns:
        Rows as of :func:`skillful_eval.report` with groups and kinds: ``config`` where runs have it,
        ``scope``, ``metric``, ``value`` and ``numerator`` (Fraction, None where the report has null),
        ``denominator``, ``fixtures``, ``reason``.
    """
    expected = expectations(entries, fixtures)
    by_id = {one.fixture: one for one in expected}
    log = [Run.of(record, by_id[record["fixture_id"]]) for record in runs]
    keyed = any(CONFIG in run.record for run in log)
    rows: list[dict[str, Any]] = []
    for config in sorted({str(run.record[CONFIG]) for run in log}) if keyed else [None]:
        own = [run for run in log if not keyed or str(run.record[CONFIG]) == config]
        key = {CONFIG: config} if keyed else {}
        for scope, members in _scopes(expected).items():
            rows += [{**key, "scope": scope, **row} for row in _Scope(members, own).rows(budget_ms)]
    return rows


def _scopes(fixtures: Sequence[Expected]) -> dict[str, list[Expected]]:
    groups = sorted({one.group for one in fixtures})
    scopes = {"all": list(fixtures)}
    scopes |= {f"group:{group}": [one for one in fixtures if one.group == group] for group in groups}
    kinds = {f"kind:{kind}": [one for one in fixtures if kind in one.kinds] for kind in KINDS}
    return scopes | {scope: members for scope, members in kinds.items() if members}


class _Scope:
    """One configuration's runs of some of the fixtures."""

    def __init__(self, members: Sequence[Expected], of_config: Sequence[Run]) -> None:
        by_fixture: dict[str, list[Run]] = {}
        for run in of_config:
            by_fixture.setdefault(run.expected.fixture, []).append(run)
        self.members = members
        self.of_fixture = [by_fixture.get(one.fixture, []) for one in members]
        self.runs = [run for own in self.of_fixture for run in own]
        self.most = max(len(own) for own in by_fixture.values())
        self.longest = max(len(run.shortlist) for run in of_config)
        self.only_retrieves = all(run.decision is None for run in of_config)

    def rows(self, budget_ms: float) -> Iterator[dict[str, Any]]:
        """The scope's rows, in the order of a report but for their place among other metrics."""
        for name, ratio in _RATIOS.items():
            yield self._ratio(name, ratio)
        for k in range(1, self.longest + 1):
            yield self._ratio(f"recall@{k}", _within(k))
        late = _Ratio(
            lambda run: int((run.record.get("latency_ms") or 0) > budget_ms),
            _told("latency_ms"),
            layer="latency",
        )
        yield self._ratio("overBudgetRate", late)
        for name, q in _PERCENTILES.items():
            yield self._percentile(name, q)
        yield self._agreement()
        yield from self._coverage()

    def _ratio(self, name: str, ratio: _Ratio) -> dict[str, Any]:
        top = sum((Fraction(ratio.top(run)) for run in self.runs), Fraction(0))
        bottoms = [sum(int(ratio.bottom(run)) for run in own) for own in self.of_fixture]
        return self._row(name, ratio, top, sum(bottoms), sum(count > 0 for count in bottoms))

    def _row(self, name: str, ratio: _Ratio, top: Fraction, bottom: int, fixtures: int) -> dict[str, Any]:
        reason = self._reason(ratio, bottom)
        value = None if reason else top / bottom
        return {
            "metric": name,
            "value": value,
            "numerator": top,
            "denominator": bottom,
            "fixtures": fixtures,
            "reason": reason,
        }

    def _percentile(self, name: str, q: Fraction) -> dict[str, Any]:
        row = self._ratio(name, _RATIOS["latencyMean"])
        if row["reason"] is None:
            ordered = sorted(run.record["latency_ms"] for run in self.runs)
            # The least rank that is at least q of them: ceil(n * q) without a float.
            row["value"] = Fraction(ordered[-(-len(ordered) * q.numerator // q.denominator) - 1])
        return row | {"numerator": None}

    def _agreement(self) -> dict[str, Any]:
        counted = [own for own in self.of_fixture if any(run.decision is not None for run in own)]
        choices = [{run.choice for run in own} for own in counted]
        unanimous = sum(len(found) == 1 and None not in found for found in choices)
        rule = _Ratio(_decided, _decided, layer="stability")
        return self._row("agreementRate", rule, Fraction(unanimous), len(counted), len(counted))

    def _coverage(self) -> Iterator[dict[str, Any]]:
        present = sum(bool(own) for own in self.of_fixture)
        whole = sum(len(own) == self.most for own in self.of_fixture)
        rule = _Ratio(_decided, _decided, (), layer="coverage")
        planned = len(self.members) * self.most
        yield self._row("runCoverage", rule, Fraction(len(self.runs)), planned, present)
        yield self._row("fixtureCoverage", rule, Fraction(whole), len(self.members), present)

    def _reason(self, ratio: _Ratio, bottom: int) -> str | None:
        """Why there is no value; the first that holds."""
        counted = [
            own
            for one, own in zip(self.members, self.of_fixture, strict=True)
            if (_ANSWERABLE if one.answers else _ABSTAIN) in ratio.over
        ]
        measured = ratio.layer in ("latency", "tokens")
        stability = ratio.layer == "stability"
        latency = ratio.layer == "latency"
        told = sum(map(_told("latency_ms"), self.runs)) if latency else bottom
        replayed = any(run.record.get("latency_reason") == REPLAYED for run in self.runs)
        cases = {
            f"no-{ratio.over[0] if ratio.over else ''}-fixtures": len(ratio.over) == 1 and not counted,
            "retrieval-only": ratio.layer in ("decision", "stability") and self.only_retrieves,
            "replayed": latency and told == 0 and replayed,
            "not-recorded": measured and bottom == 0,
            "missing-fixtures": not all(counted),
            "missing-repeats": any(len(own) < self.most for own in counted),
            "one-repeat": stability and self.most == 1,
            "reused-responses": stability and any(map(_reuses, self.of_fixture)),
            "unrecorded-responses": stability and any(map(_conceals, self.of_fixture)),
            "partly-recorded": measured and told < len(self.runs),
            ratio.empty: bottom == 0,
        }
        return next((code for code, holds in cases.items() if holds), None)


def _reuses(runs: Sequence[Run]) -> bool:
    """Whether one recorded response answered several of a fixture's runs."""
    answered = [run.record["response_index"] for run in runs if run.record.get("response_index") is not None]
    return len(set(answered)) < len(answered)


def _conceals(runs: Sequence[Run]) -> bool:
    """Whether one of a fixture's picks names no recorded response although another of its runs names one."""
    names = [run.record.get("response_index") is not None for run in runs]
    picks = [run.decision == INJECTED for run in runs]
    return any(names) and any(pick and not named for pick, named in zip(picks, names, strict=True))
