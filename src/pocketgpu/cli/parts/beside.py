"""Work beside a replay, on a thread of its own: modules are loaded while a large file is unpacked, and a frame's
pictures become files while the next frame is drawn.

    files = Beside(lambda: write_screens(0, screens, directory))
    ...
    written = files.result()      # waits; raises what the work has raised
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Final, Generic, TypeVar

T = TypeVar("T")
_DRIVERS: Final = {".mxcap": "switch", ".ctf": "n3ds", ".gx.json": "n3ds"}
"""The module that replays files with such names; a wrong guess costs time only, as the first bytes decide."""
_LARGE: Final = 1 << 20
"""Bytes from which on unpacking a file takes so long that modules are better loaded beside it: two threads that load
modules hinder each other."""


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


class Loading:
    """Modules that are loaded on another thread; one that can't be loaded fails again where it is used."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._beside = Beside(self._load) if modules else None

    @classmethod
    def driver(cls, path: str) -> Loading:
        """What replays a large file, if its name says what that is."""
        with suppress(OSError):
            if os.path.getsize(path) >= _LARGE:
                import numpy as np  # noqa: F401 (which two threads must not load at once)

                return cls(*(f"pocketgpu.capture.driver.{name}" for ending, name in _DRIVERS.items() if ending in path))
        return cls()

    def _load(self) -> None:
        for module in self._modules:
            with suppress(Exception):
                import_module(module)

    def wait(self) -> None:
        """Wait until they are there."""
        if self._beside is not None:
            self._beside.result()
