"""Translates a shader program into lane code: one lane per vertex, registers as variables.

A program without loops becomes nested branches: scalar branches where uniforms decide, so its code has no masks, and
masks of lanes where CMP results decide. Other programs become a dispatch loop over the node graph: with one node for
all lanes, or with a node per lane, of which the smallest runs first, so that lanes meet again where paths join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pocketgpu.facts.shader_isa import F1C, components, descriptor, selected, source_register, target_register
from pocketgpu.lanes import F32, I32, I64, Lang, Value, Var, kernel
from pocketgpu.pica.core.layout import CHUNK, CONTROL, PACKET_REGISTERS
from pocketgpu.pica.core.registers import LiveRegisters
from pocketgpu.pica.shader.arithmetic import OPERATIONS, Alu, Operation, Vector, operation_name
from pocketgpu.pica.shader.emission import EmissionLog, EmitState
from pocketgpu.pica.shader.limits import INSTRUCTION_LIMIT, settle
from pocketgpu.pica.shader.program import ENDED, HUNG, Action, Exit, Node, ProgramGraph, program_of
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES, Rules

# Output rows after the 64 output components, for runs of the unit outside of a draw.
COND_X, COND_Y, A0_X, A0_Y, A_L, EMIT_STATE, EMIT_COUNT, STUCK = range(64, 72)
RESULT_ROWS = 72

_LONG = 250
_LONG_EMITTING = 100
"""From so many instructions on, code is made with few passes (`Lang.hurry`): of vertex programs, and of programs that
emit, whose code is longer. With all passes it would take more than a second."""

Key = tuple[str, int, int]  # "o" or "r", register, component


class Start:
    """The start state of a run: condition and address registers (scalars; None: all zero), and where EMIT writes."""

    def __init__(
        self, k: Lang, state: Value | None = None, log: Value | None = None, first: Value | None = None
    ) -> None:
        load = lambda i: k.i32(0) if state is None else k.load(I32, state + 4 * i)
        self.conditions = [load(0) != 0, load(1) != 0]
        self.address = [load(2), load(3)]
        self.counter = load(4)
        self.emission: EmitState | None = None if log is None or first is None else EmissionLog(k, log, first)


class Shader:
    """Translates one program; `live` has booleans and integers. `uniforms` is the offset of the float uniforms, or one
    offset per lane."""

    def __init__(
        self, k: Lang, graph: ProgramGraph, uniforms: Value, live: LiveRegisters, exact: bool, start: Start,
        inputs: Callable[[int, int], Value],
    ) -> None:  # fmt: skip
        self.k, self.graph, self.uniforms, self.live, self.inputs = k, graph, uniforms, live, inputs
        self.alu = Alu(k, graph.rules, exact)
        self.zero = k.splat(0.0, type=F32)
        wide = graph.diverges
        spread = lambda v: k.splat(v) if wide else v
        self.cmp = [k.var(k.splat(c)) for c in start.conditions]
        self.a0 = [k.var(k.splat(a)) for a in start.address]
        self.al = k.var(spread(start.counter))
        self.counters = [k.var(spread(k.i32(0))) for _ in range(graph.loop_levels)]
        self.saved = [k.var(spread(k.i32(0))) for _ in range(graph.loop_levels)]
        self.stuck = k.var(k.iota() < 0)
        self.steps: Var | None = None  # only programs with loops count them
        self.emission = start.emission
        self.mask: Value | None = None
        self.registers: dict[Key, Var] = {}
        self.banks: dict[Key, Var] = {}
        self.pending: dict[Key, None] = {}
        self._declare()

    def _declare(self) -> None:
        """Variables of every register that the program can write, before any loop is open."""
        emits = not self.graph.names.isdisjoint(("EMIT", "SETEMIT"))
        if sum(1 for _ in self.graph.instructions()) > (_LONG_EMITTING if emits else _LONG):
            self.k.hurry()
        for _, word, op in self.graph.instructions():
            if op.sources and op.name not in ("CMP", "MOVA"):
                kind, number = self._destination(op.format.get(word, "dst"))
                for c in range(4):
                    if (kind, number, c) not in self.registers:
                        self.registers[kind, number, c] = self.k.var(self.zero)
        if self.emission is not None and "EMIT" in self.graph.names and self.graph.rules.output_banks == "double":
            self.banks = {key: self.k.var(self.zero) for key in self.registers if key[0] == "o"}

    @staticmethod
    def _destination(dst: int) -> tuple[str, int]:
        return target_register(dst)

    # -- operands -----------------------------------------------------------------------------------------------
    def _uniform(self, number: int, component: int, index: int) -> Value:
        """c[number + address register `index`]; 0 no indexing, 1 a0.x, 2 a0.y, 3 aL."""
        k = self.k
        if index == 0:
            place = self.uniforms + (16 * number + 4 * component)
            return k.splat(k.load(F32, place)) if place.lanes == 1 else k.gather(F32, place)
        return indexed_uniform(
            k, self.uniforms, k.i32(number), component, self.al.value if index == 3 else self.a0[index - 1].value
        )

    def _source(self, word: int, fmt: Any, number: int, desc: int) -> tuple[Vector, list[Key | None]]:
        """Source operand `number` (1-3), swizzled and negated, and the source registers of its components."""
        file, n = source_register(fmt.get(word, f"src{number}"))
        selector, negate = descriptor(desc, f"sel{number}"), descriptor(desc, f"neg{number}")
        index = fmt.get(word, "idx") if fmt.wide == f"src{number}" else 0
        out: Vector = []
        keys: list[Key | None] = []
        known: dict[int, Value] = {}
        for c in selected(selector):
            key = (file, n, c)
            if c not in known:
                if file == "v":
                    v = self.alu.round(self.inputs(n, c))
                elif file == "c":
                    v = self.alu.round(self._uniform(n, c, index))
                else:
                    v = self.registers[key].value if key in self.registers else self.zero
                known[c] = -v if negate else v
            out.append(known[c])
            keys.append(key if file == "r" else None)
        return out, keys

    # -- results ------------------------------------------------------------------------------------------------
    def _masked(self, var: Var, value: Value, mask: Value | None) -> None:
        value = self.k.fit(value, var.type, var.lanes)
        var.value = value if mask is None else self.k.select(mask, value, var.value)

    def instruction(self, address: int) -> None:
        """One instruction that is not flow control."""
        word, op = self.graph.code[address], self.graph.opcode_at(address)
        if op.name == "EMIT":
            self._emit()
        elif op.name == "SETEMIT" and self.emission is not None:
            self.emission.set(word, self.mask)
        if not op.sources:
            return  # NOP and undefined opcodes
        fmt, alu = op.format, self.alu
        desc = self.graph.descriptors[fmt.get(word, "desc")]
        written = components(descriptor(desc, "mask"))
        operands = [self._source(word, fmt, n, desc) for n in range(1, op.sources + 1)]
        s, t, u = ([*(vector for vector, _ in operands), [], []])[:3]
        if fmt is F1C:
            for c, name in enumerate(("cmpx", "cmpy")):
                self._masked(self.cmp[c], alu.compare(fmt.get(word, name), s[c], t[c]), self.mask)
            return
        if op.name == "MOVA":
            for c in written:
                if c < 2:
                    self._masked(self.a0[c], alu.address(s[c]), self.mask)
            return
        operation = OPERATIONS[operation_name(op)]
        values = operation.compute(alu, s, t, u)
        if op.name == "LITP":
            for c, i in ((0, 0), (1, 3)):
                self._masked(self.cmp[c], s[i] >= 0.0, self.mask)
        kind, number = self._destination(fmt.get(word, "dst"))
        keys: list[Key] = [(kind, number, c) for c in written]
        if alu.suspects is not None:
            self._follow(operation, [names for _, names in operands], keys)
        for key in keys:
            self._masked(self.registers[key], values[key[2]], self.mask)

    def _follow(self, operation: Operation, sources: list[list[Key | None]], written: list[Key]) -> None:
        """Update `pending`: registers that may hold the NaN of a product that has not been tested yet.

        If a result is NaN whenever a source is, only the result needs a test.
        """
        parts = {"first": ((0,), ()), "dot3": ((0, 1, 2),) * 2, "dot4": ((0, 1, 2, 3),) * 2}
        parts["doth"] = ((0, 1, 2), (0, 1, 2, 3))
        passed: set[Key | None] = set()
        if written and operation.spreads == "each":
            passed = {names[key[2]] for names in sources for key in written}
        elif written and operation.spreads:
            passed = {sources[i][c] for i, chosen in enumerate(parts[operation.spreads]) for c in chosen}
        carried = [key for key in self.pending if key in passed]
        for key in carried:
            del self.pending[key]
        self._look([key for key in written if key in self.pending])
        if operation.products or carried:
            self.pending.update(dict.fromkeys(written))

    def _look(self, keys: Sequence[Key]) -> None:
        self.alu.watch([self.registers[key].value for key in keys])
        for key in keys:
            del self.pending[key]

    def _emit(self) -> None:
        if self.emission is None:
            return
        self._look([key for key in self.pending if key[0] == "o"])  # the banks are about to be exchanged
        outputs = [(4 * n + c, lambda v=v: v.value) for (kind, n, c), v in self.registers.items() if kind == "o"]
        self.emission.emit(outputs, self.mask)
        for key, bank in self.banks.items():
            front = self.registers[key].value
            self._masked(self.registers[key], bank.value, self.mask)
            self._masked(bank, front, self.mask)

    # -- control ------------------------------------------------------------------------------------------------
    def _integer(self, number: int, component: str) -> Value:
        return self.live(f"VSH_INTUNIFORM_I{number}.{component}")

    def _condition(self, when: tuple[Any, ...]) -> Value:
        if when[0] == "bool":
            return ((self.live("VSH_BOOLUNIFORM.bools") >> when[1]) & 1) == when[2]
        if when[0] == "again":
            return self.counters[when[1].level].value >= 0
        _, op, refx, refy = when
        x, y = (c.value if ref else ~c.value for c, ref in zip(self.cmp, (refx, refy), strict=True))
        return (x | y, x & y, x, y)[op]

    def _act(self, actions: Sequence[Action], mask: Value | None) -> None:
        for what, frame in actions:
            counter, saved = self.counters[frame.level], self.saved[frame.level]
            if what == "enter":
                self._masked(saved, self.al.value, mask)
                self._masked(self.al, self._integer(frame.integer, "y"), mask)
                self._masked(counter, self._integer(frame.integer, "x"), mask)
            elif what == "step":
                self._masked(self.al, self.al.value + self._integer(frame.integer, "z"), mask)
                self._masked(counter, counter.value - 1, mask)
            else:
                self._masked(self.al, saved.value, mask)

    def _body(self, node: Node, mask: Value | None) -> None:
        self.mask = mask
        for address in node.addresses:
            self.instruction(address)
        self._look(list(self.pending))

    def _hang(self, mask: Value | None) -> None:
        self.stuck.value = (self.k.iota() >= 0) if mask is None else self.stuck.value | mask

    def run(self, inside: Value) -> None:
        """The whole program for the lanes of this pass; `inside` are the lanes with a vertex."""
        graph = self.graph
        if graph.start < 0:
            return
        meet = graph.meeting_points()
        if meet is not None and graph.bounded() and _copies(graph, meet) <= 4 * len(graph.nodes):
            self._nested(graph.start, ENDED, None, meet)
        else:
            self._dispatch(inside)

    # -- as nested branches -------------------------------------------------------------------------------------
    def _nested(self, number: int, stop: int, mask: Value | None, meet: dict[int, int]) -> None:
        """Run from a node up to node `stop`."""
        while number != stop:
            node = self.graph.nodes[number]
            self._body(node, mask)
            self._split(node.exits, mask, meet[number], meet)
            number = meet[number]

    def _split(self, exits: list[Exit], mask: Value | None, stop: int, meet: dict[int, int]) -> None:
        """Follow the paths from a node up to where they meet."""
        if not exits:
            return
        k, exit = self.k, exits[0]
        self._act(exit.before, mask)

        def go(where: Value | None) -> None:
            self._act(exit.after, where)
            if exit.to == HUNG:
                self._hang(where)
            else:
                self._nested(exit.to, stop, where, meet)

        if exit.when is None:
            go(mask)
            return
        condition = self._condition(exit.when)
        if condition.lanes == 1:
            k.branch(condition, lambda: go(mask), lambda: self._split(exits[1:], mask, stop, meet))
            return
        here = condition if mask is None else condition & mask
        there = ~condition if mask is None else ~condition & mask
        if exit.to != stop or exit.after:
            for _ in k.when(k.any(here)):
                go(here)
        if exits[1].to != stop or exits[1].after or exits[1].before or exits[1].when:
            for _ in k.when(k.any(there)):
                self._split(exits[1:], there, stop, meet)

    # -- as a dispatch loop -------------------------------------------------------------------------------------
    def _dispatch(self, inside: Value) -> None:
        nodes, k = self.graph.nodes, self.k
        wide = self.graph.diverges
        done = len(nodes)
        start = self.graph.start
        node = k.var(k.select(inside, start, done) if wide else start)
        steps = self.steps = k.var(k.splat(0) if wide else k.i32(0))

        def enter(number: int) -> Callable[[], None]:
            def body() -> None:
                mask = (node.value == number) if wide else None
                self._masked(steps, steps.value + nodes[number].count, mask)
                self._body(nodes[number], mask)
                left, end = mask, done
                for exit in nodes[number].exits:
                    self._act(exit.before, left)
                    if exit.when is None:
                        taken = left
                    else:
                        c = self._condition(exit.when)
                        taken = c if left is None else c & left
                    self._act(exit.after, taken)
                    to = exit.to if exit.to >= 0 else done
                    if exit.to == HUNG:
                        self._hang(k.splat(taken) if taken is not None else None)
                    self._masked(node, k.i32(to), taken)
                    if exit.when is None:
                        return
                    assert taken is not None
                    left = ~taken if left is None else left & ~taken
                self._masked(node, k.i32(end), left)

            return body

        lowest = lambda: k.reduce("min", node.value) if wide else node.value
        for _ in k.loop(lambda: lowest() < done):
            k.switch(lowest(), [enter(number) for number in range(done)])
            over = steps.value > INSTRUCTION_LIMIT
            self.stuck.value = self.stuck.value | over
            self._masked(node, k.i32(done), over)


def _copies(graph: ProgramGraph, meet: dict[int, int]) -> int:
    """The number of nodes that nested branches would contain; paths that do not nest are repeated."""
    limit = 4 * len(graph.nodes) + 1
    total = 0

    def walk(number: int, stop: int) -> None:
        nonlocal total
        while number != stop and total < limit:
            total += 1
            for exit in graph.nodes[number].exits:
                if exit.to >= 0 and meet[number] != exit.to:
                    walk(exit.to, meet[number])
            number = meet[number]

    walk(graph.start, ENDED)
    return total


def indexed_uniform(k: Lang, uniforms: Value, number: Value, component: int | Value, offset: Value) -> Value:
    """c[number + offset].component: an offset outside of a signed byte counts as 0, an index after c95 reads as 1.

    Source: 3dbrew GPU/Shader Instruction Set, "Relative addressing".
    """
    near = (offset >= -128) & (offset <= 127)
    place = (k.select(near, offset, 0) + number) & 0x7F
    beyond = place > 95
    safe = (k.select(beyond, 0, place) << 4) + (component << 2)
    if place.lanes == uniforms.lanes == 1:
        value = k.splat(k.load(F32, uniforms + k.to_i64(safe)))
    elif uniforms.type is I32:  # the arena ends below 2 GiB
        value = k.gather(F32, uniforms + safe)
    else:
        value = k.gather(F32, k.to_i64(safe) + uniforms)
    return k.select(beyond, 1.0, value)


def _shade(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value, graph: ProgramGraph,
    exact: bool, control: int, state: Value | None = None, log: Value | None = None,
) -> None:  # fmt: skip
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    row = 4 * CHUNK
    for v in k.range(0, count, k.lanes):
        at = k.to_i64(v << 2)
        inside = k.iota() + v < count
        read = lambda register, c, at=at: k.load(F32, inputs + at + row * (4 * register + c), lanes=k.lanes)
        start = Start(k, state, log, v)
        shader = Shader(k, graph, uniforms, live, exact, start, read)
        shader.run(inside)
        for (kind, number, c), var in shader.registers.items():
            if kind == "o":
                k.store(F32, outputs + at + row * (4 * number + c), var.value)
        if state is not None:
            store_state(k, outputs + at, shader.cmp, shader.a0, shader.al, shader.stuck, shader.emission)
        settle(k, control, shader.stuck.value, shader.steps.value if shader.steps else None, inside)
        suspects = shader.alu.suspects
        if suspects is not None:
            for _ in k.when(k.any(suspects.value & inside)):
                k.store(I32, control + CONTROL.NAN_PRODUCTS, 1)


def store_state(
    k: Lang, outputs: Value, cmp: list[Var], a0: list[Var], al: Var, stuck: Var, emission: EmitState | None
) -> None:
    """Write the rows after the output components."""
    rows = {
        COND_X: k.select(cmp[0].value, 1, 0), COND_Y: k.select(cmp[1].value, 1, 0),
        A0_X: a0[0].value, A0_Y: a0[1].value, A_L: al.value, STUCK: k.select(stuck.value, 1, 0),
        EMIT_STATE: k.i32(0) if emission is None else emission.state.value,
        EMIT_COUNT: emission.count.value if isinstance(emission, EmissionLog) else k.i32(0),
    }  # fmt: skip
    for number, value in rows.items():
        k.store(I32, outputs + 4 * CHUNK * number, k.splat(value))


@kernel(inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32)
def vertex_program(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value,
    *, code: bytes, descriptors: bytes, entry: int, exact: bool, control: int, rules: Rules = DEFAULT_RULES,
) -> None:  # fmt: skip
    """Run a vertex program on `count` vertices.

    inputs, outputs: arena offsets of 64 rows (register * 4 + component) of CHUNK floats each. Output registers that the
    program never writes are unchanged. Sets NAN_PRODUCTS and HANG in the control block.
    """
    graph = program_of(code, descriptors, entry, rules)
    _shade(k, inputs, outputs, uniforms, packet, count, graph, exact, control)


@kernel(inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32, state=I64, log=I64)
def unit_program(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value, state: Value, log: Value,
    *, code: bytes, descriptors: bytes, entry: int, exact: bool, control: int, rules: Rules,
) -> None:  # fmt: skip
    """As `vertex_program`, but from a state (condition registers x, y; a0.x, a0.y, aL: five words) to a state.

    outputs: RESULT_ROWS rows. log: where EMIT writes (LOG_BYTES), for programs that use it.
    """
    graph = program_of(code, descriptors, entry, rules)
    emits = log if graph.names & {"EMIT", "SETEMIT"} else None
    _shade(k, inputs, outputs, uniforms, packet, count, graph, exact, control, state, emits)


__all__ = [
    "RESULT_ROWS",
    "Shader",
    "Start",
    "indexed_uniform",
    "store_state",
    "unit_program",
    "vertex_program",
]
