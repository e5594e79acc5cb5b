"""The recorder of a 3DS capture's events: it plays all frames once, without drawing.

The machine runs lists, jumps, fills and transfers, so registers are exact; draws are only noted. So the events of a
frame are available long before its picture, and their numbers do not depend on how it is drawn later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import sized
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS
from pocketgpu.facts.lookup import register_at
from pocketgpu.inspect.model.event import Event, Pass, Range
from pocketgpu.inspect.n3ds.command_words import ListWords, pieces_of
from pocketgpu.inspect.n3ds.draw_inputs import DrawInputs, physical
from pocketgpu.inspect.n3ds.transfer_input import read_by_transfer
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import KIND_ELEMENTS, KIND_IMMEDIATE
from pocketgpu.pica.core.observer import Run, Undrawn
from pocketgpu.pica.core.registers import StaticRegisters, select_fields
from pocketgpu.pica.core.registers import field as register_field
from pocketgpu.pica.display.screens import framebuffers
from pocketgpu.pica.front import draw_target
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.wording import counted

_IDS, _MASKS = select_fields([*draw_target.FIELDS, "NUMVERTICES.count", "PRIMITIVE_CONFIG.mode"])
_MODES = {0: "triangles", 1: "strip", 2: "fan", 3: "geometry"}
_CONTROLLERS = tuple(
    (min(places), max(places))
    for places in ([one.address for one in EXTERNAL if one.name.startswith(f"PDC{unit}_")] for unit in range(2))
)
"""Addresses of the first and the last register of each of the two display controllers."""
KIND_TEXT = ("arrays", "elements", "immediate")
"""The name of a draw's kind, by KIND of its packet."""


@dataclass
class FrameNotes:
    """The events of a frame. passes: set when all its events are there."""

    events: list[Event] = field(default_factory=list)
    draws: list[Event] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)


