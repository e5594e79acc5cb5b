"""Programs of the stages of a draw: found in memory, compiled, and set up to run.

A `StageLaunch` is one stage of the pipeline with its part of the work area: the launch record that `run_stage` takes,
maps, constant banks, and a slot for each thread of the host. `bind` sets a program up; whatever has not changed since
the last draw is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.events import EventLog
from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.programs.headers import HEADER_SIZE, Header
from pocketgpu.maxwell.graphics.programs.stage_program import PROGRAM_ROOM, StageProgram
from pocketgpu.maxwell.graphics.records import LANE_X, LANE_Y, MAP_WORDS, PAGE_ONE, PAGE_SLOTS, PAGE_ZERO
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sampling.store import Textures
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, WORD, index_at
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.maxwell.sass.launch import in_memory as programs
from pocketgpu.maxwell.sass.launch.kernel_handles import set_kernels
from pocketgpu.maxwell.sass.stages.stage import CONTROL, EVALUATION, GEOMETRY, PIXEL, VERTEX
from pocketgpu.maxwell.sass.thread_memory import work
from pocketgpu.maxwell.sass.thread_memory.work import (
    BANK_SIZE,
    BANKS,
    BLOCK,
    FAULT,
    FAULT_TEXT,
    FAULTS,
    INDEFINITE,
    LAUNCH,
    NO_TEXTURE,
    OVER_BUDGET,
    STACK_EMPTY,
    VECTOR,
    WARP,
)
from pocketgpu.maxwell.sass.warp.encoding import at_hand, interpret, interpret_warp

STAGES = (VERTEX, VERTEX, CONTROL, EVALUATION, GEOMETRY, PIXEL)
"""Stage of each number of the pipeline: it has two vertex programs, of which the first feeds the second."""
NAMES = ("vertex A", "vertex B", "tessellation control", "tessellation evaluation", "geometry", "pixel")
SLICE = 1 << 20
"""Steps of a warp's turn."""
LIMIT = 1 << 24
"""Steps after which a warp of a stage counts as hung."""
BUDGET = 1 << 29
"""Steps of all warps of a stage, in a thread of the host, after which the rest of a draw is left out: several thousand
for each block of pixels on the console's screen."""
MAX_LOCAL = 1 << 19
"""The most bytes of local memory of a thread."""
LOCAL_WINDOW, SHARED_WINDOW = 0xFF00_0000, 0xFE00_0000
"""Generic addresses of local memory unless registers set them, and of shared memory, which stages don't have."""
MAPS = ("IN_MAP", "OUT_MAP", "PATCH_MAP")
_RECORD_ROOM = 4096
_MAP_BYTES = 4 * MAP_WORDS
_BANKS_ROOM = 32 * BANK_SIZE
"""Constant banks of a stage; instructions can address 32 of them, of which the last always read as zero."""
_STAGE_ROOM = 2 * _RECORD_ROOM + _BANKS_ROOM + PROGRAM_ROOM
_BETWEEN = (PAGE_SLOTS + MAP_WORDS * VECTOR + 4095) & -4096
"""Bytes of the largest page between two vertex programs."""
ONE = 0x3F80_0000
MINUS_ONE = 0xBF80_0000
"""1.0 and -1.0 as f32."""
_ORIGINS = B197.values("SET_WINDOW_ORIGIN.MODE")
_NAN_AS_INTEGER = B197.values("SET_SHADER_CONTROL.FP32_F2I_NAN_BEHAVIOR")
FLAT_SHADED = B197.values("SET_SHADE_MODE").numbers("FLAT", "OGL_FLAT")
"""Values of SET_SHADE_MODE that use the colours of one vertex, in both numberings."""
MAX_SEEN = MAX_KNOWN = 4096
"""Limits of the caches of programs by address, and by content."""


@dataclass
class _Copied:
    """The source of a constant bank's contents."""

    address: int = -1
    offset: int = -1
    version: int = -1


