"""The memory that gsp and its clients share, and the protocol of each queue in it.

A client can write any byte at any time, so nothing read here is trusted: indices are taken modulo their ring, and
callers check other values. Both sides are here, gsp's and the client's, because tests, demonstrations and programs in
Python are clients too.

Source: 3dbrew GSP Shared Memory; the client's part as in public driver code.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pocketgpu.errors import UsageError
from pocketgpu.facts.gsp import (
    CLIENTS,
    ENTRY_WORDS,
    FRAMEBUFFER_INFO,
    GX_QUEUE,
    GX_SLOT_SIZE,
    GX_SLOTS,
    INTERRUPT_QUEUE,
    INTERRUPTS,
    NEW_ENTRY,
    NO_VBLANKS,
    RELAY_PDC_LIMIT,
    RELAY_SIZE,
    SHARED_SIZE,
    STATUS_FAILED,
    STATUS_HALTED,
    BlockLayout,
)

_WORD = 0xFFFFFFFF


def words_of(values: Sequence[int], count: int, what: str) -> tuple[int, ...]:
    """`values` as 32-bit words; UsageError unless there are `count` of them."""
    if len(values) != count:
        raise UsageError(f"{what} has {count} words, not {len(values)}")
    return tuple(int(value) & _WORD for value in values)


class Block:
    """One client's part of the shared memory, by its table: numbers by name, and raw bytes."""

    layout: BlockLayout

    def __init__(self, data: bytearray, client: int, screen: int = 0) -> None:
        self._data = data
        self._start = self.layout.start(client, screen)

    def __getitem__(self, name: str) -> int:
        return int.from_bytes(self.bytes(name), "little")

    def __setitem__(self, name: str, value: int) -> None:
        cell = self.layout[name]
        at = self._start + cell.offset
        self._data[at : at + cell.size] = (value & ((1 << 8 * cell.size) - 1)).to_bytes(cell.size, "little")

    def bytes(self, name: str) -> bytes:
        """The bytes of a cell."""
        cell = self.layout[name]
        return bytes(self._data[self._start + cell.offset : self._start + cell.offset + cell.size])

    def _place(self, name: str, index: int, size: int) -> slice:
        at = self._start + self.layout[name].offset + index * size
        return slice(at, at + size)

    def clear(self) -> None:
        """All bytes zero."""
        self._data[self._start : self._start + self.layout.size] = bytes(self.layout.size)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{c.name}={self[c.name]:#x}" for c in self.layout.cells if c.size <= 4)
        return f"<{self.layout.name}: {numbers}>"


class InterruptQueue(Block):
    """Interrupts for a client."""

    layout = INTERRUPT_QUEUE

    def push(self, number: int, limited: bool = True) -> bool:
        """gsp's side: append an interrupt; returns whether it was stored.

        In a full queue a VBlank increments its missed counter and any other interrupt sets `missed_other`. limited:
        False stores always and clears `missed_other`, as one simulator does (choice gsp.relay_limit).
        """
        vblank = number in (INTERRUPTS.index("PDC0"), INTERRUPTS.index("PDC1"))
        if limited:
            if vblank and self["flags"] & NO_VBLANKS:
                return False
            if self["count"] >= (RELAY_PDC_LIMIT if vblank else RELAY_SIZE):
                if vblank:
                    self[f"missed_{INTERRUPTS[number].lower()}"] += 1
                else:
                    self["missed_other"] = 1
                return False
        else:
            self["missed_other"] = 0
        self._data[self._place("entries", (self["index"] + self["count"]) % RELAY_SIZE, 1)] = bytes([number])
        self["count"] += 1
        return True

    def take(self) -> int | None:
        """The client's side: remove and return the oldest interrupt's number; None if there is none."""
        if not self["count"]:
            return None
        index = self["index"] % RELAY_SIZE
        number = self._data[self._place("entries", index, 1)][0]
        self["index"] = (index + 1) % RELAY_SIZE
        self["count"] -= 1
        self["missed_other"] = 0
        return number

    def drain(self) -> list[str]:
        """The client's side: take all; names of the interrupts, oldest first ("?" for numbers without a name)."""
        names = []
        while (number := self.take()) is not None:
            names.append(INTERRUPTS[number] if number < len(INTERRUPTS) else "?")
        return names


class FramebufferInfo(Block):
    """The framebuffer that a client wants on one screen from the next VBlank on."""

    layout = FRAMEBUFFER_INFO

    def entry(self, index: int) -> tuple[int, ...]:
        """The seven words of entry 0 or 1."""
        return struct.unpack("<7I", self.bytes(f"entry{index & 1}"))

    def present(self, entry: Sequence[int]) -> None:
        """The client's side: write the entry that is not current, make it current and set the flag."""
        words = words_of(entry, len(ENTRY_WORDS), "a framebuffer entry")
        other = ~self["index"] & 1
        self._data[self._place(f"entry{other}", 0, 4 * len(words))] = struct.pack("<7I", *words)
        self["index"] = other
        self["flag"] = NEW_ENTRY

    def take(self) -> tuple[int, ...] | None:
        """gsp's side: the current entry if the client set the flag, which is cleared; else None."""
        if not self["flag"] & NEW_ENTRY:
            return None
        entry = self.entry(self["index"])
        self["flag"] = 0
        return entry


class CommandQueue(Block):
    """A client's GX commands for gsp."""

    layout = GX_QUEUE

    def slot(self, number: int) -> tuple[int, ...]:
        """The eight words of slot 0 to 14."""
        return struct.unpack("<8I", self._data[self._place("slots", number % GX_SLOTS, GX_SLOT_SIZE)])

    def submit(self, words: Sequence[int]) -> bool:
        """The client's side: append a command; returns False if all 15 slots are taken.

        A client calls TriggerCmdReqQueue when the queue was empty before (`count` is 1 afterwards).
        """
        command = words_of(words, 8, "a GX command")
        count = self["count"]
        if count >= GX_SLOTS:
            return False
        place = (self["index"] + count) % GX_SLOTS
        self._data[self._place("slots", place, GX_SLOT_SIZE)] = struct.pack("<8I", *command)
        self["count"] = count + 1
        return True

    @property
    def stopped(self) -> bool:
        """Whether gsp takes no commands from the queue: it is halted, or a command failed."""
        return bool(self["status"] & (STATUS_HALTED | STATUS_FAILED))

    def fail(self, code: int) -> None:
        """gsp's side: store the result code of a command that failed."""
        self["error"] = code
        self["status"] |= STATUS_FAILED

    def halt(self) -> None:
        """gsp's side: stop taking commands until the client clears the bit."""
        self["status"] |= STATUS_HALTED

    def resume(self) -> None:
        """The client's side: clear a halt (requested or not), a failure and its code."""
        self["status"] = 0
        self["control"] &= ~1
        self["error"] = 0


class SharedMemory:
    """The whole block of 4096 bytes. `data` is the memory itself: all its holders may read and write any byte."""

    def __init__(self) -> None:
        self.data = bytearray(SHARED_SIZE)

    @staticmethod
    def _check(number: int, limit: int, what: str) -> int:
        if not 0 <= number < limit:
            raise UsageError(f"there is no {what} {number}", hint=f"Numbers are 0 to {limit - 1}.")
        return number

    def interrupts(self, client: int) -> InterruptQueue:
        """The interrupt queue of client 0 to 3."""
        return InterruptQueue(self.data, self._check(client, CLIENTS, "client"))

    def framebuffer(self, client: int, screen: int) -> FramebufferInfo:
        """The framebuffer info of a client for screen 0 (top) or 1 (bottom)."""
        self._check(client, CLIENTS, "client")
        return FramebufferInfo(self.data, client, self._check(screen, 2, "screen"))

    def commands(self, client: int) -> CommandQueue:
        """The GX command queue of client 0 to 3."""
        return CommandQueue(self.data, self._check(client, CLIENTS, "client"))

    def clear(self, client: int) -> None:
        """Clear all parts of a client, as at registration."""
        for block in (self.interrupts(client), self.commands(client), *(self.framebuffer(client, s) for s in (0, 1))):
            block.clear()
