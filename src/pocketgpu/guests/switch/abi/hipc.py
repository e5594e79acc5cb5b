"""Messages between programs and services: how they lie in memory (HIPC).

    message = Message(kernel.space.read(thread.tls, 0x100))
    message.type, message.inputs(), message.data

A message is a header, handles, descriptors of memory, and words of data; it has at most 0x100 bytes in thread-local
storage, more in a buffer of the program. What the data are is in `cmif.py`, who answers in `sessions.py`.

Source: libnx's sf/hipc.h and sf/cmif.h; switchbrew IPC Marshalling.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from pocketgpu.facts.dialect.structures import BitStructure
from pocketgpu.facts.switch.structures import (
    BUFFER_DESCRIPTOR,
    MESSAGE_HEADER,
    RECEIVE_DESCRIPTOR,
    SPECIAL_HEADER,
    STATIC_DESCRIPTOR,
)
from pocketgpu.guests.switch.abi.cmif import Buffer

MESSAGE_SIZE: Final = 0x100
"""Bytes of a message in thread-local storage."""
ALIGNMENT: Final = 16
"""Of headers of commands, counted from the message's first byte. The data words always have room for it."""
WORD: Final = 4
_PID_BYTES: Final = 8
_BITS_ABOVE: Final = 32
_HIGH_BITS: Final = 36
_FIRST_COUNT: Final = 2
"""Receive modes above it are counts, this one subtracted; it is one descriptor itself, for all."""
MOST_HANDLES: Final = 15


class MalformedMessage(ValueError):
    """A message says that it is longer than there is room."""


