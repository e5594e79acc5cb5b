"""Makes the modules beside these tests (golden files, the zoo) importable; goldens of all kinds are updated alike."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pocketgpu.pytest_plugin import UPDATE_VARIABLE, updating

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def hashes_are_updated_with_pictures(pytestconfig: pytest.Config) -> None:
    """--update-goldens is for the files of hashes, too, which look at the environment."""
    if updating(pytestconfig):
        os.environ[UPDATE_VARIABLE] = "1"
