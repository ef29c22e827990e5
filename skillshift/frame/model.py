"""The pandera model of a contract's table; the one module that imports pandera, where a model is made."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from skillshift.frame.fields import Field, Kind, Rule

if TYPE_CHECKING:
    from pandera.api.polars.types import PolarsData

    from skillshift.frame.contract import Table


@cache
def pandera_model(table: Table) -> type[Any]:
    """The pandera ``DataFrameModel`` of a table: its columns with their types, its rules as checks.

    Args:
        table: The table.

    Returns:
        A model of the table's ``model_name``, the same one for the same table. A check's message ends in the
        rule's code. A LazyFrame's data is checked as a DataFrame's is, and a LazyFrame comes back, unless
        pandera's own configuration says how deep to look.
    """
    # Importing pandera takes seconds, so it happens where a model is asked for.
    import pandera.polars as pa
    from pandera.config import ValidationDepth, config_context, get_config_context, get_config_global

    class Checked(pa.DataFrameModel):
        @classmethod
        def validate(cls, check_obj: Any, *args: Any, **kwargs: Any) -> Any:
            """Check a frame, a LazyFrame's data too; see pandera's ``DataFrameModel.validate``."""
            # Unless told otherwise, pandera looks at a LazyFrame's schema only.
            depth = (
                get_config_context(validation_depth_default=None).validation_depth
                or get_config_global().validation_depth
                or ValidationDepth.SCHEMA_AND_DATA
            )
            with config_context(validation_depth=depth):
                return super().validate(check_obj, *args, **kwargs)

    namespace: dict[str, Any] = {"__annotations__": {}, "__doc__": f"{table.name}: pandera model."}
    for f in table.fields:
        namespace["__annotations__"][f.name] = _annotation(f)
        namespace[f.name] = pa.Field(nullable=True, description=f.about)

    def as_check(rule: Rule) -> Any:
        def kept(_cls: type, data: PolarsData) -> pl.LazyFrame:
            frame = data.lazyframe
            present = set(frame.collect_schema().names())
            if rule.field not in present:  # a column that has to be there is missed by the schema itself
                return frame.select(pl.lit(value=True))
            absent = set(rule.violated.meta.root_names()) - present
            filled = frame.with_columns(
                pl.lit(None, dtype=table[name].kind.dtype).alias(name) for name in absent
            )
            return filled.select(rule.violated.fill_null(value=False).not_().alias(rule.code))

        return pa.dataframe_check(
            name=rule.code, error=f"{rule.field}: expected {rule.expected} [{rule.code}]"
        )(kept)

    for i, rule in enumerate(table.all_rules(table.names)):
        namespace[f"rule_{i}"] = as_check(rule)
    return type(table.model_name, (Checked,), namespace)


def _annotation(f: Field) -> Any:
    dtype: Any = type(f.kind.dtype)
    if f.kind is Kind.TEXTS:
        dtype = Annotated[pl.List, pl.String()]
    return dtype if f.required else dtype | None
