from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from skillful_eval.sweep_guard import is_holdout_name, refuse_holdout, why_development
from skillshift.frame.errors import UsageError


@pytest.mark.parametrize(
    "name",
    ["routing.holdout", "holdout", "HOLDOUT-2", "routing_test", "test", "held-out", "held out", "hold.out",
     "heldout2", "routingHoldout", "setTest", "fixtures.holdout.jsonl", "\uff54est", "holdouts", "hold-outs",
     "routingholdout", "heldouts", "tests", "h%6fldout"],
)  # fmt: skip
def test_names_that_say_so(name):
    assert is_holdout_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "routing",
        "dev",
        "latest",
        "contest",
        "attestation",
        "testing",
        "out-held",
        "hold-on-out",
        "threshold-outputs",
        "",
    ],
)
def test_names_that_do_not(name):
    assert not is_holdout_name(name)


def test_the_name_of_the_file_counts_whatever_the_set_is_called(fixtures):
    refuse_holdout(fixtures, None)
    for disguised in (
        replace(fixtures, source="here/routing.holdout.jsonl"),
        replace(fixtures, name="my test"),
    ):
        with pytest.raises(UsageError, match=r"refused.*--confirm CONFIG"):
            refuse_holdout(disguised, None)


def test_what_is_shared_with_the_holdout_set_is_refused(fixtures, fixtures_of):
    refuse_holdout(fixtures, fixtures_of([("elsewhere", "coding", ["plan"])], name="holdout"))
    with pytest.raises(UsageError, match='shares ids or prompts with holdout, 2 in all, the first "undo"'):
        refuse_holdout(fixtures, fixtures_of([("undo", "coding", ["plan"])], name="holdout"))


@pytest.mark.parametrize("place", ["sets", "sets/*.jsonl", "link.jsonl", "holdout"])
def test_files_in_a_folder_of_a_glob_or_behind_a_link_count(fixtures, tmp_path, place):
    (tmp_path / "sets").mkdir()
    (tmp_path / "holdout").mkdir()
    for name in ("sets/dev.jsonl", "sets/routing.holdout.jsonl", "holdout/part.jsonl"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "sets" / "routing.holdout.jsonl")
    with pytest.raises(UsageError, match="refused"):
        refuse_holdout(replace(fixtures, source=str(tmp_path / place)), None)
    refuse_holdout(replace(fixtures, source=str(tmp_path / "sets" / "dev.jsonl")), None)


def test_why_a_set_counts_as_one_to_choose_on():
    assert "taken for a development set, as its name does not say" in why_development("mine", None)
    assert "--holdout FILE" in why_development("mine", None)
    assert why_development("mine", "theirs") == "mine shares no id and no prompt with theirs."


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """A working folder with sets in several places, and links to some."""
    for name in (
        "h/holdout/routing.jsonl",
        "h/holdout/v1/routing.jsonl",
        "h/nest/holdout/routing.jsonl",
        "h/tests/routing.jsonl",
        "h/tests/latest.jsonl",
        "h/contest/attestation.jsonl",
        "h/routing.holdout.jsonl",
        "holdout-study/dev/routing.jsonl",
        "holdout-study/dev/test.jsonl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    (tmp_path / "h" / "devlink").symlink_to("holdout")
    (tmp_path / "h" / "other").mkdir()
    (tmp_path / "h" / "other" / "link").symlink_to(tmp_path / "h" / "holdout")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("is_absolute", [False, True])
@pytest.mark.parametrize(
    "source",
    ["h/holdout/routing.jsonl", "h/devlink/routing.jsonl", "h/nest", "h/nest/**/*.jsonl",
     "h/*/holdout/*.jsonl", "h/holdout/**/*.jsonl", "h/devlink/*.jsonl", "h/other", "h/routing.h*.jsonl",
     "holdout-study/dev/test.jsonl"],
)  # fmt: skip
def test_every_file_that_is_read_and_its_folders_count(fixtures, sets, source, is_absolute):
    given = str(sets / source) if is_absolute else source
    with pytest.raises(UsageError, match="refused, as by its name"):
        refuse_holdout(replace(fixtures, source=given), None)


def test_percent_encoded_names_count(fixtures, sets):
    for name in ("h/routing.h%6Fld%6fut.jsonl", "h/h%6fldout/routing.jsonl"):
        with pytest.raises(UsageError, match="refused, as by its name"):
            refuse_holdout(replace(fixtures, source=f"file://{sets}/{name}"), None)
    for url in ("https://x.example/hold%2Dout/a.jsonl", "https://x.example/a/t%65st.jsonl?holds=1"):
        with pytest.raises(UsageError, match="refused, as by its name"):
            refuse_holdout(replace(fixtures, source=url), None)
    refuse_holdout(replace(fixtures, source="https://x.example/holdout-study/dev/tests/a.jsonl"), None)


def test_the_working_folder_counts_only_as_the_one_that_holds_the_file(fixtures, sets, monkeypatch):
    monkeypatch.chdir(sets / "holdout-study")
    refuse_holdout(replace(fixtures, source="dev/routing.jsonl"), None)
    refuse_holdout(replace(fixtures, source="../h/tests/routing.jsonl"), None)
    monkeypatch.chdir(sets / "h" / "devlink")
    with pytest.raises(UsageError, match="refused, as by its name"):
        refuse_holdout(replace(fixtures, source="routing.jsonl"), None)


@pytest.mark.parametrize(
    "source", ["h/tests/routing.jsonl", "h/tests/latest.jsonl", "h/contest", "h/contest/*"]
)
def test_other_places_raise_no_alarm(fixtures, sets, source):
    for given in (source, str(sets / source)):
        refuse_holdout(replace(fixtures, source=given), None)
    refuse_holdout(replace(fixtures, source=str(sets / "holdout-study" / "dev" / "routing.jsonl")), None)


def test_links_to_a_file_and_to_a_folder_far_above_it_are_seen_through(fixtures, sets):
    (sets / "one.jsonl").symlink_to(sets / "h" / "holdout" / "routing.jsonl")
    (sets / "aside" / "holdout" / "v1" / "v2").mkdir(parents=True)
    (sets / "aside" / "holdout" / "v1" / "v2" / "routing.jsonl").write_text("{}\n", encoding="utf-8")
    (sets / "many").mkdir()
    (sets / "many" / "link").symlink_to(sets / "aside" / "holdout")
    for place in ("one.jsonl", "many"):
        for given in (place, str(sets / place)):
            with pytest.raises(UsageError, match="refused, as by its name"):
                refuse_holdout(replace(fixtures, source=given), None)


def test_what_a_glob_stands_for_behind_a_url_counts(fixtures, monkeypatch):
    found = []
    monkeypatch.setattr("skillful_eval.sweep_guard.find_logs", lambda _: found)
    given = replace(fixtures, source="s3://holdout-study/tests/**/*.jsonl")
    for path, is_refused in (("dev/v1/a.jsonl", False), ("holdout/v1/v2/a.jsonl", True)):
        found[:] = [SimpleNamespace(path=f"s3://holdout-study/tests/{path}")]
        with pytest.raises(UsageError, match="refused, as by its name") if is_refused else nullcontext():
            refuse_holdout(given, None)
