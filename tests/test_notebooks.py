"""Every notebook runs from top to bottom and prints what it shows."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))


def printed(notebook):
    """What each code cell prints or gives, as text."""
    return [
        "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for output in cell["outputs"]
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the Jupyter packages, not of ours
def test_notebook_prints_what_it_shows(path):
    stored = nbformat.read(path, as_version=4)
    shown = printed(stored)
    assert any(shown)
    nbclient.NotebookClient(stored, timeout=300, kernel_name="python3").execute()
    assert printed(stored) == shown


def test_there_are_notebooks():
    assert NOTEBOOKS
