import subprocess
import sys

import pytest

import skillful_eval as se
import skillful_eval.testing as sst

WITHOUT_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
import skillful_eval as se
assert se.testing.oracle_acceptances([]) == []
try:
    se.testing.runs
except ModuleNotFoundError as error:
    print(error, error.name)
"""


def test_everything_public_is_there_and_documented():
    assert all(getattr(sst, name).__doc__ for name in sst.__all__ if name != "FAULTS")


def test_it_is_a_name_of_the_package():
    assert se.testing is sst


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sst.nothing  # noqa: B018


def test_without_hypothesis_the_oracle_works_and_the_strategies_say_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HYPOTHESIS], capture_output=True, text=True, check=True
    )
    assert "pip install 'skillshift[test]'" in done.stdout
    assert done.stdout.strip().endswith("hypothesis")
