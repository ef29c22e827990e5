from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.criteria import CRITERIA, Criterion
from skillful_eval.events import scan_events
from skillful_eval.gating import gate
from skillful_eval.missing import misses
from skillful_eval.rendering.checks_document import corpus_document, fixtures_document
from skillful_eval.rendering.document import Document, as_text, bounded, counted, decimals
from skillful_eval.rendering.events_document import events_document
from skillful_eval.rendering.folder import write_folder
from skillful_eval.rendering.formats import FORMATS, render
from skillful_eval.rendering.gate_document import gate_document
from skillful_eval.rendering.misses_document import misses_document
from skillful_eval.rendering.report_document import Reported, only_groups, report_document
from skillful_eval.rendering.values import cell_text, count_text, value_text
from skillful_eval.splits import check_split
from skillful_eval.summary import report
from skillshift.frame.errors import InputError, UsageError


def test_the_formats_are_the_modules():
    assert FORMATS == ("csv", "json", "markdown", "table")


@pytest.fixture
def filtered(head, entries):
    """The same entries in a corpus that was filtered."""
    return make_corpus(
        head | {"sanitised": True, "excludedCount": 3, "redactedCount": 2}, entries, "x/corpus.json"
    )


@pytest.fixture
def scored(scored_of, whole):
    return scored_of(*(one | {"config": config} for config in ("a", "b") for one in whole))


@pytest.fixture
def reported(scored):
    return Reported.of(scored, report(scored), 2000)


@pytest.fixture
def document(reported):
    return report_document(reported)


def section(document, title):
    return next(one.frame for one in document.sections if one.title.startswith(title))


# -- values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("recall@K", 2 / 3, "0.667"),
        ("recall@12", 0.0625, "0.063"),
        ("MRR", None, "--"),
        ("meanShortlistLength", 12.345, "12.35"),
        ("latencyP95", 1234.25, "1,234.3"),
        ("tokensInMean", 0.0, "0.0"),
        ("acceptanceUpperBound", 1, "1.000"),
    ],
)
def test_a_value_has_the_decimals_of_its_unit(metric, value, text):
    assert value_text(metric, value) == text


def test_counts_are_whole_where_they_are():
    assert [count_text(value) for value in (None, 3.0, 1234.0, 2.5)] == ["", "3", "1,234", "2.50"]
    assert (counted(1, "run"), counted(1200, "run"), counted(2, "entry", "entries")) == (
        "1 run",
        "1,200 runs",
        "2 entries",
    )


def test_decimals_are_half_up_on_what_the_number_is():
    assert [decimals(value, 3) for value in (0.0005, 0.8125, 1 / 3, 1234567.0005)] == [
        "0.001",
        "0.813",
        "0.333",
        "1,234,567.001",
    ]


def test_a_cell_says_what_it_rests_on_or_why_it_is_undefined():
    row = {"metric": "MRR", "value": 0.5, "numerator": 4.5, "denominator": 9, "reason": None}
    assert cell_text(row) == "0.500 (4.50/9)"
    assert cell_text(row | {"metric": "latencyP95", "numerator": None}) == "0.5 (9)"
    lacking = row | {"value": None, "reason": "missing-fixtures"}
    assert cell_text(lacking) == "-- missing-fixtures"
    assert cell_text(lacking | {"reason": "no-answerable-fixtures", "denominator": 0}) == "--"


def test_a_frame_of_text_is_harmless():
    frame = pl.DataFrame({"a": ["x\ny\x1b[31m"], "b": [None], "c": [1], "d": [["p", "q\n"]]}, strict=False)
    assert as_text(frame).rows() == [("x y\\x1b[31m", "", "1", "p, q")]


def test_long_frames_are_cut_with_a_note():
    sections, notes = bounded(pl.DataFrame({"a_b": range(21)}), "Things", "a_b")
    assert sections[0].frame.columns == ["a b"]
    assert sections[0].frame.height == 20
    assert notes == ["Things: the first 20 of 21 are shown; --format json has all."]
    assert bounded(pl.DataFrame({"a": range(20)}), "Things", "a")[1] == []
    assert bounded(pl.DataFrame({"a": []}), "Things", "a") == ([], [])


