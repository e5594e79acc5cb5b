"""Instructions on attributes of vertices, patches and invocations: loads, stores, and emitting vertices.

Maps and columns say where attributes lie (graphics/records.py). Sources: drivers' compilers and simulators agree on a[]
and on the meaning of operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pocketgpu.lanes import BOOL, I32, Lang, Value
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.semantics.known import Flag, both, either, opposite
from pocketgpu.maxwell.sass.stages.stage import (
    CONTROL,
    EVALUATION,
    GEOMETRY,
    NONE,
    OF_INVOCATION,
    PIXEL,
    WORD_MASK,
    one_of,
)
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, VECTOR

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.steps import Step
    from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine

ENDS_STRIP = 1 << 8
"""Bit of the word of an emitted vertex: its strip ends with it. The stream is in the bits below."""
MOST_VERTICES = 32
"""Vertices of a primitive that comes in: patches have up to 32."""


class _AttributeWord:
    """One word of an access to attributes: of inputs, of outputs or of a patch."""

    def __init__(self, m: WarpMachine, step: Step, n: int, writes: bool, mask: Value) -> None:
        self.m, self.k, self.step, self.mask = m, m.k, step, mask
        self.address = step.offset + 4 * n
        self.named, self.vertex = step.sources[0].n != RZ, step.sources[0]
        self.patch: Flag = step.mods["p"] != 0
        self.known: Flag = step.base == RZ
        self.of_invocation = both(self.known, one_of(self.address, *OF_INVOCATION))
        # Evaluation programs read their coordinates from outputs.
        asked = step.mods["o"] != 0
        self.outputs: Flag = (
            True if writes else both(asked, opposite(both(self.of_invocation, one_of(m.stage, EVALUATION))))
        )

    @property
    def simple(self) -> Flag:
        """Whether it is one vector: each lane's own column, and the same word for all."""
        stage, named = self.m.stage, self.named
        elsewhere = either(both(one_of(stage, CONTROL), named), one_of(stage, GEOMETRY))
        late = one_of(stage, CONTROL, EVALUATION, GEOMETRY)
        by_vertex = both(late, both(named, opposite(self.of_invocation)))
        moved = either(both(self.outputs, elsewhere), both(opposite(self.outputs), by_vertex))
        return both(self.known, both(opposite(self.patch), opposite(moved)))

    def _choose(self, flag: Flag, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        return self.k.branch(flag, then, otherwise)

    def vector(self) -> Value:
        """Where the vector is (scalar), if it is one."""
        k, p = self.k, self.m.place

        def place(table: int, page: int) -> Value:
            address = k.fit(self.address & WORD_MASK, I32, 1)
            return p.of_block(page) + k.load(I32, p.of_launch(table) + address)

        out, into = (lambda: place(LAUNCH.OUT_MAP, BLOCK.OUT_AT)), (lambda: place(LAUNCH.IN_MAP, BLOCK.IN_AT))
        return self._choose(self.outputs, out, into)

    def _offset(self, table: int) -> Value:
        """Where the word is from the beginning of a column, in lanes."""
        k, at = self.k, self.m.place.of_launch(table)
        known = lambda: k.splat(k.load(I32, at + k.fit(self.address & WORD_MASK, I32, 1)))
        by_lane = lambda: k.gather(I32, at + ((self.m.register(self.step.base) + self.address) & WORD_MASK))
        return self._choose(self.known, known, by_lane)

    def lanes(self) -> Value:
        """Where the word of each lane is; 0 for inactive lanes."""
        k, p, m = self.k, self.m.place, self.m
        own = k.iota() << 2
        vertex = lambda: m.word(self.vertex)

        def of_patch() -> Value:
            return k.load(I32, p.of_block(BLOCK.PATCHES_AT), LANES) + self._offset(LAUNCH.PATCH_MAP)

        def of_inputs() -> Value:
            def by_vertex() -> Value:
                good = vertex().below(k.min(p.of_launch(LAUNCH.VERTICES), MOST_VERTICES))
                columns = p.of_block(BLOCK.VERTICES_AT) + own + k.select(good, vertex(), 0) * VECTOR
                return k.select(good, k.gather(I32, columns, self.mask), 0)

            mine = lambda: p.of_block(BLOCK.IN_AT) + own
            late = both(one_of(m.stage, CONTROL, EVALUATION, GEOMETRY), self.named)
            return self._choose(late, by_vertex, mine) + self._offset(LAUNCH.IN_MAP)

        def of_outputs() -> Value:
            at = p.of_block(BLOCK.OUT_AT)
            # Threads of a patch name each other by lane.
            thread = lambda: at + ((vertex() & (LANES - 1)) << 2)
            emitted = lambda: at + own + emitted_by(m) * p.of_launch(LAUNCH.OUT_STRIDE)
            plain = lambda: at + own
            named = lambda: self._choose(both(one_of(m.stage, CONTROL), self.named), thread, plain)
            return self._choose(one_of(m.stage, GEOMETRY), emitted, named) + self._offset(LAUNCH.OUT_MAP)

        found = self._choose(self.patch, of_patch, lambda: self._choose(self.outputs, of_outputs, of_inputs))
        return k.select(self.mask, found, 0)


def emitted_by(m: WarpMachine) -> Value:
    """How many vertices each lane has emitted."""
    return m.k.load(I32, m.place.of_block(BLOCK.EMITTED_AT), LANES)


def _writable(m: WarpMachine, patch: Flag, mask: Value) -> Value:
    """The lanes of `mask` whose store takes effect. patch: the store is to the patch (.P).

    None in pixel programs and outside of stages. Stores to the patch: control programs only. Geometry programs: only
    lanes that have emitted fewer vertices than the limit.
    """
    k = m.k
    allowed = both(opposite(one_of(m.stage, NONE, PIXEL)), either(opposite(patch), one_of(m.stage, CONTROL)))
    few = lambda: k.ballot(emitted_by(m) < m.place.of_launch(LAUNCH.MOST_EMITTED))
    room = k.branch(one_of(m.stage, GEOMETRY), few, lambda: k.i32(-1))
    return mask & k.mask_of(k.branch(allowed, lambda: room, lambda: k.i32(0)))


def above(k: Lang, n: Any, count: int) -> Any:
    """The register `count` after another; RZ for RZ."""
    if isinstance(n, int):
        return n if n == RZ else n + count
    return k.select(n == RZ, RZ, n + count)


def attribute_load(m: WarpMachine, step: Step, mask: Value) -> None:
    """ALD: words of inputs, of outputs (.O) or of a patch (.P), of the vertex that a register names."""
    k, size = m.k, step.mods["size"]
    for n in range(4):
        for _ in k.when(size >= n):
            access = _AttributeWord(m, step, n, False, mask)
            vector = lambda access=access: k.load(I32, access.vector(), LANES)
            gathered = lambda access=access: k.gather(I32, access.lanes())
            m.set_register(above(k, step.dest, n), k.branch(access.simple, vector, gathered), mask)


def attribute_store(m: WarpMachine, step: Step, mask: Value) -> None:
    """AST: words into outputs, or into the patch (.P)."""
    k, size = m.k, step.mods["size"]
    mask = _writable(m, step.mods["p"] != 0, mask)
    for n in range(4):
        for _ in k.when(size >= n):
            access = _AttributeWord(m, step, n, True, mask)
            v = m.word(step.sources[1], n)
            vector = lambda access=access, v=v: k.store(I32, access.vector(), v, mask)
            scattered = lambda access=access, v=v: k.scatter(I32, access.lanes(), v, mask)
            k.branch(access.simple, vector, scattered)


def attribute_address(m: WarpMachine, step: Step, mask: Value) -> None:
    """AL2P: a physical address. Here attributes have only one address."""
    k = m.k
    m.set_register(step.dest, m.word(step.sources[0]) + step.offset, mask)
    m.set_result(step, k.fit(False, BOOL, LANES), mask)


def vertex_handle(m: WarpMachine, step: Step, mask: Value) -> None:
    """ISBERD: the handle of a vertex of the primitive, which is its number here."""
    m.set_register(step.dest, m.register(step.base), mask)


def emit(m: WarpMachine, step: Step, mask: Value) -> None:
    """OUT: a vertex is complete, or a strip ends with the last one (or both)."""
    k, mods = m.k, step.mods
    stage = one_of(m.stage, GEOMETRY)

    def run() -> None:
        at = m.place.of_block(BLOCK.EMITTED_AT)
        own = (k.iota() << 2) + at
        stream = m.word(step.sources[1]) & 3

        def complete() -> None:
            count = emitted_by(m)
            fits = mask & (count < m.place.of_launch(LAUNCH.MOST_EMITTED))
            k.scatter(I32, own + k.select(fits, count + 1, 0) * VECTOR, stream, fits)
            k.store(I32, at, count + 1, fits)

        def cut() -> None:
            count = emitted_by(m)
            some = mask & (count > 0)
            last = own + k.select(some, count, 0) * VECTOR
            k.scatter(I32, last, k.gather(I32, last) | ENDS_STRIP, some)

        for _ in k.when((mods["op"] & 1) != 0):
            complete()
        for _ in k.when((mods["op"] & 2) != 0):
            cut()

    for _ in k.when(stage):
        run()
    m.set_register(step.dest, m.word(step.sources[0]), mask)
