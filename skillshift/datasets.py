"""The bundled data: the paper's Table 1 as printed, demonstration logs, and sample grids.

The files lie in ``data/`` of the project, and inside the package once it is installed from a wheel.
``data/README.md`` says where each is from.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_PACKAGE: Final = Path(__file__).resolve().parent
# A wheel carries the folder within the package; a checkout or an editable install has it at the root.
_FOLDERS: Final = (_PACKAGE / "_data", _PACKAGE.parent / "data")


def path(name: str) -> Path:
    """Where a bundled file or folder is.

    Args:
        name: Its path within ``data/``, with forward slashes, such as ``tau.toml``.

    Returns:
        Its path on disk.

    Raises:
        InputError: There is no bundled file or folder of that name.

    >>> path("table1.csv").name
    'table1.csv'
    """
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
    wanted = (folder / name).resolve()
    inside = folder.resolve() in wanted.parents
    if inside and wanted.exists():
        return wanted
    held = sorted(item.name for item in folder.iterdir()) if folder.is_dir() else []
    raise InputError(
        f"bundled data: found no {name!r} in {folder}, expected one of: {', '.join(held) or 'none there'};"
        " install skillshift anew if it should be there"
    )


def table1() -> pl.DataFrame:
    """The fourteen rows of the SkillShift-Bench paper's Table 1, as printed.

    Returns:
        One row a method and metric (SkillWeaver, ASI and WALT with SR, AS, ASC and SFR; AWM, which has no
        executable skills, with SR and AS): ``method``, ``metric``, then the three websites, the six
        conditions and ``overall``, all text with two decimals. SR and SFR are percentages, AS and ASC counts
        a task. Nothing is null.

    Raises:
        InputError: The file is not where the package was installed.

    >>> table1().filter(method="AWM", metric="SR").select("src", "tgt-exec", "overall").row(0)
    ('50.07', '16.90', '35.29')
    """
    import polars as pl

    # Text, because a printed 16.90 is not a binary 16.9.
    return pl.read_csv(path("table1.csv"), infer_schema=False).drop("source")


def demo() -> pl.LazyFrame:
    """The demonstration logs: simulated runs of three invented methods on the SkillShift grid.

    The folder itself, for the command line and for :func:`skillshift.scan_per_task`, is
    ``path("demo/runs")``.

    Returns:
        The per-task records as :func:`skillshift.scan_per_task` gives them, lazily; ``method`` tells the runs
        apart. One method has no executable skills, so its ``skill_calls`` and ``skill_failures`` are null.

    Raises:
        InputError: The files are not where the package was installed.

    >>> sorted(demo().select("method").unique().collect()["method"])
    ['demo-code', 'demo-few', 'demo-tips']
    """
    from skillshift.logs import scan_per_task

    return scan_per_task(path("demo/runs"))