# -- the report ------------------------------------------------------------------------------------------


def test_every_value_of_the_whole_stands_with_its_counts(document):
    table = section(document, "All fixtures")
    row = table.filter(config="a", metric="recall@K").row(0, named=True)
    assert row == {
        "config": "a",
        "layer": "retrieval",
        "metric": "recall@K",
        "reason": "",
        "value": "0.667",
        "numerator": "2",
        "denominator": "3",
        "unit": "share",
        "fixtures": "3",
    }
    assert table.filter(config="b", metric="agreementRate")["reason"].to_list() == ["one-repeat"]
    assert table.filter(config="b", metric="agreementRate")["value"].to_list() == ["--"]
    assert table["config"].to_list() == sorted(table["config"].to_list())


def test_the_six_counts_make_a_matrix(document):
    assert section(document, "Decisions").filter(config="a").rows() == [
        ("a", "a capability", "2", "0", "1", "3", "3"),
        ("a", "to abstain", "0", "1", "0", "1", "1"),
    ]


def test_the_curve_and_the_scopes(document):
    curve = section(document, "Recall at each rank").filter(config="a")
    assert curve.select("rank", "recall", "hits", "denominator").rows() == [
        ("1", "0.000", "0", "3"),
        ("2", "0.667", "2", "3"),
        ("3", "0.667", "2", "3"),
    ]
    scopes = section(document, "By group")
    assert scopes.filter(config="a")["scope"].to_list() == [
        "all", "group:coding", "group:mcp", "group:trivial", "kind:skill", "kind:mcp", "kind:agent",
    ]  # fmt: skip
    assert scopes.filter(config="a", scope="group:coding")["recall@K"].to_list() == ["1.000 (2/2)"]
    assert scopes.filter(config="a", scope="group:trivial")["recall@K"].to_list() == ["--"]


def test_the_gap_between_the_accuracies_is_told_in_its_two_parts(document):
    (note,) = [note for note in document.notes if note.startswith("a: 3 runs")]
    assert note == (
        "a: 3 runs have the right kind of decision, 2 the right decision; between the two are wrong picks on "
        "answerable fixtures, 0 with no gold in the shortlist (retrieval's share) and 1 with a gold offered "
        "(judgement's share)."
    )


def test_retrieval_alone_has_no_decisions_and_no_gap(run_of, scored_of):
    runs = [run_of(name, ["b:undo"], None) for name in ("undo", "plan", "store", "thanks")]
    scored = scored_of(*runs)
    document = report_document(Reported.of(scored, report(scored), 2000))
    assert not [one for one in document.sections if one.title.startswith("Decisions")]
    assert not [note for note in document.notes if "right kind" in note]
    assert "-- retrieval-only: the configuration only retrieves: its runs have no decision." in document.notes
    row = section(document, "All fixtures").filter(metric="top1Accuracy").row(0, named=True)
    assert (row["value"], row["reason"]) == ("--", "retrieval-only")


def test_unstable_fixtures_and_those_that_lack_runs_are_listed(run_of, scored_of):
    runs = [run_of("undo", ["b:undo"], "injected", "b:undo"), run_of("undo", reason="none", repeat=1)]
    scored = scored_of(*runs, run_of("thanks"))
    document = report_document(Reported.of(scored, report(scored), 2000))
    assert section(document, "Unstable").rows() == [("undo", "coding", "injected:b:undo, skipped:none")]
    assert section(document, "Fixtures that lack runs").rows() == [
        ("plan", "coding", "0", "2"),
        ("store", "mcp", "0", "2"),
        ("thanks", "trivial", "1", "2"),
    ]


