"""Plays conversations of programs of the Switch, and reports where the kernel answers something else first.

    cd REPOSITORY; POCKETGPU_RECORDINGS=... PYTHONPATH=src:tests python -m support.switch_conversations
    ... python -m support.switch_conversations hello-world barrier        # only these, with up to 8 differences each
    ... python -m support.switch_conversations --stand-in barrier         # messages are answered from the recording

Services that the console has answer for themselves; the others, and when their events are signalled, are the recorded
ones. With --stand-in all are, so that the kernel alone is tested.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pocketgpu.facts.choices.guests import STRICT_SWITCH
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.files import MemoryFile, MemoryFiles
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.objects import Event, KernelObject, Reset
from pocketgpu.guests.kernel.service import Session
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.recorded import Conversation, Line, RecordEndError
from pocketgpu.guests.processors.recorded_switch import MESSAGE, RecordedSwitch, translated
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.abi.pages import Kind
from pocketgpu.guests.switch.abi.sessions import ServiceSession
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.display.display import SCREEN, Present
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.services.hid_input import Input
from pocketgpu.maxwell.gm20b import GM20B

from . import recordings
from .playing import Player

SEND: Final = 0x21
_KINDS: Final = {"heap": Kind.HEAP, "stack": Kind.STACK}
_DURING: Final = ("gpu", "present", "shared", "message")
"""Events that happen in a call, and have a line after it."""
_SHOW: Final = {"vi:m", "vi:u"}
_FORMATS: Final = {1: "RGBA8", 2: "RGBX8", 4: "RGB565", 5: "BGRA8"}
_BLOCKS: Final = 3
"""The layout of blocks."""
_EXIT: Final = 4
"""The applet message that asks a program to end."""
_FEW: Final = 2
"""Nanoseconds that a clock of whole ticks may be off."""


def folder() -> Path:
    """Where conversations of the Switch lie."""
    return recordings.folder() / "guests" / "switch" / "conversations"


def names() -> list[str]:
    """All of them."""
    return sorted(path.name.removesuffix(".jsonl.xz") for path in folder().glob("*.jsonl.xz"))


def _word(text: str) -> int:
    return int(text, 16)


def asked_services(talk: Conversation) -> set[str]:
    """Names of services that a program asked for and got."""
    asked = (line["ipc"] for line in talk.lines if line.get("ipc", {}).get("cmdname") == "GetServiceHandle")
    return {bytes.fromhex(one["data"]).split(b"\0")[0].decode() for one in asked if "absent" not in one}


def files_of(talk: Conversation) -> MemoryFiles:
    """The card's files, of which only what was read is known."""
    opened: dict[int, str] = {}
    pieces: dict[str, dict[int, bytes]] = {}
    for line in talk.lines:
        ipc = line.get("ipc", {})
        if ipc.get("cmdname") == "OpenFile":
            (number,) = (at for where, at, _, kind in line["free"] if where == "wr0" and kind.startswith("object"))
            made = bytes.fromhex(line["wr"][0][1])[number : number + 4]
            path = next(data for _, data, _, role in line["in"] if role == "X0")
            opened[int.from_bytes(made, "little")] = bytes.fromhex(path).split(b"\0")[0].decode()
        elif ipc.get("to") == "IFile" and ipc.get("cmdname") == "Read":
            offset = int.from_bytes(bytes.fromhex(ipc["data"])[8:16], "little")
            data = next((data for _, data, _, role in line["wr"] if role == "B0"), "")
            if isinstance(data, str):
                pieces.setdefault(opened[ipc["object"]], {})[offset] = bytes.fromhex(data)
    return MemoryFiles({
        path: MemoryFile(one["size"], pieces.get(path, {})) for path, one in talk.head.get("files", {}).items()
    })  # fmt: skip


