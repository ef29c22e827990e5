from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from skillshift.frame.errors import InputError
from skillshift.submission.document import LABELS, Results, is_mixed, read_results, write_results
from skillshift.submission.model import json_schema


def raw_of(tree, **options) -> bytes:
    return json.dumps(tree, ensure_ascii=False, **options).encode()


@pytest.mark.parametrize(
    "options", [{"indent": 2}, {"indent": 4}, {}, {"separators": (",", ":")}, {"sort_keys": True}]
)
def test_an_unchanged_document_is_written_byte_for_byte(tree, tmp_path, options):
    raw = b"\xef\xbb\xbf" + raw_of(tree, **options).replace(b"\n", b"\r\n") + b"\n\n"
    write_results(read_results(raw), tmp_path / "results.json")
    assert (tmp_path / "results.json").read_bytes() == raw


def test_unknown_fields_are_kept_everywhere(tree, changed):
    places = [
        "x",
        "submission/x",
        "submission/method/x",
        "metrics/x",
        "metrics/SR/x",
        "metrics/SR/websites/x",
        "n/x",
        "n/skill_calls/x",
    ]
    raw = raw_of(changed(tree, {place: {"deep": [1.50]} for place in places}), indent=2) + b"\n"
    results = read_results(raw)
    results.submission.name = "Other"
    assert results.to_bytes() == raw.replace(b'"name": "Mine",\n    "date"', b'"name": "Other",\n    "date"')


def test_a_change_touches_nothing_else(made):
    raw = made.results.to_bytes()
    results = read_results(raw)
    results.metrics.SR.websites["gitlab"] = 12.5
    results.n.websites["gitlab"] = 161
    before, after = raw.decode().splitlines(), results.to_bytes().decode().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [new.strip() for _, new in changed] == ['"gitlab": 12.5,', '"gitlab": 161,']


def test_taking_a_change_back_gives_the_bytes_back(tree):
    raw = raw_of(tree)
    results = read_results(raw)
    results.submission.name = "Other"
    assert results.to_bytes() != raw
    results.submission.name = "Mine"
    assert results.to_bytes() == raw


def test_a_copy_is_a_document_of_its_own(tree):
    results = read_results(raw_of(tree))
    other = results.model_copy(deep=True)
    other.submission.name = "Other"
    assert results.submission.name == "Mine"
    assert results.to_bytes() == raw_of(tree)


def test_assignments_are_checked(made):
    results = read_results(made.results.to_bytes())
    with pytest.raises(ValidationError):
        results.submission.date = "yesterday"


def test_nothing_is_written_that_could_not_be_read(made, tmp_path):
    path = tmp_path / "results.json"
    path.write_bytes(b"earlier")
    results = read_results(made.results.to_bytes())
    results.metrics.SR.websites["gitlab"] = "12.5"
    with pytest.raises(InputError, match=r"metrics\.SR\.websites\.gitlab"):
        write_results(results, path)
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_read_only_folder_is_an_input_error(made, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_results(made.results, tmp_path / "absent" / "results.json")


WRONG = {
    "schema_version": ["0.9", 1.0, None],
    "submission/name": [
        "",
        " a",
        "a" * 101,
        "../etc/passwd",
        "a\\b",
        "..",
        "a\nb",
        "a\u202eb",
        "\x1b[2J",
        7,
        None,
    ],
    "submission/date": ["2026-9-1", "2026-02-30", "20260901", "2026-W36-2", "", None, 20260901],
    "submission/method/name": ["", " ", None],
    "submission/method/paper_url": ["javascript:alert(1)", "paper", "http://", 7],
    "submission/method/code_url": ["ftp://a", "https://a b"],
    "submission/model/id": ["", None],
    "submission/model/temperature": ["0.7", True],
    "submission/model/vision": ["yes", 1, 0],
    "submission/provenance/label": ["official", None, ""],
    "submission/provenance/code_released": ["no", 0, None],
    "harness_version": ["", None, 1],
    "metrics/SR/overall": ["36.29", True, [], {}],
    "metrics/SR/websites/gitlab": ["16.9", "", False],
    "metrics/SR/websites": [None, [], {}],
    "metrics/SR": [None, []],
    "n/websites/gitlab": [162.0, "162", -1, None, True],
    "n/skill_calls": ["12", -1, 1.5, True, [], {}],
    "n/skill_calls/websites/gitlab": [-1, 1.0, None],
    "reasons": [None, [], "SFR"],
    "reasons/SFR.overall": [None, 1, ["a"]],
    "notes": [1, []],
}


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_refused_at_its_place(tree, changed, path, value):
    with pytest.raises(InputError, match="should be a Results document") as error:
        read_results(raw_of(changed(tree, {path: value})))
    assert f"error: {path.replace('/', '.')}" in str(error.value)


def leaves(tree, path=""):
    for key, value in tree.items():
        yield path + key
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{key}/")


def test_every_field_is_required(tree, changed):
    required = [path for path in leaves(tree) if not path.startswith("reasons/")]
    for path in required:
        with pytest.raises(InputError, match="found nothing, expected the field") as error:
            read_results(raw_of(changed(tree, {path: ...})))
        assert f"error: {path.replace('/', '.')}: " in str(error.value)


def test_all_problems_are_told_at_once(tree, changed):
    broken = changed(tree, {"submission/date": "x", "metrics/SR/overall": "1", "n": ...})
    with pytest.raises(InputError, match="3 problems"):
        read_results(raw_of(broken))


def test_a_flood_of_problems_is_counted(tree, changed):
    with pytest.raises(InputError, match=r"and 480 more"):
        read_results(raw_of(changed(tree, {"reasons": {f"k{i}": i for i in range(500)}})))


@pytest.mark.parametrize("calls", [None, 0, 812])
def test_skill_calls_may_be_null_or_a_total(tree, changed, calls):
    assert read_results(raw_of(changed(tree, {"n/skill_calls": calls}))).n.skill_calls == calls


def test_html_in_a_name_is_text_and_nothing_else(tree, changed):
    name = "<img src=x onerror=alert(1)>"
    assert read_results(raw_of(changed(tree, {"submission/name": name}))).submission.name == name


def test_the_json_schema_says_what_the_models_say(tree, changed):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema(Results)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(tree))
    for path in (
        "metrics/SR/websites/gitlab",
        "n/conditions/src",
        "submission/method/name",
        "n/skill_calls/overall",
    ):
        assert list(validator.iter_errors(changed(tree, {path: ...}))), path
        assert list(validator.iter_errors(changed(tree, {path: []}))), path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (path, value)
        for path in ("submission/name", "submission/date", "submission/method/name", "submission/model/id")
        for value in WRONG[path]
        if value not in ("2026-02-30", "a\u202eb")  # no pattern knows the calendar, or all of Unicode
    ],
)
def test_the_json_schema_refuses_what_a_pattern_can_refuse(tree, changed, path, value):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema(Results))
    assert list(validator.iter_errors(changed(tree, {path: value})))


@pytest.mark.parametrize("name", ["a", "a.b", ".a", "..a", "é ü", "x" * 100, "A (B) & C", "猫"])
def test_the_json_schema_takes_every_name_that_the_model_takes(tree, changed, name):
    jsonschema = pytest.importorskip("jsonschema")
    named = changed(tree, {"submission/name": name})
    assert read_results(raw_of(named)).submission.name == name
    assert not list(jsonschema.Draft202012Validator(json_schema(Results)).iter_errors(named))


def test_labels_and_mixed_entries():
    assert LABELS == ("reported-only", "verified-paper", "self-reported")
    assert is_mixed("Mixed: three models")
    assert not is_mixed("a mixed model")
