"""Damaged and hostile programs of the Switch: each is refused with a ProgramError that names a place, or runs a while
and may end with a report; none crashes the host, runs forever or takes much memory.

    python tests/fuzz/guests_switch.py --cases 100000 --seed 1

The first cases change each byte of the headers of an NRO and an ELF, one after the other; the others are random: bytes
and words of a program changed, cut, repeated, an NRO made of random numbers, random instructions, damaged sections for
debuggers. Some programs that can be read are run for a few steps. A case is made from the seed and its number alone, so
a failure names what to run again (--first N --cases 1).
"""

from __future__ import annotations

import random
import resource
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.damage import STRANGE, VALUES, damage, one_byte
from support.fuzz import command, one_case

from pocketgpu.guests.kernel.memory import PAGE
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.loader import ProgramError, read_program
from pocketgpu.guests.symbols.elf import read_elf
from pocketgpu.maxwell.gm20b import GM20B

PROGRAMS = Path(__file__).resolve().parents[1] / "guests" / "switch"
SLOWEST = 20.0
CODE, DEBUG, RUN, PLACE = 25, 50, 40, 25
"""One of so many cases is random code, or has damaged sections for debuggers; of programs that can be read, one of so
many is run, or asked for places."""
STEPS, TICKS = 300, 6_000_000
SURELY = 10
"""After so many steps emulated time has gone on: each executes something, or waits for what is due."""
MOST_MEMORY = 1 << 20
"""KiB that the process may grow by."""
LARGEST = 193 << 20
_NRO_HEADER, _ASSETS, _TITLES, _ELF_HEADERS, _SECTION = 0x80, 0x38, 0x300, 64 + 5 * 56, 64
_SIZE_AT, _SECTIONS_AT, _COUNT_AT = 0x18, 40, 60
_WORDS = (
    0xD503201F, 0x14000000, 0xD65F03C0, 0xD63F0000, 0xD4000421, 0xD4000021, 0xD4000101, 0xD4000161, 0xD4000301,
    0xD4000421, 0xD4000501, 0xD40004C1, 0xD40004E1, 0xD503203F, 0xD503205F, 0xD503207F, 0xD2800000, 0x92800000,
    0xF84087FE, 0xA9BF7BFD, 0xF9400001, 0xD53BD060, 0xD53BE020, 0xC85F7C00, 0xD5033F9F, 0xD5381000, 0xD51B4400,
    0x00000000, 0xD4200060, 0xD2A00001, 0xB9000020, 0xB9400020, 0xA9400C22, 0x9100001F, 0xD10043FF, 0xD50B7E20,
    0xD69F03E0, 0x4F00F400, 0x4C007020,
)  # fmt: skip
"""Instructions that are more likely than others: branches, calls, hints, loads, stores, stacks, undefined ones."""
_made: list[bytes] = []


def bases() -> list[bytes]:
    """The programs that are damaged."""
    if not _made:
        _made.extend((PROGRAMS / name).read_bytes() for name in ("hello.nro", "hello.elf", "faults.nro"))
    return _made


def places(data: bytes) -> list[int]:
    """The bytes of headers: of an NRO with its title, or of an ELF with its tables of segments and sections."""
    if data[:4] != b"\x7fELF":
        (size,) = struct.unpack_from("<I", data, _SIZE_AT)
        (titles,) = struct.unpack_from("<Q", data, size + 24)
        return [*range(_NRO_HEADER), *range(size, size + _ASSETS), *range(size + titles, size + titles + _TITLES)]
    (sections,), (count,) = struct.unpack_from("<Q", data, _SECTIONS_AT), struct.unpack_from("<H", data, _COUNT_AT)
    return [*range(_ELF_HEADERS), *range(sections, sections + count * _SECTION)]


def systematic() -> int:
    """How many cases change one byte of a header."""
    return sum(len(places(data)) for data in bases()[:2]) * len(VALUES)


def nro(code: bytes, words: tuple[int, ...]) -> bytes:
    """An NRO with a header of these words from 0x18 on: size, flags, segments, bss."""
    head = struct.pack("<II8s4sI", 0x14000020, 0, b"HOMEBREW", b"NRO0", 0) + struct.pack("<9I", *words)
    return head.ljust(_NRO_HEADER, b"\0") + code


def random_code(r: random.Random) -> bytes:
    """An NRO of instructions, half of them any words."""
    words = [r.choice(_WORDS) if r.random() < 0.5 else r.getrandbits(32) for _ in range(r.randrange(1, 200))]
    code = struct.pack(f"<{len(words)}I", *words).ljust(PAGE - _NRO_HEADER, b"\0")
    return nro(code + r.randbytes(PAGE), (2 * PAGE, 0, 0, PAGE, PAGE, 0, PAGE, PAGE, PAGE))


