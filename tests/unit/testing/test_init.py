import subprocess
import sys

import pytest

import skillshift.testing as sst

WITHOUT_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
import skillshift.testing as sst
assert sst.oracle_published(None) is None
try:
    sst.runs
except ModuleNotFoundError as error:
    print(error, error.name)
"""


def test_everything_public_is_there():
    assert all(getattr(sst, name) is not None for name in sst.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sst.nothing  # noqa: B018


def test_without_hypothesis_the_oracle_works_and_the_strategies_say_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HYPOTHESIS], capture_output=True, text=True, check=True
    )
    assert "pip install 'skillshift[test]'" in done.stdout
    assert done.stdout.strip().endswith("hypothesis")
