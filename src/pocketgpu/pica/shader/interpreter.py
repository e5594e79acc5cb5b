"""The shader interpreter: one kernel that runs any program, so a new program starts without compilation.

Each lane has its own program counter and address stacks; the lanes with the lowest counter run one instruction
together. Instructions compute with `arithmetic.OPERATIONS`, and control flow follows the rules in `program`, so the
results equal those of specialised code, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pocketgpu.facts.pica import PICA
from pocketgpu.facts.shader_isa import (
    ANY,
    BOTH,
    CALL_DEPTH,
    COMPONENT_MASKS,
    COMPONENT_SELECTORS,
    F1,
    F1C,
    F1I,
    F2,
    F3,
    F5,
    F5I,
    IF_DEPTH,
    INVERTS,
    LOOP_DEPTH,
    ONLY_X,
    OPCODE_AT,
    OPCODES,
    OPDESC_FIELDS,
    TEMPORARIES,
    UNIFORMS,
    Format,
)
from pocketgpu.lanes import F32, I32, I64, Array, Lang, Value, Var, kernel
from pocketgpu.pica.core.layout import BANK_INDEX, CHUNK, PACKET, PACKET_REGISTERS
from pocketgpu.pica.core.registers import LiveRegisters, register_id
from pocketgpu.pica.shader.arithmetic import OPERATIONS, Alu, operation_name
from pocketgpu.pica.shader.limits import INSTRUCTION_LIMIT, settle
from pocketgpu.pica.shader.program import CODE_WORDS, RETURNS, UNDEFINED
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES, END_WORD, Rules
from pocketgpu.pica.shader.translate import Start, indexed_uniform, store_state

DONE = 1 << 20  # a program counter outside of all code
_FLOW = ("BREAK", "END", "BREAKC", "CALL", "CALLC", "CALLU", "IFU", "IFC", "LOOP", "JMPC", "JMPU")
_ACTIONS = (*OPERATIONS, "CMP", "MOVA", *_FLOW, "EMIT", "SETEMIT", "NOP")
_FORMS = (F1, F1I, F1C, F5, F5I)
_INTEGER = {f.name: (f.lo, f.width) for f in PICA["VSH_INTUNIFORM_I0"].fields}
_IS_LOOP = 1  # the kind of a frame on a single stack
# Rows of the register file; sources and destinations have the same numbers, except outputs.
OUTPUTS = 32


def _action(code: int) -> int:
    """The action of an opcode, as an index into _ACTIONS."""
    op = OPCODES.get(code, UNDEFINED)
    name = operation_name(op) if op.sources and op.name not in ("CMP", "MOVA") else op.name
    return _ACTIONS.index(name if name in _ACTIONS else "NOP")


def _form(code: int) -> int:
    """The instruction format of an arithmetic opcode, as an index into _FORMS."""
    format = OPCODES.get(code, UNDEFINED).format
    return _FORMS.index(format) if format in _FORMS else 0


class _LaneStack:
    """A stack for each lane, newest entry first; a push to a full stack drops the oldest. `end` of no entry is -1."""

    def __init__(self, k: Lang, depth: int, *fields: str) -> None:
        self.k, self.depth = k, depth
        self.arrays: dict[str, Array] = {name: k.array(depth) for name in ("end", *fields)}
        for i in range(depth):
            self.arrays["end"][i] = k.splat(-1)

    def __getitem__(self, name: str) -> Value:
        return self.arrays[name][0]

    def put(self, name: str, value: Value, mask: Value) -> None:
        """Change a field of the newest entry."""
        self.arrays[name][0] = self.k.select(mask, value, self.arrays[name][0])

    def push(self, mask: Value, **fields: Value) -> None:
        for name, array in self.arrays.items():
            for i in reversed(range(1, self.depth)):
                array[i] = self.k.select(mask, array[i - 1], array[i])
            array[0] = self.k.select(mask, fields[name], array[0])

    def pop(self, mask: Value) -> None:
        for name, array in self.arrays.items():
            for i in range(self.depth - 1):
                array[i] = self.k.select(mask, array[i + 1], array[i])
            if name == "end":
                array[self.depth - 1] = self.k.select(mask, -1, array[self.depth - 1])

    def has(self, name: str, wanted: int) -> Value:
        """Lanes in which a field of any entry has a value."""
        found = self.k.iota() < 0
        for i in range(self.depth):
            found = found | ((self.arrays["end"][i] != -1) & (self.arrays[name][i] == wanted))
        return found


class Interpreter:
    """Runs some lanes. `code` and `descriptors` are arena offsets; `words` is the size of the code. `uniforms` is the
    offset of the float uniforms, or one offset per lane."""

    def __init__(
        self, k: Lang, code: Value, words: Value, descriptors: Value, entry: Value, uniforms: Value,
        live: LiveRegisters, rules: Rules, start: Start, inside: Value,
    ) -> None:  # fmt: skip
        self.k, self.code, self.words, self.descriptors, self.uniforms = k, code, words, descriptors, uniforms
        self.live, self.rules, self.emission = live, rules, start.emission
        self.alu = Alu(k, rules, exact=True)
        self.file = k.array(3 * 64, F32)
        self.double = self.emission is not None and rules.output_banks == "double"
        self.bank = k.array(64, F32) if self.double else None
        self.cmp = [k.var(k.splat(c)) for c in start.conditions]
        self.a0 = [k.var(k.splat(a)) for a in start.address]
        self.al = k.var(k.splat(start.counter))
        self.stuck = k.var(k.iota() < 0)
        self.steps = k.var(k.splat(0))
        outside = (entry < 0) | (entry >= words)
        self.pc = k.var(k.select(inside & ~outside, entry, DONE))
        if rules.stacks == "single":
            self.calls = self.ifs = self.loops = _LaneStack(
                k, CALL_DEPTH + IF_DEPTH + LOOP_DEPTH, "kind", "target", "counter", "step", "saved"
            )
        else:
            self.calls, self.ifs = _LaneStack(k, CALL_DEPTH, "target"), _LaneStack(k, IF_DEPTH, "target")
            self.loops = _LaneStack(k, LOOP_DEPTH, "target", "counter", "step", "saved")
        # State of the current instruction:
        self.mask = k.iota() < 0
        self.seen, self.jump = k.var(k.splat(0)), k.var(k.splat(0))
        self.ended = k.var(k.iota() < 0)

    def _set(self, var: Var, value: Value | int, mask: Value | None = None) -> None:
        var.value = self.k.select(self.mask if mask is None else mask, value, var.value)

    # -- running ------------------------------------------------------------------------------------------------
    def run(self) -> None:
        k = self.k
        for _ in k.loop(lambda: k.any(self.pc.value < DONE)):
            current = k.reduce("min", self.pc.value)
            self.mask = self.pc.value == current
            word = k.load(I32, self.code + k.to_i64(current << 2))
            if self.rules.end == "entrypoint":
                word = k.select(current == self.live("VSH_ENTRYPOINT.end"), END_WORD, word)
            self.instruction(current, word)

    def instruction(self, current: Value, word: Value) -> None:
        """One instruction, in the lanes of the mask."""
        k = self.k
        self._set(self.steps, self.steps.value + 1)
        self.seen.value = k.splat(current + 1)
        self.jump.value = k.splat(-1)
        self.ended.value = k.iota() < 0
        action = self._lookup(word, [_action(code) for code in range(64)])
        flow = [partial(self._flow, name, word, current) for name in _FLOW]
        arithmetic = partial(self._arithmetic, word, action)
        others: list[Callable[[], Any]] = [self._emit, partial(self._set_emission, word), lambda: None]
        k.switch(k.max(action - (len(OPERATIONS) + 1), 0), [arithmetic, *flow, *others])
        self._arrive()
        over = self.mask & (self.steps.value > INSTRUCTION_LIMIT)
        self.stuck.value = self.stuck.value | over
        self._set(self.pc, DONE, over)

    def _lookup(self, word: Value, table: list[int]) -> Value:
        """The entry of a table of 64 for an instruction's opcode."""
        return self.k.switch(word.lsr(OPCODE_AT), [partial(self.k.i32, entry) for entry in table])

    # -- arithmetic ---------------------------------------------------------------------------------------------
    def _source(self, number: Value, selector: Value, negate: Value, index: Value) -> tuple[Value, ...]:
        """A source operand's four components, swizzled and negated."""
        k = self.k
        places = [selector.bits(*place) for place in COMPONENT_SELECTORS]

        def register() -> tuple[Value, ...]:
            return tuple(self.file[(number << 2) + place] for place in places)

        def plain() -> tuple[Value, ...]:
            if self.uniforms.lanes > 1:
                base = self.uniforms + ((number - UNIFORMS) << 4)
                return tuple(self.alu.round(k.gather(F32, base + (place << 2))) for place in places)
            base = self.uniforms + k.to_i64((number - UNIFORMS) << 4)
            return tuple(k.splat(self.alu.round(k.load(F32, base + k.to_i64(place << 2)))) for place in places)

        def indexed() -> tuple[Value, ...]:
            own = [lambda a=a: a.value for a in (self.a0[0], self.a0[0], self.a0[1], self.al)]
            offset = k.switch(index, own)
            values = [indexed_uniform(k, self.uniforms, number - UNIFORMS, place, offset) for place in places]
            return tuple(self.alu.round(v) for v in values)

        kind = k.select(number < UNIFORMS, 0, k.select(index == 0, 1, 2))
        return tuple(k.select(negate, -v, v) for v in k.switch(kind, [register, plain, indexed]))

    def _fields(self, word: Value, format: Format) -> tuple[Value, ...]:
        """src1, src2, src3, their index registers, dst and descriptor number of an instruction word."""
        k = self.k
        get: Callable[[str], Value] = lambda name: (
            word.bits(*format.fields[name]) if name in format.fields else k.i32(0)
        )
        sources = [get(f"src{n}") for n in (1, 2, 3)]
        indices = [get("idx") if format.wide == f"src{n}" else k.i32(0) for n in (1, 2, 3)]
        return (*sources, *indices, get("dst") if "dst" in format.fields else k.i32(OUTPUTS), get("desc"))

    def _arithmetic(self, word: Value, action: Value) -> None:
        k, alu = self.k, self.alu
        which = self._lookup(word, [_form(code) for code in range(64)])
        src1, src2, src3, idx1, idx2, idx3, dst, number = k.switch(
            which, [partial(self._fields, word, form) for form in _FORMS]
        )
        descriptor = k.load(I32, self.descriptors + k.to_i64(number << 2))
        get = lambda name: descriptor.bits(*OPDESC_FIELDS[name])
        s = [*self._source(src1, get("sel1"), get("neg1") != 0, idx1)]
        t = [*self._source(src2, get("sel2"), get("neg2") != 0, idx2)]
        zeros = lambda: tuple(alu.zero() for _ in range(4))
        third = lambda: self._source(src3, get("sel3"), get("neg3") != 0, idx3)
        u = [*k.branch(which >= 3, third, zeros)]
        written = k.var(get("mask"))

        def operation(name: str) -> Callable[[], Any]:
            def body() -> tuple[Value, ...]:
                if name == "LITP":
                    self._set(self.cmp[0], s[0] >= 0.0)
                    self._set(self.cmp[1], s[3] >= 0.0)
                return tuple(k.fit(v, F32, k.lanes) for v in OPERATIONS[name].compute(alu, s, t, u))

            return body

        def compare() -> tuple[Value, ...]:
            for c, name in enumerate(("cmpx", "cmpy")):
                # All comparisons, then a select: cheaper than a branch for each.
                op, result = word.bits(*F1C.fields[name]), alu.compare(7, s[c], t[c])
                for n in range(6):
                    result = k.select(op == n, alu.compare(n, s[c], t[c]), result)
                self._set(self.cmp[c], result)
            written.value = 0
            return zeros()

        def to_address() -> tuple[Value, ...]:
            for c in range(2):
                self._set(self.a0[c], alu.address(s[c]), self.mask & (written.value.bits(*COMPONENT_MASKS[c]) != 0))
            written.value = 0
            return zeros()

        values = k.switch(action, [*(operation(name) for name in OPERATIONS), compare, to_address])
        row = k.select(dst < TEMPORARIES, dst + OUTPUTS, dst) << 2
        for c, value in enumerate(values):
            here = self.mask & (written.value.bits(*COMPONENT_MASKS[c]) != 0)
            self.file[row + c] = k.select(here, value, self.file[row + c])

    # -- emission -----------------------------------------------------------------------------------------------
    def _emit(self) -> None:
        if self.emission is None:
            return
        k = self.k
        rows = [(n, lambda n=n: self.file[4 * OUTPUTS + n]) for n in range(64)]
        self.emission.emit(rows, self.mask)
        if self.bank is not None:
            for i in k.range(0, 64):
                front, back = self.file[i + 4 * OUTPUTS], self.bank[i]
                self.file[i + 4 * OUTPUTS] = k.select(self.mask, back, front)
                self.bank[i] = k.select(self.mask, front, back)

    def _set_emission(self, word: Value) -> None:
        if self.emission is not None:
            self.emission.set(word, self.mask)

    # -- control ------------------------------------------------------------------------------------------------
    def _condition(self, word: Value) -> Value:
        """Lanes in which the condition of a format 2 instruction holds."""
        k, get = self.k, lambda name: word.bits(*F2.fields[name])
        x = self.cmp[0].value ^ (get("refx") == 0)
        y = self.cmp[1].value ^ (get("refy") == 0)
        op = get("cond")
        return k.select(op == ANY, x | y, k.select(op == BOTH, x & y, k.select(op == ONLY_X, x, y)))

    def _taken(self, name: str, word: Value) -> Value:
        """Lanes of the mask that take a flow instruction."""
        if name in ("BREAKC", "CALLC", "IFC", "JMPC"):
            return self.mask & self._condition(word)
        if name in ("CALLU", "IFU", "JMPU"):
            wanted = 1 - (word.bits(*F3.fields["num"]) & INVERTS) if name == "JMPU" else self.k.i32(1)
            bools = self.live("VSH_BOOLUNIFORM.bools")
            return self.mask & (((bools >> word.bits(*F3.fields["bool"])) & 1) == wanted)
        return self.mask

    def _flow(self, name: str, word: Value, current: Value) -> None:
        k = self.k
        dst, num, after = word.bits(*F2.fields["dst"]), word.bits(*F2.fields["num"]), current + 1
        taken = self._taken(name, word)
        if name == "END":
            self.ended.value = self.mask
        elif name.startswith("BREAK"):
            self._break(taken)
        elif name == "LOOP":
            integer = self.live.word((word.bits(*F3.fields["int"]) & 3) + register_id("VSH_INTUNIFORM_I0"))
            part = lambda name: integer.bits(*_INTEGER[name])
            self._push(
                self.loops, taken, kind=k.i32(_IS_LOOP), end=dst + 1, target=after, saved=self.al.value,
                counter=part("x"), step=part("z"),
            )  # fmt: skip
            self._set(self.al, part("y"))
        elif name.startswith("CALL"):
            self._push(self.calls, taken, end=dst + num, target=after)
            self._set(self.seen, dst, taken)
        elif name.startswith("IF"):
            self._push(self.ifs, taken, end=dst, target=dst + num)
            self._set(self.seen, dst, self.mask & ~taken)
        else:
            self._set(self.jump, dst, taken)

    def _push(self, stack: _LaneStack, mask: Value, **fields: Value) -> None:
        k = self.k
        stack.push(mask, **{name: k.splat(fields.get(name, k.i32(0))) for name in stack.arrays})

    def _break(self, taken: Value) -> None:
        k, loops = self.k, self.loops
        if self.rules.stacks == "single":
            inside = loops.has("kind", _IS_LOOP)
            above = lambda: taken & inside & (loops["kind"] != _IS_LOOP)
            for _ in k.loop(lambda: k.any(above())):
                loops.pop(above())
        else:
            inside = loops["end"] != -1
        lost = taken & ~inside
        self.stuck.value = self.stuck.value | lost
        self.ended.value = self.ended.value | lost
        left = taken & inside
        self._set(self.seen, loops["end"], left)
        self._leave_loop(left)

    def _leave_loop(self, mask: Value) -> None:
        """Drop the newest entry, a loop; the enclosing loop gets its aL back."""
        loops, saved = self.loops, self.loops["saved"]
        loops.pop(mask)
        if self.rules.nested_loop_counter == "restored":
            around = loops.has("kind", _IS_LOOP) if self.rules.stacks == "single" else loops["end"] != -1
            self._set(self.al, saved, mask & around)

    def _round(self, hit: Value) -> Value:
        """Count an iteration of the newest loop; returns the lanes in which it continues."""
        self._set(self.al, self.al.value + self.loops["step"], hit)
        left = self.loops["counter"] - 1
        self.loops.put("counter", left, hit)
        return hit & (left >= 0)

    def _arrive(self) -> None:
        """Check the stacks against the next address, and continue from there."""
        k = self.k
        going = self.mask & ~self.ended.value
        place = k.var(self.seen.value)
        if self.rules.stacks == "single":
            self._arrive_single(going, place)
        else:
            self._arrive_separate(going, place)
        target = place.value
        outside = (target < 0) | (target >= self.words)
        self._set(self.pc, k.select(self.ended.value | outside, DONE, target))

    def _arrive_separate(self, going: Value, place: Var) -> None:
        k, seen = self.k, self.seen.value
        popped = k.var(k.iota() < 0)
        for _ in k.when(k.any(going & (self.calls["end"] == seen))):
            for i in range(CALL_DEPTH):
                hit = going & (self.calls["end"] == place.value)
                popped.value = popped.value | hit
                if i < RETURNS:
                    self._set(place, self.calls["target"], hit)
                self.calls.pop(hit)
        for _ in k.when(k.any(going & (self.ifs["end"] == seen))):
            hit = going & (self.ifs["end"] == seen)
            popped.value = popped.value | hit
            self._set(place, self.ifs["target"], hit)
            self.ifs.pop(hit)
        for _ in k.when(k.any(going & (self.loops["end"] == seen))):
            asked = going
            for _ in range(1 if self.rules.loop_ends == "one" else LOOP_DEPTH):
                hit = asked & (self.loops["end"] == seen)
                popped.value = popped.value | hit
                again = self._round(hit)
                self._set(place, self.loops["target"], again)
                self._leave_loop(hit & ~again)
                asked = asked & ~again
        self._set(place, self.jump.value, going & (self.jump.value >= 0) & ~popped.value)

    def _arrive_single(self, going: Value, place: Var) -> None:
        k, stack = self.k, self.loops
        self._set(place, self.jump.value, going & (self.jump.value >= 0))
        asked = k.var(going)
        hit = lambda: asked.value & (stack["end"] == place.value)
        for _ in k.loop(lambda: k.any(hit())):
            ends = hit()
            loop = ends & (stack["kind"] == _IS_LOOP)
            block = ends & ~loop
            again = self._round(loop)
            self._set(place, stack["target"], again | block)
            asked.value = asked.value & ~again
            stack.pop(block)
            self._leave_loop(loop & ~again)


