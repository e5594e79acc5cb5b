"""Random work for the Switch's GPU: pushbuffers, macros and copies. None may crash the host, run forever or write
where nothing is mapped.

    python tests/fuzz/pushbuffers.py --cases 100000 --seed 1

A case is one submission of one to three segments on a machine that was just switched on: packets to random methods of
all classes, jobs as drivers set them up with state changed at random, macros of random code, or noise. Memory that is
not mapped holds a pattern that must survive. One in 250 runs on the NumPy evaluator as well and must leave the
same bytes. A case is made from the seed and its number alone (--first N --cases 1).
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command, one_case

from pocketgpu.builder.maxwell import Grid, PushBuffer, Surface
from pocketgpu.facts.maxwell import A140, B0B5, B06F, B1C0, B197, TWOD, Method, MethodBlock
from pocketgpu.facts.maxwell.headers import QMD
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.stats import ChannelStats
from pocketgpu.maxwell.memory.gpu_memory import Backing
from pocketgpu.maxwell.sass.isa.assembler import assemble

SLOWEST = 10.0
COMPARED = 250
MACRO_BUDGET = WARP_LIMIT = 5000
"""Instructions for the macros of a case, and for a warp of a grid: endless ones shall end soon."""
GRID_BUDGET = 50_000

CODE, DATA, ALIAS, SMALL = 0x5_0000_0000, 0x5_0010_0000, 0x5_0020_0000, 0x7F_FFFF_E000
"""Where pushbuffers, surfaces, the same surfaces again, and the last pages of the address space are mapped."""
_CODE_SIZE, _DATA_SIZE, _SMALL_SIZE = 0x8000, 0x20000, 0x2000
_CANARY = 0xA5
_CLASSES = (B197, B197, B197, B1C0, A140, TWOD, TWOD, B0B5, B0B5)
_FORMATS = ("A8B8G8R8", "A8R8G8B8", "A8BL8GL8RL8", "R5G6B5", "R8")
# Methods that end a channel's work for good tell the test nothing.
_HOST = [method for method in B06F if method.name != "SET_OBJECT"]


class Stage:
    """A machine with its memory: what is mapped, and what is not and must stay as it is."""

    def __init__(self, evaluator: str = "llvm") -> None:
        self.gpu = GM20B(evaluator=evaluator)
        self.gpu.macro_budget = MACRO_BUDGET
        self.gpu.grids.limit, self.gpu.grids.budget = WARP_LIMIT, GRID_BUDGET
        self.gpu.grids.tier = "interpreter"  # specialised code for every random program would take the day

    def set(self) -> None:
        """Switch the machine off and on, and map its memory with unmapped memory between."""
        gpu = self.gpu
        gpu.reset()
        memory = gpu.memory
        self.canaries: list[Backing] = []
        for address, size, kind in (
            (CODE, _CODE_SIZE, "pitch"),
            (DATA, _DATA_SIZE, "pitch"),
            (SMALL, _SMALL_SIZE, "generic_16bx2"),
        ):
            canary = memory.allocate(4096)
            memory.arena[canary.offset : canary.offset + 4096] = _CANARY
            self.canaries.append(canary)
            mapping = memory.map(address, size, kind=kind)
            if address == DATA:
                # The same bytes a second time, the halves changed over: no piece of it lies in one piece.
                half = size // 2
                memory.map(ALIAS, half, mapping.backing, half, "generic_16bx2")
                memory.map(ALIAS + half, half, mapping.backing, 0, "c32_2cra")
        self.end = max(backing.offset + backing.size for backing in memory.backings)
        memory.write(DATA, _CONTENTS)

    def run(self, segments: list[np.ndarray], entries: list[int]) -> None:
        """Load the segments, submit them and wait."""
        at = CODE
        fifo = []
        for words in segments:
            data = words.astype("<u4").tobytes()[: CODE + _CODE_SIZE - at]
            self.gpu.memory.write(at, data)
            fifo.append(at | 1 << 41 | (len(data) // 4) << 42)
            at += len(data)
        self.gpu.submit(fifo + entries)
        self.gpu.finish()

    def damage(self) -> str:
        """Where something was written that no mapping shows, or ""."""
        memory = self.gpu.memory
        for canary in self.canaries:
            if (memory.arena[canary.offset : canary.offset + 4096] != _CANARY).any():
                return f"unmapped memory at arena {canary.offset:#x}"
        if memory.arena[self.end : self.end + (1 << 20)].any() or memory.arena[memory.guest_end :][:65536].any():
            return "past all memory"
        return "before all memory" if memory.arena[:4096].any() else ""

    def contents(self) -> bytes:
        """All mapped bytes, and the registers."""
        registers = b"".join(
            self.gpu.registers(block.class_id).tobytes() for block in (B197, B1C0, A140, TWOD, B0B5, B06F)
        )
        return self.gpu.memory.read(DATA, _DATA_SIZE) + self.gpu.memory.read(SMALL, _SMALL_SIZE) + registers


_CONTENTS = np.random.default_rng(7).integers(0, 256, _DATA_SIZE, np.uint8).tobytes()


# -- what a case is made of


def _address(r: random.Random) -> int:
    """Mostly mapped, at times at an edge or nowhere."""
    base, size = r.choice(((DATA, _DATA_SIZE), (DATA, _DATA_SIZE), (ALIAS, _DATA_SIZE), (SMALL, _SMALL_SIZE)))
    kind = r.random()
    if kind < 0.7:
        return base + r.randrange(size // 256) * 256
    if kind < 0.8:
        return base + r.randrange(size)
    if kind < 0.9:
        return min(base + size - r.choice((1, 4, 16, 64, 512)), (1 << 40) - 1)
    return r.choice((0, 0x1000, CODE + 16 * r.randrange(64), r.getrandbits(40)))


def _number(r: random.Random) -> int:
    """Small numbers mostly, as sizes and counts are."""
    kind = r.random()
    if kind < 0.6:
        return r.randrange(64)
    if kind < 0.8:
        return r.choice((64, 128, 255, 256, 511, 512, 640, 1024, 4096))
    if kind < 0.95:
        return r.getrandbits(r.randrange(1, 33))
    return r.choice((0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFFFF0000))


def _value(r: random.Random, method: Method) -> int:
    """A word for a method: legal values of its fields, or anything."""
    if r.random() < 0.2 or not method.fields:
        return _number(r)
    word = 0
    for field in method.fields:
        raw = r.choice(list(field.enum)) if field.enum and r.random() < 0.9 else _number(r) & ((1 << field.width) - 1)
        word |= raw << field.lo & field.mask
    return word & 0xFFFFFFFF


def _random_method(r: random.Random, block: MethodBlock) -> Method:
    method = r.choice(block.methods)
    return method(r.randrange(method.count)) if method.stride else method


def _is_address(method: Method) -> bool:
    return bool(method.fields) and "UPPER" in method.name + method.fields[0].name and method.fields[0].width == 8


def _writes(r: random.Random, pb: PushBuffer, block: MethodBlock, count: int) -> None:
    """Random methods of a class; addresses go where something may be."""
    pb.on(block)
    for _ in range(count):
        method = _random_method(r, block)
        if _is_address(method) and method.word < 0xFFF:
            address = _address(r)
            pb.packet("auto", method.word, [address >> 32, address & 0xFFFFFFFF])
        elif method.name != "SET_OBJECT" or r.random() < 0.05:
            form = r.choice(("auto", "auto", "inc", "non_inc", "one_inc"))
            values = [_value(r, method) for _ in range(r.choice((1, 1, 1, 2, 3, 8)))]
            if method.word + len(values) < 0x1000:
                pb.packet(form, method.word, values)  # type: ignore[arg-type]


def _surface(r: random.Random) -> Surface:
    format = r.choice(_FORMATS)
    width, height = r.choice((1, 3, 16, 17, 33, 64, 100)), r.choice((1, 2, 8, 9, 31, 64))
    pitch = r.choice((64, 128, 256, 512, 0, 4, 260)) if r.random() < 0.4 else None
    return Surface(_address(r), width, height, format, pitch, r.randrange(6))


def _rectangle(r: random.Random) -> tuple[int, int, int, int]:
    return r.randrange(40), r.randrange(40), r.randrange(1, 70), r.randrange(1, 70)


def _clear(r: random.Random, pb: PushBuffer) -> None:
    pb.on(B197).render_target(r.randrange(8), _surface(r))
    pb.scissor(_rectangle(r) if r.random() < 0.5 else None)
    if r.random() < 0.3:
        pb.address("SET_ZT_A", _address(r)).method("SET_ZT_FORMAT", r.choice((0x13, 0x14, 0x16, 0x17, 0x0A, 0x19)))
        pb.method("SET_ZT_SIZE_A", r.randrange(80), r.randrange(80), r.randrange(4))
    _writes(r, pb, B197, r.choice((0, 0, 1, 3)))
    if r.random() < 0.5:
        pb.on(B197).method("CLEAR_SURFACE", _value(r, B197["CLEAR_SURFACE"]))
    pb.clear([r.uniform(-0.5, 1.5) for _ in range(4)], slot=r.randrange(8), layer=r.choice((0, 0, 1, 60000)))


def _copy(r: random.Random, pb: PushBuffer) -> None:
    pb.on(B0B5)
    kind = r.randrange(4)
    if kind == 0:
        pb.copy(_address(r), _address(r), _number(r))
    elif kind == 1:
        pb.fill(_address(r), r.getrandbits(32), _number(r))
    else:
        source = _surface(r)
        target = Surface(_address(r), r.choice((16, 64)), 32, source.format, r.choice((None, 64, 256)), r.randrange(6))
        pb.copy_rectangle(source, target, _rectangle(r), (r.randrange(20), r.randrange(20)))
    if r.random() < 0.5:
        _writes(r, pb, B0B5, r.choice((1, 3, 6)))
        pb.on(B0B5).method("LAUNCH_DMA", _value(r, B0B5["LAUNCH_DMA"]))


def _blit(r: random.Random, pb: PushBuffer) -> None:
    pb.on(TWOD)
    rectangle = (r.uniform(-9, 40), r.uniform(-9, 40), r.uniform(0, 90), r.uniform(0, 90))
    pb.blit(_surface(r), _surface(r), rectangle, _rectangle(r), filter=r.choice(("POINT", "BILINEAR")))
    if r.random() < 0.6:
        _writes(r, pb, TWOD, r.choice((1, 2, 5)))
        pb.on(TWOD).method("PIXELS_FROM_MEMORY_SRC_Y0_INT", r.choice((0, 1, -5, _number(r))))


def _inline(r: random.Random, pb: PushBuffer) -> None:
    pb.on(r.choice((B197, B1C0, A140)))
    if r.random() < 0.5:
        pb.inline(_address(r), r.randbytes(r.choice((1, 4, 6, 100, 700))))
        return
    pixels = np.zeros((r.randrange(1, 20), r.randrange(1, 20), 4), np.uint8) + r.randrange(256)
    target = Surface(_address(r), 32, 32, "A8B8G8R8", None, r.randrange(6))
    block = pb.block
    _writes(r, pb, block, r.choice((0, 0, 2)))
    pb.inline_rectangle(target, r.randrange(40), r.randrange(40), pixels)
    pb.method("LAUNCH_DMA", _value(r, block["LAUNCH_DMA"]))
    pb.method("LOAD_INLINE_DATA", *(r.getrandbits(32) for _ in range(r.randrange(1, 30))), form="non_inc")


def _instruction(r: random.Random) -> int:
    """A word of macro code: fields at random, the operation mostly one that exists."""
    op = r.choice((0, 1, 1, 2, 3, 4, 5, 5, 7, 7, 6))
    word = r.getrandbits(32) & ~0x8F | op
    if op == 7:
        word = word & 0x3FFF | (r.randrange(-12, 13) & 0x3FFFF) << 14
    elif op == 1:
        word = word & 0x3FFF | (r.choice((r.randrange(0x1000), r.randrange(-4, 5), r.getrandbits(18))) & 0x3FFFF) << 14
    return word | (0x80 if r.random() < 0.15 else 0)


def _macro(r: random.Random, pb: PushBuffer) -> None:
    pb.on(r.choice((B197, B197, TWOD)))
    for _ in range(r.choice((1, 1, 2))):
        number, at = r.choice((0, 1, 2, 127)), r.choice((0, 16, 100, 0x7F0, 0x1FF8))
        pb.on(B197).upload_macro(number, [_instruction(r) for _ in range(r.randrange(1, 40))], at)
        if r.random() < 0.3:
            pb.method("SET_MME_SHADOW_RAM_CONTROL", r.randrange(4))
        for _ in range(r.choice((1, 1, 2, 4))):
            pb.call_macro(number, *(_number(r) for _ in range(r.choice((0, 1, 3, 9)))), more=r.choice((0, 0, 0, 2)))


def _order(r: random.Random, pb: PushBuffer) -> None:
    """Semaphores, syncpoints, reports, queries, conditional rendering."""
    kind = r.randrange(7)
    if kind == 0:
        pb.semaphore_release(_address(r), _number(r), four_words=r.random() < 0.5)
    elif kind == 1:
        pb.semaphore_acquire(_address(r), _number(r), compare=r.choice(("equal", "geq", "and")))
    elif kind == 2:
        pb.syncpoint_increment(r.randrange(4096)).syncpoint_wait(r.randrange(4096), r.choice((0, 1, _number(r))))
    elif kind == 3:
        pb.on(B197).report(_address(r), _number(r))
        pb.method("SET_REPORT_SEMAPHORE_D", _value(r, B197["SET_REPORT_SEMAPHORE_D"]))
    elif kind == 4:
        block = r.choice((B197, TWOD, B0B5))
        pb.on(block)
        if "SET_RENDER_ENABLE_A" in block:
            pb.address("SET_RENDER_ENABLE_A", _address(r)).method("SET_RENDER_ENABLE_C", r.randrange(8))
    else:
        for _ in range(r.randrange(1, 5)):
            method = r.choice(_HOST)
            pb.packet("auto", method.word, [_value(r, method)])


def _draw(r: random.Random, pb: PushBuffer) -> None:
    """Draws, constant buffers, and launches of what lies in memory."""
    pb.on(B197).method("SET_CONSTANT_BUFFER_SELECTOR_A", _number(r)).address(
        "SET_CONSTANT_BUFFER_SELECTOR_B", _address(r)
    )
    pb.method("BIND_GROUP_CONSTANT_BUFFER", r.randrange(5), _number(r))
    pb.method("LOAD_CONSTANT_BUFFER_OFFSET", r.choice((0, 4, 0xFFFC, _number(r))))
    pb.method("LOAD_CONSTANT_BUFFER", 0, *(r.getrandbits(32) for _ in range(r.randrange(1, 12))), form="non_inc")
    _writes(r, pb, B197, r.choice((0, 2, 6)))
    pb.on(B197).method("BEGIN", _value(r, B197["BEGIN"])).method("SET_VERTEX_ARRAY_START", _number(r))
    pb.method(r.choice(("DRAW_VERTEX_ARRAY", "DRAW_INDEX_BUFFER")), _number(r)).method("END", 0)
    if r.random() < 0.3:
        pb.on(B1C0).method("SEND_PCAS_A", _address(r) >> 8).method("SEND_SIGNALING_PCAS_B", 3)


def _grid(r: random.Random, pb: PushBuffer) -> None:
    """A grid with its program; perhaps some of it is damaged."""
    pb.on(B1C0)
    code = bytearray(r.choice(_PROGRAMS))
    if r.random() < 0.3:
        at = r.randrange(0, len(code), 8)
        code[at : at + 8] = r.getrandbits(64).to_bytes(8, "little")
    place, bank, out = DATA + 0x400 * r.randrange(16), DATA + 0x8000, DATA + 0x100 * r.randrange(64)
    out = r.choice((out, ALIAS, SMALL + 0x1F00, _address(r)))
    pb.inline(place, bytes(code)).inline(bank, out.to_bytes(8, "little"))
    fields = {}
    for _ in range(r.choice((0, 0, 1, 2, 4))):
        field = r.choice(_QMD_FIELDS)
        fields[field.name] = r.choice((0, 1, (1 << field.width) - 1, r.getrandbits(field.width)))
    grid = Grid(
        place,
        [r.choice((1, 1, 2, 3)) for _ in range(r.choice((1, 2, 3)))],
        [r.choice((1, 4, 8, 5)) for _ in range(r.choice((1, 2, 3)))],
        {r.choice((0, 0, 0, 1)): (bank, r.choice((8, 256, 0x1FFFF)))},
        shared=r.choice((0, 64, 1000, 0xC000)),
        local=r.choice((0, 16, 100)),
        releases=[(_address(r), r.getrandbits(32)) for _ in range(r.choice((0, 0, 1, 2)))],
        after=DATA + 0x9000 + 256 * r.randrange(2) if r.random() < 0.1 else None,
        fields=fields,
    )
    pb.launch(DATA + 0x9000 + 256 * r.randrange(2), grid)


_ADDRESS = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    ISCADD R0, R0, R1, 0x3
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
"""
_PROGRAMS = [
    assemble(_ADDRESS + text + "EXIT").code
    for text in (
        "STG.E [R2], R0\n",
        "LDG.E.64 R4, [R2]\nIADD R4, R4, R5\nSTG.E [R2+0x8], R4\n",
        "SHL R5, R1, 0x2\nSTS [R5], R0\nBAR.SYNC 0x0\nLDS R4, [R5+0x4]\nSTL [0x8], R4\nST.E [R2], R4, PT\n",
        "MOV32I R4, 0x10\nagain: IADD32I R4, R4, -0x1\nISETP.NE.AND P0, PT, R4, R1, PT\n@P0 BRA `(again)\n"
        "RED.E.ADD [R2], R4\n",
    )
]
_QMD_FIELDS = [field for field in QMD["01_07"].elements() if not field.name.startswith(("QMD_RESERVED", "HW_ONLY"))]


