"""The pandera model of a table, called as pandera documents it."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillshift.frame.contract import Field, Kind, Rule, Table
from skillshift.frame.errors import ContractError

FRUITS = ("apple", "pear")
TABLE = Table(
    "basket",
    "Basket",
    (
        Field("name", Kind.TEXT, "Which fruit.", hint="a number must be written as text"),
        Field("pieces", Kind.COUNT, "How many.", nullable=True),
        Field("ripe", Kind.FLAG, "Whether ripe.", nullable=True),
        Field("weight", Kind.NUMBER, "Grams.", required=False, nullable=True),
        Field("shelf", Kind.LABEL, "Where it lies.", required=False),
        Field("tags", Kind.TEXTS, "Labels.", required=False, nullable=True),
        Field("note", Kind.TEXT, "A remark.", required=False, nullable=True),
    ),
    (
        Rule("pieces.negative", "pieces", pl.col("pieces") < 0, "a whole number from 0"),
        Rule(
            "pieces.missing",
            "pieces",
            pl.col("pieces").is_null() & pl.col("note").is_null(),
            "a count, or a note",
            hint="count again",
        ),
        Rule("name.unknown", "name", ~pl.col("name").is_in(FRUITS), "one of apple, pear", known=FRUITS),
    ),
)
BASKET = pl.DataFrame({"name": ["apple", "pear"], "pieces": [1, 2], "ripe": [True, None]})


def by_pandera(frame):
    """The findings of the model, called as pandera's documentation says."""
    import pandera.errors

    try:
        TABLE.model().validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        cases = errors.failure_cases
        code = pl.col("check").str.extract(r"\[(\S+)\]$")
        return {(c, i + 1) for c, i in cases.select(code, "index").rows()}
    return set()


def by_us(frame):
    try:
        TABLE.validate(frame.lazy())
    except ContractError as error:
        return {(v.code, v.line) for v in error.violations}
    return set()


@st.composite
def baskets(draw):
    n = draw(st.integers(1, 6))

    def column(values, dtype):
        return pl.Series(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)), dtype=dtype)

    frame = pl.DataFrame(
        {
            "name": column(["apple", "pear", "Apple", "mango", "", None], pl.String),
            "pieces": column([0, 1, -1, None], pl.Int64),
            "ripe": column([True, False, None], pl.Boolean),
        }
    )
    if draw(st.booleans()):
        frame = frame.with_columns(shelf=column(["a", "", None], pl.String))
    if draw(st.booleans()):
        frame = frame.with_columns(note=column(["seen", None], pl.String))
    return frame


@given(baskets())
def test_pandera_finds_what_the_contract_finds(frame):
    assert by_pandera(frame) == by_us(frame)


@given(baskets())
def test_pandera_finds_in_a_lazy_frame_what_it_finds_in_an_eager_one(frame):
    assert by_pandera(frame.lazy()) == by_pandera(frame)


@pytest.mark.parametrize("lazy", [True, False])
def test_a_lazy_frame_s_data_is_checked_and_a_lazy_frame_comes_back(lazy):
    import pandera.errors

    good = TABLE.model().validate(BASKET.lazy(), lazy=lazy)
    assert isinstance(good, pl.LazyFrame)
    assert good.collect().equals(BASKET)
    bad = BASKET.with_columns(pieces=pl.Series([1, -1]))
    expected = pandera.errors.SchemaErrors if lazy else pandera.errors.SchemaError
    for call in (TABLE.model().validate, TABLE.model()):
        with pytest.raises(expected, match=r"pieces\.negative"):
            call(bad.lazy(), lazy=lazy)
    with pytest.raises(expected, match="ripe"):
        TABLE.model().validate(BASKET.lazy().drop("ripe"), lazy=lazy)


def test_how_deep_to_look_can_be_said_as_pandera_says_it():
    from pandera.config import ValidationDepth, config_context

    bad = BASKET.with_columns(pieces=pl.Series([1, -1]))
    with config_context(validation_depth=ValidationDepth.SCHEMA_ONLY):
        assert TABLE.model().validate(bad.lazy(), lazy=True).collect().equals(bad)


def test_the_model_gives_the_frame_back_and_takes_extra_columns():
    frame = BASKET.with_columns(seed=pl.lit(1))
    model = TABLE.model()
    assert model.validate(frame, lazy=True).equals(frame)
    assert model.validate(frame).equals(frame)


def test_the_model_checks_columns_and_types():
    import pandera.errors

    with pytest.raises(pandera.errors.SchemaErrors) as caught:
        TABLE.model().validate(BASKET.drop("ripe").with_columns(pieces=pl.lit("x")), lazy=True)
    checks = " ".join(caught.value.failure_cases["check"])
    assert "column_in_dataframe" in checks
    assert "Int64" in checks
    with pytest.raises(pandera.errors.SchemaError):
        TABLE.model().validate(BASKET.drop("ripe"))


def test_the_model_is_documented_and_made_once():
    model = TABLE.model()
    assert model.__name__ == "Basket"
    assert TABLE.model() is model
    columns = model.to_schema().columns
    assert {name: c.description for name, c in columns.items()} == {f.name: f.about for f in TABLE.fields}
    assert {name: c.required for name, c in columns.items()} == {f.name: f.required for f in TABLE.fields}


def test_pandera_is_imported_only_where_a_model_is_asked_for(root):
    code = "import sys, skillshift.frame.contract; print('pandera' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert out.stdout.strip() == "False"
