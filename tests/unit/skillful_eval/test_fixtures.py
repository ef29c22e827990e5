from __future__ import annotations

import json

import polars as pl
import pytest

from skillful_eval.corpus import make_corpus
from skillful_eval.fixtures import read_fixtures
from skillful_eval.schema import GROUPS
from skillshift.frame.errors import ContractError, InputError

GOOD = {"id": "a", "group": "g", "prompt": "undo it", "gold": ["ops:undo"], "notes": "easy"}


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "routing.dev.jsonl"
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return path

    return write


def test_a_file_with_comments_and_blank_lines(file, corpus):
    path = file("# a comment", "", GOOD, "   ", GOOD | {"id": "b", "gold": ["none"]})
    fixtures = read_fixtures(path, corpus)
    assert fixtures.frame.to_dicts() == [
        {
            "fixture_id": "a",
            "group": "g",
            "prompt": "undo it",
            "gold": ["ops:undo"],
            "notes": "easy",
            "abstain": False,
            "answers": 1,
            "kinds": ["skill"],
        },
        {
            "fixture_id": "b",
            "group": "g",
            "prompt": "undo it",
            "gold": ["none"],
            "notes": "easy",
            "abstain": True,
            "answers": 0,
            "kinds": [],
        },
    ]
    assert fixtures.name == "routing.dev"
    assert fixtures.source == str(path)


def test_kinds_come_in_the_order_of_reports(fixtures_of):
    fixtures = fixtures_of([("x", "g", ["style", "lint", "db", "plan", "ops:undo"])])
    assert fixtures.frame["kinds"].to_list() == [["skill", "mcp", "agent", "command", "rule"]]
    assert fixtures.frame["answers"].to_list() == [5]


@pytest.mark.parametrize(
    ("line", "code", "found"),
    [
        ('{"id": "b"', "json.syntax", '{"id": "b"'),
        ({"id": "b", "group": "g", "gold": ["none"]}, "prompt.missing-key", "no such key"),
        (GOOD | {"id": "b", "prompt": " \t"}, "prompt.empty", r"\t"),
        (GOOD | {"id": "b", "gold": []}, "gold.empty", "[]"),
        (GOOD | {"id": "b", "gold": ["db", " "]}, "gold.blank", '[\\"db\\", \\" \\"]'),
        (GOOD | {"id": "b", "gold": ["none", "db"]}, "gold.none-beside", "none"),
        (GOOD | {"id": "b", "gold": "db"}, "gold.type", "db"),
        (GOOD | {"id": 5}, "id.type", "5"),
        (GOOD, "id.duplicate", '"a"'),
        (GOOD | {"id": "b", "gold": ["ops:undoo"]}, "gold.unknown", '"ops:undoo"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_line_is_located(file, corpus, line, code, found):
    path = file("# first", GOOD, "", line)
    with pytest.raises(ContractError) as error:
        read_fixtures(path, corpus)
    assert error.value.counts == {code: 1}
    violation = error.value.violations[0]
    assert (violation.file, violation.line) == (str(path), 4)
    assert found.replace("\\", "") in violation.found.replace("\\", "")


def test_a_duplicate_id_names_the_first_line(file, corpus):
    path = file("# first", GOOD, "", GOOD | {"id": "b"}, GOOD | {"prompt": "other"})
    with pytest.raises(ContractError, match=f"the first with this one is at {path}:2"):
        read_fixtures(path, corpus)


def test_an_unknown_gold_comes_with_the_nearest_names(fixtures_of):
    with pytest.raises(ContractError) as error:
        fixtures_of([("a", "g", ["ops-ondo"]), ("b", "g", ["None"]), ("c", "g", ["zzz"])])
    hints = [violation.hint for violation in error.value.violations]
    assert hints == [
        'the nearest are "ops-undo", "ops:Undo"',
        'the nearest are "none"',
        "no name is near it",
    ]


def test_several_kinds_of_violation_come_together_in_the_order_of_the_lines(file, corpus):
    path = file(GOOD | {"gold": ["nothing"]}, GOOD | {"id": "b", "prompt": ""}, GOOD)
    with pytest.raises(ContractError) as error:
        read_fixtures(path, corpus)
    assert [(v.line, v.code) for v in error.value.violations] == [
        (1, "gold.unknown"),
        (2, "prompt.missing"),
        (2, "prompt.empty"),
        (3, "id.duplicate"),
    ]


def test_groups_are_free_unless_a_vocabulary_is_asked_for(file, corpus):
    path = file(GOOD, GOOD | {"id": "b", "group": "codnig"})
    assert read_fixtures(path, corpus).frame.height == 2
    with pytest.raises(ContractError) as error:
        read_fixtures(path, corpus, groups=GROUPS)
    assert error.value.counts == {"group.unknown": 2}
    assert "coding" in error.value.violations[1].hint


def test_an_empty_file_is_refused(file, corpus):
    with pytest.raises(InputError):
        read_fixtures(file("# nothing"), corpus)


def test_the_digest_covers_what_is_asked_and_not_how_it_is_written(file, corpus):
    one = read_fixtures(file("# c", GOOD, GOOD | {"id": "b"}), corpus)
    other = read_fixtures(file(GOOD | {"id": "b", "notes": "else"}, "", GOOD), corpus)
    assert one.digest == other.digest
    for name, value in {"gold": ["db"], "prompt": "x", "group": "h", "id": "c"}.items():
        assert read_fixtures(file(GOOD | {name: value}, GOOD | {"id": "b"}), corpus).digest != one.digest


def test_a_frame_can_be_named(corpus):
    frame = pl.DataFrame([GOOD]).drop("notes")
    fixtures = read_fixtures(frame, corpus, name="mine")
    assert (fixtures.name, fixtures.frame["notes"].to_list()) == ("mine", [None])


def test_one_prompt_with_different_gold_is_a_finding(corpus):
    rows = [
        GOOD,
        GOOD | {"id": "b", "gold": ["OPS-undo"]},
        GOOD | {"id": "c", "gold": ["none"]},
        GOOD | {"id": "d", "prompt": "else", "gold": ["db"]},
    ]
    found = read_fixtures(pl.DataFrame(rows), corpus).findings()
    assert found.select("code", "subject", "count").rows() == [("prompt.conflicting", "a, b, c", 3)]


def test_one_prompt_twice_with_the_same_gold_is_none(corpus):
    rows = [GOOD, GOOD | {"id": "b", "gold": ["OPS-undo"]}]
    assert read_fixtures(pl.DataFrame(rows), corpus).findings().is_empty()


def test_a_gold_that_is_an_id_and_another_name_is_a_finding(head, entries):
    entries[2]["name"] = "b:undo"
    corpus = make_corpus(head, entries, "x")
    found = read_fixtures(pl.DataFrame([GOOD | {"gold": ["b:undo"]}]), corpus).findings()
    assert found.select("code", "subject", "count").rows() == [("gold.id-and-name", "b:undo", 1)]
