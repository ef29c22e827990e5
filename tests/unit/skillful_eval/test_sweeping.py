"""The sweep against the runner: each row is what the gate says of runs that were really made."""

import json
import random
from dataclasses import replace

import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.gating import FAILED, gate
from skillful_eval.recording.document import Entry, Recording
from skillful_eval.recording.transport import ReplayTransport
from skillful_eval.rendering.sweep_document import sweep_document
from skillful_eval.router.bm25 import Bm25Router
from skillful_eval.router.http import HttpRouter
from skillful_eval.router.prompts import sent
from skillful_eval.router.quotas import Quotas, parse_ranges
from skillful_eval.router.thresholds import Thresholds
from skillful_eval.runner import run_router
from skillful_eval.sweep_plan import SweepSettings
from skillful_eval.sweep_rows import BEST_FIRST, DENOMINATOR
from skillful_eval.sweeping import sweep
from skillshift import datasets
from skillshift.frame.errors import InputError, UsageError

CRITERIA = (*se.CRITERIA, se.Criterion("MRR", minimum=0.4), se.Criterion("degradedRate", maximum=0.01))
QUOTAS = parse_ranges(["skill=2:6:4"])
NAME = "skill=2,mcp=4,agent=3,command+rule=2,none=0.4,winner=0.25"


@pytest.fixture(scope="module")
def corpus():
    return se.read_corpus(datasets.path("routing/corpus.json"))


@pytest.fixture(scope="module")
def dev(corpus):
    return se.read_fixtures(datasets.path("routing/fixtures.dev.jsonl"), corpus)


@pytest.fixture(scope="module")
def holdout(corpus):
    return se.read_fixtures(datasets.path("routing/fixtures.holdout.jsonl"), corpus)


def recording_of(fixtures, corpus, *, repeats=3, **how):
    """Answers of a model that often picks what is offered at quota 6, and lacks one fixture."""
    chance = random.Random(1)  # noqa: S311 - no secret
    prompts = fixtures.frame["prompt"]
    offered = Bm25Router(corpus, retrieval_only=True).shortlist(prompts)["shortlist"].cast(pl.List(pl.String))
    entries = {}
    for fixture, task, ids in zip(fixtures.frame["fixture_id"], sent(prompts, **how), offered, strict=True):
        favourite = chance.choice([*ids[:4], "none"])
        responses = {}
        for repeat in range(repeats):
            choice = chance.choice([favourite, favourite, favourite, *ids])
            shares = {choice: chance.choice([0.2, 0.4, 0.6])} | {"none": chance.choice([0.1, 0.4, 0.5])}
            primary = {"choice": choice, "probabilities": shares}
            responses[repeat] = {"answers": {"primary": primary}}
        entries[fixture] = Entry(task, responses)
    entries.popitem()
    return Recording(entries, "recording.json")


def runs_of(row, fixtures, corpus, recording, out, settings, repeat):
    quotas = Quotas(row["skill"], row["mcp"], row["agent"], row["command+rule"])
    router = HttpRouter(
        corpus,
        Bm25Router(corpus, quotas=quotas, when_to_use=settings.when_to_use),
        "http://replay.invalid/",
        thresholds=Thresholds(row["none_threshold"], row["winner_floor"]),
        max_prompt_chars=settings.max_prompt_chars,
        upload_prompts=settings.upload_prompts,
        transport=ReplayTransport(recording),
    )
    run_router(router, fixtures, corpus, repeat=repeat, out=out, heuristics=settings.heuristics)
    return se.scan_runs(out)


