"""Plays conversations of programs of the 3DS: clock and order are those of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pocketgpu.facts.choices.guests import STRICT
from pocketgpu.guests.kernel.files import MemoryFile, MemoryFiles
from pocketgpu.guests.kernel.memory import AddressError, Area, Permission, host_memory
from pocketgpu.guests.kernel.objects import Timer
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.kernel.timeline import Due
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.services.hid import Input
from pocketgpu.guests.processors.recorded import Conversation, Line
from pocketgpu.guests.processors.recorded_n3ds import COMMAND_BUFFER, RecordedN3DS
from pocketgpu.pica.n3ds import N3DS

from . import recordings
from .playing import Player

OWN_FILE = "(the program's own file)"


def folder() -> Path:
    """Where conversations of the 3DS lie."""
    return recordings.folder() / "guests" / "3ds" / "conversations"


def _word(text: str) -> int:
    return int(text, 16)


class Play(Player):
    """A conversation of a 3DS that is being played."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        head = self.talk.head
        self.guest = RecordedN3DS(self.talk)
        self.lines: Iterator[Line] = iter(self.talk.lines)
        font = b"" if head["font"] else None
        self.console = N3DSConsole(self.guest, N3DS(switches=STRICT), _files(self.talk), font=font)
        kernel = self.kernel = self.console.kernel
        self.guest.space = kernel.space
        self.guest.shared = self._poke
        self._load(head)
        keys = {int(number): _word(bits) for number, bits in head.get("keys", {}).items()}
        held = {number + more: bits for number, bits in keys.items() for more in (1, 0)}
        self.console.held = {number: Input(bits) for number, bits in held.items()}
        self.console.closes_at = head.get("close")
        self.woken: list[int] = []
        self.line: Line | None = None
        self.silent = False
        kernel.listeners.append(self)

    def _load(self, head: Line) -> None:
        kernel = self.kernel
        image = head["image"]
        base, size = _word(image["base"]), image["size"]
        every = Permission.READ | Permission.WRITE | Permission.EXECUTE
        kernel.space.map(Area(base, -(-size // 4096) * 4096, every, "image", host_memory(-(-size // 4096) * 4096)))
        for page, name in ((layout.KERNEL_PAGE, "kernel_page"), (layout.SHARED_PAGE, "shared_page"),
                           (layout.LOADER_PAGE, "loader_page")):  # fmt: skip
            area = kernel.space.find(page)
            assert area is not None
            for offset, data in head[name]:
                stored = bytes.fromhex(data)
                area.view[offset : offset + len(stored)] = stored
        first = head["thread1"]
        kernel.make_thread(first["priority"], _word(head["entry"]), _word(first["r0"]), _word(first["sp"]))

    def _poke(self, offset: int, data: bytes) -> None:
        self.console.gsp.block.view[offset : offset + len(data)] = data

    # -- what happens -----------------------------------------------------------------------------------------------
    def call_starts(self, thread: Thread, number: int) -> None:
        self.woken.clear()
        self.line = next(self.lines)
        made = self.guest.line
        assert made is not None
        self.differ(self.line, "order of lines", made["s"], self.line["s"])
        self.differ(self.line, "tick", self.kernel.time.now, self.line["k"])

    def answered(self, thread: Thread, line: Line) -> None:
        free = {*line.get("free", ()), *line.get("oh", ())}
        for register, value in line["o"].items():
            if int(register) not in free:
                found = thread.answer.get(int(register))
                self.differ(line, f"{line['name']} r{register}", None if found is None else f"{found:08x}", value)
        answer: tuple[int, ...] = ()
        if "ans" in line:
            answer = self.kernel.space.words(thread.tls + COMMAND_BUFFER, 64)
            for number in () if line.get("weak") else line.get("need", ()):
                name = f"{line.get('ses')} {line.get('call')} word {number}"
                self.differ(line, name, f"{answer[number]:08x}", line["ans"][number])
        self.guest.learn(line, thread.answer, answer)
        for at, wanted in _written(line).items():
            try:
                found = self.kernel.space.read(at, len(wanted)).hex()
            except AddressError as error:
                found = str(error)
            self.differ(line, f"{line.get('call', line['name'])} wrote at {at:#010x}", found, wanted.hex())

    def after(self, line: Line) -> None:
        wanted = [one["t"] for one in line.get("woke", ())]
        self.differ(line, "woke", list(self.woken), wanted)
        self.woken.clear()
        for offset, data in line.get("gsp", ()):
            stored = bytes.fromhex(data)
            found = bytes(self.console.gsp.block.view[offset : offset + len(stored)])
            self.differ(line, f"gsp's memory at {offset:#x}", found.hex(), data)
        for offset, data in line.get("hid", ()):
            stored = bytes.fromhex(data)
            if offset < 16 or 0xA8 <= offset < 0xB8:
                continue  # ticks
            found = bytes(self.console.hid.block.view[offset : offset + len(stored)])
            self.differ(line, f"hid's memory at {offset:#x}", found.hex(), data)
        if "next" in line and self.kernel.end is None:
            best = self.kernel.scheduler.best()
            self.differ(line, "next thread", best and best.number, line["next"]["t"])

    def thread_woken(self, thread: Thread) -> None:
        self.woken.append(thread.number)
        super().thread_woken(thread)

    def event_starts(self, due: Due) -> None:
        """One thing that is due is about to happen. A timer that nobody waits for has no line."""
        self.silent = isinstance(due.about, Timer) and not due.about.waiters
        if self.silent:
            return
        self.woken.clear()
        self.line = next(self.lines)
        self.guest.stores(self.line)

    def event_ended(self, due: Due) -> None:
        if self.silent:
            return
        line = self.line
        assert line is not None
        self.compared += 1
        self.differ(line, "an event", True, "ev" in line)
        self.differ(line, "due", due.tick, line.get("due"))
        if line.get("ev") == "vblank":
            self.differ(line, "VBlank", self.console.vblanks[-1].number, line["vb"])
            presents = self.console.vblanks[-1].presents
            found = {name: [f"{word:08x}" for word in words] for name, words in presents.items()}
            self.differ(line, "presents", found, dict(line.get("present", {})))
            self.differ(line, "frame", self.console.vblanks[-1].frame, line.get("frame"))
        self.after(line)


def _written(line: Line) -> dict[int, bytes]:
    """What the kernel had written in the end, by address; later pieces win."""
    known: dict[int, int] = {}
    for address, data, _ in line.get("wr", ()):
        if isinstance(data, str):
            known |= {_word(address) + n: byte for n, byte in enumerate(bytes.fromhex(data))}
    pieces: dict[int, bytearray] = {}
    start = last = -2
    for at in sorted(known):
        if at != last + 1:
            start = at
            pieces[start] = bytearray()
        pieces[start].append(known[at])
        last = at
    return {at: bytes(piece) for at, piece in pieces.items()}


def _files(talk: Conversation) -> MemoryFiles:
    """The program's own file, of which only what was read is known, and the others on the card."""
    head = talk.head
    pieces: dict[str, dict[int, bytes]] = {}
    for line in talk.lines:
        if line.get("call") == "FSFILE_Read":
            (data,) = [*_written(line).values()] or [b""]
            pieces.setdefault(line["path"], {})[_word(line["cmd"][1])] = data
    own = head["own_file"]
    files = {own["path"]: MemoryFile(own["size"], pieces.get(OWN_FILE, {}))}
    for one in head.get("card", ()):
        files[one["path"]] = MemoryFile(one["size"], pieces.get(one["path"], {}))
    return MemoryFiles(files)
