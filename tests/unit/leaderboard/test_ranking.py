from __future__ import annotations

import json
from statistics import NormalDist

import pytest

from skillshift.frame.errors import UsageError
from skillshift.leaderboard.folder import Entry
from skillshift.leaderboard.ranking import REFUSED, SORT_KEYS, rank_intervals, ranked, sort_metric
from skillshift.metrics import METRICS
from skillshift.submission.document import read_results
from skillshift.submission.jsontext import parse
from skillshift.submission.sheet import Sheet


@pytest.fixture(scope="session")
def entry(document):
    def make(*args, file="f.json", **options):
        raw = json.dumps(document(*args, **options)).encode()
        return Entry(Sheet(parse(raw, file), file), read_results(raw), ())

    return make


def names(placed):
    return [one.entry.name for one in placed]


def test_sort_keys_are_every_metric_but_those_refused():
    assert SORT_KEYS == ("SR", "AS", "ASC")
    assert set(SORT_KEYS) | set(REFUSED) == set(METRICS.names)


def test_sfr_is_refused_with_the_reason():
    with pytest.raises(
        UsageError, match=r"never sorted by SFR: it is a share of the calls .* one of SR, AS, ASC"
    ):
        sort_metric("SFR")


def test_an_unknown_sort_key_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="found the sort key 'sr', expected one of SR, AS, ASC"):
        sort_metric("sr")


@pytest.mark.parametrize(
    ("metric", "values", "order"),
    [
        ("SR", [10.0, 30.0, 20.0], "bca"),
        ("AS", [10.0, 30.0, 20.0], "acb"),
        ("ASC", [1.0, 3.0, 2.0], "bca"),
        ("SR", [9.0, 10.0, None], "bac"),
        ("AS", [9.0, None, 10.0], "acb"),
        ("SR", [None, 0.0, None], "bac"),
    ],
)
def test_the_better_direction_comes_first_and_undefined_last(entry, metric, values, order):
    found = ranked([entry(n, **{metric: v}) for n, v in zip("abc", values, strict=True)], METRICS[metric])
    assert "".join(names(found)) == order
    assert [one.rank for one in found] == [
        None if values["abc".index(n)] is None else i for i, n in enumerate(order, 1)
    ]


def test_ties_stand_by_name_then_newest_first_and_share_a_rank(entry):
    made = [
        entry("b", date="2026-01-01"),
        entry("a", date="2026-01-01"),
        entry("B", date="2026-03-01"),
        entry("a", date="2026-02-01"),
        entry("z", SR=10.0),
    ]
    found = ranked(made, METRICS["SR"])
    assert [(o.entry.name, o.entry.date.month, o.rank) for o in found] == [
        ("a", 2, 1),
        ("a", 1, 1),
        ("B", 3, 1),
        ("b", 1, 1),
        ("z", 1 + 8, 5),
    ]
    assert ranked(made[::-1], METRICS["SR"]) == found


def test_values_that_print_differently_never_tie(entry):
    found = ranked([entry("a", SR=40.0), entry("b", SR=40.01)], METRICS["SR"])
    assert [(o.entry.name, o.rank) for o in found] == [("b", 1), ("a", 2)]


def test_mixed_models_are_ranked_apart(entry):
    made = [
        entry("m", model="Mixed (A / B)", SR=61.0),
        entry("s", SR=1.0),
        entry("n", model="mixed", SR=60.0),
    ]
    found = ranked(made, METRICS["SR"])
    assert [(o.entry.name, o.ranking, o.rank) for o in found] == [
        ("s", "single-model", 1),
        ("m", "mixed-model", 1),
        ("n", "mixed-model", 2),
    ]
    # The single-model entry's interval has nobody else to be confused with.
    assert [(o.best, o.worst) for o in found] == [(1, 1), (1, 2), (1, 2)]


def test_a_rank_interval_needs_a_value_and_counts(entry):
    no_counts = entry("c")
    no_counts.sheet.tree["n"]["websites"]["gitlab"] = 0
    found = ranked([entry("a"), entry("b", SR=None), no_counts, entry("d", SR=5.0)], METRICS["SR"])
    assert [(o.entry.name, o.best, o.worst) for o in found] == [
        ("a", 1, 2),
        ("c", None, None),
        ("d", 2, 3),
        ("b", None, None),
    ]


@pytest.mark.parametrize("metric", ["AS", "ASC"])
def test_means_of_counts_have_no_standard_error(entry, metric):
    (one,) = ranked([entry("a")], METRICS[metric])
    assert (one.rank, one.best, one.standard_error) == (1, None, None)


def test_intervals_by_hand():
    # Bonferroni over two comparisons: z is 2.2414, so errors of 1 reach 3.17 apart.
    reach = NormalDist().inv_cdf(1 - 0.05 / 4) * 2**0.5
    near, far = reach - 0.01, reach + 0.01
    assert rank_intervals([0.0, near, 2 * near], [1.0, 1.0, 1.0]) == ([1, 1, 2], [2, 3, 3])
    assert rank_intervals([0.0, far, 2 * far], [1.0, 1.0, 1.0]) == ([1, 2, 3], [1, 2, 3])


def test_more_comparisons_need_more_to_tell_apart():
    apart = NormalDist().inv_cdf(0.975) * 2**0.5 + 0.01
    assert rank_intervals([0.0, apart], [1.0, 1.0]) == ([1, 2], [1, 2])
    assert rank_intervals([0.0, apart, 900.0], [1.0, 1.0, 1.0]) == ([1, 1, 3], [2, 2, 3])


def test_what_has_no_error_is_told_apart_from_nothing():
    assert rank_intervals([0.0, 50.0, 100.0], [1.0, None, 1.0]) == ([1, 1, 2], [2, 3, 3])
    assert rank_intervals([], []) == ([], [])
    assert rank_intervals([1.0, 1.0], [0.0, 0.0]) == ([1, 1], [2, 2])