class Message:
    """A message that a program sends. data: its bytes, and what follows them in the same memory. size: how many are the
    message's. one_list: `lists` has one place for all pointers, else one for each by its index.

    :raises MalformedMessage: it does not fit.
    """

    def __init__(self, data: bytes) -> None:
        self._bytes, self._at = data, 0
        header = self._take(MESSAGE_HEADER)
        special = self._take(SPECIAL_HEADER) if MESSAGE_HEADER["special"].raw(header) else 0
        self.type = MESSAGE_HEADER["type"].raw(header)
        self.has_pid = bool(SPECIAL_HEADER["send_pid"].raw(special))
        self.pid_at = self._skip(_PID_BYTES if self.has_pid else 0)
        self.handles_at = self._at
        self.copies = self._words(SPECIAL_HEADER["copy_handles"].raw(special))
        self.moves = self._words(SPECIAL_HEADER["move_handles"].raw(special))
        self.statics_at = self._at
        self.statics = [_static(one) for one in self._several(STATIC_DESCRIPTOR, header, "send_statics")]
        self.sent = [_buffer(one) for one in self._several(BUFFER_DESCRIPTOR, header, "send_buffers")]
        self.received = [_buffer(one) for one in self._several(BUFFER_DESCRIPTOR, header, "receive_buffers")]
        self.exchanged = [_buffer(one) for one in self._several(BUFFER_DESCRIPTOR, header, "exchange_buffers")]
        self.data_start, self.data_words = self._at, MESSAGE_HEADER["data_words"].raw(header)
        self._skip(WORD * self.data_words)
        mode = MESSAGE_HEADER["receive_mode"].raw(header)
        self.one_list = mode == _FIRST_COUNT
        count = mode - _FIRST_COUNT if mode > _FIRST_COUNT else int(mode == _FIRST_COUNT)
        self.lists = [_receive(self._take(RECEIVE_DESCRIPTOR)) for _ in range(count)]
        self.size = self._at

    def __repr__(self) -> str:
        return f"<Message type {self.type}, {self.data_words} data words>"

    def _skip(self, size: int) -> int:
        """Go on after some bytes; where they were."""
        at, self._at = self._at, self._at + size
        if self._at > len(self._bytes):
            raise MalformedMessage(f"a message has more than {len(self._bytes)} bytes")
        return at

    def _take(self, structure: BitStructure) -> int:
        at = self._skip(structure.bits // 8)
        return int.from_bytes(self._bytes[at : self._at], "little")

    def _words(self, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f"<{count}I", self._bytes, self._skip(WORD * count))

    def _several(self, structure: BitStructure, header: int, count: str) -> Iterator[int]:
        return (self._take(structure) for _ in range(MESSAGE_HEADER[count].raw(header)))

    @property
    def data(self) -> bytes:
        """The data words, as bytes."""
        return self._bytes[self.data_start : self.data_start + WORD * self.data_words]

    @property
    def aligned(self) -> bytes:
        """The data from where headers of commands begin, without what is only there to make room for that."""
        start = aligned(self.data_start)
        return self._bytes[start : max(start, start + WORD * self.data_words - ALIGNMENT)]

    def inputs(self) -> list[Buffer]:
        """Memory that the service may read, in the sender's order.

        A sender puts a buffer of a kind of its choice into both lists, X and A, and one of the two is null.
        """
        return [*merged(self.statics, self.sent), *self.exchanged]

    def outputs(self) -> list[Buffer]:
        """Memory that the service may write, in the sender's order; see `inputs`."""
        return [*merged(self.lists, self.received), *self.exchanged]


def aligned(offset: int) -> int:
    """The next place for the header of a command."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def merged(pointers: Sequence[Buffer], mapped: Sequence[Buffer]) -> list[Buffer]:
    """One list of two, in which buffers that are in both of them are null in one.

    A buffer that is in one list only is next to no null; where several are possible, that of `pointers` comes first.
    """
    found: list[Buffer] = []
    i = j = 0
    while i < len(pointers) and j < len(mapped):
        one, other = pointers[i], mapped[j]
        if _is_null(one) or _is_null(other):
            found.append(other if _is_null(one) else one)
            i, j = i + 1, j + 1
        elif len(pointers) - i > sum(map(_is_null, (*pointers[i:], *mapped[j:]))):  # more than are in both lists
            found.append(one)
            i += 1
        else:
            found.append(other)
            j += 1
    return [*found, *pointers[i:], *mapped[j:]]


def _is_null(one: Buffer) -> bool:
    return one.address == 0 and one.size == 0


def _static(number: int) -> Buffer:
    return Buffer(_address(STATIC_DESCRIPTOR, number), STATIC_DESCRIPTOR["size"].raw(number))


def static_descriptor(index: int, address: int, size: int) -> bytes:
    """An X descriptor."""
    values = {
        "index": index, "size": size, "address_low": address & (1 << _BITS_ABOVE) - 1,
        "address_mid": address >> _BITS_ABOVE & 0xF, "address_high": address >> _HIGH_BITS,
    }  # fmt: skip
    return struct.pack("<2I", *STATIC_DESCRIPTOR.pack(values))


def _buffer(number: int) -> Buffer:
    one = BUFFER_DESCRIPTOR
    size = one["size_low"].raw(number) | one["size_high"].raw(number) << _BITS_ABOVE
    return Buffer(_address(one, number), size)


def _receive(number: int) -> Buffer:
    one = RECEIVE_DESCRIPTOR
    address = one["address_low"].raw(number) | one["address_high"].raw(number) << _BITS_ABOVE
    return Buffer(address, one["size"].raw(number))


def _address(one: BitStructure, number: int) -> int:
    """An address in three parts."""
    low, middle, high = (one[f"address_{part}"].raw(number) for part in ("low", "mid", "high"))
    return low | middle << _BITS_ABOVE | high << _HIGH_BITS


def answer_size(data: int, handles: int, *, align: bool = True) -> int:
    """Bytes of the message that `answer_bytes` makes. data: bytes of them; handles: of both kinds."""
    start = MESSAGE_HEADER.bits // 8 + (WORD * (1 + handles) if handles else 0)
    return (aligned(start) if align else start) + data


def answer_bytes(data: bytes, copies: Sequence[int] = (), moves: Sequence[int] = (), *, align: bool = True) -> bytes:
    """The message of an answer.

    data: from the header of the answer on. copies, moves: handles. align: whether the data begin where headers of
    commands do; else right after the handles.
    """
    special = SPECIAL_HEADER.pack({"copy_handles": len(copies), "move_handles": len(moves)})
    handles = struct.pack(f"<{1 + len(copies) + len(moves)}I", *special, *copies, *moves) if copies or moves else b""
    start = MESSAGE_HEADER.bits // 8 + len(handles)
    words = -(-len(data) // WORD) + (ALIGNMENT // WORD if align else 0)
    header = MESSAGE_HEADER.pack({"data_words": words, "special": bool(handles)})
    padding = bytes(aligned(start) - start) if align else b""
    return struct.pack("<2I", *header) + handles + padding + data