def _noise(r: random.Random, pb: PushBuffer) -> None:
    """Words with no plan, or headers with plausible parts."""
    words = []
    for _ in range(r.randrange(1, 80)):
        form = r.choice((0, 1, 1, 3, 4, 4, 5, 2, 6, 7))
        header = form << 29 | r.choice((0, 1, 2, 5, r.getrandbits(13))) << 16 | r.getrandbits(16)
        words.append(header if r.random() < 0.5 else r.getrandbits(32) if r.random() < 0.5 else _number(r))
    pb.raw(words)


_JOBS: list[Callable[[random.Random, PushBuffer], None]] = [
    _clear, _copy, _copy, _blit, _blit, _inline, _macro, _macro, _order, _draw, _grid, _noise,
]  # fmt: skip


def make(seed: int, number: int) -> tuple[list[np.ndarray], list[int]]:
    """The segments of case `number`, and GPFIFO entries that follow them."""
    r = random.Random(f"{seed}/{number}")
    pb = PushBuffer()
    if r.random() < 0.9:
        for name in (B197, B1C0, A140, TWOD, B0B5):
            pb.bind(name)
    for _ in range(r.choice((1, 1, 2, 3))):
        if r.random() < 0.3:
            _writes(r, pb, r.choice(_CLASSES), r.randrange(1, 12))
        r.choice(_JOBS)(r, pb)
    words = pb.words
    if r.random() < 0.15:
        for _ in range(r.choice((1, 1, 3))):
            words[r.randrange(len(words))] = r.getrandbits(32)
    cuts = sorted(r.randrange(len(words) + 1) for _ in range(r.choice((0, 0, 1, 2))))
    entries = []
    if r.random() < 0.1:
        entries = [r.getrandbits(64) for _ in range(r.choice((1, 2)))]
        entries.append(CODE | r.choice((0, 1, 64, 1 << 20, (1 << 21) - 1)) << 42)
    return np.split(words, cuts), entries