class Silent:
    """A server that is never asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def handle(self, request: object) -> None:
        """Nobody calls it."""


class StandIn:
    """Services whose answers are the recorded ones. real: those that answer for themselves; the port `sm:` among them
    gives only those."""

    def __init__(self, play: SwitchPlay, real: Mapping[str, Interface]) -> None:
        self.play, self.kernel, self.real = play, play.kernel, real
        self.objects: dict[str, KernelObject] = {}
        self.kernel.ports["sm:"] = Silent("sm:")
        self.silent: set[str] = set()
        self.send = self.kernel.calls[SEND]
        self.kernel.calls = {**self.kernel.calls, SEND: self.message}
        self.sizes = {
            line["obj"]: _word(line["r"][2]) for line in play.talk.lines if line.get("name") == "MapSharedMemory"
        }

    def object(self, name: str) -> KernelObject:
        """The object of a recorded name, such as "Event#2=applet-message"."""
        found = self.objects.get(name)
        if found is None:
            kind = name.partition("#")[0]
            service = self.real.get(name.partition("=")[2])
            if kind == "Session" and service is not None:
                return ServiceSession(service)
            if kind == "Session":
                found = Session(Silent(name))
            elif kind == "Event":
                found = Event(Reset.STICKY, name)
                found.outside = True
            else:
                found = MemoryBlock(name, memoryview(bytearray(self.sizes.get(name, 0x1000))))
            self.objects[name] = found
        return found

    def message(self, thread: Thread) -> None:
        """Let the service answer, or the recording."""
        session = self.kernel.object_of(thread, thread.registers[0])
        if isinstance(session, Session) and not isinstance(session.server, Silent):
            self.send(thread)
        else:
            self.answer(thread)

    def answer(self, thread: Thread) -> None:
        """Answer a message from the recording."""
        line = self.play.guest.line
        assert line is not None
        self.silent.add(line["ipc"].get("to", "a session"))
        numbers = self.play.guest.numbers
        for recorded, name in line.get("made", ()):
            numbers.learn("handle", _word(recorded), self.kernel.handles.add(self.object(name)) or 0)
        for number, (address, data, _, role) in enumerate(line.get("wr", ())):
            if not isinstance(data, str):
                continue
            stored = bytearray.fromhex(data)
            for where, at, size, kind in line.get("free", ()):
                if where == f"wr{number}" and kind == "handle":
                    value = numbers.of(kind, int.from_bytes(stored[at : at + size], "little"))
                    stored[at : at + size] = value.to_bytes(size, "little")
            self.play.guest.store(thread.tls if role == MESSAGE else _word(address), bytes(stored))
        thread.answer[0] = _word(line["o"]["0"])

    def before(self, line: Line) -> None:
        """Services' events are as a wait finds them."""
        if line["name"] != "WaitSynchronization":
            return
        for number, name in enumerate(line.get("objs", ())):
            event = self.objects.get(name)
            if isinstance(event, Event):
                index = _word(line["o"].get("1", "0")) if line["o"]["0"] == "0" else None
                event.on = number == index and "block" not in line

    def presented(self, line: Line) -> None:
        """A picture was shown, which moves time."""
        if not self.real.keys() & _SHOW:
            time = self.kernel.time
            time.now = max(time.now, time.ticks(line["next_time_ns"] + 1))
            self.play.console.vblank(time.now)


