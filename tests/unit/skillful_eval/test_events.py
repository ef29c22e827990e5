from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.events import scan_events
from skillshift.frame.errors import ContractError, InputError

ROUTE = {
    "kind": "route",
    "ts": "2026-01-31T09:30:00.000Z",
    "runtime": "claude-code",
    "sessionId": "s1",
    "promptHash": "9f",
    "promptChars": 12,
    "catalogFingerprint": "sha256:1",
    "candidateCount": 2,
    "candidateIds": ["a", "b"],
    "primary": "a",
    "noneP": 0.1,
    "confidence": 0.75,
    "ranking": [{"id": "a", "noul": 0.5}, {"id": "b", "noul": 1}],
    "decision": "injected",
    "reason": None,
    "latencyMs": 812.5,
    "cacheHit": False,
    "tokensIn": 100,
    "tokensOut": 20,
    "error": None,
}
USE = {"kind": "capability-used", "ts": 1769851860000, "sessionId": "s1", "capabilityId": "a", "via": "tool"}


@pytest.fixture
def log(tmp_path):
    def write(*events):
        path = tmp_path / "events.jsonl"
        lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_a_route_s_fields_are_those_of_a_run(log):
    found = scan_events(log(ROUTE, USE))
    assert found.routes.collect().drop("_file").to_dicts() == [
        {
            "ts": pl.select(pl.datetime(2026, 1, 31, 9, 30, time_zone="UTC")).item(),
            "runtime": "claude-code",
            "session_id": "s1",
            "prompt_hash": "9f",
            "prompt_chars": 12,
            "corpus_fingerprint": "sha256:1",
            "candidate_count": 2,
            "shortlist": ["a", "b"],
            "decision": "injected",
            "primary": "a",
            "reason": None,
            "none_p": 0.1,
            "winner_p": 0.75,
            "latency_ms": 812.5,
            "tokens_in": 100,
            "tokens_out": 20,
            "cache_hit": False,
            "error": None,
            "chosen": "a",
            "scores": [{"id": "a", "score": 0.5}, {"id": "b", "score": 1.0}],
            "_record": 0,
        }
    ]
    (use,) = found.uses.collect().to_dicts()
    assert (use["session_id"], use["capability_id"], use["via"]) == ("s1", "a", "tool")
    assert use["ts"].isoformat() == "2026-01-31T09:31:00+00:00"
    assert (found.lines, found.unreadable_lines) == (2, 0)
    assert found.findings().height == 0


def test_only_what_was_injected_was_chosen(log):
    routes = [ROUTE, ROUTE | {"decision": "skipped"}, ROUTE | {"decision": "degraded", "primary": None}]
    found = scan_events(log(*routes)).routes.collect()
    assert found.select("primary", "chosen").rows() == [("a", "a"), ("a", None), (None, None)]


