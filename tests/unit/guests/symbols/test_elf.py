"""ELF files of both consoles' processors: segments, functions, lines; damaged ones."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from pocketgpu.guests.symbols.debug import DebugInfo
from pocketgpu.guests.symbols.elf import ElfError, Function, SegmentFlag, read_elf
from pocketgpu.guests.symbols.places import Place, Symbols

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
DATA = (PROGRAMS / "tables.elf").read_bytes()


def test_segments_and_sections() -> None:
    elf = read_elf(DATA)
    loaded = [one for one in elf.segments if one.type == 1]
    assert [one.flags for one in loaded] == [
        SegmentFlag.READ | SegmentFlag.EXECUTE, SegmentFlag.READ, SegmentFlag.READ | SegmentFlag.WRITE,
    ]  # fmt: skip
    assert loaded[0].address == elf.entry == 0x100000 and loaded[2].size > len(loaded[2].data)
    section = elf.section(".ARM.exidx")
    assert section is not None and len(elf.section_data(section)) == section.size and elf.section("none") is None
    assert repr(elf).startswith("<Elf of 32 bits: 4 segments")


def test_functions_are_in_order_and_have_their_sizes() -> None:
    functions = read_elf(DATA).functions()
    assert [one.address for one in functions] == sorted(one.address for one in functions)
    names = {one.name: one for one in functions}
    assert names["main"].size > 100 and {"say", "check", "sink", "start_homebrew"} <= set(names)
    assert not any(name.startswith("$") for name in names)


def sixty_four() -> bytes:
    """A file of 64 bits with one segment and one function, which has a label without a size before and after it."""
    names = b"\0.text\0.symtab\0.strtab\0go\0"
    head = b"\x7fELF\x02\x01\x01"
    header = struct.pack("<16sHHIQQQIHHHHHH", head, 2, 183, 1, 0x8000, 64, 256, 0, 64, 56, 1, 64, 4, 3)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x8000, 0x8000, 16, 32, 4096)
    label = struct.pack("<IBBHQQ", names.index(b"text"), 0, 0, 1, 0x8005, 0)
    symbol = label + struct.pack("<IBBHQQ", names.index(b"go"), 2, 0, 1, 0x8005, 8) + label
    rows = ((1, 1, 6, 0x8000, 0, 16, 0), (7, 2, 0, 0, 128, 72, 3), (15, 3, 0, 0, 208, len(names), 0))
    sections = bytes(64) + b"".join(
        struct.pack("<IIQQQQIIQQ", name, type, flags, address, offset, size, link, 0, 0, 0)
        for name, type, flags, address, offset, size, link in rows
    )
    return (header + segment).ljust(128, b"\0") + symbol.ljust(80, b"\0") + names.ljust(48, b"\0") + sections


def test_files_of_64_bits() -> None:
    """As the Switch has them: an address of a function keeps its lowest bit."""
    elf = read_elf(sixty_four())
    assert elf.bits == 64 and elf.machine == 183 and elf.entry == 0x8000
    assert [(one.address, one.size, len(one.data)) for one in elf.segments] == [(0x8000, 32, 16)]
    assert elf.functions() == [Function("go", 0x8005, 8)]


@pytest.mark.parametrize(
    ("at", "form", "value", "message"),
    [
        (44, "<H", 0xFFFF, "cut in the table of segments"), (42, "<H", 0, "entries of segments are too short"),
        (28, "<I", 0xFFFFFFFF, "cut in the table of segments"), (48, "<H", 0xFFFF, "cut in the table of sections"),
        (46, "<H", 0, "entries of sections are too short"), (32, "<I", 0xFFFFFFF0, "cut in the table of sections"),
        (5, "<B", 2, "big-endian"), (4, "<B", 3, "neither 32 nor 64"),
    ],
)  # fmt: skip
def test_damaged_tables(at: int, form: str, value: int, message: str) -> None:
    data = bytearray(DATA)
    struct.pack_into(form, data, at, value)
    with pytest.raises(ElfError, match=message):
        elf = read_elf(bytes(data))
        assert elf.segments and elf.sections


def test_lines_of_all_units() -> None:
    elf = read_elf(DATA)
    debug = DebugInfo(elf)
    files = {}
    for one in elf.functions():
        found = debug.line(one.address)
        if found is not None:
            files[one.name] = (found[0].rsplit("/", 1)[-1], found[1] > 0)
    assert files["main"] == ("tables.c", True) and files["say"] == ("runtime.c", True)
    assert files["argument"] == ("homebrew.c", True)
    assert debug.line(0) is None and debug.line(0x200000) is None
    rules = debug.rules(elf.functions()[-1].address)
    assert rules is not None and rules.register == 13


@pytest.mark.parametrize("name", ["tables", "faults"])
def test_files_of_line_tables(name: str) -> None:
    """tables.elf has those of DWARF 5, which counts files from 0; faults.elf has those of DWARF 3."""
    elf = read_elf((PROGRAMS / f"{name}.elf").read_bytes())
    (at,) = [one.offset for one in elf.sections if one.name == ".debug_line"]
    assert struct.unpack_from("<H", elf.data, at + 4)[0] == {"tables": 5, "faults": 3}[name]
    debug = DebugInfo(elf)
    known = {one.name: one for one in elf.functions()}
    found = {debug.line(at) for at in range(known["say"].address, known["say"].address + known["say"].size, 4)}
    files = {file.rsplit("/", 1)[-1]: number for file, number in filter(None, found)}
    assert set(files) == {"runtime.c", "runtime.h"}, "the function, and the call that is inside it"
    lines = (PROGRAMS / "runtime.h").read_text(encoding="utf-8").splitlines()
    assert "svc_print" in lines[files["runtime.h"] - 1]


def packed_sections(name: str, type: int, size: int) -> bytes:
    """The file with other words in the header of a section."""
    data = bytearray(DATA)
    (at,) = struct.unpack_from("<I", data, 32)
    (number,) = [n for n, one in enumerate(read_elf(DATA).sections) if one.name == name]
    struct.pack_into("<I", data, at + 40 * number + 4, type)
    struct.pack_into("<I", data, at + 40 * number + 20, size)
    return bytes(data)


def test_debugging_sections_that_would_take_much_memory_are_left_alone() -> None:
    """A section without bytes in the file, of 4 GiB; and one that says that it unpacks to that."""
    debug = DebugInfo(read_elf(packed_sections(".debug_line", 8, 0xF0000000)))
    assert debug.line(0x100100) is None and debug.rules(0x100100) is None
    data = bytearray(DATA)
    elf = read_elf(DATA)
    (at,) = struct.unpack_from("<I", data, 32)
    for number, one in enumerate(elf.sections):
        if one.name == ".debug_line":
            struct.pack_into("<I", data, at + 40 * number + 8, 0x800)
            struct.pack_into("<II", data, one.offset, 1, 0xF0000000)
    changed = read_elf(bytes(data))
    assert not changed.debuggable and DebugInfo(changed).line(0x100100) is None


def test_functions_by_address() -> None:
    symbols = Symbols(lambda: [Function("a", 16, 8), Function("b", 32, 0), Function("c", 64, 4)])
    found = [symbols.function(at) for at in (15, 16, 23, 24, 32, 63, 64, 68)]
    assert [one.name if one else "" for one in found] == ["", "a", "a", "", "b", "b", "c", ""]
    assert symbols.place(34) == Place(34, "b", 2) and str(symbols.place(34)) == "b+0x2"
    assert str(symbols.place(8)) == "0x00000008" and len(symbols) == 3 and symbols.named("c") is not None