@pytest.mark.parametrize(
    ("settings", "repeat"),
    [
        (SweepSettings(), 3),
        (SweepSettings(), 4),
        (SweepSettings(when_to_use=False, heuristics=False, max_prompt_chars=20), 2),
        (SweepSettings(upload_prompts=False), 1),
    ],
)
def test_a_row_is_the_gate_over_the_runs_of_its_configuration(tmp_path, dev, corpus, settings, repeat):
    how = {"max_chars": settings.max_prompt_chars, "upload": settings.upload_prompts}
    recording = recording_of(dev, corpus, **how)
    found = sweep(
        dev, corpus, quotas=QUOTAS, recording=recording, none_thresholds="0.3:0.5:0.1",
        winner_floors=[0, 0.4, 1], settings=settings, repeat=repeat, criteria=CRITERIA,
    )  # fmt: skip
    assert found.frame.height == len(found.plan) == 18
    for row in found.frame.gather_every(5).to_dicts():
        runs = runs_of(row, dev, corpus, recording, tmp_path / f"{row['config']}.parquet", settings, repeat)
        verdicts = gate(se.report(se.score(runs, dev, corpus)), CRITERIA)
        for one in verdicts.to_dicts():
            assert row[one["criterion"]] == one["value"], one
            assert row[one["criterion"] + DENOMINATOR] == one["denominator"], one
        failed = verdicts.filter(verdict=FAILED)
        assert (
            row["blocked_by"]
            == failed.select(pl.format("{}: {}", "criterion", "reason")).to_series().to_list()
        )
        assert row["criteria_met"] == row["criteria"] - failed.height


def test_without_answers_only_retrieval_has_values(dev, corpus):
    found = sweep(dev, corpus, quotas=QUOTAS)
    assert found.repeat == 1
    for row in found.frame.to_dicts():
        router = Bm25Router(corpus, quotas=Quotas(skill=row["skill"]), retrieval_only=True)
        runs = dev.frame.select("fixture_id", repeat=0).hstack(
            router.shortlist(dev.frame["prompt"]).drop("scores")
        )
        nothing = {name: pl.lit(None, dtype=pl.String) for name in ("decision", "chosen", "reason")}
        report = se.report(se.score(runs.with_columns(**nothing), dev, corpus)).filter(scope="all")
        assert row["recall@K"] == report.filter(metric="recall@K")["value"].item()
        assert row["none_threshold"] is row["winner_floor"] is row["noneF1"] is None
        assert "noneF1: retrieval-only" in row["blocked_by"]


def test_the_order_is_as_documented_however_many_quotas_there_are(dev, corpus):
    given = {
        "recording": recording_of(dev, corpus),
        "none_thresholds": "0.2:0.6:0.1",
        "criteria": [se.Criterion("noneRecall", minimum=0.5)],
    }
    found = sweep(dev, corpus, quotas=parse_ranges(["skill=1:9:4", "mcp=1:2"]), **given)
    frame = found.frame
    assert set(frame["verdict"]) == {"passed", "failed"}
    signs = {"verdict": lambda text: text != "passed", "criteria_met": lambda met: -met}
    keys = [
        tuple(signs.get(name, lambda same: same)(row[name]) for name in BEST_FIRST)
        for row in frame.to_dicts()
    ]
    assert keys == sorted(keys)
    assert frame["config"].is_duplicated().sum() == 0
    assert (frame["shortlist"] == frame["skill"] + frame["mcp"] + 5).all()
    again = [sweep(dev, corpus, quotas=[one], **given).frame for one in found.plan.quotas]
    assert pl.concat(again).sort("config").equals(frame.sort("config"))


def test_parts_change_nothing(dev, corpus, monkeypatch):
    given = {"quotas": QUOTAS, "recording": recording_of(dev, corpus), "none_thresholds": "0.3:0.5:0.1"}
    expected = sweep(dev, corpus, **given).frame
    monkeypatch.setattr("skillful_eval.sweeping._ROWS", 1)
    assert sweep(dev, corpus, **given).frame.equals(expected)


# -- development sets only -----------------------------------------------------------------------------------


def test_a_holdout_set_is_refused_with_the_reason_and_the_way_out(holdout, corpus):
    for quotas in (QUOTAS, QUOTAS[:1], None):
        with pytest.raises(UsageError, match=r"may not make it.*name it with --confirm CONFIG"):
            sweep(holdout, corpus, quotas=quotas)


