from __future__ import annotations

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.scoring import SCORED, score
from skillshift.frame.errors import ContractError, InputError, UsageError


def test_every_quantity_of_a_run(scored_of, whole):
    runs = scored_of(*whole).runs.collect()
    assert runs.select(name for name in SCORED if name not in ("fixture", "choice")).rows() == [
        ("coding", False, 1, 3, 2, 1, True, True),
        ("coding", False, 2, 2, 2, 1, False, True),
        ("mcp", False, 1, 1, None, 0, None, None),
        ("trivial", True, 0, 1, None, 0, None, None),
    ]
    assert runs["fixture"].to_list() == [0, 1, 2, 3]


def test_the_columns_and_types_are_always_the_same(scored_of, whole):
    runs = scored_of(*whole).runs.collect_schema()
    assert dict(runs) == {
        "fixture_id": pl.String,
        "repeat": pl.Int64,
        "decision": pl.Enum(["injected", "skipped", "degraded"]),
        "chosen": pl.String,
        "reason": pl.String,
        "none_p": pl.Float64,
        "winner_p": pl.Float64,
        "latency_ms": pl.Float64,
        "latency_reason": pl.String,
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
        "response_index": pl.Int64,
        "fixture": pl.UInt32,
        "group": pl.String,
        "abstain": pl.Boolean,
        "golds": pl.UInt32,
        "length": pl.UInt32,
        "rank": pl.UInt32,
        "found": pl.UInt32,
        "picked_gold": pl.Boolean,
        "listed": pl.Boolean,
        "choice": pl.UInt64,
    }


def test_other_columns_are_kept_and_the_order_too(scored_of, run_of):
    rows = [run_of("thanks", config=c, quota=q) for c, q in [("b", 6), ("a", 8)]]
    runs = scored_of(*rows).runs.collect()
    assert runs.select("config", "quota").rows() == [("b", 6), ("a", 8)]


def test_a_pick_of_a_copy_is_right_and_one_off_the_list_is_told(scored_of, run_of):
    runs = scored_of(
        run_of("undo", ["b:undo"], "injected", "a:undo"),
        run_of("undo", ["a:undo"], "injected", "a:undo", repeat=1),
        run_of("thanks", ["a:undo"], "injected", "a:undo"),
    ).runs.collect()
    assert runs.select("picked_gold", "listed").rows() == [(True, False), (True, True), (False, True)]


