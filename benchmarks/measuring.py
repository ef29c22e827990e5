"""Timing contenders in turn, each in a process of its own, and laying out what was found as a table."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 5
LIBRARIES = ("polars", "numpy", "pandera", "duckdb", "pandas", "orjson")


def table(command: Sequence[str], section: str, names: Sequence[str]) -> str:
    """Run every contender once a round, and lay out the medians.

    Args:
        command: What runs a job; the job, as JSON, is appended.
        section: The section that they belong to.
        names: The contenders; the first is what the others are compared with.
    """
    seconds: dict[str, list[float]] = {name: [] for name in names}
    peaks: dict[str, list[float]] = {name: [] for name in names}
    found: dict[tuple[int, ...], str] = {}
    for turn in range(ROUNDS):
        for name in names:
            result = _run(command, section, name)
            print(f"{section} {turn + 1} {name}: {result['seconds']:.4f} s", flush=True)
            seconds[name].append(result["seconds"])
            peaks[name].append(result["peak"])
            found.setdefault(tuple(result["found"]), name)
    if len(found) != 1:
        sys.exit(f"{section}: the contenders found different numbers: {found}")
    base = statistics.median(seconds[names[0]])
    lines = [
        "| | seconds (median) | ratio to the first | least to most | peak memory, MB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name in names:
        times = seconds[name]
        lines.append(
            f"| {name} | {_shown(statistics.median(times))} | {statistics.median(times) / base:.2f} "
            f"| {_shown(min(times))} to {_shown(max(times))} | {statistics.median(peaks[name]):,.0f} |"
        )
    return "\n".join(lines)


def _shown(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds >= 0.1 else f"{seconds:.4f}"


def _run(command: Sequence[str], section: str, name: str) -> dict[str, Any]:
    done = subprocess.run([*command, json.dumps([section, name])], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{section}, {name}: {done.stderr.decode()[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def report(work: Callable[[], tuple[float, ...]], *, times_itself: bool) -> None:
    """Time the work in this process and print the result as JSON.

    Args:
        work: It returns what it found or, where it times itself, its seconds.
        times_itself: Whether it does.
    """
    start = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - start
    if times_itself:
        (seconds,), found = found, ()
    print(json.dumps({"seconds": seconds, "peak": _peak() / 1024, "found": found}))


def _peak() -> int:
    """The peak memory of this process in KiB."""
    status = Path("/proc/self/status")
    if status.exists():  # rusage would count what the parent had when it started this process
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def facts() -> str:
    """The machine and the libraries."""
    return (
        f"Measured on {os.cpu_count()} cores ({_processor()}), Python {platform.python_version()}, "
        f"{', '.join(_version(name) for name in LIBRARIES)}; medians over {ROUNDS} alternating rounds.\n"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"
