"""Traces of the 3DS's shader unit: one vertex, or one primitive of a geometry program.

The unit's own interpreter runs, with the arithmetic of every other run. A subclass of it records what it reads, and all
registers before and after each instruction. No semantics of instructions are repeated here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.facts.pica import BOOLEAN_UNIFORMS, FLOAT_UNIFORMS, INTEGER_UNIFORMS
from pocketgpu.facts.shader_isa import (
    EMITTED,
    F1C,
    ONLY_X,
    ONLY_Y,
    UNIFORMS,
    Opcode,
    components,
    descriptor,
    selected,
    source_register,
    target_register,
)
from pocketgpu.inspect.stepping.forced_registers import Forced, check_forced
from pocketgpu.inspect.stepping.groups import RegisterGroup
from pocketgpu.inspect.stepping.memory_words import WORD
from pocketgpu.inspect.stepping.program_text import ProgramText
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.step import Change, Emitted, Step
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.trace_memory import TraceMemory
from pocketgpu.inspect.stepping.unit_listing import UnitListing
from pocketgpu.interruption import look
from pocketgpu.lanes import I32
from pocketgpu.lanes import Value as LaneValue
from pocketgpu.pica.core.registers import register_id
from pocketgpu.pica.shader.arithmetic import OPERATIONS, operation_name
from pocketgpu.pica.shader.disassembler import instruction_text
from pocketgpu.pica.shader.emission import EmissionLog
from pocketgpu.pica.shader.interpreter import DONE, OUTPUTS, Interpreter
from pocketgpu.pica.shader.limits import INSTRUCTION_LIMIT
from pocketgpu.pica.shader.program import opcode
from pocketgpu.pica.shader.unit import Program
from pocketgpu.wording import agreed, counted

MOST = 4096
"""How many steps are kept by default; the unit itself stops a vertex after 65536."""

_COMPONENTS = "xyzw"
_FILE = tuple(f"{letter}{n}.{c}" for letter in "vro" for n in range(16) for c in _COMPONENTS)
_STATE = ("cmp.x", "cmp.y", "a0.x", "a0.y", "aL", "loop", "setemit")
"""Registers besides those of the file. loop: rounds left in the innermost loop. setemit: fields of the last SETEMIT."""
NAMES = (*_FILE, *_STATE)
_FLOATS = tuple(f"c{n}.{c}" for n in range(FLOAT_UNIFORMS) for c in _COMPONENTS)
_INTEGERS = tuple(f"i{n}.{c}" for n in range(INTEGER_UNIFORMS) for c in _COMPONENTS)
_BOOLEANS = tuple(f"b{n}" for n in range(BOOLEAN_UNIFORMS))
SETTABLE = (*(name for name in NAMES if name not in ("loop", "setemit")), *_FLOATS, *_INTEGERS, *_BOOLEANS)
"""Registers and uniforms that can be given other values; the rest is state of the unit."""
KINDS = dict.fromkeys(_FILE, "f32") | dict.fromkeys(_STATE, "i32") | {"cmp.x": "bool", "cmp.y": "bool"}
_ADDRESSES = ("", "a0.x", "a0.y", "aL")
GROUPS = (
    RegisterGroup("inputs", _FILE[:64], given=True),
    RegisterGroup("temporaries", _FILE[64:128]),
    RegisterGroup("outputs", _FILE[128:]),
    RegisterGroup("conditions", ("cmp.x", "cmp.y")),
    RegisterGroup("address registers", ("a0.x", "a0.y", "aL")),
    RegisterGroup("state of the unit", ("loop", "setemit"), given=True),
)
_ROW = 64  # components of each kind of register in the file
assert OUTPUTS * 4 == 2 * _ROW

CONDITIONAL = ("BREAKC", "CALLC", "IFC", "JMPC", "CALLU", "IFU", "JMPU")
"""Conditional flow instructions."""

Terms = Callable[[int], Sequence[tuple[int, int]]]


def _each(c: int) -> Sequence[tuple[int, int]]:
    return (0, c), (1, c), (2, c)


_DOT3 = tuple((n, c) for n in range(2) for c in range(3))
TERMS: Mapping[str, Terms] = {
    "each": _each,
    "first": lambda c: ((0, 0),),
    "dot3": lambda c: _DOT3,
    "doth": lambda c: (*_DOT3, (1, 3)),
    "dot4": lambda c: (*_DOT3, (0, 3), (1, 3)),
}
"""The (source, component) pairs that a result component depends on, by `Operation.spreads`; sources count from 0."""
OWN_TERMS: Mapping[str, Terms] = {
    "DST": lambda c: ((), ((0, 1), (1, 1)), ((0, 2),), ((1, 3),))[c],
    "LITP": lambda c: () if c == 2 else ((0, c),),
}
"""The same for operations with other dependencies."""


def _terms(name: str) -> Terms:
    return OWN_TERMS.get(name) or TERMS[OPERATIONS[name].spreads or "each"]


def _lane(value: Any) -> Any:
    """The value of lane 0."""
    return value[0] if isinstance(value, np.ndarray) and value.ndim else value


def _word(value: LaneValue) -> int:
    return int(_lane(value.raw)) & 0xFFFFFFFF


class _Watched(Interpreter):
    """The interpreter; it also records lane 0 into a trace."""

    def __init__(self, trace: Trace, program: Program, most: int, *args: Any) -> None:
        super().__init__(*args)
        self.trace, self.program, self.most = trace, program, most
        assert isinstance(trace.listing, UnitListing)
        self.listing = trace.listing
        self.sources: list[tuple[int, list[int], list[int]]] = []
        self.flow = ""
        self.emitted: Emitted | None = None
        self.before: list[int] = []
        self.texts: dict[int, str] = {}

    # -- values that are read -----------------------------------------------------------------------------------------
    def _words(self) -> list[int]:
        """All registers, in the order of NAMES."""
        file = np.array([_lane(slot) for slot in self.file.slot], np.float32).view(np.uint32)
        loop = _word(self.loops["counter"]) if self._in_loop() else 0
        state = [c.value for c in (*self.cmp, *self.a0, self.al)]
        setemit = _word(self.emission.state.value) if self.emission is not None else 0
        return [*file.tolist(), *(_word(value) for value in state), loop, setemit]

    def _in_loop(self) -> bool:
        loops = self.loops
        return int(_lane(loops["end"].raw)) != -1 and (loops is not self.ifs or int(_lane(loops["kind"].raw)) == 1)

    def _source(
        self, number: LaneValue, selector: LaneValue, negate: LaneValue, index: LaneValue
    ) -> tuple[LaneValue, ...]:
        found = super()._source(number, selector, negate, index)
        register, chosen, indexed = (int(_lane(v.raw)) for v in (number, selector, index))
        if register >= UNIFORMS and indexed:
            offset = int(_lane((self.a0[0], self.a0[1], self.al)[indexed - 1].value.raw))
            register = UNIFORMS + ((register - UNIFORMS + (offset if -128 <= offset <= 127 else 0)) & 0x7F)
        sign = 0x80000000 if _lane(negate.raw) else 0
        words = [int(np.float32(_lane(v.raw)).view(np.uint32)) ^ sign for v in found]
        self.sources.append((register, selected(chosen), words))
        return found

    def _taken(self, name: str, word: LaneValue) -> LaneValue:
        taken = super()._taken(name, word)
        if name in CONDITIONAL:
            self.flow = "taken" if _lane(taken.raw) else "not taken"
        return taken

    def _emit(self) -> None:
        if isinstance(self.emission, EmissionLog):
            state, number = (int(_lane(v.value.raw)) for v in (self.emission.state, self.emission.count))
            kept = partial(EMITTED.get, state)
            outputs = tuple(self.before[2 * _ROW : 3 * _ROW])
            self.emitted = Emitted(number, kept("vertex"), bool(kept("primitive")), bool(kept("winding")), outputs)
        super()._emit()

    def _text(self, word: int) -> str:
        if word not in self.texts:
            self.texts[word] = instruction_text(word, self.program.descriptors, "{:#06x}".format)
        return self.texts[word]

    # -- one instruction ----------------------------------------------------------------------------------------------
    def instruction(self, current: LaneValue, word: LaneValue) -> None:
        look()
        trace = self.trace
        address, bits = int(_lane(current.raw)), int(_lane(word.raw)) & 0xFFFFFFFF
        if len(trace.steps) >= self.most:
            kept = agreed("{is|are} kept, and the program had not ended", self.most)
            trace.cut = f"{counted(self.most, 'step')} {kept}"
            self._set(self.pc, DONE)
            return
        if not self.before:
            self.before = self._words()
            trace.start = dict(zip(NAMES, self.before, strict=True))
        forced = trace.overrides.get(len(trace.steps))
        if forced:
            self._force(forced)
        self.sources, self.flow, self.emitted = [], "", None
        super().instruction(current, word)
        after = self._words()
        op = opcode(bits)
        reads, places = self._reads(op, bits)
        step = Step(
            len(trace.steps), address, address, self._text(bits),
            tuple(reads.values()), self._writes(op, bits, after, reads, places), self.flow, emitted=self.emitted,
            line=self.listing.line_of(address),
        )  # fmt: skip
        if trace.steps:
            trace.steps[-1].to = address
        trace.steps.append(step)
        self.before = after
        self._end(step)

    def _force(self, words: Mapping[str, int]) -> None:
        """Give registers of lane 0 other words."""
        cells: dict[str, Any] = dict(zip(_STATE, (*self.cmp, *self.a0, self.al), strict=False))
        for name, word in words.items():
            if name not in KINDS:
                self._force_uniform(name, word)
            elif name in cells:
                cell = cells[name]
                number = bool(word) if KINDS[name] == "bool" else int(np.int32(np.uint32(word)))
                cell.value = self.k.select(self.mask, number, cell.value)
            else:
                row = self.file.slot[NAMES.index(name)]
                self.file.slot[NAMES.index(name)] = np.where(
                    self.mask.raw, np.uint32(word).view(np.float32), row
                ).astype(np.float32)  # fmt: skip
        self.before = self._words()

    def _force_uniform(self, name: str, word: int) -> None:
        """Give a uniform another value; the next run of the unit sets all uniforms again."""
        k, signed = self.k, int(np.uint32(word).view(np.int32))
        if name[0] == "c":
            k.store(I32, self.uniforms + WORD * _FLOATS.index(name), signed)
            memory = self.trace.memory
            if memory is not None:
                memory.change(
                    len(self.trace.steps), memory.pieces[0], WORD * _FLOATS.index(name), word.to_bytes(WORD, "little")
                )
            return
        if name[0] == "b":
            register, at, width, value = "VSH_BOOLUNIFORM", int(name[1:]), 1, int(bool(word))
        else:
            component = _COMPONENTS.index(name[-1])
            register, at, width, value = f"VSH_INTUNIFORM_I{name[1]}", 8 * component, 8, word & 0xFF
        place = self.live.base + WORD * register_id(register)
        mask = (1 << width) - 1 << at
        k.store(I32, place, int(np.uint32(_word(k.load(I32, place)) & ~mask | value << at).view(np.int32)))

    def _end(self, step: Step) -> None:
        """Note how the program ended, if this was its last step."""
        if int(_lane(self.pc.value.raw)) < DONE:
            return
        if _lane(self.stuck.value.raw):
            over = int(_lane(self.steps.value.raw)) > INSTRUCTION_LIMIT
            reason = f"more than {INSTRUCTION_LIMIT} instructions" if over else "BREAK where there is no loop to leave"
            self.trace.cut, self.trace.hung = reason, True
            step.notes = (f"hangs: {reason}",)
        elif not _lane(self.ended.value.raw):
            step.notes = ("control leaves the program's memory, which ends it",)

    def _reads(self, op: Opcode, word: int) -> tuple[dict[str, Value], list[list[str]]]:
        """Registers on which the result depends, by name, and the name of each component of each source."""
        reads: dict[str, Value] = {}
        places: list[list[str]] = []
        if op.flow or not op.sources:
            return self._flow_reads(op, word), places
        operands = self.sources[: op.sources]
        for register, chosen, _ in operands:
            letter, n = source_register(register)
            places.append([f"{letter}{n}.{_COMPONENTS[c]}" for c in chosen])
        wanted = {term for c in self._written(op, word) for term in self._of(op, c)}
        if op.name == "LITP":
            wanted |= {(0, 0), (0, 3)}  # the condition registers result from these
        for source, (_, _, words) in enumerate(operands):
            for i in range(4):
                if (source, i) in wanted:
                    name = places[source][i]
                    reads[name] = Value((name,), words[i], "f32")
        index = op.format.get(word, "idx") if op.format.wide else 0
        wide = op.format.wide[-1:]
        if index and wide and op.format.get(word, op.format.wide) >= UNIFORMS:
            name = _ADDRESSES[index]
            reads[name] = Value((name,), self.before[NAMES.index(name)], "i32")
        return reads, places

    def _flow_reads(self, op: Opcode, word: int) -> dict[str, Value]:
        names: tuple[str, ...] = ()
        if op.name in ("BREAKC", "CALLC", "IFC", "JMPC"):
            which = op.format.get(word, "cond")
            names = {ONLY_X: ("cmp.x",), ONLY_Y: ("cmp.y",)}.get(which, ("cmp.x", "cmp.y"))
        return {name: Value((name,), self.before[NAMES.index(name)], "bool") for name in names}

    def _written(self, op: Opcode, word: int) -> list[int]:
        """Components that an instruction writes."""
        if op.format is F1C:
            return [0, 1]
        mask = self.program.descriptors[op.format.get(word, "desc")]
        found = components(descriptor(mask, "mask"))
        return [c for c in found if c < 2] if op.name == "MOVA" else found

    @staticmethod
    def _of(op: Opcode, component: int) -> Sequence[tuple[int, int]]:
        if op.name in ("CMP", "MOVA"):
            return _each(component)
        return _terms(operation_name(op))(component)

    def _writes(
        self, op: Opcode, word: int, after: list[int], reads: dict[str, Value], places: list[list[str]]
    ) -> tuple[Change, ...]:
        """Registers that the instruction writes, and all others that changed."""
        before, order = self.before, list(reads)
        found: dict[str, Change] = {}

        def put(name: str, of: tuple[int, ...] | None) -> None:
            n = NAMES.index(name)
            found[name] = Change((name,), KINDS[name], before[n], after[n], of)

        if op.sources:
            number = 0 if op.name in ("CMP", "MOVA") else op.format.get(word, "dst")
            stem = {"CMP": "cmp", "MOVA": "a0"}.get(op.name, "{}{}".format(*target_register(number)))
            for c in self._written(op, word):
                names = {places[n][i] for n, i in self._of(op, c) if n < len(places)}
                put(f"{stem}.{_COMPONENTS[c]}", tuple(order.index(name) for name in order if name in names))
            if op.name == "LITP":
                put("cmp.x", None)
                put("cmp.y", None)
        for n, (x, y) in enumerate(zip(before, after, strict=True)):
            if x != y and NAMES[n] not in found:
                put(NAMES[n], ())
        return tuple(found.values())


def _trace(
    program: Program, what: str, name: str, inputs: Any, most: int, rest: tuple[Any, ...],
    overrides: Forced | None = None, source: ProgramText | None = None, keep: bool = False,
) -> Trace:  # fmt: skip
    if most < 1:
        raise UsageError(f"a trace keeps at least one step, not {most}")
    forced = dict(overrides or {})
    check_forced(forced, SETTABLE)
    trace = Trace(
        "3ds", name, what, dict.fromkeys(NAMES, 0), KINDS, listing=UnitListing(program, source),
        overrides=forced, groups=GROUPS, uniforms=_uniforms(*rest[:3]),
    )  # fmt: skip
    if keep:
        trace.memory = TraceMemory(name=lambda space, address: _FLOATS[address // WORD])
        words = np.zeros(len(_FLOATS), np.uint32)
        for name, value in trace.uniforms.items():
            if name[0] == "c":
                words[_FLOATS.index(name)] = value.bits
        trace.memory.add("constant", 0, words.view(np.uint8), "float uniforms")
    trace.result = program.watch(lambda *args: _Watched(trace, program, most, *args), inputs, *rest)
    if trace.cut and not trace.hung:
        trace.result = None
    return trace


def _uniforms(
    floats: Mapping[int, Sequence[float]] | None, bools: Sequence[int] | None,
    integers: Sequence[Sequence[int]] | None,
) -> dict[str, Value]:  # fmt: skip
    """The constants of a run, by name."""
    found: dict[str, Value] = {}
    for number, vector in (floats or {}).items():
        for component, word in zip(_COMPONENTS, np.asarray(vector, np.float32).view(np.uint32).tolist(), strict=False):
            found[f"c{number}.{component}"] = Value((f"c{number}.{component}",), word, "f32")
    for number, flag in enumerate(bools if bools is not None else ()):
        found[f"b{number}"] = Value((f"b{number}",), int(bool(flag)), "bool")
    for number, octets in enumerate(integers if integers is not None else ()):
        for component, octet in zip(_COMPONENTS, octets, strict=False):
            found[f"i{number}.{component}"] = Value((f"i{number}.{component}",), int(octet) & 0xFF, "i32")
    return found


def trace_vertex(
    program: Program,
    inputs: Any,
    uniforms: Mapping[int, Sequence[float]] | None = None,
    bool_uniforms: Sequence[int] | None = None,
    int_uniforms: Sequence[Sequence[int]] | None = None,
    conditions: Sequence[int] = (0, 0),
    address: Sequence[int] = (0, 0, 0),
    *,
    most: int = MOST,
    name: str = "vertex program",
    overrides: Forced | None = None,
    lines: Sequence[int] = (),
    file: str = "",
    source: ProgramText | None = None,
    keep: bool = False,
) -> Trace:
    """Step through a program of the 3DS for one vertex.

    inputs: float32 (16, 4) or (1, 16, 4), v0 to v15. uniforms, bool_uniforms, int_uniforms, conditions, address: as for
    `Program.run`. most: how many steps are kept; a longer program is not run to its end, and `cut` says so. Registers
    are v0.x to v15.w, r*, o*, cmp.x, cmp.y, a0.x, a0.y, aL, loop and setemit. `result` is what `Program.run` returns
    for this vertex; None if the trace was cut. overrides: what-if, words for registers right before steps:
    {12: {"r0.x": 0x3F800000}}; uniforms too. lines, file: the line of the source text of each word, and that text's
    name; or source: all that is known of the text. keep: whether `memory` has the float uniforms as bytes.

    :raises UsageError: for shapes and numbers that do not fit.
    """
    rest = (uniforms, bool_uniforms, int_uniforms, conditions, address)
    if source is None and lines:
        source = ProgramText({address: (file, line) for address, line in enumerate(lines)})
    return _trace(program, "one vertex", name, _one(inputs), most, rest, overrides, source, keep)


def trace_primitive(
    program: Program,
    vertices: Any,
    uniforms: Mapping[int, Sequence[float]] | None = None,
    bool_uniforms: Sequence[int] | None = None,
    int_uniforms: Sequence[Sequence[int]] | None = None,
    *,
    most: int = MOST,
    name: str = "geometry program",
) -> Trace:
    """Step through a geometry program of the 3DS for one primitive; steps of EMIT have the emitted vertex.

    vertices: float32 (n, m, 4), m output registers of each of n vertices, in the order in which the unit gets them:
    they fill v0, v1, ... in order; n * m is at most 16. The rest is as for `trace_vertex`.

    :raises UsageError: for shapes and numbers that do not fit.
    """
    try:
        rows = np.asarray(vertices, np.float32)
    except (TypeError, ValueError):
        raise UsageError("vertices must be numbers") from None
    if rows.ndim != 3 or rows.shape[2] != 4 or rows.shape[0] * rows.shape[1] > 16:
        raise UsageError(f"vertices have shape {rows.shape}, not (n, m, 4) with n * m up to 16")
    inputs = np.zeros((1, 16, 4), np.float32)
    inputs[0, : rows.shape[0] * rows.shape[1]] = rows.reshape(-1, 4)
    return _trace(program, "one primitive", name, inputs, most, (uniforms, bool_uniforms, int_uniforms))


def _one(inputs: Any) -> Any:
    return inputs[None] if getattr(inputs, "shape", None) == (16, 4) else [inputs] if np.ndim(inputs) == 2 else inputs


__all__ = ["KINDS", "MOST", "NAMES", "trace_primitive", "trace_vertex"]
