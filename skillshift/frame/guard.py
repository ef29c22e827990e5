"""Logs that change between their check and their reading are noticed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How local files stood at one moment.

    Attributes:
        states: The size and the time of the last change of each file.
    """

    states: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, paths: Iterable[str]) -> Snapshot:
        """How these files stand now.

        Raises:
            InputError: A file is gone.
        """
        return cls({path: _state(path) for path in paths})

    def verify(self) -> None:
        """Check that no file has changed since.

        Raises:
            InputError: One has, or it is gone.
        """
        for path, state in self.states.items():
            if _state(path) != state:
                raise InputError(
                    f"{path}: changed while it was read; wait until nothing writes to it, and read it again"
                )

    def guarded(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The frame, as a plan that verifies the snapshot whenever it is run.

        The plan gets two further inputs without rows, whose only work is :meth:`verify`: whether the engine
        runs the first or the last input first, a change is noticed before Polars stumbles over it.
        """
        from polars.io.plugins import register_io_source

        schema = frame.collect_schema()

        def nothing(
            with_columns: list[str] | None, _predicate: Any, _n_rows: int | None, _batch_size: int | None
        ) -> Iterator[pl.DataFrame]:
            self.verify()
            empty = pl.DataFrame(schema=schema)
            yield empty if with_columns is None else empty.select(with_columns)

        return pl.concat(
            [
                register_io_source(nothing, schema=schema),
                frame,
                register_io_source(nothing, schema=schema),
            ]
        )


def _state(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError as error:
        raise InputError(f"{path}: is gone, or can no longer be read: {error.strerror}") from error
    return found.st_size, found.st_mtime_ns
