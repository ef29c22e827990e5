from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.router.protocol import shortlist_schema
from skillful_eval.router.quotas import Quotas
from skillful_eval.router.ranking import RANKING, Retriever
from skillshift.frame.errors import UsageError

HEAD = {
    "capturedAt": "",
    "fingerprint": "unknown",
    "sanitised": False,
    "excludedCount": 0,
    "redactedCount": 0,
}
ALL = Quotas(9, 9, 9, 9)


def entry(id_, description="", kind="skill", name="x", **other):
    return {"id": id_, "kind": kind, "name": name, "description": description, "runtime": "r", **other}


def ranked(entries, prompts, depth=ALL, **options):
    corpus = make_corpus(HEAD, entries, "corpus.json")
    return Retriever(corpus, **options).rank(pl.Series("prompt", prompts, dtype=pl.String), depth)


def ids(entries, prompt, quotas=ALL, **options):
    shortlist = ranked(entries, [prompt], quotas, **options).cut(quotas)["shortlist"]
    return shortlist.cast(pl.List(pl.String)).to_list()[0]


def test_the_best_come_first_and_equal_scores_by_id():
    entries = [
        entry("z", "plan one"),
        entry("b", "plan two"),
        entry("a", "none of it"),
        entry("c", "plan plan"),
    ]
    assert ids(entries, "a plan") == ["c", "b", "z", "a"]


def test_what_scores_zero_fills_a_quota_by_id():
    entries = [entry("d", "plan"), entry("c", "1"), entry("b", "2"), entry("a", "3")]
    assert ids(entries, "plan", Quotas(skill=3)) == ["d", "a", "b"]
    assert ids(entries, "nothing", Quotas(skill=2)) == ["a", "b"]
    assert ids(entries, "", Quotas(skill=2)) == ["a", "b"]
    assert ids(entries, "what is the", Quotas(skill=2)) == ["a", "b"]


def test_unused_quota_is_not_given_away():
    entries = [entry(f"s{i}", f"plan {i}") for i in range(5)] + [entry("m", "plan", "mcp")]
    assert len(ids(entries, "plan", Quotas(2, 4, 3, 2))) == 3
    assert ids(entries, "plan", Quotas(0, 0, 3, 2)) == []


def test_commands_and_rules_share_a_quota_and_a_ranking():
    entries = [entry("c1", "plan", "command"), entry("r1", "plan plan", "rule"), entry("r2", "it", "rule")]
    assert ids(entries, "plan", Quotas(command_rule=2)) == ["r1", "c1"]


def test_copies_collapse_to_the_best_ranked_one_before_the_cut():
    entries = [
        entry("a", "Plans.", name="one"),
        entry("b", "Plans.", name="plan"),
        entry("c", "Plans.", name="plan"),
        entry("d", "other"),
    ]
    assert ids(entries, "plan", Quotas(skill=2)) == ["b", "d"]
    assert ids(entries, "plans", Quotas(skill=2)) == ["a", "d"]
    assert ids(entries, "nothing") == ["a", "d"]


def test_copies_are_of_one_kind():
    entries = [entry("a", "Plans.", "command"), entry("b", "Plans.", "rule"), entry("c", "Plans.", "agent")]
    assert ids(entries, "plans") == ["c", "a", "b"]
    assert ids(entries[:2], "plans", Quotas(command_rule=1)) == ["a"]


def test_entries_that_share_having_no_description_collapse_too():
    entries = [entry("a", "", name="deploy"), entry("b", "", name="plan")]
    assert ids(entries, "plan") == ["b"]


def test_copies_count_in_how_rare_a_term_is():
    """Five copies hold "plan": in the group it is common, and "deploy" is rare."""
    entries = [entry(f"c{i}", "the plan") for i in range(5)] + [entry("d", "deploy"), entry("e", "other")]
    scores = ranked(entries, ["plan deploy"]).frame
    assert scores["code"].to_list() == [5, 0, 6]
    assert scores["score"].is_sorted(descending=True)


