from __future__ import annotations

import json

import pytest

from skillshift.submission.checks import validate
from skillshift.submission.checks.naming import file_name, slug


@pytest.fixture
def named(tmp_path):
    def run(tree, name):
        path = tmp_path / name
        path.write_text(json.dumps(tree))
        return next(v for v in validate(path) if v.check == "naming")

    return run


@pytest.mark.parametrize(
    "name",
    ["2026-09-01--mine--gpt-5-mini.json", "2026-09-01--mine--gpt-5.json", "2026-09-01--mine--gpt.json"],
)
def test_a_fitting_name_passes_with_a_model_cut_short(named, tree, name):
    assert named(tree, name).findings == ()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("2026-09-02--mine--gpt-5-mini.json", "submission.date"),
        ("2026-09-01--other--gpt-5-mini.json", "submission.name"),
        ("2026-09-01--mine--gpt-4.json", "submission.model.id"),
        ("2026-09-01--mine--gpt-5-min.json", "submission.model.id"),
        ("2026-09-01--mine--mixed.json", "submission.model.id"),
        ("mine.json", ""),
        ("2026-09-01--Mine--gpt-5-mini.json", ""),
    ],
)
def test_a_name_that_says_something_else_is_a_warning(named, tree, codes, name, path):
    verdict = named(tree, name)
    assert codes(verdict) == [("naming.file", "warning", path)]
    assert verdict.status == "passed"


def test_results_json_says_nothing(named, tree):
    assert named(tree, "results.json").status == "not checked"


def test_mixed_entries_and_odd_names(named, tree, changed):
    mixed = changed(tree, {"submission/model/id": "mixed (A / B)", "submission/name": "Méthode №1"})
    assert named(mixed, "2026-09-01--methode-no1--mixed.json").findings == ()
    assert slug("!!!") == ""
    assert file_name("2026-09-01", "A  B", "X", mixed=True) == "2026-09-01--a-b--mixed.json"
    assert named(changed(tree, {"submission": 3}), "2026-09-01--mine--x.json").findings == ()
