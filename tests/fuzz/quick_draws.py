"""Draws that kernels make without Python, and draws that Python finds prepared, against those that Python prepares
again each time: nobody may see which was which.

    python tests/fuzz/quick_draws.py --cases 10000 --seed 1

A case is a few submissions of draws in a handful of states, with all kinds of writes between them: registers,
constants, bindings, vertices, programs, textures, clears, copies, reports, counters, macros that draw. It runs in two
of these ways; memory, log, events, statistics, registers and time stamps must be the same. Some cases run on the NumPy
evaluator, and some on two threads that share what they can.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support import switch_draws as draws
from support.quick import seen
from support.switch_draws import PIXEL, VERTEX_B

from pocketgpu.builder.maxwell import PushBuffer, Surface
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw import drawing
from pocketgpu.maxwell.mme.assembler import assemble
from pocketgpu.workers import Workers

CODE, CODE_SIZE = 0x5_0000_0000, 0x10000
SPARE = 0x5_0050_0000
"""Programs that are not in use, one in each PROGRAM_ROOM."""
ALIAS = 0x5_0060_0000
"""The targets once more."""
LIMIT = 20_000
LOADING = draws.Program(
    draws._INTERPOLATE + "MOV R8, c[0x0][0x0]\nMOV R9, c[0x0][0x4]\nLDG.E R2, [R8+0x8]",
    {**draws._FROM_VERTEX, **draws._COLOUR},
)
"""Faults where the address in constants is that of nothing."""
HANGING = draws.Program(
    draws._INTERPOLATE
    + """
    MOV R8, c[0x1][0x20]
    again:
    IADD32I R8, R8, -0x1
    FADD R0, R0, 0.0625
    ISETP.GT.AND P0, PT, R8, RZ, PT
    @P0 BRA again
    """,
    {**draws._FROM_VERTEX, **draws._COLOUR},
)
"""Goes round as often as constants say."""
VERTEX = (draws.PLAIN, draws.NUMBERED)
COUNTING = draws.Program(
    draws._INTERPOLATE + "IPA.CONSTANT R4, a[0x60], RZ\nI2F.F32.U32 R4, R4\nFMUL R0, R4, 0.125",
    {**draws._FROM_VERTEX, **draws._COLOUR, "IMAP_PRIMITIVE_ID": 1},
)
"""Shows the number of the primitive."""
PIXELS = (COUNTING, draws.SHADED, draws.TEXTURED, draws.MANY, LOADING, HANGING, draws.KILLING)
DRAWING = """
    maddr @BEGIN
    send r1
    parm r2 maddr @SET_VERTEX_ARRAY_START
    send r2
    parm r3 maddr @DRAW_VERTEX_ARRAY
    send r3
    send r3
    maddr @END
    exit send r0
    nop
"""
"""A macro: BEGIN's word, the first vertex, how many: which are drawn twice."""


class Sharing(Workers):
    """Threads that share everything, however small it is."""

    def run(self, work: Callable[[int, int], None], kind: Hashable, amount: int) -> None:
        """All parts at once."""
        if amount:
            self._share(work)
        else:
            work(0, 1)


class Step(NamedTuple):
    """Something between submissions: words of pushbuffer, or what the processor does."""

    words: np.ndarray
    memory: tuple[tuple[int, bytes], ...] = ()
    remap: bool = False
    channel: int = 0


class Case(NamedTuple):
    """Submissions, programs, whether entries are made at once."""

    steps: list[Step]
    programs: tuple[int, int]
    at_once: bool