def test_when_to_use_is_searched_unless_it_is_turned_off():
    entries = [entry("a", "1"), entry("b", "2", whenToUse="to plan")]
    assert ids(entries, "plan") == ["b", "a"]
    assert ids(entries, "plan", when_to_use=False) == ["a", "b"]


def test_a_term_that_occurs_twice_counts_twice():
    entries = [entry("a", "plan"), entry("b", "deploy")]
    once, twice = ranked(entries, ["plan", "plan plan"]).frame.partition_by("prompt")
    assert twice["score"][0] == pytest.approx(2 * once["score"][0], rel=1e-15)
    assert ids(entries, "plan deploy deploy") == ["b", "a"]


def test_groups_are_merged_by_score_and_then_by_id():
    entries = [entry("b", "plan"), entry("a", "plan", "agent"), entry("c", "plan deploy", "mcp")]
    assert ids(entries, "plan") == ["a", "b", "c"]


def test_a_ranking_has_the_documented_columns():
    ranking = ranked([entry("b", "plan"), entry("a", "x", "agent")], ["plan", "?"])
    assert ranking.frame.schema == RANKING
    assert ranking.frame.select("prompt", "group", "place", "code").rows() == [
        (0, "skill", 1, 0),
        (0, "agent", 1, 1),
        (1, "agent", 1, 1),
        (1, "skill", 1, 0),
    ]


@pytest.mark.parametrize("prompts", [[], ["plan"], ["", "plan"]])
@pytest.mark.parametrize("quotas", [Quotas(0, 0, 0, 0), Quotas(), Quotas(100, 100, 100, 100)])
def test_a_cut_has_the_protocol_s_columns_and_a_row_a_prompt(prompts, quotas):
    entries = [entry("a", "plan"), entry("b", "other")]
    found = ranked(entries, prompts, quotas).cut(quotas)
    assert found.schema == shortlist_schema(make_corpus(HEAD, entries, ""))
    assert found.height == len(prompts)
    assert set(found["shortlist"].list.len()) <= {min(2, quotas["skill"])}
    assert found["shortlist"].list.len().equals(found["scores"].list.len())


def test_a_cut_cannot_be_deeper_than_the_ranking():
    ranking = ranked([entry("a", "1"), entry("b", "2"), entry("m", "3", "mcp")], ["x"], Quotas(1, 1, 1, 1))
    with pytest.raises(UsageError, match="quota skill: 2 is more than the 1 that were ranked; rank deeper"):
        ranking.cut(Quotas(2, 1, 1, 1))
    assert ranking.cut(Quotas(1, 4, 3, 2))["shortlist"].list.len().to_list() == [2]


@pytest.mark.parametrize("prompts", [pl.Series([1]), pl.Series(["a", None]), pl.Series([None])])
def test_prompts_are_text(prompts):
    retriever = Retriever(make_corpus(HEAD, [entry("a")], ""))
    with pytest.raises(UsageError, match=r"prompts: found .*, expected text in each"):
        retriever.rank(prompts, ALL)


def test_a_corpus_without_a_single_word_is_ranked_by_id():
    assert ids([entry("b", "!", name="?"), entry("a", "the", name="?")], "plan") == ["a", "b"]


def test_more_ids_than_a_byte_numbers():
    entries = [entry(f"i{i:03}", f"w{i}") for i in range(300)]
    assert ids(entries, "w299", Quotas(skill=2)) == ["i299", "i000"]


def test_how_many_threads_there_are_does_not_matter(root):
    """In processes of their own, since the number is fixed when Polars is imported."""
    code = """
import hashlib
import os
import subprocess
import sys

import polars as pl
import skillful_eval as se
from skillful_eval.router.quotas import DEFAULT
from skillful_eval.router.ranking import Retriever
from skillshift import datasets
corpus = se.read_corpus(datasets.path("routing/corpus.json"))
prompts = corpus.entries["description"].sort()
frame = Retriever(corpus).rank(prompts, DEFAULT).frame
print(pl.thread_pool_size(), hashlib.sha256(frame.write_csv().encode()).hexdigest())
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for threads in ("1", "3")
    ]
    assert [threads for threads, _ in found] == ["1", "3"]
    assert found[0][1] == found[1][1]
