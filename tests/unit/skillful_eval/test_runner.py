"""The runner: one row a fixture and repeat, resumed after any interruption, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import skillful_eval as se
from skillful_eval.corpus import make_corpus
from skillful_eval.router.protocol import OUTCOMES, shortlist_schema
from skillful_eval.runner import run_router
from skillful_eval.runner_parts import open_parts, parts_folder
from skillshift.frame.errors import ContractError, InputError, UsageError

SETTINGS = {"router": "fake", "quotas": "skill=2"}


class Fake:
    """Picks the first of its shortlist; counts what it is asked, and breaks off where it is told to."""

    def __init__(self, corpus, *, batch=2, settings=None, fails_at=None, **columns):
        self.corpus, self.batch = corpus, batch
        self.settings = settings or SETTINGS
        self.fails_at, self.columns = fails_at, columns
        self.asked, self.shortlisted, self.sizes = [], [], []

    def shortlist(self, prompts):
        self.shortlisted.append(prompts.to_list())
        ids = self.corpus.entries["id"].to_list()
        rows = [[ids[len(prompt) % len(ids)], ids[0]] for prompt in prompts]
        return pl.DataFrame({"shortlist": rows, "scores": [[1.0, 0.5]] * len(rows)}, schema=self.schema)

    @property
    def schema(self):
        return shortlist_schema(self.corpus)

    def decide(self, requests):
        if self.fails_at is not None and len(self.asked) >= self.fails_at:
            raise KeyboardInterrupt
        self.sizes.append(requests.height)
        self.asked += requests.select("fixture_id", "repeat").rows()
        nothing = {name: pl.lit(None, dtype=dtype) for name, dtype in OUTCOMES.items()}
        picked = {
            "decision": pl.lit("injected"),
            "chosen": pl.col("shortlist").list.first().cast(pl.String),
            "detail": pl.format("{} {}", "fixture_id", "repeat"),
        }
        return (
            requests.with_columns(**nothing | picked | self.columns).select(OUTCOMES.names()).cast(OUTCOMES)
        )


@pytest.fixture(autouse=True)
def _at_one_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "runs.parquet"


@pytest.fixture
def run_of(corpus, fixtures, out):
    def make(router=None, **options):
        options = {"heuristics": False, "keep_every_s": 0, "out": out, "repeat": 3} | options
        return run_router(router or Fake(corpus), fixtures, corpus, **options)

    return make


def test_every_fixture_and_repeat_is_a_row_in_the_order_of_the_fixtures(run_of, corpus, fixtures, out):
    summary = run_of()
    runs = pl.read_parquet(out)
    expected = [(name, repeat) for name in fixtures.frame["fixture_id"] for repeat in range(3)]
    assert runs.select("fixture_id", "repeat").rows() == expected
    assert runs.columns == ["fixture_id", "repeat", "shortlist", *OUTCOMES, "config"]
    assert runs.schema["shortlist"] == pl.List(pl.Enum(corpus.entries["id"]))
    assert runs["detail"].to_list() == [f"{name} {repeat}" for name, repeat in expected]
    assert runs["chosen"].to_list() == runs["shortlist"].list.first().cast(pl.String).to_list()
    assert (summary.runs, summary.fixtures, summary.resumed, summary.degraded) == (12, 4, 0, 0)
    assert summary.decisions == {"injected": 12, "skipped": 0, "degraded": 0}
    assert not parts_folder(out).exists()


def test_the_runs_score_with_all_their_columns(run_of, corpus, fixtures, out):
    run_of()
    scored = se.score(se.scan_runs(out), fixtures, corpus)
    assert scored.runs.collect().height == 12
    assert {"latency_reason", "detail"} <= set(scored.runs.collect_schema().names())
    assert "runs.undeclared" not in scored.provenance.findings["code"].to_list()


def test_each_distinct_prompt_is_shortlisted_once(fixtures_of, corpus, out):
    rows = [("undo", "coding", ["db"]), ("plan", "coding", ["db"]), ("again", "coding", ["db"])]
    fixtures = fixtures_of(rows)
    same = fixtures.frame.with_columns(prompt=pl.Series(["one", "two two", "one"]))
    object.__setattr__(fixtures, "frame", same)
    router = Fake(corpus)
    run_router(router, fixtures, corpus, out=out, repeat=2, heuristics=False)
    assert router.shortlisted == [["one", "two two"]]
    lists = pl.read_parquet(out)["shortlist"].cast(pl.List(pl.String)).to_list()
    ids = corpus.entries["id"].to_list()
    one, two = [ids[3], ids[0]], [ids[0], ids[0]]
    assert lists == [one, one, two, two, one, one]


@pytest.mark.parametrize("batch", [1, 2, 5, 12, 100, None])
@pytest.mark.parametrize("keep_every_s", [0, 1000])
def test_the_bytes_do_not_depend_on_the_batch(run_of, corpus, out, batch, keep_every_s):
    run_of(Fake(corpus, batch=7))
    expected = out.read_bytes()
    router = Fake(corpus, batch=batch)
    run_of(router, keep_every_s=keep_every_s)
    assert out.read_bytes() == expected
    assert max(router.sizes) <= (batch or 12)
    assert len(router.asked) == len(set(router.asked)) == 12


@pytest.mark.parametrize("fails_at", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("keep_every_s", [0, 1000])
def test_after_an_interruption_only_what_is_missing_is_asked(run_of, corpus, out, fails_at, keep_every_s):
    run_of()
    expected = out.read_bytes()
    out.unlink()
    first = Fake(corpus, batch=1, fails_at=fails_at)
    with pytest.raises(KeyboardInterrupt):
        run_of(first, keep_every_s=keep_every_s)
    assert not out.exists()
    second = Fake(corpus, batch=4)
    summary = run_of(second)
    assert out.read_bytes() == expected
    assert summary.resumed == len(first.asked) == fails_at
    assert sorted(first.asked + second.asked) == sorted(set(first.asked) | set(second.asked))
    assert second.shortlisted == []
    assert not parts_folder(out).exists()


def test_an_interruption_before_any_decision_leaves_nothing(run_of, corpus, out):
    with pytest.raises(KeyboardInterrupt):
        run_of(Fake(corpus, fails_at=0))
    assert list(out.parent.iterdir()) == []


def interrupt(run_of, corpus, **options):
    with pytest.raises(KeyboardInterrupt):
        run_of(Fake(corpus, fails_at=4), **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("repeat", {"repeat": 2}),
        ("config", {"config": "other"}),
        ("tuned_on", {"tuned_on": "dev"}),
        ("heuristics", {"heuristics": True}),
        ("record", {"facts": {"record": "a.json"}}),
    ],
)
def test_parts_of_another_run_are_not_mixed_in(run_of, corpus, out, name, options):
    interrupt(run_of, corpus)
    before = sorted(parts_folder(out).iterdir())
    with pytest.raises(UsageError, match=rf"{name}: found .*, expected"):
        run_of(**options)
    assert sorted(parts_folder(out).iterdir()) == before
    assert run_of().resumed == 4


def test_a_difference_in_the_routers_settings_is_named(run_of, corpus):
    interrupt(run_of, corpus)
    with pytest.raises(UsageError, match=r'router.quotas: found "skill=2", expected "skill=3"'):
        run_of(Fake(corpus, settings=SETTINGS | {"quotas": "skill=3"}))


def test_fixtures_in_another_order_are_another_run(run_of, corpus, fixtures):
    interrupt(run_of, corpus)
    object.__setattr__(fixtures, "frame", fixtures.frame.reverse())
    with pytest.raises(UsageError, match="fixture_order"):
        run_of()


def test_a_part_that_is_cut_is_asked_again(run_of, corpus, out):
    run_of()
    expected = out.read_bytes()
    interrupt(run_of, corpus)
    part = min(parts_folder(out).glob("part-*"))
    part.write_bytes(part.read_bytes()[:-10])
    (parts_folder(out) / "partial").write_bytes(b"PAR1")
    assert run_of().resumed == 2
    assert out.read_bytes() == expected


def test_a_part_with_other_columns_is_asked_again(run_of, corpus, out):
    interrupt(run_of, corpus)
    part = min(parts_folder(out).glob("part-*"))
    pl.read_parquet(part).drop("detail").write_parquet(part)
    assert run_of().resumed == 2


def test_a_removal_that_is_broken_off_counts_for_nothing(run_of, out, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        run_of()
    assert any(parts_folder(out).glob("part-*"))
    assert run_of().resumed == 0
    assert not parts_folder(out).exists()


def test_what_is_left_of_a_removal_counts_for_nothing(run_of, corpus, out):
    interrupt(run_of, corpus)
    (parts_folder(out) / "run.json").unlink()
    assert run_of().resumed == 0


def test_a_folder_with_something_else_in_it_is_left_alone(run_of, out):
    parts_folder(out).mkdir()
    (parts_folder(out) / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match=r"thesis.txt.*Choose another output"):
        run_of()
    assert [path.name for path in parts_folder(out).iterdir()] == ["thesis.txt"]


def test_a_manifest_that_no_run_wrote_is_refused(run_of, out):
    parts_folder(out).mkdir()
    (parts_folder(out) / "run.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="not what a run writes"):
        run_of()


def test_an_earlier_output_stays_until_the_new_one_is_whole(run_of, corpus, out):
    run_of()
    before = out.read_bytes()
    interrupt(run_of, corpus, config="other")
    assert out.read_bytes() == before
    run_of(config="other")
    assert pl.read_parquet(out)["config"].unique().to_list() == ["other"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("runs.json", r"ends in \.parquet"),
        ("folder.parquet", "is a folder"),
        ("missing/runs.parquet", "does not exist; make it first"),
        ("file/runs.parquet", "does not exist; make it first"),
        ("n" * 300 + ".parquet", "cannot be written|File name too long"),
        ("nu\0ll.parquet", "cannot be written"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_asked(
    run_of, corpus, tmp_path, name, message
):
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    router = Fake(corpus)
    with pytest.raises(InputError, match=message):
        run_of(router, out=f"{tmp_path}/{name}")
    assert router.shortlisted == router.asked == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.parquet"]


def test_a_folder_that_may_not_be_written_to_is_refused_before_anything_is_asked(run_of, corpus, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    router = Fake(corpus)
    with pytest.raises(InputError, match="Permission denied"):
        run_of(router)
    assert router.shortlisted == []


def test_a_full_disk_is_one_message_and_keeps_what_was_decided(run_of, out, monkeypatch):
    run_of()
    expected = out.read_bytes()
    real = Path.write_bytes
    written = []

    def full(path, data):
        written.append(path)
        if len(written) > 3:
            raise OSError(28, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left on device; what was decided before is kept"):
        run_of()
    monkeypatch.undo()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert out.read_bytes() == expected
    assert run_of().resumed == 4
    assert out.read_bytes() == expected


def test_two_processes_do_not_run_into_one_file(run_of, corpus, out):
    other = f"""
