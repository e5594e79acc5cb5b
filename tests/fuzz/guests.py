"""Damaged and hostile programs: each is refused with a ProgramError that names a place, or runs a while and may end
with a report; none crashes the host, runs forever, takes much memory or writes where no guest memory is.

    python tests/fuzz/guests.py --cases 100000 --seed 1

The first cases change each byte of the headers of a 3DSX and an ELF, one after the other; the others are random: bytes
and words of a program changed, cut, repeated, sizes that are huge, a 3DSX made of random numbers, random instructions,
damaged sections for debuggers. Some programs that can be read are run for a few steps. A case is made from the seed and
its number alone, so a failure names what to run again (--first N --cases 1).
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
from support.fuzz import command, one_case, written_outside

from pocketgpu.guests.kernel.files import MemoryFile, MemoryFiles
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.loader import ProgramError, read_program
from pocketgpu.guests.processors.unicorn_arm import UnicornArm
from pocketgpu.guests.symbols.elf import read_elf
from pocketgpu.pica.n3ds import N3DS

PROGRAMS = Path(__file__).resolve().parents[1] / "guests" / "n3ds"
MACHINE_LIFE = 200
"""Programs that one machine runs."""
SLOWEST = 20.0
CODE, DEBUG, RUN, PLACE = 25, 50, 40, 25
"""One of so many cases is random code, or has damaged sections for debuggers; of programs that can be read, one of so
many is run, or asked for places."""
STEPS, TICKS = 300, 6_000_000
SURELY = 10
"""After so many steps emulated time has gone on: each executes something, or waits for what is due."""
MOST_MEMORY = 1 << 20
"""KiB that the process may grow by."""
LARGEST = 64 << 20
_3DSX_HEADER, _ELF_HEADERS, _SECTION, _SMDH = 68, 52 + 4 * 32, 40, 520
_WORDS = (
    0xE1A00000, 0xEAFFFFFE, 0xE12FFF1E, 0xE12FFF33, 0xEF000032, 0xEF000001, 0xEF000008, 0xEF00000A, 0xEF000024,
    0xEF000028, 0xEF00002D, 0xEF00003C, 0xEF00003D, 0xE320F001, 0xE320F002, 0xE320F003, 0xE3A00000, 0xE3E00000,
    0xE8BD8000, 0xE92D4000, 0xE59FF000, 0xEE1D0F70, 0xE1900F9F, 0xF57FF01F, 0xF1020013, 0xED900A00, 0xECBD8B10,
    0xE7F000F0, 0xE1200070, 0xE3A00201, 0xE5810000, 0xE5910000, 0xE8910006, 0xE3A0D000, 0xE24DD004,
)  # fmt: skip
"""Instructions that are more likely than others: branches, calls, hints, loads, stores, stacks, undefined ones."""


def bases() -> list[bytes]:
    """The programs that are damaged."""
    if not _made:
        _made.extend((PROGRAMS / name).read_bytes() for name in ("tables.3dsx", "tables.elf", "faults.3dsx"))
    return _made


_made: list[bytes] = []


def places(data: bytes) -> list[int]:
    """The bytes of headers: of a 3DSX with its title, or of an ELF with its tables of segments and sections."""
    if data[:4] == b"3DSX":
        (smdh,) = struct.unpack_from("<I", data, 32)
        return [*range(_3DSX_HEADER), *range(smdh, smdh + _SMDH)]
    sections, count = struct.unpack_from("<I", data, 32)[0], struct.unpack_from("<H", data, 48)[0]
    return [*range(_ELF_HEADERS), *range(sections, sections + count * _SECTION)]


def systematic() -> int:
    """How many cases change one byte of a header."""
    return sum(len(places(data)) for data in bases()[:2]) * len(VALUES)


def damaged(data: bytes, r: random.Random) -> bytes:
    """A few changes, many of them in headers and tables."""
    return damage(data, places(data), r)


def random_code(r: random.Random) -> bytes:
    """A 3DSX of instructions, half of them any words."""
    words = [r.choice(_WORDS) if r.random() < 0.5 else r.getrandbits(32) for _ in range(r.randrange(1, 200))]
    if r.random() < 0.2:  # Thumb from the third word on
        words[:2] = [0xE28F0001, 0xE12FFF10]
    if r.random() < 0.3:  # no condition but "always", so that more is carried out
        words = [word | 0xE0000000 if word >> 28 != 0xF else word for word in words]
    code = struct.pack(f"<{len(words)}I", *words)
    data = r.randrange(0, 64)
    head = struct.pack("<4sHHII4I", b"3DSX", 32, 8, 0, 0, len(code), 0, data + 4096, 4096)
    return head + bytes(24) + code + r.randbytes(data)


def random_3dsx(r: random.Random) -> bytes:
    """A header with any numbers, small and huge ones, and some bytes after it."""
    def size() -> int:
        return r.choice((r.randrange(64), 4 * r.randrange(4096), r.choice(STRANGE), r.getrandbits(32)))

    header, entry = r.choice((32, 32, 44, r.randrange(128))), r.choice((8, 8, 8, 12, r.randrange(64)))
    head = struct.pack("<4sHHII7I", b"3DSX", header, entry, 0, 0, *(size() for _ in range(7)))[:header]
    counts = struct.pack("<6I", *(r.choice((0, 1, 2, r.randrange(100), size())) for _ in range(6)))
    return head.ljust(min(header, 4096), b"\0") + counts + r.randbytes(r.randrange(0, 20000))


def damaged_debug(r: random.Random) -> bytes:
    """An ELF with changes in its sections for debuggers, many of them at the beginning of one."""
    data = bytearray(bases()[1])
    sections = [one for one in read_elf(bytes(data)).sections if one.name.startswith(".debug")]
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
        return "made", random_3dsx(r)
    return "damaged", damaged(r.choice(bases()), r)


def read(data: bytes, counts: Counter[str]) -> Program | None:
    """The program, or None if it is refused as it should be."""
    try:
        program = read_program(data, "case.3dsx", elf=bases()[1] if data[:4] == b"3DSX" else None, elf_name="case.elf")
    except ProgramError as error:
        counts["refused"] += 1
        assert error.file == "case.3dsx" and error.location and len(str(error)) < 300, str(error)
        return None
    counts["read"] += 1
    assert sum(one.size for one in program.segments) <= LARGEST + 3 * 4096
    assert repr(program) and all(len(one) < 300 for one in program.warnings)
    return program


def ask(program: Program, r: random.Random, counts: Counter[str]) -> None:
    """Places of code, and the frames of functions."""
    for _ in range(3):
        functions = program.symbols.functions
        address = r.choice(functions).address + 4 * r.randrange(4) if functions else 0x00100000 + r.randrange(4096)
        counts["lines"] += bool(program.place(address).line)
        if program.debug is not None:
            counts["rules"] += program.debug.rules(address) is not None
    if program.about is not None:
        assert repr(program.about)


def run_some(program: Program, machine: N3DS, counts: Counter[str]) -> None:
    """Run a program for some steps, and look at its end."""
    files = MemoryFiles({"/3ds/case.3dsx": MemoryFile(len(program.data), {0: program.data})})
    kernel = N3DSConsole(UnicornArm(), machine, files).kernel
    kernel.load(program, ["sdmc:/3ds/case.3dsx"])
    seen = -1
    for number in range(STEPS):
        if kernel.time.now > TICKS or not kernel.step():
            break
        if number % SURELY == 0:
            assert kernel.time.now > seen, "emulated time stands still"
            seen = kernel.time.now
    counts["run"] += 1
    counts["ticks"] += kernel.time.now
    end = kernel.end
    if end is None:
        counts["still runs"] += 1
        return
    counts[f"end: {end.why}"] += 1
    text = str(end)
    assert repr(end) and end.exit_code in (0, 1) and len(text) < 20_000
    if not end.well:
        assert end.thread is not None and end.registers is not None and len(end.trace) >= 1, text


def check(seed: int, number: int, machine: N3DS, counts: Counter[str]) -> None:
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
        run_some(program, machine, counts)


def run(
    cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None, *, step: int = 1
) -> Counter[str]:
    """Run cases first, first+step, ... of a seed; AssertionError names the first that goes wrong."""
    counts: Counter[str] = Counter()
    machine = N3DS()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(first, first + cases * step, step):
        with one_case(seed, number, SLOWEST):
            check(seed, number, machine, counts)
        counts["cases"] += 1
        if counts["run"] >= MACHINE_LIFE * (counts["machines"] + 1):
            assert not written_outside(machine), f"seed {seed}, up to case {number}: written outside guest memory"
            machine = N3DS()
            counts["machines"] += 1
        if report is not None and counts["cases"] % 5000 == 0:
            report(counts)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MOST_MEMORY, f"seed {seed}: {grown >> 10} MiB more memory than before"
    return counts


if __name__ == "__main__":
    command(__doc__, run, "programs", lambda c: print(dict(c), flush=True))
