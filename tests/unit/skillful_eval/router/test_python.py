"""The router that is a user's own code."""

from __future__ import annotations

import sys

import polars as pl
import pytest

from skillful_eval.router.protocol import OUTCOMES, shortlist_schema
from skillful_eval.router.python import PythonRouter
from skillshift.frame.console import Terminated
from skillshift.frame.errors import UsageError

CODE = """
from types import SimpleNamespace

import polars as pl

from skillful_eval.router.protocol import OUTCOMES

SEEN = []

def first(prompt, candidates):
    SEEN.append((prompt, [dict(candidate) for candidate in candidates]))
    candidates[0]["name"] = "changed"
    return candidates[0]["id"]

def never(prompt, candidates):
    return "none"

def sure(prompt, candidates):
    return {"choice": candidates[1]["id"], "none_p": 0.25, "winner_p": 1}

def unsure(prompt, candidates):
    return {"choice": "none", "none_p": 0.75}

def breaks(prompt, candidates):
    raise KeyError(f"{prompt}: no such thing\\nmore of it")

def leaks(prompt, candidates):
    raise ValueError("api_key=sk-abcdefghijklmnopqrstuvwx, mail jane@example.org \\ud800")

def silent(prompt, candidates):
    raise ValueError

def stops(prompt, candidates):
    raise KeyboardInterrupt

def leaves(prompt, candidates):
    raise SystemExit(143)

def ended(prompt, candidates):
    from skillshift.frame.console import Terminated

    raise Terminated(143)

class Mute(Exception):
    def __str__(self):
        raise ValueError("nothing to say")

def mute(prompt, candidates):
    raise Mute

class Own:
    def __init__(self, prompt, candidates):
        self.prompt = prompt

def elsewhere(prompt, candidates):
    return "nowhere"

def nothing(prompt, candidates):
    return None

def number(prompt, candidates):
    return 7

def unknown(prompt, candidates):
    return {"choice": "none", "p": 0.5}

def without(prompt, candidates):
    return {"none_p": 0.5}

def beyond(prompt, candidates):
    return {"choice": "none", "none_p": 1.5}

def nan(prompt, candidates):
    return {"choice": "none", "winner_p": float("nan")}

def words(prompt, candidates):
    return {"choice": "none", "winner_p": "high"}

def flag(prompt, candidates):
    return {"choice": "none", "winner_p": True}

def lists(prompt, candidates):
    return {"choice": ["none"]}

async def later(prompt, candidates):
    return "none"

def one(prompt):
    return "none"

CONSTANT = 3

class Whole:
    batch = 5
    settings = {"router": "mine", "depth": "2"}
    broken = False

    def shortlist(self, prompts):
        if self.broken:
            raise OSError("index gone")
        return pl.DataFrame({"shortlist": [["a:plan"]] * len(prompts), "scores": [[1.0]] * len(prompts)})

    def decide(self, requests):
        raise TimeoutError("too slow")

whole = Whole()
broken = Whole()
broken.broken = True
unset = Whole()
unset.settings = None

class Streaming(Whole):
    fails = False

    def stream(self, requests):
        for number in reversed(range(len(requests))):
            if self.fails and number == 1:
                raise OSError("gone")
            row = {"decision": "skipped", "reason": "none", "detail": str(number)}
            yield pl.Series([number]), pl.DataFrame([row], schema=OUTCOMES)

streaming = Streaming()
failing = Streaming()
failing.fails = True
part = SimpleNamespace(shortlist=whole.shortlist, decide=whole.decide)
inner = SimpleNamespace(first=first)
"""


class Retriever:
    batch = None
    settings = {"router": "fake", "quota": "skill=2"}  # noqa: RUF012

    def __init__(self, corpus):
        self.corpus = corpus

    def shortlist(self, prompts):
        rows = {"shortlist": [["b:undo", "a:db"]] * len(prompts), "scores": [[2.0, 1.0]] * len(prompts)}
        return pl.DataFrame(rows, schema=shortlist_schema(self.corpus))

    def decide(self, requests):
        raise NotImplementedError


