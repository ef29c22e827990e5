from skillful_eval import testing as sst
from skillful_eval.events_schema import EVENTS
from skillful_eval.schema import FIXTURES, RUNS
from skillful_eval.testing.faults import Fault


def test_names_are_unique_and_kinds_are_found_by_them():
    for place, kind in sst.FAULTS.items():
        assert place == (kind.of, kind.name)
    assert sum(len(sst.faults_of(of)) for of in ("corpus", "fixtures", "runs", "events")) == len(sst.FAULTS)


def test_every_rule_of_every_table_is_broken_by_some_fault():
    for of, table in (("fixtures", FIXTURES), ("runs", RUNS), ("events", EVENTS)):
        codes = {kind.code for kind in sst.faults_of(of)}
        assert {rule.code for rule in table.rules} <= codes
        assert {f"{field.name}.type" for field in table.fields} <= codes
        assert {f"{field.name}.missing-key" for field in table.fields if field.required} <= codes


def test_a_fault_says_where_it_must_be_reported():
    fault = Fault("repeat-negative", 3, "repeat", "repeat.negative")
    assert sst.FAULTS["runs", fault.kind].code == fault.code
