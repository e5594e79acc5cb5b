"""What all devices of nvdrv do: find the method for a request.

    class NvMap(Device):
        path = "/dev/nvmap"

        @request("Create")
        def create(self, one):
            one["handle"] = 1
            return NvError.SUCCESS
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.nvdrv import REQUESTS, NvError, NvRequest
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver

_METHODS: dict[Callable[..., Any], list[str]] = {}
"""The requests that methods answer."""
_F = TypeVar("_F", bound=Callable[..., Any])


def request(*names: str) -> Callable[[_F], _F]:
    """Mark a method of a device as the one for requests of these names. It gets their record, which it may change."""

    def mark(method: _F) -> _F:
        _METHODS.setdefault(method, []).extend(names)
        return method

    return mark


@dataclass(frozen=True, slots=True)
class Later:
    """A request is answered when an event is on; with a time-out if that takes too long. nanoseconds: -1 for no
    limit."""

    event: Event
    nanoseconds: int


class Device:
    """An opened device. path: its name. fd: its number."""

    path = ""

    def __init__(self, driver: NvDriver, fd: int) -> None:
        self.driver, self.fd = driver, fd
        members = [getattr(type(self), name) for name in dir(type(self))]
        named = {name: one for one in members if callable(one) for name in _METHODS.get(one, ())}
        self._handlers: dict[int, tuple[NvRequest, Callable[..., NvError | Later]]] = {
            number: (known, named[known.name])
            for (path, number), known in REQUESTS.items()
            if path == self.path and known.name in named
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.fd}>"

    def control(self, number: int, data: bytes, more: bytes, thread: Thread) -> tuple[NvError | Later, bytes]:
        """Do what a request asks for. number: with its type. data: its record. more: of a second buffer. The record as
        it is then comes back."""
        found = self._handlers.get(number)
        if found is None:
            known = REQUESTS.get((self.path, number))
            name = f"{self.path}: request {number:#06x}" + (f" {known.name}" if known else "")
            words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, min(len(data), 32), 4)]
            self.driver.kernel.not_modelled("guest.nvdrv", name, words, thread)
            return NvError.NOT_IMPLEMENTED, data
        known, method = found
        if len(data) < known.layout.size:
            return NvError.INVALID_SIZE, data
        one = Record(known.layout, data)
        error = method(self, one, more) if known.name in ("KickoffPb", "SubmitGpfifo") else method(self, one)
        return error, bytes(one.data)

    def event(self, number: int) -> Event | None:
        """An event of the device, that programs wait for."""
        return None

    def waited(self, event: Event) -> None:
        """Nobody waits for an event of `Later` any more."""

    def closed(self) -> None:
        """The program has closed it."""
