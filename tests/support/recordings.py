"""Where recordings, kernels and tables of other programs lie, for tests, fuzzers and benchmarks.

They are not part of the project. `POCKETGPU_RECORDINGS` names their folder, or `pytest --recordings DIR`: captures/3ds,
captures/switch, kernels, shader-cases, spec and reference are in it. Without it, what needs them is left out.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "POCKETGPU_RECORDINGS"
OPTION = "--recordings"
REASON = f"needs recordings of other programs: {VARIABLE}=DIR, or {OPTION} DIR"
_NOWHERE = Path(__file__).resolve().parent / "no-recordings"


CITY = Path(__file__).resolve().parents[1] / "pictures" / "city.mxcap.zip"
"""A recording of the Switch that the project made: clears, macros, copies and blits, no draws."""


def folder() -> Path:
    """The folder of all; one that does not exist if none is named."""
    name = os.environ.get(VARIABLE)
    return Path(name).resolve() if name else _NOWHERE


def n3ds() -> Path:
    """Recordings of the 3DS."""
    return folder() / "captures" / "3ds"


def switch() -> Path:
    """Recordings of the Switch."""
    return folder() / "captures" / "switch"


def kernels() -> Path:
    """Kernels of CUDA's compiler, each in a folder of its own."""
    return folder() / "kernels"
