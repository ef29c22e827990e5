"""Naming: a file's date and slugs agree with what is inside. It warns; it never fails."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from skillshift.submission.document import MIXED
from skillshift.submission.findings import Finding, Verdict, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift.submission.sheet import Sheet

FORM = "YYYY-MM-DD--method--model.json"
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})--([a-z0-9.-]+?)--([a-z0-9.-]+)\.json")
RESULTS_NAME = "results.json"
"""What a document is called before it joins a leaderboard's folder."""


def slug(text: str) -> str:
    """A name as it stands in file names: lower-case letters, digits, dots and single hyphens.

    >>> slug("Claude Haiku 4.5"), slug("WALT: Web Agents"), slug("mixed (A / B)")
    ('claude-haiku-4.5', 'walt-web-agents', 'mixed-a-b')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")


def file_name(date: str, name: str, model_id: str, *, mixed: bool) -> str:
    """What a leaderboard's folder calls a submission.

    >>> file_name("2026-08-26", "WALT", "gpt-5-mini", mixed=False)
    '2026-08-26--walt--gpt-5-mini.json'
    """
    return f"{date}--{slug(name)}--{MIXED if mixed else slug(model_id)}.json"


def check_naming(sheet: Sheet) -> Verdict:
    """Warn of a file whose name says something else than the document."""
    if sheet.file_name is None or sheet.file_name == RESULTS_NAME:
        return Verdict("naming", unchecked=(f"only a file named {FORM} says what it holds",), ran=False)
    return Verdict("naming", tuple(_disagreements(sheet, sheet.file_name)))


def _disagreements(sheet: Sheet, name: str) -> Iterator[Finding]:
    parts = _NAME.fullmatch(name)
    inside = file_name(
        sheet.text("submission", "date"),
        sheet.text("submission", "name"),
        sheet.text("submission", "model", "id"),
        mixed=sheet.mixed,
    )
    if parts is None:
        yield _finding("", show(name), f"{FORM}, here {inside}", "a leaderboard's folder is sorted by it")
        return
    expected = _NAME.fullmatch(inside)
    if expected is None:
        return  # the document's own fields are wrong, which the schema check tells
    for field, found, wanted in zip(
        ("date", "name", "model.id"), parts.groups(), expected.groups(), strict=True
    ):
        # The model's slug may be short for its id: claude for Claude Haiku 4.5.
        if found != wanted and not (field == "model.id" and wanted.startswith(f"{found}-")):
            yield _finding(
                f"submission.{field}",
                f"{show(sheet.at('submission', *field.split('.')))} in a file named {show(name)}",
                f"{wanted} in its name",
                "the name and the document disagree, and one of them is wrong",
            )


def _finding(path: str, found: str, expected: str, why: str) -> Finding:
    return Finding(code="naming.file", severity="warning", path=path, found=found, expected=expected, why=why)
