"""Errors of a text: the first one is raised, or all are collected while the reader goes on.

    errors = Collected(ShaderError, most=100)
    for line in lines:
        with errors:           # an error ends this line, and the next one is read
            read(line)
    errors.found
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

E = TypeVar("E", bound=Exception)


class Enough(Exception):
    """Nobody waits for further errors."""


class Collected(Generic[E]):
    """Keeps exceptions of one kind that leave its `with` block, up to `most` of them, and lets the next one through.

    stop: asked before each block; if it says yes, `Enough` is raised there.
    """

    def __init__(self, kind: type[E], most: int = 0, stop: Callable[[], bool] | None = None) -> None:
        self.found: list[E] = []
        self._kind, self._most, self._stop = kind, most, stop

    def __enter__(self) -> None:
        if self._stop is not None and self._stop():
            raise Enough

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, self._kind) or len(self.found) >= self._most:
            return False
        self.found.append(error)
        return True
