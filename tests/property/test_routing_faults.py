"""Every injected fault is refused, and the refusal names its place, its field and its reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillful_eval as se
from skillful_eval import testing as sst

ONCE = settings(max_examples=max(2, settings().max_examples // 10))
"""Each kind of fault is tried by itself, so a few files for each are many in all."""


def kinds(of):
    return pytest.mark.parametrize("kind", sst.faults_of(of), ids=lambda kind: kind.name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


def check(caught, path, fault):
    """The refusal is of this one line, for this reason among others that follow from it."""
    error = caught.value
    assert {(one.file, one.line) for one in error.violations} == {(str(path), fault.line)}
    said = {(one.code, one.field if fault.field else None) for one in error.violations}
    assert (fault.code, fault.field) in said
    assert error.counts[fault.code] == 1


@kinds("runs")
@given(st.data())
@ONCE
def test_faulty_runs(folder, kind, data):
    # Named, because a name in one run only would make it missing in the others.
    evaluation = data.draw(sst.evaluations(configs=1))
    text, fault = data.draw(sst.faulty_jsonl(evaluation.runs, kinds=[kind]))
    path = folder / "runs.jsonl"
    path.write_bytes(text)
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    with pytest.raises(se.ContractError) as caught:
        se.score(se.scan_runs(path), fixtures, corpus)
    check(caught, path, fault)


@kinds("fixtures")
@given(st.data())
@ONCE
def test_faulty_fixtures(folder, kind, data):
    entries = data.draw(sst.corpora())
    text, fault = data.draw(sst.faulty_jsonl(data.draw(sst.fixtures(entries)), kinds=[kind]))
    path = folder / "fixtures.jsonl"
    path.write_bytes(text)
    with pytest.raises(se.ContractError) as caught:
        se.read_fixtures(path, sst.to_corpus(entries))
    check(caught, path, fault)


@kinds("events")
@given(st.data())
@ONCE
def test_faulty_events_are_left_out_and_located(folder, kind, data):
    log = data.draw(sst.events())
    text, fault = data.draw(sst.faulty_jsonl(log, kinds=[kind]))
    path = folder / "events.jsonl"
    path.write_bytes(text)
    found = se.scan_events(path)
    assert set(found.unreadable.select("file", "line").rows()) == {(str(path), fault.line)}
    fields = found.unreadable["field"] if fault.field else [None] * found.unreadable.height
    assert (fault.code, fault.field) in set(zip(found.unreadable["code"], fields, strict=True))
    assert found.lines == len(log)
    assert found.routes.collect().height + found.uses.collect().height == len(log) - 1


@kinds("corpus")
@given(st.data())
@ONCE
def test_faulty_corpora(folder, kind, data):
    text, fault = data.draw(sst.faulty_corpora(data.draw(sst.corpora()), kinds=[kind]))
    path = folder / "corpus.json"
    path.write_bytes(text)
    with pytest.raises(se.ContractError) as caught:
        se.read_corpus(path)
    assert {one.code: one.field for one in caught.value.violations}[fault.code] == fault.field
    assert all(f"{path}: entry {fault.line}" in (one.file or "") for one in caught.value.violations)


@given(st.data())
def test_valid_files_in_any_form_are_read(folder, data):
    evaluation = data.draw(sst.evaluations())
    corpus = sst.to_corpus(evaluation.entries)
    path = folder / "corpus-again.json"
    corpus.write(path)
    assert se.read_corpus(path).entries.equals(corpus.entries)
    path = folder / "valid-fixtures.jsonl"
    path.write_bytes(data.draw(sst.jsonl_bytes(evaluation.fixtures, comments=True)))
    fixtures = se.read_fixtures(path, corpus)
    assert fixtures.digest == sst.to_fixtures(evaluation.fixtures, corpus).digest
    path = folder / "valid-runs.jsonl"
    path.write_bytes(data.draw(sst.jsonl_bytes(evaluation.runs)))
    found = se.report(se.score(se.scan_runs(path), fixtures, corpus))
    assert found.equals(se.report(se.score(sst.to_runs(evaluation.runs), fixtures, corpus)))


@given(sst.evaluations(), st.data())
def test_decisions_in_some_runs_only_are_refused(evaluation, data):
    runs = list(evaluation.runs)
    at = data.draw(st.integers(0, len(runs) - 1))
    runs[at] = runs[at] | {"decision": None, "chosen": None}
    corpus = sst.to_corpus(evaluation.entries)
    fixtures = sst.to_fixtures(evaluation.fixtures, corpus)
    if len(runs) == 1:
        # One run without a decision is a configuration that only retrieves.
        assert se.score(sst.to_runs(runs), fixtures, corpus).provenance.runs == 1
        return
    with pytest.raises(se.ContractError) as caught:
        se.score(sst.to_runs(runs), fixtures, corpus)
    assert caught.value.counts == {"decision.mixed": 1}
