"""Every Python name that the pages promise is there, whatever moves inside of the package."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.promised import MEMBERS, NAMES

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("module", sorted(NAMES))
def test_a_module_has_its_promised_names(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(there, name)] == []


DOORS = (
    "builder.maxwell",
    "capture.pgc.minimise",
    "facts.pica",
    "inspect.decode",
    "inspect.stepping",
    "memory",
    "surface",
)


def test_a_program_may_import_any_of_them_first() -> None:
    """An import circle would show here and nowhere else: after another import, the names are all there."""
    code = """
import importlib, sys
for module in sys.argv[1:]:
    for name in list(sys.modules):
        if name.partition(".")[0] == "pocketgpu":
            del sys.modules[name]
    importlib.import_module(f"pocketgpu.{module}")
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code, *DOORS], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(name for name in MEMBERS if not name.startswith("(")))
def test_a_class_that_pages_name_is_a_class(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert inspect.isclass(found) and found.__name__ == attribute


def test_the_table_keeps_what_version_0_1_0_promised() -> None:
    """A file of text beside the table, which no tool that renames modules rewrites: one dotted name a line."""
    promised = {*NAMES, *(f"{module}.{name}" for module, names in NAMES.items() for name in names)}
    promised |= {f"{name}.{member}" for name, members in MEMBERS.items() for member in members}
    kept = (Path(__file__).parent / "data" / "names-0.1.0.txt").read_text(encoding="utf-8").split()
    assert len(kept) > 400 and sorted(set(kept) - promised) == []


def test_one_thing_has_one_home() -> None:
    """Names that stand in two modules are the same object."""
    import pocketgpu
    from pocketgpu import capture, errors, events
    from pocketgpu.inspect import inspection
    from pocketgpu.maxwell import gm20b
    from pocketgpu.pica import n3ds

    assert pocketgpu.N3DS is n3ds.N3DS and pocketgpu.GM20B is gm20b.GM20B
    assert pocketgpu.open is capture.open and pocketgpu.Capture is capture.Capture
    assert pocketgpu.Frame is capture.Frame and pocketgpu.debug is inspection.debug
    assert pocketgpu.Event is events.Event and pocketgpu.errors is errors
    assert pocketgpu.CaptureError is errors.CaptureError
