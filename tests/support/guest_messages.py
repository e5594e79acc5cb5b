"""Messages to services of a 3DS without a program: what a program would put into its thread-local storage.

    talk = Talk()
    answer = talk.ask(talk.console.fs, 0x08010002)
    answer[1]  # the result
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.guests.kernel.files import Files, MemoryFiles
from pocketgpu.guests.kernel.memory import Area, Permission, host_memory
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.service import Server
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.n3ds.abi.messages import COMMAND_BUFFER, STATIC_BUFFERS, WORDS, Answer, Request, Session
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.pica.n3ds import N3DS

BUFFER = 0x08000000
"""Memory of the program that tests may use: 1 MiB."""


class Idle:
    """A processor that executes nothing."""

    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None: ...

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        return Stop(budget)

    def mapped(self, area: Area) -> None: ...

    def unmapped(self, base: int, size: int) -> None: ...


class Talk:
    """A console with a thread that asks its services."""

    def __init__(
        self, card: Files | None = None, choices: Mapping[str, str] | None = None, machine: N3DS | None = None
    ) -> None:
        self.machine = machine or N3DS(switches=choices)
        self.console = N3DSConsole(Idle(), self.machine, card or MemoryFiles({}))
        self.kernel = self.console.kernel
        thread = self.kernel.make_thread(0x30, 0x100000, 0, 0)
        assert thread is not None
        self.thread = thread
        both = Permission.READ | Permission.WRITE
        self.kernel.space.map(Area(BUFFER, 1 << 20, both, "buffer", host_memory(1 << 20)))

    def ask(
        self, server: Server[Request, Answer], *words: int, room: Mapping[int, tuple[int, int]] | None = None
    ) -> tuple[int, ...]:
        """Send a message; the words of the answer. room: static buffers for it by number: address and size."""
        place = self.thread.tls + COMMAND_BUFFER
        self.kernel.space.set_words(place, *words)
        for number, (address, size) in (room or {}).items():
            self.kernel.space.set_words(self.thread.tls + STATIC_BUFFERS + 8 * number, size << 14 | 2, address)
        request = Request(self.kernel, self.thread)
        answer = server.handle(request)
        assert isinstance(answer, Answer)
        request.answer(answer)
        return tuple(self.kernel.space.words(place, WORDS))

    def store(self, data: bytes, at: int = 0) -> int:
        """Put bytes into the buffer; their address."""
        self.kernel.space.write(BUFFER + at, data)
        return BUFFER + at

    def read(self, size: int, at: int = 0) -> bytes:
        """Bytes of the buffer."""
        return bytes(self.kernel.space.read(BUFFER + at, size))

    def session(self, handle: int) -> Server[Request, Answer]:
        """Who answers at the other end of a session."""
        found = self.kernel.handles.get(handle)
        assert isinstance(found, Session)
        return found.server

    def pass_frames(self, count: int) -> None:
        """Let VBlanks pass."""
        wanted = self.console.frame_count + count
        while self.console.frame_count < wanted:
            self.kernel.step()
