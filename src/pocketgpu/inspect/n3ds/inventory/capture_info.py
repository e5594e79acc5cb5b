"""What is in a 3DS capture: counts by frame, features in use, and the choices that its pictures depend on.

The capture is replayed with an observer that leaves draws out: lists run, and each different draw state is described
once. The time is that of loads and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.n3ds_trace import N3DSTrace, NarrowWrite
from pocketgpu.errors import NoPictureError
from pocketgpu.events import Event
from pocketgpu.facts.choices import OF_CONSOLE
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.inspect.model.inventory import Doubt, Inventory
from pocketgpu.inspect.n3ds.inventory import doubts, features
from pocketgpu.inspect.n3ds.inventory.draw_state import DrawStates
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.observer import Run, Undrawn
from pocketgpu.pica.front.packets import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

_STAGE = PICA.field("GEOSTAGE_CONFIG.mode")
_POWER = EXTERNAL["VRAM_POWER"].address


@dataclass
class FrameCounts:
    """Counts of one frame. `list_words`: 32-bit words of its command lists."""

    index: int
    writes: int = 0
    loads: int = 0
    load_bytes: int = 0
    lists: int = 0
    list_words: int = 0
    draws: int = 0
    vertices: int = 0
    fills: int = 0
    transfers: int = 0
    texture_copies: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


@dataclass
class Program:
    """A shader program: `words` up to the last one that was written, `draws` that ran it."""

    unit: str
    entry: int
    words: int
    draws: int
    first: str


@dataclass(repr=False)
class CaptureInfo(Inventory[FrameCounts]):
    """What is in a capture of a 3DS. states: how many different states draws have."""

    programs: list[Program] = field(default_factory=list)
    states: int = 0

    @property
    def unseen(self) -> frozenset[str]:
        return doubts.UNSEEN

    def to_dict(self) -> dict[str, Any]:
        return {
            "totals": self.totals(), "states": self.states, "features": self.features_to_json(),
            "programs": [vars(program) for program in self.programs], "doubts": self.doubts_to_json(),
        }  # fmt: skip


class _Collector(Undrawn):
    """An observer that fills a CaptureInfo."""

    def __init__(self, trace: N3DSTrace) -> None:
        self._trace = trace
        self.info = CaptureInfo()
        self.frame = FrameCounts(0)
        self._states = DrawStates()
        self._programs: dict[tuple[str, bytes, int], Program] = {}
        self._frames_of: dict[int, set[int]] = {}  # by the id of a program
        self._happened: set[str] = set()  # in this frame, as `doubts.WHEN` names it

    # Notifications of the machine

    def memory_loaded(self, address: int, size: int) -> None:
        self.frame.loads += 1
        self.frame.load_bytes += size

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        self.frame.writes += len(addresses)
        self._happened.add(doubts.WRITE)
        if _POWER in addresses:
            self._happened.add(doubts.POWER)

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        self._happened.add(doubts.DISPLAY)

    def command_starts(self, words: Sequence[int]) -> None:
        self._happened.add(doubts.COMMAND)

    def draws(self, packets: DrawPackets, run: Run) -> None:
        self._happened.add(doubts.DRAW)
        self.frame.vertices += self._states.add(packets, self.frame.draws, self.frame.index)
        self.frame.draws += len(packets.registers)
        self._count_programs("vs", packets, range(len(packets.registers)))
        geometry = (packets.registers[:, _STAGE.register.offset] & _STAGE.mask) == GEOMETRY_STAGE.ON
        if geometry.any():
            self._count_programs("gs", packets, [i for i, on in enumerate(geometry.tolist()) if on])

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        self._happened.add(doubts.LIST)
        if size and self.machine.memory.address_of(offset) is not None:
            self.frame.lists += 1
            self.frame.list_words += size // 4
        self._note(doubts.of_list(ignored), ignored)

    def unit_starts(self, unit: str, words: Mapping[str, int]) -> None:
        if unit == "P3D":
            return
        place = self._place
        if unit != "PPF":
            self.frame.fills += 1
        elif EXTERNAL["PPF_FLAGS"]["texture_copy"].raw(words["PPF_FLAGS"]):
            self.frame.texture_copies += 1
        else:
            self.frame.transfers += 1
            self._happened.add(doubts.TRANSFER)
        self.info.use(features.of_unit(unit, words), 1, place)
        self._note(doubts.of_unit(unit, words), 1)

    def vblank(self, frame: int) -> None:
        """Look at the displays and begin the next frame."""
        read, place = self.machine.read_register, self._place
        for unit in range(2):
            names = [f"PDC{unit}_{name}" for name in ("CONTROL", "SELECT", "FORMAT", "ADDRESS_A0", "ADDRESS_A1")]
            registers = {name: read(EXTERNAL[name].address) for name in names}
            shown = list(features.of_display(registers, unit))
            self.info.use(shown, 1, place)
            if shown:
                self._note(doubts.of_display(registers, unit), 1)
        # The driver reads a register before it writes 8 or 16 bits of it.
        if any(isinstance(step, NarrowWrite) for step in self._trace.runs(self.frame.index)):
            self._happened.add(doubts.READ)
        self.info.touch((one for one, when in doubts.WHEN.items() if when & self._happened), [self.frame.index])
        self.info.frames.append(self.frame)
        self.frame = FrameCounts(self.frame.index + 1)
        self._happened &= doubts.LASTING

    def finish(self) -> CaptureInfo:
        """Describe what was gathered."""
        info = self.info
        for state in self._states:
            found = list(doubts.of_draw(state))
            self.info.use(features.of_draw(state), state.draws, state.first)
            self.info.note(found, state.draws, state.first)
            self.info.touch((doubt.choice for doubt in found), state.frames)
        for (unit, code, _), program in self._programs.items():
            found = list(doubts.of_program(code, unit == "gs"))
            self.info.note(found, program.draws, program.first)
            self.info.touch((doubt.choice for doubt in found), self._frames_of[id(program)])
        info.programs = list(self._programs.values())
        info.states = len(self._states)
        info.sort()
        if self._states.overflow:
            message = f"more than {len(self._states)} different draw states: the rest is only counted"
            info.events.append(Event("warning", "info.states", message, count=self._states.overflow))
            info.touch(OF_CONSOLE["3DS"], (frame.index for frame in info.frames))
        return info

    # Notes

    @property
    def _place(self) -> str:
        return f"f{self.frame.index}"

    def _note(self, found: Iterable[Doubt], count: int) -> None:
        """Count doubts of the current frame."""
        doubtful = list(found)
        self.info.note(doubtful, count, self._place)
        self.info.touch((doubt.choice for doubt in doubtful), [self.frame.index])

    def _count_programs(self, unit: str, packets: DrawPackets, draws: Iterable[int]) -> None:
        bank = f"{unit}_code"
        offsets = packets.versions(bank)
        entry_field = PICA.field(f"{unit[0].upper()}SH_ENTRYPOINT.entry")
        counted: dict[tuple[int, int], list[int]] = {}
        for i in draws:
            key = int(offsets[i]), entry_field.raw(int(packets.registers[i, entry_field.register.offset]))
            counted.setdefault(key, []).append(i)
        for (_, entry), with_it in counted.items():
            code = packets.seen(bank, with_it[0]).rstrip(b"\0")
            code += bytes(-len(code) % 4)
            program = self._programs.get((unit, code, entry))
            if program is None:
                name = "vertex" if unit == "vs" else "geometry"
                program = Program(name, entry, len(code) // 4, 0, packets.place)
                self._programs[unit, code, entry] = program
            program.draws += len(with_it)
            self._frames_of.setdefault(id(program), set()).add(self.frame.index)


def examine(
    capture: Capture, progress: Callable[[int], None] = lambda _: None, frames: int | None = None,
    switches: Mapping[str, str] | None = None,
) -> CaptureInfo:  # fmt: skip
    """Replay the first `frames` frames of a 3DS capture, or all, and describe them. `progress` is called after each.
    switches: values of choices for the replay, which decide what runs at all.

    :raises NoPictureError: the capture has no frames.
    :raises UsageError: it is of another console; `maxwell_info` is for those of a Switch.
    """
    from pocketgpu.capture.driver import drive, trace_of_3ds

    trace = trace_of_3ds(capture)
    if not trace.frame_count:
        raise NoPictureError("the capture has no frames", location=capture.path, hint="A frame ends with a marker.")
    collector = _Collector(trace)
    driver = drive(trace, switches=switches)
    driver.machine.observe(collector)
    for frame in driver.frames(range(trace.frame_count)[:frames], pictures=False):
        collector.info.events += frame.warnings
        progress(frame.index)
    return collector.finish()
