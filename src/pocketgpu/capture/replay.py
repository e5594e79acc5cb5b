"""Captures as callers see them: opened, replayed frame by frame. The replay on the 3DS machine is here.

The capture knows nothing of pictures and the machine nothing of files; this is where they meet. The machine is used
through the few calls of `Machine`, all of them in bulk, because the time between a frame's first event and its
marker is what gets measured and promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from pocketgpu.capture.formats.citrace import LoadRun, NarrowWrite, Trace, Words, WriteRun
from pocketgpu.capture.formats.gxlog import GxLog, GxRun
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.capture.formats.pgc.traces import PgcTrace
from pocketgpu.errors import GuestMemoryError, NoPictureError
from pocketgpu.events import Event, EventLog
from pocketgpu.pica.gsp.addresses import AddressMap

if TYPE_CHECKING:
    from pocketgpu.facts.memory_map import Region
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.pica.display.screens import Screen
    from pocketgpu.pica.gsp import Gsp
    from pocketgpu.pica.n3ds import N3DS

MIB = 1 << 20


class Counters(Protocol):
    """What a machine counts: since the last `reset`, `seconds` by name of the phase."""

    @property
    def draws(self) -> int: ...
    @property
    def triangles(self) -> int: ...
    @property
    def fragments(self) -> int: ...
    @property
    def seconds(self) -> Mapping[str, float]: ...
    def reset(self) -> None: ...


class Regions(Protocol):
    """The part of guest memory that replaying looks at."""

    @property
    def regions(self) -> Sequence[tuple[Region, int]]: ...


class Machine(Protocol):
    """The part of `pocketgpu.pica.n3ds.N3DS` that replaying needs."""

    @property
    def memory(self) -> Regions: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def stats(self) -> Counters: ...
    @property
    def screens(self) -> Mapping[str, Screen]: ...
    @property
    def gsp(self) -> Gsp: ...

    def load_initial(
        self,
        *,
        external: Words,
        lcd: Words,
        pica: Words,
        default_attributes: Words,
        vs_code: Words,
        vs_opdescs: Words,
        vs_uniforms: Words,
        gs_code: Words,
        gs_opdescs: Words,
        gs_uniforms: Words,
    ) -> object: ...

    def load_tables(self, tables: Mapping[str, Words], /) -> object: ...
    def load_memory(self, pa: int, data: bytes | memoryview, /) -> object: ...
    def write_registers(self, addresses: Words, values: Words, /) -> object: ...
    def read_register(self, pa: int, /) -> int: ...
    def step_vblank(self) -> object: ...
    def finish(self) -> object: ...


class Frame:
    """One replayed frame.

    index: its number in the capture. draws, triangles, fragments: how many the machine counted; counts: these by
    name, and whatever else the console counts. milliseconds: from the first event to the marker, all GPU work done;
    phases: the same time by name of the phase, in milliseconds.
    warnings: the machine's events since the frame yielded before, those of frames passed over included.
    machine: as it stands after this frame; it moves on when the next frame is asked for.
    """

    def __init__(
        self,
        index: int,
        machine: Machine | GM20B,
        milliseconds: float,
        counts: Mapping[str, int],
        seconds: Mapping[str, float],
    ) -> None:
        self.index = index
        self.machine = cast("N3DS | GM20B", machine)
        self.counts = dict(counts)
        self.draws = counts["draws"]
        self.triangles = counts.get("triangles", 0)
        self.fragments = counts.get("fragments", 0)
        self.milliseconds = milliseconds
        self.phases = {name: 1000.0 * duration for name, duration in seconds.items()}
        self.warnings: list[Event] = machine.events.drain()
        self._screens: dict[str, Screen] | None = None
        self._left = False

    def leave(self, pictures: bool) -> None:
        """The machine is about to move on: keep the pictures that it shows now, or do without."""
        if pictures:
            _ = self.screens
        self._left = True

    def _scan_out(self) -> dict[str, Screen]:
        """The pictures as memory holds them now."""
        return dict(cast("N3DS", self.machine).screens)

    @property
    def screens(self) -> dict[str, Screen]:
        """The pictures that the console shows, by name: on a 3DS "top", "bottom" and, where the right eye sees another
        one, "top-right"; on a Switch "screen". Read when first asked for, and kept when the replay goes on."""
        if self._screens is None:
            if self._left:
                hint = "Look at a frame before you ask for the next one, or render with pictures=True."
                raise NoPictureError("the machine has moved on without", location=f"f{self.index}", hint=hint)
            self._screens = self._scan_out()
            self.warnings += self.machine.events.drain()
        return self._screens

    def _screen(self, name: str) -> Screen:
        screen = self.screens.get(name)
        if screen is None:
            shown = ", ".join(self.screens) or "none"
            raise NoPictureError(f"no picture on screen '{name}'", location=f"f{self.index}", hint=f"Shown: {shown}.")
        return screen

    @property
    def top(self) -> Screen:
        """The upper screen (left eye). Raises NoPictureError if it shows nothing."""
        return self._screen("top")

    @property
    def bottom(self) -> Screen:
        """The lower screen. Raises NoPictureError if it shows nothing."""
        return self._screen("bottom")

    @property
    def top_right(self) -> Screen | None:
        """The upper screen's picture for the right eye; None if both eyes see the same."""
        return self.screens.get("top-right")

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"<Frame {self.index}: {counts}, {self.milliseconds:.3f} ms>"