class Recorder(Undrawn):
    """Notes events while nothing is drawn. frames: the frames that were played, and the current one."""

    def __init__(self) -> None:
        self.frames: list[FrameNotes] = [FrameNotes()]
        self._inputs: DrawInputs | None = None
        self._targets: dict[bytes, tuple[str, tuple[Range, ...], dict[str, Any]]] = {}
        self._open: Callable[[], ListWords] | None = None
        self._list: list[Event] = []
        self._places: list[tuple[Event, int, bool]] = []
        self._at = (0, 0)

    def settle(self, frame: int) -> None:
        """Give a finished frame its passes."""
        found = self.frames[frame]
        if found.passes or not found.events:
            return
        found.passes = passes_of(found.events)

    def _note(self, kind: str, title: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Event:
        frame = self.frames[-1]
        event = Event(len(self.frames) - 1, len(frame.events), kind, title, facts=facts or {}, **more)
        frame.events.append(event)
        return event

    # -- notifications of the machine -----------------------------------------------------------------------------
    def vblank(self, frame: int) -> None:
        self.frames.append(FrameNotes())

    def memory_loaded(self, address: int, size: int) -> None:
        self._note(
            "load", f"load {counted(size, 'byte')} to {address:#010x}", {"size": size}, writes=(Range(address, size),)
        )

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        names = {}
        for address, value in zip(addresses.tolist(), values.tolist(), strict=True):
            register = register_at(address)
            names[register.name if register else f"{address:#010x}"] = f"{value:#010x}"
        shown = ", ".join(f"{name} = {value}" for name, value in list(names.items())[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        self._note("show", f"display: {shown}{more}", {"registers": names}, reads=self._scanned(addresses))

    def _scanned(self, addresses: NDArray[np.uint32]) -> tuple[Range, ...]:
        """The framebuffers that the controllers of these registers scan out from now on."""
        machine, found = self.machine, []
        for unit, (first, last) in enumerate(_CONTROLLERS):
            if ((addresses >= first) & (addresses <= last)).any():
                for address, size in framebuffers(machine.memory, machine.peek, unit, machine.choices):
                    if machine.memory.offset_of(address, size) is not None:
                        found.append(Range(address, size))
        return tuple(dict.fromkeys(found))

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        if unit == "PPF":
            self._transferred(words)
        elif unit != "P3D":  # a list has its own events
            self._filled(unit, words)

    def _filled(self, unit: str, words: Mapping[str, int]) -> None:
        start, end = (int(EXTERNAL[name]["address"].decode(words[name])) for name in (f"{unit}_START", f"{unit}_END"))
        value, width = words[f"{unit}_VALUE"], EXTERNAL[f"{unit}_CONTROL"]["width"].raw(words[f"{unit}_CONTROL"])
        facts = {
            "unit": unit,
            "start": f"{start:#010x}",
            "end": f"{end:#010x}",
            "value": f"{value:#010x}",
            "width": width,
        }
        size = max(end - start, 0)
        writes = (Range(start, size),) if start and size else ()
        self._note("fill", f"{unit} fills {start:#010x}+{size:#x} with {value:#x}", facts, writes=writes)

    def _transferred(self, words: Mapping[str, int]) -> None:
        copy = bool(EXTERNAL["PPF_FLAGS"]["texture_copy"].raw(words["PPF_FLAGS"]))
        source, target = (int(EXTERNAL[f"PPF_{side}_ADDRESS"]["address"].decode(words[f"PPF_{side}_ADDRESS"]))
                          for side in ("INPUT", "OUTPUT"))  # fmt: skip
        writes = _physical(self.machine, [self.machine.transfer_of(words).written])
        read = read_by_transfer(self.machine, words)
        reads = () if read is None or not writes else (read,)
        facts = {name: f"{word:#010x}" for name, word in words.items()}
        if copy:
            text = f"texture copy of {counted(words['PPF_COPY_SIZE'], 'byte')}, {source:#010x} to {target:#010x}"
            self._note("copy", text, facts, writes=writes, reads=reads)
            return
        taken, given = (
            [EXTERNAL[name][axis].raw(words[name]) for axis in ("width", "height")]
            for name in ("PPF_INPUT_SIZE", "PPF_OUTPUT_SIZE")
        )
        text = f"display transfer {sized(*taken)} at {source:#010x} to {sized(*given)} at {target:#010x}"
        self._note("transfer", text, facts, writes=writes, reads=reads)

    def memory_copied(self, words: Sequence[int]) -> None:
        from pocketgpu.facts.gsp import REQUEST_DMA

        source, target, size = REQUEST_DMA.values(words, "source", "target", "size")
        places = [self.machine.gsp.virt_to_phys.translate(at, size) for at in (target, source)]
        writes, reads = (() if at is None or not size else (Range(at, size),) for at in places)
        facts = {"source": f"{source:#010x}", "target": f"{target:#010x}", "size": size, "command": REQUEST_DMA.name}
        self._note(
            "copy",
            f"{REQUEST_DMA.name} of {counted(size, 'byte')}, {source:#010x} to {target:#010x}",
            facts,
            writes=writes,
            reads=reads,
        )

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        facts = {"ranges": [[f"{address:#010x}", size] for address, size in ranges]}
        size = sum(size for _, size in ranges)
        self._note("flush", f"cache written back: {counted(size, 'byte')} in {counted(len(ranges), 'range')}", facts)

    def list_starts(self, offset: int, size: int) -> None:
        place = self.machine.memory.address_of(offset)
        text = f"at {place:#010x}" if place is not None else "without memory"
        event = self._note("list", f"command list {text}, {counted(size // 4, 'word')}", {"size": size})
        self._list, self._places, self._at = [event], [], (offset, size)

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        if not self._list:
            return
        pieces = pieces_of(self.machine.memory, *self._at, jumps)
        whole = ListWords(pieces)
        self._list[0].reads = tuple(
            Range(one.address, one.words.nbytes) for one in pieces if one.address is not None and len(one.words)
        )
        self._list[0].made_by = lambda: whole.words(0, whole.size)
        cut = _Cuts(whole, [(offset, immediate) for _, offset, immediate in self._places])
        for number, (event, _, _) in enumerate(self._places):
            event.made_by = partial(cut.words, number)
        self._list = []

    def draws(self, packets: DrawPackets, run: Run) -> None:
        keys = packets.registers[:, _IDS] & _MASKS
        if self._inputs is None:
            self._inputs = DrawInputs(self.machine)
        inputs = self._inputs.of(packets)
        frame = self.frames[-1]
        for n in range(len(packets)):
            raw = keys[n].tobytes()
            known = self._targets.get(raw)
            if known is None:
                known = self._targets[raw] = self._describe(keys[n])
            target, writes, facts = known
            kind = int(packets.kinds[n])
            number = len(frame.draws)
            vertices = facts["vertices"]
            if kind == KIND_IMMEDIATE:
                per = register_field("VSH_NUM_ATTR.count").field.raw(int(packets.registers[n, _ATTRIBUTES])) + 1
                vertices = int(packets.immediate[n]) // per
            what = "indices" if kind == KIND_ELEMENTS else "vertices"
            text = f"draw {number}: {vertices} {what}, {facts['primitives']}"
            event = self._note(
                "draw", text, {**facts, "vertices": vertices, "kind": KIND_TEXT[kind], "target": target},
                draw=number, writes=writes, reads=inputs[n],
            )  # fmt: skip
            frame.draws.append(event)
            self._places.append((event, int(packets.places[n]), kind == KIND_IMMEDIATE))

    def _describe(self, row: NDArray[np.uint32]) -> tuple[str, tuple[Range, ...], dict[str, Any]]:
        get = StaticRegisters(dict(zip(_IDS.tolist(), row.tolist(), strict=True)))
        facts = {"vertices": get("NUMVERTICES.count"), "primitives": _MODES[get("PRIMITIVE_CONFIG.mode")]}
        return describe_target(get), _target_ranges(self.machine, get), facts


def passes_of(events: Sequence[Event]) -> list[Pass]:
    """Groups of consecutive events with the same target. Events between two passes belong to the later one, except
    transfers: they read what the earlier one has drawn."""
    passes: list[Pass] = []
    waiting: list[Event] = []

    def join(row: Pass, some: Sequence[Event]) -> None:
        for event in some:
            event.pass_ = row.number
        row.events += some

    for event in events:
        target = event.facts.get("target")
        waiting.append(event)
        if target is None:
            continue
        if not passes or passes[-1].target != target:
            taken = max((n + 1 for n, one in enumerate(waiting) if one.kind in ("transfer", "show")), default=0)
            if passes:
                join(passes[-1], waiting[:taken])
                del waiting[:taken]
            passes.append(Pass(event.frame, len(passes), target))
        join(passes[-1], waiting)
        waiting = []
    if waiting:
        if not passes:
            passes.append(Pass(waiting[0].frame, 0, ""))
        join(passes[-1], waiting)
    return passes


_ATTRIBUTES = register_field("VSH_NUM_ATTR.count").register.offset


class _Cuts:
    """Where the words of each draw of a list end; computed at the first use."""

    def __init__(self, whole: ListWords, draws: list[tuple[int, bool]]) -> None:
        self._whole, self._draws = whole, draws
        self._bounds: list[int] | None = None

    def words(self, number: int) -> Any:
        if self._bounds is None:
            self._bounds = [0]
            for offset, immediate in self._draws:
                end = self._whole.entry_end(offset, self._bounds[-1], immediate)
                self._bounds.append(max(end, self._bounds[-1]))
        return self._whole.words(self._bounds[number], self._bounds[number + 1])


def describe_target(get: StaticRegisters) -> str:
    """The render target that registers describe, as text."""
    width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
    color = FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), 4)]
    depth = DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format"))
    text = f"{sized(width, height)} {color.name} at {get('COLORBUFFER_LOC.address') << 3:#010x}"
    return text if depth is None else f"{text}, {depth.name} at {get('DEPTHBUFFER_LOC.address') << 3:#010x}"


def _target_ranges(machine: N3DS, get: StaticRegisters) -> tuple[Range, ...]:
    target = make_target(machine.memory, get)
    return () if isinstance(target, str) else _physical(machine, target.ranges)


def _physical(machine: N3DS, ranges: Sequence[tuple[int, int]]) -> tuple[Range, ...]:
    return tuple(found for one in ranges if (found := physical(machine, one)) is not None)
