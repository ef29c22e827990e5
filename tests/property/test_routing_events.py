"""Events of a live router against the oracle, in any order and however a log is split."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval import testing as sst

FEW = settings(max_examples=settings().max_examples // 3)
WINDOWS = st.sampled_from([timedelta(minutes=10), timedelta(seconds=1), timedelta(seconds=599)])


def told(report):
    """By metric, what the oracle tells too."""
    rows = report.to_dicts()
    return {
        row["metric"]: (row["value"], row["numerator"], row["denominator"], row["reason"]) for row in rows
    }


@given(sst.events(), WINDOWS)
def test_the_rates_are_the_oracle_s(log, window):
    found = told(se.event_report(sst.to_events(log), window=window))
    for metric, (value, *parts) in sst.oracle_event_report(log, window=window).items():
        assert found[metric] == (None if value is None else pytest.approx(float(value)), *parts), metric


@given(sst.events(), WINDOWS)
def test_each_suggestion_is_accepted_as_the_oracle_says(log, window):
    found = se.acceptances(sst.to_events(log), window=window)["accepted"].to_list()
    assert found == sst.oracle_acceptances(log, window=window)


@FEW
@given(sst.events(), st.randoms(use_true_random=False), st.integers(0, 10))
def test_order_and_split_of_a_log_change_no_byte(tmp_path_factory, log, chance, cut):
    folder = tmp_path_factory.mktemp("events")
    shuffled = list(log)
    chance.shuffle(shuffled)
    # Neither part may be empty: an empty log is refused.
    cut = min(cut, len(shuffled) - 1)
    for name, part in (("a", shuffled[:cut]), ("b", shuffled[cut:])):
        if part:
            text = "".join(f"{json.dumps(event)}\n" for event in part)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    split, whole = se.scan_events(folder), sst.to_events(log)
    assert split.unreadable.is_empty()
    assert split.lines == whole.lines == len(log)
    for made in (se.event_report, se.event_causes):
        assert made(split).write_json() == made(whole).write_json()
