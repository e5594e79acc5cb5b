"""Grids launched from pushbuffers: what programs find, what they leave, and the reports of those that go wrong."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.builder.maxwell import Grid, PushBuffer
from pocketgpu.builder.maxwell.grids import LOCAL_WINDOW, SHARED_WINDOW
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.maxwell.engines.compute.launch import MAX_CHAIN, Launch
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch import launcher as launch
from pocketgpu.maxwell.sass.warp.row import run_warp

BUFFER, CODE, OUT, QMD, BANK, HOLE = (0x5_0000_0000 + i * 0x10_0000 for i in range(6))
# R2:R3 is the address of the thread's own word of the output, R0 its number in the grid; tail stores R4 there.
HEAD = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    ISCADD R0, R0, R1, 0x5
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
"""
TAIL = """
    STG.E [R2], R4
    EXIT
"""
NUMBERS = HEAD + "MOV R4, R0" + TAIL


class Console:
    """A GPU with memory for a pushbuffer, programs, output, QMDs and constants."""

    def __init__(self, evaluator: str = "llvm", **options: Any) -> None:
        self.gpu = GM20B(evaluator=evaluator, **options)
        for address in (BUFFER, CODE, OUT, QMD, BANK):
            self.gpu.map(address, 0x1_0000)
        self.gpu.memory.write(BANK, struct.pack("<Q", OUT))

    def code(self, text: str, at: int = CODE) -> int:
        self.gpu.memory.write(at, assemble(text).code)
        return at

    def grid(self, program: int, blocks: Any = (2,), threads: Any = (32,), **options: Any) -> Grid:
        return Grid(program, blocks, threads, **{"constants": {0: (BANK, 256)}, **options})

    def submit(self, pb: PushBuffer) -> Console:
        self.gpu.memory.write(BUFFER, pb.tobytes())
        self.gpu.submit([BUFFER | len(pb) << 42])
        self.gpu.finish()
        return self

    def run(self, text: str, **options: Any) -> NDArray[np.uint32]:
        self.submit(PushBuffer().bind("compute").launch(QMD, self.grid(self.code(text), **options)))
        return self.out()

    def out(self, count: int = 64) -> NDArray[np.uint32]:
        return np.frombuffer(self.gpu.memory.read(OUT, 4 * count), "<u4")

    @property
    def launches(self) -> list[Launch]:
        return [record for record in self.gpu.log if isinstance(record, Launch)]

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(event.id, event.message) for event in self.gpu.events]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_a_grid_writes_memory(evaluator: str) -> None:
    c = Console(evaluator)
    assert c.run(NUMBERS).tolist() == list(range(64)) and not c.told
    (one,) = c.launches
    assert one.result is not None and one.result.steps == c.gpu.stats.launch_steps == 2 * 9
    assert c.gpu.stats.launches == 1 and c.gpu.stats.seconds["launches"] > 0
    assert one.code is not None and one.code.data == assemble(NUMBERS).code


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize("tier", ["interpreter", "specialised"])
def test_what_is_no_number_as_an_integer(evaluator: str, tier: str) -> None:
    """Zero, or the least integer if the QMD says so; from doubles always the latter."""
    c = Console(evaluator)
    c.gpu.grids.tier = tier
    text = HEAD + "MOV32I R5, 0x7fc00000\nF2I.S32.F32 R4, R5" + TAIL
    double = HEAD + "MOV R6, RZ\nMOV32I R7, 0x7ff80000\nF2I.S32.F64 R4, R6" + TAIL
    for behavior, value in (("PASS_ZERO", 0), ("PASS_INDEFINITE", 0x80000000)):
        fields = {"FP32_F2I_NAN_BEHAVIOR": int(behavior == "PASS_INDEFINITE")}
        assert set(c.run(text, fields=fields).tolist()) == {value}
        assert set(c.run(double, fields=fields).tolist()) == {0x80000000}
    assert not c.told


