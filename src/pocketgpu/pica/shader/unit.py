"""The shader unit alone: runs a program on inputs and returns its outputs, without a draw, registers or guest memory.

    program = Program(code, operand_descriptors, entry_point=0)
    result = program.run(inputs, uniforms={0: (1, 0, 0, 0)})     # inputs: float32 (n, 16, 4)
    result[:, 0]                                                  # o0 of every vertex, (n, 4)

Two tiers run programs. The interpreter starts at once; code compiled for one program is about ten times faster, but
takes a moment to compile. Their results are equal, bit for bit. By default a program is interpreted until it has run
for a few thousand vertices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from pocketgpu.displayed import line_of, table_html, text_html
from pocketgpu.errors import UsageError
from pocketgpu.facts.shader_isa import EMITTED, OPCODE_AT, number_of
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel, run_once
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import CHUNK, CONTROL, PACKET_REGISTERS, PACKET_SIZE
from pocketgpu.pica.core.registers import register_id
from pocketgpu.pica.shader.emission import ENTRY_ROWS, LOG_BYTES, LOG_ENTRIES
from pocketgpu.pica.shader.interpreter import Interpreter, unit_interpreter
from pocketgpu.pica.shader.program import CODE_WORDS, TooComplex, opcode, program_of
from pocketgpu.pica.shader.shader_choices import END_WORD, Rules, rules_of
from pocketgpu.pica.shader.translate import (
    A0_X,
    A_L,
    COND_X,
    COND_Y,
    EMIT_COUNT,
    EMIT_STATE,
    RESULT_ROWS,
    STUCK,
    unit_program,
)
from pocketgpu.wording import counted

MAX_WORDS = 4096  # of a geometry unit; a vertex unit has CODE_WORDS
DESCRIPTORS = 128
UNIFORMS = 96
TIERS = ("auto", "interpreter", "specialised")
_KEPT = ("winding", "primitive", "vertex")
_BATCH = 32 * CHUNK  # vertices per step: their data stays in the second-level cache
_EMIT_BATCH = 4 * CHUNK
_WATCHED_LANES = 4  # of which one runs; the others cost next to nothing
_PATIENCE = 8192  # vertices for which a program is interpreted before it is compiled

Floats = np.ndarray[Any, np.dtype[np.float32]]
Integers = np.ndarray[Any, np.dtype[np.int32]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Emission:
    """The results of EMIT and SETEMIT for n vertices.

    winding, prim_emit, vertex_id: (n,) integers, fields of the last SETEMIT (0 before the first). count: (n,) integers,
    number of emitted vertices; the first of them are in vertices, (n, k, 16, 4) output registers, with the SETEMIT
    fields of each in states, (n, k), with the bits of facts.shader_isa.EMITTED.
    """

    winding: Integers
    prim_emit: Integers
    vertex_id: Integers
    count: Integers
    vertices: Floats
    states: Integers

    def __repr__(self) -> str:
        emitted = counted(int(self.count.sum()), "vertex", "vertices")
        return line_of(self, f"{counted(len(self.count), 'program')} emitted {emitted}")

    def __getitem__(self, name: str) -> Any:
        """A field by name."""
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)


class Outputs(np.ndarray[Any, np.dtype[np.float32]]):
    """Output registers, float32 (n, 16, 4); [:, k] is o*k*, 0 if the program wrote nothing. All NaNs have the same
    bits.

    conditions: (n, 2) bools, cmp.x and cmp.y at the end. address: (n, 3) integers, a0.x, a0.y and aL at the end.
    emit: see Emission. hung: (n,) bools, vertices whose program did not end; their outputs are 0.
    """

    conditions: Bools
    address: Integers
    emit: Emission
    hung: Bools

    def __repr__(self) -> str:
        """The numbers if they fit a line, else their shape; `print` shows the numbers."""
        text = str(self)
        return line_of(self, text if "\n" not in text else f"{' x '.join(map(str, self.shape))} {self.dtype}")

    def _repr_html_(self) -> str:
        """Registers of the first vertices."""
        if self.ndim != 3:
            return text_html(str(self))
        names = [f"o{n}" for n in range(self.shape[1])]
        rows = (
            (n, *(", ".join(f"{value:.6g}" for value in vector) for vector in one.tolist()))
            for n, one in enumerate(self)
        )
        return table_html(("vertex", *names), rows, len(self))


@kernel(program=I64, count=I32)
def run_chunks(
    k: Lang, program: Value, count: Value,
    *, inputs: int, outputs: int, uniforms: int, packet: int, state: int, log: int, log_step: int,
) -> None:  # fmt: skip
    """Run a program of the unit on `count` vertices in chunks."""
    for first in k.range(0, count, CHUNK):
        chunk = k.to_i64(first >> (CHUNK.bit_length() - 1))
        k.invoke(
            program, chunk * (4 * 64 * CHUNK) + inputs, chunk * (4 * RESULT_ROWS * CHUNK) + outputs, k.i64(uniforms),
            k.i64(packet), k.min(count - first, CHUNK), k.i64(state), chunk * log_step + log,
        )  # fmt: skip


class _UnitArena:
    """An arena with room for a batch of vertices, and an engine on it."""

    def __init__(self, evaluator: str) -> None:
        self.lock = threading.Lock()
        self._size = 4096
        self.control = self._take(4096)
        self.packet = self._take(PACKET_SIZE)
        self.uniforms = self._take(16 * UNIFORMS)
        self.state = self._take(64)
        self.code = self._take(4 * MAX_WORDS)
        self.descriptors = self._take(4 * DESCRIPTORS)
        self.inputs = self._take(4 * 64 * _BATCH)
        self.outputs = self._take(4 * RESULT_ROWS * _BATCH)
        self.log = self._take(LOG_BYTES * (_EMIT_BATCH // CHUNK))
        self.arena = np.zeros(self._size, np.uint8)
        self.engine = Engine(self.arena, evaluator)
        self.places = {"uniforms": self.uniforms, "packet": self.packet, "state": self.state, "log": self.log}
        self.places |= {"inputs": self.inputs, "outputs": self.outputs}

    def _take(self, size: int) -> int:
        at = self._size
        self._size += (size + 63) & ~63
        return at

    def view(self, at: int, count: int, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
        """`count` words at an offset."""
        return self.arena[at : at + 4 * count].view(dtype)

    def put(self, vectors: Floats, registers: list[int], chunks: int) -> None:
        """Store the input registers of vertices in chunks; unused lanes hold zeros."""
        places = self.view(self.inputs, 64 * CHUNK * chunks, np.float32).reshape(chunks, 16, 4, CHUNK)
        full = len(vectors) // CHUNK
        for r in registers:
            places[:full, r] = vectors[: full * CHUNK, r].reshape(full, CHUNK, 4).transpose(0, 2, 1)
            if full < chunks:
                places[full, r] = 0
                places[full, r, :, : len(vectors) - full * CHUNK] = vectors[full * CHUNK :, r].T
        self.view(self.outputs, RESULT_ROWS * CHUNK * chunks)[:] = 0

    def get(self, registers: Floats, state: Integers, written: list[int], chunks: int) -> None:
        """The output registers and states of the vertices that `put` stored."""
        n = len(registers)
        rows = self.view(self.outputs, RESULT_ROWS * CHUNK * chunks).reshape(chunks, RESULT_ROWS, CHUNK)
        outputs = rows.view(np.float32)
        for r in written:
            part = outputs[:, 4 * r : 4 * r + 4].transpose(0, 2, 1)
            registers[:, r] = part.reshape(chunks * CHUNK, 4)[:n]
        state[:] = rows[:, 64:].transpose(0, 2, 1).reshape(chunks * CHUNK, -1)[:n]

    def take_log(self, chunks: int) -> np.ndarray[Any, Any]:
        """(vertices, LOG_ENTRIES, ENTRY_ROWS) words that EMIT wrote; clears them."""
        log = self.view(self.log, LOG_BYTES // 4 * chunks).reshape(chunks, LOG_ENTRIES, ENTRY_ROWS, CHUNK)
        whole = log.transpose(0, 3, 1, 2).copy().reshape(chunks * CHUNK, LOG_ENTRIES, ENTRY_ROWS)
        log[:] = 0
        return whole


@cache
def _unit(evaluator: str) -> _UnitArena:
    return _UnitArena(evaluator)


def _words(values: Any, what: str, limit: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """A sequence of 32-bit words as an array."""
    try:
        words = np.asarray(values if len(values) else np.zeros(0, np.uint32))
        if words.ndim != 1 or words.dtype.kind not in "iu":
            raise TypeError
        if len(words) and not (int(words.min()) >= -(1 << 31) and int(words.max()) < 1 << 32):
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be a flat sequence of 32-bit words") from None
    if len(words) > limit:
        raise UsageError(f"{len(words)} words of {what}; the unit has room for {limit}")
    return (words.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _integers(values: Any, what: str, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Integers of exactly this shape; an empty value means zeros."""
    try:
        array = np.zeros(shape, np.int64) if values is None or not len(values) else np.asarray(values)
        if array.shape != shape or array.dtype.kind not in "iub":
            raise TypeError
        return array.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be integers of shape {shape}") from None


