"""Contenders in turn, each in a process of its own, several times over; slow ones fewer times."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Result = dict[str, Any]


def once(command: Sequence[str]) -> Result:
    """What a process that measures prints as its last line; ``absent`` says why there is nothing."""
    done = subprocess.run([sys.executable, *command], check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"absent": f"failed: {last}"}
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def rounds(
    names: Iterable[str], run: Callable[[str], Result], *, count: int, slow_count: int, slow: float
) -> dict[str, list[Result]]:
    """Run every contender once a round.

    Args:
        names: The contenders.
        run: Measures one: ``seconds``, ``mb`` and more, or ``absent``.
        count: How many rounds there are.
        slow_count: In how many of them one takes part that takes longer than ``slow``.
        slow: Seconds from which a contender is slow.

    Returns:
        What each found, round by round; one that is absent is left out, with a message.
    """
    results: dict[str, list[Result]] = {name: [] for name in names}
    absent: set[str] = set()
    for number in range(count):
        for name, found in results.items():
            is_slow = bool(found) and found[0]["seconds"] > slow
            if name in absent or (is_slow and number >= slow_count):
                continue
            one = run(name)
            if "absent" in one:
                absent.add(name)
                print(f"{name}: left out ({one['absent']})", flush=True)
                continue
            found.append(one)
            print(f"round {number + 1}: {name}: {one['seconds']:.3f} s, {one['mb']:,.0f} MB", flush=True)
    return {name: found for name, found in results.items() if found}
