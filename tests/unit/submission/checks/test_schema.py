from __future__ import annotations


def test_a_valid_document_passes(check, tree):
    verdict = check("schema", tree)
    assert (verdict.status, verdict.findings) == ("passed", ())


def test_every_problem_is_told_with_its_place(check, tree, changed, codes):
    broken = changed(
        tree, {"submission/date": "x", "metrics/SR/overall": "1", "n/websites/gitlab": ..., "notes": 3}
    )
    assert codes(check("schema", broken)) == [
        ("schema.value", "error", "submission.date"),
        ("schema.value", "error", "metrics.SR.overall"),
        ("schema.missing", "error", "n.websites.gitlab"),
        ("schema.value", "error", "notes"),
    ]


def test_an_unknown_field_is_a_warning_at_every_level(check, tree, changed, codes):
    odd = changed(
        tree, {"x": 1, "submission/model/x": 1, "n/skill_calls/x": 1, "metrics/SR/websites/x": 1, "n/x": {}}
    )
    assert codes(check("schema", odd)) == [
        ("schema.unknown-field", "warning", path)
        for path in ("submission.model.x", "metrics.SR.websites.x", "n.skill_calls.x", "n.x", "x")
    ]


def test_the_other_checks_go_on_where_the_schema_fails(check, tree, changed):
    broken = changed(tree, {"schema_version": "9", "metrics/SR/overall": 99.99})
    assert check("schema", broken).status == "failed"
    assert check("marginals", broken).status == "failed"


def test_a_document_with_nothing_in_it_fails_without_a_crash(check):
    for document in (
        {},
        {"metrics": 3, "n": [], "reasons": "x", "submission": None},
        {"metrics": {"SR": None}},
    ):
        assert check("schema", document).status == "failed"
        assert check("coverage", document).status == "failed"
        for name in ("marginals", "ranges", "receipt", "granularity", "naming"):
            check(name, document)
