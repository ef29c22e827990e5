"""What documents are made of: strict field types, a base that keeps unknown fields, reading as a model."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import date as calendar_date
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
)

from skillshift.frame.errors import SHOWN, InputError
from skillshift.submission.findings import Finding, show
from skillshift.submission.jsontext import is_utf8, parse, read_bytes

if TYPE_CHECKING:
    from pathlib import Path

MAX_NAME = 100
_NAME_PARTS = re.compile(r"[/\\]|^\.+$")
_URL = r"^https?://[^\s/]+\S*$"


_WHOLE = "whole characters, not half of one (a lone surrogate)"


def _whole(text: str) -> str:
    # Text from Python or from a command line's undecodable bytes; no document can hold it.
    if not is_utf8(text):
        raise ValueError(_WHOLE)
    return text


def _name(text: str) -> str:
    if not text or text != text.strip() or len(text) > MAX_NAME:
        raise ValueError(f"text of 1 to {MAX_NAME} characters without outer blanks")
    if _NAME_PARTS.search(text) or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text):
        raise ValueError("a name without slashes and control characters, since it becomes part of file names")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("text, not blank")
    return text


def _iso_date(text: str) -> str:
    # Only the form of a well-formed date comes back as it was.
    with suppress(ValueError):
        if calendar_date.fromisoformat(text).isoformat() == text:
            return text
    raise ValueError("a date as YYYY-MM-DD")


AnyText = Annotated[StrictStr, AfterValidator(_whole)]
# The published schema says what a pattern can say; the functions decide, and know all of Unicode.
_NAME_SCHEMA = {
    "minLength": 1,
    "maxLength": MAX_NAME,
    "pattern": r"^(?!\.+$)(?!\s)(?!.*\s$)[^/\\\u0000-\u001f\u007f-\u009f\u2028\u2029]+$",
}
_TEXT_SCHEMA = {"minLength": 1, "pattern": r"\S"}
_DATE_SCHEMA = {"format": "date", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"}


def _described(schema: dict[str, Any]) -> Any:
    return Field(json_schema_extra=schema)


Name = Annotated[AnyText, AfterValidator(_name), _described(_NAME_SCHEMA)]
Text = Annotated[AnyText, AfterValidator(_filled), _described(_TEXT_SCHEMA)]
Date = Annotated[AnyText, AfterValidator(_iso_date), _described(_DATE_SCHEMA)]
Url = Annotated[StrictStr, Field(pattern=_URL)]
Count = Annotated[StrictInt, Field(ge=0)]


class Part(BaseModel):
    """What every object of a document has in common: strict types, unknown fields kept."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)


FORMS = ("a total", "counts by slot")
"""The forms of a field that has two; they are in pydantic's paths and not in a document's."""

AnyPart = TypeVar("AnyPart", bound=Part)


def problems(model: type[Part], tree: dict[str, Any]) -> tuple[Finding, ...]:
    """Everything in which a document departs from its model, in the order of the model.

    Args:
        model: The model, such as :class:`Results`.
        tree: The parsed document.

    Returns:
        A finding for each problem; none where the document fits.
    """
    try:
        model.model_validate(tree)
    except ValidationError as error:
        return tuple(_finding(problem) for problem in error.errors(include_url=False))
    return ()


def _finding(problem: Any) -> Finding:
    missing = problem["type"] == "missing"
    return Finding(
        code=f"schema.{'missing' if missing else 'value'}",
        path=".".join(str(part) for part in problem["loc"] if part not in FORMS),
        found="nothing" if missing else show(problem["input"]),
        expected=_expected(problem),
        why="the document is incomplete without it" if missing else "the document's schema asks for that",
    )


def _expected(problem: Any) -> str:
    if problem["type"] == "missing":
        return "the field"
    if problem["type"] == "string_pattern_mismatch":
        return f"text of the form {problem['ctx']['pattern']}"
    if problem["type"] == "string_unicode":
        return _WHOLE
    return str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")


def require(model: type[AnyPart], tree: dict[str, Any], name: str) -> AnyPart:
    """A document's model, or one error that names all of its problems.

    Raises:
        InputError: The document does not fit the model.
    """
    found = problems(model, tree)
    if found:
        lines = [f"  {finding}" for finding in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"  ... and {len(found) - SHOWN:,} more")
        count = f"{len(found):,} problem{'s' * (len(found) != 1)}"
        raise InputError(
            f"{name}: {count} in what should be a {model.__name__} document:\n" + "\n".join(lines)
        )
    return model.model_validate(tree)


def read_as(model: type[AnyPart], source: str | Path | bytes) -> tuple[AnyPart, bytes, dict[str, Any]]:
    """Read a document strictly as a model.

    Returns:
        The model, the bytes, and the parsed tree that it came from.

    Raises:
        InputError: The document cannot be read, or does not fit the model; the problems are named.
    """
    raw, name = read_bytes(source)
    tree = parse(raw, name)
    return require(model, tree, name), raw, tree


def json_schema(model: type[Part]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document, derived from its model."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