_COUNTED = (
    "draws", "clears", "copies", "blits", "uploads", "launches", "launch_steps", "macro_calls", "methods", "words",
)  # fmt: skip


def _small(stats: ChannelStats) -> bool:
    """Whether the slow evaluator can do it, too."""
    return stats.macro_steps < 1000 and stats.words < 2000 and stats.launch_steps < 500


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` cases from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    stage = Stage()
    oracle: Stage | None = None
    for number in range(first, first + cases):
        segments, entries = make(seed, number)
        with one_case(seed, number, SLOWEST):
            stage.set()
            stage.run(segments, entries)
        assert not (where := stage.damage()), f"seed {seed}, case {number}: written {where}"
        counts["cases"] += 1
        stats = stage.gpu.stats
        for name in _COUNTED:
            counts[name] += getattr(stats, name)
        for event in stage.gpu.events.drain():
            counts[event.id] += event.count
        if report is not None and number % 1000 == 999:
            report(counts)
        if (number - first) % COMPARED == COMPARED - 1 and _small(stats):
            oracle = oracle or Stage("numpy")
            oracle.set()
            oracle.run(segments, entries)
            assert oracle.contents() == stage.contents(), f"seed {seed}, case {number}: the evaluators disagree"
            counts["compared"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "submissions")
