"""Layer 1 against ir_measures, where both mean the same: rankings of distinct ids.

A fixture is a query, a gold id a relevant document, the shortlist a ranking. Recall at K is then the peer's
success at K (whether there is one among the first K), and MRR its reciprocal rank. What the peer does not
know stays out: fixtures that must be abstained from, ids that stand twice, several ids of one answer.
"""

import ir_measures
import pytest
from hypothesis import given
from ir_measures import RR, Success

import skillful_eval as se
from skillful_eval import testing as sst

NO_ABSTENTIONS = sst.evaluations(abstain=False, complete=True, repeats=1, repeated_ids=False)


def peer(evaluation, fixtures, depths):
    """What the peer says of the same rankings: its means over queries."""
    ids = fixtures.frame["fixture_id"].to_list()
    qrels = [
        ir_measures.Qrel(ids[row["fixture"]], row["id"], 1)
        for row in fixtures.golds.unique(["fixture", "id"]).to_dicts()
    ]
    # The peer ranks by score, so scores fall from place to place and none is tied.
    ranking = [
        ir_measures.ScoredDoc(run["fixture_id"], one, float(len(run["shortlist"]) - place))
        for run in evaluation.runs
        for place, one in enumerate(run["shortlist"])
    ]
    measures = [RR, *(Success @ depth for depth in depths)]
    # It gives no value to a query without a ranking: an empty shortlist reaches nothing, so it counts 0.
    sums = dict.fromkeys(measures, 0.0)
    for one in ir_measures.iter_calc(measures, qrels, ranking):
        sums[one.measure] += one.value
    return {str(measure): total / len(ids) for measure, total in sums.items()}


@given(NO_ABSTENTIONS)
def test_recall_and_mrr_are_the_peer_s_success_and_reciprocal_rank(evaluation):
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    report = se.report(se.score(sst.to_runs(evaluation.runs), fixtures, corpus)).filter(scope="all")
    values = dict(report.select("metric", "value").rows())
    longest = max(len(run["shortlist"]) for run in evaluation.runs)
    found = {"RR": values["MRR"], f"Success@{longest or 1}": values["recall@K"]}
    found |= {f"Success@{depth}": values[f"recall@{depth}"] for depth in range(1, longest + 1)}
    assert found == pytest.approx(peer(evaluation, fixtures, range(1, max(longest, 1) + 1)), rel=1e-12)
