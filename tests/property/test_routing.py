"""The report against the oracle, and what must hold of it whatever was routed."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval import testing as sst
from skillful_eval.schema import NONE

FEW = settings(max_examples=settings().max_examples // 3)
"""For what scores several times an example, or asks for little."""


def scored_of(evaluation, runs=None):
    corpus = sst.to_corpus(evaluation.entries)
    frame = sst.to_runs(evaluation.runs) if runs is None else runs
    return se.score(frame, sst.to_fixtures(evaluation.fixtures, corpus), corpus)


def oracle(evaluation, **options):
    return sst.oracle_report(evaluation.entries, evaluation.fixtures, evaluation.runs, **options)


def rows(report, scope="all", **keys):
    return {row["metric"]: row for row in report.filter(scope=scope, **keys).to_dicts()}


def as_bytes(frame):
    return frame.write_json().encode()


def kept(report, **keys):
    """The rows of one configuration, without its name."""
    return report.filter(**keys).drop(*keys)


# -- oracle --------------------------------------------------------------------------------------------------


@given(sst.evaluations(), st.sampled_from([0, 12.5, 1_000]))
def test_the_report_is_the_oracle_s(evaluation, budget):
    found = se.report(scored_of(evaluation), budget_ms=budget)
    sst.assert_reports_equal(found, oracle(evaluation, budget_ms=budget))
    sst.assert_routing_identities(found)
    sst.assert_null_semantics(found)


@given(st.data(), st.integers(1, 3))
def test_the_report_is_the_oracle_s_for_every_configuration(data, configs):
    evaluation = data.draw(sst.evaluations(configs=configs))
    found = se.report(scored_of(evaluation))
    sst.assert_reports_equal(found, oracle(evaluation))
    sst.assert_routing_identities(found)


@given(sst.evaluations(complete=True))
@FEW
def test_a_complete_set_leaves_nothing_missing(evaluation):
    found = se.report(scored_of(evaluation))
    assert not set(found["reason"]) & {"missing-fixtures", "missing-repeats"}
    covered = found.filter(pl.col("metric").is_in(["runCoverage", "fixtureCoverage"]))
    assert set(covered["value"]) == {1.0}


# -- order and split, to the byte ----------------------------------------------------------------------------


def everything(scored):
    """Every output over scored runs that has an order of its own."""
    frames = (
        se.report(scored), se.unstable(scored), se.uncovered(scored), scored.provenance.declared,
        scored.provenance.findings,
    )  # fmt: skip
    return [as_bytes(frame) for frame in frames]


@given(sst.evaluations(configs=2), st.randoms(use_true_random=False))
@FEW
def test_the_order_of_the_runs_changes_no_byte(evaluation, chance):
    expected = everything(scored_of(evaluation))
    runs = list(evaluation.runs)
    chance.shuffle(runs)
    assert everything(scored_of(evaluation, sst.to_runs(runs))) == expected


@given(sst.evaluations(configs=2), st.integers(0, 10), st.sampled_from(["jsonl", "parquet"]))
@FEW
def test_how_runs_are_split_into_files_changes_no_byte(tmp_path_factory, evaluation, cut, ending):
    folder = tmp_path_factory.mktemp("split")
    frame = sst.to_runs(evaluation.runs)
    cut = min(cut, frame.height - 1)
    for name, part in (("a", frame[:cut]), ("b", frame[cut:])):
        if part.height:
            path = folder / f"{name}.{ending}"
            part.write_ndjson(path) if ending == "jsonl" else part.write_parquet(path)
    scored = scored_of(evaluation, se.scan_runs(folder))
    assert everything(scored) == everything(scored_of(evaluation))


@given(sst.evaluations(), st.randoms(use_true_random=False))
@FEW
def test_the_order_of_fixtures_and_entries_changes_no_byte_of_the_report(evaluation, chance):
    expected = as_bytes(se.report(scored_of(evaluation)))
    other = sst.Evaluation(list(evaluation.entries), list(evaluation.fixtures), evaluation.runs)
    chance.shuffle(other.entries)
    chance.shuffle(other.fixtures)
    assert as_bytes(se.report(scored_of(other))) == expected


@given(sst.evaluations(), sst.evaluations())
@FEW
def test_configurations_do_not_touch_each_other(one, other):
    """The runs of one configuration give the same rows alone and beside those of another."""
    alone = se.report(scored_of(one))
    known = {fixture["id"] for fixture in one.fixtures}
    ids = [entry["id"] for entry in one.entries]
    # The other configuration's runs, carried over to this corpus and these fixtures.
    beside = [
        run
        | {"config": "b", "shortlist": ids[: len(run["shortlist"])]}
        | ({"chosen": ids[0]} if run["chosen"] else {})
        for run in other.runs
        if run["fixture_id"] in known
    ]
    runs = [run | {"config": "a"} for run in one.runs] + beside
    assert kept(se.report(scored_of(one, sst.to_runs(runs))), config="a").equals(alone)


# -- duplicates and copies -----------------------------------------------------------------------------------


@given(sst.evaluations(), st.randoms(use_true_random=False))
def test_an_id_that_stands_in_a_shortlist_again_changes_nothing(evaluation, chance):
    """Copies of an id are put anywhere behind its first place."""
    runs = []
    for run in evaluation.runs:
        doubled = list(run["shortlist"])
        for one in run["shortlist"]:
            doubled.insert(chance.randint(doubled.index(one) + 1, len(doubled)), one)
        runs.append(run | {"shortlist": doubled})
    found = se.report(scored_of(evaluation, sst.to_runs(runs)))
    assert as_bytes(found) == as_bytes(se.report(scored_of(evaluation)))


@given(sst.evaluations(copies=True), st.randoms(use_true_random=False))
def test_any_copy_of_a_capability_is_as_right(evaluation, chance):
    """Where gold is written by name, an id can be swapped with a copy of it everywhere in the runs."""
    entries = [entry | {"kind": "skill"} for entry in evaluation.entries]
    by_id = {entry["id"]: entry for entry in entries}
    fixtures = [
        fixture | {"gold": [by_id[gold]["name"] if gold in by_id else gold for gold in fixture["gold"]]}
        for fixture in evaluation.fixtures
    ]
    copies = {}
    for entry in entries:
        copies.setdefault(entry["name"].replace(":", "-").lower(), []).append(entry["id"])
    swap = {}
    for ids in copies.values():
        swap |= dict(zip(ids, chance.sample(ids, len(ids)), strict=True))
    runs = [
        run | {"shortlist": [swap[one] for one in run["shortlist"]], "chosen": swap.get(run["chosen"])}
        for run in evaluation.runs
    ]
    before, after = (
        se.report(scored_of(sst.Evaluation(entries, fixtures, log))) for log in (evaluation.runs, runs)
    )
    assert as_bytes(after) == as_bytes(before)


@given(sst.evaluations(copies=True))
@FEW
def test_copies_in_a_shortlist_are_one_answer(evaluation):
    found = rows(se.report(scored_of(evaluation)))["goldInShortlistRate"]
    assert found["numerator"] <= found["denominator"]
    names = {
        fixture["id"]: len({gold for gold in fixture["gold"] if gold != NONE})
        for fixture in evaluation.fixtures
    }
    # A fixture's names are never more than it wrote, however many ids carry them.
    assert found["denominator"] <= sum(names[run["fixture_id"]] for run in evaluation.runs)


@given(sst.evaluations())
@FEW
def test_a_run_twice_is_refused(evaluation):
    with pytest.raises(se.ContractError) as caught:
        scored_of(evaluation, sst.to_runs([*evaluation.runs, evaluation.runs[0]]))
    assert caught.value.counts == {"run.duplicate": 1}


# -- sets of one kind ----------------------------------------------------------------------------------------


@given(sst.evaluations(abstain=True, complete=True, decisions=["skipped"]))
@FEW
def test_a_router_that_always_abstains_is_right_where_it_must(evaluation):
    found = rows(se.report(scored_of(evaluation)))
    for name in ("top1Accuracy", "abstentionCorrectness", "nonePrecision", "noneRecall", "noneF1"):
        assert found[name]["value"] == 1.0
    for name in ("recall@K", "MRR", "goldInShortlistRate", "answerableInjected"):
        assert (found[name]["value"], found[name]["reason"]) == (None, "no-answerable-fixtures")
    assert found["offListRate"]["reason"] == "nothing-picked"


@given(sst.evaluations(abstain=True))
@FEW
def test_an_all_abstain_set_has_no_layer_one_and_no_kinds(evaluation):
    found = se.report(scored_of(evaluation))
    assert not [scope for scope in found["scope"].unique() if scope.startswith("kind:")]
    assert set(found.filter(metric="recall@K")["reason"]) == {"no-answerable-fixtures"}
    sst.assert_routing_identities(found)


@given(sst.evaluations(abstain=False))
@FEW
def test_a_set_without_abstentions_has_no_recall_of_abstaining(evaluation):
    found = se.report(scored_of(evaluation))
    assert set(found.filter(metric="noneRecall")["reason"]) == {"no-abstain-fixtures"}


@given(sst.evaluations(complete=True, decisions=["degraded"]))
@FEW
def test_a_router_that_always_fails_is_never_right(evaluation):
    scored = scored_of(evaluation)
    found = rows(se.report(scored))
    assert found["degradedRate"]["value"] == 1.0
    for name in ("top1Accuracy", "abstentionCorrectness"):
        assert found[name]["value"] == 0.0
    must = any(fixture["gold"] == [NONE] for fixture in evaluation.fixtures)
    assert found["noneRecall"]["value"] == (0.0 if must else None)
    assert (found["noneF1"]["value"], found["noneF1"]["reason"]) == (
        (0.0, None) if must else (None, "nothing-abstained")
    )
    assert found["nonePrecision"]["reason"] == "nothing-abstained"
    assert found["agreementRate"]["value"] in (0.0, None)
    # No failing router passes the gate, whatever it retrieved.
    assert "failed" in se.gate(se.report(scored))["verdict"].to_list()


@given(sst.evaluations(complete=True), st.data())
def test_a_run_that_fails_never_makes_the_router_look_better(evaluation, data):
    at = data.draw(st.integers(0, len(evaluation.runs) - 1))
    runs = list(evaluation.runs)
    runs[at] = runs[at] | {"decision": "degraded", "chosen": None}
    before = rows(se.report(scored_of(evaluation)))
    after = rows(se.report(scored_of(evaluation, sst.to_runs(runs))))
    for name in ("top1Accuracy", "abstentionCorrectness", "noneRecall", "agreementRate"):
        one, other = before[name]["value"], after[name]["value"]
        assert (one is None) == (other is None)
        assert one is None or other <= one
    assert after["recall@K"] == before["recall@K"]


@given(sst.evaluations(complete=True, decisions=None))
@FEW
def test_what_only_retrieves_has_layer_one_only(evaluation):
    found = se.report(scored_of(evaluation))
    sst.assert_reports_equal(found, oracle(evaluation))
    layers = {metric.name for metric in se.METRICS if metric.layer in ("decision", "stability")}
    assert set(found.filter(pl.col("metric").is_in(layers))["value"]) == {None}


@given(sst.evaluations())
@FEW
def test_empty_shortlists_reach_nothing(evaluation):
    runs = [run | {"shortlist": []} for run in evaluation.runs]
    found = rows(se.report(scored_of(evaluation, sst.to_runs(runs))))
    assert "recall@1" not in found
    for name in ("recall@K", "MRR", "goldInShortlistRate", "meanShortlistLength"):
        assert found[name]["value"] in (0.0, None)


@given(sst.evaluations())
@FEW
def test_no_runs_are_refused(evaluation):
    with pytest.raises(se.InputError, match="no records"):
        scored_of(evaluation, sst.to_runs([]))


@given(sst.evaluations())
@FEW
def test_fixtures_without_a_record_are_refused_and_so_is_an_empty_corpus(tmp_path_factory, evaluation):
    folder = tmp_path_factory.mktemp("empty")
    corpus = sst.to_corpus(evaluation.entries)
    path = folder / "fixtures.jsonl"
    path.write_text("# nothing yet\n\n", encoding="utf-8")
    with pytest.raises(se.InputError):
        se.read_fixtures(path, corpus)
    path = folder / "corpus.json"
    path.write_text('{"entries": []}', encoding="utf-8")
    with pytest.raises(se.InputError):
        se.read_corpus(path)


# -- layer 1 and its misses ----------------------------------------------------------------------------------


@given(sst.evaluations(complete=True, abstain=False))
@FEW
def test_gold_put_first_is_perfect_retrieval(evaluation):
    corpus = sst.to_corpus(evaluation.entries)
    golds = sst.to_fixtures(evaluation.fixtures, corpus).golds
    first = {
        fixture["id"]: golds.filter(fixture=number)["id"].to_list()
        for number, fixture in enumerate(evaluation.fixtures)
    }
    runs = [run | {"shortlist": first[run["fixture_id"]] + run["shortlist"]} for run in evaluation.runs]
    found = rows(se.report(scored_of(evaluation, sst.to_runs(runs))))
    for name in ("recall@K", "recall@1", "MRR", "goldInShortlistRate"):
        assert found[name]["value"] == 1.0
    assert found["wrongPickNotOffered"]["value"] == 0.0


@given(sst.evaluations(configs=2))
@FEW
def test_misses_and_right_runs_are_all_runs(evaluation):
    """Every decided run that is not right is a miss with a cause."""
    scored = scored_of(evaluation)
    report = se.report(scored)
    for config in ("config 0", "config 1"):
        right = rows(report, config=config)["top1Accuracy"]
        missed = se.misses(scored).filter(config=config)
        wrong = missed.unique(["fixture_id", "repeat"]).height
        assert wrong >= right["denominator"] - right["numerator"]