class SwitchPlay(Player):
    """A conversation of a Switch that is being played. stand_in: messages are answered from the recording. choices:
    other values than the trial kernel's."""

    guest: RecordedSwitch
    kernel: SwitchKernel

    def __init__(self, path: Path, *, stand_in: bool = False, choices: Mapping[str, str] | None = None) -> None:
        super().__init__(path)
        self.lines = deque(self.talk.lines)
        self.guest = RecordedSwitch(self.talk)
        self.buffers: dict[int, int] = {}
        """Where objects of memory with buffers lie in the arena, by their recorded numbers."""
        self.machine = GM20B(switches={**STRICT_SWITCH, **(choices or {})})
        self.console = SwitchConsole(self.guest, self.machine, files_of(self.talk))
        self.kernel = self.console.kernel
        self.guest.space = self.kernel.space
        self.kernel.pointer_buffer_size = self.talk.head["pointer_buffer_size"]
        self._load(self.talk.head)
        self._plan(self.talk.head)
        self.kernel.listeners.append(self)
        self.real = {} if stand_in else dict(self.kernel.services)
        complete = not stand_in and asked_services(self.talk) <= self.kernel.services.keys()
        self.services = None if complete else StandIn(self, self.real)

    def _load(self, head: Line) -> None:
        kernel = self.kernel
        for what, address, size, permission in head["map"]:
            if what != "tls" and not (what == "heap" and head["bare_heap"]):
                kernel.map_ram(what, _word(address), size, Permission(permission), _KINDS.get(what))
                if what == "heap":
                    kernel.heap = size
        first = head["thread1"]
        thread = kernel.make_thread(first["prio"], _word(head["image"]["base"]), _word(first["x0"]), _word(first["sp"]))
        for recorded, name in head["handles"]:
            one = thread if name.startswith("Thread") else kernel.process
            assert one is not None
            self.guest.numbers.learn("handle", _word(recorded), kernel.handles.add(one) or 0)

    def _plan(self, head: Line) -> None:
        """What the player does. VBlank n, counted from 1, comes with present n - 1."""
        for number, bits in head["press"].items():
            held = Input(buttons=_word(bits))
            self.console.held.update({later: held for later in range(int(number), head["frames"] + 1)})
        for number, messages in head["messages"].items():
            if messages == [_EXIT]:
                self.console.closes_at = int(number)

    def play(self, most: int = 20) -> None:
        """Go on to the end, which is the last line, or until there are too many differences."""
        super().play(most)
        if len(self.differences) < most:
            self._events(_ALL_EVENTS)

    @property
    def whole(self) -> bool:
        """Whether all lines were played."""
        return not self.lines

    # -- what happens -----------------------------------------------------------------------------------------------
    def call_starts(self, thread: Thread, number: int) -> None:
        self._events(_ALL_EVENTS, thread)
        if not self.lines:
            raise RecordEndError("there are no more lines")
        wanted, made = self.lines.popleft(), self.guest.line
        assert made is not None
        self.differ(made, "order of lines", made["s"], wanted["s"])
        if self.services is not None:
            self.services.before(made)
        if self.lines and self.lines[0].get("ev") == "gpu":
            self._fill_pushbuffers(self.lines[0])

    def _fill_pushbuffers(self, line: Line) -> None:
        """Put the words into memory that a submission names, as far as the recording has them."""
        for entry in line["entries"]:
            address = translated(self.guest.numbers, "gpuva", _word(entry["va"]))
            self.machine.memory.try_write(address, bytes.fromhex(entry.get("d", "")))

    def _gpu(self, line: Line) -> None:
        """The GPU has done what was submitted: it has counted. Without the words, the recording says how far."""
        for number, value in line["syncpt"].items():
            id = self.guest.numbers.of("syncpt", int(number))
            if all("d" in entry for entry in line["entries"]):
                self.differ(line, f"syncpoint {number}", self.machine.syncpoints[id], value)
            self.machine.syncpoints[id] = value

    def _events(self, kinds: tuple[str, ...], thread: Thread | None = None) -> None:
        """The events that come next in the recording."""
        while self.lines and self.lines[0].get("ev") in kinds:
            line = self.lines.popleft()
            self.compared += 1
            kind = line["ev"]
            if kind == "run":
                self._goes_on(line, thread)
            elif kind == "present":
                if self.services is not None:
                    self.services.presented(line)
                else:
                    self._present(line)
                self._time(line, "time after a present", line["next_time_ns"])
            elif kind == "message" and self.real and line["messages"] != [_EXIT]:
                self._message(line)
            elif kind == "gpu" and "nvdrv" in self.real:
                self._gpu(line)
            elif kind == "shared" and "hid" in self.real:
                self._shared(line)
            elif kind == "end":
                self.differ(line, "open handles", len(self.kernel.handles), len(line["open_handles"]))

    def _goes_on(self, line: Line, thread: Thread | None) -> None:
        """A thread runs."""
        self.differ(line, "thread that runs", thread and thread.number, line["t"])
        self._time(line, "time", line["time_ns"])

    def _present(self, line: Line) -> None:
        """A picture is shown: which buffer, how, and after what."""
        shown = self.console.vblanks[-1].presents.get(SCREEN) if self.console.vblanks else None
        if not isinstance(shown, Present):
            self.differ(line, "shown", shown, "a present")
            return
        surface, wanted = shown.surface, line["buffer"]
        self.differ(line, "number of the present", shown.number, line["frame"])
        found = (surface.width, surface.height, surface.format.partition("_")[0], surface.pitch or surface.row)
        self.differ(line, "buffer", found, (wanted["w"], wanted["h"], _FORMATS[wanted["fmt"]], wanted["pitch"]))
        layout = surface.block_height if wanted["layout"] == _BLOCKS else None
        self.differ(line, "blocks", layout, wanted["bh"] if wanted["layout"] == _BLOCKS else None)
        self.differ(line, "transform", surface.transform, line["transform"])
        ids = [(self.guest.numbers.of("syncpt", id), value) for id, value in line["fences"]]
        self.differ(line, "fences", list(shown.fences), ids)
        place = self.buffers.setdefault(wanted["nvmap"], shown.place - wanted["off"])
        self.differ(line, "place of the buffer", shown.place - wanted["off"], place)

    def _message(self, line: Line) -> None:
        """The console tells the program something."""
        applet = self.console.applet
        applet.docked = bool(line["mode"])
        for one in line["messages"]:
            applet.send(one)

    def _shared(self, line: Line) -> None:
        """hid has written into its shared memory."""
        view = self.console.hid.block.view
        for place, data in line["wr"]:
            at, wanted = _word(place), bytes.fromhex(data)
            self.differ(line, f"hid's memory at {place}", view[at : at + len(wanted)].hex(), data)

    def _time(self, line: Line, what: str, wanted: int) -> None:
        found = self.kernel.time.now * 10**9 // layout.CLOCK
        if abs(found - wanted) > _FEW:
            self.differ(line, what, found, wanted)

    def call_ended(self, thread: Thread, number: int) -> None:
        line = self.guest.line
        assert line is not None
        super().call_ended(thread, number)
        if "block" in line:
            self.guest.compare_memory(line, thread, lambda *found: self.differ(line, *found))

    def answered(self, thread: Thread, line: Line) -> None:
        def differ(what: str, found: Any, wanted: Any) -> None:
            self.differ(line, what, found, wanted)

        self.guest.forget_closed(line)
        self.guest.compare_registers(line, thread.answer, differ)
        if "block" not in line:
            self.guest.compare_memory(line, thread, differ)

    def after(self, line: Line) -> None:
        self._events(_DURING)


