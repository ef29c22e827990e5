"""The published submissions: each goes through unchanged, no check fails, and the warnings are truths."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest

from skillshift.submission.checks import is_valid, validate
from skillshift.submission.document import Results, is_mixed, read_results, write_results
from skillshift.submission.model import json_schema

pytestmark = pytest.mark.reference

UNATTAINABLE = {
    "2026-08-26--asi--claude.json": ["magento"],
    "2026-08-26--asi--deepseek-v3.2.json": ["gitlab"],
    "2026-08-26--asi--gpt-5-mini.json": ["gitlab", "magento"],
    "2026-08-26--awm--claude.json": ["gitlab", "magento"],
    "2026-08-26--awm--deepseek-v3.2.json": [],
    "2026-08-26--awm--gpt-5-mini.json": ["magento"],
    "2026-08-26--skillweaver--claude.json": ["gitlab", "wordpress"],
    "2026-08-26--skillweaver--deepseek-v3.2.json": ["gitlab", "magento"],
    "2026-08-26--skillweaver--gpt-5-mini.json": ["gitlab", "magento", "wordpress"],
    "2026-08-26--walt--claude.json": ["wordpress"],
    "2026-08-26--walt--deepseek-v3.2.json": ["magento"],
    "2026-08-26--walt--gpt-5-mini.json": ["gitlab", "magento", "wordpress"],
    "2026-08-27--mpcr--gpt-5-mini.json": ["gitlab"],
}
"""The websites whose SR complete cells of the official counts cannot average to."""


@pytest.fixture(scope="session")
def documents(reference):
    found = sorted((reference / "leaderboard").glob("*.json"))
    assert len(found) == 18
    return found


@pytest.fixture(scope="session")
def verdicts(documents):
    return {path.name: {v.check: v for v in validate(path)} for path in documents}


def warned(verdicts, check):
    return Counter((name, finding.code) for name, of in verdicts.items() for finding in of[check].warnings)


def test_each_goes_through_unchanged(documents, tmp_path):
    for path in documents:
        results = read_results(path)
        write_results(results, tmp_path / path.name)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        results.submission.name = "Another name"
        changed = json.loads(results.to_bytes())
        original = json.loads(path.read_bytes())
        assert changed["submission"].pop("name") != original["submission"].pop("name")
        assert changed == original


def test_each_fits_the_json_schema(documents):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema(Results))
    for path in documents:
        assert not list(validator.iter_errors(json.loads(path.read_bytes())))


def test_no_check_fails_on_any(verdicts):
    for name, of in verdicts.items():
        assert is_valid(list(of.values())), name
        for check in ("schema", "coverage", "marginals", "ranges", "naming"):
            assert of[check].status == "passed", (name, check)
        assert of["receipt"].status == "not checked"


def test_four_entries_pool_models(documents):
    mixed = [path.name for path in documents if is_mixed(read_results(path).submission.model.id)]
    assert mixed == [f"2026-08-23--{method}--mixed.json" for method in ("asi", "awm", "skillweaver", "walt")]


def test_twelve_of_the_thirteen_per_model_entries_carry_a_rate_that_cannot_occur(verdicts):
    found = {
        name: [f.path.rsplit(".", 1)[1] for f in of["granularity"].warnings]
        for name, of in verdicts.items()
        if name >= "2026-08-26"
    }
    assert found == UNATTAINABLE
    assert sum(bool(websites) for websites in found.values()) == 12
    for name, of in verdicts.items():
        expected = "not checked" if "--mixed" in name else "passed"
        assert of["granularity"].status == expected


def test_rates_beside_a_printed_zero(verdicts):
    assert warned(verdicts, "coverage") == {
        ("2026-08-23--walt--mixed.json", "coverage.rate-beside-zero-average"): 1,
        ("2026-08-26--skillweaver--claude.json", "coverage.rate-beside-zero-average"): 10,
        ("2026-08-26--walt--claude.json", "coverage.rate-beside-zero-average"): 1,
        ("2026-08-26--walt--deepseek-v3.2.json", "coverage.rate-beside-zero-average"): 1,
        ("2026-08-26--walt--gpt-5-mini.json", "coverage.rate-beside-zero-average"): 1,
    }


def test_rates_that_provably_rest_on_few_calls(verdicts):
    assert warned(verdicts, "ranges") == {
        ("2026-08-26--asi--claude.json", "ranges.low-count"): 1,
        ("2026-08-26--asi--gpt-5-mini.json", "ranges.low-count"): 5,
        ("2026-08-26--skillweaver--claude.json", "ranges.low-count"): 10,
        ("2026-08-26--walt--claude.json", "ranges.low-count"): 5,
        ("2026-08-26--walt--deepseek-v3.2.json", "ranges.low-count"): 6,
        ("2026-08-26--walt--gpt-5-mini.json", "ranges.low-count"): 2,
        ("2026-08-27--mpcr--gpt-5-mini.json", "ranges.low-count"): 1,
    }


def test_table_3_has_no_websites_and_the_check_says_so(verdicts):
    of = verdicts["2026-08-23--mpcr--gpt-5-mini.json"]
    assert of["marginals"].unchecked == (
        "SR: the identity without websites",
        "ASC: the identity without websites",
    )


def test_all_of_them_take_well_under_a_second(documents):
    started = time.perf_counter()
    for path in documents:
        validate(path)
    assert time.perf_counter() - started < 1
