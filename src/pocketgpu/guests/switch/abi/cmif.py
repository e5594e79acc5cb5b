"""Requests and answers of services, as their methods see them (CMIF).

    class Clock(Interface):
        @command(0)
        def get_current_time(self, request):
            return CmifAnswer(pack("<q", 0))

How they lie in a message of the kernel is in `hipc.py`, sessions are in `sessions.py`.
Source: libnx's sf/cmif.h, sf/service.h.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.kernel.service import Commands, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.abi.sessions import Envelope
    from pocketgpu.guests.switch.kernel import SwitchKernel

__all__ = ["Buffer", "CmifAnswer", "CmifRequest", "Interface", "command"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of the program that a message names."""

    address: int
    size: int


@dataclass(frozen=True)
class CmifRequest:
    """A request. data: the arguments. pid: the sender's process, if it was sent. copies, moves: objects of the handles;
    None for a wrong one. objects: interfaces of the same domain that were handed in. inputs, outputs: buffers in their
    order, whatever kind the sender chose. envelope: where the answer goes.

    A service that lets the caller wait returns None, and answers later:

        self.kernel.wait(request.thread, [event], lambda thread, index: request.answer(CmifAnswer()))
    """

    kernel: SwitchKernel
    thread: Thread
    command: int
    data: bytes = b""
    pid: int | None = None
    copies: Sequence[KernelObject | None] = ()
    moves: Sequence[KernelObject | None] = ()
    objects: Sequence[Interface | None] = ()
    inputs: Sequence[Buffer] = ()
    outputs: Sequence[Buffer] = ()
    envelope: Envelope | None = None

    def answer(self, answer: CmifAnswer) -> None:
        """Answer a request that was not answered at once; its thread goes on, or does already."""
        if self.envelope is not None:
            self.thread.answer[0] = self.envelope.store(answer)

    def values(self, format: str) -> tuple[Any, ...]:
        """The arguments by a format of `struct` without its "<"; what is not there is 0."""
        format = f"<{format}"
        return struct.unpack_from(format, self.data.ljust(struct.calcsize(format), b"\0"))

    def input(self, number: int = 0) -> bytes:
        """The bytes of an input buffer; none if there is no such buffer.

        :raises AddressError: it is not the program's memory.
        """
        if number >= len(self.inputs):
            return b""
        return self.kernel.space.read(self.inputs[number].address, self.inputs[number].size)

    def output(self, data: bytes, number: int = 0) -> int:
        """Store bytes in an output buffer, as many as it has room for; how many were stored.

        :raises AddressError: it is not the program's memory.
        """
        if number >= len(self.outputs):
            return 0
        room = self.outputs[number]
        self.kernel.space.write(room.address, data[: room.size])
        return min(len(data), room.size)


@dataclass(frozen=True)
class CmifAnswer:
    """What a service says. data: values after the result. copies, moves: objects whose handles follow. objects:
    interfaces that the caller gets, as handles or as ids of its domain."""

    data: bytes = b""
    result: int = Result.OK
    copies: Sequence[KernelObject] = ()
    moves: Sequence[KernelObject] = ()
    objects: Sequence[Interface] = field(default=())


class Interface(Commands[CmifRequest, CmifAnswer]):
    """A service, or an object that one gave: methods marked with `command` answer. name: of the service, or
    "IFileSystem". also: further names of the same service. tipc: whether it also speaks the short protocol. holders:
    how many sessions and domains have it."""

    name = ""
    also: tuple[str, ...] = ()
    tipc = False

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__()
        self.kernel, self.holders = kernel, 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def closed(self) -> None:
        """The last session or domain that had it is gone."""

    def unknown(self, request: CmifRequest) -> CmifAnswer | None:
        return self.kernel.unknown_command(self, request)
