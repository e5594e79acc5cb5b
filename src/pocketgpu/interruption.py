"""Long work that can be given up. The caller says when; the work looks at places where stopping does no harm.

    with interruptible(flag.is_set):
        run.trace("f1/d3/v5")           # raises Interrupted once the flag is set

Replays look before each step of a capture, traces before each instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_asked: Final[ContextVar[Callable[[], bool] | None]] = ContextVar("asked", default=None)


class Interrupted(Exception):
    """Work was given up because somebody asked for that. It is no error of the package, which something could take for
    an answer."""


@contextmanager
def interruptible(asked: Callable[[], bool]) -> Iterator[None]:
    """Work within this context is given up once `asked` is true."""
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


def look() -> None:
    """Called by long work, often.

    :raises Interrupted: it is to be given up.
    """
    asked = _asked.get()
    if asked is not None and asked():
        raise Interrupted("this was given up, as was asked")


__all__ = ["Interrupted", "interruptible", "look"]
