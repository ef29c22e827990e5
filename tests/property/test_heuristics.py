"""The quick look at how a prompt begins overlooks none that the whole definition passes over."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval.router.heuristics import heuristic, reason, without_ends
from skillful_eval.router.social import BESIDE, TURNS

WORDS = st.sampled_from(
    [*TURNS, *BESIDE, "fix", "the login bug", "I", "how can", "/go", "/etc", "ok3", "xd", "d"]
)
BETWEEN = st.sampled_from(
    [" ", ", ", "! ", "...", " :d ", ":D", "<3", "'", "_", "-", "\n", " xD ", "\u2019", " 🙂 ", "3"]
)


@st.composite
def turns(draw):
    text = draw(st.sampled_from(["", "", " ", "'", ":d", "xd ", "<3", "-", "¡"]))
    for _ in range(draw(st.integers(1, 4))):
        word = draw(WORDS)
        cut = draw(st.integers(0, len(word)))
        word = draw(st.sampled_from([word, word.upper(), word + word[-1] * 2, f"{word[:cut]}'{word[cut:]}"]))
        text += word + draw(BETWEEN)
    return text


@given(st.lists(turns() | st.text(max_size=20), max_size=30))
def test_the_quick_look_overlooks_nothing(prompts):
    series = pl.Series("prompt", prompts, dtype=pl.String)
    whole = pl.select(without_ends(series).alias("text")).select(reason(pl.col("text"))).to_series()
    assert heuristic(series).to_list() == whole.to_list()
