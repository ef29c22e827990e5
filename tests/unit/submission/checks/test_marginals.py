from __future__ import annotations

import pytest


def test_a_valid_document_passes(check, tree, transcribed):
    assert check("marginals", tree).findings == ()
    assert check("marginals", transcribed()).findings == ()


def test_every_wrong_count_is_told(check, tree, changed, codes):
    broken = changed(tree, {"n/websites/gitlab": 161, "n/conditions/src": 354, "n/conditions/tgt": 355.0})
    assert codes(check("marginals", broken)) == [
        ("marginals.count", "error", path)
        for path in ("n.websites.gitlab", "n.conditions.src", "n.conditions.tgt")
    ]


TEN = ["gitlab", "magento", "wordpress", "src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec"]


def printed(metric, websites, conditions, overall):
    sides = {
        "websites": zip(TEN[:3], websites, strict=True),
        "conditions": zip(TEN[3:], conditions, strict=True),
    }
    changes = {
        f"metrics/{metric}/{side}/{name}": value for side, pairs in sides.items() for name, value in pairs
    }
    return changes | {f"metrics/{metric}/overall": overall}


def test_within_what_two_decimals_allow_the_identity_holds(check, transcribed):
    # SkillWeaver's printed SFR: the websites average to 1.98, and overall is printed 1.97.
    printed_sfr = printed("SFR", (4.61, 1.11, 0.21), (0.0, 0.41, 0.0, 2.03, 4.24, 5.17), 1.97)
    document = transcribed({**printed_sfr, "reasons": {}})
    assert check("marginals", document).findings == ()


@pytest.mark.parametrize(
    ("websites", "overall", "holds"),
    # 10, 10 and 10.02 average to 10.00667, so overall may be printed 0.01 higher at most.
    [((10, 10, 10.02), 10.01, True), ((10, 10, 10.02), 10.02, False), ((10, 10, 10.03), 10.02, True)],
)
def test_the_identity_is_decided_exactly_at_its_edge(check, transcribed, websites, overall, holds):
    document = transcribed(printed("SR", websites, (overall,) * 6, overall))
    assert (check("marginals", document).status == "passed") is holds


@pytest.mark.parametrize(
    ("path", "blamed"),
    [
        ("metrics/SR/websites/gitlab", "metrics.SR.websites"),
        ("metrics/SR/conditions/src", "metrics.SR.conditions"),
        ("metrics/SR/overall", "metrics.SR.overall"),
    ],
)
def test_the_side_that_disagrees_is_named(*, check, tree, changed, codes, path, blamed):
    verdict = check("marginals", changed(tree, {path: 1.23}))
    assert codes(verdict) == [("marginals.identity", "error", blamed)]


def test_each_metric_is_checked(check, tree, changed, codes):
    paths = [f"metrics/{metric}/overall" for metric in ("SR", "AS", "ASC")]
    verdict = check("marginals", changed(tree, dict.fromkeys(paths, 77)))
    assert [path for code, _, path in codes(verdict) if code == "marginals.identity"] == [
        path.replace("/", ".") for path in paths
    ]


def without(metric, names, group):
    return {f"metrics/{metric}/{group}/{name}": None for name in names}


def test_a_transcribed_entry_may_lack_a_side_and_the_others_are_checked(check, transcribed, codes):
    table3 = {**without("SR", TEN[:3], "websites"), "reasons/SR": "Table 3 prints no websites."}
    verdict = check("marginals", transcribed(table3))
    assert (verdict.findings, verdict.unchecked[0]) == ((), "SR: the identity without websites")
    slipped = check("marginals", transcribed({**table3, "metrics/SR/overall": 1}))
    assert codes(slipped) == [("marginals.identity", "error", "metrics.SR")]


def test_without_a_reason_or_in_ones_own_entry_a_missing_side_is_a_contradiction(
    check, transcribed, tree, changed, codes
):
    side = without("SR", TEN[:3], "websites")
    expected = [("marginals.null-pattern", "error", "metrics.SR")]
    assert codes(check("marginals", transcribed(side))) == expected
    assert codes(check("marginals", changed(tree, {**side, "reasons/SR": "lost"}))) == expected


@pytest.mark.parametrize("path", ["websites/gitlab", "conditions/src", "overall"])
def test_one_null_among_numbers_is_a_contradiction(check, transcribed, path):
    document = transcribed({f"metrics/AS/{path}": None, f"reasons/AS.{path.replace('/', '.')}": "lost"})
    expected = (
        [] if path == "overall" else ["marginals.null-pattern"]
    )  # overall alone may not have been printed
    assert [f.code for f in check("marginals", document).findings] == expected


def test_a_number_among_nulls_is_a_contradiction(check, tree, changed, codes):
    broken = changed(tree, {"metrics/SFR/overall": 30.0})
    assert codes(check("marginals", broken)) == [("marginals.null-pattern", "error", "metrics.SFR")]


def test_calls_add_up_both_ways(check, tree, changed, codes):
    for side, name in (("websites", "gitlab"), ("conditions", "src")):
        calls = tree["n"]["skill_calls"][side][name]
        broken = changed(tree, {f"n/skill_calls/{side}/{name}": calls + 1})
        assert ("marginals.calls-sum", "error", f"n.skill_calls.{side}") in codes(check("marginals", broken))


def test_an_average_agrees_with_its_calls(check, tree, changed, codes):
    calls = tree["n"]["skill_calls"]
    shifted = {
        "n/skill_calls/websites/gitlab": calls["websites"]["gitlab"] + 30,
        "n/skill_calls/websites/magento": calls["websites"]["magento"] - 30,
    }
    assert [path for _, _, path in codes(check("marginals", changed(tree, shifted)))] == [
        "metrics.ASC.websites.gitlab",
        "metrics.ASC.websites.magento",
        "metrics.ASC.overall",
    ], "a website's call weighs more where there are fewer tasks"
    crowded = changed(tree, {"n/skill_calls/conditions/src": 355 * 3, "n/skill_calls/conditions/tgt": 0})
    paths = [path for _, _, path in codes(check("marginals", crowded))]
    assert "metrics.ASC.conditions.src" in paths
    assert "metrics.ASC.conditions.tgt" in paths


def test_a_total_agrees_with_the_printed_averages(check, tree, changed, codes):
    total = tree["n"]["skill_calls"]["overall"]
    assert check("marginals", changed(tree, {"n/skill_calls": total})).findings == ()
    for wrong in (total - 30, total + 30):
        verdict = check("marginals", changed(tree, {"n/skill_calls": wrong}))
        assert codes(verdict) == [("marginals.calls-total", "error", "n.skill_calls")]


def test_of_an_entry_that_pools_models_calls_are_not_compared(check, tree, changed):
    verdict = check("marginals", changed(tree, {"n/skill_calls": 5, "submission/model/id": "mixed (a / b)"}))
    assert verdict.findings == ()
    assert any("pools several models" in text for text in verdict.unchecked)


def test_where_two_sides_could_be_the_odd_one_the_metric_is_named(check, transcribed, codes):
    # The conditions meet the websites and overall, which miss each other.
    document = transcribed(printed("SR", (10.0,) * 3, (10.01,) * 6, 10.02))
    assert codes(check("marginals", document)) == [("marginals.identity", "error", "metrics.SR")]