class Capture:
    """An opened capture; get one with `pocketgpu.capture.open`.

    path: as given. frame_count: complete frames. warnings: what the file itself lacks (events of the replay are in
    each Frame). trace: the parsed file (its type tells the format), for those who want its events instead of its
    pictures.
    """

    def __init__(self, path: str, trace: Trace | GxLog | ChannelLog | PgcTrace) -> None:
        self.path = path
        self.trace = trace
        self.frame_count = trace.frame_count
        self.warnings: list[Event] = list(trace.warnings)

    @property
    def console(self) -> str:
        """The console that it is a recording of: "3DS" or "Switch"."""
        return "Switch" if isinstance(self.trace, ChannelLog) else "3DS"

    def render(
        self,
        frames: range | None = None,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
        machine: N3DS | GM20B | None = None,
        pictures: bool = True,
    ) -> Iterator[Frame]:
        """Replay from the start and yield the frames in `frames` (all if None) in rising order.

        Frames before and between them run too, because each builds on the last; what comes after is left alone.
        threads, switches, evaluator: as for `pocketgpu.N3DS` and `pocketgpu.GM20B`. machine: one that `self.machine`
        made, to be used again instead of a new one; it is switched off and on first, and the three others do not count.
        pictures: whether frames keep theirs when the machine moves on, for which every one is scanned out.

        Raises NoPictureError, at once, if the capture has no frames or not all of `frames`.
        """
        wanted = self._wanted(frames)
        if machine is None:
            machine = self.machine(threads, switches, evaluator)
        else:
            machine.reset()
        if isinstance(self.trace, ChannelLog):
            from pocketgpu.capture import channel_replay

            return channel_replay.replay(self.trace, cast("GM20B", machine), wanted, pictures)
        return replay(self.trace, cast("N3DS", machine), wanted, pictures)

    def machine(
        self, threads: int = 1, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> N3DS | GM20B:
        """A machine of the console that the capture is of, with as much memory as it needs."""
        # Imported late: reading and describing a capture must not wait for the machine and its compiler.
        if isinstance(self.trace, ChannelLog):
            from pocketgpu.capture import channel_replay

            return channel_replay.make_machine(self.trace, threads, switches, evaluator)
        from pocketgpu.pica.n3ds import N3DS

        fcram = (256 if self.trace.needs_new_model else 128) * MIB
        return N3DS(fcram=fcram, threads=threads, evaluator=evaluator, switches=switches)

    def _wanted(self, frames: range | None) -> range:
        if not self.frame_count:
            raise NoPictureError(
                "the capture has no frames", location=self.path, hint="A frame ends with a marker; there is none."
            )
        if frames is None:
            return range(self.frame_count)
        wanted = frames if frames.step > 0 else frames[::-1]
        if wanted and (wanted[0] < 0 or wanted[-1] >= self.frame_count):
            missing = wanted[0] if wanted[0] < 0 else wanted[-1]
            last = self.frame_count - 1
            raise NoPictureError(
                f"the capture has no frame {missing}", location=self.path, hint=f"It has frames 0 to {last}."
            )
        return wanted

    def __repr__(self) -> str:
        return f"<Capture {self.path!r}: {self.frame_count} frames>"


def replay(trace: Trace | GxLog | PgcTrace, machine: Machine, wanted: range, pictures: bool = True) -> Iterator[Frame]:
    """Replay `trace` on a fresh `machine` up to the last of `wanted` (rising, within the trace); yield those frames.

    The caller may keep a frame while the machine moves on: its pictures are then those of that moment, if `pictures`.
    """
    begin(trace, machine)
    for index in range(wanted[-1] + 1 if wanted else 0):
        runs = trace.runs(index)
        machine.stats.reset()
        start = perf_counter()
        play(machine, runs, index)
        milliseconds = 1000.0 * (perf_counter() - start)
        if index in wanted:
            counted = machine.stats
            counts = {name: int(getattr(counted, name)) for name in ("draws", "triangles", "fragments")}
            frame = Frame(index, machine, milliseconds, counts, counted.seconds)
            yield frame
            frame.leave(pictures)


def begin(trace: Trace | GxLog | PgcTrace, machine: Machine) -> None:
    """Put a fresh machine into the state that a capture starts with."""
    machine.load_initial(**vars(trace.initial))
    if isinstance(trace, PgcTrace):
        machine.load_tables(trace.tables)
    if isinstance(trace, GxLog | PgcTrace) and trace.virt_to_phys:
        machine.gsp.virt_to_phys = AddressMap(trace.virt_to_phys)


def play(machine: Machine, runs: Iterable[WriteRun | LoadRun | GxRun | NarrowWrite], index: int) -> None:
    """One frame: what `trace.runs(index)` gives, and the VBlank at its end."""
    for run in runs:
        if isinstance(run, WriteRun):
            machine.write_registers(run.addresses, run.values)
        elif isinstance(run, LoadRun):
            replay_load(machine, run, index)
        elif isinstance(run, GxRun):
            # A command of a log did run, whatever gsp would say of its alignment today.
            machine.gsp.gx(run.words, recorded=True, at=f"f{index}/e{run.element}")
        else:
            _write_narrow(machine, run)
    machine.step_vblank()
    machine.finish()


def replay_load(machine: Machine, run: LoadRun, frame: int) -> None:
    """Store the bytes of a load; an event tells of those that go where no memory is."""
    if not run.data:
        return
    try:
        machine.load_memory(run.address, run.data)
    except GuestMemoryError:
        left = len(run.data) - _load_parts(machine, run)
        if left:
            machine.events.report(
                "warning",
                "capture.unmapped-load",
                f"{left} of the {len(run.data)} bytes loaded to {run.address:#010x} go where no memory is",
                at=f"f{frame}/e{run.element}",
            )


def _load_parts(machine: Machine, run: LoadRun) -> int:
    """Store what lies in memory of a load that no single region holds (some lie next to each other); returns bytes."""
    stored = 0
    for region, _ in machine.memory.regions:
        low = max(run.address, region.base)
        high = min(run.address + len(run.data), region.base + region.size)
        if low < high:
            machine.load_memory(low, run.data[low - run.address : high - run.address])
            stored += high - low
    return stored


def _write_narrow(machine: Machine, run: NarrowWrite) -> None:
    """The registers are words: the rest of the word keeps what the machine says it holds."""
    word = run.address & ~3
    shift = 8 * (run.address - word)
    mask = ((1 << run.width) - 1) << shift
    value = (machine.read_register(word) & ~mask) | (run.value << shift)
    machine.write_registers(np.array([word], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32))