class Program:
    """A shader program, ready to run.

    code: up to 4096 instruction words; memory after them holds END. operand_descriptors: up to 128 words. entry_point:
    the start address. evaluator: "llvm", or "numpy" for the slow oracle. tier: "interpreter", "specialised" (compiled
    code) or "auto". switches: choices such as {"shader.precision": "f24"}; see facts/choices/.

    :raises UsageError: for words, names or sizes that do not fit.
    """

    def __init__(
        self,
        code: Sequence[int] | np.ndarray[Any, Any],
        operand_descriptors: Sequence[int] | np.ndarray[Any, Any] = (),
        entry_point: int = 0,
        *,
        evaluator: str = "llvm",
        tier: str = "auto",
        switches: Mapping[str, str] | None = None,
    ) -> None:
        given = _words(code, "code", MAX_WORDS)
        self._code = np.full(CODE_WORDS if len(given) <= CODE_WORDS else MAX_WORDS, END_WORD, np.uint32)
        self._code[: len(given)] = given
        self._size = len(given)
        self._descriptors = np.zeros(DESCRIPTORS, np.uint32)
        descriptors = _words(operand_descriptors, "operand descriptors", DESCRIPTORS)
        self._descriptors[: len(descriptors)] = descriptors
        if not 0 <= entry_point < 1 << 16:
            raise UsageError(f"the entry point {entry_point} is not an address", hint="It has 16 bits.")
        self._entry = int(entry_point)
        if evaluator not in ("llvm", "numpy"):
            raise UsageError(f"there is no evaluator {evaluator!r}", hint="There are llvm and numpy.")
        if tier not in TIERS:
            raise UsageError(f"there is no tier {tier!r}", hint=f"There are {', '.join(TIERS)}.")
        self._evaluator, self._tier = evaluator, tier
        try:
            # A unit alone has no register that could define where programs end.
            self._rules: Rules = replace(rules_of(switches), end="nothing")
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._emits = bool(np.isin(given >> OPCODE_AT, (number_of("EMIT"), number_of("SETEMIT"))).any())
        self._vertices = 0
        if tier == "specialised":
            try:
                program_of(*self._key)
            except TooComplex as error:
                raise UsageError(
                    f"the program cannot be specialised: {error}", hint="The interpreter runs it."
                ) from None

    def __repr__(self) -> str:
        return line_of(self, f"{counted(self._size, 'instruction')}, entry point {self._entry:#05x}")

    @property
    def code(self) -> tuple[int, ...]:
        """The instruction words that were given."""
        return tuple(self._code[: self._size].tolist())

    @property
    def entry_point(self) -> int:
        """The start address."""
        return self._entry

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The operand descriptors, 128 words."""
        return tuple(self._descriptors.tolist())

    @property
    def _key(self) -> tuple[bytes, bytes, int, Rules]:
        return self._code.tobytes(), self._descriptors.tobytes(), self._entry, self._rules

    def run(
        self,
        inputs: Any,
        uniforms: Mapping[int, Sequence[float]] | None = None,
        bool_uniforms: Sequence[int] | None = None,
        int_uniforms: Sequence[Sequence[int]] | None = None,
        conditions: Sequence[int] = (0, 0),
        address: Sequence[int] = (0, 0, 0),
    ) -> Outputs:
        """Run the program once for each vertex.

        inputs: float32 (n, 16, 4), the input registers v0-v15. uniforms: {index: (x, y, z, w)} for c0-c95, the others
        0. bool_uniforms: b0-b15. int_uniforms: i0-i3 as (x, y, z, w), bytes. conditions, address: start values of
        cmp.x, cmp.y and of a0.x, a0.y, aL. Programs that do not end stop after 65536 instructions; see Outputs.hung.

        :raises UsageError: for shapes and numbers that do not fit.
        """
        vectors = self._vectors(inputs)
        unit = _unit(self._evaluator)
        with unit.lock:
            self._load(unit, uniforms, bool_uniforms, int_uniforms, conditions, address)
            return self._shade(unit, vectors)

    def watch(
        self,
        make: Callable[..., Interpreter],
        inputs: Any,
        uniforms: Mapping[int, Sequence[float]] | None = None,
        bool_uniforms: Sequence[int] | None = None,
        int_uniforms: Sequence[Sequence[int]] | None = None,
        conditions: Sequence[int] = (0, 0),
        address: Sequence[int] = (0, 0, 0),
    ) -> Outputs:
        """As `run`, for one vertex, on the NumPy evaluator, with the object of `make` instead of an `Interpreter`.

        That object observes each instruction, with the same arithmetic as in any other run. Lane 0 is the vertex.

        :raises UsageError: as `run`, or if there is not exactly one vertex.
        """
        vectors = self._vectors(inputs)
        if len(vectors) != 1:
            raise UsageError(f"{len(vectors)} vertices; one is watched at a time")
        unit = _unit("numpy")
        with unit.lock:
            self._load(unit, uniforms, bool_uniforms, int_uniforms, conditions, address)
            self._interpreter(unit)
            at = unit.places

            def drive(_: int, count: int) -> None:
                run_once(
                    unit_interpreter, unit.arena, _WATCHED_LANES,
                    at["inputs"], at["outputs"], at["uniforms"], at["packet"], count, at["state"], at["log"],
                    code=unit.code, descriptors=unit.descriptors, control=unit.control, rules=self._rules, make=make,
                )  # fmt: skip

            return self._shade(unit, vectors, drive)

    @staticmethod
    def _vectors(inputs: Any) -> Floats:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                vectors = np.asarray(inputs, np.float32)
        except (TypeError, ValueError):
            raise UsageError("inputs must be numbers") from None
        if vectors.ndim != 3 or vectors.shape[1:] != (16, 4):
            raise UsageError(f"inputs have shape {vectors.shape}, not (n, 16, 4)")
        return vectors

    def _load(
        self, unit: _UnitArena, uniforms: Mapping[int, Sequence[float]] | None, bool_uniforms: Sequence[int] | None,
        int_uniforms: Sequence[Sequence[int]] | None, conditions: Sequence[int], address: Sequence[int],
    ) -> None:  # fmt: skip
        """Store the program's constants and start state in the arena."""
        floats = unit.view(unit.uniforms, 4 * UNIFORMS, np.float32)
        floats[:] = 0
        for index, vector in (uniforms or {}).items():
            try:
                number, (x, y, z, w) = int(index), vector
                if not 0 <= number < UNIFORMS:
                    raise ValueError
                with np.errstate(over="ignore", invalid="ignore"):
                    floats[4 * number : 4 * number + 4] = np.asarray((x, y, z, w), np.float32)
            except (TypeError, ValueError):
                raise UsageError(f"uniform {index!r}: {vector!r} is no c0-c95 with four numbers") from None
        registers = unit.view(unit.packet + PACKET_REGISTERS, 0x300, np.uint32)
        bools = _integers(bool_uniforms, "bool_uniforms", (16,)) != 0
        registers[register_id("VSH_BOOLUNIFORM")] = int((bools << np.arange(16)).sum())
        integers = _integers(int_uniforms, "int_uniforms", (4, 4)) & 0xFF
        first = register_id("VSH_INTUNIFORM_I0")
        registers[first : first + 4] = (integers << np.array([0, 8, 16, 24])).sum(axis=1)
        state = unit.view(unit.state, 7)
        state[0:2] = _integers(conditions, "conditions", (2,)) != 0
        place = _integers(address, "address", (3,))
        if (place != place.astype(np.int32)).any():
            raise UsageError("address registers have 32 bits")
        state[2:5] = place
        state[5:7] = self._entry, len(self._code)

    # -- which code runs ----------------------------------------------------------------------------------------
    def _interpreter(self, unit: _UnitArena) -> int:
        unit.view(unit.code, len(self._code), np.uint32)[:] = self._code
        unit.view(unit.descriptors, DESCRIPTORS, np.uint32)[:] = self._descriptors
        return unit.engine.handle(
            unit_interpreter, code=unit.code, descriptors=unit.descriptors, control=unit.control, rules=self._rules
        )

    def _specialised(self, unit: _UnitArena, exact: bool) -> int:
        code, descriptors, entry, rules = self._key
        return unit.engine.handle(
            unit_program,
            code=code,
            descriptors=descriptors,
            entry=entry,
            exact=exact,
            control=unit.control,
            rules=rules,
        )

    def _choose(self, unit: _UnitArena, count: int) -> tuple[int, bool]:
        """(handle, whether it is the interpreter) for the next `count` vertices."""
        self._vertices += count
        if self._tier == "interpreter" or (self._tier == "auto" and self._vertices <= _PATIENCE):
            return self._interpreter(unit), True
        try:
            return self._specialised(unit, exact=False), False
        except TooComplex:
            return self._interpreter(unit), True

    @cached_property
    def _registers(self) -> tuple[list[int], list[int]]:
        """Input registers that some instruction reads, output registers that some instruction writes."""
        read, written = set(), set()
        for word in set(self._code.tolist()):
            op = opcode(word)
            read |= {op.format.get(word, f"src{n}") for n in range(1, op.sources + 1)}
            if op.sources and op.name not in ("CMP", "MOVA"):
                written.add(op.format.get(word, "dst"))
        return sorted(number for number in read if number < 16), sorted(number for number in written if number < 16)

    def _shade(self, unit: _UnitArena, vectors: Floats, watched: Callable[[int, int], None] | None = None) -> Outputs:
        n = len(vectors)
        read, written = self._registers
        registers, state = np.zeros((n, 16, 4), np.float32), np.zeros((n, RESULT_ROWS - 64), np.int32)
        logs: list[np.ndarray[Any, Any]] = []
        handle, interprets = self._choose(unit, n) if watched is None else (0, True)
        drive = watched or unit.engine.get(run_chunks, log_step=LOG_BYTES if self._emits else 0, **unit.places)
        batch = _EMIT_BATCH if self._emits else _BATCH
        control = unit.view(unit.control, CONTROL.size // 4)
        for start in range(0, n, batch):
            part = slice(start, min(start + batch, n))
            count = part.stop - start
            chunks = -(-count // CHUNK)
            unit.put(vectors[part], read, chunks)
            control[CONTROL.NAN_PRODUCTS // 4] = 0
            drive(handle, count)
            if not interprets and control[CONTROL.NAN_PRODUCTS // 4]:
                drive(self._specialised(unit, exact=True), count)
            unit.get(registers[part], state[part], written, chunks)
            if self._emits:
                logs.append(unit.take_log(chunks)[:count])
        return _outputs(registers, state, logs)


def _outputs(registers: Floats, state: Integers, logs: list[np.ndarray[Any, Any]]) -> Outputs:
    n = len(registers)
    hung = state[:, STUCK - 64] != 0
    registers[hung], state[hung] = 0, 0
    registers[np.isnan(registers)] = np.nan
    result = registers.view(Outputs)
    result.conditions = state[:, COND_X - 64 : COND_Y - 63] != 0
    result.address = state[:, A0_X - 64 : A_L - 63].copy()
    result.hung = hung
    last, count = state[:, EMIT_STATE - 64], state[:, EMIT_COUNT - 64].copy()
    log = np.concatenate(logs) if logs else np.zeros((n, 0, ENTRY_ROWS), np.int32)
    log = log[:, : min(int(count.max(initial=0)), LOG_ENTRIES)].copy()
    log[np.arange(log.shape[1])[None, :] >= count[:, None]] = 0
    vertices = log[:, :, :64].copy().view(np.float32).reshape(n, log.shape[1], 16, 4)
    vertices[np.isnan(vertices)] = np.nan
    winding, primitive, slot = (last >> lo & ((1 << width) - 1) for lo, width in map(EMITTED.fields.__getitem__, _KEPT))
    result.emit = Emission(winding, primitive, slot, count, vertices, log[:, :, 64].copy())
    return result


__all__ = ["Emission", "Outputs", "Program"]
