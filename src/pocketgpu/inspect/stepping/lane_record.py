"""Records the steps of one lane of a warp, from the warp's record in the arena."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from pocketgpu.control_flow import Block
from pocketgpu.inspect.stepping.company import Company
from pocketgpu.inspect.stepping.forced_registers import check_forced
from pocketgpu.inspect.stepping.groups import RegisterGroup
from pocketgpu.inspect.stepping.listing import ProgramListing, SourceLine
from pocketgpu.inspect.stepping.memory_words import memory_word
from pocketgpu.inspect.stepping.operand_plans import FLAGS, FLOW, PREDICATES, OperandPlace, OperandPlan, plan_of
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.schedule import MOST_TICKS, Schedule
from pocketgpu.inspect.stepping.step import Access, Change, Step
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.trace_memory import MOST_TOUCHED, Touched, TraceMemory
from pocketgpu.inspect.stepping.warp_memory import WarpMemory
from pocketgpu.lanes import BOOL, Kernel, Lang, kernel, run_once
from pocketgpu.maxwell.graphics.records import FRAGMENTS
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass import Program
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program.graph import blocks_of
from pocketgpu.maxwell.sass.program.steps import ALWAYS
from pocketgpu.maxwell.sass.program.steps import Step as Instruction
from pocketgpu.maxwell.sass.semantics import Flags, Unit, bits
from pocketgpu.maxwell.sass.stages.stage import PIXEL
from pocketgpu.maxwell.sass.thread_memory import access, atomics
from pocketgpu.maxwell.sass.thread_memory.work import (
    BANK_SIZE,
    BLOCK,
    DONE,
    FAULT,
    FAULT_TEXT,
    FAULTS,
    LANES,
    LAUNCH,
    REGISTERS,
    SCRATCH,
    VECTOR,
    WAITING,
    WARP,
    WARPS,
)
from pocketgpu.wording import agreed, counted

LOADS, STORES, ATOMICS = ("LD", "LDL", "LDS"), ("ST", "STL", "STS"), ("ATOM", "ATOMS", "RED")
SPACES = {"LDS": "shared", "STS": "shared", "ATOMS": "shared", "LDL": "local", "STL": "local"}
INDIRECT = ("BRX", "JMX")
KINDS = dict.fromkeys(PREDICATES + FLAGS, "bool")
EVERY = 0xFFFFFFFF
NOT_ENDED = "the program did not end"
"""`Trace.cut` until the lane has ended."""


class Listing(ProgramListing):
    """A program as traces show it.

    :param program: the decoded program; steps: the same for the interpreter.
    :param address_of: byte offset of an instruction; by default from the program's beginning.
    :param source_of: its file and line in the program's source text, None if that is not known.
    :param start: the instruction that runs first. indirect: addresses that indirect branches can go to.
    """

    def __init__(
        self,
        program: Program,
        steps: Sequence[Instruction],
        address_of: Callable[[int], int] | None = None,
        source_of: Callable[[int], tuple[str, int] | None] = lambda index: None,
        *,
        start: int = 0,
        indirect: Sequence[int] = (),
    ) -> None:
        self.program, self.steps = program, steps
        self._source_of = source_of
        self._address_of, self._start, self._indirect = address_of, start, indirect
        self._plans: dict[int, OperandPlan] = {}
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def address_of(self, number: int) -> int:
        return self.steps[number].address if self._address_of is None else self._address_of(number)

    def text(self, number: int) -> str:
        """An instruction as NVIDIA's disassembler writes it."""
        found = self._texts.get(number)
        if found is None:
            found = self._texts[number] = instruction_text(self.program[number]).strip().rstrip(" ;")
        return found

    def line_of(self, number: int) -> int | None:
        """The line of the source text that an instruction comes from, if it is known."""
        place = self._source_of(number)
        return None if place is None else place[1]

    def source(self, number: int) -> SourceLine | None:
        place = self._source_of(number)
        return None if place is None else SourceLine(*place)

    def blocks(self) -> list[Block]:
        branches = {one.address: self._indirect for one in self.program if one.op in INDIRECT} if self._indirect else {}
        return blocks_of(self.program, branches, (self._start,))

    def plan(self, index: int) -> OperandPlan:
        found = self._plans.get(index)
        if found is None:
            found = self._plans[index] = plan_of(self.steps[index])
        return found