def test_only_the_groups_that_are_asked_for(reported):
    fixtures = reported.scored.fixtures
    frame = only_groups(reported.report, fixtures, ["mcp"])
    assert frame["scope"].unique(maintain_order=True).to_list() == [
        "all", "group:mcp", "kind:skill", "kind:mcp", "kind:agent",
    ]  # fmt: skip
    assert only_groups(reported.report, fixtures, None).equals(reported.report)
    with pytest.raises(
        UsageError, match=r'group: found "codign", expected one of coding, mcp, trivial .*"coding"'
    ):
        only_groups(reported.report, fixtures, ["codign"])


def test_csv_is_the_report_with_what_it_rests_on(document, reported):
    lines = list(csv.DictReader(io.StringIO(render(document, "csv"))))
    assert len(lines) == reported.report.height
    first = lines[0]
    assert (first["config"], first["scope"], first["metric"]) == ("a", "all", "recall@K")
    assert float(first["value"]) == 2 / 3
    assert (first["fixture_set"], first["corpus_fingerprint"], first["corpus_filtered"]) == (
        "dev", "unknown", "false",
    )  # fmt: skip
    assert first["fixture_digest"] == reported.scored.provenance.fixture_digest
    codes = reported.scored.provenance.findings["code"].unique(maintain_order=True).to_list()
    assert codes
    assert all(line["findings"].split() == codes for line in lines)
    assert next(line for line in lines if line["metric"] == "agreementRate")["value"] == ""


def test_json_is_the_whole(document, reported):
    data = json.loads(render(document, "json"))
    assert {
        "schema_version",
        "package_version",
        "keys",
        "budget_ms",
        "provenance",
        "findings",
        "report",
    } < set(data)
    assert len(data["report"]) == reported.report.height
    assert data["provenance"]["fixture_set"] == "dev"
    assert data["provenance"]["corpus"]["filtered"] is False
    assert data["keys"] == ["config"]


def test_markdown_has_every_section_and_note(document):
    text = render(document, "markdown")
    assert text.startswith("# Routing report\n")
    assert text.count("\n## ") == len(document.sections) + 1
    assert all(f"\n- {note.split(':')[0]}" in text for note in document.notes)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_filtered_corpus_is_told_in_every_format_of_every_document(
    fmt, filtered, scored_of, fixtures_of, whole
):
    from skillful_eval.fixtures import read_fixtures
    from skillful_eval.scoring import score

    frame = fixtures_of([("undo", "coding", ["ops:undo"])]).frame.rename({"fixture_id": "id"}).drop("kinds")
    fixtures = read_fixtures(frame, filtered, name="dev")
    runs = scored_of(whole[0]).source
    scored = score(runs, fixtures, filtered)
    verdicts = gate(report(scored))
    documents = [
        report_document(Reported.of(scored, report(scored), 2000)),
        gate_document(verdicts, scored.provenance, "built in"),
        misses_document(misses(scored), scored),
    ]
    mark = {"csv": "corpus_filtered", "json": '"filtered": true'}.get(
        fmt, "3 entries were withheld and 2 changed"
    )
    for document in documents:
        assert mark in render(document, fmt)
    if fmt == "csv":
        assert all(document.rows["corpus_filtered"].all() for document in documents)


# -- the gate --------------------------------------------------------------------------------------------


def test_a_failed_gate_names_what_was_tried_what_blocks_and_by_how_much(scored):
    verdicts = gate(
        report(scored), [Criterion("recall@K", minimum=0.9), *CRITERIA[4:], Criterion("MRR", minimum=0)]
    )
    document = gate_document(verdicts, scored.provenance, "gate.toml")
    assert document.title == "Gate: failed"
    assert section(document, "Configurations tried").rows() == [
        (
            config,
            "failed",
            "1 of 4",
            "recall@K by 0.233; agreementRate undefined (one-repeat); latencyP95 undefined (not-recorded)",
        )
        for config in ("a", "b")
    ]
    row = section(document, "Criteria").row(0, named=True)
    assert (row["asked"], row["value"], row["shortfall"], row["reason"]) == (
        "at least 0.9", "0.667", "0.233", "below-minimum",
    )  # fmt: skip
    assert "2 configurations tried on dev, 2 not passed. Criteria: gate.toml." in document.notes
    assert any(
        note.startswith("The gate is passed where every configuration passes") for note in document.notes
    )
    assert document.notes[0].startswith("REFUSAL NOT CHECKED for 8 of 8 runs: they do not say what they were")
    assert document.data["refusal_unchecked_runs"] == 8
    data = json.loads(render(document, "json"))
    assert data["verdict"] == "failed"
    assert data["configurations"][0]["blocked_by"] == ["recall@K", "agreementRate", "latencyP95"]
    assert len(data["criteria"]) == 8


