"""The bundled corpus and fixtures: reproducible, resolvable, counted as their README counts them."""

from __future__ import annotations

import collections
import difflib
import hashlib
import importlib.util
import itertools
import json
import re
from pathlib import Path

import polars as pl
import pytest

from skillshift.frame.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
ROUTING = ROOT / "data" / "routing"
SETS = {"dev": 75, "holdout": 25}
GROUPS = {"coding", "marketing", "mcp", "agent", "trivial", "ambiguous", "vietnamese"}
REQUIRED = {"id", "kind", "name", "description", "runtime", "scope", "sourcePath"}
HEADER = "kind\tname\tinstalls\tdescription\twhen_to_use\n"


def fold(name: str) -> str:
    return name.replace(":", "-").casefold()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def phrases(text: str, length: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}


def read_fixtures(name: str) -> list[dict]:
    text = (ROUTING / f"fixtures.{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]


@pytest.fixture(scope="module")
def snapshot() -> dict:
    return json.loads((ROUTING / "corpus.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def entries(snapshot) -> pl.DataFrame:
    return pl.DataFrame(snapshot["entries"], infer_schema_length=None).with_columns(
        capability=pl.col("name").str.replace_all(":", "-", literal=True).str.to_lowercase()
    )


@pytest.fixture(scope="module")
def fixtures() -> dict[str, list[dict]]:
    return {name: read_fixtures(name) for name in SETS}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_corpus", ROUTING / "make_corpus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_corpus_is_what_its_source_gives(script):
    assert script.assemble(ROUTING / "source") == (ROUTING / "corpus.json").read_bytes()


def test_the_fingerprint_is_the_documented_digest(snapshot):
    ordered = sorted(snapshot["entries"], key=lambda entry: entry["id"])
    canonical = json.dumps(ordered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert snapshot["fingerprint"] == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def test_the_fingerprint_depends_on_the_entries_and_not_on_their_order(script, snapshot):
    shown = snapshot["entries"]
    assert script.fingerprint(shown[::-1]) == snapshot["fingerprint"]
    assert script.fingerprint(shown[1:]) != snapshot["fingerprint"]


def test_the_snapshot_has_the_fields_of_a_snapshot(snapshot):
    heads = ["capturedAt", "fingerprint", "sanitised", "excludedCount", "redactedCount", "entries"]
    assert list(snapshot) == heads
    assert (snapshot["sanitised"], snapshot["excludedCount"], snapshot["redactedCount"]) == (False, 0, 0)
    for entry in snapshot["entries"]:
        assert set(entry) - {"whenToUse"} == REQUIRED
        assert all(isinstance(value, str) and value == value.strip() != "" for value in entry.values())


def test_ids_say_where_an_entry_is_and_are_unique(entries):
    built = pl.concat_str("runtime", "kind", "scope", "name", separator=":")
    assert entries.filter(pl.col("id") != built).is_empty()
    assert entries["id"].is_unique().all()
    assert entries["id"].is_sorted()


def test_the_counts_of_capabilities(entries):
    counts = entries.group_by("kind").agg(pl.col("capability").n_unique())
    assert dict(counts.iter_rows()) == {"skill": 227, "agent": 25, "mcp": 5, "command": 3, "rule": 3}


def test_a_name_is_one_capability_and_a_text_belongs_to_one_name(entries):
    per_name = entries.group_by("capability").agg(
        pl.col("kind", "description").n_unique(), pl.col("whenToUse").fill_null("").n_unique()
    )
    assert per_name.filter(pl.max_horizontal("kind", "description", "whenToUse") > 1).is_empty()
    per_text = entries.group_by("description").agg(pl.col("capability").n_unique())
    assert per_text.filter(pl.col("capability") > 1).is_empty()


def test_copies_are_spelled_both_ways(entries):
    copies = entries.group_by("capability").agg(
        colon=pl.col("name").str.contains(":", literal=True).any(),
        dash=(~pl.col("name").str.contains(":", literal=True)).any(),
        spellings=pl.col("name").n_unique(),
        runtimes=pl.col("runtime").n_unique(),
    )
    assert copies.filter("colon", "dash").height >= 30
    assert copies.filter(pl.col("runtimes") >= 3).height >= 10
    assert copies.filter(~pl.col("colon"), pl.col("spellings") > 1)["capability"].to_list() == [
        "cartographer"
    ]


def test_texts_are_written_out_and_most_entries_say_when_to_use_them(entries):
    texts = entries.unique("capability").filter(pl.col("kind").is_in(["skill", "agent", "mcp"]))
    sentences = texts["description"].str.count_matches(r"[.](?: |$)")
    assert sentences.is_between(1, 3).all()
    assert texts["description"].str.len_chars().is_between(50, 320).all()
    assert texts["whenToUse"].is_not_null().mean() > 0.5


def test_descriptions_are_not_variations_of_one_pattern(entries):
    openings = entries.unique("capability")["description"].str.extract(r"^(\w+)")
    assert openings.n_unique() > 100
    assert openings.value_counts()["count"].max() < 20


@pytest.mark.parametrize(("name", "count"), SETS.items())
def test_fixtures_have_their_fields(fixtures, name, count):
    assert len(fixtures[name]) == count
    assert {fixture["group"] for fixture in fixtures[name]} == GROUPS
    for fixture in fixtures[name]:
        assert list(fixture) in (
            ["id", "group", "prompt", "gold"],
            ["id", "group", "prompt", "gold", "notes"],
        )
        assert fixture["prompt"] == fixture["prompt"].strip() != ""
        assert fixture["gold"]
        assert len({fold(gold) for gold in fixture["gold"]}) == len(fixture["gold"])
        assert "none" not in fixture["gold"] or fixture["gold"] == ["none"]


def test_every_gold_name_resolves(fixtures, entries):
    known = set(entries["capability"])
    assert "none" not in known
    golds = {gold for fixture in itertools.chain(*fixtures.values()) for gold in fixture["gold"]}
    assert {gold for gold in golds if fold(gold) not in known} == {"none"}


def test_gold_is_of_the_kind_that_the_group_says(fixtures, entries):
    kinds = dict(zip(entries["capability"], entries["kind"], strict=True))
    for fixture in itertools.chain(*fixtures.values()):
        abstains = fixture["gold"] == ["none"]
        if fixture["group"] == "trivial":
            assert abstains
        elif fixture["group"] in {"coding", "marketing"}:
            assert {kinds[fold(gold)] for gold in fixture["gold"]} == {"skill"}
        elif fixture["group"] in {"mcp", "agent"}:
            assert fixture["group"] in {kinds[fold(gold)] for gold in fixture["gold"]}
        else:
            assert abstains or len(fixture["gold"]) > 1 or fixture["group"] == "vietnamese"


def test_vietnamese_is_typed_with_and_without_diacritics(fixtures):
    for name, without in {"dev": 2, "holdout": 1}.items():
        prompts = [fixture["prompt"] for fixture in fixtures[name] if fixture["group"] == "vietnamese"]
        assert sum(prompt.isascii() for prompt in prompts) == without


def test_no_prompt_is_asked_twice_or_nearly_so(fixtures):
    every = list(itertools.chain(*fixtures.values()))
    assert len({fixture["id"] for fixture in every}) == sum(SETS.values())
    for one, other in itertools.combinations(every, 2):
        likeness = difflib.SequenceMatcher(None, one["prompt"].casefold(), other["prompt"].casefold()).ratio()
        assert likeness < 0.6, (one["id"], other["id"])


def test_no_prompt_recites_what_its_gold_says(fixtures, entries):
    texts = {
        capability: phrases(f"{description} {when or ''}", 3)
        for capability, description, when in entries[["capability", "description", "whenToUse"]].rows()
    }
    for fixture in itertools.chain(*fixtures.values()):
        recited = set().union(*(texts.get(fold(gold), set()) for gold in fixture["gold"]))
        assert not phrases(fixture["prompt"], 3) & recited, fixture["id"]


def test_the_readme_counts_what_is_there(fixtures, entries):
    readme = (ROUTING / "README.md").read_text(encoding="utf-8")
    rows = {
        cells[0]: cells[1:] for line in readme.splitlines() if len(cells := line.strip("|").split("|")) > 2
    }
    told = {key.strip(): [cell.strip() for cell in cells] for key, cells in rows.items()}
    for kind, here in entries.group_by("kind"):
        assert told[kind[0]] == [str(here["capability"].n_unique()), str(here.height)]
    total = [str(entries["capability"].n_unique()), str(entries.height)]
    assert told["all kinds"] == total
    for group in GROUPS:
        assert told[group if group not in {"mcp", "agent"} else f"{group} (group)"] == [
            str(sum(fixture["group"] == group for fixture in fixtures[name])) for name in SETS
        ]
    abstain = collections.Counter(
        name for name in SETS for fixture in fixtures[name] if fixture["gold"] == ["none"]
    )
    assert told["must abstain"] == [str(abstain[name]) for name in SETS]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("kind\tname\n", "one.tsv:1: found the header"),
        (HEADER + "skill\ta\tcodex\tDoes it.\n", "one.tsv:2: found 4 fields"),
        (HEADER + "skill\ta\tcodex\t\t\n", "one.tsv:2: found 5 fields"),
        (HEADER + "skill\ta\tcodex\tDoes it. \t\n", "one.tsv:2: found 5 fields"),
        (
            HEADER + "skill\ta\tnowhere\tDoes it.\t\n",
            "one.tsv:2: no place is known for kind 'skill' in 'nowhere'",
        ),
        (
            HEADER + "spell\ta\tcodex\tDoes it.\t\n",
            "one.tsv:2: no place is known for kind 'spell' in 'codex'",
        ),
        (
            HEADER + "skill\ta\tcodex codex\tDoes it.\t\n",
            "installed twice in the same place: codex:skill:global:a",
        ),
        (
            HEADER + "skill\tx:a\tcodex\tDoes it.\t\nagent\tX-A\tcodex\tDoes that.\t\n",
            "one.tsv:3: the name 'X-A' is taken by one.tsv:2",
        ),
    ],
)
def test_a_faulty_table_is_refused_with_its_place(script, tmp_path, table, message):
    (tmp_path / "one.tsv").write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        script.assemble(tmp_path)
