"""Every slip of one digit in Table 1: which ones the identity check catches, and that its limits say so.

``identity_mutations.csv`` records, for each row and slot, how many of the slips are caught, and the sizes (in
units of 0.01) of those that are not. To write it anew after a change that is meant to change it, run
``SKILLSHIFT_UPDATE_GOLDEN=1 pytest tests/golden/test_identity_mutations.py`` and look at the difference.
"""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from skillshift import SKILLSHIFT, datasets
from skillshift.diagnostics.identity import detection_limits, identity_printed

GOLDEN = Path(__file__).with_name("identity_mutations.csv")
GROUP_OF = {
    **dict.fromkeys(SKILLSHIFT.website_names, "website"),
    **dict.fromkeys(SKILLSHIFT.condition_names, "condition"),
    "overall": "overall",
}


def _slips(printed):
    """Every text that differs from the printed number in one digit."""
    places = [i for i, character in enumerate(printed) if character.isdigit()]
    return [
        f"{printed[:i]}{digit}{printed[i + 1 :]}"
        for i in places
        for digit in "0123456789"
        if digit != printed[i]
    ]


@pytest.fixture(scope="module")
def mutations():
    """One row a slip: where it was made, its size in units of 0.01, whether it is caught, and the limits."""
    mutated = [
        {**row, slot: wrong, "slot": slot, "slip": int(100 * (Decimal(wrong) - Decimal(row[slot])))}
        for row in datasets.table1().to_dicts()
        for slot in GROUP_OF
        for wrong in _slips(row[slot])
    ]
    limits = detection_limits(datasets.table1())
    return (
        identity_printed(pl.DataFrame(mutated))
        .select(
            "method",
            "metric",
            "slot",
            "slip",
            caught=pl.col("verdict") == "violated",
            group=pl.col("slot").replace_strict(GROUP_OF),
        )
        .join(limits, on=["method", "metric", "group"], how="left", maintain_order="left")
    )


def test_every_digit_of_every_number_is_changed_to_every_other(mutations):
    digits = sum(
        character.isdigit()
        for row in datasets.table1().to_dicts()
        for slot in GROUP_OF
        for character in row[slot]
    )
    assert mutations.height == 9 * digits == 4_446
    assert mutations.select((pl.col("slip") == 0).any()).item() is False


def test_a_slip_is_caught_if_and_only_if_it_reaches_the_limit_of_its_direction(mutations):
    size = pl.col("slip").abs()
    reaches = pl.when(pl.col("slip") > 0).then(size >= pl.col("up")).otherwise(size >= pl.col("down"))
    wrong = mutations.filter(reaches != pl.col("caught"))
    assert wrong.is_empty(), wrong


def test_the_limits_of_the_report_cover_both_directions(mutations):
    limits = identity_printed(datasets.table1()).unpivot(
        [f"detects_{group}" for group in ("website", "condition", "overall")],
        index=["method", "metric"],
        variable_name="group",
        value_name="limit",
    )
    both = mutations.join(
        limits.with_columns(pl.col("group").str.strip_prefix("detects_")), on=["method", "metric", "group"]
    )
    assert both.height == mutations.height
    assert both.filter(pl.col("slip").abs() >= pl.col("limit"))["caught"].all()
    # The limit is not a loose one: one less would be wrong, in the direction that it is for.
    assert both.select((pl.max_horizontal("up", "down") == pl.col("limit")).all()).item()


def test_only_slips_in_the_last_decimal_are_missed(mutations):
    assert mutations.filter(~pl.col("caught"))["slip"].abs().max() < 10


def test_the_golden_table(mutations):
    table = mutations.group_by("method", "metric", "slot", maintain_order=True).agg(
        slips=pl.len().cast(pl.Int64),
        caught=pl.col("caught").cast(pl.Int64).sum(),
        missed=pl.col("slip").filter(~pl.col("caught")).sort().cast(pl.String).str.join(" "),
    )
    text = table.write_csv()
    if os.environ.get("SKILLSHIFT_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8", newline="\n")
    assert text == GOLDEN.read_text(encoding="utf-8")
