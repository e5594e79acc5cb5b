"""Running grids: blocks through slots of the work area and threads of the host, until all have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from time import perf_counter
from typing import Any

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sampling.store import MIN_AREA, Textures
from pocketgpu.maxwell.sass.isa.bundles import index_at
from pocketgpu.maxwell.sass.launch.block_runner import run_blocks
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.faults import Buffer, Fault
from pocketgpu.maxwell.sass.launch.kernel_handles import set_kernels
from pocketgpu.maxwell.sass.launch.prepared import Prepared, PreparedLaunches
from pocketgpu.maxwell.sass.launch.reports import Reports, Words, warps_of
from pocketgpu.maxwell.sass.launch.special_code import SpecialCode
from pocketgpu.maxwell.sass.thread_memory.work import (
    BANK_SIZE,
    BANKS,
    BLOCK,
    DONE,
    FINISHED,
    LANES,
    LAUNCH,
    MAX_THREADS,
    STEP,
    STUCK,
    TURN_OVER,
    WARP,
    WARPS,
    SlotLayout,
)
from pocketgpu.maxwell.sass.warp.encoding import at_hand, encode, handles_of, interpret, interpret_warp
from pocketgpu.maxwell.sass.warp.row import run_warp

SHARED_WINDOW, LOCAL_WINDOW = 0x0100_0000, 0x0200_0000
"""Where generic addresses show shared and local memory; global memory begins at 4 GiB for compilers."""
SLICE = 1 << 16
"""Steps of a warp's turn."""
TURNS = 64
"""Turns that a block has before others run."""
LIMIT = 1 << 30
"""Steps of a warp after which it is taken to hang."""
BUDGET = 1 << 40
"""Steps of all warps of a grid after which it is taken to hang."""
MAX_BLOCKS = (1 << 31) - 1
MAX_SHARED = 48 << 10
MAX_SLOTS = 512
"""Blocks that can be under way at once."""
MAX_SPECIAL = 1 << 13
"""Longer programs (in instructions) are only interpreted, because specialising would take too long. No compiler makes
such programs."""
PROGRAM_ROOM = 8 << 20
"""Bytes for the instructions of a program that is interpreted."""
ENCODED = 64
"""So many programs are kept in the form that the interpreter reads."""


@dataclass(frozen=True)
class LaunchRules:
    """How a grid runs, apart from its sizes.

    shared_window, local_window: where generic addresses show these memories. budget: steps after which the grid is
    taken to hang. in_order: block after block, on one thread of the host. texture_bank: the constant bank with handles
    of textures. nan_integer: the word that NaN becomes as an integer. backwards: the last block runs first, to see
    whether the order of blocks matters. first, last: only the blocks [first, last) run; None: to the end.
    """

    shared_window: int = SHARED_WINDOW
    local_window: int = LOCAL_WINDOW
    budget: int = BUDGET
    in_order: bool = False
    texture_bank: int = 0
    nan_integer: int = 0
    backwards: bool = False
    first: int = 0
    last: int | None = None


RULES = LaunchRules()
_MOST_VIEWS = 256

Watch = Callable[[Code, int], int]
"""Given a program and the handle of the interpreter: the handle of code that runs warps instead, to observe them.

The code is called as `interpreter.interpret_warp` is.
"""


