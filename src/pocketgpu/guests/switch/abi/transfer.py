"""Messages from one thread of the program to another: what a kernel does when it hands one over.

    hand_over(kernel, sender, receiver)

Handles become handles of the receiver, pointers (X) are copied to where the receiver wants them (C), and the process id
is filled in. Buffers (A, B, W) are mapped by a console; here both sides are one program, so their addresses stay.
Source: libnx's sf/hipc.h; switchbrew IPC Marshalling, SVC (ReplyAndReceive).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.structures import STATIC_DESCRIPTOR
from pocketgpu.guests.kernel.memory import AddressError, Permission
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.switch.abi.cmif import Buffer
from pocketgpu.guests.switch.abi.hipc import MalformedMessage, Message, static_descriptor
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import MOST_BYTES
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

_HANDLE: Final = 4
_STATIC: Final = 8


class RefusedError(Exception):
    """A message cannot be handed over. result: what the sender is told."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.name)
        self.result = result


@dataclass(frozen=True, slots=True, eq=False)
class Mailbox:
    """Where a thread has its message. lists: where it wants pointers; with one_list, one place for all."""

    thread: Thread
    place: int
    room: int
    lists: Sequence[Buffer] = ()
    one_list: bool = False

    def with_lists(self, kernel: SwitchKernel) -> Mailbox:
        """With the receive list of the message that is there.

        :raises RefusedError: it is no message, or not the program's memory.
        """
        message = read_message(kernel, self)
        return Mailbox(self.thread, self.place, self.room, tuple(message.lists), message.one_list)


def read_message(kernel: SwitchKernel, box: Mailbox) -> Message:
    """The message of a mailbox.

    :raises RefusedError: it is no message, or not the program's memory.
    """
    try:
        return Message(kernel.space.read(box.place, min(box.room, MOST_BYTES)))
    except MalformedMessage:
        raise RefusedError(Result.INVALID_COMBINATION) from None
    except AddressError:
        raise RefusedError(Result.INVALID_MEMORY_STATE) from None


def hand_over(kernel: SwitchKernel, sender: Mailbox, receiver: Mailbox) -> None:
    """Copy a message.

    :raises RefusedError: it cannot be; then nothing has changed.
    """
    message = read_message(kernel, sender)
    if message.size > receiver.room:
        raise RefusedError(Result.MESSAGE_TOO_LARGE)
    copies = [_copied(kernel, sender.thread, number) for number in message.copies]
    moves = [_moved(kernel, number) for number in message.moves]
    if len(set(filter(None, message.moves))) < len([one for one in moves if one is not None]):
        raise RefusedError(Result.INVALID_HANDLE)
    if len(kernel.handles) + len(copies) > kernel.handles.limit:
        raise RefusedError(Result.OUT_OF_HANDLES)
    try:
        _check_buffers(kernel, message)
        data = bytearray(kernel.space.read(sender.place, message.size))
        pointed = _pointers(kernel, message, data, receiver)
        kernel.space.check(receiver.place, message.size, Permission.WRITE)
        for place, written in pointed:
            kernel.space.check(place, len(written), Permission.WRITE)
    except AddressError:
        raise RefusedError(Result.INVALID_MEMORY_STATE) from None
    numbers = [kernel.handles.add(one) or 0 if one is not None else 0 for one in copies]
    for number, one in zip(message.moves, moves, strict=True):
        numbers.append(_rename(kernel, number, one) if one is not None else 0)
    struct.pack_into(f"<{len(numbers)}I", data, message.handles_at, *numbers)
    if message.has_pid:
        struct.pack_into("<Q", data, message.pid_at, kernel.process_id)
    for place, written in pointed:
        kernel.space.write(place, written)
    kernel.space.write(receiver.place, data)


def _copied(kernel: SwitchKernel, thread: Thread, number: int) -> KernelObject | None:
    one = kernel.object_of(thread, number) if number else None
    if number and one is None:
        raise RefusedError(Result.INVALID_HANDLE)
    return one


def _moved(kernel: SwitchKernel, number: int) -> KernelObject | None:
    one = kernel.handles.get(number) if number else None
    if number and one is None:
        raise RefusedError(Result.INVALID_HANDLE)
    return one


def _rename(kernel: SwitchKernel, number: int, one: KernelObject) -> int:
    """Another handle instead of one that was given away."""
    one.references += 1  # it does not end between
    kernel.handles.close(number)
    renamed = kernel.handles.add(one) or 0
    one.references -= 1
    return renamed


def _check_buffers(kernel: SwitchKernel, message: Message) -> None:
    """Whether the program has the memory that it names.

    :raises AddressError: it has not.
    """
    for one in (*message.sent, *message.exchanged):
        if one.size:
            kernel.space.check(one.address, one.size)
    for one in (*message.received, *message.exchanged):
        if one.size:
            kernel.space.check(one.address, one.size, Permission.WRITE)


def _pointers(
    kernel: SwitchKernel, message: Message, data: bytearray, receiver: Mailbox
) -> list[tuple[int, bytes]]:  # fmt: skip
    """What is to be written where; the descriptors in `data` then name these places."""
    found: list[tuple[int, bytes]] = []
    used = 0
    for number, one in enumerate(message.statics):
        at = message.statics_at + _STATIC * number
        index = STATIC_DESCRIPTOR["index"].raw(int.from_bytes(data[at : at + _STATIC], "little"))
        if not one.size:
            continue
        which = 0 if receiver.one_list else index
        if which >= len(receiver.lists):
            raise RefusedError(Result.OUT_OF_RESOURCE)
        room = receiver.lists[which]
        start = used if receiver.one_list else 0
        if start + one.size > room.size:
            raise RefusedError(Result.OUT_OF_RESOURCE)
        place = room.address + start
        used += one.size
        found.append((place, kernel.space.read(one.address, one.size)))
        data[at : at + _STATIC] = static_descriptor(index, place, one.size)
    return found
