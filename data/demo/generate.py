# ruff: noqa: INP001 - a script, not part of a package
"""Make the demonstration logs: three invented methods, simulated; nothing here was measured.

Run ``python data/demo/generate.py`` to write them anew beside this file, byte for byte the same, or
``python data/demo/generate.py FOLDER`` to write them elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from skillshift.grid import SKILLSHIFT
from skillshift.rates import PrintedRates, Rates
from skillshift.simulation import simulate, write_logs

SEED = 1
"""The first with which both traps below are in the logs."""

RUN = "1"


def rates(websites: tuple[float, ...], conditions: tuple[float, ...], overall: float) -> PrintedRates:
    """Marginals in the order of a table: three websites, six conditions, overall."""
    return PrintedRates(
        dict(zip(SKILLSHIFT.website_names, websites, strict=True)),
        dict(zip(SKILLSHIFT.condition_names, conditions, strict=True)),
        overall,
    )


METHODS = {
    # Calls skills often, but hardly ever on wordpress: SFR there rests on a few calls.
    "demo-code": Rates(
        SR=rates((41.20, 36.10, 52.30), (52.40, 47.10, 40.30, 45.20, 41.00, 33.20), 43.20),
        AS=rates((9.80, 11.40, 8.20), (8.60, 9.10, 10.70, 9.20, 9.90, 11.30), 9.80),
        ASC=rates((1.44, 0.93, 0.06), (0.98, 0.90, 0.72, 0.84, 0.77, 0.65), 0.81),
        SFR=rates((12.40, 18.90, 26.90), (9.70, 14.30, 29.20, 12.10, 17.80, 33.30), 19.40),
    ),
    # Seldom calls a skill: some cells have no call, so their SFR has no denominator.
    "demo-few": Rates(
        SR=rates((34.60, 29.90, 43.80), (42.50, 38.90, 33.40, 37.70, 34.80, 29.30), 36.10),
        AS=rates((12.30, 13.90, 10.60), (11.20, 11.80, 13.10, 11.70, 12.40, 13.40), 12.27),
        ASC=rates((0.31, 0.12, 0.02), (0.21, 0.18, 0.13, 0.16, 0.13, 0.09), 0.15),
        SFR=rates((8.20, 15.70, 30.10), (6.40, 11.90, 28.80, 9.70, 16.10, 35.10), 18.00),
    ),
    # Has advice in its prompt and no executable skills.
    "demo-tips": Rates(
        SR=rates((30.80, 26.40, 41.30), (36.20, 35.10, 31.40, 33.90, 32.00, 28.40), 32.83),
        AS=rates((13.10, 15.20, 11.30), (12.50, 12.70, 13.60, 12.90, 13.30, 14.20), 13.20),
        ASC=None,
        SFR=None,
    ),
}


def generate(folder: Path) -> list[Path]:
    """Write the three methods' logs into a folder, one folder each."""
    logs = [
        simulate(SKILLSHIFT, rates=method_rates, seed=SEED, method=name, run=RUN)
        for name, method_rates in METHODS.items()
    ]
    return write_logs(pl.concat(logs), folder, overwrite=True)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "runs")