@cache
def _condition(test: int, flags: tuple[int, ...]) -> bool:
    """A test of the condition code, by the semantics of warps."""
    seen: list[bool] = []
    arena = np.zeros(8, np.uint8)

    def ask(k: Lang) -> None:
        masks = Flags(*(k.fit(bool(flag), BOOL, LANES) for flag in flags))
        seen.append(bool(np.any(bits.test_flags(Unit(k, {"test": test}, flags=lambda: masks)).raw)))

    asking: Kernel = kernel(lanes=LANES)(ask)
    run_once(asking, arena, LANES)
    return seen[0]


class LaneRecord:
    """One lane of a warp's run. `before` and `after` are called around each instruction of the warp.

    where: launch record, slot (arena offsets), warp, lane. memory: of the machine, None if no word of memory is changed
    or kept. named: pieces of memory that are kept, (address, bytes, title), besides those that `company` asks for.
    over: recording has ended.
    """

    def __init__(
        self, words: np.ndarray[Any, Any], listing: Listing, trace: Trace, where: tuple[int, int, int, int], most: int,
        company: Company, memory: GpuMemory | None = None, named: Sequence[tuple[int, int, str]] = (),
    ) -> None:  # fmt: skip
        self.words, self.listing, self.trace, self.most = words, listing, trace, most
        self.launch, self.slot, self.warp, self.lane = where
        stride = int(words[(self.launch + LAUNCH.WARP_STRIDE) // 4])
        self.at = self.slot + WARPS + self.warp * stride
        self.count = (stride - REGISTERS) // VECTOR
        self.names = (*(f"R{n}" for n in range(self.count)), *PREDICATES, *FLAGS)
        self.over = False
        self._pending: tuple[int, int, list[int], int] | None = None
        self._running: Instruction | None = None
        self._acting = 0
        trace.kinds, trace.cut = KINDS, NOT_ENDED
        trace.groups = (
            RegisterGroup("registers", self.names[: self.count]), RegisterGroup("predicates", PREDICATES),
            RegisterGroup("condition code", FLAGS),
        )  # fmt: skip
        self.schedule = trace.schedule = Schedule(self.lane, array("i"), array("I"))
        others = {self.lane - company.near + lane: forced for lane, forced in company.forced.items()}
        self._forced = {lane: forced for lane, forced in {**others, self.lane: trace.overrides}.items() if forced}
        self._counts = dict.fromkeys(self._forced, 0)
        for forced in self._forced.values():
            check_forced(forced, self.names, memory=memory is not None)
        self._memory = WarpMemory(memory, words, where) if memory is not None else None
        self._named, self._keep = named, company.keep

    # -- the record ---------------------------------------------------------------------------------------------------
    def word(self, at: int) -> int:
        """A word of the warp's record."""
        return int(self.words[(self.at + at) // 4])

    def signed(self, at: int) -> int:
        return int(self.words[(self.at + at) // 4].view(np.int32))

    @property
    def state(self) -> int:
        """READY, WAITING, DONE."""
        return self.word(WARP.STATE)

    def registers(self) -> list[int]:
        """The lane's registers, predicates and condition code, in the order of `names`."""
        first = (self.at + REGISTERS) // 4
        found: list[int] = (
            self.words[first : first + self.count * LANES].reshape(self.count, LANES)[:, self.lane].tolist()
        )
        for at, count in ((WARP.PREDICATES, len(PREDICATES)), (WARP.FLAGS, len(FLAGS))):
            first = (self.at + at) // 4
            found += (self.words[first : first + count] >> np.uint32(self.lane) & np.uint32(1)).tolist()
        return found

    def _scratch(self, vector: int) -> int:
        return int(self.words[(self.slot + SCRATCH + vector * VECTOR) // 4 + self.lane])

    # -- around an instruction ----------------------------------------------------------------------------------------
    def turn(self) -> None:
        """A turn of the warp begins."""
        if self._memory is not None and self._memory.record is not None:
            self._memory.turn(len(self.schedule))

    def before(self, index: int, active: int) -> None:
        """The warp is about to run instruction `index` for the lanes `active`."""
        self._pending = None
        if self._ends(active):
            return
        if self._memory is not None and self._keep is not None:
            self.trace.memory, self._keep = self._memory.keep(self._named, self._keep), None
        self._force_all(active)
        if active:
            self.schedule.numbers.append(index)
            self.schedule.masks.append(active)
            self._running = self.listing.steps[index]
            if self.trace.memory is not None:
                self._acting = self._acts(self._running, active)
        if not active >> self.lane & 1:
            self._look_for_the_end()
            return
        registers = self.registers()
        if not self.trace.start:
            self.trace.start = dict(zip(self.names, registers, strict=True))
        self._pending = index, active, registers, int(self.words[(self.slot + BLOCK.FAULT_COUNT) // 4])

    def _ends(self, active: int) -> bool:
        """Whether so much is kept that recording ends here."""
        if active >> self.lane & 1 and len(self.trace.steps) >= self.most:
            kept = agreed("{is|are} kept, and the program had not ended", self.most)
            self.trace.cut = f"{counted(self.most, 'step')} {kept}"
            self.over = True
        elif len(self.schedule) >= MOST_TICKS:
            self.trace.cut = f"the warp ran {counted(MOST_TICKS, 'instruction')}, and the program had not ended"
            self.over = True
        return self.over

    def _force_all(self, active: int) -> None:
        """What-if, for all lanes that run now. Registers before the first step are those that the program is given."""
        if self._forced and not self.trace.start and active >> self.lane & 1:
            self.trace.start = dict(zip(self.names, self.registers(), strict=True))
        for lane, forced in self._forced.items():
            if active >> lane & 1:
                words = forced.get(self._counts[lane])
                self._counts[lane] += 1
                if words:
                    self._force(lane, words)

    def _force(self, lane: int, words: Mapping[str, int]) -> None:
        """Give registers, predicates or flags of a lane other values, or words of memory."""
        bit = np.uint32(1 << lane)
        for name, word in words.items():
            place = memory_word(name)
            if place is not None and self._memory is not None:
                self._memory.force(place, word, len(self.schedule), lane)
                continue
            n = self.names.index(name)
            if n < self.count:
                self.words[(self.at + REGISTERS + n * VECTOR) // 4 + lane] = word
                continue
            n -= self.count
            first, n = (WARP.PREDICATES, n) if n < len(PREDICATES) else (WARP.FLAGS, n - len(PREDICATES))
            at = (self.at + first) // 4 + n
            self.words[at] = self.words[at] | bit if word else self.words[at] & ~bit

    def after(self) -> None:
        """The warp has run the instruction."""
        one, self._running = self._running, None
        if self._memory is not None and self._memory.record is not None and one is not None:
            self._memory.after(one.op, len(self.schedule))
            self._note(one, self._memory.record)
        if self._pending is not None:
            index, active, before, faults = self._pending
            self._add(index, active, before, self.registers(), faults)
        self._look_for_the_end()

    def close(self) -> None:
        """The launch is over."""
        if self._memory is not None:
            self._memory.restore()

    def _look_for_the_end(self) -> None:
        if self.state == DONE or not self.word(WARP.ALIVE) >> self.lane & 1:
            self.over, self.trace.cut = True, ""

    def _add(self, index: int, active: int, before: list[int], after: list[int], faults: int) -> None:
        trace, one, plan = self.trace, self.listing.steps[index], self.listing.plan(index)
        went = self._guard(one, before)
        step = Step(
            len(trace.steps), index, self.listing.address_of(index), self.listing.text(index),
            tuple(self._value(place, before) for place in plan.reads), self._writes(plan, before, after, went),
            lanes=active, notes=self._faults(faults), line=self.listing.line_of(index),
        )  # fmt: skip
        if one.op in FLOW:
            step.flow = "taken" if went else "not taken"
        elif not went:
            step.skipped = True
        elif self.state == WAITING:
            step.flow = "waits"
        if went and one.op in STORES + ATOMICS and self._helps():
            step.notes = (*step.notes, "a helper of other pixels: memory stays as it is")
        elif went:
            step.accesses = self._accesses(one, before, after)
        if trace.steps:
            trace.steps[-1].to = step.address
        trace.steps.append(step)

    def _guard(self, one: Instruction, before: list[int]) -> bool:
        """Whether the instruction's guard is true in this lane."""
        holds = one.guard.n == PT or bool(before[self.count + one.guard.n])
        flags = tuple(before[-len(FLAGS) :])
        return holds != one.guard.negated and (one.test == ALWAYS or _condition(one.test, flags))

    def _helps(self) -> bool:
        """Whether the lane is a helper: its pixel is not covered, or was discarded. It has no effect on memory."""
        if int(self.words[(self.launch + LAUNCH.STAGE) // 4]) != PIXEL:
            return False
        return not self._covered() >> self.lane & 1

    def _covered(self) -> int:
        """The lanes of a pixel program that have an effect, a bit each."""
        at = int(self.words[(self.slot + BLOCK.FRAGMENTS) // 4])
        covered, killed = (int(self.words[(at + word) // 4]) for word in (FRAGMENTS.COVERED, FRAGMENTS.KILLED))
        return covered & ~killed

    def _number(self, place: OperandPlace, registers: list[int]) -> int:
        if place.file == "c":
            banks = int(self.words[(self.launch + LAUNCH.CONSTANTS) // 4])
            at = [banks + place.n * BANK_SIZE + (place.offset + 4 * i & BANK_SIZE - 4) for i in range(place.count)]
            found = [int(self.words[one // 4]) for one in at]
        elif place.file == "R":
            # Pairs can end beyond the program's registers. No machine defines that, but it must not fail here.
            found = [registers[place.n + i] if place.n + i < self.count else 0 for i in range(place.count)]
        else:
            found = [registers[self.count + place.n + (len(PREDICATES) if place.file == "CC" else 0)]]
        return sum(word << 32 * n for n, word in enumerate(found))

    def _value(self, place: OperandPlace, registers: list[int]) -> Value:
        return Value(place.names, self._number(place, registers), place.kind)

    def _writes(self, plan: OperandPlan, before: list[int], after: list[int], went: bool) -> tuple[Change, ...]:
        places = plan.writes if went else ()
        found = [
            Change(place.names, place.kind, self._number(place, before), self._number(place, after))
            for place in places if place.file != "R" or place.n + place.count <= self.count
        ]  # fmt: skip
        named = {name for one in found for name in one.names}
        others = [
            n for n, (x, y) in enumerate(zip(before, after, strict=True)) if x != y and self.names[n] not in named
        ]
        kinds = self.trace.kinds
        found += [Change((name := self.names[n],), kinds.get(name, "bits"), before[n], after[n]) for n in others]
        return tuple(found)

    def _faults(self, before: int) -> tuple[str, ...]:
        """Faults of this lane after the first `before` faults."""
        count = int(self.words[(self.slot + BLOCK.FAULT_COUNT) // 4])
        notes = []
        for n in range(before, min(count, FAULTS)):
            at = (self.slot + BLOCK.FAULT_LIST + n * FAULT.size) // 4
            row = {name: int(self.words[at + offset // 4]) for name, offset in FAULT.offsets.items()}
            if row["WARP"] == self.warp and row["LANE"] == self.lane:
                va = row["LOW"] | row["HIGH"] << 32
                notes.append("fault: " + FAULT_TEXT[row["KIND"]].format(va=va, low=row["LOW"], size=row["SIZE"]))
        return tuple(notes)

    # -- memory of all lanes ------------------------------------------------------------------------------------------
    def _acts(self, one: Instruction, active: int) -> int:
        """The lanes in which an access is made, a bit each."""
        if one.op not in LOADS + STORES + ATOMICS:
            return 0
        holds = EVERY if one.guard.n == PT else self.word(WARP.PREDICATES + 4 * one.guard.n)
        found = active & (holds ^ (EVERY if one.guard.negated else 0))
        if one.test != ALWAYS:
            masks = [self.word(WARP.FLAGS + 4 * n) for n in range(len(FLAGS))]
            found &= sum(
                1 << lane for lane in range(LANES) if _condition(one.test, tuple(mask >> lane & 1 for mask in masks))
            )
        if one.op in LOADS or int(self.words[(self.launch + LAUNCH.STAGE) // 4]) != PIXEL:
            return found
        return found & self._covered()

    def _note(self, one: Instruction, memory: TraceMemory) -> None:
        """Keep the accesses of all lanes."""
        if not self._acting or len(memory.touched) >= MOST_TOUCHED:
            return
        first = (self.slot + SCRATCH) // 4
        low, high = (self.words[first + n * LANES :][:LANES].tolist() for n in (access.LOW, access.HIGH))
        kind = "load" if one.op in LOADS else "store" if one.op in STORES else "atomic"
        size = self._size(one)
        for lane in range(LANES):
            if self._acting >> lane & 1:
                space, address = self._where(one, low[lane] | high[lane] << 32)
                memory.touched.append(Touched(len(self.schedule) - 1, lane, kind, space, address, size))
        self._acting = 0

    # -- memory -------------------------------------------------------------------------------------------------------
    def _accesses(self, one: Instruction, before: list[int], after: list[int]) -> tuple[Access, ...]:
        """The memory that an instruction accessed; the interpreter leaves the addresses in the record."""
        if one.op == "LDC":
            return self._constant(one, before, after)
        if one.op not in LOADS + STORES + ATOMICS:
            return ()
        space, address = self._where(one, self._scratch(access.LOW) | self._scratch(access.HIGH) << 32)
        size = self._size(one)
        if one.op in ATOMICS:
            old_words = () if one.op == "RED" or one.dest == RZ else self._words(one.dest, size, after)
            return (Access("atomic", space, address, size, old_words),)
        if one.op in STORES:
            return (Access("store", space, address, size, self._words(one.sources[-1].n, size, before)),)
        return (Access("load", space, address, size, self._words(one.dest, size, after)),)

    def _where(self, one: Instruction, address: int) -> tuple[str, int]:
        """The space of an access, and the address there."""
        space, base = (SPACES[one.op], 0) if one.op in SPACES else self._space(one, address)
        return space, address - base & EVERY if space in ("shared", "local") else address

    def _size(self, one: Instruction) -> int:
        """Bytes of an access."""
        if one.op not in ATOMICS:
            return access.BYTES[one.mods.get("size", 4) & 7]
        wide = bool(one.mods.get("size")) if one.mods.get("cas") else bool(atomics.wide_type(self._type(one)))
        return 8 if wide else 4

    def _words(self, first: int, size: int, registers: list[int]) -> tuple[int, ...]:
        """`size` bytes of registers from `first` on, as words."""
        numbers = [first if first == RZ else first + n for n in range(max(size // 4, 1))]
        cut = (1 << 8 * min(size, 4)) - 1
        return tuple(registers[n] & cut if n < self.count else 0 for n in numbers)

    @staticmethod
    def _type(one: Instruction) -> int:
        kind = one.mods.get("type", 0)
        return atomics.S64 if one.op == "ATOMS" and kind == 3 else kind

    def _space(self, one: Instruction, address: int) -> tuple[str, int]:
        """The memory space of a generic address, and where that begins: windows show shared and local memory."""
        if one.op in LOADS + STORES and one.mods.get("space"):
            return "global", 0
        for name in ("shared", "local"):
            window = int(self.words[(self.launch + LAUNCH.offsets[f"{name.upper()}_WINDOW"]) // 4])
            if window <= address < window + access.WINDOW:
                return name, window
        return "global", 0

    def _constant(self, one: Instruction, before: list[int], after: list[int]) -> tuple[Access, ...]:
        size = access.BYTES[min(one.mods.get("size", 4), 5)]
        register = 0 if one.base == RZ or one.base >= self.count else before[one.base]
        indexed = one.mods.get("mode", 0) >= 2
        bank = one.mods["bank"] + (register >> 16 if indexed else 0)
        offset = (register & 0xFFFF if indexed else register) + one.offset & EVERY
        return (Access("load", "constant", bank * BANK_SIZE + offset, size, self._words(one.dest, size, after)),)


__all__ = ["NOT_ENDED", "LaneRecord", "Listing"]
