"""What the strategies need beyond the package: Hypothesis, named where it is missing."""

from __future__ import annotations

__all__ = ["st"]

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "the strategies of skillful_eval.testing need Hypothesis: pip install 'skillshift[test]'",
        name="hypothesis",
    ) from missing
