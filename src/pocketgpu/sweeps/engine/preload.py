"""What a worker process of this computer does at its start. Dask calls `dask_setup`."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Ctrl-C reaches all processes of a terminal. The sweep itself acts on it, and ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


__all__ = ["dask_setup"]


def __dir__() -> list[str]:
    return [*__all__]
