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
