from __future__ import annotations

import pytest

from skillshift.frame.errors import InputError
from skillshift.submission.checks import validate

DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def official(receipt_tree):
    return receipt_tree["env_digests"]


def test_a_fitting_receipt_passes(check, tree, receipt_tree, official):
    verdict = check("receipt", tree, receipt_tree, official)
    assert (verdict.status, verdict.findings, verdict.unchecked) == ("passed", (), ())


def test_ones_own_entry_needs_one(check, tree, codes):
    assert codes(check("receipt", tree)) == [("receipt.missing", "error", "receipt")]


def test_a_transcribed_entry_needs_none_but_one_that_is_given_is_checked(check, transcribed, receipt_tree):
    assert check("receipt", transcribed()).status == "not checked"
    verdict = check("receipt", transcribed({"metrics/SR/overall": 1}, keep_calls=True), receipt_tree)
    assert verdict.status == "failed"


@pytest.mark.parametrize(
    "path",
    [
        "metrics/SR/websites/gitlab",
        "metrics/SFR/overall",
        "n/websites/magento",
        "n/skill_calls/conditions/src",
    ],
)
@pytest.mark.parametrize("value", [12.34, None, ..., True])
def test_every_number_must_be_the_receipts(*, check, tree, receipt_tree, changed, codes, path, value):
    old = tree
    for key in path.split("/"):
        old = old[key]
    verdict = check("receipt", changed(tree, {path: value}), receipt_tree)
    expected = [] if old is value else [("receipt.aggregate", "error", path.replace("/", "."))]
    assert codes(verdict) == expected


def test_a_number_may_be_written_otherwise(check, tree, receipt_tree, changed):
    assert check("receipt", changed(tree, {"n/websites/gitlab": 162.0}), receipt_tree).findings == ()


@pytest.mark.parametrize(
    ("field", "value"), [("name", "Other"), ("date", "2026-09-02"), ("model/id", "gpt-6")]
)
def test_the_receipt_is_of_this_submission(*, check, tree, receipt_tree, changed, field, value):
    verdict = check("receipt", changed(tree, {f"submission/{field}": value}), receipt_tree)
    assert [f.code for f in verdict.findings] == ["receipt.other-submission"]


def test_every_cell_has_the_official_count(check, tree, receipt_tree, changed, codes):
    broken = changed(receipt_tree, {"n_per_cell/gitlab/src": 161, "n_per_cell/wordpress/tgt": ...})
    assert codes(check("receipt", tree, broken)) == [
        ("receipt.count", "error", "receipt.n_per_cell.gitlab.src"),
        ("receipt.count", "error", "receipt.n_per_cell.wordpress.tgt"),
    ]
    few = changed(receipt_tree, {"per_task_commitment/records": 2129})
    assert codes(check("receipt", tree, few)) == [
        ("receipt.records", "error", "receipt.per_task_commitment.records")
    ]


@pytest.mark.parametrize(
    ("path", "value"), [("gitlab/later", 12), ("shop", {"src": 12}), ("shop", {}), ("shop", 12)]
)
def test_a_count_of_an_unknown_cell(*, check, tree, receipt_tree, changed, path, value):
    verdict = check("receipt", tree, changed(receipt_tree, {f"n_per_cell/{path}": value}))
    told = [f.path for f in verdict.errors if f.code == "receipt.count"]
    inner = ".src" if value == {"src": 12} else ""
    assert told == [f"receipt.n_per_cell.{path.replace('/', '.')}{inner}"]


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("skillshift 9.0.0", "receipt.version"),
        ("skillshift 0.99.0", "receipt.version"),
        ("n/a", "receipt.version"),
        ("skillshift 0.0.1", None),
    ],
)
def test_versions(*, check, tree, receipt_tree, changed, version, code):
    verdict = check(
        "receipt",
        changed(tree, {"harness_version": version}),
        changed(
            receipt_tree,
            {"harness_version": version, "software/skillshift": version.removeprefix("skillshift ")},
        ),
    )
    assert [f.code for f in verdict.findings if f.code != "receipt.software"] == ([code] if code else [])
    assert ("receipt.software" in [f.code for f in verdict.findings]) is (version == "n/a")


def test_the_receipts_software_is_its_harness(check, tree, receipt_tree, changed, codes):
    verdict = check("receipt", tree, changed(receipt_tree, {"software/skillshift": "9.9.9"}))
    assert codes(verdict) == [("receipt.software", "error", "receipt.software.skillshift")]


def test_the_document_and_the_receipt_name_one_harness(check, tree, receipt_tree, changed):
    verdict = check("receipt", changed(tree, {"harness_version": "skillshift 0.0.1"}), receipt_tree)
    assert [f.code for f in verdict.findings] == ["receipt.harness"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("receipt_version", "2"),
        ("per_task_commitment/form", "skillshift per-task form 2"),
        ("per_task_commitment/digest", "sha256:0"),
        ("per_task_commitment", ...),
        ("aggregate", ...),
        ("n_per_cell", ...),
        ("env_digests/gitlab-v12", "0" * 64),
        ("logs", None),
    ],
)
def test_a_receipt_that_does_not_fit_its_schema_fails_at_its_place(
    *, check, tree, receipt_tree, changed, path, value
):
    verdict = check("receipt", tree, changed(receipt_tree, {path: value}))
    assert verdict.errors[0].path == f"receipt.{path.replace('/', '.')}"
    assert verdict.errors[0].code == ("receipt.field-missing" if value is ... else "receipt.value")


def test_without_digests_it_says_that_they_were_not_checked(check, tree, receipt_tree, official):
    assert "no official digests given" in check("receipt", tree, receipt_tree).unchecked[0]
    unpublished = dict.fromkeys(official) | {"magento-v19": None}
    verdict = check("receipt", tree, receipt_tree, unpublished)
    assert (verdict.findings, verdict.unchecked) == (
        (),
        ("env_digests: no official digest yet for gitlab-v12, magento-v19",),
    )


def test_another_environment_fails_and_an_unknown_one_warns(
    *, check, tree, receipt_tree, changed, codes, official
):
    other = check("receipt", tree, receipt_tree, {"gitlab-v12": DIGEST})
    assert codes(other) == [("receipt.digest", "error", "receipt.env_digests.gitlab-v12")]
    more = check("receipt", tree, receipt_tree, {**official, "magento-v19": DIGEST})
    assert codes(more) == [("receipt.digest", "error", "receipt.env_digests.magento-v19")]
    extra = check("receipt", tree, changed(receipt_tree, {"env_digests/mine": DIGEST}), official)
    assert codes(extra) == [("receipt.digest-unknown", "warning", "receipt.env_digests.mine")]


def test_a_hostile_receipt_is_refused(made):
    with pytest.raises(InputError, match="levels of nesting"):
        validate(made.results, b'{"a":' + b"[" * 10_000)


def test_true_is_not_1(check, tree, receipt_tree, changed, codes):
    one = changed(receipt_tree, {"aggregate/metrics/ASC/overall": 1})
    verdict = check("receipt", changed(tree, {"metrics/ASC/overall": True}), one)
    assert codes(verdict) == [("receipt.aggregate", "error", "metrics.ASC.overall")]
