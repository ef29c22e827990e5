"""The schema check: the document fits its model, and unknown fields are told."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from skillshift.submission.document import Results
from skillshift.submission.findings import Finding, Verdict, show
from skillshift.submission.model import Part, json_schema, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.submission.sheet import Sheet


def check_schema(sheet: Sheet) -> Verdict:
    """Check the fields and their types."""
    return Verdict("schema", (*problems(Results, sheet.tree), *unknown_fields(Results, sheet.tree)))


def unknown_fields(model: type[Part], tree: dict[str, Any]) -> tuple[Finding, ...]:
    """The fields that a document's model does not have; they are kept, and may be slips of the pen."""
    schema = _schema(model)
    return tuple(
        Finding(
            code="schema.unknown-field",
            severity="warning",
            path=path,
            found=show(value),
            expected="no such field",
            why="it is kept, but nothing reads it: is the name misspelt?",
        )
        for path, value in _unknown(tree, schema, schema["$defs"], "")
    )


@cache
def _schema(model: type[Part]) -> dict[str, Any]:
    return json_schema(model)


def _unknown(
    value: Any, schema: dict[str, Any], definitions: dict[str, Any], path: str
) -> Iterator[tuple[str, Any]]:
    fields = _fields(schema, definitions)
    if not fields or not isinstance(value, dict):
        return
    for key, item in value.items():
        place = f"{path}.{key}" if path else key
        if key in fields:
            yield from _unknown(item, fields[key], definitions, place)
        else:
            yield place, item


def _fields(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object's schema; none where it is not an object with fields of its own."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[-1]]
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found |= _fields(choice, definitions)
    return found
