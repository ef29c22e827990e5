"""Hypothesis strategies for corpora, fixtures, routing runs, event logs, and files with one fault.

Everything is small, so that a test is quick: at most eight entries, five fixtures and three repeats. What
the strategies make is valid unless its name says otherwise, and made of plain records, for
:func:`skillful_eval.testing.oracle_report` as for :func:`skillful_eval.testing.to_runs`.

Hypothesis comes with the ``test`` extra: ``pip install 'skillshift[test]'``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from skillful_eval.events_schema import RANKING, ROUTE, USE
from skillful_eval.schema import CONFIG, DECISIONS, GROUPS, INJECTED, KINDS, LATENCY_REASONS, NONE
from skillful_eval.testing.files import faulty_corpora, faulty_jsonl, jsonl_bytes
from skillful_eval.testing.needs import st

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

    Record = dict[str, Any]

__all__ = [
    "Evaluation",
    "corpora",
    "evaluations",
    "events",
    "faulty_corpora",
    "faulty_jsonl",
    "fixtures",
    "jsonl_bytes",
    "runs",
]

MAX_ENTRIES = 8
MAX_FIXTURES = 5
MAX_REPEATS = 3
MAX_SHORTLIST = 6

# Spellings of one name, names that differ in a letter, and one that is what another entry's id may be.
_NAMES = st.sampled_from(
    ("ops:Undo", "ops-undo", "OPS-UNDO", "plan", "Plan", "plans", "db", "café", "thiết kế", "a:db")
)
_RUNTIMES = ("a", "b", "claude-code")
_DESCRIPTIONS = st.sampled_from(("Does it.", "", "[redacted]", "dòng 1\ndòng 2", 'says "no"'))
_PROMPTS = st.sampled_from(("undo it", "thanks", "hoàn tác", "plan, then build", "# not a comment", "ok"))
_GROUPS = st.sampled_from((*GROUPS[:2], GROUPS[-1], "my own"))
_REASONS = st.sampled_from(("below-threshold", "timeout", "none won", None))
# Among the latencies, whole ones that a budget may be, so that ties with it are met.
_LATENCIES = st.sampled_from((0.0, 12.5, 1_000.0, 2_000.0)) | st.integers(0, 5_000_000).map(
    lambda thousandths: thousandths / 1_000
)
_TOKENS = st.sampled_from((None, 0, 7, 1_000))
_PROBABILITIES = st.sampled_from((None, 0.0, 0.25, 1.0))
_ANY, _RARELY = st.booleans(), st.sampled_from((False, False, False, True))
_SPELLINGS = st.sampled_from((str, str.upper, lambda name: name.replace(":", "-")))
_START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


@st.composite
def corpora(draw: DrawFn, /, *, copies: bool | None = None) -> list[Record]:
    """The entries of a corpus, in JSON's fields: 1 to 8, with names that occur again in other spellings.

    Args:
        draw: Comes from Hypothesis.
        copies: Whether some capability has copies under other ids; None: either.
    """
    least = 1 if copies is None else 2
    places = st.tuples(st.sampled_from(_RUNTIMES), _NAMES)
    drawn = draw(st.lists(places, min_size=least, max_size=MAX_ENTRIES, unique=True))
    if copies:
        # One more runtime carries the first capability, so that it has a copy whatever was drawn.
        drawn = [*drawn[: MAX_ENTRIES - 1], ("copy", drawn[0][1])]
    entries: list[Record] = []
    seen: set[str] = set()
    for runtime, name in drawn:
        folded = name.replace(":", "-").lower()
        if copies is False and folded in seen:
            continue
        seen.add(folded)
        entries.append(
            {
                "id": f"{runtime}:{name}",
                "kind": draw(st.sampled_from(KINDS)),
                "name": name,
                "description": draw(_DESCRIPTIONS),
                "runtime": runtime,
            }
        )
    return entries


@st.composite
def fixtures(
    draw: DrawFn,
    /,
    entries: Sequence[Record],
    *,
    abstain: bool | None = None,
    max_fixtures: int = MAX_FIXTURES,
) -> list[Record]:
    """Fixtures of a corpus, at least one: gold by name in any spelling, by id, by several of them, or none.

    Args:
        draw: Comes from Hypothesis.
        entries: The corpus' entries.
        abstain: Whether every fixture must be abstained from, or none; None: some may.
        max_fixtures: The greatest number of fixtures.
    """
    count = draw(st.integers(1, max_fixtures))
    records: list[Record] = []
    for number in range(count):
        must = draw(_RARELY) if abstain is None else abstain
        gold = [NONE] if must else draw(st.lists(_golds(entries), min_size=1, max_size=3))
        record = {"id": f"f{number}", "group": draw(_GROUPS), "prompt": draw(_PROMPTS), "gold": gold}
        records.append(record)
    return records


@st.composite
def _golds(draw: DrawFn, /, entries: Sequence[Record]) -> str:
    entry = draw(st.sampled_from(list(entries)))
    return str(entry["id"]) if draw(_RARELY) else str(draw(_SPELLINGS)(entry["name"]))


@st.composite
def runs(
    draw: DrawFn,
    /,
    entries: Sequence[Record],
    fixtures: Sequence[Record],
    *,
    repeats: int | None = None,
    complete: bool | None = None,
    decisions: Sequence[str] | None = DECISIONS,
    repeated_ids: bool = True,
    config: str | None = None,
) -> list[Record]:
    """The runs of one configuration, at least one, in any order.

    Args:
        draw: Comes from Hypothesis.
        entries: The corpus' entries.
        fixtures: The fixtures.
        repeats: How often each fixture is run; None: 1 to 3 times.
        complete: Whether every fixture is run that often; None: either.
        decisions: The decisions to choose from; None: the configuration only retrieves.
        repeated_ids: Whether an id may stand in a shortlist twice.
        config: The configuration's name; None: runs have none.
    """
    most = draw(st.integers(1, MAX_REPEATS)) if repeats is None else repeats
    whole = draw(_ANY) if complete is None else complete
    measured = draw(st.sampled_from((True, True, None, False)))
    replayed = draw(_RARELY)
    log: list[Record] = []
    for fixture in fixtures:
        count = most if whole else draw(st.integers(0, most))
        for repeat in range(count):
            run = _run(draw, entries, fixture["id"], repeat, decisions, unique=not repeated_ids)
            if measured or (measured is None and draw(_ANY)):
                run["latency_ms"] = draw(_LATENCIES)
            else:
                run["latency_reason"] = draw(st.sampled_from((None, *LATENCY_REASONS)))
            if replayed:
                run["response_index"] = draw(st.sampled_from((None, *range(most))))
            log.append(run)
    if not log:
        log.append(_run(draw, entries, fixtures[0]["id"], 0, decisions, unique=True))
    key = {} if config is None else {CONFIG: config}
    return draw(st.permutations([run | key for run in log]))


def _run(
    draw: DrawFn,
    entries: Sequence[Record],
    fixture: str,
    repeat: int,
    decisions: Sequence[str] | None,
    *,
    unique: bool,
) -> Record:
    ids = st.sampled_from([entry["id"] for entry in entries])
    decision = None if decisions is None else draw(st.sampled_from(list(decisions)))
    injected = decision == INJECTED
    return {
        "fixture_id": fixture,
        "repeat": repeat,
        "shortlist": draw(st.lists(ids, max_size=MAX_SHORTLIST, unique=unique)),
        "decision": decision,
        "chosen": draw(ids) if injected else None,
        "reason": None if injected or decision is None else draw(_REASONS),
        "tokens_in": draw(_TOKENS),
    }


class Evaluation(NamedTuple):
    """What a report is made of, as plain records.

    Attributes:
        entries: The corpus' entries.
        fixtures: The fixtures.
        runs: The runs.
    """

    entries: list[Record]
    fixtures: list[Record]
    runs: list[Record]


@st.composite
def evaluations(
    draw: DrawFn,
    /,
    *,
    configs: int = 0,
    copies: bool | None = None,
    abstain: bool | None = None,
    **options: Any,
) -> Evaluation:
    """A corpus, fixtures and runs that belong together.

    Args:
        draw: Comes from Hypothesis.
        configs: How many configurations there are; 0: one without a name.
        copies: As for :func:`corpora`.
        abstain: As for :func:`fixtures`.
        **options: As for :func:`runs`.
    """
    entries = draw(corpora(copies=copies))
    wanted = draw(fixtures(entries, abstain=abstain))
    names: list[str | None] = [f"config {number}" for number in range(configs)]
    logs = [draw(runs(entries, wanted, config=name, **options)) for name in names or [None]]
    return Evaluation(entries, wanted, [run for log in logs for run in log])


@st.composite
def events(draw: DrawFn, /, *, max_events: int = 10) -> list[Record]:
    """Events of a live router, in the log's fields and in any order: routes, and uses of capabilities.

    Args:
        draw: Comes from Hypothesis.
        max_events: The greatest number of events; there is at least one.
    """
    # Few ids, sessions and minutes, so that uses meet suggestions, also to the second of a window's end.
    ids, sessions = st.sampled_from(("a", "b")), st.sampled_from(("s", "t", None))
    seconds = st.sampled_from((0, 1, 59, 60, 300, 599, 600, 601, 1_200))
    log: list[Record] = []
    for _ in range(draw(st.integers(1, max_events))):
        time = (_START + timedelta(seconds=draw(seconds))).isoformat()
        event: Record = {"ts": time, "sessionId": draw(sessions), "runtime": "claude-code"}
        if draw(_ANY):
            log.append(event | {"kind": USE, "capabilityId": draw(ids), "via": "tool"})
            continue
        decision = draw(st.sampled_from(DECISIONS))
        primary = draw(ids) if decision == INJECTED else draw(st.none() | ids)
        log.append(
            event
            | {
                "kind": ROUTE,
                "decision": decision,
                "primary": primary,
                "candidateIds": draw(st.lists(ids, max_size=2, unique=True)),
                "reason": None if decision == INJECTED else draw(_REASONS),
                "noneP": draw(_PROBABILITIES),
                "latencyMs": draw(st.sampled_from((None, 0.0, 12.5, 2_000.0, 2_000.5))),
                "cacheHit": draw(st.sampled_from((None, True, False))),
                RANKING: [{"id": "a", "noul": 0.5}],
            }
        )
    return log
