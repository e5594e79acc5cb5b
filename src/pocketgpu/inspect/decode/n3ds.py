"""The command stream of a 3DS capture: what the processor writes, and the lists that it starts, with their jumps.

The capture is replayed on a machine that draws nothing, because lists lie in memory that loads, fills and transfers
make. What is found is kept with the capture: a second decode reads no capture and moves no memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.capture.formats.citrace import LoadRun, NarrowWrite, WriteRun
from pocketgpu.capture.formats.gxlog import GxLog, GxRun
from pocketgpu.capture.pgc import PgcTrace
from pocketgpu.capture.replay import MIB, replay_load
from pocketgpu.facts.list_entry import header_columns
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.decode.pica_kernel import WORD_LIMIT
from pocketgpu.inspect.decode.pica_tracer import PicaState, PicaTracer
from pocketgpu.inspect.decode.rows import Rows, Words
from pocketgpu.inspect.decode.stream import GX, ISSUED_WRITES, JUMPED, LIST, RECORDED, WRITES, Stream, StreamBuilder
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.gsp.addresses import AddressMap
from pocketgpu.pica.watch import DrawPackets, WatchedN3DS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pocketgpu.capture.formats.citrace import Trace

MOST_JUMPS = 1 << 12
"""Jumps of one list that are followed."""
_STARTS = [PICA[f"CMDBUF_JUMP{channel}"].address for channel in range(2)]


class _Nobody:
    """Who watches: nobody."""

    def draws(self, packets: DrawPackets) -> None:
        pass

    def list_ran(self, words: int, ignored: int, place: str) -> None:
        pass

    def unit_starts(self, unit: str, words: Mapping[str, int], place: str) -> None:
        pass


class StreamN3DS(WatchedN3DS):
    """A 3DS that draws nothing, and notes what it is given to do."""

    def __init__(self, fcram: int) -> None:
        super().__init__(_Nobody(), fcram=fcram)

    def _power_on(self, timing: str, new: bool) -> None:
        super()._power_on(timing, new)
        self.builder = StreamBuilder("3DS")
        self.frame_number = 0
        self.numbers = 0
        self.issued = 0
        core = self._core
        run_list = partial(Core3D.run_list, core)

        def noted_list(offset: int, size: int, complete: bool = True) -> int:
            if complete:
                self._note_list(offset, size)
            return run_list(offset, size, complete)

        core.run_list = noted_list  # type: ignore[method-assign]

    def note(self, kind: int, words: Words, address: int = 0, flags: int = 0) -> None:
        """Another segment of the frame at hand."""
        self.builder.add(kind, words, self.frame_number, self.numbers, address, flags)
        self.numbers += 1

    def next_frame(self) -> None:
        """Lists are counted from 0 in each frame."""
        self.frame_number += 1
        self.numbers = 0

    def words_at(self, address: int, size: int) -> Words | None:
        """Words of guest memory; None where there is none."""
        offset = self.memory.offset_of(address, size) if size else None
        return None if offset is None else self.memory.arena[offset : offset + size].view(np.uint32).copy()

    def _note_list(self, offset: int, size: int) -> None:
        """A list, and those that it jumps to: they are in memory as they are now."""
        address = next(
            region.base + offset - start for region, start in self.memory.regions if 0 <= offset - start < region.size
        )
        self.note(LIST, self.memory.arena[offset : offset + size].view(np.uint32), address)
        jumps = Jumps(PicaState(self._core.registers.copy(), np.zeros(0, np.uint32), np.zeros(0, np.uint32)))
        for target, words in jumps.follow(self.builder.parts[-1], self.words_at, dict(self.switches)):
            self.builder.add(LIST, words, self.frame_number, self.numbers - 1, target, JUMPED)

    def write_registers(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Writes in order; each list stands behind the write that starts it."""
        starts = np.flatnonzero(np.isin(addresses, _STARTS) & ((values & 1) != 0)) + 1
        for first, end in zip([0, *starts.tolist()], [*starts.tolist(), len(addresses)], strict=True):
            if first < end:
                pairs = np.stack((addresses[first:end], values[first:end]), axis=1).astype(np.uint32)
                self.note(WRITES, pairs.reshape(-1), flags=self.issued)
                super().write_registers(addresses[first:end], values[first:end])


class Jumps:
    """Finds where a list jumps to, by decoding it. Lists without a write to a register that jumps need no look."""

    _IDS = tuple(PICA[f"CMDBUF_JUMP{channel}"].offset for channel in range(2))

    def __init__(self, state: PicaState) -> None:
        self.state = state

    def follow(
        self, words: Words, fetch: Callable[[int, int], Words | None], switches: Mapping[str, str]
    ) -> list[tuple[int, Words]]:
        """Addresses and words of what a list jumps to, in order. Lists in a circle are left at some time."""
        found: list[tuple[int, Words]] = []
        size, state = 0, self.state
        while self._may_jump(words) and len(found) < MOST_JUMPS:
            builder = StreamBuilder("3DS")
            builder.add(LIST, words, 0, 0)
            tracer = PicaTracer(builder.build(state), switches=switches)
            wanted = tracer.wanted_jump()
            target = fetch(*wanted) if wanted is not None else None
            if wanted is None or target is None or size + len(target) > WORD_LIMIT:
                break
            found.append((wanted[0], target))
            size, words, state = size + len(target), target, replace(state, pica=tracer.registers.copy())
        return found

    def _may_jump(self, words: Words) -> bool:
        ids, _, extra, step = header_columns(words)
        last = ids + extra * step
        return any(bool(((ids <= id) & (id <= last)).any()) for id in self._IDS)


def gather(trace: Trace | GxLog | PgcTrace, switches: Mapping[str, str] | None = None) -> Stream:
    """The whole stream of a capture."""
    machine = StreamN3DS(fcram=(256 if trace.needs_new_model else 128) * MIB)
    machine.load_initial(**vars(trace.initial))
    if isinstance(trace, PgcTrace):
        machine.load_tables(trace.tables)
    if isinstance(trace, GxLog | PgcTrace) and trace.virt_to_phys:
        machine.gsp.virt_to_phys = AddressMap(trace.virt_to_phys)
    initial = trace.initial
    state = PicaState(initial.pica.copy(), initial.external.copy(), initial.lcd.copy())
    for frame in range(trace.frame_count):
        for run in trace.runs(frame):
            if isinstance(run, WriteRun):
                machine.write_registers(run.addresses, run.values)
            elif isinstance(run, LoadRun):
                replay_load(machine, run, frame)
            elif isinstance(run, GxRun):
                machine.note(GX, np.array(run.words, np.uint32), flags=RECORDED)
                machine.issued = ISSUED_WRITES
                machine.gsp.gx(run.words, recorded=True, at=f"f{frame}/e{run.element}")
                machine.issued = 0
            elif isinstance(run, NarrowWrite):
                word, shift = run.address & ~3, 8 * (run.address & 3)
                mask = ((1 << run.width) - 1) << shift
                value = (machine.read_register(word) & ~mask) | (run.value << shift)
                machine.write_registers(np.array([word], np.uint32), np.array([value], np.uint32))
        machine.step_vblank()
        machine.next_frame()
    return machine.builder.build(state, frame_count=trace.frame_count)


def trace_rows(stream: Stream, switches: Mapping[str, str] | None = None, evaluator: str = "llvm") -> Rows:
    """The rows of a stream that `gather` found."""
    return PicaTracer(stream, switches=switches, evaluator=evaluator).trace()
