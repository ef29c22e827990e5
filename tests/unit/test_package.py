"""The package's names: documented, imported where they are used, and nothing else."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys

import pytest

import skillshift as ss

HEAVY = {"polars", "pyarrow", "pandera", "pandas", "numpy", "altair", "rich", "hypothesis", "narwhals"}


@pytest.mark.parametrize("name", ss.__all__)
def test_every_name_is_there_and_documented(name):
    value = getattr(ss, name)
    assert name in dir(ss)
    assert (inspect.getdoc(value) or "").strip() or name in ("METRICS", "SKILLSHIFT")


def test_names_are_unique_and_an_unknown_one_is_an_attribute_error():
    assert len(set(ss.__all__)) == len(ss.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ss.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        importlib.import_module("skillshift.logs").nothing  # noqa: B018


def test_a_name_is_the_one_of_its_module():
    from skillshift.diagnostics.cells import cells
    from skillshift.grid import SKILLSHIFT

    assert ss.cells is cells
    assert ss.SKILLSHIFT is SKILLSHIFT
    assert issubclass(ss.ContractError, ss.InputError)


def after(code, root):
    """Which heavy libraries a fresh interpreter has imported after some code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted({HEAVY!r} & set(sys.modules))))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    return json.loads(out.stdout.splitlines()[-1])


def test_importing_the_package_imports_nothing_heavy(root):
    assert after("import skillshift", root) == []
    assert after("import skillshift as ss; ss.InputError; ss.__version__", root) == []


def test_the_version_is_the_project_s(root):
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == ss.__version__


def test_the_package_says_that_it_is_typed(root):
    assert (root / "skillshift" / "py.typed").exists()


MODULES = sorted(module.name for module in pkgutil.walk_packages(ss.__path__, "skillshift."))


@pytest.mark.parametrize("module", MODULES)
def test_examples_run_as_they_are_written(module):
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0


def test_there_are_examples():
    for name in ("cells", "marginals", "table", "over_trials", "identity", "scan_per_task"):
        assert ">>>" in getattr(ss, name).__doc__
