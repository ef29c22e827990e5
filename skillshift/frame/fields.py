"""What a contract is made of: kinds of values, fields that hold them, rules that records keep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import polars as pl


class Kind(Enum):
    """What a field holds: its Polars type, and how messages name it."""

    TEXT = "text"
    LABEL = "text or a whole number"
    FLAG = "true or false"
    COUNT = "a whole number"
    NUMBER = "a number"
    TEXTS = "a list of texts"

    @property
    def dtype(self) -> pl.DataType:
        """The Polars type that the field has once it is read."""
        return _DTYPES[self]

    @property
    def is_text(self) -> bool:
        """Whether the field is read as text."""
        return self in (Kind.TEXT, Kind.LABEL)

    def accepts(self, dtype: pl.DataType) -> bool:
        """Whether a frame's column of this type can be taken for the field without a guess."""
        if dtype == pl.Null:
            return True
        if self is Kind.TEXT:
            return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
        if self is Kind.LABEL:
            return Kind.TEXT.accepts(dtype) or dtype.is_integer()
        if self is Kind.FLAG:
            return dtype == pl.Boolean
        if self is Kind.TEXTS:
            return isinstance(dtype, pl.List) and Kind.TEXT.accepts(_inner(dtype))
        return dtype.is_integer() or dtype.is_float()


_DTYPES: dict[Kind, pl.DataType] = {
    Kind.TEXT: pl.String(),
    Kind.LABEL: pl.String(),
    Kind.FLAG: pl.Boolean(),
    Kind.COUNT: pl.Int64(),
    Kind.NUMBER: pl.Float64(),
    Kind.TEXTS: pl.List(pl.String()),
}


def _inner(dtype: pl.List) -> pl.DataType:
    inner = dtype.inner
    return inner() if isinstance(inner, type) else inner


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a table.

    Attributes:
        name: The column and JSON key.
        kind: What it holds.
        about: One line of documentation.
        required: Whether every record must have the key (its value may still be null).
        nullable: Whether null is allowed by itself; rules may ask for more.
        hint: What to do when the type is wrong.
    """

    name: str
    kind: Kind
    about: str
    required: bool = True
    nullable: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule about one record.

    Attributes:
        code: Its stable reason code, ``field.what``.
        field: The field a message points at.
        violated: A Polars expression that is true where the record breaks the rule; null counts as kept.
        expected: What the rule asks for, as the end of "expected ...".
        hint: What to do.
        known: The names that would have been right; a message suggests the nearest.
    """

    code: str
    field: str
    violated: pl.Expr
    expected: str
    hint: str = ""
    known: tuple[str, ...] = ()
