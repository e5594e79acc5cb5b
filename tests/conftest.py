"""What all tests share: where recordings of real clients lie, and a way to run the program like a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes is no matter of right or wrong: the first one may compile what it needs.
settings.register_profile("pocketgpu", deadline=None)
settings.load_profile("pocketgpu")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def all_threads_work() -> None:
    """Machines with two threads share every draw out, however small: tests are about bytes, not about time."""
    from pocketgpu import workers

    workers.WORTH = 0.0


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of recordings and facts beside the checkout; tests that need it are skipped where it is missing."""
    folder = (ROOT / ".." / "shared").resolve()
    if not (folder / "captures").is_dir():
        pytest.skip(f"no recordings at {folder}: the folder with captures/ beside the checkout is missing")
    return folder


@pytest.fixture(scope="session")
def sample_path() -> Path:
    """The sample capture that ships with the package."""
    return ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `python -m pocketgpu ARGUMENTS` in an empty folder, outside of this process; text in, text out."""

    def run(*arguments: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pocketgpu", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run
