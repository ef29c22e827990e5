from __future__ import annotations

import pytest


def test_a_valid_document_passes(check, tree):
    verdict = check("ranges", tree)
    assert verdict.status == "passed"
    assert verdict.unchecked == ()


@pytest.mark.parametrize(
    ("metric", "value", "code"),
    [
        ("SR", -0.01, "ranges.bounds"),
        ("SR", 100.01, "ranges.bounds"),
        ("SFR", 100.01, "ranges.bounds"),
        ("AS", -1, "ranges.bounds"),
        ("ASC", -0.01, "ranges.bounds"),
        ("SR", 36.286, "ranges.decimals"),
        ("AS", 1e300, "ranges.decimals"),
        ("AS", 1e-300, "ranges.decimals"),
    ],
)
def test_a_number_out_of_range_is_told_at_its_place(*, check, tree, changed, codes, metric, value, code):
    verdict = check("ranges", changed(tree, {f"metrics/{metric}/websites/gitlab": value}))
    assert codes(verdict)[0] == (code, "error", f"metrics.{metric}.websites.gitlab")


@pytest.mark.parametrize(
    ("metric", "value"), [("SR", 0), ("SR", 100), ("SFR", 0), ("SFR", 100.0), ("ASC", 0), ("AS", 0.01)]
)
def test_the_ends_of_the_ranges_belong_to_them(check, tree, changed, metric, value):
    assert check("ranges", changed(tree, {f"metrics/{metric}/websites/gitlab": value})).findings == ()


def test_no_step_at_all_is_a_warning(check, tree, changed, codes):
    verdict = check("ranges", changed(tree, {"metrics/AS/websites/gitlab": 0}))
    assert codes(verdict) == [("ranges.no-steps", "warning", "metrics.AS.websites.gitlab")]


@pytest.mark.parametrize(("calls", "flagged"), [(29, True), (30, False)])
def test_a_rate_on_fewer_than_thirty_calls_is_flagged(*, check, tree, changed, codes, calls, flagged):
    verdict = check("ranges", changed(tree, {"n/skill_calls/websites/gitlab": calls}))
    expected = [("ranges.low-count", "warning", "metrics.SFR.websites.gitlab")] if flagged else []
    assert codes(verdict) == expected
    assert not flagged or verdict.findings[0].found.endswith("on 29 skill calls")


def test_a_small_total_flags_every_rate(check, tree, changed):
    verdict = check("ranges", changed(tree, {"n/skill_calls": 29}))
    assert len(verdict.warnings) == 7


def test_a_printed_average_may_prove_that_there_were_few_calls(check, transcribed):
    verdict = check(
        "ranges", transcribed({"metrics/ASC/websites/wordpress": 0.02, "metrics/SFR/websites/wordpress": 5})
    )
    assert [f.path for f in verdict.warnings] == ["metrics.SFR.websites.wordpress"]
    assert "at most 11 skill calls" in verdict.warnings[0].found
    assert any("7 SFR values" in text for text in verdict.unchecked)


def test_ones_own_entry_reports_its_calls(check, tree, changed, codes, without_skills):
    for nothing in (None, "many"):
        verdict = check("ranges", changed(tree, {"n/skill_calls": nothing}))
        assert ("ranges.calls-unreported", "error", "n.skill_calls") in codes(verdict)
    assert check("ranges", changed(tree, {"n/skill_calls": 5000})).errors == ()
    import json

    not_applicable = json.loads(without_skills.results.to_bytes())
    assert not_applicable["n"]["skill_calls"] is None
    assert check("ranges", not_applicable).findings == ()


def test_a_transcribed_entry_need_not_report_calls(check, transcribed):
    assert check("ranges", transcribed()).errors == ()


def test_a_whole_number_is_told_as_a_number(check, tree, changed):
    verdict = check("ranges", changed(tree, {"metrics/SR/overall": 101}))
    assert "found 101, expected" in str(verdict.errors[0])
