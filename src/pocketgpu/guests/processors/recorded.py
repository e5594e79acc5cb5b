"""A recorded guest: plays the processor's side of a conversation, so that a kernel can be tested without a program.

    conversation = Conversation.read("hello-world.jsonl.xz")
    guest = RecordedGuest(conversation)

A conversation is what a program said to a kernel and what it was told, one line of JSON a call or an event. The guest
puts into memory what each call carries, and makes the call; handles, which a kernel chooses, are translated.
Tests compare the answers.
"""

from __future__ import annotations

import json
import lzma
import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.memory import AddressSpace, Area
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.threads import Thread

Line = Mapping[str, Any]

COMMAND_BUFFER: Final = 0x80
STATIC_BUFFERS: Final = 0x180
_END_OF_LIST: Final = (0x12345678).to_bytes(4, "little") + (0x000F0010).to_bytes(4, "little")
"""A command list that only ends: what a GPU would draw is not recorded."""


class RecordEndError(Exception):
    """A thread is asked for more than was recorded."""


@dataclass(frozen=True)
class Conversation:
    """A recording: its first line, and the others."""

    head: Line
    lines: list[Line]

    def __repr__(self) -> str:
        return f"<Conversation {self.head['program']}: {len(self.lines)} lines>"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Conversation:
        """Read a file of JSON lines, packed with xz."""
        with lzma.open(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return cls(lines[0], lines[1:])


class RecordedGuest:
    """A processor that makes recorded calls. space: the memory of the guest, to be set before the first call. shared:
    called with offset and bytes of what the program stored in memory that it shares with the graphics service."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.space: AddressSpace | None = None
        self.shared: Any = None
        self.line: Line | None = None
        """The line of the call that is being made."""
        self.handles = {0xFFFF8000: 0xFFFF8000, 0xFFFF8001: 0xFFFF8001}
        self._position: dict[int, int] = {}
        self._queues: dict[int, deque[Line]] = {}
        self._late = deque(line for line in conversation.lines if "ev" in line and "poke" in line)
        for line in conversation.lines:
            if "t" in line:
                self._queues.setdefault(line["t"], deque()).append(line)
            elif line.get("run"):
                self._queues.setdefault(line["run"][0], deque()).append(line)

    def __repr__(self) -> str:
        return f"<RecordedGuest of {self.conversation.head['program']}>"

    # -- the processor's interface ----------------------------------------------------------------------------------
    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        """Nothing is executed."""

    def registers(self, thread: Thread) -> None:
        """A recording has those of calls only."""

    def watch(self, base: int, size: int, told: Callable[[int], None]) -> Callable[[], None]:
        """A recording has no stores."""
        return lambda: None

    def mapped(self, area: Area) -> None:
        """Memory is the kernel's."""

    def unmapped(self, base: int, size: int) -> None:
        """Memory is the kernel's."""

    def settle(self) -> None:
        raise UsageError("a recorded guest cannot go back")

    def replaced(self) -> None:
        """It never goes back."""

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        queue = self._queues.get(thread.number)
        at = self._position.get(thread.number, 0)
        while queue:
            line = queue[0]
            call = "t" in line
            place = line["i"][0] if call else line["run"][1]
            if call:
                if place - at > budget:
                    self._position[thread.number] = at + budget
                    return Stop(budget)
                queue.popleft()
                self._position[thread.number] = place
                self._enter(thread, line)
                return Stop(place - at, int(line["n"], 16))
            queue.popleft()
            if place - at > budget or line["ev"] == "end":
                # The end of the block in which the recording was interrupted.
                self._position[thread.number] = place
                return Stop(place - at)
        raise RecordEndError(f"thread {thread.number} has no more calls")

    # -- what calls carry -------------------------------------------------------------------------------------------
    def _mapped_handle(self, handle: int) -> int:
        return self.handles.get(handle, handle)

    def _enter(self, thread: Thread, line: Line) -> None:
        self.line = line
        self.stores(line)
        registers = [int(word, 16) for word in line["r"]]
        for number in line.get("rh", ()):
            registers[number] = self._mapped_handle(registers[number])
        thread.registers = registers
        assert self.space is not None
        for address, data, size, _ in line.get("in", ()):
            if isinstance(data, dict):
                continue  # only length and digest are known
            stored = bytes.fromhex(data)
            if line.get("mh") and size == 4:
                stored = self._mapped_handle(int.from_bytes(stored, "little")).to_bytes(4, "little")
            self._store(int(address, 16), stored)
        if "cmd" in line:
            words = [int(word, 16) for word in line["cmd"]]
            for number in line.get("hin", ()):
                words[number] = self._mapped_handle(words[number])
            self.space.set_words(thread.tls + COMMAND_BUFFER, *words)
            for number, descriptor, pointer in line.get("sb", ()):
                self.space.set_words(thread.tls + STATIC_BUFFERS + 8 * number, int(descriptor, 16), int(pointer, 16))
        for command in line.get("gx", ()):
            if "list" in command:
                address, size = int(command["w"][1], 16), int(command["w"][2], 16)
                if size >= len(_END_OF_LIST):
                    self._store(address, bytes(size - len(_END_OF_LIST)) + _END_OF_LIST)

    def _store(self, address: int, data: bytes) -> None:
        """What the program has in its memory, whatever it may do there."""
        assert self.space is not None
        for area in self.space.within(address, len(data)):
            low, high = max(area.base, address), min(area.end, address + len(data))
            area.view[low - area.base : high - area.base] = data[low - address : high - address]

    def stores(self, line: Line) -> None:
        """Let the program's stores to shared memory happen that come before a line."""
        late = []
        while self._late and self._late[0]["s"] <= line["s"]:
            late.append(self._late.popleft())
        for one in [*late, *([line] if "t" in line else [])]:
            for offset, data in one.get("poke", ()):
                self.shared(offset, bytes.fromhex(data))

    def learn(self, line: Line, registers: Mapping[int, int], answer: tuple[int, ...]) -> None:
        """Note the kernel's handles for the recorded ones, when a call is done."""
        for number in line.get("oh", ()):
            self.handles[int(line["o"][str(number)], 16)] = registers[number]
        for number in line.get("hout", ()):
            self.handles[int(line["ans"][number], 16)] = answer[number]