class AlwaysPrepared(GM20B):
    """A machine that prepares each draw as if it had never seen one."""

    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Forget, and draw."""
        self.drawing.forget()
        super().draw(draw, state, counters)


class Stage:
    """A machine whose draws are "quick", "found" prepared by Python, or always prepared by it ("prepared")."""

    def __init__(self, how: str, evaluator: str = "llvm", threads: int = 1) -> None:
        self.gpu, self.how = (AlwaysPrepared if how == "prepared" else GM20B)(threads, evaluator), how
        if threads > 1:
            self.gpu.workers = Sharing(threads)

    def run(self, case: Case) -> dict[str, Any]:
        """Everything there is to see after a case."""
        gpu = self.gpu
        gpu.reset()
        gpu.drawing.tier = "specialised"
        gpu.drawing.quick.on, gpu.drawing.quick.at_once = self.how == "quick", case.at_once
        gpu.drawing.programs.limit, gpu.drawing.programs.budget = LIMIT, 50 * LIMIT
        memory = gpu.memory
        for address, size in ((CODE, CODE_SIZE), (SPARE, 0x10000), *draws.SIZES.items()):
            mapping = memory.map(address, size, kind="generic_16bx2" if address == draws.TARGETS else "pitch")
            if address == draws.TARGETS:
                target = mapping
        self.alias = 0
        memory.map(ALIAS, 0x4000, target.backing, self.alias, "generic_16bx2")
        for address, data in draws.memory().items():
            memory.write(address, data)
        for stage, which, choice in ((VERTEX_B, case.programs[0], VERTEX), (PIXEL, case.programs[1], PIXELS)):
            memory.write(draws.PROGRAMS + draws.PROGRAM_ROOM * stage, choice[which].data(stage))
        for n, (stage, program) in enumerate([*((VERTEX_B, p) for p in VERTEX), *((PIXEL, p) for p in PIXELS)]):
            memory.write(SPARE + draws.PROGRAM_ROOM * n, program.data(stage))
        shown = []
        for step in case.steps:
            for address, data in step.memory:
                memory.write(address, data)
            if step.remap:
                self.alias ^= 0x4000
                memory.unmap(ALIAS)
                memory.map(ALIAS, 0x4000, target.backing, self.alias, "generic_16bx2")
            words = step.words.astype("<u4").tobytes()
            memory.write(CODE, words)
            gpu.submit([CODE | (len(words) // 4) << 42], step.channel)
            gpu.finish()
            shown.append(seen(gpu, [(a, s) for a, s in draws.SIZES.items()]))
        return {f"{n} {name}": value for n, one in enumerate(shown) for name, value in one.items()}


# -- what happens

_FEW, _SELDOM = 9, 23


def _number(r: random.Random) -> float:
    return r.choice((0.0, 0.01, 0.05, -0.03, 0.5, 1.0))


def _draw(r: random.Random, pb: PushBuffer) -> None:
    """Most of these can be quick."""
    op = r.choice((4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 7))
    if r.random() < 0.07:
        pb.method("BEGIN", OP=op).method("SET_INLINE_INDEX2X16_ALIGN", START_ODD=1, COUNT=r.choice((3, 5)))
        if r.random() < 0.5:
            pb.method("DRAW_VERTEX_ARRAY", 3)
        pb.method(
            "DRAW_INLINE_INDEX2X16", *(r.getrandbits(4) | r.getrandbits(4) << 16 for _ in range(4)), form="non_inc"
        )
        pb.method("END", 0)
    if r.random() < 0.1:
        pb.call_macro(0, op, r.choice((0, 3)), r.choice((3, 6)))
        return
    for n in range(r.choice((1, 1, 1, 3))):
        pb.method("BEGIN", OP=op, INSTANCE_ID=1 if n else 0, PRIMITIVE_ID=int(r.random() < 0.05))
        for _ in range(r.choice((1, 1, 1, 1, 2))):
            if r.random() < 0.8:
                pb.method("SET_VERTEX_ARRAY_START", r.choice((0, 3, 6))).method(
                    "DRAW_VERTEX_ARRAY", r.choice((3, 6, 12))
                )
            else:
                pb.method("SET_INDEX_BUFFER_F", r.choice((0, 1, 6))).method("DRAW_INDEX_BUFFER", r.choice((3, 6, 12)))
        if r.random() < 0.9:
            pb.method("END", 0)


def _few(r: random.Random, pb: PushBuffer, kind: int) -> None:
    """What real programs do between draws."""
    match kind:
        case 0:
            pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 0x100)
            pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", draws.CONSTANTS + 0x100)
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", r.choice((0, 4, 4, 4, 16)))
            pb.method("LOAD_CONSTANT_BUFFER", 0, *(_number(r) for _ in range(r.choice((1, 1, 2)))))
        case 1:
            pb.method("SET_BLEND", 0, r.randrange(2))
        case 2:
            pb.method("SET_BLEND_CONST_RED", r.choice((0.0, 1.0)))
        case 3:
            pb.method("SET_GLOBAL_BASE_VERTEX_INDEX", r.randrange(3))
        case 4:
            pb.address("SET_VERTEX_STREAM_A_LOCATION_A", 0, draws.VERTICES + 32 * r.randrange(2))
        case 5:
            group, n = r.choice((0, 4)), r.randrange(2)
            pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", r.choice((0x100, 0x100, 4)))
            pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", draws.CONSTANTS + 0x100 * r.choice((n, n, 1)))
            pb.method("BIND_GROUP_CONSTANT_BUFFER", group, VALID=int(r.random() < 0.95), SHADER_SLOT=n)
        case 6:
            pb.method("SET_PIPELINE_PROGRAM", VERTEX_B, SPARE - draws.PROGRAMS + draws.PROGRAM_ROOM * r.randrange(2))
        case 7:
            n = len(VERTEX) + r.randrange(len(PIXELS) - 1)
            pb.method("SET_PIPELINE_PROGRAM", PIXEL, SPARE - draws.PROGRAMS + draws.PROGRAM_ROOM * n)
        case _:
            pb.method("SET_DEPTH_TEST", r.randrange(2))


def _seldom(r: random.Random, pb: PushBuffer, kind: int) -> None:
    """What they seldom do, and what they should not."""

    def copy(source: int, target: int, size: int) -> None:
        pb.bind("b0b5").copy(source, target, size).bind("3D")

    match kind:
        case 0:
            pb.clear((r.random(), 0, 1, 1))
        case 1:
            pb.clear_depth(r.random())
        case 2:
            copy(draws.VERTICES + 64 * r.randrange(8), draws.VERTICES, 64)
        case 3:
            n = r.randrange(len(PIXELS))
            copy(SPARE + draws.PROGRAM_ROOM * (2 + n), draws.PROGRAMS + draws.PROGRAM_ROOM * PIXEL, 0x400)
        case 4:
            copy(SPARE + draws.PROGRAM_ROOM * r.randrange(2), draws.PROGRAMS + draws.PROGRAM_ROOM * VERTEX_B, 0x400)
        case 5:
            copy(draws.TARGETS, draws.TEXELS, 0x400)
        case 6:
            pb.inline(draws.TEXELS + 4 * r.randrange(64), np.array([r.getrandbits(32)], np.uint32))
        case 7:
            pb.inline(draws.CONSTANTS + 0x100, np.array([_number(r)], np.float32))
        case 8:
            pb.inline(draws.CONSTANTS, np.array([r.choice((0x30, 0)) << 20 | 0x400000], np.uint32))
        case 9:
            pb.inline(draws.CONSTANTS + 0x120, np.array([r.choice((1, 5, 1 << 20))], np.uint32))
        case 10:
            pb.report(draws.OUT + 0x800, 0, four_words=True, REPORT="ZPASS_PIXEL_CNT64")
        case 11:
            pb.method("SET_ZPASS_PIXEL_COUNT", r.randrange(2))
        case 12:
            pb.method("SET_STATISTICS_COUNTER", r.choice((0, 0, 0xFFFF)))
        case 13:
            pb.address("SET_RENDER_ENABLE_A", draws.OUT + 0x800).method("SET_RENDER_ENABLE_C", r.choice((1, 1, 2, 0)))
        case 14:
            surface = Surface(draws.TARGETS + r.choice((0, 0, 0x100)), draws.WIDTH, draws.HEIGHT, block_height_log2=1)
            pb.render_target(0, surface)
        case 15:
            pb.render_target(0, Surface(ALIAS, draws.WIDTH, draws.HEIGHT, block_height_log2=1))
        case 16:
            target = Surface(draws.TEXELS & -0x200, 16, 16, block_height_log2=0)
            pb.render_target(
                0, r.choice((target, Surface(draws.COLOUR, draws.WIDTH, draws.HEIGHT, block_height_log2=1)))
            )
        case 17:
            pb.method("SET_PRIMITIVE_TOPOLOGY_CONTROL", r.randrange(2)).method(
                "SET_PRIMITIVE_TOPOLOGY", r.choice((4, 5))
            )
        case 18:
            pb.method(r.choice(("LOAD_PRIMITIVE_ID", "ADD_TO_PRIMITIVE_ID")), r.randrange(9))
        case 19:
            pb.semaphore_release(draws.OUT + 0x800, r.randrange(2))
        case 20:
            pb.method("SET_CT_SELECT", TARGET_COUNT=r.choice((0, 1, 2, 2)), TARGET1=1)
            pb.method("SET_ZT_SELECT", r.choice((0, 1, 1)))
        case 21:
            pb.method("SET_LINE_STIPPLE", r.randrange(2)).method(
                "SET_LINE_STIPPLE_PARAMETERS", FACTOR=2, PATTERN=0x5A3C
            )
        case _:
            pb.method("SET_TEX_HEADER_POOL_C", r.choice((63, 62, 0)))


def make(seed: int, number: int) -> Case:
    """Case `number`."""
    r = random.Random(f"{seed}/{number}")
    steps = []
    few, seldom = r.sample(range(_FEW), 2), r.sample(range(_SELDOM), 3)
    for n in range(r.choice((1, 2, 3))):
        pb = PushBuffer()
        if n == 0:
            draws.state(pb)
            draws.stages(pb, {VERTEX_B, PIXEL})
            pb.upload_macro(0, assemble(DRAWING), 0)
        for _ in range(r.choice((5, 30, 60))):
            chance = r.random()
            if chance < 0.6:
                _draw(r, pb)
            elif chance < 0.95:
                _few(r, pb, r.choice(few))
            else:
                _seldom(r, pb, r.choice(seldom))
        memory = ()
        if r.random() < 0.3:
            place = draws.DATA + 4 * r.randrange(0x800)
            memory = ((place, np.array([_number(r)], "<f4").tobytes()),)
        steps.append(Step(pb.words, memory, r.random() < 0.2))
    pixels = (0, 0, 1, 1, 2, 2, 3, 4, 5, 6)
    return Case(steps, (r.randrange(2), r.choice(pixels)), r.random() < 0.7)


_PAIRS: dict[str, tuple[int, str, tuple[str, int]]] = {
    "llvm": (1, "quick", ("llvm", 1)), "python": (3, "found", ("llvm", 1)), "threads": (10, "quick", ("llvm", 2)),
    "python's threads": (30, "found", ("llvm", 2)), "numpy": (400, "quick", ("numpy", 1)),
}  # fmt: skip
"""What is compared with draws that are always prepared: one in so many cases, how, evaluator and threads."""


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` cases from number `first` on; AssertionError names the one in which something differs."""
    counts: Counter[str] = Counter()
    pairs: dict[str, tuple[Stage, Stage]] = {}
    for number in range(first, first + cases):
        case = make(seed, number)
        counts["cases"] += 1
        for name, (each, how, kind) in _PAIRS.items():
            if number % each != each // 2:
                continue
            if name not in pairs:
                pairs[name] = Stage(how, *kind), Stage("prepared", *kind)
            share = drawing.SHARE_VERTICES, drawing.SHARE_AREA
            if kind[1] > 1 and number & 1:
                drawing.SHARE_VERTICES, drawing.SHARE_AREA = 1, 0
            try:
                one, other = (stage.run(case) for stage in pairs[name])
            finally:
                drawing.SHARE_VERTICES, drawing.SHARE_AREA = share
            wrong = [key for key in other if one[key] != other[key]]
            assert not wrong, f"seed {seed}, case {number}, {name}: {', '.join(wrong)}"
            gpu = pairs[name][0].gpu
            counts[name] += 1
            counts["draws"] += gpu.stats.draws
            counts["quick"] += gpu.drawing.quick.made
            counts["found"] += gpu.drawing.quick.found
            other = pairs[name][1].gpu.drawing.quick
            assert other.made == other.found == 0
            for event in gpu.events:
                counts[event.id] += 1
    return counts


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "draws")