@pytest.fixture
def router(corpus, tmp_path, monkeypatch):
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def make(attribute):
        return PythonRouter(corpus, Retriever(corpus), f"{name}:{attribute}")

    yield make
    sys.modules.pop(name, None)


def decided(router, *prompts):
    prompts = prompts or ("do it",)
    shortlists = router.shortlist(pl.Series(prompts))
    requests = shortlists.with_columns(prompt=pl.Series(prompts), fixture_id=pl.lit("f"), repeat=0)
    outcomes = router.decide(requests)
    assert outcomes.schema == OUTCOMES
    assert outcomes.height == len(prompts)
    return outcomes


def test_a_function_gets_the_prompt_and_its_candidates_and_picks(router):
    outcomes = decided(router("first"), "one", "two")
    assert outcomes["decision"].to_list() == ["injected"] * 2
    assert outcomes["chosen"].to_list() == ["b:undo"] * 2
    assert (outcomes["latency_ms"] >= 0).all()
    seen = sys.modules[router("first").settings["function"].partition(":")[0]].SEEN
    # What it changes in one call does not reach the next.
    candidates = [
        {"id": "b:undo", "name": "ops-undo", "description": "Does ops-undo."},
        {"id": "a:db", "name": "db", "description": "Does db."},
    ]
    assert seen == [("one", candidates), ("two", candidates)]


def test_a_candidate_has_its_when_to_use_text_where_there_is_one(router, head, entries):
    from skillful_eval.corpus import make_corpus

    entries = [entry | ({"whenToUse": "Late."} if entry["id"] == "a:db" else {}) for entry in entries]
    corpus = make_corpus(head, entries, "corpus.json")
    reference = router("first").settings["function"]
    decided(PythonRouter(corpus, Retriever(corpus), reference))
    seen = sys.modules[reference.partition(":")[0]].SEEN
    assert [candidate.get("whenToUse") for candidate in seen[-1][1]] == [None, "Late."]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("never", ("skipped", None, "none", None, None)),
        ("sure", ("injected", "a:db", None, 0.25, 1.0)),
        ("unsure", ("skipped", None, "none", 0.75, None)),
        ("inner.first", ("injected", "b:undo", None, None, None)),
    ],
)
def test_what_a_function_may_return(router, attribute, expected):
    outcomes = decided(router(attribute))
    assert outcomes.select("decision", "chosen", "reason", "none_p", "winner_p").row(0) == expected


@pytest.mark.parametrize(
    ("attribute", "reason", "detail"),
    [
        ("breaks", "upstream", "KeyError: 'do it: no such thing\\nmore of it'"),
        ("silent", "upstream", "ValueError"),
        ("mute", "upstream", "Mute"),
        ("leaves", "upstream", "SystemExit: 143"),
        ("elsewhere", "malformed", 'chose "nowhere", which was not offered'),
        ("nothing", "malformed", "returned null, expected an id"),
        ("number", "malformed", "returned 7, expected an id"),
        ("unknown", "malformed", 'returned a mapping with ["choice", "p"]'),
        ("without", "malformed", 'returned a mapping with ["none_p"]'),
        ("beyond", "malformed", "none_p: found 1.5, expected a probability"),
        ("nan", "malformed", "winner_p: found NaN, expected a probability"),
        ("words", "malformed", 'winner_p: found "high", expected a probability'),
        ("flag", "malformed", "winner_p: found true, expected a probability"),
        ("lists", "malformed", 'chose ["none"], which was not offered'),
    ],
)
def test_what_goes_wrong_is_a_degraded_run_with_its_cause(router, attribute, reason, detail):
    row = decided(router(attribute)).row(0, named=True)
    assert (row["decision"], row["chosen"], row["reason"]) == ("degraded", None, reason)
    assert row["detail"].startswith(detail)