@pytest.mark.parametrize("tier", ["interpreter", "specialised"])
def test_windows(tier: str) -> None:
    """Generic addresses show shared and local memory where the registers say; both begin as zero or as written."""
    c = Console()
    c.gpu.grids.tier = tier
    text = f"""
    SHL R5, R1, 0x2
    MOV32I R6, {SHARED_WINDOW:#x}
    IADD R6, R6, R5
    MOV R7, RZ
    STS [R5], R1
    MOV32I R8, 0x700
    STL [0x8], R8
    MOV32I R10, {LOCAL_WINDOW:#x}
    MOV R11, RZ
    LD.E R4, [R6], PT
    LD.E R9, [R10+0x8], PT
    IADD R4, R4, R9
    """
    assert c.run(HEAD + text + TAIL, shared=256, local=16)[:32].tolist() == [0x700 + i for i in range(32)]
    assert not c.told


def test_constants_are_those_of_the_moment() -> None:
    """What the channel writes between two launches counts for the second; beyond a buffer's end there is zero."""
    c = Console()
    program = c.code(HEAD + "MOV R4, c[0x3][0x8]\nIADD R4, R4, c[0x3][0x10]\nIADD R4, R4, c[0x2][0x0]" + TAIL)
    c.gpu.memory.write(BANK + 0x100, struct.pack("<6I", 1, 2, 30, 4, 500, 6))
    grid = c.grid(program, blocks=(1,), constants={0: (BANK, 8), 3: (BANK + 0x100, 16)})
    after = Grid(program, (1,), (32,), {0: (BANK + 0x200, 8), 3: (BANK + 0x100, 24)})
    pb = PushBuffer().bind("compute").launch(QMD, grid)
    pb.inline(BANK + 0x108, struct.pack("<I", 70)).inline(BANK + 0x200, struct.pack("<Q", OUT + 128))
    c.submit(pb.launch(QMD, after))
    assert c.out().tolist() == [30] * 32 + [570] * 32 and not c.told


def test_programs_are_those_of_the_moment() -> None:
    """A program that changes is another one; a change beside it changes nothing."""
    c = Console()
    one, other = (HEAD + f"MOV32I R4, {v}" + TAIL for v in (1, 2))
    assert c.run(one).tolist() == [1] * 64
    assert c.run(other).tolist() == [2] * 64
    assert c.run(one).tolist() == [1] * 64
    known = c.gpu.grids.programs.find(CODE & -(1 << 32), CODE % (1 << 32), 32)
    c.gpu.memory.write(CODE + 0x800, b"beside it")
    assert c.gpu.grids.programs.find(CODE & -(1 << 32), CODE % (1 << 32), 32) is known


