"""Goldens of all kinds are updated alike."""

from __future__ import annotations

import os

import pytest

from pocketgpu.pytest_plugin import UPDATE_VARIABLE, updating


@pytest.fixture(scope="session", autouse=True)
def hashes_are_updated_with_pictures(pytestconfig: pytest.Config) -> None:
    """--update-goldens is for the files of hashes, too, which look at the environment."""
    if updating(pytestconfig):
        os.environ[UPDATE_VARIABLE] = "1"