def test_only_the_confirmed_configuration_is_evaluated_on_a_holdout_set(holdout, corpus):
    found = sweep(holdout, corpus, recording=recording_of(holdout, corpus), confirm=NAME)
    assert found.frame["config"].to_list() == [NAME] == [found.confirmed]
    among = sweep(
        holdout, corpus, quotas=QUOTAS, recording=recording_of(holdout, corpus), confirm=NAME,
        none_thresholds="0.3:0.5:0.1",
    )  # fmt: skip
    assert among.frame.equals(found.frame)


@pytest.mark.parametrize(
    "name", ["skill=2", "", NAME.replace("0.4", "0.3:0.4:0.1"), f"{NAME},none=0.5", "skill"]
)
def test_no_name_gets_several_out_of_a_holdout_set(holdout, corpus, name):
    with pytest.raises(UsageError, match=r"confirm: (unknown|ambiguous)"):
        sweep(holdout, corpus, quotas=QUOTAS, recording=recording_of(holdout, corpus), confirm=name)


def test_a_development_set_that_shares_something_with_the_holdout_set_is_refused(dev, holdout, corpus):
    assert sweep(dev, corpus, holdout=holdout).why_development == (
        f"{dev.name} shares no id and no prompt with {holdout.name}."
    )
    notes = sweep_document(sweep(dev, corpus), "built in").notes
    assert any("taken for a development set" in note for note in notes)
    assert sweep(dev, corpus, confirm=NAME.partition(",none")[0], holdout=dev).why_development is None
    with pytest.raises(UsageError, match="shares ids or prompts"):
        sweep(dev, corpus, holdout=dev)


# -- arguments and files -------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused(dev, corpus):
    for repeat in (0, True, "3"):
        with pytest.raises(UsageError, match="repeat"):
            sweep(dev, corpus, repeat=repeat)
    for criteria in ([], ["recall@K"]):
        with pytest.raises(UsageError, match="criteria"):
            sweep(dev, corpus, criteria=criteria)
    other = replace(corpus, digest="other")
    with pytest.raises(UsageError, match="another corpus"):
        sweep(dev, other)


def test_the_file_says_what_it_is(tmp_path, dev, corpus):
    found = sweep(dev, corpus, quotas=QUOTAS, criteria=[se.Criterion("MRR", minimum=0.4)])
    path = tmp_path / "deep" / "sweep.parquet"
    found.write(path)
    assert pl.read_parquet(path).equals(found.frame)
    told = pl.read_parquet_metadata(path)
    assert told["kind"] == "sweep"
    assert (told["fixture_set"], told["fixture_digest"]) == (dev.name, dev.digest)
    assert (told["corpus_fingerprint"], told["corpus_digest"]) == (corpus.fingerprint, corpus.digest)
    assert (told["configurations"], told["repeat"]) == ("2", "1")
    (criterion,) = json.loads(told["criteria"])
    assert criterion == {"metric": "MRR", "minimum": 0.4, "maximum": None, "scope": "all"}
    first = path.read_bytes()
    sweep(dev, corpus, quotas=QUOTAS, criteria=[se.Criterion("MRR", minimum=0.4)]).write(path)
    assert path.read_bytes() == first
    assert [one.name for one in path.parent.iterdir()] == ["sweep.parquet"]


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path, dev, corpus, monkeypatch):
    found = sweep(dev, corpus)
    with pytest.raises(UsageError, match="found a folder"):
        found.write(tmp_path)
    path = tmp_path / "sweep.parquet"
    path.write_bytes(b"earlier")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skillshift.frame.writing.write_parquet", full)
    with pytest.raises(InputError, match="No space left"):
        found.write(path)
    assert path.read_bytes() == b"earlier"
    assert [one.name for one in tmp_path.iterdir()] == ["sweep.parquet"]