def test_grid_and_block_in_three_directions() -> None:
    text = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_CTAID.Y
    S2R R2, SR_CTAID.Z
    S2R R3, SR_TID.X
    S2R R4, SR_TID.Y
    S2R R5, SR_TID.Z
    ISCADD R0, R1, R0, 0x1
    ISCADD R0, R2, R0, 0x2
    ISCADD R3, R4, R3, 0x1
    ISCADD R3, R5, R3, 0x2
    ISCADD R0, R0, R3, 0x3
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
    IADD32I R4, R0, 0x1
    """
    out = Console().run(text + TAIL, blocks=(2, 2, 2), threads=(2, 2, 2))
    assert out.tolist() == list(range(1, 65))


def test_releases_and_the_grid_that_depends() -> None:
    """A grid ends, its semaphores are stored, the one that depends on it begins."""
    c = Console()
    first = c.code(HEAD + "MOV32I R4, 0x5" + TAIL)
    then = c.code(HEAD + "LDG.E R4, [R2]\nIADD R4, R4, c[0x0][0x8]" + TAIL, CODE + 0x1000)
    c.gpu.memory.write(QMD + 0x100, c.grid(then, releases=[(BANK + 0x20, 9)]).qmd())
    grid = c.grid(first, releases=[(BANK + 0x8, 100), (BANK + 0x10, 7)], after=QMD + 0x100)
    c.submit(PushBuffer().bind("compute").launch(QMD, grid))
    assert c.out().tolist() == [105] * 64 and not c.told
    assert struct.unpack("<7I", c.gpu.memory.read(BANK + 8, 28)) == (100, 0, 7, 0, 0, 0, 9)
    assert [record.address for record in c.launches] == [QMD, QMD + 0x100]


def test_a_chain_without_an_end() -> None:
    c = Console()
    grid = c.grid(c.code("EXIT"), blocks=(1,), after=QMD)
    c.submit(PushBuffer().bind("compute").launch(QMD, grid))
    assert [id for id, _ in c.told] == ["compute.chain"] and len(c.launches) == MAX_CHAIN


def test_queues_are_told() -> None:
    c = Console()
    pb = PushBuffer().bind("compute").launch(QMD, c.grid(c.code(NUMBERS), fields={"IS_QUEUE": 1}))
    pb.launch(QMD + 256, c.grid(CODE, after=QMD, fields={"DEPENDENT_QMD_TYPE": 0}))
    c.submit(pb)
    assert [id for id, _ in c.told] == ["compute.queue"] * 2
    assert c.out().tolist() == list(range(64))  # the second one ran


def test_a_fault_has_a_place() -> None:
    c = Console()
    c.gpu.memory.write(BANK, struct.pack("<Q", HOLE))
    c.run(NUMBERS, blocks=(1,), threads=(2,))
    (event, _) = c.gpu.events
    assert (event.kind, event.id) == ("fault", "compute.fault") and event.at.startswith("s0/e0+")
    assert event.message == (
        f"program {CODE:#x}+0x0050 (STG): nothing is mapped at {HOLE:#x}; block (0, 0, 0), thread (0, 0, 0)"
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"threads": (1025,)}, "1024 threads"),
        ({"blocks": (0xFFFFFFFF, 2)}, "grid up to"),
        ({"shared": 0x3FFFF}, "shared memory"),
        ({"local": 0xFFFFFF}, "work area"),
        ({"fields": {"SHADER_LOCAL_MEMORY_HIGH_SIZE": 16}}, "local memory from the end"),
    ],
)
def test_sizes_that_there_are_not(options: dict[str, Any], text: str) -> None:
    c = Console()
    c.run(NUMBERS, **options)
    ((id, message),) = c.told
    assert id == "compute.launch" and text in message
    assert not c.out().any() and c.launches[0].result is None


@pytest.mark.parametrize("sizes", [{"blocks": (0,)}, {"blocks": (3, 0, 1)}, {"threads": (32, 0)}])
def test_empty_grids(sizes: dict[str, Any]) -> None:
    """Nothing runs, and what follows a grid follows."""
    c = Console()
    c.run(NUMBERS, releases=[(BANK + 16, 5)], **sizes)
    assert not c.told and not c.out().any()
    assert c.gpu.memory.read(BANK + 16, 4) == b"\5\0\0\0"


@pytest.mark.parametrize(
    ("bytes", "text"),
    [(bytes(8), "is no instruction"), (struct.pack("<Q", 0xE24FFFF80007000F), "where no code is"), (b"", "no instr")],
)
def test_programs_that_are_none(bytes: bytes, text: str) -> None:
    c = Console()
    c.gpu.memory.write(CODE + 8, bytes)
    c.submit(PushBuffer().bind("compute").launch(QMD, c.grid(CODE)))
    ((id, message),) = c.told
    assert id == "compute.launch" and text in message


def test_no_memory_for_a_program() -> None:
    c = Console()
    c.submit(PushBuffer().bind("compute").launch(QMD, c.grid(HOLE)))
    assert [id for id, _ in c.told] == ["compute.launch"]


def test_endless_warps_and_endless_grids() -> None:
    c = Console()
    c.gpu.grids.limit, c.gpu.grids.budget = 1000, 1 << 40
    c.run("again: BRA `(again)", blocks=(1,))
    assert c.told[0][0] == "compute.hang" and "does not end" in c.told[0][1]
    # Each block of an endless grid counts.
    c = Console()
    c.gpu.grids.limit, c.gpu.grids.budget = 1000, 20_000
    c.run("again: BRA `(again)", blocks=(1 << 30,))
    assert "instructions; the rest" in c.told[-1][1]
    assert c.launches[0].result is not None and 20_000 < c.launches[0].result.steps < 100_000
    c = Console()
    c.gpu.grids.budget = 1000
    c.run(NUMBERS, blocks=(1 << 20,))
    assert [id for id, _ in c.told if id != "compute.fault"] == ["compute.hang"]
    assert c.launches[0].result is not None and 1000 < c.launches[0].result.steps < 1 << 16


def test_memory_of_blocks_begins_as_zero() -> None:
    """Whatever ran there before."""
    c = Console()
    c.run(HEAD + "STL [0x4], R0\nSTS [0x8], R0\nMOV R4, RZ" + TAIL, local=16, shared=16, blocks=(8,))
    c.run(HEAD + "LDL R5, [0x4]\nLDS R4, [0x8]\nLOP.OR R4, R4, R5" + TAIL, local=16, shared=16, blocks=(8,))
    assert not c.out(256).any() and not c.told


def test_clearing_memory_counts() -> None:
    """A grid that does nothing but have its blocks' memory cleared comes to an end, too."""
    c = Console()
    c.gpu.grids.budget = 1 << 20
    c.run("EXIT", local=1 << 16, blocks=((1 << 31) - 1,))
    assert [id for id, _ in c.told] == ["compute.hang"]
    assert c.launches[0].result is not None and c.launches[0].result.steps < 1000


