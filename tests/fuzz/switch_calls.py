"""Random supervisor calls and messages of a program of the Switch; see guest_calls.py, which does it for the 3DS.

    python tests/fuzz/switch_calls.py --cases 100000 --seed 1
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.guest_episodes import PATHS, Episode, run_episodes

from pocketgpu.facts.choices.guests import STRICT_SWITCH
from pocketgpu.facts.dialect.supervisor import SupervisorCall
from pocketgpu.facts.switch.nvdrv import REQUESTS
from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.kernel.service import Session
from pocketgpu.guests.kernel.threads import State, Thread
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.sessions import Domain
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.maxwell.gm20b import GM20B

CODE, DATA, HEAP, STACKS = layout.CODE, layout.CODE + 0x1000, layout.HEAP, layout.STACKS
SHARED = 0x4100000000
PORT, SEND, SLEEP, GET_ID, WAIT = 0x1F, 0x21, 0x0B, 0x25, 0x18
_BASES = (0, 0x1000, CODE, DATA, HEAP, HEAP + layout.HEAP_SIZE, STACKS, layout.TLS, layout.ALIAS, SHARED, layout.LIMIT,
          layout.ASLR, 1 << 32, 1 << 63, (1 << 64) - 0x1000)  # fmt: skip
_SIZES = (0, 1, 4, 8, 0x10, 0x100, 0x1000, 0x1000, 0x2000, 0x10000, 0x40000, 0x200000, 0x1000000, 0x18000000, 1 << 31,
          1 << 32, (1 << 64) - 0x1000, (1 << 64) - 1)  # fmt: skip
_NAMES = (b"sm:\0", b"nothing\0", b"", b"x" * 40, b"\xff\xfe\0", b"sm:")
_ADDRESSES = ("address", "source", "text", "name", "handles", "result", "key", "mutex", "stack", "entry", "context",
              "ids")  # fmt: skip
_HANDLES = ("thread", "event", "block", "handle", "process", "session", "owner", "own", "code", "port", "limit")
_CLOSING = ("ExitProcess", "Break", "ExitThread")
_OPEN = ((0, struct.pack("<Q", 0)), (1, b""), (100, b""), (0, b""), (20, b""), (18, b""))
"""Commands with which many services give an object."""
_FAVOURED = ("nvdrv", "IFileSystem", "IFile")
"""Servers with arguments that are worth many tries."""
_ENDS = "fatal:u"
"""Whoever asks it for anything ends the program: not at the start."""


def mapped(address: int, size: int) -> bytes:
    """The descriptor of a buffer that is mapped for the service."""
    last = (address >> 36 & 7) << 2 | (size >> 32 & 15) << 24 | (address >> 32 & 15) << 28
    return struct.pack("<3I", size & 0xFFFFFFFF, address & 0xFFFFFFFF, last)


class SwitchEpisode(Episode):
    """On a Switch."""

    strict, calls_known, data = STRICT_SWITCH, CALLS, DATA
    odd = (0, 1, 2, 3, 7, 8, 0x10, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
           1 << 32, 1 << 63, (1 << 64) - 1)  # fmt: skip
    bits = (4, 8, 12, 16, 24, 32, 48, 64)
    console: SwitchConsole
    kernel: SwitchKernel

    def begin(self, switches: dict[str, str], card: HostFolder) -> None:
        self.console = SwitchConsole(self.caller, GM20B(switches=switches), card)
        self.kernel = self.console.kernel
        code = Segment("code", CODE, bytes(0x1000), 0x1000, Permission.READ | Permission.EXECUTE)
        data = Segment("data", DATA, bytes(0x8000), 0x8000, Permission.READ | Permission.WRITE)
        self.kernel.load(Program("fuzz.nro", [code, data], CODE, b""), ["sdmc:/switch/fuzz.nro"])

    def read_by_program(self) -> Iterator[bytes]:
        for area in self.kernel.space:
            if area.name == "data":
                yield bytes(area.view)

    # -- values -------------------------------------------------------------------------------------------------------
    def address(self) -> int:
        r = self.r
        kind = r.random()
        if kind < 0.45:
            return DATA + 0x10 * r.randrange(0x800)
        if kind < 0.7:
            return r.choice((HEAP, HEAP, STACKS + layout.STACK_SIZE, SHARED)) + 0x1000 * r.randrange(64)
        if kind < 0.9:
            return (r.choice(_BASES) + r.choice((0, 0, 0, 4, -4, 1, -1, 0x1000, -0x1000))) & (1 << 64) - 1
        return self.number()

    def size(self) -> int:
        r = self.r
        return r.choice(_SIZES[:9]) if r.random() < 0.7 else r.choice(_SIZES) if r.random() < 0.7 else self.number()

    def argument(self, name: str) -> int:
        r = self.r
        if r.random() < 0.04:
            return self.number()
        if name in _HANDLES:
            return self.handle()
        if name in _ADDRESSES:
            return self.address() & ~3 if r.random() < 0.9 else self.address()
        if name in ("size", "length"):
            return self.size()
        if name == "nanoseconds":
            return self.nanoseconds()
        if name == "count":
            return r.choice((0, 1, 2, 3, 64, 65, 0xFFFFFFFF))
        if name == "reply":
            return r.choice((0, 0, *self.known("server session")[-4:]))
        if name in ("most", "light", "operation", "resource", "debug"):
            return r.choice((0, 0, 1, 2, 3, 4, 5, 0x7FFFFFFF, 0xFFFFFFFF))
        if name in ("permission", "other", "kind", "activity", "type", "value", "mask", "subtype"):
            return r.choice((0, 1, 2, 3, 5, 8, 0x10, 20, 0xFFFFFFFF))
        if name in ("priority", "core"):
            return r.choice((0x2C, 0x2B, 0x3B, 0, 1, 2, 0x40, 0xFFFFFFFE, 0xFFFFFFFD))
        return self.number()

    # -- calls --------------------------------------------------------------------------------------------------------
    def known_call(self, thread: Thread, known: SupervisorCall) -> int:
        r = self.r
        if known.name in _CLOSING and r.random() < 0.98:
            known = CALLS[GET_ID]
        self.set_registers(thread, known)
        if known.name in ("ConnectToNamedPort", "ManageNamedPort"):
            self.store(DATA, r.choice(_NAMES))
            thread.registers[1] = r.choice((DATA, DATA, self.address()))
        if known.name in ("WaitSynchronization", "ReplyAndReceive", "ReplyAndReceiveWithUserBuffer"):
            self.store(DATA, b"".join(self.waited().to_bytes(8, "little")[:4] for _ in range(r.choice((1, 2, 64)))))
            at = next(one.low for one in known.arguments if one.name == "handles")
            thread.registers[at] = r.choice((DATA, DATA, self.address()))
        if known.name.startswith("ReplyAndReceive") and r.random() < 0.7:
            self.send(thread, r.choice((0, 4)), 0, b"", 0)
        if known.name == "ArbitrateLock":
            owner = self.handle() & 0x3FFFFFFF
            thread.registers[0] = owner
            self.store(thread.registers[1], (owner | 0x40000000).to_bytes(4, "little"))
            if r.random() < 0.8:
                return self.any_wait(thread)
        if known.name.startswith(("Wait", "Sleep", "ReplyAndReceive")):
            self.keep_one_awake(thread, known)
        return known.number

    def waited(self) -> int:
        """A handle to wait for; often one of a session or port of the program itself."""
        own = (*self.known("server session"), *self.known("server port"))
        return self.r.choice(own) if self.r.random() < 0.6 else self.handle()

    def any_wait(self, thread: Thread) -> int:
        """A short sleep."""
        thread.registers = [1000, 0, 0, 0, 0, 0, 0, 0]
        return SLEEP

    # -- messages -----------------------------------------------------------------------------------------------------
    def message(self, thread: Thread, wanted: tuple[str, int] | None = None) -> int:
        r = self.r
        if r.random() < 0.05:
            return self.own_message(thread)
        sessions = self.known("session")
        handle = r.choice(sessions[-40:] if r.random() < 0.7 else sessions) if r.random() < 0.95 else self.handle()
        favoured = wanted[0] if wanted is not None else r.choice(_FAVOURED) if r.random() < 0.12 else None
        if favoured is not None:
            handle = next((one for one in sessions if self.server_name(one) == favoured), handle)
        elif r.random() < 0.15:  # what reaches files of the host
            name = r.choice(("fsp-srv", "IFileSystem", "IFileSystem", "IFile", "IDirectory"))
            handle = r.choice([one for one in sessions if self.server_name(one) == name] or [handle])
        session = self.kernel.handles.get(handle)
        server = session.server if isinstance(session, Session) else None
        number = 0
        if isinstance(server, Domain) and server.objects:
            number = r.choice(list(server.objects))
            server = server.objects[number]
        name = getattr(server, "name", "")
        commands = tuple(getattr(server, "commands", ()))
        command = r.choice(commands) if commands and r.random() < 0.95 else r.randrange(1 << 12)
        command = command if wanted is None or r.random() < 0.1 else wanted[1]
        self.counts[f"to {name}" if name else "to nobody"] += 1
        thread.registers = [handle, *(self.number() for _ in range(7))]
        if name == "nvdrv" and r.random() < 0.8:
            return self.control(thread, handle)
        if name in ("IFileSystem", "IFile", "IDirectory") and r.random() < 0.7:
            self.files(thread, name, command, number)
            return SEND
        if r.random() < 0.08:
            self.send(thread, r.choice((2, 5, 5, 5, 7, 15, 16, 17, r.randrange(1 << 16))), r.randrange(6), b"", 0)
            return SEND
        self.send(thread, 4, command, self.arguments(name), number)
        return SEND

    def own_message(self, thread: Thread) -> int:
        """A message to another thread of the program; not by the last one that could answer."""
        others = [one for one in self.kernel.scheduler.threads if one is not thread and one.state is State.READY]
        if not others and self.r.random() < 0.9:
            return self.any_wait(thread)
        thread.registers = [self.r.choice(self.known("client session")), *(self.number() for _ in range(7))]
        self.send(thread, self.r.choice((0, 4, 5, 16)), self.r.randrange(6), b"", 0)
        self.counts["to itself"] += 1
        return SEND

    def arguments(self, name: str) -> bytes:
        """What a command could be sent, and a path where services look for one."""
        r = self.r
        path = r.choice(PATHS).encode("utf-8", "replace")[:0x300]
        self.store(DATA + 0x2000, path.ljust(0x301, b"\0"))
        if name == "sm:":
            service = r.choice((*self.kernel.services, "no:body", "sm:", "")).encode()
            return service.ljust(8, b"\0") + struct.pack("<II", r.choice((0, 1, 99)), 0)
        words = [r.choice((0, 1, 2, 3, 8, 0x10, self.number() & 0xFFFFFFFF)) for _ in range(r.randrange(12))]
        return struct.pack(f"<{len(words)}I", *words)

    def send(self, thread: Thread, type: int, command: int, data: bytes, number: int) -> None:
        """A message in the thread's storage: whole, or with counts that do not fit."""
        r = self.r
        counts = [r.choice((0, 0, 0, 1, 1, 2)) for _ in range(4)]
        handles = [self.handle() & 0xFFFFFFFF for _ in range(r.choice((0, 0, 0, 1, 2, 3)))]
        pid, receive = r.random() < 0.3, r.choice((0, 0, 0, 2, 3, 4))
        body = struct.pack("<4I", 0x49434653 if r.random() < 0.98 else self.number() & 0xFFFFFFFF, 0, command, 0) + data
        if number:
            kind = 1 if r.random() < 0.96 else 2  # a command, or the end of the object
            body = struct.pack("<BBHIII", kind, 0, len(body), number, 0, 0) + body
        special = bool(handles or pid)
        head = b""
        if special:
            head = struct.pack("<I", int(pid) | len(handles) << 1) + bytes(8 * pid)
            head += struct.pack(f"<{len(handles)}I", *handles)
        for count, form in zip(counts, ("X", "A", "B", "W"), strict=True):
            head += b"".join(self.descriptor(form) for _ in range(count))
        padding = bytes(-(8 + len(head)) % 16)
        words = (len(padding) + len(body) + 16 - len(padding)) // 4
        lists = b"".join(self.descriptor("C") for _ in range(max(0, receive - 2) or int(receive == 2)))
        first = type | sum(count << 16 + 4 * n for n, count in enumerate(counts))
        whole = struct.pack("<2I", first, words & 0x3FF | receive << 10 | special << 31) + head + padding + body
        whole = (whole.ljust(8 + len(head) + 4 * words, b"\0") + lists)[:0x100]
        if r.random() < 0.03:
            whole = r.randbytes(0x100)
        self.store(thread.tls, whole)

    def descriptor(self, form: str) -> bytes:
        """Memory that a message names: mostly of the program, sometimes none."""
        r = self.r
        address, size = (self.address(), self.size()) if r.random() < 0.3 else (DATA + 0x2000, 0x301)
        if form in ("B", "C") and r.random() < 0.8:
            address, size = DATA + 0x3000, r.choice((8, 0x100, 0x1000))
        if r.random() < 0.1:
            address = size = 0
        if form == "X":
            size &= 0xFFFF
            first = (address >> 36 & 0x3F) << 6 | (address >> 32 & 15) << 12 | size << 16
            return struct.pack("<2I", first, address & 0xFFFFFFFF)
        if form == "C":
            return struct.pack("<IHH", address & 0xFFFFFFFF, address >> 32 & 0xFFFF, size & 0xFFFF)
        return mapped(address, size)

    def control(self, thread: Thread, handle: int) -> int:
        """A request to a device of the graphics driver, or its opening."""
        r = self.r
        devices = self.console.nvdrv.devices
        if not devices or r.random() < 0.1:
            path = r.choice([path for path, _ in REQUESTS]).encode() + r.choice((b"", b"", b"\0", b"x"))
            self.store(DATA + 0x2000, path)
            self.whole(thread, 0, b"", mapped(DATA + 0x2000, len(path)), b"")
        else:
            fd = r.choice((*devices, r.randrange(8)))
            device = devices.get(fd)
            known = [one for (path, _), one in REQUESTS.items() if device is None or path == device.path]
            one = r.choice(known or list(REQUESTS.values()))
            size = one.layout.size if r.random() < 0.9 else r.randrange(0x200)
            values = [r.choice((0, 1, 2, 3, 4, 8, 0x10, 0x1000, 0x10000, 0x20000, self.address() & 0xFFFFFFFF,
                                self.number() & 0xFFFFFFFF)) for _ in range(size // 4 + 1)]  # fmt: skip
            if size >= 0x20 and r.random() < 0.5:
                values[6:8] = [(HEAP + 0x10000 * r.randrange(16)) & 0xFFFFFFFF, HEAP >> 32]
            self.store(DATA + 0x2000, struct.pack(f"<{len(values)}I", *values))
            buffer = mapped(DATA + 0x2000, size)
            word = 3 << 30 | size << 16 | one.number
            command = r.choice((1, 1, 1, 11, 12))
            self.whole(thread, command, struct.pack("<II", fd, word), buffer * (1 + (command == 11)), buffer)
        thread.registers = [handle, *(self.number() for _ in range(7))]
        self.counts["requests to devices"] += 1
        return SEND

    def files(self, thread: Thread, name: str, command: int, number: int) -> None:
        """A message to a folder or a file that it could understand."""
        r = self.r
        self.arguments(name)  # for the path
        here = DATA + 0x2000
        path = struct.pack("<2I", (here >> 36) << 6 | (here >> 32 & 15) << 12 | 0x301 << 16, here & 0xFFFFFFFF)
        if name == "IFileSystem":
            data = struct.pack("<IIq", r.choice((1, 1, 3, 7, 0)), 0, r.choice((0, 100, 1 << 40)))
            both = command in (5, 6)
            self.whole(thread, command, data, b"", b"", path * (1 + both), number)
        else:
            data = struct.pack("<IIqQ", 0, 0, r.choice((0, 0, 1, -1, 1 << 62)), r.choice((0x100, 0x1000, 1 << 63)))
            if name == "IFile" and r.random() < 0.3:
                self.whole(thread, command, data, mapped(here, 0x100), b"", b"", number)
            else:
                self.whole(thread, command, data, b"", mapped(DATA + 0x4000, 0x1000), b"", number)

    def whole(
        self, thread: Thread, command: int, data: bytes, sent: bytes, received: bytes, statics: bytes = b"",
        number: int = 0,
    ) -> None:  # fmt: skip
        """A message without mistakes. sent, received, statics: descriptors. number: of an object in a domain."""
        body = struct.pack("<4I", 0x49434653, 0, command, 0) + data
        if number:
            body = struct.pack("<BBHIII", 1, 0, len(body), number, 0, 0) + body
        first = 4 | len(statics) // 8 << 16 | len(sent) // 12 << 20 | len(received) // 12 << 24
        head = statics + sent + received
        padding = bytes(-(8 + len(head)) % 16)
        words = (len(body) + 16 + 3) // 4
        self.store(thread.tls, (struct.pack("<2I", first, words) + head + padding + body).ljust(0x100, b"\0"))

    def special(self, thread: Thread) -> int:
        nvdrv = next((one for one in self.known("session") if self.server_name(one) == "nvdrv"), 0)
        return self.control(thread, nvdrv)

    # -- what happens -------------------------------------------------------------------------------------------------
    def opening(self) -> Iterator[int]:
        """What programs begin with: sm:, sessions, some of them domains, objects of the services."""
        kernel = self.kernel

        def thread() -> Thread:
            current = kernel.current
            assert current is not None
            return current

        def ask(handle: int, command: int, data: bytes) -> int:
            self.whole(thread(), command, data, b"", b"")
            thread().registers = [handle, *[0] * 7]
            return SEND

        self.store(DATA, b"sm:\0")
        thread().registers = [0, DATA, *[0] * 6]
        yield PORT
        manager = self.known("session")[-1]
        for name in list(kernel.services):
            if name == _ENDS:
                continue
            yield ask(manager, 1, name.encode().ljust(8, b"\0"))
            session = self.known("session")[-1]
            if self.r.random() < 0.3:
                self.whole(thread(), 0, b"", b"", b"")
                self.store(thread().tls, struct.pack("<I", 5))
                thread().registers = [session, *[0] * 7]
                yield SEND
                continue
            for command, data in _OPEN:
                if name != "fsp-srv" or command == 18:
                    yield ask(session, command, data)


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` cases from episode `first` on; AssertionError names the episode in which something goes wrong."""
    return run_episodes(SwitchEpisode, cases, seed, first)


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "calls and messages")
