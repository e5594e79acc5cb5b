"""Faults of threads: what a thread did wrong, where in the program, and which buffer was meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

NEAR = 1 << 20
"""Bytes around a buffer in which an address is told as an offset from it."""
Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that a program may reach: its name in messages, GPU address, bytes.

    number: of the kernel's argument, from 0; None if it is none. An address of 0 stands for a null pointer.
    """

    name: str
    address: int
    size: int
    number: int | None = None

    def distance(self, address: int) -> int:
        """Bytes between it and an address; 0 for addresses in it and right after it."""
        return max(self.address - address, address - (self.address + self.size), 0)

    def relation(self, address: int, access: int = 0) -> str:
        """Where an access of so many bytes is, seen from it: "4 bytes beyond the end of argument 1, which has 256"."""
        size = f"which has {counted(self.size, 'byte')}"
        before, beyond = self.address - address, address - (self.address + self.size)
        left_out = beyond + access
        if not self.address:
            return f"{counted(address, 'byte')} from the null pointer of {self.name}"
        if self.distance(address) > NEAR:
            return f"far from every buffer; the nearest is {self.name}, at {self.address:#x}, {size}"
        if before > 0:
            return f"{counted(before, 'byte')} before the start of {self.name}, {size}"
        if beyond > 0:
            return f"{counted(beyond, 'byte')} beyond the end of {self.name}, {size}"
        if beyond == 0:
            return f"just beyond the end of {self.name}, {size}"
        place = f"at offset {-before} of {self.name}, {size}"
        return f"{place}; the last {counted(left_out, 'byte')} beyond its end" if left_out > 0 else place


def nearest(buffers: Iterable[Buffer], address: int) -> Buffer | None:
    """The buffer that an address is nearest to."""
    return min(buffers, key=lambda one: one.distance(address), default=None)


@dataclass(frozen=True, slots=True)
class Fault:
    """What one thread did wrong. `print` shows all of it.

    kind: "unmapped" (outside of every buffer), "misaligned", "outside shared memory", ... (`FAULT_NAMES` has all).
    cause: the same as a phrase with the address. access: "load", "store", "atomic", or "" for other instructions.
    number, offset, name, instruction: the instruction's number in the program, its byte offset, its name and its text.
    file, line: of the source text; "" and None if they are not known. block, thread: x, y, z. address: in the GPU's
    memory, or in shared or local memory; size: in bytes. buffer: the nearest one, for addresses in the GPU's memory.
    """

    kernel: str
    kind: str
    cause: str
    access: str
    number: int
    offset: int
    name: str
    instruction: str
    line: int | None
    block: Three
    thread: Three
    address: int | None = None
    size: int = 0
    buffer: Buffer | None = field(default=None, repr=False)
    file: str = ""

    def __repr__(self) -> str:
        return line_of(self, f"{self.kernel[:40]}+{self.offset:#06x} ({self.name}): {self.kind}, {self.who}")

    def __str__(self) -> str:
        return f"{self.place}: {self.cause}; {self.who}"

    @property
    def place(self) -> str:
        """The instruction: kernel, byte offset, name, and the line of the source text if it is known."""
        return f"{self.kernel}+{self.offset:#06x} ({self.name}){self.source}"

    @property
    def source(self) -> str:
        """The place in the source text after a comma, such as ", k.sass, line 5"; "" if it is not known."""
        if self.line is None:
            return ""
        return f", {self.file}, line {self.line}" if self.file else f", line {self.line}"

    @property
    def who(self) -> str:
        """The block and the thread."""
        return f"block {self.block}, thread {self.thread}"

    @property
    def buffer_offset(self) -> int | None:
        """Bytes from the start of the nearest buffer to the address; None without either."""
        return None if self.buffer is None or self.address is None else self.address - self.buffer.address

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        near = None
        if self.buffer is not None:
            near = {
                "name": self.buffer.name, "argument": self.buffer.number, "address": f"{self.buffer.address:#x}",
                "bytes": self.buffer.size, "offset": self.buffer_offset,
            }  # fmt: skip
        return {
            "kernel": self.kernel,
            "kind": self.kind,
            "cause": self.cause,
            "access": self.access,
            "instruction": {
                "number": self.number, "offset": f"{self.offset:#06x}", "text": self.instruction,
                "file": self.file or None, "line": self.line,
            },
            "block": list(self.block),
            "thread": list(self.thread),
            "address": None if self.address is None else f"{self.address:#x}",
            "bytes": self.size,
            "buffer": near,
        }  # fmt: skip


__all__ = ["NEAR", "Buffer", "Fault", "nearest"]
