"""Work beside a replay, on a thread of its own: modules are loaded while a file is unpacked and while code draws, and
a frame's pictures become files while the next frame is drawn.

    files = Beside(lambda: write_screens(0, screens, directory))
    ...
    written = files.result()      # waits; raises what the work has raised
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
_DRIVERS: Final = {".mxcap": "switch", ".ctf": "n3ds", ".gx.json": "n3ds"}
"""The module that replays files with such names; a wrong guess costs time only, as the first bytes decide."""
_PICTURES: Final = ("PIL.Image", "PIL.PngImagePlugin")


class Beside(Generic[T]):
    """A function that runs on another thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="pocketgpu-beside", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except BaseException as error:
            self._error = error

    def result(self) -> T:
        """Wait for it. Raises what it has raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]


def load(*modules: str) -> Beside[Any]:
    """Load modules; one that can't be loaded fails again where it is used."""

    def work() -> None:
        import contextlib

        for module in modules:
            with contextlib.suppress(Exception):
                import_module(module)

    return Beside(work)


def load_driver(path: str) -> Beside[Any]:
    """Load what replays a file, if its name says what that is."""
    import numpy as np  # noqa: F401 (which two threads must not load at once)

    return load(*(f"pocketgpu.capture.driver.{name}" for ending, name in _DRIVERS.items() if ending in path))


def load_pictures() -> Beside[Any]:
    """Load what writes pictures."""
    return load(*_PICTURES)
