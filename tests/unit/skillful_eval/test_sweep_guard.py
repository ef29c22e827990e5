from dataclasses import replace

import pytest

from skillful_eval.sweep_guard import is_holdout_name, refuse_holdout
from skillshift.frame.errors import UsageError


@pytest.mark.parametrize(
    "name",
    ["routing.holdout", "holdout", "HOLDOUT-2", "routing_test", "test", "held-out", "held out", "hold.out",
     "heldout2", "routingHoldout", "setTest", "fixtures.holdout.jsonl", "\uff54est"],
)  # fmt: skip
def test_names_that_say_so(name):
    assert is_holdout_name(name)


@pytest.mark.parametrize(
    "name", ["routing", "dev", "latest", "contest", "testing", "out-held", "hold-on-out", ""]
)
def test_names_that_do_not(name):
    assert not is_holdout_name(name)


def test_the_name_of_the_file_counts_whatever_the_set_is_called(fixtures):
    refuse_holdout(fixtures, None)
    for disguised in (
        replace(fixtures, source="here/routing.holdout.jsonl"),
        replace(fixtures, name="my test"),
    ):
        with pytest.raises(UsageError, match=r"refused.*--confirm CONFIG"):
            refuse_holdout(disguised, None)


def test_what_is_shared_with_the_holdout_set_is_refused(fixtures, fixtures_of):
    refuse_holdout(fixtures, fixtures_of([("elsewhere", "coding", ["plan"])], name="holdout"))
    with pytest.raises(UsageError, match='shares ids or prompts with holdout, 2 in all, the first "undo"'):
        refuse_holdout(fixtures, fixtures_of([("undo", "coding", ["plan"])], name="holdout"))


@pytest.mark.parametrize("place", ["sets", "sets/*.jsonl", "link.jsonl", "holdout"])
def test_files_in_a_folder_of_a_glob_or_behind_a_link_count(fixtures, tmp_path, place):
    (tmp_path / "sets").mkdir()
    (tmp_path / "holdout").mkdir()
    for name in ("sets/dev.jsonl", "sets/routing.holdout.jsonl", "holdout/part.jsonl"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "sets" / "routing.holdout.jsonl")
    with pytest.raises(UsageError, match="refused"):
        refuse_holdout(replace(fixtures, source=str(tmp_path / place)), None)
    refuse_holdout(replace(fixtures, source=str(tmp_path / "sets" / "dev.jsonl")), None)