@dataclass
class Result:
    """The result of a launch.

    steps: instructions of all warps; lane_steps: of all lanes, if they were counted. fault_count: what threads did
    wrong, an access of a thread each; faults: the first of these (up to 32 of a few blocks, 1000 in all, but one of
    each instruction), ordered by block and thread. hung: whether a warp did not end. seconds: that it took.
    """

    steps: int = 0
    lane_steps: int = 0
    fault_count: int = 0
    hung: bool = False
    seconds: float = 0.0
    faults: list[Fault] = field(default_factory=list, repr=False)

    def take(self, words: Words, at: int) -> None:
        """Add the counts of a record, which are 64 bits each. at: the byte offset of its STEPS and LANE_STEPS."""
        steps, lane_steps = words[at // 4 : at // 4 + 4].view(np.int64).tolist()
        self.steps += steps
        self.lane_steps += lane_steps


@dataclass
class _Shape:
    """One launch as it is set up in the work area.

    rounds: how often a block gets its turns before it is taken to hang. begun: blocks that have begun. over: whether
    the grid has used up its budget of steps. free: slots without a block.
    """

    code: Code
    layout: SlotLayout
    blocks: int
    first_slot: int
    reports: Reports
    rounds: int = 1
    budget: int = BUDGET
    begun: int = 0
    over: bool = False
    free: list[int] = field(default_factory=list)


class Launcher:
    """Runs grids on a GPU's memory.

    :param scratch: arena offset and size of a part of the work area for records and slots.
    :param threads: of the host, over blocks, where the program allows it.
    :param textures: what handles of textures mean. Without it there are no textures.
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
        self.memory, self.engine, self.events, self.threads = memory, engine, events, max(1, threads)
        at = (scratch[0] + 4095) & ~4095
        self._end = scratch[0] + scratch[1]
        if textures is None:
            self._end = (self._end - MIN_AREA) & -64
            textures = Textures(memory, engine, (self._end, MIN_AREA))
        self.textures = textures
        self.slice, self.turns = SLICE, TURNS
        self.watch: Watch | None = None
        """Observes launches for which `launch` gets no other one."""
        self.record = at
        self.ids = at + 4096
        self.constants = self.ids + 3 * 4096
        self._program = self.constants + BANKS * BANK_SIZE
        self._slots = self._program + PROGRAM_ROOM
        if self._slots + (1 << 20) > self._end:
            raise UsageError(f"{scratch[1]} bytes of work area are too few for launches")
        self._ids_of: tuple[int, ...] = ()
        self._banks: dict[int, bytes] = {}
        """What the constant banks of the work area hold."""
        self._encoded: dict[Any, Any] = {}
        self._interpreted: Any = None  # the program in the interpreter's room
        self._lock = threading.Lock()
        self._prepared = PreparedLaunches()
        self._record_words = memory.words(self.record, LAUNCH.size // 4)
        self._id_words = memory.words(self.ids, 3 * MAX_THREADS)
        self._slot_words: dict[tuple[int, int], Words] = {}

    def __repr__(self) -> str:
        return f"<launcher on {self.engine!r}, {self.threads} threads>"

    # -- records ----------------------------------------------------------------------------------------------------
    def _set_constants(self, constants: Mapping[int, bytes]) -> None:
        known = self._banks
        if known.keys() != constants.keys():
            for bank in known.keys() - constants.keys():
                self._set_bank(bank, b"")
        for bank, data in constants.items():
            if known.get(bank) != data:
                self._set_bank(bank, data)

    def _set_bank(self, bank: int, data: bytes) -> None:
        if 0 <= bank < BANKS:
            before, data = self._banks.get(bank, b""), data[:BANK_SIZE]
            at, arena = self.constants + bank * BANK_SIZE, self.memory.arena
            arena[at : at + len(data)] = np.frombuffer(data, np.uint8)
            if len(before) > len(data):
                arena[at + len(data) : at + len(before)] = 0
            self._banks[bank] = data

    def _set_ids(self, block: tuple[int, int, int]) -> None:
        if self._ids_of == block:
            return
        n = np.arange(MAX_THREADS, dtype=np.int32)
        x, y, _ = block
        self._id_words.reshape(3, MAX_THREADS)[:] = n % x, n // x % y, n // (x * y)
        self._ids_of = block

    def _set_record(
        self, code: Code, layout: SlotLayout, grid: Sequence[int], block: Sequence[int], turns: int, step_slice: int,
        rules: LaunchRules,
    ) -> None:  # fmt: skip
        words = self._record_words
        words[:] = 0
        put = lambda name, v: words.__setitem__(LAUNCH.offsets[name] // 4, v - ((v >> 31) << 32))
        if code.textures:
            self.textures.begin()
            put("TEXTURES", self.textures.book)
            put("TEXTURE_BANK", rules.texture_bank)
        set_kernels(words, self.engine, code, self.textures)
        for n in range(3):
            words[LAUNCH.GRID // 4 + n], words[LAUNCH.BLOCK // 4 + n] = grid[n], block[n]
        values = {
            "THREADS": block[0] * block[1] * block[2], "WARPS": layout.warps, "REGISTERS": code.registers,
            "WARP_STRIDE": layout.warp_stride, "WARPS_AT": WARPS, "SHARED_AT": layout.shared_at,
            "SHARED_SIZE": layout.shared, "LOCAL_AT": layout.local_at, "LOCAL_SIZE": layout.local,
            "LOCAL_STRIDE": layout.local_stride, "SLICE": step_slice, "CONSTANTS": self.constants,
            "THREAD_IDS": self.ids, "SMEM_SIZE": layout.shared, "SHARED_WINDOW": rules.shared_window,
            "LOCAL_WINDOW": rules.local_window, "TURNS": turns, "START": index_at(code.start),
            "NAN_INTEGER": rules.nan_integer,
        }  # fmt: skip
        words[[LAUNCH.offsets[name] // 4 for name in values]] = np.array([*values.values()], np.int64).astype(np.int32)

    # -- launching --------------------------------------------------------------------------------------------------
    def launch(
        self,
        code: Code,
        grid: Sequence[int],
        block: Sequence[int],
        constants: Mapping[int, bytes],
        shared: int = 0,
        local: int = 0,
        limit: int = LIMIT,
        count: bool = False,
        place: str = "",
        tier: str = "auto",
        rules: LaunchRules = RULES,
        watch: Watch | None = None,
        buffers: Callable[[], Sequence[Buffer]] = tuple,
    ) -> Result:
        """Run a grid to its end.

        :param grid, block: blocks of the grid, threads of a block, in x, y, z.
        :param constants: bytes of the constant banks.
        :param shared, local: bytes of shared memory of a block and of local memory of a thread.
        :param limit: steps after which a warp is taken to hang.
        :param count: count steps times active lanes as well, with code of its own.
        :param tier: "interpreter" or "specialised" to run on one of them only.
        :param rules: see `LaunchRules`.
        :param watch: observes the launch; blocks then run one after the other.
        :param buffers: gives the memory that the program may reach, which faults name.
        :raises UsageError: a size is out of range.
        """
        started = perf_counter()
        watch = watch or self.watch
        grid, block = three(grid, "grid"), three(block, "block")
        threads = block[0] * block[1] * block[2]
        blocks = grid[0] * grid[1] * grid[2]
        if threads > MAX_THREADS or blocks > MAX_BLOCKS:
            limits = f"a block has up to {MAX_THREADS} threads and a grid up to {MAX_BLOCKS} blocks"
            raise UsageError(f"{limits}, not {threads} and {blocks}")
        if not 0 <= shared <= MAX_SHARED * 2:
            raise UsageError(f"{shared} bytes of shared memory")
        words = self._record_words
        key = (block, shared, local, limit, count, tier, self.slice, self.turns)
        prepared = self._prepared.find(code, rules, key, words, grid) if watch is None else None
        if prepared is None:
            prepared = self._prepare(code, rules, key, grid, watch)
        layout = prepared.layout
        reports = Reports(code, grid, self._id_words, self.events, self.textures, place, buffers)
        shape = _Shape(code, layout, blocks, self._slots, reports, prepared.rounds, rules.budget)
        shape.free = list(range(min(prepared.room, blocks) - 1, -1, -1))
        self._set_constants(constants)
        self._set_ids(block)
        self.memory.open_version()
        self.memory.list_runs()
        result = Result()
        function, run = prepared.function, prepared.run
        first, last = rules.first, blocks if rules.last is None else min(rules.last, blocks)
        some = last - first < blocks
        one_by_one = rules.in_order or rules.backwards or some or watch is not None
        parts = self.threads if code.parallel and blocks > 1 and not one_by_one else 1
        if rules.backwards:
            pieces = ((n, n + 1) for n in range(last - 1, first - 1, -1))
            self._run(shape, run, function, result, pieces)
        elif parts == 1:
            self._run(shape, run, function, result, self._pieces(first, last))
        else:
            self._run_parallel(shape, run, function, result, parts)
        if code.textures:
            self.textures.check()
        if reports.found:
            result.faults = sorted(reports.found, key=lambda one: (one.block[::-1], one.thread[::-1], one.number))
        result.seconds = perf_counter() - started
        return result

    def _prepare(
        self, code: Code, rules: LaunchRules, key: tuple[Any, ...], grid: tuple[int, int, int], watch: Watch | None
    ) -> Prepared:  # fmt: skip
        """Set up the record of a launch; key: see `launch`."""
        block, shared, local, limit, count, tier, *_ = key
        threads = block[0] * block[1] * block[2]
        layout = SlotLayout(-(-threads // LANES), code.used_registers, shared, local)
        room = min((self._end - self._slots) // layout.size, MAX_SLOTS)
        if room < 1:
            raise UsageError(f"a block of this launch needs {layout.size} bytes, more than the work area has")
        step_slice = max(1, min(self.slice, limit))
        turns = min(self.turns, max(1, limit // step_slice))
        rounds = max(1, limit // (step_slice * turns))
        self._set_record(code, layout, grid, block, turns, step_slice, rules)
        function = self._function(code, layout, tier, count, block) if watch is None else self._watched(code, watch)
        prepared = Prepared(code, rules, layout, room, rounds, function, self.engine.get(run_blocks))
        ours = _special(code, layout, count, block)
        there = tier == "specialised" or (tier == "auto" and ours.loaded(self.engine))
        if there and watch is None and not (code.jumps or code.textures):
            # Code that is there needs nothing but the record.
            special = ours.handle(self.engine, self._record_words)
            prepared.record = self.memory.words(self.record, LAUNCH.size // 4).copy()
            prepared.record[LAUNCH.CLEAR // 4] = 0
            prepared.function = lambda: (special, 0)
            self._prepared.keep(key, prepared)
        return prepared

    @staticmethod
    def _pieces(at: int, last: int) -> Iterator[tuple[int, int]]:
        """Growing pieces of a grid, because faster code may be there after each of them."""
        size = 4
        while at < last:
            end = min(at + size, last)
            yield at, end
            at, size = end, size * 2

    def _function(
        self, code: Code, layout: SlotLayout, tier: str, count: bool, block: Sequence[int]
    ) -> Callable[[], tuple[int, int]]:  # fmt: skip
        """A function that gives two handles: of the code that runs warps, and of the code that goes on where that
        cannot (0: none)."""
        engine, ours = self.engine, _special(code, layout, count, block)
        special = lambda: ours.handle(engine, self._record_words)
        if tier == "specialised" or (tier == "auto" and self._prefer_special(code, ours)):
            if not code.jumps:
                return lambda: (special(), 0)
            general = self._interpreter(code)
            return lambda: (special(), general)
        general = self._interpreter(code)
        if tier == "interpreter" or len(code.flow.reached) > MAX_SPECIAL:
            return lambda: (general, 0)
        ours.later(engine)
        return lambda: (special(), general) if ours.loaded(engine) else (general, 0)

    def _watched(self, code: Code, watch: Watch) -> Callable[[], tuple[int, int]]:
        handle = watch(code, self._interpreter(code))
        return lambda: (handle, 0)

    def _prefer_special(self, code: Code, ours: SpecialCode) -> bool:
        """Whether to use specialised code at once: if it is there, or if the interpreter is not."""
        engine = self.engine
        if engine.evaluator != "numpy" and len(code.flow.reached) > MAX_SPECIAL:
            return False
        if engine.evaluator == "numpy" or ours.loaded(engine) or ours.has(engine):
            return True
        if len(code.flow.steps) * STEP.size > PROGRAM_ROOM:
            return True
        if at_hand(engine, code.operations):
            return False
        for op in sorted(code.operations):
            engine.later(interpret, op=op)
        engine.later(interpret_warp)
        return True

    def _interpreter(self, code: Code) -> int:
        """The handle of the interpreter; puts the program where it reads it."""
        steps, key = code.flow.steps, code.key
        if self._interpreted != key:
            words = self._encoded.pop(key, None)
            if words is None:
                words = encode(steps, handles_of(self.engine, code.operations)).reshape(-1).view(np.int32)
            if words.nbytes > PROGRAM_ROOM:
                raise UsageError(f"{len(steps)} instructions are more than the interpreter has room for")
            self._encoded[key] = words
            while len(self._encoded) > ENCODED:
                del self._encoded[next(iter(self._encoded))]  # the least recently used one
            self.memory.words(self._program, words.size)[:] = words
            self._interpreted = key
        record = self.memory.words(self.record, LAUNCH.size // 4)
        record[LAUNCH.PROGRAM // 4], record[LAUNCH.INSTRUCTIONS // 4] = self._program, len(steps)
        record[LAUNCH.CLEAR // 4] = 1
        return self.engine.handle(interpret_warp)

    def _run_parallel(
        self, shape: _Shape, run: Callable[..., None], function: Callable[[], tuple[int, int]], result: Result,
        parts: int,
    ) -> None:  # fmt: skip
        """Run pieces of the grid on several threads of the host."""
        piece = max(1, shape.blocks // (parts * 8))
        pieces = iter([(i, min(i + piece, shape.blocks)) for i in range(0, shape.blocks, piece)])
        errors: list[BaseException] = []

        def take() -> Any:
            while True:
                with self._lock:
                    found = next(pieces, None)
                if found is None:
                    return
                yield found

        def part() -> None:
            try:
                self._run(shape, run, function, result, take())
            except BaseException as error:
                errors.append(error)

        helpers = [threading.Thread(target=part, daemon=True) for _ in range(parts - 1)]
        for helper in helpers:
            helper.start()
        part()
        for helper in helpers:
            helper.join()
        if errors:
            raise errors[0]

    def _take_slot(self, shape: _Shape) -> int | None:
        with self._lock:
            return shape.free.pop() if shape.free else None

    def _run(
        self, shape: _Shape, run: Callable[..., None], function: Callable[[], tuple[int, int]], result: Result,
        pieces: Any,
    ) -> None:  # fmt: skip
        """Run blocks in order. A block that has used up its turns waits in its slot while others run."""
        waiting: list[tuple[int, int]] = []  # (slot, turns it has had)
        current: tuple[int, int] | None = None
        while True:
            if current is None:
                current = next(pieces, None)
            if current is not None and result.steps + shape.begun * shape.layout.clearing > shape.budget:
                self._end_early(shape, result)
                current, pieces = None, iter(())
            slot = self._take_slot(shape) if current is not None else None
            if current is not None and slot is not None:
                first, last = current
                at, words = self._slot(shape, slot)
                words[: BLOCK.FAULT_LIST // 4] = 0
                run(self.record, at, *function(), first, last)
                following = words.item(BLOCK.NUMBER // 4) + 1
                current = (following, last) if following < last else None
                if self._settle(shape, words, 1, result, following - first):
                    waiting.append((slot, 1))
                else:
                    shape.free.append(slot)
                continue
            if not waiting:
                return
            slot, had = waiting.pop(0)
            at, words = self._slot(shape, slot)
            run(self.record, at, *function(), -1, 0)
            if self._settle(shape, words, had + 1, result):
                waiting.append((slot, had + 1))
            else:
                shape.free.append(slot)

    def _slot(self, shape: _Shape, slot: int) -> tuple[int, Words]:
        """The arena offset of a slot, and its words."""
        size = shape.layout.size
        at = shape.first_slot + slot * size
        words = self._slot_words.get((at, size))
        if words is None:
            if len(self._slot_words) >= _MOST_VIEWS:
                self._slot_words.clear()
            words = self._slot_words[at, size] = self.memory.words(at, size // 4)
        return at, words

    def _settle(self, shape: _Shape, words: Words, had: int, result: Result, begun: int = 0) -> bool:
        """Take events and counts out of a slot; returns whether its block goes on later.

        had: rounds so far. begun: blocks that have begun since.
        """
        status = words.item(BLOCK.STATUS // 4)
        with self._lock:
            shape.begun += begun
            result.fault_count += shape.reports.faults(words)
            result.take(words, BLOCK.STEPS)
            if status == FINISHED:
                return False
            words[BLOCK.STEPS // 4 : BLOCK.LANE_STEPS // 4 + 2] = 0
            if status == TURN_OVER and had < shape.rounds:
                return True
            if status in (TURN_OVER, STUCK):
                result.hung = True
                for warp in warps_of(words, shape.layout):
                    if int(warp[WARP.STATE // 4]) != DONE:  # warps that have ended are in the counts of the slot
                        result.take(warp, WARP.STEPS)
                shape.reports.hang(words, shape.layout)
            return False

    def _end_early(self, shape: _Shape, result: Result) -> None:
        """Leave out the remaining blocks of the grid, because it has used up its steps."""
        with self._lock:
            if not shape.over:
                shape.reports.endless(shape.budget)
            result.hung = shape.over = True


def _special(code: Code, layout: SlotLayout, count: bool, block: Sequence[int]) -> SpecialCode:
    """The specialised code of a program, with what it depends on."""
    data, start, indirect = code.key
    static = {
        "code": data, "start": start, "indirect": indirect, "stride": layout.warp_stride, "count": count,
        "half_rows": block[0] == LANES // 2 and code.has_twins,
    }  # fmt: skip
    return SpecialCode(run_warp, code.flow, static)


def three(size: Sequence[int], name: str) -> tuple[int, int, int]:
    """One to three sizes as three; `name` is what they are of.

    :raises UsageError: there are more or fewer, or one is below 1.
    """
    if type(size) is tuple and 0 < len(size) <= 3:
        x, y, z = size if len(size) == 3 else (*size, 1, 1)[:3]
        if type(x) is type(y) is type(z) is int and x > 0 and y > 0 and z > 0:
            return x, y, z
    numbers = [int(v) for v in (size if isinstance(size, tuple | list | Sequence) else (size,))]
    if not 1 <= len(numbers) <= 3 or any(v < 1 for v in numbers):
        raise UsageError(f"{name} has one to three sizes above 0, not {size!r}")
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z