def test_what_the_log_does_not_say_is_null(log):
    short = {"kind": "route", "ts": "2026-01-31T09:30:00Z", "decision": "skipped"}
    (route,) = scan_events(log(short)).routes.collect().drop("ts", "decision", "_file", "_record").to_dicts()
    assert set(route.values()) == {None}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "json.syntax"),
        ("[1]", "json.object"),
        ('{"kind": "route", "kind": "route", "ts": 1}', "json.duplicate-key"),
        (json.dumps({"ts": 1}), "kind.missing-key"),
        (json.dumps(ROUTE | {"kind": None}), "kind.missing"),
        (json.dumps(ROUTE | {"ts": "2026-01-31T09:30:00"}), "ts.unknown"),
        (json.dumps(ROUTE | {"ts": "2026-02-30T09:30:00Z"}), "ts.unknown"),
        (json.dumps(ROUTE | {"ts": 1769851860}), "ts.unknown"),
        (json.dumps(ROUTE | {"decision": "maybe"}), "decision.unknown"),
        (json.dumps(ROUTE | {"decision": None}), "decision.unknown"),
        (json.dumps(ROUTE | {"primary": None}), "primary.missing"),
        (json.dumps(ROUTE | {"primary": ""}), "primary.missing"),
        (json.dumps(ROUTE | {"latencyMs": -1}), "latencyMs.range"),
        (json.dumps(ROUTE | {"latencyMs": "fast"}), "latencyMs.type"),
        (json.dumps(ROUTE | {"noneP": 1.5}), "noneP.range"),
        (json.dumps(ROUTE | {"confidence": -0.5}), "confidence.range"),
        (json.dumps(ROUTE | {"tokensIn": -1}), "tokensIn.negative"),
        (json.dumps(ROUTE | {"tokensIn": 2**32}), "tokensIn.too-large"),
        (json.dumps(ROUTE | {"tokensIn": 1.5}), "tokensIn.fraction"),
        (json.dumps(ROUTE | {"cacheHit": 1}), "cacheHit.type"),
        (json.dumps(ROUTE | {"candidateIds": "a"}), "candidateIds.type"),
        (json.dumps(ROUTE | {"ranking": "a"}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"id": 1, "noul": 1}]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"id": "a", "noul": True}]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"id": "a", "noul": "1"}]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"noul": 1}]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [None]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"id": "a"}]}), "ranking.type"),
        (json.dumps(ROUTE | {"ranking": [{"id": "a", "noul": None}]}), "ranking.type"),
        (json.dumps({"kind": "capability-used", "ts": 1769851860000}), "capabilityId.missing"),
        (json.dumps(USE | {"capabilityId": ""}), "capabilityId.missing"),
    ],
)
def test_an_unreadable_line_is_left_out_counted_and_told(log, line, code):
    found = scan_events(log(ROUTE, line, USE))
    assert (found.routes.collect().height, found.uses.collect().height) == (1, 1)
    assert (found.lines, found.unreadable_lines) == (3, 1)
    (why,) = found.unreadable.to_dicts()
    assert (why["code"], why["line"]) == (code, 2)
    assert why["file"].endswith("events.jsonl")
    (told,) = found.findings().to_dicts()
    assert (told["code"], told["count"]) == ("events.unreadable", 1)
    assert "1 of 3 lines could not be read" in told["message"]


def test_a_line_with_two_faults_is_one_line(log):
    found = scan_events(log(ROUTE | {"ts": "soon", "decision": "maybe"}))
    assert found.unreadable["code"].to_list() == ["ts.unknown", "decision.unknown"]
    assert found.unreadable_lines == 1
    assert found.routes.collect().height == 0


def test_a_last_line_that_was_cut_is_unreadable(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(ROUTE) + "\n" + json.dumps(ROUTE)[:50], encoding="utf-8")
    found = scan_events(path)
    assert (found.routes.collect().height, found.unreadable_lines) == (1, 1)


def test_several_bad_rankings_among_good_ones(log):
    bad, worse = ROUTE | {"ranking": [{"id": "a", "noul": None}]}, ROUTE | {"ranking": [1]}
    found = scan_events(log(ROUTE, bad, worse, ROUTE | {"ranking": []}, ROUTE | {"ranking": None}))
    assert found.unreadable.select("line", "field").rows() == [(2, "ranking"), (3, "ranking")]
    scores = found.routes.collect()["scores"].to_list()
    assert scores == [[{"id": "a", "score": 0.5}, {"id": "b", "score": 1.0}], [], None]


def test_other_kinds_are_passed_over_and_counted(log):
    found = scan_events(log({"kind": "started", "ts": "whenever"}, ROUTE, {"kind": "started", "ts": 5}))
    assert found.others.rows() == [("started", 2)]
    assert (found.lines, found.unreadable_lines) == (3, 0)
    assert found.findings().select("code", "subject", "count").rows() == [("events.other-kind", "started", 2)]


def test_a_frame_is_read_too():
    frame = pl.DataFrame([ROUTE | {"ranking": [{"id": "a", "noul": 0.5}, {"id": "b", "noul": 1.0}]}])
    found = scan_events(frame)
    assert found.routes.collect()["scores"].to_list()[0][1] == {"id": "b", "score": 1.0}
    bad = scan_events(frame.with_columns(decision=pl.lit("maybe")))
    assert bad.unreadable.select("file", "line").rows() == [(None, 1)]
    assert "the first is row 1 [decision.unknown]" in bad.findings()["message"][0]


def test_what_is_no_log_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such"):
        scan_events(tmp_path / "none.jsonl")
    with pytest.raises(ContractError, match="no such column"):
        scan_events(pl.DataFrame({"kind": ["route"]}))
    with pytest.raises(InputError, match="ranking: found a column of"):
        scan_events(pl.DataFrame([ROUTE | {"ranking": 5}]))
