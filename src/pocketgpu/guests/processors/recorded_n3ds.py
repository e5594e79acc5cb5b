"""Conversations of programs for a 3DS: `k` counts ticks, messages are words 0x80 bytes after the start of the TLS."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.recorded import Conversation, Line, RecordedGuest

COMMAND_BUFFER: Final = 0x80
STATIC_BUFFERS: Final = 0x180
_END_OF_LIST: Final = (0x12345678).to_bytes(4, "little") + (0x000F0010).to_bytes(4, "little")
"""A command list that only ends: what a GPU would draw is not recorded."""


class RecordedN3DS(RecordedGuest):
    """A 3DS's processor that makes recorded calls. shared: called with offset and bytes of what the program stored in
    memory that it shares with the graphics service."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self.shared: Any = None
        self._late = deque(line for line in conversation.lines if "ev" in line and "poke" in line)

    def moment(self, line: Line) -> tuple[int, int] | None:
        if "t" in line:
            return line["t"], line["i"][0]
        if line.get("run"):
            thread, place, *_ = line["run"]
            return thread, place
        return None

    # -- what calls carry -------------------------------------------------------------------------------------------
    def _handle(self, recorded: int) -> int:
        return self.numbers.of("handle", recorded)

    def enter(self, thread: Thread, line: Line) -> None:
        self.stores(line)
        registers = [int(word, 16) for word in line["r"]]
        for number in line.get("rh", ()):
            registers[number] = self._handle(registers[number])
        thread.registers = registers
        assert self.space is not None
        for address, data, size, _ in line.get("in", ()):
            if isinstance(data, dict):
                continue  # only length and digest are known
            stored = bytes.fromhex(data)
            if line.get("mh") and size == 4:
                stored = self._handle(int.from_bytes(stored, "little")).to_bytes(4, "little")
            self.store(int(address, 16), stored)
        if "cmd" in line:
            words = [int(word, 16) for word in line["cmd"]]
            for number in line.get("hin", ()):
                words[number] = self._handle(words[number])
            self.space.set_words(thread.tls + COMMAND_BUFFER, *words)
            for number, descriptor, pointer in line.get("sb", ()):
                self.space.set_words(thread.tls + STATIC_BUFFERS + 8 * number, int(descriptor, 16), int(pointer, 16))
        for command in line.get("gx", ()):
            if "list" in command:
                address, size = int(command["w"][1], 16), int(command["w"][2], 16)
                if size >= len(_END_OF_LIST):
                    self.store(address, bytes(size - len(_END_OF_LIST)) + _END_OF_LIST)

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
            self.numbers.learn("handle", int(line["o"][str(number)], 16), registers[number])
        for number in line.get("hout", ()):
            self.numbers.learn("handle", int(line["ans"][number], 16), answer[number])