def texture_pools(c: Console) -> None:
    """Two textures of a row of 32 texels in header 1 and 3; a sampler for each number up to 3."""
    plain = {"COMPONENTS": 8, "TEXTURE_TYPE": 1, "HEADER_VERSION": 2, "WIDTH_MINUS_ONE": 31, "PITCH_BITS20TO5": 4}
    plain |= {f"{axis}_DATA_TYPE": 2 for axis in "RGBA"} | {f"{n}_SOURCE": 2 + i for i, n in enumerate("XYZW")}
    for number, factor in ((1, 2), (3, 7)):
        texels = BANK + 0x4000 + 0x1000 * number
        address = {"ADDRESS_BITS31TO5": texels % (1 << 32) >> 5, "ADDRESS_BITS47TO32": texels >> 32}
        c.gpu.memory.write(BANK + 0x1000 + 32 * number, struct.pack("<8I", *TIC["PITCH"].pack(plain | address)))
        c.gpu.memory.write(texels, (np.arange(32, dtype="<u4") * factor).tobytes())
    sampler = struct.pack("<8I", *TSC.pack({"MAG_FILTER": 1, "MIN_FILTER": 1, "MIP_FILTER": 1}))
    c.gpu.memory.write(BANK + 0x2000, sampler * 4)


@pytest.mark.parametrize("joined", [0, 1])
def test_textures(joined: int) -> None:
    """Handles from the constant bank of SET_BINDLESS_TEXTURE; headers and samplers from their pools."""
    c = Console()
    texture_pools(c)
    c.gpu.memory.write(BANK + 0x100, struct.pack("<2I", 1, 3 | 9 * joined << 20))
    text = (
        HEAD
        + """
    I2F.F32.U32 R8, R1
    FADD R8, R8, 0.5
    MOV32I R9, 0x3f000000
    TEX.LZ R4, R8, RZ, 0x0, 2D, 0x1
    TEX.LZ R5, R8, RZ, 0x1, 2D, 0x1
    FADD R4, R4, R5
    FMUL32I R4, R4, 255
    F2I.U32.F32 R4, R4
    """
    )
    fields = {"SAMPLER_INDEX": joined}
    grid = c.grid(c.code(text + TAIL), (1,), constants={0: (BANK, 8), 5: (BANK + 0x100, 8)}, fields=fields)
    pb = PushBuffer().bind("compute").method("SET_BINDLESS_TEXTURE", 5)
    pb.address("SET_TEX_HEADER_POOL_A", BANK + 0x1000).method("SET_TEX_HEADER_POOL_C", 3)
    pb.address("SET_TEX_SAMPLER_POOL_A", BANK + 0x2000).method("SET_TEX_SAMPLER_POOL_C", 3)
    c.submit(pb.launch(QMD, grid))
    assert c.out(32).tolist() == [9 * i for i in range(32)] and not c.told
    # The next launch sees what texels have become, and that a header is beyond the last one.
    c.gpu.memory.write(BANK + 0x5000, bytes(128))
    c.submit(PushBuffer().bind("compute").launch(QMD))
    assert c.out(32).tolist() == [7 * i for i in range(32)]
    c.submit(PushBuffer().bind("compute").method("SET_TEX_HEADER_POOL_C", 2).launch(QMD))
    assert not c.out(32).any() and all("there is no texture header 3" in text for _, text in c.told) and c.told


