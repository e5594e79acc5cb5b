"""Random supervisor calls and messages of a program: none may crash the host, run without end, take its memory or
touch a file outside of the memory card's folder.

    python tests/fuzz/guest_calls.py --cases 100000 --seed 1

A case is a call. Cases come in episodes of at most 400 on one console, because states build on each other: handles of
all kinds, threads, mappings, open files. No instruction is executed: a processor of this file makes the calls. An
episode is made from the seed and its number alone, so a failure names what to run again (--first N --cases 400).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import load
from support.guest_episodes import PATHS, Episode, run_episodes

from pocketgpu.facts.choices.guests import STRICT
from pocketgpu.facts.supervisor import CALLS, SupervisorCall
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.n3ds.abi.messages import COMMAND_BUFFER, STATIC_BUFFERS, WORDS, Session
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.pica.n3ds import N3DS

CODE, DATA, HEAP, LINEAR, MAPPABLE = 0x00100000, 0x00102000, 0x08000000, 0x30000000, 0x10000000
_BASES = (0, 0x1000, CODE, DATA, HEAP, LINEAR, MAPPABLE, 0x0FF00000, 0x0FFFC000, 0x14000000, 0x18000000, 0x1F000000,
          0x1FF00000, 0x1FF80000, 0x1FF81000, 0x1FF82000, 0x20000000, 0x3FFFF000, 0x40000000, 0x7FFFFFFF, 0x80000000,
          0xE0000000, 0xFFFFF000, 0xFFFFFFFF)  # fmt: skip
_SIZES = (0, 1, 2, 4, 8, 0x10, 0x40, 0x100, 0x200, 0x1000, 0x2000, 0x10000, 0x100000, 0x1000000, 0x4000000, 0x7FFFFFFF,
          0x80000000, 0xFFFFF000, 0xFFFFFFFF)  # fmt: skip
_ODD = (0, 1, 2, 3, 7, 8, 0x10, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_NAMES = (b"srv:\0", b"err:f\0", b"nothing\0", b"", b"x" * 40, b"\xff\xfe\0", b"srv:")
_SERVICES = (b"gsp::Gpu", b"hid:USER", b"fs:USER", b"cfg:u", b"APT:U", b"ptm:u", b"gsp::Lcd", b"ndm:u", b"ptm:sysm",
             b"dsp::DSP", b"no:body", b"\0\0\0\0", b"fs:USERx")  # fmt: skip
_GX = load("gsp")
_LAST = (("APT:U", 0x4E), ("APT:U", 0x27), ("ptm:sysm", 0x407), ("ptm:sysm", 0x409))
"""Commands that end a program."""
_FILE_COMMANDS = (0x802, 0x802, 0x802, 0x803, 0x803, *range(0x804, 0x80B), 0x80B, 0x80B, 0x80C)
"""Those of fs:USER that name files."""


class N3DSEpisode(Episode):
    """On a 3DS."""

    strict, calls_known, data = STRICT, CALLS, DATA
    odd = _ODD
    bits = (4, 8, 12, 16, 24, 32)
    console: N3DSConsole
    kernel: N3DSKernel

    def begin(self, switches: dict[str, str], card: HostFolder) -> None:
        self.console = N3DSConsole(self.caller, N3DS(switches=switches), card)
        self.kernel = self.console.kernel
        code = Segment("code", CODE, bytes(0x1000), 0x1000, Permission.READ | Permission.EXECUTE)
        data = Segment("data", DATA, bytes(0x8000), 0x8000, Permission.READ | Permission.WRITE)
        self.kernel.load(Program("fuzz.elf", [code, data], CODE, b""), ["sdmc:/3ds/fuzz.elf"])

    # -- values -------------------------------------------------------------------------------------------------------
    def address(self) -> int:
        r = self.r
        kind = r.random()
        if kind < 0.4:
            return DATA + 0x10 * r.randrange(0x800)
        if kind < 0.55:
            return r.choice((HEAP, LINEAR, MAPPABLE)) + 0x1000 * r.randrange(64)
        if kind < 0.85:
            return (r.choice(_BASES) + r.choice((0, 0, 0, 4, -4, 1, -1, 0x1000, -0x1000, 0xFFC))) & 0xFFFFFFFF
        return self.number()

    def size(self) -> int:
        r = self.r
        return r.choice(_SIZES[:12]) if r.random() < 0.7 else r.choice(_SIZES) if r.random() < 0.7 else self.number()

    def argument(self, name: str) -> int:
        """A value for an argument of a call, by its name."""
        r = self.r
        if r.random() < 0.05:
            return self.number()
        if name in ("handle", "process"):
            return self.handle()
        if name in ("address", "source", "text", "name", "handles", "names", "values", "stack", "entry"):
            return self.address()
        if name in ("size", "length"):
            return self.size()
        if name in ("first", "interval", "nanoseconds"):
            return self.nanoseconds()
        if name == "count":
            return r.choice((0, 1, 2, 3, 10, 64, 256, 257, -1 & 0xFFFFFFFF))
        if name == "operation":
            return r.choice((1, 3, 4, 5, 6, 0, 7)) | r.choice((0, 0, 0x10000, 0x100, 0x80000000))
        if name in ("reset", "all", "locked", "permission", "others"):
            return r.choice((0, 1, 2, 3, 7, 0x10000000))
        if name == "priority":
            return r.choice((0x18, 0x30, 0x30, 0x30, 0x3F, 0x40))
        if name in ("type", "value"):
            return r.choice((0, 1, 2, 3, 4, 5, 20, 0xFFFFFFFF))
        return self.number()

    def known_call(self, thread: Thread, known: SupervisorCall) -> int:
        """A call with values that its arguments could have."""
        r = self.r
        if known.name in ("ExitProcess", "Break", "ExitThread") and r.random() < 0.98:
            known = CALLS[0x24]
        self.set_registers(thread, known)
        if known.name == "ConnectToPort":
            self.store(DATA, r.choice(_NAMES))
            thread.registers[1] = r.choice((DATA, DATA, self.address()))
        if known.name == "WaitSynchronizationN":
            self.store(DATA, b"".join(self.handle().to_bytes(4, "little") for _ in range(r.choice((0, 1, 2, 64)))))
            thread.registers[1] = r.choice((DATA, DATA, self.address()))
        if known.name.startswith(("Wait", "Sleep", "Arbitrate")):
            self.keep_one_awake(thread, known)
        return known.number

    # -- messages -----------------------------------------------------------------------------------------------------
    def message(self, thread: Thread, wanted: tuple[str, int] | None = None) -> int:
        """A message to a session: of a command that it has, or of none; whole, or cut. wanted: service and command."""
        r = self.r
        sessions = self.known("session")
        files = [one for one in sessions[-20:] if self.server_name(one) in ("fs:USER", "file", "directory")]
        handle = r.choice(files if files and r.random() < 0.4 else sessions) if r.random() < 0.95 else self.handle()
        if wanted is not None:
            handle = next((one for one in sessions if self.server_name(one) == wanted[0]), handle)
        session = self.kernel.handles.get(handle)
        server = session.server if isinstance(session, Session) else None
        commands = getattr(server, "commands", ()) if server is not None else ()
        command = r.choice(tuple(commands)) if commands and r.random() < 0.95 else r.randrange(1 << 16)
        command = command if wanted is None or r.random() < 0.1 else wanted[1]
        body = self.body(r.randrange(0, 24))
        name = getattr(server, "name", "")
        if name == "fs:USER" and r.random() < 0.9:
            command = r.choice(_FILE_COMMANDS) if wanted is None and r.random() < 0.8 else command
            body = self.file_words(command, body)
        elif name in ("file", "directory") and r.random() < 0.8:
            body = self.session_words(name, body)
        elif name == "srv:" and r.random() < 0.9:
            service = r.choice(_SERVICES).ljust(8, b"\0")
            body = [int.from_bytes(service[at : at + 4], "little") for at in (0, 4)] + [r.choice((8, 7, 5, 99)), 0]
        elif (name == "err:f" or (name, command) in _LAST) and r.random() < 0.98:
            return self.any_wait(thread)
        normal = r.choice((len(body), 0, 63, r.randrange(64)))
        header = command << 16 | (normal & 63) << 6 | r.randrange(64)
        words = [header, *body][:WORDS]
        self.kernel.space.set_words(thread.tls + COMMAND_BUFFER, *words)
        for n in range(16):
            buffer = [r.choice((0, 2, self.size() << 14 | 2)) & 0xFFFFFFFF, self.address()]
            self.kernel.space.set_words(thread.tls + STATIC_BUFFERS + 8 * n, *buffer)
        thread.registers = [handle, *(self.number() for _ in range(7))]
        self.counts[f"to {name}" if name else "to nobody"] += 1
        return 0x32

    def special(self, thread: Thread) -> int:
        """GX commands in the queue of the shared memory, or what should not be there, and the order to do them."""
        r, shared = self.r, self.console.gsp.gsp.shared
        if r.random() < 0.7:
            queue = shared.commands(0)
            if queue["index"] < 15 and not queue.stopped:
                for _ in range(r.choice((1, 1, 2, 5))):
                    queue.submit(_GX.gx_words(r))
        for _ in range(r.choice((0, 0, 1, 8))):
            shared.data[r.randrange(len(shared.data))] = r.randrange(256)
        handle = next((one for one in self.known("session") if self.server_name(one) == "gsp::Gpu"), 0)
        self.kernel.space.set_words(thread.tls + COMMAND_BUFFER, 0x000C0000)
        thread.registers = [handle, 0, 0, 0, 0, 0, 0, 0]
        self.counts["orders to the GPU"] += 1
        return 0x32

    def any_wait(self, thread: Thread) -> int:
        thread.registers = [1, 0, 0, 0, 0, 0, 0, 0]
        return 0x0A

    def body(self, count: int) -> list[int]:
        """Words and descriptors of all kinds."""
        r, words = self.r, []
        while len(words) < count:
            kind = r.random()
            if kind < 0.4:
                words.append(self.number())
            elif kind < 0.55:
                number = r.choice((1, 1, 2, 64))
                words.append((number - 1) << 26 | r.choice((0, 0x10, 0x20)))
                words += [self.handle() for _ in range(min(number, 4))]
            elif kind < 0.75:
                words += [(self.size() << 14 | r.randrange(16) << 10 | 2) & 0xFFFFFFFF, self.address()]
            else:
                words += [(self.size() << 4 | r.choice((0xA, 0xC, 0xE, 4, 6, 8))) & 0xFFFFFFFF, self.address()]
        return words

    def session_words(self, name: str, body: list[int]) -> list[int]:
        """A message to an open file or folder: mostly one that reads it to where there is memory."""
        r = self.r
        if r.random() < 0.5:
            size, entry = 0x40, 0x228
            if name == "directory":
                return [8, (8 * entry) << 4 | 0xC, DATA + 0x4000]
            return [0, 0, size, size << 4 | 0xC, DATA + 0x4000]
        return [r.choice((0, 4, 0xFFFFFFF0, self.number())), r.choice((0, 0, 0, 1, 0x7FFFFFFF, 0xFFFFFFFF)), *body]

    def file_words(self, command: int, body: list[int]) -> list[int]:
        """A message with a path where commands have theirs."""
        r = self.r
        kind = r.choice((3, 4, 4, 4, 4, 4, 1, 2, 5, 99))
        path = r.choice(PATHS)
        wide = kind == 4
        data = path.encode("utf-16-le", "surrogatepass") if wide else path.encode("utf-8", "replace")
        data += bytes(1 + wide)
        place = DATA + 0x2000
        self.store(place, data[:0x4000])
        size = r.choice((*[len(data)] * 6, 0, 1, self.size()))
        archive = r.choice((*self.console.fs.archives, self.number()))
        buffer = [(size << 14 | 2) & 0xFFFFFFFF, place]
        flags = r.choice((1, 2, 3, 4, 5, 6, 7, 0))
        shapes = {
            0x802: [0, archive, 0, kind, size, flags, 0, *buffer],
            0x803: [0, r.choice((9, 9, 3, 0x567890AB)), 1, 1, kind, size, flags, 0, 0x4002, DATA, *buffer],
            0x804: [0, archive, 0, kind, size, *buffer],
            0x808: [0, archive, 0, kind, size, 0, self.size(), r.choice((0, 0, 1, 0xFFFFFFFF)), *buffer],
            0x80B: [archive, 0, kind, size, *buffer],
            0x80C: [r.choice((9, 9, 9, 3, 6, 0x567890AB, self.number())), 1, 1, 0x4002, DATA],
        }
        if command in (0x806, 0x807, 0x809):
            shapes[command] = [0, archive, 0, kind, size, *([0] if command == 0x809 else []), *buffer]
        if command in (0x805, 0x80A):
            shapes[command] = [0, archive, 0, kind, size, archive, 0, kind, size, *buffer, *buffer]
        return shapes.get(command, body)

    # -- what happens -------------------------------------------------------------------------------------------------
    def opening(self) -> Iterator[int]:
        """What programs begin with: memory, a port, sessions, an archive, the graphics service."""
        kernel = self.kernel

        def set_all(*values: int) -> None:
            thread = kernel.current
            assert thread is not None
            thread.registers = [*values, *[0] * (8 - len(values))]

        def send(handle: int, *words: int) -> None:
            thread = kernel.current
            assert thread is not None
            kernel.space.set_words(thread.tls + COMMAND_BUFFER, *words)
            set_all(handle)

        def replied(word: int) -> int:
            thread = kernel.scheduler.threads[0]
            return kernel.space.word(thread.tls + COMMAND_BUFFER + 4 * word)

        set_all(3, HEAP, 0, 0x40000, 3)
        yield 1
        set_all(0x10003, 0, 0, 0x40000, 3)
        yield 1
        self.store(DATA, b"srv:\0")
        set_all(0, DATA)
        yield 0x2D
        srv = self.known("session")[-1]
        for name in sorted(one.encode() for one in kernel.services):
            low, high = (int.from_bytes(name.ljust(8, b"\0")[at : at + 4], "little") for at in (0, 4))
            send(srv, 0x00050100, low, high, len(name), 0)
            yield 0x32
            if name == b"gsp::Gpu":
                gsp = self.known("session")[-1]
                set_all(0, 0)
                yield 0x17
                send(gsp, 0x00130042, 1, 0, self.known("event")[-1])
                yield 0x32
                block = replied(4)
                set_all(block, MAPPABLE + 0x2000, 3, 0x10000000)
                yield 0x1F
            if name == b"fs:USER":
                files = self.known("session")[-1]
                for _ in range(2):
                    send(files, 0x080C00C2, 9, 1, 1, 0x4002, DATA)
                    yield 0x32


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` cases from episode `first` on; AssertionError names the episode in which something goes wrong."""
    return run_episodes(N3DSEpisode, cases, seed, first)


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "calls and messages")