class StageLaunch:
    """One stage of the pipeline, set up to run. record: arena offset of its launch record (what `run_stage` takes).

    Stages of a draw are bound in the order of the pipeline.
    """

    def __init__(self, programs: Programs, pipeline: int, at: int) -> None:
        self._programs, self.pipeline, self.record = programs, pipeline, at
        self.name = NAMES[pipeline]
        self.program: StageProgram | None = None
        self.slots: list[int] = []
        """A slot for each thread of the host."""
        self._constants = at + 2 * _RECORD_ROOM
        self._copied = [_Copied() for _ in range(BANKS)]
        self._maps: dict[str, Any] = {}
        self._final, self._interprets, self._tier = False, False, ""
        self._program_room = self._constants + _BANKS_ROOM
        self.words = programs.memory.words(at, LAUNCH.size // 4)
        self.filled_at = at + _RECORD_ROOM + len(MAPS) * _MAP_BYTES
        """Offset of the sizes of the filled constant banks; kernels fill banks, too (quick.py)."""
        filled = programs.memory.words(self.filled_at, BANKS)
        # The work area's contents are unknown at first: another machine may have used it.
        filled[:] = BANK_SIZE
        self._filled = filled.data
        self._watch: list[int] = []
        self._steps: list[int] = []

    @property
    def final(self) -> bool:
        """Whether the current code is final."""
        return self._final

    # -- set-up for a draw ------------------------------------------------------------------------------------------
    def bind(
        self,
        program: StageProgram,
        bindings: Sequence[Binding | None],
        texture_bank: int = 0,
        tier: str = "auto",
    ) -> bool:
        """Set a program up with its constant buffers. Returns whether there is room for it.

        Later writes to the buffers must have a newer version of the memory, as those of channels do. The caller has
        notified the textures that a draw begins.

        :param texture_bank: the constant bank with handles of textures (SET_BINDLESS_TEXTURE).
        :param tier: "interpreter" or "specialised" to use only that one.
        """
        if program is not self.program or tier != self._tier:
            if not self._set_program(program, tier):
                return False
            self._tier = tier
        if not self._final:
            self._choose(program, tier)
            if self._final and not self._interprets:
                program.prepared[self.pipeline] = self.slots, self.words.copy()
        self.begin_steps()
        if self.pipeline == 0:
            self.set(NEXT=0)
        if program.textures:
            self.set(TEXTURE_BANK=texture_bank)  # those after the last one read as zero
        for bank, wanted in program.banks(texture_bank).items():
            self._fill(bank, wanted, bindings[bank] if bank < len(bindings) else None)
        if self._programs.watch is not None:
            self._programs.watch(self)
        return True

    def begin_steps(self, first: int = 0) -> None:
        """Set step counts to zero, from this slot on."""
        view = self._programs.view
        for at in self._steps[first:] if first else self._steps:
            view[at] = view[at + 1] = 0

    def set(self, **values: int) -> None:
        """Set words of the launch record by name, until another program is bound."""
        for name, v in values.items():
            self.words[LAUNCH.offsets[name] >> 2] = (v + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000

    def follow(self, state: State) -> None:
        """Set words of the launch record from registers, as far as the program reads them: the shade mode, the
        direction of y, generic addresses of local memory, the integer that NaN converts to."""
        if self.program is not None and self.program.asks_registers:
            behaviour = state.field("SET_SHADER_CONTROL", "FP32_F2I_NAN_BEHAVIOR")
            self.set(
                FLAT=int(state.word("SET_SHADE_MODE") in FLAT_SHADED),
                Y_DIRECTION=MINUS_ONE if state.field("SET_WINDOW_ORIGIN", "MODE") == _ORIGINS.LOWER_LEFT else ONE,
                LOCAL_WINDOW=state.word("SET_SHADER_LOCAL_MEMORY_WINDOW"),
                NAN_INTEGER=INDEFINITE if behaviour == _NAN_AS_INTEGER.PASS_INDEFINITE else 0,
            )

    def set_map(self, name: str, table: NDArray[np.int32]) -> int:
        """Set one of MAPS; returns its arena offset."""
        at = self._map_at(name)
        if self._maps.get(name) is not table:
            self._programs.memory.words(at, MAP_WORDS)[:] = table
            self._maps[name] = table
        return at

    def _map_at(self, name: str) -> int:
        return self.record + _RECORD_ROOM + MAPS.index(name) * _MAP_BYTES

    # -- the program ------------------------------------------------------------------------------------------------
    def _set_program(self, program: StageProgram, tier: str) -> bool:
        # The prepared code is specialised.
        prepared = program.prepared.get(self.pipeline) if tier != "interpreter" else None
        if prepared is not None and prepared[0] == self.slots and self.program is not None:
            self.program, self._final, self._interprets = program, True, False
            self.words[:] = prepared[1]
            return True
        self._final = False
        return self._set_up(program)

    def _set_up(self, program: StageProgram) -> bool:
        layout, header = program.layout(), program.header
        room = layout.size + (_BETWEEN if self.pipeline == 0 else 0)
        slots = self._programs.room_for_slots(self, room) if header.local_size <= MAX_LOCAL else None
        if slots is None:
            self._programs.refuse_memory(self, header.local_size)
            return False
        if slots != self.slots or self.program is None:
            for slot in slots:
                self._programs.memory.words(slot, work.SCRATCH // 4)[:] = 0
        self.program, self.slots = program, slots
        words = self.words
        words[:] = 0
        textures = self._programs.textures
        set_kernels(words, self._programs.engine, program, textures)
        if textures is not None and program.textures:
            self.set(TEXTURES=textures.book)
        registers = work.REGISTERS
        at = lambda n: 0 if n is None else registers + VECTOR * n
        self.set(
            THREADS=32, WARPS=1, REGISTERS=program.registers, WARP_STRIDE=layout.warp_stride, WARPS_AT=work.WARPS,
            SHARED_AT=layout.shared_at, LOCAL_AT=layout.local_at, LOCAL_SIZE=layout.local,
            LOCAL_STRIDE=layout.local_stride, SLICE=self._programs.turn, TURNS=self._programs.turns,
            BUDGET=self._programs.budget, CONSTANTS=self._constants,
            THREAD_IDS=self._programs.thread_ids, SHARED_WINDOW=SHARED_WINDOW, LOCAL_WINDOW=LOCAL_WINDOW,
            STAGE=header.stage, QUADS=int(header.stage == PIXEL), KILLS=int(header.kills),
            MOST_EMITTED=header.most_vertices,
            MASK_AT=at(header.mask_register), DEPTH_AT=at(header.depth_register), Y_DIRECTION=ONE,
            START=index_at(program.code.start), **{name: self._map_at(name) for name in MAPS},
        )  # fmt: skip
        self._watch = [(slot + word) >> 2 for slot in slots for word in (BLOCK.FAULT_COUNT, BLOCK.HUNG)]
        self._steps = [(slot + BLOCK.STEPS) >> 2 for slot in slots]
        return True

    def chain(self, second: StageLaunch) -> None:
        """Make the second vertex program run after this one, the first; running this stage runs both.

        Both are bound. This holds until this one is bound again.
        """
        assert self.program is not None
        layout = self.program.outputs
        self.set_map("OUT_MAP", layout.written)
        second.set_map("IN_MAP", layout.read)
        self.set(NEXT=second.record, OUT_STRIDE=layout.vectors * VECTOR)
        room = self.program.layout().size
        for slot, other in zip(self.slots, second.slots, strict=True):
            between = slot + room
            self._programs.memory.words(between + PAGE_ZERO, VECTOR // 4)[:] = 0
            self._programs.memory.words(between + PAGE_ONE, VECTOR // 4)[:] = ONE
            for name, v in (("NEXT_SLOT", other), ("BETWEEN", between)):
                self._programs.memory.words(slot + BLOCK.offsets[name], 1)[0] = v

    def _choose(self, program: StageProgram, tier: str) -> None:
        """Choose the code that runs the program: specialised code once it is compiled."""
        engine = self._programs.engine
        run = LAUNCH.RUN // 4
        handles = self.words[run : run + 4].view(np.int64)
        special = tier == "specialised" or (tier == "auto" and self._special_at_hand(program))
        general = 0
        if not special or (program.jumps and program.fits_interpreter):
            general = self._interpreter(program)
        handles[:] = (program.special.handle(engine, self.words), general) if special else (general, 0)
        # If a warp can be continued in the middle, registers that were not written must be zero.
        self.set(CLEAR=int(not special or general != 0))
        self._interprets = not special or general != 0
        self._final = special or tier == "interpreter"

    def _special_at_hand(self, program: StageProgram) -> bool:
        engine, ours = self._programs.engine, program.special
        if engine.evaluator == "numpy" or ours.loaded(engine):
            return True
        if program.asked:
            return False  # it is being compiled
        if ours.has(engine) or not program.fits_interpreter:
            return True
        if at_hand(engine, program.operations):
            ours.later(engine)
            program.asked = True
            return False
        # Neither is there: specialised code is compiled now, the interpreter for later programs.
        for op in sorted(program.operations):
            engine.later(interpret, op=op)
        engine.later(interpret_warp)
        return True

    def _interpreter(self, program: StageProgram) -> int:
        engine, at = self._programs.engine, self._program_room
        if self.words[LAUNCH.PROGRAM // 4] != at:
            encoded = program.encoded(engine)
            self._programs.memory.words(at, encoded.size)[:] = encoded.reshape(-1).view(np.int32)
            self.set(PROGRAM=at, INSTRUCTIONS=len(program.flow.steps))
        return engine.handle(interpret_warp)

    @property
    def plain(self) -> bool:
        """Whether launch record and maps are the whole state of the program, with final code."""
        return self._final and not self._interprets

    def bank_at(self, bank: int) -> int:
        """Offset of a constant bank."""
        return self._constants + bank * BANK_SIZE

    def parts(self) -> list[tuple[int, int]]:
        """Arena offset and bytes of everything that is set up for a program, except for constants."""
        maps = [(self._map_at(name), _MAP_BYTES) for name in self._maps]
        return [(self.record, LAUNCH.size), *maps]

    @property
    def maps(self) -> dict[str, NDArray[np.int32]]:
        """The maps that are set."""
        return dict(self._maps)

    def adopt(
        self, program: StageProgram | None, address: int = 0, maps: Mapping[str, NDArray[np.int32]] | None = None
    ) -> None:
        """Note that a kernel has set a program up, with its maps and constants; None: the state is unknown."""
        self.program, self._maps = program, dict(maps or {})
        self._final, self._interprets = program is not None, False
        if program is not None:
            program.address = address
        for copied in self._copied:
            copied.address = -1

    def forget(self) -> None:
        """Mark everything as not set up."""
        self.program, self._watch, self._steps = None, [], []

    # -- constants --------------------------------------------------------------------------------------------------
    def _fill(self, bank: int, wanted: int, binding: Binding | None) -> None:
        """Copy a buffer into a bank, as far as the program can read it; zero after the buffer."""
        copied, memory = self._copied[bank], self._programs.memory
        size = 0 if binding is None else min(binding.size, wanted)
        offset = None
        if binding is not None and size:
            offset = memory.offset_of(binding.address, size)
            version = -1 if offset is None else memory.newest(offset, size)
            same = copied.address == binding.address and copied.offset == offset and copied.version == version
            if same and self._filled[bank] == size and offset is not None:
                return
        elif self._filled[bank] == 0:
            return
        arena, at = memory.arena, self._constants + bank * BANK_SIZE
        if binding is not None and size:
            if offset is not None:
                arena[at : at + size] = arena[offset : offset + size]
            else:
                data, missed = memory.try_read(binding.address, size)
                arena[at : at + size] = np.frombuffer(data, np.uint8)
                if missed:
                    text = f"{self.name} program: constant buffer {bank} is not mapped at {binding.address:#x}"
                    self._programs.events.report("fault", "draw.constants", text, self._programs.place)
            copied.address, copied.offset = binding.address, -1 if offset is None else offset
            copied.version = version
        if self._filled[bank] > size:
            arena[at + size : at + self._filled[bank]] = 0
        self._filled[bank] = size

    # -- events -----------------------------------------------------------------------------------------------------
    @property
    def hung(self) -> bool:
        """Whether the program hangs in the current draw."""
        return any([self._programs.view[at] for at in self._watch[1::2]])

    def tell_failures(self, place: str) -> None:
        """After a draw: report faults and warps that did not end."""
        words = self._programs.view
        if not any([words[at] for at in self._watch]):
            return
        for slot, faults, hung in zip(self.slots, self._watch[::2], self._watch[1::2], strict=True):
            if words[faults]:
                self._tell_faults(slot, words[faults], place)
            if words[hung]:
                self._tell_hang(slot, words[hung], place)
            words[faults] = words[hung] = 0

    def _where(self, number: int, lane: int) -> str:
        if self.pipeline == len(STAGES) - 1:
            x, y = (number & 0xFFFF) + LANE_X[lane], (number >> 16 & 0xFFFF) + LANE_Y[lane]
            return f"pixel ({x}, {y})"
        return f"lane {lane} of the warp that begins with number {number}"

    def _tell_faults(self, slot: int, count: int, place: str) -> None:
        assert self.program is not None
        events = self._programs.events
        words = self._programs.memory.words(slot + BLOCK.FAULT_LIST, FAULTS * FAULT.size // 4).reshape(FAULTS, -1)
        for row in words[: min(count, FAULTS)]:
            get = lambda name, row=row: int(row[FAULT.offsets[name] // 4])
            low, index = get("LOW") & 0xFFFFFFFF, get("INSTRUCTION")
            va = low | (get("HIGH") & 0xFFFFFFFF) << 32
            text = FAULT_TEXT[get("KIND")].format(va=va, low=low, size=get("SIZE"))
            if get("KIND") == NO_TEXTURE and self._programs.textures is not None:
                text += f": {self._programs.textures.reason(low)}"
            at = self._named()
            if get("KIND") != STACK_EMPTY:  # it is found when there is nothing left to do
                at += f"+{self.program.code.offset_at(index)} ({self.program.flow.steps[index].name})"
            events.report("fault", "draw.fault", f"{at}: {text}; {self._where(get('NUMBER'), get('LANE'))}", place)
        if count > FAULTS:
            events.report("fault", "draw.fault", f"{self.name} program: further faults", place, count - FAULTS)

    def _named(self) -> str:
        assert self.program is not None
        return f"{self.name} program {self.program.address:#x}"

    def _tell_hang(self, slot: int, how: int, place: str) -> None:
        assert self.program is not None
        words = self._programs.memory.words(slot + work.WARPS, WARP.size // 4)
        resume = int(words[WARP.RESUME // 4])
        where = self._where(int(self._programs.memory.words(slot + BLOCK.NUMBER, 1)[0]), 0)
        if how == OVER_BUDGET:
            loop = f"more than {self._programs.budget} instructions; the rest of the draw is left out"
        else:
            loop = f"{self._programs.limit} instructions and no end around {self.program.code.offset_at(resume)}"
        text = f"{self._named()}: {loop}; {where}"
        self._programs.events.report("hang", "draw.hang", text, place)


@dataclass(slots=True)
class _ProgramAtAddress:
    """A program at an address, valid while its pages do not change."""

    pipeline: int
    offset: int
    size: int
    version: int
    program: StageProgram


class Programs:
    """All programs that draws of one machine use, and the stages of the pipeline.

    :param scratch: arena offset and size of a part of the work area.
    :param threads: of the host: how many slots each stage has.
    :param textures: the meaning of texture handles; required for programs with textures.
    :raises UsageError: the part is too small.
    """

    def __init__(
        self,
        memory: GpuMemory,
        engine: Engine,
        events: EventLog,
        scratch: tuple[int, int],
        threads: int = 1,
        textures: Textures | None = None,
    ) -> None:
        self.textures = textures
        self.memory, self.engine, self.events, self.threads = memory, engine, events, max(1, threads)
        self.view = memory.arena.view(np.int32).data
        self.place = ""
        self.budget = BUDGET
        """Steps of a stage's warps in a thread; like `limit`, it applies to programs that are set up from now on."""
        self.turn, self.turns = SLICE, LIMIT // SLICE
        self.watch: Callable[[StageLaunch], None] | None = None
        """Called with each stage that a draw has set up, before it runs; it may put another handle into LAUNCH.RUN."""
        start = (scratch[0] + 4095) & -4096
        self._end = scratch[0] + scratch[1]
        self.thread_ids = start
        stages = start + 3 * 4096
        self._slots = stages + len(STAGES) * _STAGE_ROOM
        if self._slots + (1 << 20) > self._end:
            raise UsageError(f"{scratch[1]} bytes of work area are too few for the stages of draws")
        memory.words(self.thread_ids, 32)[:] = np.arange(32)
        self.stages = [StageLaunch(self, n, stages + n * _STAGE_ROOM) for n in range(len(STAGES))]
        self._sizes = [0] * len(STAGES)
        self._code = programs.Programs(memory)
        self._known: dict[Any, StageProgram] = {}
        self._seen: dict[int, _ProgramAtAddress] = {}
        self.moves = 0
        """How often slots have moved."""

    @property
    def limit(self) -> int:
        """Steps after which a warp counts as hung."""
        return self.turn * self.turns

    @limit.setter
    def limit(self, steps: int) -> None:
        self.turn = min(steps, SLICE)
        self.turns = max(1, steps // self.turn)

    def find(
        self, pipeline: int, address: int, place: str = "", region: int | None = None
    ) -> StageProgram | None:  # fmt: skip
        """The program of a stage of the pipeline whose header is at a GPU address; None, and an event, if there is
        none.

        :param region: the program region, if the program can jump to other places of it.
        """
        self.place = place
        seen = self._seen.get(address)
        if seen is not None and seen.pipeline == pipeline:
            memory = self.memory
            if memory.offset_of(address, seen.size) == seen.offset:
                version = memory.newest(seen.offset, seen.size)
                if version == seen.version:
                    seen.program.address = address
                    return seen.program
        return self._look(pipeline, address, region)

    def _look(self, pipeline: int, address: int, region: int | None) -> StageProgram | None:
        memory, start = self.memory, address + HEADER_SIZE
        if memory.unmapped(address, HEADER_SIZE):
            return self._refuse(pipeline, address, "is not mapped")
        header = Header.of(memory.read(address, HEADER_SIZE))
        if not header.fits or header.stage != STAGES[pipeline]:
            return self._refuse(pipeline, address, f"has a header for stage {header.stage}")
        # Positions of control words are relative to the start of the code.
        base = start if region is None or (start - region) % BUNDLE or start < region else region
        try:
            code = self._code.find(base, start - base)
            key = (header, code.key)
            program = self._known.get(key)
            if program is None:
                if len(self._known) >= MAX_KNOWN:
                    self._known.clear()
                program = self._known[key] = StageProgram(code, header)
        except SassError as error:
            return self._refuse(pipeline, address, f"cannot be read: {error}")
        program.address = address
        size = HEADER_SIZE + len(code.data)
        offset = memory.offset_of(address, size)
        if offset is not None and code.start == WORD and len(code.origins) == 1:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[address] = _ProgramAtAddress(pipeline, offset, size, memory.newest(offset, size), program)
        return program

    def span(self, pipeline: int, address: int) -> tuple[int, int] | None:
        """Arena offset and bytes of a program that was found before: it is unchanged while the versions of these
        are."""
        seen = self._seen.get(address)
        if seen is None or seen.pipeline != pipeline or self.memory.newest(seen.offset, seen.size) != seen.version:
            return None
        return seen.offset, seen.size

    def _refuse(self, pipeline: int, address: int, what: str) -> StageProgram | None:
        text = f"the {NAMES[pipeline]} program at {address:#x} {what}"
        self.events.report("fault", "draw.program", text, self.place)
        return None

    def refuse_memory(self, stage: StageLaunch, local: int) -> None:
        """Report that there is no room for the threads of a program."""
        text = f"the {stage.name} program needs {local} bytes of local memory a thread: it is not run"
        self.events.report("fault", "draw.program", text, self.place)

    def room_for_slots(self, stage: StageLaunch, size: int) -> list[int] | None:
        """Slots of that size for a stage, one for each thread; None if there is no room."""
        n = stage.pipeline
        if size > self._sizes[n]:
            self.moves += 1
            sizes = [*self._sizes[:n], size, *self._sizes[n + 1 :]]
            if self._slots + sum(sizes) * self.threads > self._end:
                return None
            # Stages are placed one after the other: those after this one move.
            self._sizes = sizes
            for other in self.stages[n + 1 :]:
                other.forget()
        at = self._slots + sum(self._sizes[:n]) * self.threads
        return [at + i * self._sizes[n] for i in range(self.threads)]

    @property
    def hung(self) -> bool:
        """Whether any stage's program hangs in the current draw."""
        return any(stage.hung for stage in self.stages)

    def tell_failures(self, place: str = "", stages: Iterable[int] = range(len(STAGES))) -> None:
        """After a draw: report the failures of its stages."""
        for n in stages:
            self.stages[n].tell_failures(place)


__all__ = ["NAMES", "STAGES", "Programs", "StageLaunch", "StageProgram"]