_ALL_EVENTS: Final = ("run", "counter", "end", *_DURING)


def report(name: str, most: int, *, stand_in: bool) -> str:
    """What a conversation shows, in lines."""
    play = SwitchPlay(folder() / f"{name}.jsonl.xz", stand_in=stand_in)
    try:
        play.play(most)
        failed = ""
    except Exception as error:
        failed = f"  {type(error).__name__}: {error}, in the call of s{(play.guest.line or {}).get('s')}\n"
    line = play.guest.line or {}
    state = "all" if play.whole and not play.differences else f"up to s{line.get('s')} {line.get('name')}"
    silent = sorted(play.services.silent) if play.services is not None else []
    more = f"; from the recording: {', '.join(silent)}" if silent and most > 1 else ""
    head = f"{name}: {play.compared} of {len(play.talk.lines)} lines, {state}{more}\n"
    told = [one for one in play.kernel.events if one.kind != "info"]
    rows = [f"  {one}" for one in play.differences[:most]] + [f"  {one.message}" for one in told[:4]]
    return head + "".join(f"{row}\n" for row in rows) + failed


def main() -> None:
    """For people."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="conversations; all of them if none are named")
    parser.add_argument("--stand-in", action="store_true", help="answer messages from the recording")
    options = parser.parse_args()
    for name in options.names or names():
        print(report(name, 8 if options.names else 1, stand_in=options.stand_in), end="", flush=True)


if __name__ == "__main__":
    main()
