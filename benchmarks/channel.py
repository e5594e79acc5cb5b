"""The Switch channel: megabytes of pushbuffer a second, and instructions of macros a second, on one thread.

Pushbuffers are made of plain registers of the 3D class, in packets as drivers write them: most of them short. Constant
uploads and inline data are measured on their own. Macros are a fill loop, which sends a method every other instruction,
and a loop of arithmetic only.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import GPFIFO
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.mme.assembler import assemble

BUFFER, CONSTANTS, TARGET = 0x5_0000_0000, 0x6_0000_0000, 0x7_0000_0000
WORDS = 1 << 20
PROMISED_MB, PROMISED_MACRO = 200.0, 30.0
HEADER, ENTRY = GPFIFO["HEADER"], GPFIFO["ENTRY"]
COUNT = 40_000  # times that a macro goes round

FILL = """
    parm r2 maddr r1
    parm r3
again:
    mov r2, r2 - 1
    bnz r2, again
    exit send r3
    nop
"""
SUM = """
again:
    mov r1, r1 - 1
    mov r3, add(r2, r3)
    mov r2, extract(r3, 3, 7)
    bnz r1, again
    mov r4, xor(r3, r2)
    exit nop
    nop
"""


def header(form: str, word: int, count: int) -> int:
    """A method header of subchannel 0."""
    names = {name: number for number, name in (HEADER["SEC_OP"].enum or {}).items()}
    return HEADER["COUNT"].encode(count, HEADER["ADDRESS"].encode(word, HEADER["SEC_OP"].encode(names[form])))


def packets(sizes: Sequence[int]) -> np.ndarray:
    """A buffer of packets for plain registers, with so many words each in turn; 0 stands for an immediate one."""
    first = B197["SET_VIEWPORT_SCALE_X"].word
    unit: list[int] = []
    for size in sizes:
        if size:
            unit += [header("INC_METHOD", first, size), *range(size)]
        else:
            unit.append(header("IMMD_DATA_METHOD", first + 1, 5))
    return np.resize(np.array(unit, np.uint32), WORDS // len(unit) * len(unit))


def steady(method: str) -> np.ndarray:
    """A buffer that writes one method only."""
    unit = [header("NON_INC_METHOD", B197[method].word, 0x1000), *range(0x1000)]
    return np.resize(np.array(unit, np.uint32), WORDS // len(unit) * len(unit))


class Bench:
    """A machine with one buffer to submit again and again."""

    def __init__(self, words: np.ndarray) -> None:
        self.gpu = GM20B()
        for va in (BUFFER, CONSTANTS, TARGET):
            self.gpu.map(va, 4 * WORDS)
        registers = self.gpu.registers(0xB197)
        for method in ("SET_CONSTANT_BUFFER_SELECTOR_B", "OFFSET_OUT_UPPER"):
            registers[B197[method].word] = CONSTANTS >> 32
        self.gpu.memory.write(BUFFER, words)
        self.entry = [ENTRY["LENGTH"].encode(len(words), BUFFER)]
        self.size = 4 * len(words)

    def __call__(self) -> float:
        return clock(lambda: self.gpu.submit(self.entry))


def macro(source: str, arguments: Sequence[int]) -> Bench:
    """A machine with a macro loaded, and a buffer that calls it."""
    code = assemble(source)
    load = [header("INC_METHOD", B197["LOAD_MME_INSTRUCTION_RAM_POINTER"].word, 1), 0]
    load += [header("NON_INC_METHOD", B197["LOAD_MME_INSTRUCTION_RAM"].word, len(code)), *code]
    bench = Bench(np.array(load, np.uint32))
    bench()
    call = [header("ONE_INC", B197["CALL_MME_MACRO"].word, len(arguments)), *arguments]
    bench.gpu.memory.write(BUFFER, np.array(call, np.uint32))
    bench.entry = [ENTRY["LENGTH"].encode(len(call), BUFFER)]
    return bench


def measure(report: Report, arguments: argparse.Namespace) -> None:
    launch = [header("INC_METHOD", B197["LINE_LENGTH_IN"].word, 5), 4 * WORDS, 1, TARGET >> 32, 0, 4 * WORDS]
    launch += [header("IMMD_DATA_METHOD", B197["LAUNCH_DMA"].word, 1)]
    buffers = {
        "registers, packets as drivers write them": (packets((1, 0, 4, 0, 1, 0, 8, 2, 0, 16)), PROMISED_MB),
        "registers, one word a packet": (packets((1,)), PROMISED_MB),
        "registers, immediate packets": (packets((0,)), PROMISED_MB),
        "registers, 100 words a packet": (packets((100,)), PROMISED_MB),
        "words for a constant buffer": (steady("LOAD_CONSTANT_BUFFER"), PROMISED_MB),
        "inline data": (np.concatenate([np.array(launch, np.uint32), steady("LOAD_INLINE_DATA")]), None),
    }
    benches = [Bench(words) for words, _ in buffers.values()]
    found = turns(arguments.repeat, *benches)
    for (what, (_, target)), bench, series in zip(buffers.items(), benches, found, strict=True):
        size = bench.size / 1e6
        report.add(what, size / series.median, "MB/s", best=size / series.best, target=target)
    macros = {
        "macro that fills registers": macro(FILL, [B197["SET_COLOR_CLEAR_VALUE"].word, COUNT, 0x1111]),
        "macro that calculates": macro(SUM, [COUNT]),
    }
    steps = []
    for bench in macros.values():
        before = bench.gpu.stats.macro_steps
        bench()
        steps.append(bench.gpu.stats.macro_steps - before)
    for what, count, series in zip(macros, steps, turns(arguments.repeat, *macros.values()), strict=True):
        million = count / 1e6
        report.add(what, million / series.median, "M/s", best=million / series.best, target=PROMISED_MACRO)
    told = {event.id for bench in (*benches, *macros.values()) for event in bench.gpu.events}
    if told - {"inline.not_expected"}:
        raise SystemExit(f"the machine had something to tell: {', '.join(sorted(told))}")


if __name__ == "__main__":
    run("channel", measure, repeat=20)
