"""Keys: which columns may tell configurations apart, in every output and its document."""

from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.coverage import uncovered
from skillful_eval.criteria import Criterion
from skillful_eval.events import scan_events
from skillful_eval.events_rates import event_causes, event_report
from skillful_eval.gating import gate, tried
from skillful_eval.keys import check_names
from skillful_eval.missing import misses
from skillful_eval.rendering.gate_document import gate_document
from skillful_eval.rendering.misses_document import misses_document
from skillful_eval.rendering.report_document import Reported, report_document
from skillful_eval.schema import RUNS, SCORED
from skillful_eval.stability import unstable
from skillful_eval.summary import report
from skillshift.frame.errors import UsageError

OUTPUTS = (report, misses, unstable, uncovered)
ASKED = (Criterion("recall@K", minimum=0.5), Criterion("top1Accuracy", minimum=0.99))


def documents(scored, by):
    frame = report(scored, by)
    verdicts = gate(frame, ASKED)
    yield report_document(Reported.of(scored, frame, 2000))
    yield gate_document(verdicts, scored.provenance, "built in")
    yield misses_document(misses(scored, by), scored)


def undecided(whole):
    """Runs with every kind of row in every output: unstable, uncovered and wrong ones."""
    return [*whole, *(row | {"repeat": 1, "reason": "other"} for row in whole[1:])]


@pytest.mark.parametrize("name", sorted({*SCORED, *RUNS.names} - {"config", "model"}))
def test_what_scoring_or_the_contract_owns_is_no_key(scored_of, whole, name):
    scored = scored_of(*(row | {"latency_ms": 1.0, "tokens_in": 1} for row in whole))
    for output in OUTPUTS:
        with pytest.raises(UsageError, match="by: "):
            output(scored, by=[name])


@pytest.mark.parametrize(
    "name",
    ["most", "longest", "signature", "unanimous", "short_answerable", "hits_", "latency_ns", "first"],
)
def test_a_key_may_be_called_as_a_sum_is(scored_of, whole, name):
    rows = undecided(whole)
    keyed, plain = (scored_of(*(row | {key: "x"} for row in rows)) for key in (name, "router"))
    for output in OUTPUTS:
        found, expected = output(keyed, [name]), output(plain, ["router"])
        assert found.height
        assert found.equals(expected.rename({"router": name}), null_equal=True)
    assert gate(report(keyed, [name]), ASKED).height == len(ASKED)
    assert [one.title for one in documents(keyed, [name])] == ["Routing report", "Gate: failed", "Misses"]


def test_no_column_of_an_output_or_its_document_is_a_key(scored_of, whole):
    scored = scored_of(*(row | {"router": "x"} for row in undecided(whole)))
    by = ["router"]
    verdicts = gate(report(scored, by), ASKED)
    frames = [*(output(scored, by) for output in OUTPUTS), verdicts, tried(verdicts)]
    for document in documents(scored, by):
        frames += [document.rows, *(section.frame for section in document.sections)]
    allowed = set()
    for name in {name for frame in frames for name in frame.columns} - {"router"}:
        try:
            check_names([name])
        except UsageError:
            continue
        allowed.add(name)
    assert not allowed


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_text_is_no_list_of_keys(scored_of, whole, output):
    with pytest.raises(UsageError, match=r"by: found the text 'config', expected a list .* \['config'\]"):
        output(scored_of(*(row | {"config": "a"} for row in whole)), by="config")


@pytest.mark.parametrize("value", [1.5, [1], {"a": 1}])
def test_keys_are_text_whole_numbers_or_flags(scored_of, whole, value):
    scored = scored_of(*(row | {"router": value} for row in whole))
    for output in OUTPUTS:
        with pytest.raises(UsageError, match="by: the column 'router' is of type"):
            output(scored, by=["router"])
    for good in ("x", 7, True):
        assert report(scored_of(*(row | {"router": good} for row in whole)), ["router"])["router"][0] == good


def test_a_report_with_a_key_that_is_none_is_no_report(scored_of, whole):
    frame = report(scored_of(*(row | {"router": "x"} for row in whole)), ["router"])
    for name in ("verdict", "minimum", "blocked_by", "_there"):
        with pytest.raises(UsageError, match="by: "):
            gate(frame.rename({"router": name}), ASKED)


@pytest.mark.parametrize("name", ["decision", "reason", "metric", "_file"])
def test_what_an_event_says_of_itself_tells_no_routers_apart(name):
    events = scan_events(
        pl.DataFrame({"kind": ["route"], "ts": ["2026-01-31T09:30:00Z"], "decision": ["skipped"]})
    )
    for call in (event_report, event_causes):
        with pytest.raises(UsageError, match="expected a list of distinct columns among runtime"):
            call(events, [name])
