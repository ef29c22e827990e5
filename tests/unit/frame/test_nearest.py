"""The nearest known name."""

from __future__ import annotations

import pytest

from skillshift.frame.nearest import folded, suggest

SITES = ("gitlab", "magento", "wordpress")


@pytest.mark.parametrize(
    "found",
    ["GitLab", "gitlab ", "\tgitlab", "GITLAB\n", "\uff47\uff49tlab", "gitlab\u00a0"],
)
def test_what_people_do_not_see_is_named(found):
    assert suggest(found, SITES) == (
        'differs from "gitlab" only by case, outer blanks or Unicode form; names must be exact'
    )


@pytest.mark.parametrize(
    ("found", "nearest"),
    [("gitlba", "gitlab"), ("magneto", "magento"), ("word-press", "wordpress"), ("WORDPRES", "wordpress")],
)
def test_a_slip_of_the_hand_is_recognised(found, nearest):
    assert suggest(found, SITES) == f'the nearest is "{nearest}"'


@pytest.mark.parametrize("found", ["", "xyz", "reddit", None, 3, True, ["gitlab"]])
def test_nothing_is_suggested_where_nothing_is_near(found):
    assert suggest(found, SITES) == ""


def test_without_known_names_nothing_is_suggested():
    assert suggest("gitlab", ()) == ""


def test_suggestions_show_the_name_as_it_must_be_written():
    assert suggest("SHOP A", ("Shop A",)).startswith('differs from "Shop A"')
    assert suggest("Shop B", ("Shop A",)) == 'the nearest is "Shop A"'


def test_folding():
    assert folded(" Cafe\u0301 ") == folded("CAF\u00c9") == "caf\u00e9"
    assert folded("stra\u00dfe") == "strasse"
