"""The shipped program of the 3DS is made of its sources, and its numbers are those of our tables."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from support import probing

ROOT = Path(__file__).resolve().parents[5]
SOURCES = ROOT / "probe" / "3ds"
COMPILER = "arm-none-eabi-gcc"
VERSION = "12.2"


def test_the_header_has_the_numbers_of_the_tables() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_probe_facts.py"))
    assert made["everything"]() == (SOURCES / "facts.h").read_text(encoding="utf-8")


def test_the_program_is_made_of_its_sources(tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None or shutil.which("make") is None:
        pytest.skip(f"needs {COMPILER} and make")
    version = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, text=True, check=True).stdout
    if not version.startswith(VERSION):
        pytest.skip(f"the shipped program is made by {COMPILER} {VERSION}, this one is {version.strip()}")
    subprocess.run(["make", "-C", str(SOURCES), f"OUT={tmp_path}"], capture_output=True, check=True)
    assert (tmp_path / "probe.3dsx").read_bytes() == probing.PROGRAM.read_bytes()
