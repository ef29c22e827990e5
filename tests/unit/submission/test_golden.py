from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import skillshift as ss
from skillshift.submission.checks import is_valid, validate

GOLDEN = Path(__file__).parents[2] / "golden" / "submission"


def maker():
    spec = importlib.util.spec_from_file_location("make_golden", GOLDEN / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_versions(raw: bytes) -> str:
    """The document without the versions of what happened to compute it."""
    text = raw.decode().replace(f"skillshift {ss.__version__}", "skillshift *")
    return re.sub(r'"(skillshift|polars|python)": "[0-9][^"]*"', r'"\1": "*"', text)


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_the_golden_documents_are_made_as_they_stand():
    results, receipt = maker().documents()
    version = re.search(r'"harness_version": "skillshift ([^"]+)"', golden("results.json").decode())[1]

    def stored(name):
        return without_versions(golden(name).replace(version.encode(), ss.__version__.encode()))

    assert without_versions(results) == stored("results.json")
    assert without_versions(receipt) == stored("run_receipt.json")


def test_the_test_vectors_are_made_as_they_stand():
    assert json.loads(golden("vectors.json"))["vectors"] == json.loads(json.dumps(maker().vectors()))


def test_the_golden_submission_is_valid():
    verdicts = validate(GOLDEN / "results.json", GOLDEN / "run_receipt.json")
    assert is_valid(verdicts)
    assert [v.status for v in verdicts] == [*["passed"] * 6, "not checked"]
