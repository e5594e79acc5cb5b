"""Damaged draws for the Switch's GPU: none may crash the host, run forever or write where nothing is mapped.

    python tests/fuzz/draws_switch.py --cases 100000 --seed 1

A case is one to three draws on small targets that would be right as they come (tests/support/switch_draws.py), with
registers, shader headers, instructions, texture headers, addresses, counts, vertices and indices changed at random.
Memory that is not mapped holds a pattern that must survive, and so must the page tables. Some cases run with
specialised code, on two threads and on the NumPy evaluator as well and must leave the same bytes. A case is made from
the seed and its number alone (--first N --cases 1), but the machine is switched off only every 500 cases: what it
remembers of others must not matter.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support import switch_draws as draws
from support.fuzz import command, one_case
from support.reads import names_of_draws, value
from support.switch_draws import CONTROL, EVALUATION, GEOMETRY, PIXEL, VERTEX_A, VERTEX_B

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.facts.maxwell import B197, Method
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw import drawing
from pocketgpu.maxwell.graphics.programs.programs import HEADER_SIZE
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.gpu_memory import Backing
from pocketgpu.workers import Workers

SLOWEST = 20.0
FRESH = 500
"""Cases after which the machine is switched off and on."""
MACRO_BUDGET, WARP_LIMIT, DRAW_BUDGET = 5000, 20_000, 200_000
"""Instructions of the macros of a case, of a warp and of a draw's stage: endless ones shall end soon."""
CODE, _CODE_SIZE = 0x5_0000_0000, 0x10000
ALIAS = 0x5_0050_0000
"""Where the targets are mapped a second time, in pieces."""
_CANARY = 0xA5


class Sharing(Workers):
    """Threads that share everything, however small it is."""

    def run(self, work: Callable[[int, int], None], kind: Hashable, amount: int) -> None:
        """All parts at once."""
        if amount:
            self._share(work)
        else:
            work(0, 1)


