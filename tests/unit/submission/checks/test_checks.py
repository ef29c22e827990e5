from __future__ import annotations

import json

from skillshift.submission.checks import FIVE_CHECKS, FURTHER_CHECKS, is_valid, validate, verdicts_to_json


def test_a_submission_of_ones_own_passes_every_check(made):
    verdicts = validate(made.results, made.receipt)
    assert [v.check for v in verdicts] == [*FIVE_CHECKS, *FURTHER_CHECKS]
    assert [v.status for v in verdicts[:5]] == ["passed"] * 5
    assert is_valid(verdicts)


def test_no_check_stops_another(made, tree, changed):
    broken = changed(
        tree,
        {
            "schema_version": "9",
            "reasons/SR": "x",
            "n/websites/gitlab": 1,
            "metrics/AS/overall": -1,
            "harness_version": "x",
        },
    )
    verdicts = validate(json.dumps(broken).encode(), made.receipt)
    assert [v.status for v in verdicts[:5]] == ["failed"] * 5
    assert not is_valid(verdicts)


def test_a_method_without_skills_passes_too(without_skills):
    verdicts = validate(without_skills.results, without_skills.receipt)
    assert is_valid(verdicts)
    assert not [f for v in verdicts for f in v.findings]


def test_verdicts_as_json(made):
    document = json.loads(verdicts_to_json(validate(made.results)))
    assert document["valid"] is False
    receipt = next(c for c in document["checks"] if c["check"] == "receipt")
    assert receipt["findings"][0]["code"] == "receipt.missing"
