import json

import pytest

from skillshift.grid import Grid
from skillshift.schema import PER_TASK
from skillshift.testing import FAULTS, oracle_verdict

GRID = Grid("two", {"Café": 2}, ("src",))
RECORD = {
    "uid": "a",
    "site": "Café",
    "condition": "src",
    "success": True,
    "steps": 4,
    "skill_calls": 2,
    "skill_failures": 1,
}


def is_constant(_):
    raise ValueError("constant")


def parsed(text):
    try:
        pairs = json.loads(text, object_pairs_hook=list, parse_constant=is_constant)
    except ValueError as error:
        return str(error)
    return dict(pairs) if isinstance(pairs, list) and len(dict(pairs)) == len(pairs) else "twice"


def test_names_are_their_kinds_names_and_fields_are_the_codes():
    assert all(kind.name == name for name, kind in FAULTS.items())
    of_fields = [kind for kind in FAULTS.values() if kind.field and not kind.code.startswith("json.")]
    assert all(kind.code.split(".")[0] == kind.field for kind in of_fields)


@pytest.mark.parametrize("kind", FAULTS.values(), ids=lambda kind: kind.name)
def test_every_fault_changes_the_line(kind):
    text = kind.line(RECORD, GRID)
    assert "\n" not in text
    assert text != json.dumps(RECORD, ensure_ascii=False)


@pytest.mark.parametrize("kind", [k for k in FAULTS.values() if k.code in ("json.syntax", "json.cut")])
def test_broken_json_is_broken(kind):
    assert isinstance(parsed(kind.line(RECORD, GRID)), str)


@pytest.mark.parametrize("kind", [k for k in FAULTS.values() if k.code == "json.constant"])
def test_constants_are_what_is_wrong(kind):
    assert parsed(kind.line(RECORD, GRID)) == "constant"


@pytest.mark.parametrize("kind", [k for k in FAULTS.values() if k.code == "json.object"])
def test_no_object_is_json_without_an_object(kind):
    assert not isinstance(json.loads(kind.line(RECORD, GRID)), dict)


@pytest.mark.parametrize("kind", [k for k in FAULTS.values() if k.code.endswith(".missing-key")])
def test_absent_keys_are_absent(kind):
    assert set(PER_TASK.names[:7]) - set(json.loads(kind.line(RECORD, GRID))) >= {kind.field}


@pytest.mark.parametrize(
    "kind",
    [k for k in FAULTS.values() if k.code.endswith((".type", ".fraction", "s.range"))],
    ids=lambda kind: kind.name,
)
def test_wrong_types_change_one_field(kind):
    record = json.loads(kind.line(RECORD, GRID))
    assert {
        key for key in record if RECORD.get(key, "?") != record[key] or RECORD[key] is not record[key]
    } >= {kind.field}
    assert {k: v for k, v in record.items() if k != kind.field} == {
        k: v for k, v in RECORD.items() if k != kind.field
    }


NOT_RULES = (".type", ".fraction", ".missing-key", "steps.range", "skill_calls.range", "skill_failures.range")
RULES = [
    kind
    for kind in FAULTS.values()
    if not kind.code.startswith(("json.", "encoding.")) and not kind.code.endswith(NOT_RULES)
]


@pytest.mark.parametrize("kind", RULES, ids=lambda kind: kind.name)
def test_the_oracle_refuses_broken_rules_for_the_same_reason(kind):
    assert oracle_verdict([json.loads(kind.line(RECORD, GRID))], GRID) == kind.code


@pytest.mark.parametrize("kind", RULES, ids=lambda kind: kind.name)
def test_a_name_without_case_or_accents_is_broken_too(kind):
    grid = Grid("one", {"サイト": 2}, ("1",))
    record = RECORD | {"site": "サイト", "condition": "1"}
    assert oracle_verdict([json.loads(kind.line(record, grid))], grid) == kind.code


def test_every_rule_of_the_contract_has_a_fault():
    codes = {kind.code for kind in FAULTS.values()}
    assert codes >= {rule.code for rule in PER_TASK.all_rules(("uid", "site", "condition"))}