def test_a_passed_gate(scored):
    document = gate_document(gate(report(scored), [Criterion("MRR", minimum=0)]), scored.provenance, "x")
    assert document.title == "Gate: passed"
    assert section(document, "Configurations tried").rows() == [
        ("a", "passed", "1 of 1", ""),
        ("b", "passed", "1 of 1", ""),
    ]


def test_without_keys_there_is_one_configuration(scored_of, whole):
    scored = scored_of(*whole)
    document = gate_document(gate(report(scored), CRITERIA[:1]), scored.provenance, "x")
    assert section(document, "Configurations tried").rows() == [("failed", "0 of 1", "recall@K by 0.233")]


@pytest.mark.parametrize(
    ("minimum", "shown"), [(0.6667, "0.00003"), (2 / 3 + 1e-15, "1e-15"), (1.0, "0.333")]
)
def test_a_shortfall_is_never_shown_as_nothing(scored_of, whole, minimum, shown):
    scored = scored_of(*whole)
    verdicts = gate(report(scored), [Criterion("recall@K", minimum=minimum)])
    row = section(gate_document(verdicts, scored.provenance, "x"), "Criteria").row(0, named=True)
    assert (row["verdict"], row["shortfall"]) == ("failed", shown)


def test_a_limit_is_shown_as_it_was_given(scored_of, whole):
    scored = scored_of(*whole)
    asked = [Criterion("recall@K", minimum=0.123456789), Criterion("latencyP95", maximum=1_234_567)]
    table = section(gate_document(gate(report(scored), asked), scored.provenance, "x"), "Criteria")
    assert table["asked"].to_list() == ["at least 0.123456789", "at most 1234567"]


# -- misses ----------------------------------------------------------------------------------------------


def test_equal_repeats_stand_in_one_line(scored_of, run_of):
    runs = [
        run_of("undo", ["a:plan"], "injected", "a:plan"),
        run_of("undo", ["a:plan"], "injected", "a:plan", repeat=1),
        run_of("undo", ["a:plan", "b:undo"], "skipped", reason="none", repeat=2),
        run_of("thanks", [], "degraded", reason="timeout"),
    ]
    scored = scored_of(*runs)
    document = misses_document(misses(scored), scored)
    assert [one.title for one in document.sections[:3]] == [
        "gold-not-offered: no gold was in the shortlist (2 runs of 1 fixture)",
        "abstained-wrongly: a gold was in the shortlist, the router abstained (1 run of 1 fixture)",
        "degraded: no decision, because something failed (1 run of 1 fixture)",
    ]
    assert document.sections[0].frame.rows() == [
        ("undo", "coding", "0, 1", "ops:undo", "chose a:plan", "about undo")
    ]
    assert document.sections[1].frame["what happened"].to_list() == ["gold at rank 2; skipped: none"]
    assert document.sections[2].frame["what happened"].to_list() == ["degraded: timeout"]
    assert document.notes[0] == "4 of 4 runs went wrong, in 2 fixtures."
    assert "No scores of a gold that was not offered" in document.notes[2]


