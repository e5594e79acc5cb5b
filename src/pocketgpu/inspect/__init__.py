"""Questions about registers, captures and this installation, answered as data.

The command line, the documentation and other clients print what the modules here return. None of these modules
computes a picture, and no room below imports them.
"""

from __future__ import annotations

import importlib
from types import ModuleType

# Modules with public names, imported at their first use.
_PUBLIC = (
    "address", "capture_info", "decode", "describe", "diff", "doubts", "event", "inspection", "maxwell_info", "meshes",
    "model", "stepping",
)  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name in _PUBLIC:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_PUBLIC]
