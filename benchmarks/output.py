"""The end of the Switch's pixel pipeline: tests and writes of whole targets of 1280x720, on one thread.

Each block of 8 x 4 pixels goes through the kernels as the rasteriser calls them, all its pixels covered, with colours
and depths already in memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats.srgb import srgb_tables
from pocketgpu.maxwell.graphics.output.state import OutputState
from pocketgpu.maxwell.graphics.programs.headers import Header
from pocketgpu.maxwell.graphics.records import FRAGMENTS, MAX_SAMPLES

WIDTH, HEIGHT = 1280, 720
RECORD, TABLES, FRAGMENTS_AT, REGISTERS, TARGETS = 0x1000, 0x4000, 0x8000, 0xA000, 0x10000
ROOM = 16 << 20
ALL = -1
DEPTH = {"SET_DEPTH_TEST": 1, "SET_DEPTH_WRITE": 1, "SET_DEPTH_FUNC": 0x206}
STENCIL = {"SET_STENCIL_TEST": 1, "SET_STENCIL_FUNC": 0x207, "SET_STENCIL_OP_ZPASS": 0x8507, "SET_STENCIL_MASK": 255}
KEEP = {f"SET_STENCIL_OP_{name}": 0x1E00 for name in ("FAIL", "ZFAIL")}
BLEND = {
    "SET_BLEND": 1, "SET_BLEND_COLOR_OP": 0x8006, "SET_BLEND_COLOR_SOURCE_COEFF": 0x4302,
    "SET_BLEND_COLOR_DEST_COEFF": 0x4303,
}  # fmt: skip
SRGB = {"SET_COLOR_TARGET_FORMAT": 0xD6, "SET_SRGB_WRITE": 1}
FOUR = {"SET_ANTI_ALIAS": 2}
TESTS = {
    "Z24S8": DEPTH, "ZF32": {**DEPTH, "SET_ZT_FORMAT": 0x0A}, "Z24S8 with stencil": {**DEPTH, **STENCIL, **KEEP},
    "Z24S8, 4 samples": {**DEPTH, **FOUR},
}  # fmt: skip
WRITES = {
    "RGBA8": {}, "RGBA8, blended": BLEND, "RGBA8 sRGB": SRGB, "RGBA8 sRGB, blended": {**SRGB, **BLEND},
    "RGBA16F": {"SET_COLOR_TARGET_FORMAT": 0xCA}, "RGBA16F, blended": {"SET_COLOR_TARGET_FORMAT": 0xCA, **BLEND},
    "RGBA8 of rows": {"SET_COLOR_TARGET_MEMORY": 1 << 12, "SET_COLOR_TARGET_WIDTH": 4 * WIDTH},
    "RGBA8, 4 samples": FOUR,
}  # fmt: skip


@kernel(32, function=I64, output=I32, fragments=I32)
def frame(k: Lang, function: Value, output: Value, fragments: Value) -> None:
    """Call a kernel for all blocks of a target."""
    for y in k.range(0, HEIGHT, 4):
        for x in k.range(0, WIDTH, 8):
            k.store(I32, fragments + FRAGMENTS.X, x)
            k.store(I32, fragments + FRAGMENTS.Y, y)
            for sample in range(4):
                k.store(I32, fragments + (FRAGMENTS.COVER + 4 * sample), ALL)
            k.store(I32, fragments + FRAGMENTS.COVERED, ALL)
            k.invoke(function, output, fragments)


def state(values: dict[str, int]) -> State:
    """Registers of a colour and a depth target, and these."""
    side = 2 if "SET_ANTI_ALIAS" in values else 1
    common = {
        "SET_CT_SELECT": 1, "SET_COLOR_TARGET_FORMAT": 0xD5, "SET_COLOR_TARGET_WIDTH": WIDTH * side,
        "SET_COLOR_TARGET_HEIGHT": HEIGHT * side, "SET_COLOR_TARGET_MEMORY": 0x40, "SET_CT_WRITE": 0x1111,
        "SET_ZT_SELECT": 1, "SET_ZT_FORMAT": 0x14, "SET_ZT_SIZE_A": WIDTH * side, "SET_ZT_SIZE_B": HEIGHT * side,
        "SET_ZT_BLOCK_SIZE": 0x40,
    }  # fmt: skip
    words = np.zeros(0x1000, np.uint32)
    for name, value in {**common, **values}.items():
        words[B197[name].word] = value
    return State(B197, words)


def header() -> Header:
    """Of a program that puts out one colour."""
    ps = SPH["PS"]
    word = ps["SPH_TYPE"].encode(2) | ps["SHADER_TYPE"].encode(5)
    for channel in ("RED", "GREEN", "BLUE", "ALPHA"):
        word |= ps[f"OMAP_{channel}"](0).encode(1)
    return Header(word)


class Block:
    """An arena with what blocks need."""

    def __init__(self) -> None:
        self.arena = np.zeros(TARGETS + (2 + len(TESTS) + len(WRITES)) * ROOM, np.uint8)
        self._free = TARGETS
        table = np.frombuffer(srgb_tables(), np.uint8)
        self.arena[TABLES : TABLES + len(table)] = table
        words, floats, rng = self.arena.view(np.int32), self.arena.view(np.float32), np.random.default_rng(1)
        words[(FRAGMENTS_AT + FRAGMENTS.OUTPUTS) // 4] = REGISTERS
        floats[(FRAGMENTS_AT + FRAGMENTS.MAX_Z) // 4] = 1.0
        floats[(FRAGMENTS_AT + FRAGMENTS.DEPTH) // 4 :][: 32 * MAX_SAMPLES] = rng.random(32 * MAX_SAMPLES) * 0.5
        floats[REGISTERS // 4 :][:128] = rng.random(128)
        self.engine = Engine(self.arena)

    def work(self, values: dict[str, int], writes: bool, general: bool) -> Callable[[], object]:
        """What tests, or writes, a frame."""
        out = OutputState.of(state(values), header(), choose())
        record = out.record(TABLES, self._free, [self._free])
        self._free += ROOM  # each has memory of its own: all depths pass
        kernel, static = out.codes(general)[writes]
        function, call = self.engine.handle(kernel, **static), self.engine.get(frame)

        def go() -> None:
            self.arena[RECORD : RECORD + record.nbytes] = record.view(np.uint8)
            call(function, RECORD, FRAGMENTS_AT)

        return go


def measure(report: Report, arguments: argparse.Namespace) -> None:
    block = Block()
    work = {}
    for kind, cases in (("test", TESTS), ("write", WRITES)):
        for name, values in cases.items():
            work[f"{kind}: {name}"] = block.work(values, kind == "write", False)
    for kind, values in (("test", DEPTH), ("write", {})):
        work[f"{kind}: general code"] = block.work(values, kind == "write", True)
    found = turns(arguments.repeat, *(lambda w=w: clock(w) for w in work.values()))
    for what, series in zip(work, found, strict=True):
        pixels = WIDTH * HEIGHT / 1e6
        report.add(what, pixels / series.median, "Mpixel/s", best=pixels / series.best)


if __name__ == "__main__":
    run("output", measure, repeat=15)