def test_what_is_private_in_an_exception_is_not_told(router):
    detail = decided(router("leaks"))["detail"].item()
    assert "sk-abc" not in detail
    assert "jane" not in detail
    assert detail.startswith("ValueError: api_key=[redacted]")


@pytest.mark.parametrize(("attribute", "error"), [("stops", KeyboardInterrupt), ("ended", Terminated)])
def test_an_interruption_is_no_failure_of_the_function(router, attribute, error):
    with pytest.raises(error):
        decided(router(attribute))


def test_the_settings_name_the_function_and_what_retrieves(router):
    settings = router("never").settings
    assert settings["router"] == "python"
    assert settings["function"].endswith(":never")
    assert settings["retriever.quota"] == "skill=2"
    assert router("never").batch == 16
    assert not router("never").is_whole


def test_a_whole_router_shortlists_itself(router):
    whole = router("whole")
    assert whole.is_whole
    assert whole.batch == 5
    assert whole.settings["own.depth"] == "2"
    assert whole.shortlist(pl.Series(["x"]))["shortlist"].to_list() == [["a:plan"]]
    outcomes = decided(whole, "x", "y")
    assert outcomes.select("decision", "reason", "detail").unique().rows() == [
        ("degraded", "upstream", "TimeoutError: too slow")
    ]
    with pytest.raises(UsageError, match=r"broken: shortlist raised OSError: index gone"):
        router("broken").shortlist(pl.Series(["x"]))


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("absent", 'found no "absent" in it, expected the name of a function'),
        ("firts", r"the nearest are .*first"),
        ("CONSTANT", "found int, expected a function"),
        ("later", "asynchronous"),
        ("one", "expected a function of a prompt and its candidates"),
        ("Whole", "found a class"),
        ("Own", "found a class, expected a function"),
        ("unset", "settings: found null, expected names and values"),
        ("part", "lacks batch and settings"),
    ],
)
def test_what_is_no_router_is_refused_at_once(router, attribute, message):
    with pytest.raises(UsageError, match=message):
        router(attribute)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nocolon", "expected module:attribute"),
        (":f", "expected module:attribute"),
        ("m:", "expected module:attribute"),
        ("no_such_module_at_all:f", "cannot be imported: ModuleNotFoundError"),
        ("..relative:f", "cannot be imported: TypeError"),
        ("broken_one:f", "cannot be imported: SyntaxError"),
        ("leaving_one:f", "cannot be imported: SystemExit"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused(corpus, tmp_path, monkeypatch, reference, message):
    (tmp_path / "broken_one.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "leaving_one.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(UsageError, match=message):
        PythonRouter(corpus, Retriever(corpus), reference)


def streamed(router, count):
    prompts = pl.Series(["do it"] * count)
    requests = router.shortlist(prompts).with_columns(prompt=prompts, fixture_id=pl.lit("f"), repeat=0)
    return [
        (numbers.to_list(), outcomes["reason"].to_list()) for numbers, outcomes in router.stream(requests)
    ]


def test_a_function_streams_in_pieces(router, monkeypatch):
    monkeypatch.setattr("skillful_eval.router.streaming.PIECE_ROWS", 2)
    assert [numbers for numbers, _ in streamed(router("never"), 5)] == [[0, 1], [2, 3], [4]]


def test_a_whole_router_streams_if_it_can_and_else_gets_slices(router):
    assert streamed(router("streaming"), 3) == [([2], ["none"]), ([1], ["none"]), ([0], ["none"])]
    assert streamed(router("failing"), 4) == [([3], ["none"]), ([2], ["none"]), ([0, 1], ["upstream"] * 2)]
    assert [numbers for numbers, _ in streamed(router("whole"), 7)] == [[0, 1, 2, 3, 4], [5, 6]]
