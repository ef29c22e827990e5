"""Make the recorded runs of two routers that do not exist: simulated; nothing here was measured.

Run ``python data/routing/make_runs.py`` to write them anew into ``runs/`` beside this file, or
``python data/routing/make_runs.py FOLDER`` to write them elsewhere. The same rows come out on any machine.
"""  # noqa: INP001 - a script beside its data, not a package

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillful_eval.corpus import Corpus, read_corpus
from skillful_eval.fixtures import Fixtures, read_fixtures
from skillshift.frame.draws import draws
from skillshift.frame.writing import staged, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
SEED = 1
REPEATS = 3
SETS = ("dev", "holdout")
TUNED_ON = "fixtures.dev"
"""Both routers say that they were tuned on the development set, so a gate must refuse it."""


@dataclass(frozen=True)
class Router:
    """A router to simulate; chances in percent.

    Attributes:
        offered: How many capabilities its shortlist has.
        pull: How strongly its retrieval is drawn to a gold; a shared word counts 1, luck up to 4.
        right: How often it picks the gold that it was offered.
        abstains: How often it abstains when it must.
        timid: How often it abstains although a gold was offered.
        wavers: How often a repeat decides anew instead of as before.
        fails: How often a request fails.
        slow: Its usual latency in milliseconds.
    """

    offered: int
    pull: Fraction
    right: int
    abstains: int
    timid: int
    wavers: int
    fails: int
    slow: int


ROUTERS = {
    "narrow-8": Router(8, Fraction(2), right=84, abstains=86, timid=6, wavers=9, fails=2, slow=420),
    "wide-20": Router(20, Fraction(33, 10), right=93, abstains=98, timid=2, wavers=2, fails=1, slow=640),
}


class Chance:
    """Draws by name: the same name gives the same number, whatever is drawn before it."""

    def __init__(self, *names: object) -> None:
        self._name = "/".join(map(str, ("routing runs", SEED, *names)))

    def below(self, end: int, what: object) -> int:
        """A whole number from 0 to below ``end``."""
        return int(draws(f"{self._name}/{what}", 1)[0]) % end

    def percent(self, chance: int, what: object) -> bool:
        """Whether something happens that does in so many of a hundred cases."""
        return self.below(100, what) < chance


def words(text: str) -> set[str]:
    """The words of a text that say something."""
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}  # noqa: PLR2004


def shortlist(
    router: Router, prompt: str, gold: set[str], entries: list[dict[str, Any]], luck: Chance
) -> list[str]:
    """The ids that the router offers: words in common, luck, and a pull towards the gold.

    Of the copies of a capability the first by id is offered.
    """
    asked = words(prompt)
    scores: dict[str, tuple[Fraction, str]] = {}
    for entry in entries:
        key = entry["capability"]
        if key in scores:
            continue
        common = len(asked & words(f"{entry['name']} {entry['description']}"))
        pulled = router.pull if entry["id"] in gold else Fraction(0)
        scores[key] = (common + pulled + Fraction(luck.below(4000, f"score {key}"), 1000), entry["id"])
    best = sorted(scores.values(), key=lambda scored: (-scored[0], scored[1]))
    return [id_ for _, id_ in best[: router.offered]]


def outcome(router: Router, abstain: bool, offered: list[str], gold: set[str], luck: Chance) -> str | None:  # noqa: FBT001
    """What the router picks of what it was offered; null where it abstains."""
    golds = [id_ for id_ in offered if id_ in gold]
    if abstain:
        return None if luck.percent(router.abstains, "abstains") else offered[luck.below(3, "pick")]
    if golds and luck.percent(router.timid, "timid"):
        return None
    if golds and luck.percent(router.right, "right"):
        return golds[0]
    others = [id_ for id_ in offered if id_ not in gold]
    # Without a gold a router that is good at abstaining abstains more often, too.
    if not golds and luck.percent(router.abstains // 2, "sees that nothing fits"):
        return None
    return others[luck.below(3, "pick")]


def run(
    router: Router, pick: str | None, offered: list[str], prompt: str, *, repeat: int, luck: Chance
) -> dict[str, Any]:
    """One recorded run of a decision: its probabilities, latency and tokens."""
    latency = router.slow * (70 + luck.below(60, "latency")) // 100 + luck.below(400, "tail") ** 2 // 400
    row: dict[str, Any] = {
        "repeat": repeat,
        "shortlist": offered,
        "decision": "skipped" if pick is None else "injected",
        "chosen": pick,
        "reason": None,
        "none_p": None,
        "winner_p": None,
        "latency_ms": float(latency),
        "tokens_in": None,
        "tokens_out": None,
        "response_index": None,
    }
    if luck.percent(router.fails, "fails"):
        return row | {"decision": "degraded", "chosen": None, "reason": "timeout", "latency_ms": 3000.0}
    if pick is None and len(prompt) < 12:  # noqa: PLR2004
        return row | {"reason": "short prompt", "latency_ms": 1.0}
    none_p = luck.below(38, "none") if pick else 40 + luck.below(55, "none")
    return row | {
        "reason": "none" if pick is None else None,
        "none_p": none_p / 100,
        "winner_p": ((100 - none_p) * (45 + luck.below(50, "winner")) // 100) / 100,
        "tokens_in": 90 * len(offered) + len(prompt) // 4,
        "tokens_out": 30 + 3 * len(offered),
        "response_index": repeat,
    }


def runs_of(name: str, router: Router, fixtures: Fixtures, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """The runs of one router over a set: every fixture in every repeat."""
    entries = corpus.entries.sort("id").to_dicts()
    golds = dict(fixtures.golds.group_by("fixture").agg("id").rows())
    for number, fixture in enumerate(fixtures.frame.to_dicts()):
        gold = set(golds.get(number, ()))
        of_fixture = Chance(name, fixture["fixture_id"])
        offered = shortlist(router, fixture["prompt"], gold, entries, of_fixture)
        usual = outcome(router, fixture["abstain"], offered, gold, of_fixture)
        for repeat in range(REPEATS):
            luck = Chance(name, fixture["fixture_id"], repeat)
            pick = usual
            if luck.percent(router.wavers, "wavers"):
                pick = outcome(router, fixture["abstain"], offered, gold, luck)
            recorded = run(router, pick, offered, fixture["prompt"], repeat=repeat, luck=luck)
            yield {"config": name, "fixture_id": fixture["fixture_id"]} | recorded


def simulated(which: str, corpus: Corpus) -> tuple[pl.DataFrame, dict[str, str]]:
    """The runs of both routers over one set, and what the file says of their making."""
    fixtures = read_fixtures(HERE / f"fixtures.{which}.jsonl", corpus)
    rows = [row for name, router in ROUTERS.items() for row in runs_of(name, router, fixtures, corpus)]
    ids = pl.Enum(corpus.entries["id"].sort())
    overrides: dict[str, pl.DataType] = {"shortlist": pl.List(ids), "chosen": ids, "reason": pl.String()}
    frame = pl.DataFrame(rows, schema_overrides=overrides, infer_schema_length=None)
    return frame, {
        "made_by": "data/routing/make_runs.py: simulated, nothing was measured",
        "fixture_set": fixtures.name,
        "fixture_digest": fixtures.digest,
        "corpus_fingerprint": corpus.fingerprint,
        "tuned_on": TUNED_ON,
    }


def generate(folder: Path) -> None:
    """Write the runs over both sets into a folder."""
    corpus = read_corpus(HERE / "corpus.json")
    with staged(folder) as place:
        for which in SETS:
            frame, metadata = simulated(which, corpus)
            write_parquet(frame, place / f"{which}.parquet", metadata)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "runs")