import sys
from skillful_eval.runner_parts import open_parts
with open_parts({str(out)!r}, {{}}):
    print("open", flush=True)
    sys.stdin.read()
"""
    root = Path(se.__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-c", other],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    with process:
        assert process.stdout.readline() == "open\n"
        router = Fake(corpus)
        with pytest.raises(UsageError, match="another process is running into this file"):
            run_of(router)
        assert router.shortlisted == []
        process.kill()
    assert run_of().runs == 12


def test_a_lock_is_given_back(out):
    for _ in range(2):
        with open_parts(out, {}), pytest.raises(UsageError, match="another process"), open_parts(out, {}):
            pass


def test_heuristics_skip_before_any_request_and_leave_the_shortlist(corpus, out):
    lines = [("hello", "thanks a lot!", ["none"]), ("undo", "roll back the last release", ["db"])]
    frame = pl.DataFrame(
        [{"id": name, "group": "g", "prompt": prompt, "gold": gold} for name, prompt, gold in lines]
    )
    fixtures = se.read_fixtures(frame, corpus, name="dev")
    router = Fake(corpus)
    summary = run_router(router, fixtures, corpus, out=out, repeat=2)
    assert router.asked == [("undo", 0), ("undo", 1)]
    runs = pl.read_parquet(out)
    assert runs["decision"].to_list() == ["skipped", "skipped", "injected", "injected"]
    assert runs["reason"].to_list() == ["social-turn", "social-turn", None, None]
    assert runs["shortlist"].list.len().to_list() == [2] * 4
    assert runs["latency_reason"].to_list() == ["batched", "batched", None, None]
    assert summary.reasons["skipped"] == {"social-turn": 2}
    with_them = Fake(corpus)
    run_router(with_them, fixtures, corpus, out=out, repeat=2, heuristics=False)
    assert len(with_them.asked) == 4


@pytest.mark.parametrize(
    ("columns", "latency", "reason", "tokens"),
    [
        ({"latency_ms": pl.lit(1e6), "tokens_in": pl.lit(7)}, True, None, 0),
        ({"latency_reason": pl.lit("replayed"), "tokens_in": pl.lit(7)}, False, "replayed", 0),
        ({"latency_reason": pl.lit("batched")}, False, "batched", None),
    ],
)
def test_a_skipped_run_costs_nothing_where_others_tell_what_they_cost(
    fixtures_of, corpus, out, columns, latency, reason, tokens
):
    fixtures = fixtures_of([("ok", "trivial", ["none"]), ("undo the last migration", "coding", ["db"])])
    run_router(Fake(corpus, **columns), fixtures, corpus, out=out, repeat=2)
    skipped = pl.read_parquet(out).filter(decision="skipped")
    assert skipped.height == 2
    assert all(0 <= ms < 1e6 if latency else ms is None for ms in skipped["latency_ms"])
    assert skipped["latency_reason"].to_list() == [reason] * 2
    assert skipped["tokens_in"].to_list() == [tokens] * 2


def test_a_router_that_decides_nothing_leaves_every_decision_null(corpus, out):
    prompts = {"hello": "thanks a lot!", "undo": "roll back the last release"}
    frame = pl.DataFrame(
        [{"id": name, "group": "g", "prompt": prompt, "gold": ["db"]} for name, prompt in prompts.items()]
    )
    fixtures = se.read_fixtures(frame, corpus, name="dev")
    undecided = {name: pl.lit(None) for name in ("decision", "chosen")}
    summary = run_router(Fake(corpus, **undecided), fixtures, corpus, out=out)
    runs = pl.read_parquet(out)
    assert runs["decision"].null_count() == runs["reason"].null_count() == 6
    assert "nothing was decided" in summary.text()
    assert se.score(se.scan_runs(out), fixtures, corpus).runs.collect().height == 6


def test_the_file_says_what_it_was_made_with(run_of, corpus, fixtures, out):
    run_of(tuned_on="dev-0", config="mine", packages=["rich"], facts={"replay": "sha256:1"})
    told = pl.read_parquet_metadata(out)
    assert told["fixture_set"] == "dev"
    assert told["fixture_digest"] == fixtures.digest
    assert told["corpus_fingerprint"] == corpus.digest  # this corpus has no fingerprint
    assert told["tuned_on"] == "dev-0"
    assert told["made_at"] == "2026-01-01T00:00:00Z"
    configuration = json.loads(told["configuration"])
    expected = {"router": SETTINGS, "repeat": 3, "heuristics": False, "replay": "sha256:1"}
    assert configuration == expected
    assert {"skillshift", "polars", "rich", "python"} == set(json.loads(told["versions"]))
    assert json.loads(told["latency"]) == {"not measured": 12}
    assert pl.read_parquet(out)["config"].unique().to_list() == ["mine"]
    scored = se.score(se.scan_runs(out), fixtures, corpus)
    declared = scored.provenance.declared.row(0, named=True)
    assert (declared["tuned_on"], declared["fixture_set"]) == ("dev-0", "dev")


def test_the_name_of_a_configuration_is_made_of_its_settings_alone(run_of, corpus):
    def name(settings, **options):
        return run_of(Fake(corpus, settings=settings), **options).config

    first = name({"router": "fake", "a": "1", "b": "2"})
    assert first.startswith("fake-")
    assert first == name({"b": "2", "a": "1", "router": "fake"}, repeat=1)
    assert first != name({"router": "fake", "a": "1", "b": "3"})
    assert first != name({"router": "fake", "a": "1", "b": "2"}, heuristics=True)


@pytest.mark.parametrize("text", ["yesterday", "1.5", "9" * 30, ""])
def test_a_time_that_is_none_is_refused(run_of, monkeypatch, text, corpus):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    router = Fake(corpus)
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH"):
        run_of(router)
    assert router.shortlisted == []


@pytest.mark.parametrize("options", [{"repeat": 0}, {"repeat": True}, {"config": " "}, {"tuned_on": ""}])
def test_arguments_that_cannot_be_used_are_named(run_of, options):
    with pytest.raises(UsageError, match=next(iter(options))):
        run_of(**options)


def test_the_corpus_must_be_the_fixtures_own(fixtures, out, entries, head):
    other = make_corpus(head, entries[:-1], "other.json")
    with pytest.raises(UsageError, match=r"other\.json"):
        run_router(Fake(other), fixtures, other, out=out)


class Wrong(Fake):
    def __init__(self, corpus, *, shortlist=None, decide=None):
        super().__init__(corpus)
        self._shortlist, self._decide = shortlist, decide

    def shortlist(self, prompts):
        good = super().shortlist(prompts)
        return self._shortlist(good) if self._shortlist else good

    def decide(self, requests):
        good = super().decide(requests)
        return self._decide(good) if self._decide else good


@pytest.mark.parametrize(
    ("shortlist", "message"),
    [
        (lambda good: good.head(1), "found 1 rows, expected 4"),
        (lambda good: good.drop("scores"), "lacks the column scores"),
        (lambda good: good.to_dict(), "found dict, expected a Polars DataFrame"),
        (lambda good: good.with_columns(shortlist=pl.lit(["nowhere"])), "expected ids of the corpus"),
        (lambda good: good.with_columns(scores=pl.lit([1.0])), "4 of 4 prompts have no list of ids"),
        (lambda good: good.with_columns(shortlist=None), "4 of 4 prompts have no list of ids"),
    ],
)
def test_shortlists_that_are_none_are_refused(run_of, corpus, shortlist, message):
    with pytest.raises(UsageError, match=rf"Wrong.shortlist: .*{message}"):
        run_of(Wrong(corpus, shortlist=shortlist))


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda good: good.head(1), "found 1 rows, expected 2"),
        (lambda good: good.drop("reason"), "lacks the column reason"),
        (lambda good: good.with_columns(decision=pl.lit("perhaps")), "expected decisions"),
        (lambda good: good.with_columns(chosen=pl.lit("nowhere")), "chosen.unknown"),
        (lambda good: good.with_columns(chosen=None), "chosen.missing"),
        (lambda good: good.with_columns(none_p=pl.lit(2.0)), "none_p.range"),
        (lambda good: good.with_columns(latency_ms=pl.lit(-1.0)), "latency_ms.range"),
        (lambda good: good.with_columns(decision=pl.lit("degraded"), chosen=None), "reason.missing"),
    ],
)
def test_decisions_that_are_none_are_refused(run_of, corpus, out, decide, message):
    with pytest.raises((UsageError, ContractError), match=message):
        run_of(Wrong(corpus, decide=decide))
    assert not out.exists()
    assert not parts_folder(out).exists()


def test_a_router_decides_everything_or_nothing(run_of, corpus):
    half = pl.when(pl.col("repeat") > 0).then(pl.lit("injected"))
    chosen = pl.when(pl.col("repeat") > 0).then(pl.col("shortlist").list.first().cast(pl.String))
    with pytest.raises(UsageError, match="no decision in 4 of 12 runs"):
        run_of(Fake(corpus, decision=half, chosen=chosen))


def test_the_output_is_in_place_and_the_parts_are_there_when_it_is_told(run_of, out):
    seen = []
    run_of(written=lambda: seen.append((out.exists(), parts_folder(out).exists())))
    assert seen == [(True, True)]


def test_progress_counts_what_is_to_be_decided(run_of, corpus):
    told = []
    run_of(Fake(corpus, batch=5), progress=lambda *at: told.append(at))
    assert told == [(0, 12), (5, 12), (10, 12), (12, 12)]


def test_the_summary_counts_causes_and_reuse(run_of, corpus):
    recorded = {"response_index": pl.lit(0)}
    summary = run_of(Fake(corpus, **recorded))
    assert summary.reused_fixtures == 4
    assert "reused in 4 fixtures: agreement will be undefined" in summary.text()
    some = {"response_index": pl.when(pl.col("fixture_id") == "undo").then(0).otherwise("repeat")}
    assert run_of(Fake(corpus, **some)).reused_fixtures == 1
    failed = {"decision": pl.lit("degraded"), "reason": pl.lit("unrecorded"), "chosen": pl.lit(None)}
    summary = run_of(Fake(corpus, **failed))
    assert (summary.degraded, summary.unrecorded) == (12, 12)
    assert summary.reasons["degraded"] == {"unrecorded": 12}
    assert "12 requests have no recorded response" in summary.text()


def test_what_a_recording_lacks_is_told(run_of, corpus):
    gap = pl.col("fixture_id") == "undo"
    columns = {
        "decision": pl.when(gap).then(pl.lit("degraded")).otherwise(pl.lit("injected")),
        "reason": pl.when(gap).then(pl.lit("timeout")),
        "chosen": pl.when(~gap).then(pl.col("shortlist").list.first().cast(pl.String)),
    }
    assert run_of(Fake(corpus, **columns)).not_recorded == 0, "nothing is recorded"
    columns["response_index"] = pl.when(~gap).then("repeat")
    summary = run_of(Fake(corpus, **columns))
    assert summary.not_recorded == 3
    assert "the recording lacks the responses of 3 requests" in summary.text()
    unrecorded = columns | {"reason": pl.when(gap).then(pl.lit("unrecorded"))}
    assert run_of(Fake(corpus, **unrecorded)).not_recorded == 0, "a replay says so otherwise"


def test_the_file_of_the_fixtures_is_named_and_does_not_matter_to_a_run_that_goes_on(
    fixtures, corpus, tmp_path, out
):
    records = fixtures.frame.select(pl.col("fixture_id").alias("id"), "group", "prompt", "gold")
    told = []
    for name, head in (("one.jsonl", "# first\n"), ("two.jsonl", "")):
        path = tmp_path / name
        path.write_text(head + records.write_ndjson(), encoding="utf-8")
        read = se.read_fixtures(path, corpus, name="dev")
        options = {"out": out, "heuristics": False, "keep_every_s": 0}
        if not told:
            run_router(Fake(corpus), read, corpus, **options)
            told.append(pl.read_parquet_metadata(out))
            with pytest.raises(KeyboardInterrupt):
                run_router(Fake(corpus, fails_at=4), read, corpus, **options)
        else:
            assert run_router(Fake(corpus), read, corpus, **options).resumed == 4
            told.append(pl.read_parquet_metadata(out))
        digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        assert (told[-1]["fixture_file"], told[-1]["fixture_file_digest"]) == (name, digest)
    assert told[0]["fixture_digest"] == told[1]["fixture_digest"]
    run_router(Fake(corpus), fixtures, corpus, out=out, heuristics=False)
    assert "fixture_file" not in pl.read_parquet_metadata(out)


KILLED = """
import os, signal, sys
import polars as pl
sys.path.insert(0, {tests!r})
from pathlib import Path
import skillful_eval as se
from skillshift import datasets
from skillful_eval.router.protocol import OUTCOMES, shortlist_schema
from skillful_eval.runner import run_router