def random_nro(r: random.Random) -> bytes:
    """A header with any numbers, small and huge ones, and some bytes after it."""
    def size() -> int:
        return r.choice((PAGE * r.randrange(8), r.randrange(64), r.choice(STRANGE), r.getrandbits(32)))

    words = tuple(size() for _ in range(9))
    if r.random() < 0.5:  # more of it is right
        text, rodata = PAGE * r.randrange(3), PAGE * r.randrange(3)
        words = (words[0], 0, 0, text, text, rodata, text + rodata, *words[7:])
    return nro(r.randbytes(r.randrange(0, 30000)), words)


def damaged_debug(r: random.Random) -> bytes:
    """An ELF with changes in its sections for debuggers and for frames, many of them at the beginning of one."""
    data = bytearray(bases()[1])
    sections = [one for one in read_elf(bytes(data)).sections if one.name.startswith((".debug", ".eh_frame"))]
    for _ in range(r.choice((1, 1, 2, 4, 10))):
        one = r.choice(sections)
        at = one.offset + r.randrange(min(one.size - 4, r.choice((16, 64, one.size))))
        value = r.choice((*STRANGE, r.getrandbits(32)))
        size = r.choice((1, 4))
        data[at : at + size] = struct.pack("<I", value)[:size]
    return bytes(data)


def make(seed: int, number: int) -> tuple[str, bytes]:
    """Case `number`: its kind and its bytes."""
    r = random.Random(f"{seed}/{number}")
    if number < systematic():
        return "byte", one_byte([(data, places(data)) for data in bases()[:2]], number)
    if r.randrange(CODE) == 0:
        return "code", random_code(r)
    if r.randrange(DEBUG) == 0:
        return "debug", damaged_debug(r)
    if r.random() < 0.2:
        return "made", random_nro(r)
    data = r.choice(bases())
    return "damaged", damage(data, places(data), r)


def read(data: bytes, counts: Counter[str]) -> Program | None:
    """The program, or None if it is refused as it should be."""
    try:
        elf = bases()[1] if data[:4] != b"\x7fELF" else None
        program = read_program(data, "case.nro", elf=elf, elf_name="case.elf")
    except ProgramError as error:
        counts["refused"] += 1
        assert error.file == "case.nro" and len(str(error)) < 300, str(error)
        return None
    counts["read"] += 1
    assert sum(one.size for one in program.segments) <= LARGEST
    assert repr(program) and all(len(one) < 300 for one in program.warnings)
    return program


def ask(program: Program, r: random.Random, counts: Counter[str]) -> None:
    """Places of code, and the frames of functions."""
    for _ in range(3):
        functions = program.symbols.functions
        address = r.choice(functions).address + 4 * r.randrange(4) if functions else layout.CODE + r.randrange(4096)
        counts["lines"] += bool(program.place(address).line)
        if program.debug is not None:
            counts["rules"] += program.debug.rules(address) is not None
    if program.about is not None:
        assert repr(program.about)


def run_some(program: Program, counts: Counter[str]) -> None:
    """Run a program for some steps, and look at its end."""
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B())
    kernel.load(program, ["sdmc:/switch/case.nro"])
    seen, until = -1, layout.START + TICKS
    for number in range(STEPS):
        if kernel.time.now > until or not kernel.step():
            break
        if number % SURELY == 0:
            assert kernel.time.now > seen, "emulated time stands still"
            seen = kernel.time.now
    counts["run"] += 1
    end = kernel.end
    if end is None:
        counts["still runs"] += 1
        return
    counts[f"end: {end.why}"] += 1
    text = str(end)
    assert repr(end) and end.exit_code in (0, 1) and len(text) < 30_000
    if not end.well:
        assert end.thread is not None and end.registers is not None and len(end.trace) >= 1, text


def check(seed: int, number: int, counts: Counter[str]) -> None:
    """One case."""
    r = random.Random(f"what/{seed}/{number}")
    kind, data = make(seed, number)
    counts[kind] += 1
    program = read(data, counts)
    if program is None:
        return
    if kind == "debug" or r.randrange(PLACE) == 0:
        ask(program, r, counts)
    if kind == "code" or r.randrange(RUN) == 0:
        run_some(program, counts)


def run(
    cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None, *, step: int = 1
) -> Counter[str]:
    """Run cases first, first+step, ... of a seed; AssertionError names the first that goes wrong."""
    counts: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(first, first + cases * step, step):
        with one_case(seed, number, SLOWEST):
            check(seed, number, counts)
        counts["cases"] += 1
        if report is not None and counts["cases"] % 5000 == 0:
            report(counts)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MOST_MEMORY, f"seed {seed}: {grown >> 10} MiB more memory than before"
    return counts


if __name__ == "__main__":
    command(__doc__, run, "programs", lambda c: print(dict(c), flush=True))
