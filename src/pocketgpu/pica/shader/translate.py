"""A shader program as lane code: one lane per vertex, registers as variables, the node graph as a dispatch loop.

A program whose control flow depends on uniforms only has one program counter for all lanes; its code has no masks. One
that branches on CMP results keeps a node number for each lane and runs the smallest one first, so lanes meet again
where the paths join. Straight programs have no dispatch at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...facts.shader_isa import F1C, F5I, LOOP_DEPTH, descriptor
from ...lanes import F32, I32, I64, Lang, Value, Var, kernel
from ..layout import CHUNK, CONTROL, PACKET_REGISTERS
from ..registers import LiveRegisters
from . import arithmetic as alu
from .program import Exit, Node, Program

# Nodes that one group of vertices may run through; beyond it the program is taken to hang.
STEP_LIMIT = 1 << 16


@lru_cache(maxsize=256)
def program_of(code: bytes, descriptors: bytes, entry: int) -> Program:
    """The graph of a program given as little-endian words."""
    words = tuple(memoryview(code).cast("I"))
    return Program(words, tuple(memoryview(descriptors).cast("I")), entry)


class _Shader:
    """Translates one program; `registers` supplies booleans and integers, uniforms lie at `uniforms`."""

    def __init__(self, k: Lang, program: Program, uniforms: Value, live: LiveRegisters, exact: bool) -> None:
        self.k, self.program, self.uniforms, self.live = k, program, uniforms, live
        self.mul = alu.Multiplier(k, exact)
        self.zero = k.splat(0.0, type=F32)
        self.temps: dict[tuple[str, int, int], Var] = {}
        self.cmp = [k.var(k.iota() < 0) for _ in range(2)]
        self.a0 = [k.var(k.splat(0)) for _ in range(2)]
        wide = program.diverges
        self.al = k.var(k.splat(0)) if wide else k.var(0)
        self.counters = [k.var(k.splat(0)) if wide else k.var(0) for _ in range(LOOP_DEPTH)]
        self.mask: Value | None = None
        self.input: Callable[[int, int], Value] = lambda register, component: self.zero
        self._declare()

    def _declare(self) -> None:
        """Variables of every register the program can write, before any loop is open."""
        for _, word, op in self.program.instructions():
            if op.sources and op.name not in ("CMP", "MOVA"):
                kind, number = self._destination(op.format.get(word, "dst"))
                for c in range(4):
                    if (kind, number, c) not in self.temps:
                        self.temps[kind, number, c] = self.k.var(self.zero)

    @staticmethod
    def _destination(dst: int) -> tuple[str, int]:
        return ("o", dst) if dst < 16 else ("r", dst - 16)

    # -- operands -----------------------------------------------------------------------------------------------
    def _uniform(self, number: int, component: int, index: int) -> Value:
        """c[number + address register `index`]; 0 no indexing, 1 a0.x, 2 a0.y, 3 aL."""
        k = self.k
        if index == 0:
            return k.splat(k.load(F32, self.uniforms + (16 * number + 4 * component)))
        offset = self.al.value if index == 3 else self.a0[index - 1].value
        near = (offset >= -128) & (offset <= 127)
        place = (k.select(near, offset, 0) + number) & 0x7F
        beyond = place > 95
        safe = (k.select(beyond, 0, place) << 4) + 4 * component
        if place.lanes == 1:
            value = k.splat(k.load(F32, self.uniforms + k.to_i64(safe)))
        else:
            value = k.gather(F32, k.to_i64(safe) + self.uniforms)
        return k.select(beyond, 1.0, value)

    def _source(self, word: int, fmt: Any, number: int, desc: int) -> list[Value]:
        """Source operand `number` (1-3), swizzled and negated."""
        register = fmt.get(word, f"src{number}")
        selector, negate = descriptor(desc, f"sel{number}"), descriptor(desc, f"neg{number}")
        index = fmt.get(word, "idx") if fmt.wide == f"src{number}" else 0
        out: list[Value] = []
        for i in range(4):
            c = (selector >> (6 - 2 * i)) & 3
            if register < 0x10:
                v = self.input(register, c)
            elif register < 0x20:
                var = self.temps.get(("r", register - 0x10, c))
                v = var.value if var is not None else self.zero
            else:
                v = self._uniform(register - 0x20, c, index)
            out.append(-v if negate else v)
        return out

    # -- results ------------------------------------------------------------------------------------------------
    def _masked(self, var: Var, value: Value) -> None:
        value = self.k.fit(value, var.type, var.lanes)
        var.value = value if self.mask is None else self.k.select(self.mask, value, var.value)

    def _write(self, word: int, fmt: Any, desc: int, components: list[Value]) -> None:
        kind, number = self._destination(fmt.get(word, "dst"))
        for c in range(4):
            if descriptor(desc, "mask") >> (3 - c) & 1:
                self._masked(self.temps[kind, number, c], components[c])

    def instruction(self, address: int) -> None:
        """One instruction that is no flow control."""
        word, op = self.program.code[address], self.program.opcode_at(address)
        if not op.sources:
            return  # NOP, undefined; EMIT and SETEMIT matter to geometry shaders only
        fmt, k, mul = op.format, self.k, self.mul
        desc = self.program.descriptors[fmt.get(word, "desc")]
        s, *rest = [self._source(word, fmt, n, desc) for n in range(1, op.sources + 1)]
        if op.format is F1C:
            for c, name in enumerate(("cmpx", "cmpy")):
                self._masked(self.cmp[c], alu.compare(k, fmt.get(word, name), s[c], rest[0][c]))
            return
        if op.name == "MOVA":
            for c in range(2):
                if descriptor(desc, "mask") >> (3 - c) & 1:
                    self._masked(self.a0[c], k.to_i32(s[c], -(1 << 20), 1 << 20))
            return
        name = (
            op.name.removesuffix("I") if op.format in (F5I,) or op.name in ("DPHI", "DSTI", "SGEI", "SLTI") else op.name
        )
        self._write(word, fmt, desc, self._compute(name, s, *rest))

    def _compute(
        self, name: str, s: list[Value], t: list[Value] | None = None, u: list[Value] | None = None
    ) -> list[Value]:
        k, mul = self.k, self.mul
        if name in ("DP3", "DP4", "DPH"):
            assert t is not None
            terms = [mul(a, b) for a, b in zip(s[:3], t[:3], strict=True)]
            if name != "DP3":
                terms.append(mul(s[3], t[3]) if name == "DP4" else t[3])
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            return [mul.watch(total)] * 4
        if name in ("EX2", "LG2", "RCP", "RSQ"):
            f = {"EX2": alu.exp2, "LG2": alu.log2, "RCP": alu.reciprocal, "RSQ": alu.reciprocal_sqrt}[name]
            return [f(k, s[0])] * 4
        if name == "LITP":
            for c, i in ((0, 0), (1, 3)):
                self._masked(self.cmp[c], s[i] >= 0.0)
            bound = 127.9961
            return [k.max(s[0], 0.0), k.clamp(s[1], -bound, bound), self.zero, k.max(s[3], 0.0)]
        if name in ("FLR", "MOV"):
            return [k.floor(a) for a in s] if name == "FLR" else s
        assert t is not None
        if name == "DST":
            return [self.zero + 1.0, mul.watch(mul(s[1], t[1])), s[2], t[3]]
        if name == "MAD":
            assert u is not None
            return [mul.watch(mul(a, b) + c) for a, b, c in zip(s, t, u, strict=True)]
        component: dict[str, Callable[[Value, Value], Value]] = {
            "ADD": lambda a, b: a + b,
            "MUL": lambda a, b: mul.watch(mul(a, b)),
            "SGE": lambda a, b: k.to_f32(a >= b),
            "SLT": lambda a, b: k.to_f32(a < b),
            "MAX": k.max,
            "MIN": k.min,
        }
        return [component[name](a, b) for a, b in zip(s, t, strict=True)]

    # -- control ------------------------------------------------------------------------------------------------
    def _integer(self, number: int, component: str) -> Value:
        return self.live(f"VSH_INTUNIFORM_I{number}.{component}")

    def _condition(self, when: tuple[Any, ...]) -> Value:
        k = self.k
        if when[0] == "bool":
            return ((self.live("VSH_BOOLUNIFORM.bools") >> when[1]) & 1) == when[2]
        if when[0] == "again":
            return self.counters[when[1]].value >= 0
        _, op, refx, refy = when
        x, y = (c.value if ref else ~c.value for c, ref in zip(self.cmp, (refx, refy), strict=True))
        return (x | y, x & y, x, y)[op]

    def _leave(self, exits: list[Exit], go: Callable[[int, Value | None], None]) -> None:
        """Take the first exit whose condition holds; `go(node, where)` moves the lanes of `where` (None: all left)."""
        k = self.k
        left = self.mask
        for exit in exits:
            for frame in exit.rounds:
                counter = self.counters[frame.level]
                self._step(self.al, self.al.value + self._integer(frame.integer, "z"), left)
                self._step(counter, counter.value - 1, left)
            if exit.when is None:
                taken = left
            else:
                c = self._condition(exit.when)
                taken = c if left is None else c & left
            if exit.enter is not None:
                self._step(self.al, k.fit(self._integer(exit.enter.integer, "y"), I32, self.al.lanes), taken)
                counter = self.counters[exit.enter.level]
                self._step(counter, k.fit(self._integer(exit.enter.integer, "x"), I32, counter.lanes), taken)
            go(exit.to, taken)
            if exit.when is None:
                return
            assert taken is not None
            left = ~taken if left is None else left & ~taken
        go(-1, left)

    def _step(self, var: Var, value: Value, where: Value | None) -> None:
        var.value = value if where is None else self.k.select(where, value, var.value)

    def run(self, hang: Callable[[], None]) -> None:
        """The whole program for the lanes of this pass."""
        nodes = self.program.nodes
        if len(nodes) == 1 and not nodes[0].exits:
            self._body(nodes[0])
            return
        k = self.k
        steps = k.var(0)
        wide = self.program.diverges
        node = k.var(k.splat(self.program.start)) if wide else k.var(self.program.start)
        done = len(nodes)

        def go(to: int, where: Value | None) -> None:
            target = k.fit(to if to >= 0 else done, I32, node.lanes)
            node.value = target if where is None else k.select(where, target, node.value)

        def enter(item: Node) -> Callable[[], None]:
            def body() -> None:
                self._body(item)
                self._leave(item.exits, go)

            return body

        def lowest() -> Value:
            return k.reduce("min", node.value) if wide else node.value

        for _ in k.loop(lambda: (lowest() < done) & (steps.value < STEP_LIMIT)):
            steps.value = steps.value + 1
            current = lowest()
            self.mask = (node.value == current) if wide else None
            k.switch(current, [enter(item) for item in nodes])
        self.mask = None
        for _ in k.when(steps.value >= STEP_LIMIT):
            hang()

    def _body(self, node: Node) -> None:
        for address in node.addresses:
            self.instruction(address)


@kernel(inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32)
def vertex_program(
    k: Lang, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value,
    *, code: bytes, descriptors: bytes, entry: int, exact: bool, control: int,
) -> None:  # fmt: skip
    """Run a vertex program on `count` vertices.

    inputs, outputs: arena offsets of 64 rows (register * 4 + component) of CHUNK floats each. Output registers that
    the program never writes keep what is there. Sets NAN_PRODUCTS and HANG in the control block.
    """
    program = program_of(code, descriptors, entry)
    live = LiveRegisters(k, packet + PACKET_REGISTERS)

    def hang() -> None:
        k.store(I32, control + CONTROL.HANG, 1)

    row = 4 * CHUNK
    for v in k.range(0, count, k.lanes):
        at = k.to_i64(v << 2)
        shader = _Shader(k, program, uniforms, live, exact)
        shader.input = lambda register, c, at=at: k.load(  # type: ignore[misc]
            F32, inputs + at + row * (4 * register + c), lanes=k.lanes
        )
        shader.run(hang)
        for (kind, number, c), var in shader.temps.items():
            if kind == "o":
                k.store(F32, outputs + at + row * (4 * number + c), var.value)
        suspects = shader.mul.suspects
        if suspects is not None:
            for _ in k.when(k.any(suspects.value & (k.iota() + v < count))):
                k.store(I32, control + CONTROL.NAN_PRODUCTS, 1)


__all__ = ["STEP_LIMIT", "program_of", "vertex_program"]
