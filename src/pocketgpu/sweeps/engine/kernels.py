"""Compiled kernels that workers of several machines give each other, through the scheduler.

Workers of one machine share the private cache of the user (`lanes/object_cache.py`). A worker of another machine would
compile what is there already. So the scheduler of a cluster keeps kernels by their key: between batches a worker offers
what is new in its cache, and takes what others made. A key says which processor the code is for. Both sides check the
form of the key and a digest. A scheduler checks nobody, with or without kernels: everybody who can connect to it can
run any code.
"""

from __future__ import annotations

import re
import threading
import uuid
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import sync

from pocketgpu.digests import blake2b
from pocketgpu.lanes import object_cache

if TYPE_CHECKING:
    from distributed import Client, Scheduler, Worker

NAME: Final = "pocketgpu-kernels"
HANDLER: Final = "pocketgpu_kernels"
"""The name by which workers call a scheduler's `exchange`."""
LIMIT: Final = 128 << 20
"""Most bytes of kernels that a scheduler keeps."""
OFTEN: Final = 2.0
"""Seconds between two exchanges of a worker."""
_MOST_AT_ONCE: Final = 16 << 20
"""Most bytes of one exchange in each direction."""
_SIZE: Final = 20
_KEY: Final = re.compile(r"[0-9a-f]{40}")
Entry = tuple[str, bytes, bytes]
"""Key, digest, machine code."""


class Kernels(SchedulerPlugin):  # type: ignore[misc]
    """The kernels that a scheduler keeps, in the order in which they came."""

    name = NAME
    idempotent = True
    """A second sweep on a cluster goes on with what is there."""

    def __init__(self) -> None:
        self.token = uuid.uuid4().hex  # another one after the scheduler was restarted
        self._entries: list[Entry] = []
        self._keys: set[str] = set()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<Kernels: {len(self._entries)}, {self._bytes} bytes>"

    async def start(self, scheduler: Scheduler) -> None:
        """Let workers call `exchange`."""
        scheduler.handlers[HANDLER] = self.exchange

    def exchange(
        self, offered: list[Entry], known: int, has: list[str] | None = None, token: str = ""
    ) -> dict[str, Any]:
        """Take entries and give those that came after the first `known` ones that the holder of `token` gave.

        has: the keys of all that a worker has in its cache; those that are missing here are asked for in `wanted`.
        """
        if token != self.token:
            known = 0
        for entry in offered:
            key, _, data = entry
            if key not in self._keys and is_whole(entry) and self._bytes + len(data) <= LIMIT:
                self._entries.append(entry)
                self._keys.add(key)
                self._bytes += len(data)
        given: list[Entry] = []
        size = 0
        owned = set(has or ())
        for entry in self._entries[known:]:
            known += 1
            if entry[0] in owned:
                continue
            given.append(entry)
            size += len(entry[2])
            if size > _MOST_AT_ONCE:
                break
        wanted = sorted(owned - self._keys) if self._bytes < LIMIT else []
        return {"entries": given, "known": known, "wanted": wanted, "token": self.token}


def digest_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE).digest()


def is_whole(entry: Entry) -> bool:
    """Whether an entry is as its maker sent it, and its key can only name an entry of the cache."""
    key, digest, data = entry
    return _KEY.fullmatch(key) is not None and digest_of(data) == digest


def share(client: Client) -> bool:
    """Let the workers of a cluster give each other kernels. Returns whether its scheduler does that: it may not have
    this package, or may be set up to run no code of clients. Workers then compile for themselves."""
    try:
        client.register_plugin(Kernels(), name=NAME)
    except Exception:  # what the scheduler raised, of any kind
        return False
    return True


class Exchange:
    """A worker's side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = float("-inf")
        self._known = 0
        self._offered: list[str] = []
        self._off = False
        self._token = ""

    def __repr__(self) -> str:
        return f"<Exchange: {self._known} known>"

    def work(self, worker: Worker) -> None:
        """Offer and take, if the last time is some seconds ago and the scheduler has kernels."""
        place = object_cache.folder()
        if self._off or place is None or monotonic() - self._last < OFTEN or not self._lock.acquire(blocking=False):
            return
        try:
            has = [path.name.partition(".")[0] for path, _, _ in object_cache.entries(place)]
            call = getattr(worker.scheduler, HANDLER)
            answer = sync(worker.loop, call, offered=self._entries(), known=self._known, has=has, token=self._token)
            if not isinstance(answer, dict):
                self._off = True
                return
            for entry in answer["entries"]:
                if is_whole(entry):
                    object_cache.write(entry[0], entry[2])
            self._known, self._offered, self._token = answer["known"], answer["wanted"], answer["token"]
        except (AttributeError, KeyError, OSError, ValueError):  # a scheduler without kernels
            self._off = True
        finally:
            self._last = monotonic()
            self._lock.release()

    def _entries(self) -> list[Entry]:
        """What the scheduler asked for the last time."""
        found: list[Entry] = []
        size = 0
        for key in self._offered:
            data = object_cache.read(key)
            if data is not None and size <= _MOST_AT_ONCE:
                found.append((key, digest_of(data), data))
                size += len(data)
        return found


__all__ = ["Exchange", "Kernels", "digest_of", "is_whole", "share"]


def __dir__() -> list[str]:
    return [*__all__]
