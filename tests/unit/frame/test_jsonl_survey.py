from __future__ import annotations

import pytest

from skillshift.frame import jsonl_survey
from skillshift.frame.jsonl_survey import plain_logs


@pytest.fixture
def plain(probe):
    def records(*paths):
        """How many records each plain log has, by its name."""
        _, found = plain_logs([str(path) for path in paths], probe)
        return {path.name: found[str(path)] for path in paths if str(path) in found}

    return records


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_plain_logs(put, plain, record, suffix):
    lines = [record(), "", record(name="é\\"), " ", record(count=None)]
    one, two = put(f"1{suffix}", lines), put(f"2{suffix}", "\r\n".join(lines * 2))
    assert plain(one, two) == {one.name: 3, two.name: 6}


def test_what_comes_late_is_learned_too(put, plain, record):
    early = [record()] * 5000
    late = [record(x=1), record(x=1.5), record(run="a"), record(name='"')]
    assert plain(put("1.jsonl", early + late), put("2.jsonl", early)) == {"1.jsonl": 5004, "2.jsonl": 5000}


@pytest.mark.parametrize(
    "odd",
    [
        "{}",
        "nope",
        "# comment",
        "   ",
        '{"name": "a", "flag": true}',
        '{"na\\u006de": "a", "flag": true, "count": 1}',
    ],
)
def test_an_odd_line_sends_its_log_to_the_strict_reader_and_no_other(put, plain, record, odd):
    logs = [
        put("1.jsonl", [record()] * 3),
        put("2.jsonl", [record()] * 4000 + [odd]),
        put("3.jsonl", [record()]),
    ]
    assert plain(*logs) == {"1.jsonl": 3, "3.jsonl": 1}


@pytest.mark.parametrize("content", [b"\xff\n", b"\n\n", b"\xef\xbb\xbf{}", b"\x00"])
def test_a_log_that_polars_cannot_take(put, plain, record, content):
    assert plain(put("1.jsonl", [record()]), put("2.jsonl", content)) == {"1.jsonl": 1}
    assert plain(put("3.jsonl", content)) == {}


def test_shapes_without_end_are_left_to_the_strict_reader(put, plain, record):
    lines = [record(**{f"x{i}": 1}) for i in range(99)]
    assert plain(put("1.jsonl", lines)) == {}
    assert plain(put("2.jsonl", [record()] * 99 + lines)) == {}


def test_the_samples_of_many_logs_are_few(put, probe, record, monkeypatch):
    looked_at = []
    first_lines = jsonl_survey._first_lines
    monkeypatch.setattr(
        jsonl_survey, "_first_lines", lambda path: looked_at.append(path) or first_lines(path)
    )
    logs = [put(f"{i:03}.jsonl", [record()] * (i + 1)) for i in range(100)]
    assert plain_logs([str(path) for path in logs], probe)[1] == {
        str(path): i + 1 for i, path in enumerate(logs)
    }
    assert len(looked_at) <= 17
