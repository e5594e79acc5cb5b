"""A warp with its registers in its record: what the interpreter's kernels do for one instruction."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pocketgpu.lanes import BOOL, I8, I16, I32, I64, U8, U16, Lang, Value
from pocketgpu.maxwell.sampling.calls import SLOTS
from pocketgpu.maxwell.sampling.records import V_RESULT
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Flags, Unit, float32, float64
from pocketgpu.maxwell.sass.stages.instructions import INSTRUCTIONS, MODIFIERS
from pocketgpu.maxwell.sass.stages.pixels import with_effect
from pocketgpu.maxwell.sass.thread_memory import access, atomics
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, LANES, LAUNCH, REGISTERS, STEP, VECTOR, WARP
from pocketgpu.maxwell.sass.warp.special_registers import special_registers
from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine

REG, IMM, CONST, UPPER = range(4)
"""Kinds of sources; UPPER is an immediate of 64 bits whose lower word is zero."""


def handled(op: str) -> bool:
    """Whether the interpreter has a kernel for an operation."""
    return op in OPERATIONS or op in OTHERS


class RecordMachine(WarpMachine):
    """A warp whose registers are in its record, and whose instruction is at arena offset `at`.

    Modifiers, sources and results are numbers that it reads there, so its code serves every program.
    """

    def __init__(self, k: Lang, place: WarpPlace, at: Value) -> None:
        super().__init__(k, place)
        self.at = at
        self.stage = place.of_launch(LAUNCH.STAGE)

    def field(self, name: str, n: int = 0) -> Value:
        return self.k.load(I32, self.at + STEP.offsets[name] + 4 * n)

    # -- registers --------------------------------------------------------------------------------------------------
    def _place(self, n: Value) -> Value:
        return self.place.record + REGISTERS + n * VECTOR

    def register(self, n: Any) -> Value:
        k = self.k
        return k.load(I32, k.select(n == RZ, 0, self._place(n)), LANES)  # the arena begins with zeros

    def set_register(self, n: Any, v: Value, mask: Value) -> None:
        k = self.k
        for _ in k.when(n != RZ):
            k.store(I32, self._place(n), k.select(mask, k.fit(v, I32, LANES), k.load(I32, self._place(n), LANES)))

    def predicate(self, n: Any) -> Value:
        return self.k.mask_of(self.k.load(I32, self.place.record + WARP.PREDICATES + (n << 2)))

    def set_predicate(self, n: Any, v: Value, mask: Value) -> None:
        k = self.k
        at = self.place.record + WARP.PREDICATES + (n << 2)
        for _ in k.when(n != PT):
            here = k.ballot(mask)
            k.store(I32, at, (k.ballot(v) & here) | (k.load(I32, at) & ~here))

    def flags(self) -> Flags:
        at = self.place.record + WARP.FLAGS
        return Flags(*(self.k.mask_of(self.k.load(I32, at + 4 * n)) for n in range(4)))

    def set_flags(self, flags: Flags, mask: Value) -> None:
        k, at, here = self.k, self.place.record + WARP.FLAGS, self.k.ballot(mask)
        for n, v in enumerate((flags.carry, flags.overflow, flags.sign, flags.zero)):
            word = k.ballot(k.fit(v, BOOL, LANES))
            k.store(I32, at + 4 * n, (word & here) | (k.load(I32, at + 4 * n) & ~here))

    # -- operands ---------------------------------------------------------------------------------------------------
    def source(self, n: int) -> SimpleNamespace:
        """Source `n` as numbers."""
        head, tail = self.field("SOURCES", 2 * n), self.field("SOURCES", 2 * n + 1)
        bit = lambda i: (head.lsr(i) & 1) != 0
        return SimpleNamespace(kind=head & 3, negated=bit(2), absolute=bit(3), n=head.lsr(4), tail=tail)

    def word(self, source: Any, n: int = 0) -> Value:
        k = self.k

        def scalar() -> Value:
            at = self.constants + source.n * BANK_SIZE + ((source.tail + 4 * n) & (BANK_SIZE - 1))
            at = k.select(source.kind == CONST, at, 0)
            immediate = k.select(source.kind == (UPPER if n else IMM), source.tail, 0)
            return k.splat(k.select(source.kind == CONST, k.load(I32, at), immediate))

        return k.branch(
            source.kind == REG, lambda: self.register(k.select(source.n == RZ, RZ, source.n + n)), scalar
        )  # fmt: skip

    def _signed(self, v: Value, source: Any) -> Value:
        k = self.k
        v = v & k.select(source.absolute, 0x7FFFFFFF, -1)
        return v ^ k.select(source.negated, -0x80000000, 0)

    def operand(self, source: Any, letter: str) -> list[Value]:
        k = self.k
        if letter in "fs":
            return [k.bits_f32(self._signed(self.word(source), source))]
        if letter == "d":
            low, high = self.word(source), self._signed(self.word(source, 1), source)
            return [k.bits_f64((k.to_i64(high) << 32) | k.to_i64(low, False))]
        if letter == "w":
            return [self.word(source), self.word(source, 1)]
        return [self.word(source)]

    def mods(self, names: Any) -> dict[str, Value]:
        """Modifiers out of the word that has them."""
        found, at, word = {}, 0, self.field("MODS")
        for name, width in names:
            found[name] = word.lsr(at) & ((1 << width) - 1)
            at += width
        return found

    def operate(self, op: str, mask: Value) -> None:
        """An operation of the table."""
        k, operation = self.k, OPERATIONS[op]
        sources = [self.source(n) for n in range(len(operation.sources))]
        values = [v for s, letter in zip(sources, operation.sources, strict=True) for v in self.operand(s, letter)]
        mods = self.mods(operation.mods.items())
        packed = self.field("PREDICATES")
        predicates = []
        for n in range(operation.predicates):
            code = k.i32(n) if op in ("P2R", "R2P") else packed.lsr(4 * n) & 15
            predicates.append(self.predicate(code & 7) ^ ((code & 8) != 0))
        signs = [(s.negated, s.absolute) for s in sources]
        nan_integer = lambda: self.place.of_launch(LAUNCH.NAN_INTEGER)
        unit = Unit(k, mods, signs, predicates, self.flags, True, nan_integer)
        if op == "MOV":
            mask = mask & (((mods["mask"].lsr(k.iota() & 3)) & 1) != 0)
        found = operation.run(unit, *values)
        self._results(operation.dest, found, mask)
        if unit.flags_out is not None:
            wanted = (self.field("GUARD").lsr(9) & 1) != 0
            flags = unit.flags_out
            for _ in k.when(wanted):
                self.set_flags(flags, mask)

    def _results(self, dest: str, found: Any, mask: Value) -> None:
        k, n, packed = self.k, self.field("DEST"), self.field("RESULTS")
        above = k.select(n == RZ, RZ, n + 1)
        if dest == "w":
            low, high, wide = found
            self.set_register(n, low, mask)
            if wide is not False:
                for _ in k.when(wide):
                    self.set_register(above, high, mask)
            return
        values = found if isinstance(found, tuple) else (found,)
        at = 0
        for letter, v in zip(dest, values, strict=True):
            if letter == "p":
                number = packed.lsr(4 * at) & 15
                self.set_predicate(number & 7, k.fit(v, BOOL, LANES), mask)
                at += 1
            elif letter == "f":
                self.set_register(n, float32.canonical(v), mask)
            elif letter == "d":
                self._set_pair_at(n, above, v, mask)
            else:
                self.set_register(n, v, mask)

    def _set_pair_at(self, n: Value, above: Value, v: Value, mask: Value) -> None:
        k, word = self.k, float64.canonical(v)
        self.set_register(n, k.low32(word), mask)
        self.set_register(above, k.low32(word.lsr(32)), mask)

    def set_result(self, step: Any, v: Value, mask: Value) -> None:
        self.set_predicate(self.field("RESULTS") & 7, v, mask)

    # -- other instructions -----------------------------------------------------------------------------------------
    def addresses(self, wide: Value) -> None:
        """Put the addresses of a memory instruction into scratch vectors."""
        k = self.k
        n, offset = self.field("BASE"), self.field("OFFSET")
        base = self.register(n)
        low = base + offset
        upper = self.register(k.select(n == RZ, RZ, n + 1))
        carry = k.select(low.below(base), k.splat(1), 0)
        high = upper + carry + (offset >> 31)
        self.place.put(access.LOW, low)
        self.place.put(access.HIGH, k.select(wide, high, 0))

    def memory(self, op: str, mask: Value) -> None:
        """Loads and stores."""
        k, p, mods = self.k, self.place, self.mods(OTHERS[op])
        self.addresses(mods.get("e", k.i32(0)) != 0)
        size, store = mods["size"] & 7, op in ("ST", "STL", "STS")
        mask = with_effect(self, mask) if store else mask
        space = {"LDS": access.SHARED, "STS": access.SHARED, "LDL": access.LOCAL, "STL": access.LOCAL}.get(op)
        where = mods["space"] if space is None else k.i32(space)
        n = self.source(0).n if store else self.field("DEST")
        count = k.select(size < 5, 1, k.select(size == 5, 2, 4))
        if store:
            for i in k.range(0, count):
                k.store(I32, p.vector(access.DATA) + (i << 7), self.register(k.select(n == RZ, RZ, n + i)))
        access.slow(p, self.field("NUMBER"), mask, size | (where << 4) | (int(store) << 8))
        if not store:
            for i in k.range(0, count):
                v = k.load(I32, p.vector(access.DATA) + (i << 7), LANES)
                self.set_register(k.select(n == RZ, RZ, n + i), v, mask)
        if op == "LD":
            for _ in k.when(where == access.GLOBAL):
                self.set_result(None, k.fit(True, BOOL, LANES), mask)

    def constant_load(self, mask: Value) -> None:
        """LDC."""
        k, mods = self.k, self.mods(OTHERS["LDC"])
        register, at = self.register(self.field("BASE")), self.field("OFFSET")
        indexed = mods["mode"] >= 2
        bank = k.splat(mods["bank"]) + k.select(indexed, register.lsr(16), 0)
        offset = k.select(indexed, register & 0xFFFF, register) + at
        size = mods["size"]
        bytes_of = k.select(size < 2, 1, k.select(size < 4, 2, k.select(size == 5, 8, 4)))
        good = mask & offset.below(BANK_SIZE) & bank.below(18) & ((offset & (bytes_of - 1)) == 0)
        place = k.select(good, self.constants + bank * BANK_SIZE + offset, 0)
        n = self.field("DEST")
        value = k.switch(size, [lambda t=t: k.gather(t, place) for t in (U8, I8, U16, I16, I32)])
        self.set_register(n, value, mask)
        for _ in k.when(size == 5):
            upper = k.gather(I32, place + k.select(good, k.splat(4), 0))
            self.set_register(k.select(n == RZ, RZ, n + 1), upper, mask)

    def atomics(self, op: str, mask: Value) -> None:
        """ATOM, ATOMS, RED."""
        k, p, mods = self.k, self.place, self.mods(OTHERS[op])
        mask = with_effect(self, mask)
        self.addresses(mods.get("e", k.i32(0)) != 0)
        swap = mods["cas"] != 0
        kind = mods["type"]
        if op == "ATOMS":
            kind = k.select(kind == 3, atomics.S64, kind)
        wide = k.select(swap, mods["size"], k.select((kind == atomics.U64) | (kind == atomics.S64), 1, 0))
        code = k.select(swap, atomics.SWAP, k.min(mods["op"], atomics.NOTHING))
        for i in range(2):
            n = self.source(i).n
            p.put(atomics.OPERAND + 2 * i, self.register(n))
            p.put(atomics.OPERAND + 2 * i + 1, self.register(k.select(n == RZ, RZ, n + 1)))
        n = self.field("DEST")
        silent = k.select((n == RZ) & ~swap, 1, 0) if op != "RED" else k.i32(1)
        space = access.SHARED if op == "ATOMS" else access.GENERIC
        what = code | (k.select(swap, 0, kind) << 4) | (space << 8) | (wide << 12) | (silent << 13)
        number = k.ballot(mask)
        k.invoke(p.handle(LAUNCH.ATOMIC), p.launch, p.slot, p.warp, self.field("NUMBER"), number, what)
        if op != "RED":
            self.set_register(n, p.take(atomics.OPERAND), mask)
            for _ in k.when(wide != 0):
                self.set_register(k.select(n == RZ, RZ, n + 1), p.take(atomics.OPERAND + 1), mask)

    def special_register(self, op: str, mask: Value) -> None:
        """S2R, CS2R."""
        k, n = self.k, self.field("DEST")
        number = self.mods(OTHERS[op])["sr"]
        specials = special_registers(self)
        # As a list without gaps: the numbers in use are small.
        nothing = lambda: k.i32(0)
        found = [specials.get(i, nothing) for i in range(max(specials) + 1)]
        cases: list[Callable[[], Value]] = [lambda f=f: k.fit(f(), I32, LANES) for f in found]
        cases.append(lambda: k.splat(0))
        self.set_register(n, k.switch(number, cases), mask)
        if op == "CS2R":
            self.set_register(k.select(n == RZ, RZ, n + 1), k.switch(number + 1, cases), mask)

    def as_step(self, op: str) -> Any:
        """The instruction as a step for the methods of `Machine`; its modifiers are scalars."""
        packed = self.field("PREDICATES")
        one = SimpleNamespace(n=packed & 7, negated=(packed & 8) != 0)
        return SimpleNamespace(
            op=op, mods=self.mods(OTHERS[op]), dest=self.field("DEST"), results=(self.field("RESULTS") & 7,),
            predicates=(one,), sources=[self.source(n) for n in range(3)], base=self.field("BASE"),
            offset=self.field("OFFSET"),
        )  # fmt: skip

    def predicate_value(self, n: Any, negated: Any) -> Value:
        return self.predicate(n) ^ (negated if isinstance(negated, Value) else self.k.fit(negated, BOOL, 1))

    def barrier(self, mask: Value) -> None:
        """BAR: note in the warp's record what it waits for."""
        k, step = self.k, self.as_step("BAR")
        for n, role in enumerate(("barrier", "count")):
            from_register = step.mods[f"{role}_register"] != 0
            scalar = self.first_lane(self.word(step.sources[n]), mask)
            step.mods[role] = k.select(from_register, scalar, step.mods[role])
        step.mods = {name: step.mods[name] for name in ("kind", "barrier", "count")}
        self.arrive(step, mask)

    def textures(self, mask: Value) -> None:
        """Instructions on textures and surfaces: a kernel takes registers and gives others."""
        k, p = self.k, self.place
        register = lambda n: self.field("SOURCES", n >> 2).lsr(8 * (n & 3)) & 0xFF
        for n in range(SLOTS):
            p.put(n, self.register(register(n)))
        handle = k.load(I64, p.launch + LAUNCH.TEXTURE + (self.field("OFFSET") << 3))
        number, what, writes = self.field("NUMBER"), self.field("MODS"), self.field("ENTRY") != 0
        lanes = k.select(writes, k.ballot(with_effect(self, mask)), k.ballot(mask))
        # A jump can go to an instruction that was not known to be reached. Then there may be no kernel for it.
        for _ in k.when((lanes != 0) & (handle != 0)):
            k.invoke(handle, p.launch, p.slot, p.warp, number, lanes, what, self.field("BASE"))
        for n in range(4):
            self.set_register(register(SLOTS + n), p.take(V_RESULT + n), mask)
        self.set_result(None, k.fit(True, BOOL, LANES), mask)

    def other_instruction(self, op: str, mask: Value) -> None:
        if op in ("LD", "LDL", "LDS", "ST", "STL", "STS"):
            self.memory(op, mask)
        elif op == "TEX":
            self.textures(mask)
        elif op == "LDC":
            self.constant_load(mask)
        elif op in ("ATOM", "ATOMS", "RED"):
            self.atomics(op, mask)
        elif op in ("S2R", "CS2R"):
            self.special_register(op, mask)
        elif op == "SHFL":
            self.shuffle(self.as_step(op), mask, mask)
        elif op == "VOTE":
            self.vote(self.as_step(op), mask)
        elif op == "B2R":
            self.barrier_result(self.as_step(op), mask)
        elif op == "BAR":
            self.barrier(mask)
        elif op in INSTRUCTIONS:
            INSTRUCTIONS[op](self, self.as_step(op), mask)
        elif op == "LEPC":
            self.set_register(self.field("DEST"), self.k.splat(self.field("ADDRESS") + 8), mask)
        else:
            self.set_register(self.field("DEST"), self.k.splat(0), mask)


# Instructions without an entry in OPERATIONS that have a kernel, with the widths of their modifiers.
_MEMORY = (("size", 4), ("e", 1), ("space", 2))
_ATOMIC = (("op", 4), ("type", 3), ("e", 1), ("cas", 1), ("size", 1))
OTHERS: dict[str, tuple[tuple[str, int], ...]] = {
    **dict.fromkeys(("LD", "LDL", "LDS", "ST", "STL", "STS"), _MEMORY),
    **dict.fromkeys(("ATOM", "ATOMS", "RED"), _ATOMIC),
    "LDC": (("size", 3), ("mode", 2), ("bank", 5)), "S2R": (("sr", 8),), "CS2R": (("sr", 8),),
    "SHFL": (("mode", 2),), "VOTE": (("mode", 2),), "B2R": (("result", 1),),
    "BAR": (("kind", 3), ("barrier", 8), ("count", 12), ("barrier_register", 1), ("count_register", 1)),
    "TEX": (), "LEPC": (), "GETCRSPTR": (), "GETLMEMBASE": (), **MODIFIERS,
}  # fmt: skip