def test_the_rank_that_a_gold_would_have_had_is_told(scored_of, run_of):
    scores = [{"id": "a:lint", "score": 2.0}, {"id": "b:undo", "score": 1.0}]
    scored = scored_of(run_of("undo", ["a:lint"], scores=scores))
    document = misses_document(misses(scored), scored)
    assert document.sections[0].frame["what happened"].to_list() == ["gold would be at rank 2; skipped"]
    assert not any("scores" in note for note in document.notes)
    assert (
        render(document, "csv")
        .splitlines()[0]
        .startswith("miss,fixture_id,group,repeat,gold,rank,would_rank")
    )


# -- checks, events --------------------------------------------------------------------------------------


def test_a_checked_corpus_says_what_is_in_it(filtered):
    document = corpus_document(filtered)
    assert section(document, "Entries").rows()[-1] == ("all", "all", "7", "5", "0", "7")
    assert any("3 entries were withheld" in note for note in document.notes)
    assert json.loads(render(document, "json"))["corpus"]["excluded_count"] == 3


def test_checked_fixtures_say_what_is_in_them(fixtures, fixtures_of):
    document = fixtures_document(fixtures, None)
    assert section(document, "Fixtures").rows() == [
        ("coding", "2", "2", "0", "3"),
        ("mcp", "1", "1", "0", "1"),
        ("trivial", "1", "0", "1", "0"),
        ("all", "4", "3", "1", "4"),
    ]
    other = fixtures_of([("undo", "coding", ["plan"])], "holdout")
    shared = fixtures_document(fixtures, check_split(other, fixtures))
    assert section(shared, "Shared").height == 2
    assert "Shared with the other set, ids and near-identical prompts: 2." in shared.notes


def test_events_say_the_bound_and_the_lines_that_could_not_be_read():
    line = {
        "kind": "route",
        "ts": "2026-01-31T09:30:00Z",
        "decision": "injected",
        "primary": "a",
        "sessionId": "s",
    }
    events = scan_events(pl.DataFrame([line, line | {"ts": "soon"}]))
    document = events_document(events, [], 2000)
    assert document.notes[0].startswith("acceptanceUpperBound is an upper bound")
    assert any("1 of 2 lines could not be read" in note for note in document.notes)
    assert section(document, "Lines that could not be read")["code"].to_list() == ["ts.unknown"]
    assert json.loads(render(document, "json"))["unreadable_lines"] == 1
    assert set(document.rows["unreadable_lines"]) == {1}


# -- a folder --------------------------------------------------------------------------------------------


def test_a_folder_has_the_frames_the_report_and_a_manifest(tmp_path, document, reported):
    kept = {"frames": {"report": reported.report}, "scored": reported.scored, "inputs": ["corpus.json"]}
    for name in ("one", "two"):
        write_folder(tmp_path / name, document, **kept, facts={"keys": ["config"]})
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["manifest.json", "report.md", "report.parquet"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert pl.read_parquet(tmp_path / "one" / "report.parquet").equals(reported.report)
    metadata = pl.read_parquet_metadata(tmp_path / "one" / "report.parquet")
    assert metadata["fixture_digest"] == reported.scored.provenance.fixture_digest
    assert metadata["corpus_filtered"] == "false"
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["inputs"] == [{"file": "corpus.json", "sha256": None}]
    assert set(manifest["outputs"]) == {"report.md", "report.parquet"}
    assert manifest["keys"] == ["config"]


def test_a_folder_that_cannot_be_written_leaves_what_was_there(tmp_path, document, reported):
    (tmp_path / "report.md").write_text("earlier", encoding="utf-8")
    (tmp_path / "manifest.json").mkdir()
    (tmp_path / "manifest.json" / "kept").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(
            tmp_path,
            document,
            frames={"report": reported.report},
            scored=reported.scored,
            inputs=[],
            facts={},
        )
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "report.md"]


def test_an_empty_document_renders(document):
    empty = Document("Nothing", (), (), document.rows.head(0))
    assert render(empty, "markdown") == "# Nothing\n\n"
    assert render(empty, "table") == ""
    assert render(empty, "csv").count("\n") == 1
    assert json.loads(render(empty, "json"))["notes"] == []