def test_equal_decisions_have_equal_choices(scored_of, run_of):
    rows = [
        run_of("undo", ["a:db", "a:lint"], "injected", "a:db"),
        run_of("undo", ["a:db"], "injected", "a:db"),
        run_of("undo", ["a:db", "a:lint"], "injected", "a:lint"),
        run_of("undo", reason="none"),
        run_of("undo", reason="none"),
        run_of("undo", reason="floor"),
        run_of("undo"),
        run_of("undo", decision="degraded", reason="none"),
    ]
    choices = scored_of(*({**row, "repeat": i} for i, row in enumerate(rows))).runs.collect()["choice"]
    assert choices[0] == choices[1]
    assert choices[3] == choices[4]
    assert choices[7] is None
    assert choices.n_unique() == 6


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"fixture_id": "und"}, "fixture_id.unknown"),
        ({"fixture_id": ""}, "fixture_id.missing"),
        ({"repeat": -1}, "repeat.negative"),
        ({"shortlist": ["a:db", "zzz"]}, "shortlist.unknown"),
        ({"shortlist": [None]}, "shortlist.unknown"),
        ({"shortlist": None}, "shortlist.missing"),
        ({"decision": "Injected"}, "decision.unknown"),
        ({"decision": "injected"}, "chosen.missing"),
        ({"chosen": "a:db"}, "chosen.without-injection"),
        ({"decision": "injected", "chosen": "zzz"}, "chosen.unknown"),
        ({"latency_ms": -0.5}, "latency_ms.range"),
        ({"latency_ms": float("nan")}, "latency_ms.range"),
        ({"latency_ms": float("inf")}, "latency_ms.range"),
        ({"latency_ms": 1e10}, "latency_ms.range"),
        ({"none_p": 1.01}, "none_p.range"),
        ({"none_p": float("nan")}, "none_p.range"),
        ({"winner_p": -0.01}, "winner_p.range"),
        ({"latency_ms": 1.0, "latency_reason": "replayed"}, "latency_reason.beside-latency"),
        ({"tokens_in": -1}, "tokens_in.negative"),
        ({"tokens_out": -1}, "tokens_out.negative"),
        ({"tokens_in": 2**32}, "tokens_in.too-large"),
        ({"tokens_out": 2**63 - 1}, "tokens_out.too-large"),
        ({"response_index": -1}, "response_index.negative"),
        ({"repeat": 0}, "run.duplicate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_run_that_breaks_the_contract_is_located(scored_of, run_of, change, code):
    rows = [run_of("undo", ["a:db"]), {**run_of("undo", ["a:db"], repeat=1), **change}]
    with pytest.raises(ContractError) as error:
        scored_of(*rows)
    assert code in error.value.counts
    assert {violation.line for violation in error.value.violations} == {2}


def test_the_ids_that_a_corpus_lacks_are_named(scored_of, run_of):
    with pytest.raises(ContractError) as error:
        scored_of(run_of("undo", ["a:db", "zzz", "a:lint"]))
    violation = error.value.violations[0]
    assert (violation.field, violation.found) == ("shortlist", '["zzz"]')


def test_a_duplicate_names_both_places(scored_of, run_of):
    rows = [run_of("undo", config="a"), run_of("undo", config="b"), run_of("undo", config="a")]
    with pytest.raises(ContractError, match=r"row 3: repeat: found repeat 0 .* the first is at row 1"):
        scored_of(*rows)


def test_decisions_are_all_there_or_not_at_all(scored_of, run_of):
    nothing = run_of("undo", ["a:undo"], None, config="retrieval")
    assert scored_of(nothing, run_of("undo", config="whole")).runs.collect().height == 2
    with pytest.raises(ContractError) as error:
        scored_of(nothing, run_of("plan", config="retrieval"), run_of("undo", config="whole"))
    assert error.value.counts == {"decision.mixed": 1}
    assert error.value.violations[0].line == 1
    with pytest.raises(ContractError):
        scored_of(run_of("undo", [], None), run_of("plan"))


def test_a_column_named_like_one_of_scoring_is_refused(scored_of, run_of):
    with pytest.raises(InputError, match="'rank' has a name that scoring gives"):
        scored_of(run_of("undo", rank=3))


@pytest.mark.parametrize("name", ["_fixture", "_chosen", "_shortlist", "_violated", "_run", "_key0", "_mine"])
def test_a_column_that_begins_with_an_underscore_is_refused(scored_of, run_of, name):
    with pytest.raises(InputError, match=f"'{name}' begins with an underscore.*rename it"):
        scored_of(run_of("undo", **{name: 3}))


def test_no_runs_are_refused(runs_of, fixtures, corpus):
    with pytest.raises(InputError, match="no records"):
        score(runs_of(), fixtures, corpus)


def test_the_fixtures_must_be_of_the_corpus(runs_of, run_of, fixtures, head, entries):
    same = make_corpus(head, entries, "same.json")
    assert score(runs_of(run_of("undo")), fixtures, same).provenance.runs == 1
    entries.append({"id": "new", "kind": "skill", "name": "new", "description": "", "runtime": "x"})
    with pytest.raises(UsageError, match=r"resolved in the corpus corpus.json, not in other.json"):
        score(runs_of(run_of("undo")), fixtures, make_corpus(head, entries, "other.json"))


@pytest.mark.parametrize("coded", ["enum", "reversed", "wider", "categorical", "lazy"])
def test_coded_shortlists_give_the_same_as_text(runs_of, whole, fixtures, corpus, coded):
    runs = runs_of(*whole)
    ids = corpus.entries["id"].to_list()
    types = {
        "enum": pl.Enum(ids),
        "reversed": pl.Enum(ids[::-1]),
        "wider": pl.Enum(["x", *ids, "y"]),
        "categorical": pl.Categorical(),
        "lazy": pl.Enum(ids),
    }
    frame = runs.with_columns(
        pl.col("shortlist").cast(pl.List(types[coded])), pl.col("chosen").cast(types[coded])
    )
    found = score(frame.lazy() if coded == "lazy" else frame, fixtures, corpus).runs.collect()
    assert found.equals(score(runs, fixtures, corpus).runs.collect())


def test_coded_shortlists_are_held_to_the_contract_too(runs_of, run_of, fixtures, corpus):
    frame = runs_of(run_of("undo", ["zzz"])).with_columns(pl.col("shortlist").cast(pl.List(pl.Enum(["zzz"]))))
    with pytest.raises(ContractError) as error:
        score(frame, fixtures, corpus)
    assert error.value.counts == {"shortlist.unknown": 1}


def test_a_scored_run_is_found_again_in_its_source(scored_of, whole):
    scored = scored_of(*whole)
    again = scored.runs.join(scored.source, on=["fixture_id", "repeat"], maintain_order="left").collect()
    assert again["shortlist"].to_list() == [row["shortlist"] for row in whole]
