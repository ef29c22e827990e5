"""Contracts: one table's fields and row rules, written once, checked everywhere the same.

A :class:`Table` is the single definition. From it come the pandera model that users call
(:meth:`Table.model`), the schema that the readers enforce, and the rule expressions that the sums
step evaluates in the same pass as the sums. A LazyFrame's data is checked, not only its schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift.frame.errors import SHOWN, ContractError, InputError, Violation, shorten
from skillshift.frame.fields import Field, Kind, Rule
from skillshift.frame.lines import line_numbers
from skillshift.frame.nearest import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "FILE",
    "RECORD",
    "Engine",
    "Field",
    "Kind",
    "Rule",
    "Table",
    "any_violated",
    "check",
    "collect",
    "collect_all",
    "count_violations",
    "locate",
]

FILE = "_file"
"""The column that says which file a record came from; readers add it, and it is not a field."""

RECORD = "_record"
"""The column that says which record of its file this is, from 0; readers add it."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table's fields and row rules.

    Attributes:
        name: How messages name it, such as ``per-task log``.
        model_name: The name of its pandera model.
        fields: Its fields; columns beyond them are kept untouched.
        rules: Its row rules beyond those that the fields imply.
    """

    name: str
    model_name: str
    fields: tuple[Field, ...]
    rules: tuple[Rule, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The fields' names, in order."""
        return tuple(f.name for f in self.fields)

    def __getitem__(self, name: str) -> Field:
        """The field of that name."""
        return next(f for f in self.fields if f.name == name)

    def all_rules(self, columns: Iterable[str]) -> tuple[Rule, ...]:
        """The rules for a frame with these columns: no nulls where none may be, then the row rules."""
        present = set(columns)
        filled = tuple(
            Rule(
                f"{f.name}.missing",
                f.name,
                _missing(f),
                f"{f.kind.value}" + (", not empty" if f.kind.is_text else ""),
            )
            for f in self.fields
            if not f.nullable and f.name in present
        )
        return filled + self.rules

    # -- conforming a frame ------------------------------------------------------------------------------

    def conform(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Check the columns and bring them to the table's types, without losing a value.

        Dictionaries and Enums become text, integers Int64, integral floats counts. Optional fields that
        are absent and that a rule speaks of are added as nulls.

        Args:
            frame: Any frame with the required columns.

        Returns:
            The frame with the fields' types; other columns stay as they are.

        Raises:
            ContractError: A required column is missing, or one has a type that cannot be taken for the
                field's (codes ``<field>.missing-column``, ``<field>.type``), or a number for a count has
                a fraction or is beyond 64 bits (``<field>.fraction``, ``<field>.too-large``).
        """
        schema = frame.collect_schema()
        self._check_columns(schema)
        used = {name for rule in self.rules for name in rule.violated.meta.root_names()}
        casts: list[pl.Expr] = []
        lossy: list[Rule] = []
        for f in self.fields:
            if f.name not in schema:
                if f.name in used:
                    casts.append(pl.lit(None, dtype=f.kind.dtype).alias(f.name))
                continue
            if schema[f.name] != f.kind.dtype:
                casts.append(pl.col(f.name).cast(f.kind.dtype))
                lossy += _lossy(f, schema[f.name])
        if lossy:
            check(frame, lossy, self.name)
        return frame.with_columns(casts) if casts else frame

    def _check_columns(self, schema: pl.Schema) -> None:
        wrong: list[Violation] = []
        for f in self.fields:
            if f.name not in schema:
                if f.required:
                    have = ", ".join(name for name in schema if name not in (FILE, RECORD)) or "none"
                    wrong.append(
                        Violation(
                            code=f"{f.name}.missing-column",
                            field=f.name,
                            found=f"no such column (columns: {have})",
                            expected=f"a column of {f.kind.value}",
                        )
                    )
            elif not f.kind.accepts(schema[f.name]):
                wrong.append(
                    Violation(
                        code=f"{f.name}.type",
                        field=f.name,
                        found=f"a column of type {schema[f.name]}",
                        expected=f"{f.kind.value}",
                        hint=f.hint,
                    )
                )
        if wrong:
            raise ContractError(self.name, {v.code: 1 for v in wrong}, wrong)

    def validate(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Conform a frame and check every record against every row rule.

        Args:
            frame: The records.

        Returns:
            The conformed frame, still lazy.

        Raises:
            ContractError: As :meth:`conform`, or a record breaks a rule.
        """
        conformed = self.conform(frame)
        check(conformed, self.all_rules(conformed.collect_schema().names()), self.name)
        return conformed

    # -- pandera -----------------------------------------------------------------------------------------

    def model(self) -> type[Any]:
        """The pandera ``DataFrameModel`` of this table, for pandera's own ``validate(df, lazy=True)``.

        Unlike a model of pandera's own, it checks a LazyFrame's data too, and gives a LazyFrame back.
        """
        from skillshift.frame.model import pandera_model

        return pandera_model(self)


def _missing(f: Field) -> pl.Expr:
    column = pl.col(f.name)
    return column.is_null() | (column == "") if f.kind.is_text else column.is_null()


def _lossy(f: Field, dtype: pl.DataType) -> list[Rule]:
    """The rules that values of this type must keep to be taken for the field without a loss."""
    if f.kind is not Kind.COUNT or dtype == pl.Null or dtype in _WITHIN:
        return []
    column = pl.col(f.name)
    beyond = column.is_not_null() & column.cast(pl.Int64, strict=False).is_null()
    if dtype.is_integer():
        return [Rule(f"{f.name}.too-large", f.name, beyond, _INT64)]
    broken = (column != column.floor()) | column.is_nan() | column.is_infinite()
    return [
        Rule(f"{f.name}.fraction", f.name, broken, Kind.COUNT.value),
        Rule(f"{f.name}.too-large", f.name, column.is_finite() & beyond, _INT64),
    ]


_WITHIN = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
_INT64 = "a whole number of at most 64 bits"


def any_violated(rules: Sequence[Rule]) -> pl.Expr:
    """True where a record breaks at least one of the rules; never null."""
    return reduce(or_, (rule.violated.fill_null(value=False) for rule in rules))


def count_violations(frame: pl.LazyFrame, rules: Sequence[Rule]) -> dict[str, int]:
    """How many records break each rule, by reason code; rules that every record keeps are left out."""
    per_rule = frame.select(
        rule.violated.fill_null(value=False).cast(pl.Int64).sum().alias(str(i))
        for i, rule in enumerate(rules)
    )
    found: dict[str, int] = {}
    for rule, n in zip(rules, collect(per_rule).row(0), strict=True):
        if n:
            found[rule.code] = found.get(rule.code, 0) + n
    return found


def check(frame: pl.LazyFrame, rules: Sequence[Rule], table: str) -> None:
    """Raise a located :class:`ContractError` if any record breaks any of the rules."""
    if not rules:
        return
    counts = count_violations(frame, rules)
    if counts:
        raise ContractError(table, counts, locate(frame, rules))


def locate(frame: pl.LazyFrame, rules: Sequence[Rule]) -> list[Violation]:
    """What is wrong with each of the first 20 offending records of a frame, in order, located where known."""
    names = frame.collect_schema().names()
    if RECORD not in names:
        frame = frame.with_row_index(RECORD)
    flags = [rule.violated.fill_null(value=False).alias(f"_rule_{i}") for i, rule in enumerate(rules)]
    offending = collect(frame.filter(any_violated(rules)).head(SHOWN).with_columns(flags)).to_dicts()
    places = line_numbers((row.get(FILE), row[RECORD]) for row in offending)
    return [
        Violation(
            code=rule.code,
            file=row.get(FILE),
            line=places[row.get(FILE), row[RECORD]],
            field=rule.field,
            found=shorten(row.get(rule.field)),
            expected=rule.expected,
            hint=rule.hint or suggest(row.get(rule.field), rule.known),
        )
        for row in offending
        for i, rule in enumerate(rules)
        if row[f"_rule_{i}"]
    ]


Engine = Literal["streaming", "in-memory"]


def collect(frame: pl.LazyFrame, engine: Engine = "streaming") -> pl.DataFrame:
    """Run one plan; see :func:`collect_all`."""
    return collect_all([frame], engine)[0]


def collect_all(frames: Sequence[pl.LazyFrame], engine: Engine = "streaming") -> list[pl.DataFrame]:
    """Run plans together, so that what they share is read once.

    Args:
        frames: The plans.
        engine: ``streaming`` for what reads records; ``in-memory`` for what is small already, and where
            the order of float sums must not depend on the number of threads.

    Raises:
        InputError: A file vanished or changed while it was read, or its content is not what its name says.
    """
    try:
        return pl.collect_all(frames, engine=engine)
    except (OSError, pl.exceptions.ComputeError, pl.exceptions.PanicException) as error:
        raise InputError(f"the input could not be read: {error}. Check that the files are whole.") from error
