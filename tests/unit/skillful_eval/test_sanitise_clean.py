"""Which entries are withheld, what the others keep, and what is done where something is left."""

from __future__ import annotations

import json

import pytest

from skillful_eval.corpus import make_corpus, read_corpus
from skillful_eval.sanitise.check import FIELD, FORM, MARKER, LeakError, put_in_place, search
from skillful_eval.sanitise.clean import WRITTEN, sanitise
from skillful_eval.sanitise.markers import Markers
from skillful_eval.sanitise.private import Private
from skillful_eval.snapshot import HEADER, digest
from skillshift.frame.errors import InputError
from skillshift.frame.writing import dump_json

NO_MARKERS = Markers()


def entry(name, description="Does a thing.", runtime="codex", scope="global", **fields):
    return {
        "id": f"{runtime}:skill:{scope}:{name}",
        "kind": "skill",
        "name": name,
        "description": description,
        "runtime": runtime,
        "scope": scope,
        "sourcePath": f"~/{name}",
        "degraded": True,
        **fields,
    }


def names(done):
    return [record["name"] for record in done.records]


@pytest.mark.parametrize("field", ["name", "description", "whenToUse", "scope"])
def test_an_entry_is_withheld_for_a_marker_in_any_text(field):
    hidden = entry("hidden") | {field: "for orca only"}
    done = sanitise([hidden, entry("shown", "Orchestration.")], Markers.of(["Orca"]))
    assert (names(done), done.excluded, done.redacted) == (["shown"], 1, 0)


def test_a_marker_in_what_is_dropped_withholds_nothing():
    assert names(sanitise([entry("shown", sourcePath="/orca/x")], Markers.of(["orca"]))) == ["shown"]


def test_only_what_retrieval_reads_is_kept():
    (record,) = sanitise([entry("x", whenToUse="Now.", model="m")], NO_MARKERS).records
    assert tuple(sorted(record)) == tuple(sorted(WRITTEN))


def test_other_copies_of_a_withheld_entry_are_withheld_and_mentions_are_redacted():
    records = [
        entry("ak:deploy", "For orca."),
        entry("AK-deploy", "Short.", runtime="omp"),
        entry("other", "See ak-deploy, then ak-deployment.", whenToUse="After AK:Deploy."),
        entry("ak-deployment"),
    ]
    done = sanitise(records, Markers.of(["orca"]))
    assert names(done) == ["other", "ak-deployment"]
    assert done.records[0]["description"] == "See [redacted], then ak-deployment."
    assert done.records[0]["whenToUse"] == "After [redacted]."
    assert (done.excluded, done.redacted, done.codes) == (2, 1, {"withheld-name": 1})


def test_a_withheld_name_of_a_letter_or_two_is_a_word_like_any_other():
    done = sanitise([entry("a", "For orca."), entry("b", "Does a thing.")], Markers.of(["orca"]))
    assert [record["description"] for record in done.records] == ["Does a thing."]


def test_entries_whose_scope_is_a_withheld_name_are_withheld_too():
    records = [entry("orion", "For orca."), entry("x", scope="orion"), entry("y"), entry("x", runtime="pi")]
    done = sanitise(records, Markers.of(["orca"]))
    # `x` was withheld as orion's, so its copy is too.
    assert (names(done), done.excluded) == (["y"], 3)


@pytest.mark.parametrize(
    "name", ["see https://x.example/y", "jane@x.example", "at /home/jane/x", "sk-live-0123456789ab"]
)
def test_a_name_that_would_have_to_be_redacted_is_withheld(name):
    done = sanitise([entry(name), entry("x", f"Not {name}, no.")], NO_MARKERS)
    assert (names(done), done.excluded) == (["x"], 1)
    assert name not in json.dumps(done.records)


def test_a_secret_that_one_text_gives_away_is_taken_out_of_the_others():
    done = sanitise([entry("a", "password: hunter22"), entry("b", "Type hunter22 there.")], NO_MARKERS)
    assert [record["description"] for record in done.records] == [
        "password: [redacted]",
        "Type [redacted] there.",
    ]


