from __future__ import annotations

import pytest


def test_a_valid_document_passes(check, tree, transcribed):
    assert check("coverage", tree).findings == ()
    assert check("coverage", transcribed()).findings == ()


def test_a_missing_slot_and_an_unknown_one(check, tree, changed, codes):
    broken = changed(
        tree, {"metrics/SR/websites/gitlab": ..., "metrics/AS/conditions/reddit": 1, "metrics/ASC": 4}
    )
    found = codes(check("coverage", broken))
    assert ("coverage.slot-missing", "error", "metrics.SR.websites.gitlab") in found
    assert ("coverage.slot-unknown", "error", "metrics.AS.conditions.reddit") in found
    assert sum(code == "coverage.slot-missing" for code, _, _ in found) == 11, "ASC lacks all ten"


@pytest.mark.parametrize("place", ["n", "n/skill_calls"])
@pytest.mark.parametrize("slot", ["websites/shop", "conditions/later"])
def test_a_count_of_an_unknown_slot(*, check, tree, changed, codes, place, slot):
    verdict = check("coverage", changed(tree, {f"{place}/{slot}": 12}))
    path = f"{place}/{slot}".replace("/", ".")
    assert codes(verdict) == [("coverage.slot-unknown", "error", path)]


def test_a_null_needs_a_reason_by_metric_or_by_slot(check, transcribed, codes):
    bare = transcribed({"metrics/AS/overall": None})
    assert codes(check("coverage", bare)) == [("coverage.null-without-reason", "error", "metrics.AS.overall")]
    for key in ("AS", "AS.overall"):
        assert (
            check(
                "coverage", transcribed({"metrics/AS/overall": None, f"reasons/{key}": "not printed"})
            ).findings
            == ()
        )


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("SR", "coverage.reason-without-null"),
        ("SFR.websites.gitlab", "coverage.reason-without-null"),
        ("SFR.websites", "coverage.reason-unknown"),
        ("sfr", "coverage.reason-unknown"),
        ("SFR.overall.x", "coverage.reason-unknown"),
        ("SR.websites.reddit", "coverage.reason-unknown"),
    ],
)
def test_a_reason_needs_a_null(*, check, tree, changed, codes, key, code):
    verdict = check("coverage", changed(tree, {f"reasons/{key}": "because"}))
    assert codes(verdict) == [(code, "error", f"reasons.{key}")]


def test_a_blank_reason_explains_nothing(check, tree, changed, codes):
    verdict = check("coverage", changed(tree, {"reasons/SFR.overall": " "}))
    assert codes(verdict) == [("coverage.reason-blank", "error", "reasons.SFR.overall")]


def test_no_calls_by_the_counts_needs_a_null_rate(check, tree, changed, codes):
    broken = changed(
        tree,
        {
            "metrics/SFR/websites/wordpress": 0,
            "reasons/SFR.websites.wordpress": ...,
            "n/skill_calls/websites/wordpress": 0,
        },
    )
    verdict = check("coverage", broken)
    assert codes(verdict) == [("coverage.rate-without-calls", "error", "metrics.SFR.websites.wordpress")]
    assert "no skill ever failed" in verdict.findings[0].why


@pytest.mark.parametrize(("calls", "fails"), [(5, True), (6, False)])
def test_a_websites_rate_needs_a_call_in_each_of_its_six_cells(check, tree, changed, calls, fails):
    verdict = check("coverage", changed(tree, {"n/skill_calls/websites/gitlab": calls}))
    assert bool(verdict.errors) is fails


def test_a_total_of_no_calls_leaves_no_rate(check, tree, changed):
    verdict = check("coverage", changed(tree, {"n/skill_calls": 0}))
    rates = [f.path for f in verdict.errors if f.code == "coverage.rate-without-calls"]
    assert len(rates) == 7, "three of the ten are null"


@pytest.mark.parametrize(
    ("total", "model", "slots"),
    [
        (18, "one", []),
        (17, "one", ["overall"]),
        (5, "one", ["websites.gitlab", "websites.magento", "overall"]),
        (17, "mixed (a / b)", []),
    ],
)
def test_a_total_too_small_for_the_cells_of_a_rate_leaves_none(
    *, check, transcribed, codes, total, model, slots
):
    rate = {"metrics/SFR/overall": 20.0, "reasons/SFR.overall": ..., "submission/model/id": model}
    verdict = check("coverage", transcribed({**rate, "n/skill_calls": total}))
    assert codes(verdict) == [
        ("coverage.rate-without-calls", "error", f"metrics.SFR.{slot}") for slot in slots
    ]


def test_an_average_is_a_number_where_calls_were_counted(check, tree, changed, codes):
    broken = changed(tree, {"metrics/ASC/websites/wordpress": None, "reasons/ASC.websites.wordpress": "none"})
    verdict = check("coverage", broken)
    assert codes(verdict) == [("coverage.average-null-with-count", "error", "metrics.ASC.websites.wordpress")]


def test_a_rate_beside_a_printed_zero_is_a_warning_where_only_that_is_known(check, transcribed, codes):
    walt = {"metrics/ASC/websites/gitlab": 0.0, "metrics/SFR/websites/gitlab": 0.0}
    verdict = check("coverage", transcribed(walt))
    assert codes(verdict) == [("coverage.rate-beside-zero-average", "warning", "metrics.SFR.websites.gitlab")]
    assert "at most 4 calls, fewer than the 6 cells" in verdict.findings[0].why
    pooled = check("coverage", transcribed({**walt, "submission/model/id": "mixed (a / b)"}))
    assert "may hide up to 0.005 calls a task" in pooled.findings[0].why


def test_a_complete_run_of_ones_own_has_no_null_success_rate(check, tree, changed, codes):
    broken = changed(tree, {"metrics/SR/websites/gitlab": None, "reasons/SR": "incomplete"})
    assert codes(check("coverage", broken)) == [
        ("coverage.incomplete-run", "error", "metrics.SR.websites.gitlab")
    ]


def test_a_run_of_ones_own_has_no_rate_without_an_average(check, tree, changed, codes):
    broken = changed(
        tree,
        {"n/skill_calls": None, "metrics/ASC/websites/gitlab": None, "reasons/ASC.websites.gitlab": "lost"},
    )
    assert codes(check("coverage", broken)) == [
        ("coverage.rate-without-average", "error", "metrics.SFR.websites.gitlab")
    ]
