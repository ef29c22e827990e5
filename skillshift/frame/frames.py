"""Frames of other libraries as Polars frames, and frames that belong together as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame_of(source: Any) -> pl.LazyFrame | None:
    """A frame of Polars, pandas, PyArrow or any library that Narwhals reads, as a Polars LazyFrame.

    Args:
        source: Anything.

    Returns:
        The LazyFrame, or null where the source is no frame. An index of pandas is left out; NaN in a
        column of pandas, which has nothing else for a missing value, becomes null.

    Raises:
        InputError: The frame cannot be had as Polars columns: a column mixes types, say.
    """
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    if isinstance(source, str | bytes | list | tuple | dict) or hasattr(source, "__fspath__"):
        return None
    try:
        frame = _converted(source)
    except Exception as error:
        # Every library has errors of its own for this, and none of them knows ours.
        library = type(source).__module__.partition(".")[0]
        raise InputError(f"the {library} frame cannot be taken as Polars columns: {error}") from error
    return None if frame is None else frame.lazy()


def _converted(source: Any) -> pl.DataFrame | None:
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend="polars")
    if isinstance(frame, nw.DataFrame):
        return frame.to_polars()
    return pl.DataFrame(source) if hasattr(source, "__arrow_c_stream__") else None


def joined(frames: Sequence[pl.LazyFrame], names: Sequence[str]) -> pl.LazyFrame:
    """Several frames one below the other; a column that some lack is null there.

    Args:
        frames: The frames.
        names: What messages call each of them.

    Returns:
        One frame. Where a column's type differs, numbers become the type that holds both, categories text.

    Raises:
        InputError: A column has types that have nothing in common.
    """
    if len(frames) == 1:
        return frames[0]
    first: dict[str, tuple[str, pl.DataType]] = {}
    as_text: set[str] = set()
    for frame, name in zip(frames, names, strict=True):
        for column, dtype in frame.collect_schema().items():
            if dtype == pl.Null:
                continue
            earlier, known = first.setdefault(column, (name, dtype))
            if dtype == known or (dtype.is_numeric() and known.is_numeric()):
                continue
            if not (_is_text(dtype) and _is_text(known)):
                raise InputError(
                    f"{name}: the column {column} is {dtype}, but in {earlier} it is {known}; "
                    "give it one type in all files"
                )
            as_text.add(column)
    return pl.concat(
        [
            frame.with_columns(pl.col(as_text & set(frame.collect_schema())).cast(pl.String))
            for frame in frames
        ],
        how="diagonal_relaxed",
    )


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