def test_so_is_one_without_a_digit_but_no_word():
    key = "qwertzuiopasdfghjkl"
    records = [
        entry("a", f"Bearer {key}, password: 'administrator', token=internationalisation"),
        entry("b", f"Type {key} as an administrator, after internationalisation."),
    ]
    (_, second) = sanitise(records, NO_MARKERS).records
    assert second["description"] == "Type [redacted] as an administrator, after internationalisation."


def test_targets_are_taken_out_unless_they_are_a_public_name():
    records = [entry("context7"), entry("x", "Runs context7 by @acme/srv@1.2.")]
    done = sanitise(records, NO_MARKERS, ["context7", "@acme/srv@1.2"])
    assert done.records[1]["description"] == "Runs context7 by [redacted]."
    assert done.codes == {"mcp-target": 1}


def test_changed_entries_are_counted_once_and_by_what_they_lost():
    done = sanitise([entry("a", "https://a.example/x ~/y", whenToUse="~/z"), entry("b")], NO_MARKERS)
    assert (done.redacted, done.codes) == (1, {"url": 1, "path": 1})


# -- the search before anything is put in place ----------------------------------------------------------


def corpus(records):
    values = ("2026-01-01T00:00:00.000Z", digest(records), True, 0, 0)
    return make_corpus(dict(zip(HEADER, values, strict=True)), list(records), "test")


CLEAN = {
    "id": "codex:skill:global:x",
    "kind": "skill",
    "name": "x",
    "description": "Fine.",
    "runtime": "codex",
}


def test_a_clean_corpus_is_put_in_place_and_read_back(tmp_path):
    out = tmp_path / "new" / "corpus.json"
    put_in_place(corpus([CLEAN]), Private(), out)
    back = read_corpus(out)
    assert (back.sanitised, back.fingerprint) == (True, back.digest)
    assert [path.name for path in out.parent.iterdir()] == ["corpus.json"]


@pytest.mark.parametrize("earlier", [None, "what was there"])
def test_a_leak_leaves_what_was_there_before(tmp_path, earlier):
    out = tmp_path / "corpus.json"
    if earlier:
        out.write_text(earlier)
    leaky = CLEAN | {"description": "Ask jane.zebrafish@example.com"}
    with pytest.raises(LeakError, match="entry 1: description: email") as raised:
        put_in_place(corpus([leaky]), Private(), out)
    assert "zebrafish" not in str(raised.value)
    assert raised.value.leaks[0][0] == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ([earlier] if earlier else [])


def test_a_link_keeps_pointing_to_the_file_that_is_written(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    put_in_place(corpus([CLEAN]), Private(), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_corpus(tmp_path / "real.json").entries.height == 1


def test_what_is_no_regular_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no regular file"):
        put_in_place(corpus([CLEAN]), Private(), tmp_path)
    with pytest.raises(InputError, match="no regular file"):
        put_in_place(corpus([CLEAN]), Private(), "/dev/null")


def found(document, private=None):
    return search(dump_json(document).encode(), private or Private())


@pytest.mark.parametrize(
    ("change", "leak"),
    [
        ({"description": "~/x"}, (1, "description", "path")),
        ({"whenToUse": "at 10.0.0.1"}, (1, "whenToUse", "ip")),
        ({"id": "codex:skill:global:jane@x.example"}, (1, "id", "email")),
        ({"runtime": "orca"}, (1, "runtime", MARKER)),
        ({"id": "orca:skill:global:x"}, (1, "id", MARKER)),
        ({"name": "the Orca"}, (1, "name", MARKER)),
        ({"sourcePath": "x"}, (1, "", FIELD)),
        ({"name": "orion"}, (1, "name", "withheld-name")),
    ],
)
def test_the_search_looks_at_every_value(change, leak):
    private = Private(Markers.of(["orca"]))
    private.literals.add("orion", "withheld-name")
    assert found({"entries": [CLEAN]}, private) == []
    assert leak in found({"entries": [CLEAN | change]}, private)


def test_the_search_accounts_for_every_byte():
    document = {"entries": [CLEAN]}
    assert found(document | {"note": "x"}) == [(0, "", FIELD)]
    assert search(json.dumps(document).encode(), Private()) == [(0, "", FORM)]


def test_many_leaks_are_counted_and_the_first_shown():
    error = LeakError([(number, "name", "url") for number in range(1, 31)], "c.json")
    assert "found url 30" in str(error)
    assert "... and 10 more" in str(error)
