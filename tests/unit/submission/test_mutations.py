from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden" / "submission"


@pytest.fixture(scope="module")
def mutations():
    spec = importlib.util.spec_from_file_location("mutations", GOLDEN / "mutations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(mutations):
    return mutations.table()


def test_which_slips_are_caught_is_as_published(mutations, table):
    assert table == mutations.TABLE.read_text(encoding="utf-8"), (
        "write the new table there, and into the README"
    )


def test_with_a_receipt_every_slip_is_caught(table):
    for line in table.splitlines()[2:]:
        _, slip, cases, with_receipt, *_ = (cell.strip() for cell in line.split("|"))
        caught = sum(int(n) for n in re.findall(r"^(\d+)|, (\d+) warned", with_receipt) for n in n if n)
        assert caught == int(cases), slip


def test_the_base_itself_is_valid(mutations):
    own, receipt = mutations.base()
    assert mutations.findings(own, receipt)[0] == set()
    assert mutations.findings(mutations.transcribed(own), None)[0] == set()
