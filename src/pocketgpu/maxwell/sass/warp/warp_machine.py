"""What instructions do to a warp, apart from control flow: arithmetic, memory, shuffles, special registers, barriers.

A `WarpMachine` is a warp. Its subclasses know where the registers are: `VariableMachine` in variables of specialised
code, `RecordMachine` in the warp's record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from pocketgpu.lanes import BOOL, I8, I16, I32, I64, U8, U16, Lang, Value
from pocketgpu.maxwell.sampling.calls import ABSENT
from pocketgpu.maxwell.sampling.records import COORDINATES, LOAD, SAMPLE, V_RESULT
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program.needs import space_of
from pocketgpu.maxwell.sass.program.registers import words_of
from pocketgpu.maxwell.sass.program.steps import WHOLE_QUAD, OperandSource, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Flags, Unit, float32, float64
from pocketgpu.maxwell.sass.stages.instructions import INSTRUCTIONS
from pocketgpu.maxwell.sass.stages.pixels import with_effect
from pocketgpu.maxwell.sass.stages.stage import NONE
from pocketgpu.maxwell.sass.thread_memory import access, atomics
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace, first_lane
from pocketgpu.maxwell.sass.thread_memory.work import (
    ALL_VOTED,
    BANK_SIZE,
    BARRIERS,
    LANES,
    LAUNCH,
    NOT_BUILT,
    SOME_VOTED,
    WARP,
)
from pocketgpu.maxwell.sass.warp.special_registers import special_registers

_SIGN = -0x80000000


class WarpMachine(ABC):
    """A warp, instruction by instruction. Subclasses have its registers."""

    def __init__(self, k: Lang, place: WarpPlace) -> None:
        self.k, self.place = k, place
        self.stage: int | Value = NONE
        self.constants = place.of_launch(LAUNCH.CONSTANTS)

    # -- provided by subclasses -----------------------------------------------------------------------------------
    @abstractmethod
    def register(self, n: int) -> Value:
        """A register (i32, 32 lanes)."""

    @abstractmethod
    def set_register(self, n: int, v: Value, mask: Value) -> None:
        """Write a register for the lanes of a mask."""

    @abstractmethod
    def predicate(self, n: int) -> Value:
        """A predicate, PT included."""

    @abstractmethod
    def set_predicate(self, n: int, v: Value, mask: Value) -> None:
        """Write a predicate for the lanes of a mask."""

    @abstractmethod
    def flags(self) -> Flags:
        """The condition code."""

    @abstractmethod
    def set_flags(self, flags: Flags, mask: Value) -> None:
        """Write the condition code for the lanes of a mask."""

    # -- operands ---------------------------------------------------------------------------------------------------
    def constant(self, bank: int, offset: int) -> Value:
        """A word of a constant bank, the same for all lanes."""
        k = self.k
        at = self.constants + (bank * BANK_SIZE + (offset & (BANK_SIZE - 4)))
        return k.splat(k.load(I32, at))

    def word(self, source: OperandSource, n: int = 0) -> Value:
        """Word `n` of a source, without its signs."""
        if source.kind == "reg":
            return self.register(source.n if source.n == RZ else source.n + n)
        if source.kind == "imm":
            return self.k.splat((source.bits >> 32 * n) & 0xFFFFFFFF)
        return self.constant(source.n, source.offset + 4 * n)

    def _signed(self, v: Value, source: OperandSource) -> Value:
        if source.absolute:
            v = v & 0x7FFFFFFF
        return v ^ _SIGN if source.negated else v

    def operand(self, source: OperandSource, letter: str) -> list[Value]:
        """What an operation takes for a source (see `Operation.sources`)."""
        k = self.k
        if letter in "fs":
            return [k.bits_f32(self._signed(self.word(source), source))]
        if letter == "d":
            if source.kind == "imm":
                bits = k.splat(source.bits - (source.bits >> 63 << 64), type=I64)
                high = k.low32(bits.lsr(32))
                return [k.bits_f64((k.to_i64(self._signed(high, source)) << 32) | (bits & 0xFFFFFFFF))]
            low, high = self.word(source), self._signed(self.word(source, 1), source)
            return [k.bits_f64((k.to_i64(high) << 32) | k.to_i64(low, False))]
        if letter == "w":
            return [self.word(source), self.word(source, 1)]
        return [self.word(source)]

    def predicate_value(self, n: int, negated: bool) -> Value:
        v = self.predicate(n)
        return ~v if negated else v

    # -- arithmetic -------------------------------------------------------------------------------------------------
    def arithmetic(self, step: Step, mask: Value) -> None:
        """An instruction of the table of semantics."""
        operation = OPERATIONS[step.op]
        sources = [
            v for s, letter in zip(step.sources, operation.sources, strict=False) for v in self.operand(s, letter)
        ]
        unit = Unit(
            self.k,
            step.mods,
            [(s.negated, s.absolute) for s in step.sources],
            [self.predicate_value(p.n, p.negated) for p in step.predicates],
            self.flags,
            step.cc or step.op == "R2P",
            lambda: self.place.of_launch(LAUNCH.NAN_INTEGER),
        )
        found = operation.run(unit, *sources)
        self.results(step, operation.dest, found, mask)
        if unit.flags_out is not None:
            self.set_flags(unit.flags_out, mask)

    def results(self, step: Step, dest: str, found: Any, mask: Value) -> None:
        """Write what an operation gave."""
        k, at = self.k, iter(step.results)
        if dest == "w":
            low, high, wide = found
            self.set_register(step.dest, low, mask)
            if wide is True:
                self.set_register(step.dest + 1 if step.dest != RZ else RZ, high, mask)
            return
        values = found if isinstance(found, tuple) else (found,)
        for letter, v in zip(dest, values, strict=True):
            if letter == "p":
                n = next(at, PT)
                if n != PT:
                    self.set_predicate(n, k.fit(v, BOOL, LANES), mask)
            elif letter == "f":
                self.set_float(step.dest, v, mask)
            elif letter == "d":
                self._set_pair(step.dest, float64.canonical(v), mask)
            else:
                if step.op == "MOV" and step.mods["mask"] != WHOLE_QUAD:
                    quad = k.pattern_of([(step.mods["mask"] >> (i & 3)) & 1 for i in range(LANES)])
                    self.set_part(step.dest, v, mask & (quad != 0))
                    return
                self.set_register(step.dest, v, mask)

    def set_part(self, n: int, v: Value, mask: Value) -> None:
        """Write a register for some of the active lanes; the others keep what they have."""
        self.set_register(n, v, mask)

    def set_float(self, n: int, v: Value, mask: Value) -> None:
        """Write a register with an f32, NaN as the canonical one."""
        self.set_register(n, float32.canonical(v), mask)

    def float_word(self, n: int) -> Value:
        """A register for a use that does not tell one NaN from another."""
        return self.register(n)

    def _set_pair(self, n: int, v: Value, mask: Value) -> None:
        if n != RZ:
            self.set_register(n, self.k.low32(v), mask)
            self.set_register(n + 1, self.k.low32(v.lsr(32)), mask)

    def set_result(self, step: Step, v: Value, mask: Value) -> None:
        """Write the first predicate that an instruction gives, if it gives one."""
        if step.results and step.results[0] != PT:
            self.set_predicate(step.results[0], v, mask)

    # -- memory -----------------------------------------------------------------------------------------------------
    def address(self, step: Step, wide: bool) -> tuple[Value, Value]:
        """(lower, upper) words of an address: a register, or a pair for `wide`, and the offset."""
        k = self.k
        base = self.register(step.base)
        if not wide:
            return base + step.offset, k.splat(0)
        if step.base == RZ:
            return k.splat(step.offset), k.splat(step.offset >> 32)
        low = base + step.offset
        carry = k.select(low.below(base), k.splat(1), 0)
        high = self.register(step.base + 1) + carry + (-1 if step.offset < 0 else 0)
        return (low, high) if step.offset else (base, self.register(step.base + 1))

    def load(self, step: Step, mask: Value) -> None:
        """LD, LDG, LDL, LDS."""
        size, index = step.mods.get("size", 4) & 7, self.k.i32(step.index)
        low, high = self.address(step, bool(step.mods.get("e")))
        found = access.load(self.place, space_of(step), size, low, high, mask, index)
        for n, v in enumerate(found):
            if step.dest != RZ:
                self.set_register(step.dest + n, v, mask)
        if step.op == "LD" and step.mods.get("space"):
            # The predicate of LDG.P says whether the page is resident; it always is.
            self.set_result(step, self.k.fit(True, BOOL, LANES), mask)

    def store(self, step: Step, mask: Value) -> None:
        """ST, STG, STL, STS."""
        mask = with_effect(self, mask)
        size = step.mods.get("size", 4) & 7
        low, high = self.address(step, bool(step.mods.get("e")))
        data = [self.word(step.sources[-1], n) for n in range(words_of(size))]
        index = self.k.i32(step.index)
        access.store(self.place, space_of(step), size, low, high, data, mask, index)

    def load_constant(self, step: Step, mask: Value) -> None:
        """LDC: a constant bank at a register plus an offset. Outside of the bank it reads zero."""
        k, size, mode = self.k, step.mods.get("size", 4), step.mods.get("mode", 0)
        register = self.register(step.base)
        bank, offset = k.splat(step.mods["bank"]), register + step.offset
        if mode == 2 or mode == 3:  # IS, ISL: the upper half of the register is a number of banks
            bank = bank + register.lsr(16)
            offset = (register & 0xFFFF) + step.offset
        bytes = access.BYTES[size] if size < 6 else 4  # sizes without a meaning are words
        good = mask & offset.below(BANK_SIZE) & bank.below(18) & ((offset & (bytes - 1)) == 0)
        at = k.select(good, self.constants + bank * BANK_SIZE + offset, 0)
        types = (U8, I8, U16, I16, I32)
        for n in range(2 if size == 5 else 1):
            if step.dest != RZ:
                v = k.gather(types[min(size, 4)], at + k.select(good, k.splat(4 * n), 0))
                self.set_register(step.dest + n, v, mask)

    def atomic(self, step: Step, mask: Value) -> None:
        """ATOM, ATOMS, RED and compare-and-swap."""
        p, mods = self.place, step.mods
        mask = with_effect(self, mask)
        low, high = self.address(step, bool(mods.get("e")))
        shared = step.op == "ATOMS"
        kind = mods.get("type", 0)
        if shared and kind == 3:
            kind = atomics.S64
        if mods.get("cas"):
            wide, op = bool(mods.get("size")), atomics.SWAP
        else:
            wide, op = atomics.wide_type(kind), min(mods.get("op", 0), atomics.NOTHING)
        p.put(access.LOW, low)
        p.put(access.HIGH, high)
        for n, source in enumerate(step.sources[:2]):
            p.put(atomics.OPERAND + 2 * n, self.word(source))
            if wide:
                p.put(atomics.OPERAND + 2 * n + 1, self.word(source, 1))
        silent = step.op == "RED" or (step.dest == RZ and not mods.get("cas"))
        space = access.SHARED if shared else access.GENERIC
        what = op | (kind if not mods.get("cas") else 0) << 4 | space << 8 | int(wide) << 12 | int(silent) << 13
        self.call(LAUNCH.ATOMIC, step, mask, what)
        if step.op != "RED" and step.dest != RZ:
            self.set_register(step.dest, p.take(atomics.OPERAND), mask)
            if wide:
                self.set_register(step.dest + 1, p.take(atomics.OPERAND + 1), mask)

    def call(self, handle: int, step: Step, mask: Value, what: int) -> None:
        """Call a kernel of the launch for the lanes of a mask."""
        k, p = self.k, self.place
        number = k.ballot(mask)
        for _ in k.when(number != 0):
            k.invoke(p.handle(handle), p.launch, p.slot, p.warp, k.i32(step.index), number, k.i32(what))

    def texture(self, step: Step, mask: Value) -> None:
        """An instruction on textures or surfaces: a kernel takes registers and gives others."""
        k, p, call = self.k, self.place, step.texture
        assert call is not None
        mask = mask if call.action == LOAD else with_effect(self, mask)
        for n, register in enumerate(call.sources):
            if register != ABSENT:
                of_floats = call.kernel == SAMPLE and n in COORDINATES
                p.put(n, self.float_word(register) if of_floats else self.register(register))
        number = k.ballot(mask)
        for _ in k.when(number != 0):
            handle = p.handle(LAUNCH.TEXTURE + 8 * call.kernel)
            at, what, where = k.i32(step.index), k.i32(call.what), k.i32(call.handle)
            k.invoke(handle, p.launch, p.slot, p.warp, at, number, what, where)
        for n, register in enumerate(call.results):
            if register != RZ:
                self.set_register(register, p.take(V_RESULT + n), mask)
        # The predicate says whether all texels are resident; they always are.
        self.set_result(step, k.fit(True, BOOL, LANES), mask)

    def missing(self, step: Step, mask: Value) -> None:
        """An instruction that only the 3D engine has, or that is not implemented: a fault, and zero for a result."""
        k, p = self.k, self.place
        number = k.ballot(mask)
        for _ in k.when(number != 0):
            k.invoke(
                p.handle(LAUNCH.FAULT), p.slot, p.warp, k.i32(step.index), k.trailing_zeros(number), k.i32(NOT_BUILT)
            )
        if step.dest != RZ:
            self.set_register(step.dest, k.splat(0), mask)

    # -- the warp ---------------------------------------------------------------------------------------------------
    def shuffle(self, step: Step, active: Value, mask: Value) -> None:
        """SHFL: the value of another lane. Inactive lanes have 0 to give."""
        k, p = self.k, self.place
        a, b, c = (self.word(s) for s in step.sources[:3])
        lane = k.iota()
        segment, clamp = c.lsr(8) & 31, c & 31
        least = lane & segment
        most = least | (clamp & ~segment)
        b = b & 31
        ways = [lambda: (b & ~segment) | least, lambda: lane - b, lambda: lane + b, lambda: lane ^ b]
        mode = step.mods["mode"]
        target = k.switch(mode, ways)
        up = k.fit(mode == 1, BOOL, LANES)  # SHFL.UP counts down, and must not go below its limit
        inside = k.select(up, target >= most, target <= most)
        source = k.select(inside, target, lane) & 31
        p.put(access.ROOM, k.select(active & mask, a, 0))
        found = k.gather(I32, (source << 2) + p.vector(access.ROOM))
        self.set_register(step.dest, found, mask)
        self.set_result(step, inside, mask)

    def vote(self, step: Step, mask: Value) -> None:
        """VOTE: whether a predicate holds for all, any, or equally for all active lanes; and for which."""
        k = self.k
        p = step.predicates[0]
        here = self.predicate_value(p.n, p.negated) & mask
        number, everyone = k.ballot(here), k.ballot(mask)
        mode = step.mods.get("mode", 0)
        whole = number == everyone
        result = k.switch(mode, [lambda: whole, lambda: number != 0, lambda: whole | (number == 0)])
        self.set_register(step.dest, k.splat(number), mask)
        self.set_result(step, k.fit(result, BOOL, LANES), mask)

    def special(self, n: int) -> Value:
        """A special register."""
        return self.k.fit(special_registers(self).get(n, lambda: self.k.i32(0))(), I32, LANES)

    def barrier_result(self, step: Step, mask: Value) -> None:
        """B2R.RESULT: the result of the last reduction at a barrier. Other forms give a barrier's state, here 0."""
        k = self.k
        found = k.load(I32, self.place.record + WARP.RESULT)
        found = k.select(k.fit(step.mods["result"] != 0, BOOL, 1), found, 0)
        self.set_register(step.dest, k.splat(found), mask)
        self.set_result(step, k.fit(found != 0, BOOL, LANES), mask)

    def arrive(self, step: Step, active: Value) -> None:
        """BAR: note in the warp's record what it waits for. The driver of the block does the rest."""
        k, record, mods = self.k, self.place.word(0), step.mods
        sources = list(step.sources)

        def scalar(role: str) -> Value:
            if mods.get(f"{role}_register"):
                return self.first_lane(self.word(sources.pop(0)), active)
            known = mods.get(role, 0)
            return known if isinstance(known, Value) else k.i32(known)

        number, count = scalar("barrier"), scalar("count")
        p = step.predicates[0] if step.predicates else None
        here = active if p is None else self.predicate_value(p.n, p.negated) & active
        votes, everyone = k.ballot(here), k.ballot(active)
        k.store(I32, record + WARP.BARRIER, number & (BARRIERS - 1))
        k.store(I32, record + WARP.BARRIER_COUNT, count)
        kind = mods["kind"]
        k.store(I32, record + WARP.BARRIER_KIND, kind if isinstance(kind, Value) else k.i32(kind))
        k.store(I32, record + WARP.BARRIER_VALUE, barrier_value(k, votes, everyone))

    def first_lane(self, v: Value, active: Value) -> Value:
        """The value that the first lane of a mask has, as a scalar."""
        return first_lane(self.place, v, self.k.ballot(active))

    def other(self, step: Step, active: Value, mask: Value) -> None:
        """An instruction that is neither arithmetic nor control flow."""
        k, op = self.k, step.op
        simple: Mapping[str, Callable[[Step, Value], None]] = {
            "LD": self.load, "LDL": self.load, "LDS": self.load, "ST": self.store, "STL": self.store,
            "STS": self.store, "LDC": self.load_constant, "ATOM": self.atomic, "ATOMS": self.atomic,
            "RED": self.atomic, "VOTE": self.vote,
        }  # fmt: skip
        if op in simple:
            simple[op](step, mask)
        elif op in INSTRUCTIONS and self.stage != NONE:
            INSTRUCTIONS[op](self, step, mask)
        elif op == "TEX":
            self.texture(step, mask)
        elif op == "SHFL":
            self.shuffle(step, active, mask)
        elif op == "S2R":
            self.set_register(step.dest, self.special(step.mods["sr"]), mask)
        elif op == "CS2R":
            self.set_register(step.dest, self.special(step.mods["sr"]), mask)
            if step.dest != RZ:
                self.set_register(step.dest + 1, self.special(step.mods["sr"] + 1), mask)
        elif op == "B2R":
            self.barrier_result(step, mask)
        elif op == "LEPC":
            self.set_register(step.dest, k.splat(step.address + 8), mask)
        elif op in ("GETCRSPTR", "GETLMEMBASE"):
            self.set_register(step.dest, k.splat(0), mask)
        else:
            self.missing(step, mask)


def barrier_value(k: Lang, votes: Value, everyone: Value) -> Value:
    """WARP.BARRIER_VALUE of a warp: the lanes that vote, and all lanes that arrive (ballots)."""
    return k.popcount(votes) | k.select(votes == everyone, ALL_VOTED, 0) | k.select(votes != 0, SOME_VOTED, 0)
