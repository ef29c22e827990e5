from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import skillful_eval as se


@pytest.mark.parametrize("name", se.__all__)
def test_every_public_name_is_there(name):
    assert getattr(se, name).__doc__ or isinstance(getattr(se, name), tuple)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = se.nothing


def test_public_functions_are_not_hidden_by_modules(root):
    modules = {path.stem for path in (root / "skillful_eval").iterdir()}
    assert not (modules & set(se.__all__)) - set(se._SUBMODULES)


def test_importing_the_package_imports_no_dataframe_library():
    code = "import sys, skillful_eval; sys.exit('polars' in sys.modules or 'pandera' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_the_shared_frame_is_imported_of_the_other_package(root):
    for path in (root / "skillful_eval").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                assert not name.startswith("skillshift") or name.startswith("skillshift.frame"), path
