"""Every injected fault is refused, and the refusal names its line, its field and its reason."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillshift as ss
from skillshift.testing import FAULTS, faulty_jsonl, grids, jsonl_bytes, runs

FEW = settings(max_examples=settings().max_examples // 4)
"""Each kind of fault is tried by itself, so a few logs for each are many in all."""

MARK = codecs.BOM_UTF8


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("faults") / "per_task.jsonl"


def lines_of(text):
    """The numbers of the lines with a record."""
    lines = text.removeprefix(MARK).split(b"\n")
    return [n for n, line in enumerate(lines, start=1) if line.strip()]


def refusal(path, grid):
    with pytest.raises(ss.ContractError) as caught:
        ss.cells(ss.scan_per_task(path), grid=grid)
    return caught.value


@pytest.mark.parametrize("kind", FAULTS.values(), ids=lambda kind: kind.name)
@given(st.data())
@FEW
def test_a_fault_is_refused_with_its_line(log, kind, data):
    grid = data.draw(grids())
    text, fault = data.draw(faulty_jsonl(data.draw(runs(grid)), grid=grid, kinds=[kind]))
    log.write_bytes(text)
    error = refusal(log, grid)
    assert {(violation.file, violation.line) for violation in error.violations} == {(str(log), fault.line)}
    assert (fault.code, fault.field) in {
        (violation.code, violation.field if fault.field else None) for violation in error.violations
    }
    assert error.counts[fault.code] == 1


@given(st.data())
def test_a_fault_in_the_second_of_two_logs_is_refused_with_its_file(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("two")
    grid = data.draw(grids())
    first, second = (data.draw(runs(grid, keys={"run": name})) for name in "ab")
    (folder / "a.jsonl").write_bytes(data.draw(jsonl_bytes(first)))
    text, fault = data.draw(faulty_jsonl(second, grid=grid))
    (folder / "b.jsonl").write_bytes(text)
    [place] = {(violation.file, violation.line) for violation in refusal(folder, grid).violations}
    assert place == (str(folder / "b.jsonl"), fault.line)


@given(st.data())
def test_a_valid_log_in_any_form_is_read(log, data):
    grid = data.draw(grids())
    run = data.draw(runs(grid))
    log.write_bytes(data.draw(jsonl_bytes(run)))
    assert ss.cells(ss.scan_per_task(log), grid=grid).height == len(list(grid.cells()))


@given(st.data())
def test_a_log_appended_to_itself_is_refused_with_both_places(log, data):
    grid = data.draw(grids())
    run = data.draw(runs(grid, errors=False, complete=True))
    once = data.draw(jsonl_bytes(run))
    twice = once if once.endswith(b"\n") else once + b"\n"
    log.write_bytes(twice + once.removeprefix(MARK))
    error = refusal(log, grid)
    assert error.counts == {"task.duplicate": len(run)}
    lines = lines_of(log.read_bytes())
    pairs = dict(zip(lines[len(run) :], lines[: len(run)], strict=True))
    for violation in error.violations:
        assert f"{log}:{pairs[violation.line]}" in str(violation)


@given(st.data())
def test_calls_that_are_null_in_part_of_a_run_are_refused_with_their_line(log, data):
    grid = data.draw(grids().filter(lambda grid: grid.tasks > 1))
    run = data.draw(runs(grid, errors=False, complete=True, skills=True))
    at = data.draw(st.integers(0, len(run) - 1))
    run[at] |= {"skill_calls": None, "skill_failures": None}
    log.write_bytes(data.draw(jsonl_bytes(run)))
    error = refusal(log, grid)
    lines = lines_of(log.read_bytes())
    assert error.counts == {"skill_calls.mixed": 1}
    assert [violation.line for violation in error.violations] == [lines[at]]


@pytest.mark.parametrize("text", [b"", b"\n\r\n\n", MARK])
def test_a_log_without_a_record_is_refused(log, text):
    log.write_bytes(text)
    with pytest.raises(ss.InputError, match="record"):
        ss.cells(ss.scan_per_task(log))
