"""How much is too much: bounds that are looked at before anything is asked."""

from __future__ import annotations

from skillshift.frame.errors import UsageError

MOST_RUNS = 10_000_000
"""How many runs, fixtures times repeats, there may be at a time: all of them are held in memory."""


def check_runs(fixtures: int, repeat: int) -> None:
    """Refuse more runs than can be held.

    Args:
        fixtures: How many fixtures there are.
        repeat: How many times each is decided.

    Raises:
        UsageError: They are more than :data:`MOST_RUNS`.

    >>> check_runs(75, 3)
    """
    runs = fixtures * repeat
    if runs > MOST_RUNS:
        raise UsageError(
            f"--repeat {repeat:,}: with {fixtures:,} fixtures these are {runs:,} runs, expected at most "
            f"{MOST_RUNS:,}; give a smaller --repeat, or part the fixtures"
        )