class Dying:
    batch, settings, left = 3, {{"router": "dying"}}, int(sys.argv[1])
    def __init__(self, corpus): self.corpus = corpus
    def shortlist(self, prompts):
        ids = [self.corpus.entries["id"].to_list()[:3]] * len(prompts)
        rows = {{"shortlist": ids, "scores": [[3.0, 2.0, 1.0]] * len(prompts)}}
        return pl.DataFrame(rows, schema=shortlist_schema(self.corpus))
    def decide(self, requests):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        nothing = {{name: pl.lit(None, dtype=dtype) for name, dtype in OUTCOMES.items()}}
        chosen = pl.col("shortlist").list.get(pl.col("repeat")).cast(pl.String)
        picked = {{"decision": pl.lit("injected"), "chosen": chosen}}
        return requests.select(**nothing | picked).cast(OUTCOMES)

corpus = se.read_corpus(datasets.path("routing/corpus.json"))
fixtures = se.read_fixtures(datasets.path("routing/fixtures.dev.jsonl"), corpus)
summary = run_router(Dying(corpus), fixtures, corpus, out=sys.argv[2], keep_every_s=0)
print(summary.resumed)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_after_kills_the_same_bytes(tmp_path):
    root = Path(se.__file__).parents[1]
    script = KILLED.format(tests=str(root))

    def start(left, name):
        command = [sys.executable, "-c", script, str(left), str(tmp_path / name)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=root, env=dict(os.environ), check=False
        )

    assert start(-1, "whole.parquet").stdout == "0\n"
    codes = [start(left, "runs.parquet").returncode for left in (1, 2, 20)]
    assert codes == [-9, -9, -9]
    assert not (tmp_path / "runs.parquet").exists()
    assert start(-1, "runs.parquet").stdout == "60\n"  # 0 + 1 + 19 slices of three
    assert (tmp_path / "runs.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.parquet", "whole.parquet"]
