import json
import warnings

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning, NoSuchExample

from skillshift.testing import (
    FAULTS,
    faulty_jsonl,
    frames,
    grids,
    jsonl_bytes,
    logs,
    oracle_cells,
    oracle_marginals,
    oracle_verdict,
    records,
    runs,
    to_frame,
)

QUICK = settings(
    max_examples=500, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


def drawn(strategy, wanted):
    """Whether a strategy makes something of this kind within a few hundred examples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)  # a long log has a long repr
        try:
            find(strategy, wanted, settings=QUICK)
        except NoSuchExample:
            return False
    return True


def on_grids(strategy):
    return grids().flatmap(lambda grid: st.tuples(st.just(grid), strategy(grid)))


@given(st.data())
def test_everything_valid_is_valid(data):
    grid = data.draw(grids())
    assert oracle_verdict([data.draw(records(grid))], grid) is None
    assert oracle_verdict(data.draw(runs(grid)), grid) is None
    assert oracle_verdict(data.draw(logs(grid)), grid) is None


@given(st.data(), st.booleans(), st.booleans())
def test_runs_are_what_was_asked_for(data, complete, skills):
    grid = data.draw(grids())
    run = data.draw(
        runs(grid, complete=complete, skills=skills, errors=False, quiet_cells=False, keys={"run": "r"})
    )
    cells = oracle_cells(run, grid=grid)
    assert all(cell["complete"] for cell in cells) is complete
    assert all(record.get("error") is None or not complete for record in run)
    assert {record["run"] for record in run} == {"r"}
    scored = [record for record in run if record.get("error") is None]
    assert all((record["skill_calls"] is not None) is skills for record in scored)


WANTED = {
    "complete": lambda cells: all(c["complete"] for c in cells),
    "an empty cell": lambda cells: any(c["attempted"] == 0 for c in cells),
    "a partial cell": lambda cells: any(0 < c["scored"] < c["planned"] for c in cells),
    "an errored task": lambda cells: any(c["errored"] > 0 for c in cells),
    "not applicable": lambda cells: any(c["reason"] == "not-applicable" for c in cells),
    "an undefined failure rate": lambda cells: any(c["reason"] == "no-skill-calls" for c in cells),
    "several runs": lambda cells: len({c.get("run") for c in cells}) > 1,
    "two run keys": lambda cells: list(cells[0]).index("website") > 1,
}


@pytest.mark.parametrize("what", WANTED)
def test_logs_reach_every_kind_of_run(what):
    assert drawn(on_grids(logs), lambda pair: WANTED[what](oracle_cells(pair[1], grid=pair[0])))


def test_logs_reach_a_retry_and_a_task_under_two_names():
    def retried(pair):
        names = {}
        for record in pair[1]:
            if record["uid"].startswith("skillshift.") and ".v3." not in record["uid"]:
                index = int(record["uid"].rsplit(".", 1)[1])
                names.setdefault((record["condition"], record["site"], index), set()).add(record["uid"])
        return any(len(uids) > 1 for uids in names.values())

    assert drawn(on_grids(lambda grid: runs(grid, complete=True)), retried)


def test_numbers_reach_flags_and_pooled_values_beside_nulls():
    def both(pair):
        numbers = oracle_marginals(oracle_cells(pair[1], grid=pair[0]))
        return any(n["value"] is None and n["pooled"] is not None and n["low_count"] for n in numbers)

    assert drawn(on_grids(runs), both)


@given(st.data())
def test_frames_hold_the_records(data):
    grid = data.draw(grids())
    log = data.draw(logs(grid))
    frame = to_frame(log)
    assert frame.height == len(log)
    assert [{k: v for k, v in row.items() if v is not None} for row in frame.to_dicts()] == [
        {k: v for k, v in record.items() if v is not None} for record in log
    ]
    assert frame.schema["steps"] == pl.Int64
    assert frame.schema.get("trial", pl.Int64) == pl.Int64
    assert frame.schema.get("run", pl.String) == pl.String
    assert isinstance(data.draw(frames(grid)), pl.DataFrame)


def content(text):
    lines = text.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    return [json.loads(line) for line in lines if line]


@given(st.data())
def test_every_form_of_a_file_says_the_same(data):
    grid = data.draw(grids())
    run = data.draw(runs(grid))
    found = content(data.draw(jsonl_bytes(run)))
    fields = [[{k: r.get(k) for k in (*run[0], "error")} for r in rows] for rows in (found, run)]
    assert fields[0] == fields[1]


FORMS = {
    "a mark": lambda text: text.startswith(b"\xef\xbb\xbf"),
    "Windows line ends": lambda text: b"\r\n" in text,
    "a blank line": lambda text: b"\n\n" in text,
    "no last line end": lambda text: not text.endswith(b"\n"),
    "a float": lambda text: b".0" in text.split(b"steps")[-1],
    "an escape": lambda text: b"\\u" in text,
    "a separator of lines": lambda text: "\u2028".encode() in text,
    "another key": lambda text: b"seed" in text,
    "another order": lambda text: 0 <= text.find(b'"site"') < text.find(b'"uid"'),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_come_in_many_forms(form):
    assert drawn(on_grids(runs).flatmap(lambda pair: jsonl_bytes(pair[1])), FORMS[form])


@given(st.data())
def test_a_fault_stands_where_it_says(data):
    grid = data.draw(grids())
    run = data.draw(runs(grid))
    text, fault = data.draw(faulty_jsonl(run, grid=grid))
    lines = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    written = [n for n, line in enumerate(lines, start=1) if line]
    assert len(written) == len(run)
    record = run[written.index(fault.line)]
    assert lines[fault.line - 1].decode(errors="surrogateescape") == FAULTS[fault.kind].line(record, grid)
    assert (FAULTS[fault.kind].code, FAULTS[fault.kind].field) == (fault.code, fault.field)
    if FAULTS[fault.kind].cut:
        assert fault.line == len(lines)


@given(st.data())
def test_faults_can_be_chosen(data):
    grid = data.draw(grids())
    _, fault = data.draw(faulty_jsonl(data.draw(runs(grid)), grid=grid, kinds=[FAULTS["comment"]]))
    assert fault.kind == "comment"