class Stage:
    """A machine with its memory: what is mapped, and what is not and must stay as it is."""

    def __init__(self, evaluator: str = "llvm", threads: int = 1, tier: str = "general") -> None:
        self.gpu, self.tier = GM20B(threads, evaluator), tier
        self.gpu.macro_budget = MACRO_BUDGET
        if threads > 1:
            self.gpu.workers = Sharing(threads)
            drawing.SHARE_VERTICES = drawing.SHARE_AREA = 1
        self.set()

    def set(self) -> None:
        """Switch the machine off and on, and map its memory with unmapped memory between."""
        gpu = self.gpu
        gpu.reset()
        gpu.drawing.tier = self.tier
        programs = gpu.drawing.programs
        programs.limit, programs.budget = WARP_LIMIT, DRAW_BUDGET
        memory = gpu.memory
        self.canaries: list[Backing] = []
        for address, size in ((CODE, _CODE_SIZE), *draws.SIZES.items()):
            canary = memory.allocate(4096)
            memory.arena[canary.offset : canary.offset + 4096] = _CANARY
            self.canaries.append(canary)
            mapping = memory.map(address, size, kind="generic_16bx2" if address == draws.TARGETS else "pitch")
            if address == draws.TARGETS:
                half = size // 2
                memory.map(ALIAS, half, mapping.backing, half, "generic_16bx2")
                memory.map(ALIAS + half, half, mapping.backing, 0, "generic_16bx2")
        self.end = max(backing.offset + backing.size for backing in memory.backings)
        self.tables = self._tables()

    def _tables(self) -> np.ndarray:
        """The upper level, and the only lower table that is in use, and those after it."""
        arena, size = self.gpu.memory.arena, page_table.TABLE_SIZE
        return np.concatenate([arena[: page_table.BOOKS], arena[page_table.TABLES :][: 3 * size]])

    def run(self, case: Case) -> None:
        """Fill memory, submit on a channel that is new, and wait."""
        gpu = self.gpu
        gpu.channels.clear()
        gpu.log.clear()
        for address, size in draws.SIZES.items():
            gpu.memory.write(address, case.memory[address].ljust(size, b"\0"))
        words = case.words.astype("<u4").tobytes()[:_CODE_SIZE]
        gpu.memory.write(CODE, words.ljust(_CODE_SIZE, b"\0"))
        gpu.submit([CODE | 1 << 41 | (len(words) // 4) << 42])
        gpu.finish()

    def damage(self) -> str:
        """Where something was written that no mapping shows, or ""."""
        memory = self.gpu.memory
        for canary in self.canaries:
            if (memory.arena[canary.offset : canary.offset + 4096] != _CANARY).any():
                return f"unmapped memory at arena {canary.offset:#x}"
        if memory.arena[self.end : self.end + (1 << 20)].any() or memory.arena[memory.guest_end :][:65536].any():
            return "past all memory"
        return "" if np.array_equal(self._tables(), self.tables) else "the page tables"

    def contents(self) -> bytes:
        """All bytes that a draw can change."""
        memory = self.gpu.memory
        return b"".join(memory.read(address, size) for address, size in draws.SIZES.items())


# -- what a case is made of


class Case(NamedTuple):
    """memory: contents of each of `draws.SIZES`. comparable: whether the order of threads cannot be seen."""

    memory: dict[int, bytes]
    words: np.ndarray
    kinds: frozenset[str] = frozenset()
    comparable: bool = True


def _address(r: random.Random) -> int:
    """Mostly mapped, at times at an edge or nowhere."""
    base = r.choice((draws.TARGETS, draws.TARGETS, ALIAS, draws.DATA, draws.OUT, draws.PROGRAMS))
    size = draws.SIZES[draws.TARGETS if base == ALIAS else base]
    kind = r.random()
    if kind < 0.6:
        return base + r.randrange(size // 256) * 256
    if kind < 0.75:
        return base + r.randrange(size)
    if kind < 0.9:
        return base + size - r.choice((1, 4, 16, 64, 512, 0x1000))
    return r.choice((0, 0x1000, 0xFF_FFFF_FFF0, r.getrandbits(40)))


_FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 20.0, 1e-3, 1e-40, 1e5, 1e9, 3.4e38, math.inf, -math.inf, math.nan)
_BITS = tuple(struct.unpack("<I", struct.pack("<f", value))[0] for value in _FLOATS)


def _number(r: random.Random) -> int:
    kind = r.random()
    if kind < 0.5:
        return r.randrange(64)
    if kind < 0.65:
        return r.choice((64, 100, 128, 255, 256, 512, 1024, 4096, 0x8000, 0xFFFF))
    if kind < 0.8:
        return r.choice(_BITS)
    if kind < 0.95:
        return r.getrandbits(r.randrange(1, 33))
    return r.choice((0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFFFF0000))


def _value(r: random.Random, method: Method) -> int:
    """A word for a method: legal values of its fields, or anything."""
    return _number(r) if r.random() < 0.15 or not method.fields else value(r, method, _number)


_LATER = (
    "SET_RASTER_ENABLE", "SET_RASTER_INPUT", "SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK", "SET_STREAM_OUTPUT",
    "SET_STREAM_OUT_BUFFER_ENABLE", "SET_STREAM_OUT_CONTROL_STREAM", "SET_TESSELLATION_PARAMETERS",
    "SET_TESSELLATION_LOD_U0_OR_DENSITY", "SET_TESSELLATION_LOD_V0_OR_DETAIL", "SET_TESSELLATION_LOD_U1_OR_W0",
    "SET_TESSELLATION_LOD_V1", "SET_TG_LOD_INTERIOR_U", "SET_TG_LOD_INTERIOR_V", "SET_SHADE_MODE", "SET_SHADER_CONTROL",
    "SET_SHADER_LOCAL_MEMORY_WINDOW", "SET_SAMPLER_BINDING", "SET_BINDLESS_TEXTURE",
)  # fmt: skip
"""What is read by programs that are bound, and by the stages after the vertex program."""


@cache
def _state() -> tuple[str, ...]:
    """The methods that preparing and making a draw reads."""
    return names_of_draws() + _LATER


_PLACES = (
    "SET_VERTEX_STREAM_A_LOCATION_A", "SET_VERTEX_STREAM_LIMIT_A_A", "SET_INDEX_BUFFER_A", "SET_INDEX_BUFFER_C",
    "SET_COLOR_TARGET_A", "SET_ZT_A", "SET_TEX_HEADER_POOL_A", "SET_TEX_SAMPLER_POOL_A", "SET_PROGRAM_REGION_A",
    "SET_STREAM_OUT_BUFFER_ADDRESS_A", "SET_CONSTANT_BUFFER_SELECTOR_B",
)  # fmt: skip
_NUMBERS = (
    "SET_GLOBAL_BASE_VERTEX_INDEX", "SET_GLOBAL_BASE_INSTANCE_INDEX", "SET_VERTEX_ID_BASE", "SET_VERTEX_ARRAY_START",
    "SET_INDEX_BUFFER_E", "SET_INDEX_BUFFER_F", "SET_TEX_HEADER_POOL_C", "SET_TEX_SAMPLER_POOL_C",
    "SET_STREAM_OUT_BUFFER_SIZE", "SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", "SET_STREAM_OUT_CONTROL_STRIDE",
    "SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", "SET_STREAM_OUT_LAYOUT_SELECT", "SET_VERTEX_ATTRIBUTE_A",
    "SET_VERTEX_STREAM_A_FORMAT", "SET_PIPELINE_PROGRAM", "SET_PIPELINE_SHADER", "SET_PATCH",
)  # fmt: skip


def _method(r: random.Random, name: str) -> Method:
    method = B197[name]
    return method(r.choice((0, 0, 0, 1, r.randrange(method.count))) % method.count) if method.stride else method


def _registers(r: random.Random, pb: PushBuffer, count: int) -> None:
    for _ in range(count):
        kind = r.random()
        if kind < 0.12:
            method, address = _method(r, r.choice(_PLACES)), _address(r)
            pb.packet("auto", method.word, [address >> 32, address & 0xFFFFFFFF])
        else:
            method = _method(r, r.choice(_NUMBERS if kind < 0.25 else _state()))
            pb.write(method.word, _value(r, method))


def _flip(r: random.Random, data: bytearray, first: int, last: int) -> None:
    """Change some bits between two bytes."""
    for _ in range(r.choice((1, 1, 2, 5))):
        data[r.randrange(first, last)] ^= 1 << r.randrange(8)


def _damage_program(r: random.Random, data: bytearray, at: int, size: int) -> None:
    """A header or instruction with other bits, or with those of a neighbour."""
    if r.random() < 0.4:
        _flip(r, data, at, at + HEADER_SIZE)
        return
    words = range(at + HEADER_SIZE, at + size - 7, 8)
    one, other = r.choice(words), r.choice(words)
    kind = r.random()
    if kind < 0.5:
        data[one + r.randrange(8)] ^= 1 << r.randrange(8)
    elif kind < 0.8:
        data[one : one + 8] = data[other : other + 8]
    else:
        data[one : one + 8] = r.getrandbits(64).to_bytes(8, "little")


def _damage_words(r: random.Random, data: bytearray, first: int, size: int) -> None:
    for _ in range(r.choice((1, 2, 6, 20))):
        struct.pack_into("<I", data, first + 4 * r.randrange(size // 4), _number(r))


def _programs(r: random.Random) -> tuple[dict[int, draws.Program], bool]:
    """The programs of a draw; whether it is one of patches."""
    programs = {VERTEX_B: r.choice(draws.VERTEX_PROGRAMS), PIXEL: r.choice(draws.PIXEL_PROGRAMS)}
    if r.random() < 0.15:
        programs[VERTEX_A] = draws.FIRST
    patches = r.random() < 0.15
    if patches:
        programs[EVALUATION] = draws.EVALUATING
        if r.random() < 0.8:
            programs[CONTROL] = draws.CONTROLLING
    if r.random() < 0.15:
        programs[GEOMETRY] = draws.EMITTING
    return programs, patches


def _draw(r: random.Random, pb: PushBuffer, patches: bool) -> None:
    """One of the ways to draw."""
    op = draws.PATCHES if patches else r.choice((4, 4, 4, r.choice(draws.TOPOLOGIES)))
    if r.random() < 0.03:
        op = r.randrange(20)
    count = r.choice((3, 6, 12, 12, 24, 48))
    if r.random() < 0.06:
        count = r.choice((0, 1, 2, 1000, 5000, 1 << 16, (1 << 24) + 1, _number(r)))
    first = r.choice((0, 0, 0, 3, _number(r) if r.random() < 0.2 else 6))
    pb.method("BEGIN", OP=op, INSTANCE_ID=r.choice((0, 0, 0, 1, 2)))
    kind = r.random()
    if kind < 0.5:
        pb.method("SET_VERTEX_ARRAY_START", first).method("DRAW_VERTEX_ARRAY", count)
    elif kind < 0.85:
        pb.method("SET_INDEX_BUFFER_F", first).method("DRAW_INDEX_BUFFER", count)
    elif kind < 0.92:
        pb.method("DRAW_INLINE_INDEX2X16", *(r.getrandbits(5) | r.getrandbits(5) << 16 for _ in range(count % 64)),
                  0, form="non_inc")  # fmt: skip
    else:
        pb.method("DRAW_AUTO", count * 16 & 0xFFFFFFFF)
    pb.method("END", 0)


@cache
def _prepared(stages: frozenset[int], streams: bool) -> tuple[int, ...]:
    """Words that set the state of a draw with these stages."""
    pb = PushBuffer()
    draws.state(pb)
    draws.stages(pb, stages)
    if streams:
        draws.stream_out(pb)
    return tuple(pb.words.tolist())


def make(seed: int, number: int) -> Case:
    """Case `number`."""
    r = random.Random(f"{seed}/{number}")
    programs, patches = _programs(r)
    code = bytearray(draws.SIZES[draws.PROGRAMS])
    kinds = set()
    for stage, program in programs.items():
        at, data = draws.PROGRAM_ROOM * stage, program.data(stage)
        code[at : at + len(data)] = data
        if r.random() < 0.15:
            _damage_program(r, code, at, len(data))
            kinds.add("programs")
    data = bytearray(draws.SIZES[draws.DATA])
    for address, piece in draws.memory().items():
        data[address - draws.DATA : address - draws.DATA + len(piece)] = piece
    for name, place, size in (
        ("vertices", draws.VERTICES, 0xC00), ("indices", draws.INDICES, 0x400), ("constants", draws.CONSTANTS, 0x200),
        ("headers", draws.HEADERS, 64), ("samplers", draws.SAMPLERS, 64),
    ):  # fmt: skip
        if r.random() < 0.12:
            _damage_words(r, data, place - draws.DATA, size)
            kinds.add(name)
    pb = PushBuffer().raw(_prepared(frozenset(programs), r.random() < 0.1))
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        changes = r.choice((0, 1, 1, 2, 3, 5, 10))
        _registers(r, pb, changes)
        if changes:
            kinds.add("registers")
        _draw(r, pb, patches)
    words = pb.words
    if r.random() < 0.05:
        words[r.randrange(len(words))] = r.getrandbits(32)
        kinds.add("words")
    memory = {draws.PROGRAMS: bytes(code), draws.DATA: bytes(data), draws.TARGETS: b"", draws.OUT: b""}
    stores = programs[PIXEL] is draws.KILLING or "programs" in kinds
    return Case(memory, words, frozenset(kinds), not stores)


_OTHERS: dict[str, tuple[int, tuple[str, int, str]]] = {
    "specialised": (250, ("llvm", 1, "specialised")),
    "threads": (50, ("llvm", 2, "general")),
    "numpy": (500, ("numpy", 1, "general")),
}
"""What is compared: one in so many cases, evaluator, threads and tier."""


class Others:
    """Machines of other kinds that must leave the same bytes."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}

    def compare(self, number: int, case: Case, stage: Stage, counts: Counter[str]) -> str:
        """How any of those whose turn it is differs from a machine that has run the case; "" if none does."""
        hung = any(event.kind == "hang" for event in stage.gpu.events)
        found = stage.contents()
        for place, (name, (each, kind)) in enumerate(_OTHERS.items()):
            slow = name == "numpy" and len(stage.gpu.log) > 1
            if number % each != each // 2 + place or hung or slow or (name == "threads" and not case.comparable):
                continue
            other = self.stages.get(name)
            if other is None:
                other = self.stages[name] = Stage(*kind)
            other.set()
            other.run(case)
            counts[name] += 1
            if other.damage():
                return f"{name}: written {other.damage()}"
            data = other.contents()
            if data != found:
                place = next(i for i in range(len(data)) if data[i] != found[i])
                return f"{name}: other bytes, from byte {place:#x} on"
        return ""


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` cases from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    stage, others = Stage(), Others()
    for number in range(first, first + cases):
        case = make(seed, number)
        if number % FRESH == 0:
            stage.set()
        with one_case(seed, number, SLOWEST):
            stage.run(case)
        assert not (where := stage.damage()), f"seed {seed}, case {number}: written {where}"
        counts["cases"] += 1
        for kind in case.kinds:
            counts[kind] += 1
        counts["draws"] += len(stage.gpu.log)
        counts["drew"] += any(stage.gpu.memory.read(draws.TARGETS, draws.SIZES[draws.TARGETS]))
        problem = others.compare(number, case, stage, counts)
        assert not problem, f"seed {seed}, case {number}: {problem}"
        for event in stage.gpu.events.drain():
            counts[event.id] += event.count
    return counts


if __name__ == "__main__":
    command(__doc__, run, "draws")
