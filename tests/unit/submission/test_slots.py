from __future__ import annotations

from skillshift.submission.slots import CONDITION_TASKS, OFFICIAL_COUNTS, OVERALL_SLOT, SLOTS, Slot


def test_a_metric_has_ten_slots_in_table_order():
    websites, conditions = ["gitlab", "magento", "wordpress"], ["src", "src-perc", "src-exec"]
    conditions += ["tgt", "tgt-perc", "tgt-exec"]
    assert [slot.name for slot in SLOTS] == [*websites, *conditions, "overall"]


def test_the_official_counts_are_the_grids():
    assert CONDITION_TASKS == 355
    assert OFFICIAL_COUNTS["websites"] == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert set(OFFICIAL_COUNTS["conditions"].values()) == {355}


def test_a_slot_averages_six_three_or_eighteen_cells():
    assert [slot.cells for slot in SLOTS] == [6, 6, 6, 3, 3, 3, 3, 3, 3, 18]


def test_places():
    assert Slot("conditions", "tgt-exec").path("SR") == "metrics.SR.conditions.tgt-exec"
    assert OVERALL_SLOT.path("SR") == "metrics.SR.overall"
    assert OVERALL_SLOT.calls_path == "n.skill_calls.overall"
