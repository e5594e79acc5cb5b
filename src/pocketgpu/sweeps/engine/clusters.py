"""The cluster that a sweep uses: worker processes of this computer, or a scheduler that exists."""

from __future__ import annotations

import contextlib
import logging
import os
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

NEEDED: Final = ("distributed", "duckdb")
PATIENCE: Final = 10.0
"""Seconds to wait for a scheduler at the start."""
AGAIN: Final = 60.0
"""Seconds to wait for a scheduler that went away."""
_WAIT: Final = 1.0
"""Seconds to wait for the page about a cluster."""
_PRELOAD: Final = "pocketgpu.sweeps.engine.preload"
_WORKER_BYTES: Final = 2 << 30
"""Memory of a worker process, without its child."""


def check_installed() -> None:
    """Whether sweeps can run here.

    :raises UsageError: the extra is missing.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a sweep needs {' and '.join(missing)}", hint="pip install 'pocketgpu[sweep]' installs what it needs."
        )


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def local(workers: int) -> Iterator[Client]:
    """Worker processes of this computer, each with one thread, which end with the sweep."""
    from distributed import Client, LocalCluster

    _be_quiet()
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, memory_limit=_WORKER_BYTES,
            dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
            preload=[_PRELOAD],
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        yield client


@contextlib.contextmanager
def existing(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address such as tcp://host:8786. TLS is set up in Dask's configuration.

    :raises UsageError: nothing answers there.
    """
    _be_quiet()
    client = connect(address, PATIENCE)
    try:
        yield client
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.close()


def existing_again(address: str) -> Client:
    """A client of a scheduler that went away and is back.

    :raises UsageError: it does not come back within AGAIN seconds.
    """
    return connect(address, AGAIN)


def connect(address: str, patience: float) -> Client:
    """A new client, of a scheduler that keeps kernels for its workers.

    :raises UsageError: nothing answers there within `patience` seconds.
    """
    from distributed import Client

    from pocketgpu.sweeps.engine.kernels import share

    try:
        client = Client(address, timeout=patience)
        share(client)
        return client
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no scheduler answers: {error}", location=address, hint="Start one with: dask scheduler"
        ) from None


def dashboard(client: Client) -> str | None:
    """The address of the page about the cluster, if there is one."""
    if client.cluster is not None and find_spec("bokeh") is None:
        return None
    link = str(client.dashboard_link)
    with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(link, timeout=_WAIT):
        return link
    return None


def _be_quiet() -> None:
    """What Dask logs is about its own workings; what matters is in rows."""
    for name in ("distributed", "distributed.client", "distributed.nanny", "distributed.worker", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


__all__ = ["check_installed", "connect", "cores", "dashboard", "existing", "existing_again", "local"]


def __dir__() -> list[str]:
    return [*__all__]
