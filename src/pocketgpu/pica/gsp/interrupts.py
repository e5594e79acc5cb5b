"""Registered clients, the right to use the GPU, and delivery of interrupts.

VBlanks go to every client, all other interrupts to the holder of the right. A waiting client is woken once for any
number of entries, so it must empty its queue.

Source: 3dbrew GSP Shared Memory (interrupt queues), GSP Services (right, registration).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from pocketgpu.facts.gsp import (
    ALREADY_HELD,
    BUSY,
    CLIENTS,
    FIRST_REGISTRATION,
    INTERRUPTS,
    NO_PERMISSION,
    NO_ROOM,
    OK,
    Result,
)
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.gsp.gsp_machine import Refused
from pocketgpu.pica.gsp.shared_memory import SharedMemory

_ENOUGH = 0x100
"""This number of entries fills any queue."""


@dataclass
class Client:
    """A registered program. flags: from its registration. signalled: its event, which it clears itself after waking."""

    index: int
    flags: int = 0
    signalled: bool = False


class Clients:
    """Up to four clients, one of which may hold the right."""

    def __init__(self, shared: SharedMemory, choices: Mapping[str, str]) -> None:
        self.shared, self.choices = shared, choices
        self.registered: dict[int, Client] = {}
        self.holder: int | None = None
        self.waiting: deque[int] = deque()
        self._started = False

    # -- registration -----------------------------------------------------------------------------------------------
    def register(self, flags: int) -> tuple[Result, Client]:
        """A new client in the lowest free place; the very first one gets FIRST_REGISTRATION. Raises Refused."""
        free = next((index for index in range(CLIENTS) if index not in self.registered), None)
        if free is None:
            raise Refused(NO_ROOM, f"{CLIENTS} clients are registered")
        client = self.registered[free] = Client(free, flags & 0xFF)
        self.shared.clear(free)
        result = OK if self._started else FIRST_REGISTRATION
        self._started = True
        return result, client

    def unregister(self, index: int) -> None:
        """Remove a client; if it held the right, the next waiting client gets it."""
        self.known(index)
        del self.registered[index]
        self.waiting = deque(waiting for waiting in self.waiting if waiting != index)
        if self.holder == index:
            self._pass_on()

    def known(self, index: int) -> Client:
        """The client of that number. Raises Refused if it is not registered."""
        client = self.registered.get(index)
        if client is None:
            raise Refused(NO_PERMISSION, f"no client is registered as {index}")
        return client

    # -- the right ----------------------------------------------------------------------------------------------------
    def acquire(self, index: int, wait: bool) -> Result | None:
        """Take the right, or wait for it: None while another client holds it. Raises Refused if `wait` is false."""
        self.known(index)
        if self.holder == index:
            return ALREADY_HELD
        if self.holder is None:
            self.holder = index
            return OK
        if not wait:
            raise Refused(BUSY, f"client {self.holder} holds the right")
        if index not in self.waiting:
            self.waiting.append(index)
        return None

    def release(self, index: int) -> None:
        """Give the right to the next waiting client. Raises Refused if the client does not hold it."""
        if self.known(index).index != self.holder:
            raise Refused(NO_PERMISSION, f"client {index} does not hold the right")
        self._pass_on()

    def _pass_on(self) -> None:
        self.holder = self.waiting.popleft() if self.waiting else None

    def require_right(self, index: int | None) -> None:
        """Raises Refused unless the client holds the right. None is the host, which may do everything."""
        if index is not None and self.known(index).index != self.holder:
            raise Refused(NO_PERMISSION, f"client {index} does not hold the right")

    # -- interrupts -------------------------------------------------------------------------------------------------
    def deliver(self, name: str, count: int = 1) -> None:
        """Queue an interrupt `count` times for the clients that get it, and wake those whose queue stored it."""
        number = INTERRUPTS.index(name)
        limited = self.choices["gsp.relay_limit"] == "limited"
        for client in self.registered.values():
            if name not in ("PDC0", "PDC1") and client.index != self.holder:
                continue
            queue = self.shared.interrupts(client.index)
            # A list can raise millions of interrupts; when the ring is full more entries change nothing.
            for _ in range(min(count, _ENOUGH)):
                client.signalled |= queue.push(number, limited)
