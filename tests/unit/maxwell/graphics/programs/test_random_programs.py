"""Random programs of stages: machine code, interpreted, on both evaluators: the same memory afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.stage_case import ALL, DATA, StageCase

from pocketgpu.maxwell.graphics.programs.headers import layout_of
from pocketgpu.maxwell.graphics.records import FRAGMENTS, PLANE, plane_at
from pocketgpu.maxwell.sass.stages.stage import CONTROL, EVALUATION, GEOMETRY, PIXEL, VERTEX
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK

STAGES = {1: VERTEX, 2: CONTROL, 3: EVALUATION, 4: GEOMETRY, 5: PIXEL}
ROOM = 1 << 16
SPECIAL = ["LANEID", "INVOCATION_ID", "INVOCATION_INFO", "THREAD_KILL", "Y_DIRECTION"]


def program(rng: random.Random, stage: int) -> str:
    """A random program: attributes, samples and memory in, out and about, under predicates."""
    reg: Callable[[], str] = lambda: rng.choice([*(f"R{n}" for n in range(0, 12))])  # noqa: E731
    some: Callable[[], str] = lambda: rng.choice([reg(), reg(), "RZ"])  # noqa: E731
    word: Callable[[], str] = lambda: hex(rng.choice([0x60, 0x70, 0x7C, 0x80, 0x84, 0x90, 0x2F0, 0x2FC, 0x3FC]))  # noqa: E731

    def load() -> str:
        o, p = rng.choice(["", ".O"]), rng.choice(["", "", ".P"])
        size = rng.choice(["", ".64"])
        first = rng.randrange(0, 12, 2)
        return f"ALD{o}{p}{size} R{first}, a[{hex(rng.randrange(0, 0x3F8, 4))}], {some()}"

    def store() -> str:
        p = rng.choice(["", "", ".P"])
        return f"AST{p} a[{word()}], {reg()}, {some()}"

    def physical() -> str:
        return rng.choice([f"ALD.PHYS {reg()}, a[{reg()}], {some()}", f"AST.PHYS a[{reg()}], {reg()}, {some()}"])

    def interpolate() -> str:
        op, sample = rng.choice([".PASS", "", ".CONSTANT", ".SC"]), rng.choice(["", ".CENTROID", ".OFFSET"])
        sat = rng.choice(["", ".SAT"])
        if rng.random() < 0.3:
            return f"IPA.IDX{op}{sample}{sat} {reg()}, a[{reg()}], {some()}, {some()}, PT"
        return f"IPA{op}{sample}{sat} {reg()}, a[{word()}], {some()}, {some()}"

    def pixels() -> str:
        mode = rng.choice(["COVMASK", "COVERED", "OFFSET", "CENTROID_OFFSET", "MY_INDEX"])
        return rng.choice([f"PIXLD.{mode} {reg()}, [{some()}+{hex(rng.randrange(20))}]", "KIL", across()])

    def across() -> str:
        return f"SAM\nSHFL.BFLY PT, R9, {reg()}, 0x2, 0x1c03\nFADD {reg()}, {reg()}, R9\nRAM"

    def emit() -> str:
        return (
            f"OUT.{rng.choice(['EMIT', 'CUT', 'EMIT_THEN_CUT'])} {reg()}, {some()}, {rng.choice(['RZ', '0x1', '0x3'])}"
        )

    def other() -> str:
        return rng.choice([
            f"S2R {reg()}, SR_{rng.choice(SPECIAL)}",
            f"IADD {reg()}, {reg()}, {hex(rng.randrange(1 << 12))}", f"FADD {reg()}, {reg()}, {reg()}",
            f"ISETP.LT.AND P{rng.randrange(3)}, PT, {reg()}, {hex(rng.randrange(64))}, PT",
            f"AL2P {reg()}, {reg()}, {hex(rng.randrange(256) * 4)}", f"ISBERD {reg()}, [{reg()}]",
            f"LOP.AND {reg()}, {reg()}, 0x1f", f"SHFL.BFLY PT, {reg()}, {reg()}, 0x1, 0x1c03",
            f"VOTE.ANY {reg()}, PT, P{rng.randrange(3)}",
        ])  # fmt: skip

    kinds = [load, store, physical, other, other, other]
    kinds += [interpolate, interpolate, pixels] if stage == PIXEL else [emit]
    lines = [f"S2R R{n}, SR_LANEID" for n in (1, 5)] + ["MOV R12, c[0x0][0x0]", "MOV R13, c[0x0][0x4]"]
    for _ in range(rng.randrange(6, 20)):
        guard = rng.choice(["", "", "@P0 ", "@!P1 ", "@P2 "])
        line = rng.choice(kinds)()
        lines.append(line if line.startswith("SAM") else guard + line)
        if rng.random() < 0.1:
            lines.append(
                f"{guard}ISCADD R14, {reg()}, RZ, 0x2\nLOP.AND R14, R14, 0xffc\nIADD R14, R14, R12\nMOV R15, R13"
            )
            lines.append(f"{guard}STG.E [R14], {reg()}")
        if rng.random() < 0.08:
            lines.append(f"@P{rng.randrange(3)} EXIT")
    return "\n".join([*lines, "EXIT"])


def memory_after(seed: int, pipeline: int, evaluator: str, tier: str) -> tuple[bytes, list[tuple[str, int]]]:
    """All that a program can change, and the events."""
    rng = random.Random(seed)
    stage = STAGES[pipeline]
    code = program(rng, stage)
    fields = {f"OMAP_POSITION_{c}": 1 for c in "XYZW"} | {"GENERIC_OMAP_X__0": 1, "MAX_OUTPUT_VERTEX_COUNT": 3}
    if stage == PIXEL:
        fields = {f"OMAP_{c}__0": 1 for c in ("RED", "GREEN", "BLUE", "ALPHA")} | {"OMAP_DEPTH": 1, "KILLS_PIXELS": 1}
    case = StageCase(pipeline, code, evaluator, tier, {0: np.array([DATA], np.uint64).tobytes()}, **fields)
    values = np.random.default_rng(seed)
    inputs = layout_of([0x60, 0x70, 0x7C, 0x80, 0x2F0, 0x2F4, 0x2FC])
    outputs, patches = layout_of(case.program.header.outputs), layout_of(range(0, 0x40, 4))
    pages = [case.page(inputs, {a: values.integers(-40, 40, 32) for a in (0x60, 0x70, 0x80, 0x2F0)}) for _ in range(2)]
    out = [case.page(outputs) for _ in range(3)]
    patch = case.page(patches)
    if stage == PIXEL:
        table = np.full(256, plane_at(1), np.int32)
        table[[0x70 >> 2, 0x80 >> 2, 0x3FC >> 2]] = [plane_at(n) for n in (2, 3, 4)]
        case.stage.set_map("IN_MAP", table)
        words = PLANE.size // 4
        case.words(pages[0], words, np.float32)[:] = values.integers(-8, 8, words) / 4
    else:
        case.stage.set_map("IN_MAP", inputs.read)
    case.stage.set_map("OUT_MAP", outputs.written)
    case.stage.set_map("PATCH_MAP", patches.written)
    at = case.allocate(128)
    case.words(at, 32)[:] = values.integers(0, 16, 32)
    case.stage.set(VERTICES=3, INVOCATION_INFO=3 << 16, OUT_STRIDE=out[1] - out[0], SAMPLES_AT=at)
    fragments = case.allocate(FRAGMENTS.size)
    case.words(fragments + FRAGMENTS.COVER, 16)[:] = values.integers(-(1 << 31), 1 << 31, 16)
    for name, v in {"SAMPLES": 4, "COVERED": rng.randrange(1 << 31), "SAMPLE": rng.choice([-1, 2])}.items():
        case.words(fragments + FRAGMENTS.offsets[name], 1)[0] = v
    columns = [pages[1] + 4 * values.integers(0, 32, 32) for _ in range(3)]
    case.set_block(
        IN_AT=pages[0], OUT_AT=out[0], VERTICES_AT=case.vectors(*columns), FRAGMENTS=fragments,
        PATCHES_AT=case.vectors(patch + 4 * (np.arange(32) // 3)), INVOCATIONS_AT=case.vectors(np.arange(32) % 3),
        EMITTED_AT=case.vectors(*[np.zeros(32, np.int32)] * 4), PIXEL_X=0.5, PIXEL_Y=-1.5,
    )  # fmt: skip
    case.run(rng.choice([ALL, 0x0FF0F0F0]))
    assert not case.memory.arena[: 1 << 17].any(), "the zeros at the arena's beginning"
    left = case.memory.arena[case.room : case.room + ROOM].tobytes()
    registers = b""
    if stage == PIXEL:
        registers = b"".join(case.words(case.words(fragments + FRAGMENTS.OUTPUTS, 1)[0] + 128 * n, 32).tobytes()
                             for n in case.program.header.output_registers)  # fmt: skip
    faults = int(case.words(case.slot + BLOCK.FAULT_COUNT, 1)[0])
    stored = case.memory.read(DATA, 4096)
    return left + registers + stored, [(e.message, e.count) for e in case.events] + [("left", faults)]


@pytest.mark.parametrize("pipeline", STAGES)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(pipeline: int, seed: int) -> None:
    """Specialised and interpreted code under NumPy; under LLVM, whose code takes time to make, for some."""
    want = memory_after(seed, pipeline, "numpy", "specialised")
    assert memory_after(seed, pipeline, "numpy", "interpreter") == want
    if seed < 3:
        assert memory_after(seed, pipeline, "llvm", "specialised") == want
        assert memory_after(seed, pipeline, "llvm", "interpreter") == want