def _run(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value, code: Value, words: Value,
    descriptors: Value, entry: Value, control: int, rules: Rules, state: Value | None = None, log: Value | None = None,
    make: Callable[..., Interpreter] = Interpreter,
) -> None:  # fmt: skip
    k.hurry()  # half the time to make it, and as fast
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    row = 4 * CHUNK
    for v in k.range(0, count, k.lanes):
        at = k.to_i64(v << 2)
        inside = k.iota() + v < count
        start = Start(k, state, log, v)
        unit = make(k, code, words, descriptors, entry, uniforms, live, rules, start, inside)
        for i in k.range(0, 64):
            unit.file[i] = unit.alu.round(k.load(F32, inputs + at + k.to_i64(i * row), lanes=k.lanes))
        for i in k.range(64, 192):
            unit.file[i] = k.splat(0.0, type=F32)
        unit.run()
        for i in k.range(0, 64):
            k.store(F32, outputs + at + k.to_i64(i * row), unit.file[i + 4 * OUTPUTS])
        if state is not None:
            store_state(k, outputs + at, unit.cmp, unit.a0, unit.al, unit.stuck, unit.emission)
        settle(k, control, unit.stuck.value, unit.steps.value, inside)


@kernel(inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32)
def vertex_interpreter(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value,
    *, control: int, rules: Rules = DEFAULT_RULES,
) -> None:  # fmt: skip
    """Run a draw packet's vertex program, as `translate.vertex_program` would (exact), without its compiled code.

    Output registers that the program never writes become 0.
    """
    bank = lambda name: k.to_i64(k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX[name])))
    entry = LiveRegisters(k, packet + PACKET_REGISTERS)("VSH_ENTRYPOINT.entry")
    _run(
        k, inputs, outputs, uniforms, packet, count, bank("vs_code"), k.i32(CODE_WORDS), bank("vs_opdescs"), entry,
        control, rules,
    )  # fmt: skip


@kernel(inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32, state=I64, log=I64)
def unit_interpreter(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value, state: Value, log: Value,
    *, code: int, descriptors: int, control: int, rules: Rules, make: Callable[..., Interpreter] = Interpreter,
) -> None:  # fmt: skip
    """As `translate.unit_program`, for the program at offset `code`: words 5 and 6 of the state are entry and size.

    make: the class that runs it: `Interpreter`, or a subclass that observes (NumPy only).
    """
    entry, words = k.load(I32, state + 20), k.load(I32, state + 24)
    _run(
        k, inputs, outputs, uniforms, packet, count, k.i64(code), words, k.i64(descriptors), entry, control, rules,
        state, log, make,
    )  # fmt: skip


__all__ = ["DONE", "OUTPUTS", "Interpreter", "unit_interpreter", "vertex_interpreter"]