def test_huge_programs_are_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile what a guest made only to be long would keep the host busy for minutes."""
    c = Console()
    asked = []
    later, handle = c.gpu.engine.later, c.gpu.engine.handle
    monkeypatch.setattr(c.gpu.engine, "later", lambda kernel, **s: asked.append(kernel) or later(kernel, **s))
    monkeypatch.setattr(c.gpu.engine, "handle", lambda kernel, **s: asked.append(kernel) or handle(kernel, **s))
    more = HEAD + "MOV R4, R0\n" + "IADD32I R4, R4, 0x1\n" * 7
    monkeypatch.setattr(launch, "MAX_SPECIAL", 12)
    assert c.run(more + TAIL).tolist() == [i + 7 for i in range(64)]
    assert asked and run_warp not in asked
    monkeypatch.setattr(launch, "MAX_SPECIAL", 100)
    c.run(more + TAIL)
    assert run_warp in asked


def test_nothing_is_left_of_constants_after_a_reset() -> None:
    """What one program had beyond the end of another's constant buffer stays unseen, also by a machine switched off
    and on, which keeps what its owner chose."""
    c = Console()
    c.gpu.memory.write(BANK + 0x10, struct.pack("<I", 77))
    c.gpu.grids.limit = 12345
    text = HEAD + "MOV R4, c[0x0][0x10]" + TAIL
    assert c.run(text).tolist() == [77] * 64
    c.gpu.reset()
    for address in (BUFFER, CODE, OUT, QMD, BANK):
        c.gpu.map(address, 0x1_0000)
    c.gpu.memory.write(BANK, struct.pack("<QQI", OUT, 0, 78))
    assert not c.run(text, constants={0: (BANK, 16)}).any() and not c.told
    assert c.gpu.grids.limit == 12345


def test_threads_give_the_same() -> None:
    one, two = Console(threads=1), Console(threads=2)
    for c in (one, two):
        c.run(NUMBERS, blocks=(64,))
    assert one.out(2048).tolist() == two.out(2048).tolist() == list(range(2048))
    assert one.gpu.stats.launch_steps == two.gpu.stats.launch_steps


def test_blocks_in_order() -> None:
    """SEQUENTIALLY_RUN_CTAS: each block sees what the one before it left, with any number of threads."""
    text = HEAD + "MOV R2, c[0x0][0x0]\nMOV R3, c[0x0][0x4]\nLDG.E R4, [R2]\nISCADD R4, R4, R0, 0x1" + TAIL
    c = Console(threads=2)
    c.run(text, blocks=(200,), threads=(1,), fields={"SEQUENTIALLY_RUN_CTAS": 1})
    value = 0
    for block in range(200):
        value = (2 * value + 32 * block) & 0xFFFFFFFF
    assert c.out(1).tolist() == [value]


def test_time_passes() -> None:
    """Time stamps follow the work, and are the same in every run."""

    def stamps() -> list[int]:
        c = Console()
        pb = PushBuffer().bind("compute")
        for i in range(3):
            release = {"RELEASE0_STRUCTURE_SIZE": 0}
            grid = c.grid(c.code(NUMBERS), releases=[(BANK + 16 * i + 64, 0)], blocks=(50 * i + 1,), fields=release)
            pb.launch(QMD, grid)
        c.submit(pb)
        return [int.from_bytes(c.gpu.memory.read(BANK + 16 * i + 72, 8), "little") for i in range(3)]

    first = stamps()
    assert first == stamps() and first[2] - first[1] > first[1] - first[0] > 0


def test_builder_refuses() -> None:
    with pytest.raises(UsageError, match="one to three"):
        Grid(CODE, (), (1,)).qmd()
    with pytest.raises(UsageError, match="does not fit a QMD"):
        Grid(CODE, (1 << 32,), (1,)).qmd()
    with pytest.raises(UsageError, match="no QMD can be at"):
        PushBuffer().bind("compute").launch(QMD + 16)
