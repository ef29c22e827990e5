"""What the diagnostics give keeps the contracts of their outputs, and so does what is read back."""

import io

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import skillshift as ss
from skillshift.diagnostics.schemas import CELLS_TABLE, MARGINALS_TABLE
from skillshift.testing import grids, logs, to_frame

INCOMPLETE = st.sampled_from(("undefined", "scored"))


@st.composite
def outputs(draw):
    grid = draw(grids())
    cells = ss.cells(to_frame(draw(logs(grid))), grid=grid, incomplete=draw(INCOMPLETE))
    return cells, ss.marginals(cells)


@given(outputs())
def test_what_the_diagnostics_give_keeps_its_contract(frames):
    for table, frame in zip((CELLS_TABLE, MARGINALS_TABLE), frames, strict=True):
        assert table.validate(frame.lazy()).collect().equals(frame)


@given(outputs())
@settings(max_examples=max(10, settings().max_examples // 10))  # pandera takes its time
def test_pandera_says_so_too_of_what_is_read_back(frames):
    for model, frame in zip((ss.Cells, ss.Marginals), frames, strict=True):
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        buffer.seek(0)
        again = pl.read_parquet(buffer)
        assert model.validate(again, lazy=True).equals(frame)
        assert model.validate(again.lazy(), lazy=True).collect().equals(frame)
