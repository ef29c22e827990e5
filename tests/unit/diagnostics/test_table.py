"""The shape of Table 1: flags, dashes and bounds as a reader sees them."""

from __future__ import annotations

import polars as pl
import pytest

from skillshift import Grid, Table1, cells, marginals, table
from skillshift.diagnostics.table import NOT_APPLICABLE, PARTIAL, UNDEFINED, aligned, display_width
from skillshift.frame.errors import InputError, UsageError
from skillshift.metrics import FLAG


@pytest.fixture
def numbers(grid, complete, frame):
    """A function that makes marginals of a run, of which some records may be left out."""

    def of(*, leave_out=0, incomplete="undefined", by=None, **keys):
        records = complete(**keys)[leave_out:]
        return marginals(cells(frame(records), grid=grid, incomplete=incomplete, by=by))

    return of


def row(shown, metric):
    return shown.filter(metric=metric).drop("metric").rows()[0]


def test_a_column_a_slot_and_a_row_a_run_and_metric(numbers):
    shown = table(numbers(method="m", run="1"))
    assert isinstance(shown, Table1)
    assert shown.columns == ["method", "run", "metric", "big", "small", "near", "far", "overall"]
    assert shown["metric"].to_list() == ["SR", "AS", "ASC", "SFR"]
    assert set(shown.dtypes) == {pl.String}
    assert row(shown.drop("method", "run"), "SR") == ("33.33", "50.00", "41.67", "41.67", "41.67")


def test_a_rate_on_few_calls_is_flagged_with_their_number(numbers):
    shown = table(numbers())
    assert row(shown, "SFR")[0] == f"50.00 {FLAG} (12)"
    assert row(shown, "ASC")[0] == "2.00"


def test_a_rate_on_thirty_calls_is_not(complete, frame):
    grid = Grid("g", {"big": 1}, ["near"])
    records = [complete()[0] | {"skill_calls": 30, "skill_failures": 3}]
    assert row(table(marginals(cells(frame(records), grid=grid))), "SFR") == ("10.00",) * 3


def test_not_applicable_is_a_dash(numbers):
    shown = table(numbers(skills=False))
    assert row(shown, "SFR") == row(shown, "ASC") == (NOT_APPLICABLE,) * 5 == ("--",) * 5
    assert row(shown, "AS")[0] == "3.00"


def test_a_mean_without_a_denominator_somewhere_is_called_undefined(grid, complete, frame):
    quiet = [
        r | ({"skill_calls": 0, "skill_failures": 0} if r["condition"] == "near" else {}) for r in complete()
    ]
    shown = table(marginals(cells(frame(quiet), grid=grid)))
    assert row(shown, "SFR")[:3] == (UNDEFINED,) * 3
    assert row(shown, "ASC")[2] == "0.00"


def test_an_incomplete_slot_shows_its_bounds(numbers):
    shown = table(numbers(leave_out=1))
    assert row(shown, "SR") == ("[16.67, 33.33]", "50.00", "[25.00, 41.67]", "41.67", "[33.33, 41.67]")
    assert row(shown, "AS")[0] == row(shown, "SFR")[4] == "incomplete"


def test_a_value_over_what_was_scored_is_marked(numbers):
    shown = table(numbers(leave_out=1, incomplete="scored"))
    assert row(shown, "SR") == (f"16.67{PARTIAL}", "50.00", f"25.00{PARTIAL}", "41.67", f"33.33{PARTIAL}")
    assert row(shown, "SFR")[0] == f"55.00{PARTIAL} {FLAG} (11)"


def test_nothing_is_ever_null(numbers):
    for options in ({}, {"skills": False}, {"leave_out": 1}, {"leave_out": 3, "incomplete": "scored"}):
        assert sum(table(numbers(**options)).null_count().row(0)) == 0


def test_another_kind_of_frame_is_refused(numbers, grid, complete, frame):
    with pytest.raises(InputError, match="expected a frame with a column 'metric'"):
        table(cells(frame(complete()), grid=grid))
    with pytest.raises(InputError, match="it lacks published, reason"):
        table(numbers().drop("published", "reason"))


@pytest.mark.parametrize("name", ["near", "metric", "overall"])
def test_a_slot_needs_a_name_of_its_own(complete, frame, name):
    grid = Grid("g", {name: 1}, ["near", "far"])
    records = [complete()[0] | {"site": name, "condition": c, "uid": "a"} for c in grid.condition_names]
    with pytest.raises(InputError, match=f"two columns of the table would be named '{name}'"):
        table(marginals(cells(frame(records), grid=grid)))


def test_a_run_key_may_not_be_named_like_a_slot(numbers):
    with pytest.raises(UsageError, match="'near' cannot be a run key"):
        table(numbers(near="x", by=["near"]))


# -- how it shows itself ---------------------------------------------------------------------------------


def test_as_text_it_is_whole_and_aligned(numbers):
    text = str(table(numbers(method="a method with a long name")))
    assert repr(table(numbers(method="a method with a long name"))) == text
    lines = text.split("\n")
    assert len(lines) == 5
    assert lines[0].split() == ["method", "metric", "big", "small", "near", "far", "overall"]
    assert len({display_width(line) for line in lines}) == 1
    assert "\u2026" not in text


def test_as_html_it_is_escaped_and_every_key_is_a_row_header(numbers):
    html = table(numbers(method='<b>&"bold"</b>'))._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;&quot;bold&quot;&lt;/b&gt;" in html
    assert html.count("<tr>") == 5
    assert html.count('<th scope="row"') == 2 * 4
    assert html.count("<td") == 5 * 4
    assert html.startswith("<table>")


def test_run_keys_that_are_numbers_are_shown_too(numbers):
    shown = table(numbers(seed=0, hot=False, by=["seed", "hot"]))
    assert str(shown).splitlines()[1].split()[:3] == ["0", "False", "SR"]
    assert '<th scope="row" style="text-align:left">0</th>' in shown._repr_html_()


@pytest.mark.parametrize(
    "part", [lambda t: t.select("big"), lambda t: t[["big", "far"]], lambda t: t.drop("metric")]
)
def test_a_part_of_it_can_be_shown_too(numbers, part):
    shown = part(table(numbers()))
    assert "33.33" in str(shown)
    assert "33.33" in repr(shown)
    assert "33.33" in shown._repr_html_()


def test_rows_of_it_show_themselves_like_the_whole(numbers):
    shown = table(numbers())
    assert str(shown.head(1)).splitlines()[0].split() == shown.columns
    assert str(shown.filter(metric="SR")).count("33.33") == 1


def test_columns_are_as_wide_as_they_look():
    frame = pl.DataFrame({"metric": ["SR", "\u30b5\u30a4\u30c8"], "a": ["1.00", f"10.00 {FLAG} (3)"]})
    lines = aligned(frame)
    assert len({display_width(line) for line in lines}) == 1
    assert lines[1].startswith("SR      ")
    assert lines[1].endswith("1.00")
