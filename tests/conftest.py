"""Fixtures and Hypothesis profiles that every test shares."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# `dev` is quick, `ci` runs on every submission, `thorough` is for a long look before a release.
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", max_examples=1_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Tests send interruptions, which a process started in the background of a shell ignores."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with the reference data."""
    given = os.environ.get("SKILLSHIFT_REFERENCE")
    folder = Path(given) if given else ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist; set SKILLSHIFT_REFERENCE to the folder")
    return folder
