"""Captures in notebooks.

    from pocketgpu.notebook import Viewer

    viewer = Viewer("scene.ctf.xz", "f0/d3")
    viewer                                     # the picture, and why a pixel has its colour: click one
    viewer.answer()                            # the answer about what was clicked

`widget.py` is what a notebook holds, `widget_machine.py` its machine, and `widget_messages.py` what it and
its page say to each other. The page is in `viewer/`, and its built file is `page/widget.js`.

`tables.py` has what the debugger counts as tables of rows (`rows.py`), `plots.py` the same as figures, and
`texture_uses.py` finds the textures of a frame.

The widget and the figures need the extra `notebook`.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pocketgpu.notebook.widget import Viewer as Viewer

# Module of each public name. They are imported at first use: each needs libraries that the others don't.
_HOMES = {"Viewer": "widget"}
_NEEDED = {"Viewer": "anywidget"}
"""The library that a name needs."""

__all__ = ["Viewer"]


def __getattr__(name: str) -> Any:
    """A public name.

    :raises UsageError: its library is missing.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    needed = _NEEDED.get(name)
    if needed is not None and find_spec(needed) is None:
        from pocketgpu.errors import UsageError

        raise UsageError(
            f"pocketgpu.notebook.{name} needs {needed}",
            hint="pip install 'pocketgpu[notebook]' installs what it needs.",
        )
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__]
