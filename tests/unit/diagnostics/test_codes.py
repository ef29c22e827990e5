"""The page of reason codes says what the definitions say, and no code is missing from it."""

from __future__ import annotations

import ast

import pytest

from skillshift.diagnostics.codes import BETWEEN, WRITTEN, documentation, of_columns, of_keys, rules
from skillshift.frame.contract import Kind
from skillshift.frame.jsonl_record import CODES
from skillshift.grid import Grid
from skillshift.schema import PER_TASK, per_task

# What each kind of field can be refused for, beyond its type.
OF_KEYS = {Kind.COUNT: {"fraction", "range"}}
OF_COLUMNS = {Kind.COUNT: {"fraction", "too-large"}}


def literals(root, pattern, *calls):
    """The texts given as code, or as first or second argument, to calls of these names."""
    for path in sorted(root.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in calls:
                given = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "code")]
                yield from (one.value for one in given if isinstance(one, ast.Constant) and one.value)


def coded(root, pattern, *calls):
    return {text for text in literals(root, pattern, *calls) if isinstance(text, str) and "." in text}


def test_the_page_is_what_the_definitions_say(root):
    page = (root / "docs" / "codes.md").read_text(encoding="utf-8")
    said = "write what skillshift.diagnostics.codes.documentation() gives"
    assert page.endswith(documentation()), said


@pytest.mark.parametrize("grid", [None, Grid("one", {"shop|x": 2}, ["near"])])
def test_every_rule_of_the_grid_s_contract_is_told(grid):
    given = () if grid is None else (grid,)
    general, of_grid = rules(*given)
    found = [rule.code for rule in (*general, *of_grid)]
    assert sorted(found) == sorted(rule.code for rule in per_task(*given).all_rules(PER_TASK.names))
    assert {rule.code.partition(".")[2] for rule in of_grid} == {"unknown", "site", "range"}
    text = documentation(*given)
    assert all(f"| `{code}` |" in text for code in found)
    if grid is not None:
        assert "on a grid, here one" in text
        assert r"| one of shop\|x |" in text


def test_every_reason_of_a_key_or_a_column_is_told():
    keys, columns = of_keys(PER_TASK), of_columns(PER_TASK)
    for field in PER_TASK.fields:
        missing = {"missing-key"} if field.required else set()
        reasons = {"type"} | missing | OF_KEYS.get(field.kind, set())
        assert {code for code in keys if keys[code].field == field.name} == {
            f"{field.name}.{reason}" for reason in reasons
        }
        missing = {"missing-column"} if field.required else set()
        reasons = {"type"} | missing | OF_COLUMNS.get(field.kind, set())
        assert {code for code in columns if columns[code].field == field.name} == {
            f"{field.name}.{reason}" for reason in reasons
        }
    text = documentation()
    assert all(f"| `{code}` |" in text for code in (*keys, *columns, *CODES, *BETWEEN, *WRITTEN))


def test_the_reader_gives_no_other_code_for_a_line(root):
    assert coded(root, "skillshift/frame/jsonl*.py", "Violation") == set(CODES)


def test_nothing_else_is_refused_between_records(root):
    own = {"skillshift/diagnostics/tasks.py", "skillshift/diagnostics/cells.py"}
    found = set().union(*(coded(root, path, "Violation", "Rule") for path in own))
    assert found == {code for code in BETWEEN if "<" not in code}
    assert not coded(root, "skillshift/diagnostics/summing.py", "Violation", "Rule")


def test_a_record_that_is_written_is_refused_for_nothing_else(root):
    ends = {text for text in literals(root, "skillshift/record.py", "_WrongValueError") if " " not in text}
    read = {code.partition(".")[2] for code in of_keys(PER_TASK)}
    assert ends - read == {code.partition(".")[2] for code in WRITTEN}
