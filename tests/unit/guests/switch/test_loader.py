"""Files of the Switch's programs: what is read of them, and damaged ones."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.loader import ProgramError, read_program
from pocketgpu.guests.switch.nacp import read_nacp

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
NRO, ELF = ((PROGRAMS / f"hello.{suffix}").read_bytes() for suffix in ("nro", "elf"))
DATA_AT = struct.unpack_from("<I", NRO, 0x30)[0]
SIZE = struct.unpack_from("<I", NRO, 0x18)[0]
READ, WRITE, EXECUTE = Permission.READ, Permission.WRITE, Permission.EXECUTE


def changed(*words: tuple[int, int], data: bytes = NRO) -> bytes:
    """The file with other words: offset and value."""
    out = bytearray(data)
    for at, value in words:
        struct.pack_into("<I", out, at, value)
    return bytes(out)


def test_segments_of_an_nro() -> None:
    program = read_program(NRO, "hello.nro")
    assert [(one.name, one.permission) for one in program.segments] == [
        ("text", READ | EXECUTE), ("rodata", READ), ("data", READ | WRITE),
    ]  # fmt: skip
    assert program.entry == program.segments[0].address == layout.CODE and program.homebrew
    at = layout.CODE
    for one in program.segments:
        assert one.address == at and one.size % 4096 == 0 and one.data == NRO[at - layout.CODE :][: len(one.data)]
        at += one.size
    assert program.warnings == () and len(program.symbols) == 0 and program.data is NRO


def test_bss_is_behind_the_data() -> None:
    (bss,) = struct.unpack_from("<I", NRO, 0x38)
    data = read_program(changed((0x38, 0x12345)), "x").segments[2]
    before = read_program(NRO, "x").segments[2]
    assert bss == before.size - len(before.data) and data.size == len(data.data) + 0x13000


def test_title_icon_and_files() -> None:
    program = read_program(NRO, "hello.nro")
    about = program.about
    assert about is not None and (about.title, about.publisher) == ("hello", "pocketgpu")
    assert repr(about) == "<Nacp 'hello' by 'pocketgpu'>" and program.romfs is not None
    assert struct.unpack_from("<Q", NRO, program.romfs) == (0x50,)
    at, size = struct.unpack_from("<QQ", NRO, SIZE + 8)
    nacp_at, nacp_size = struct.unpack_from("<QQ", NRO, SIZE + 24)
    nacp = read_nacp(NRO[SIZE + nacp_at :][:nacp_size], NRO[SIZE + at :][:size])
    assert nacp is not None and nacp.version == "1.0.0" and len(nacp.titles) == 16 and nacp == about
    assert nacp.icon.startswith(b"\xff\xd8\xff") and nacp.icon.endswith(b"\xff\xd9")
    plain = read_program(NRO[:SIZE], "x")
    assert plain.about is None and plain.romfs is None and plain.warnings == ()


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        (((SIZE + 8, len(NRO)),), "the icon is outside of the file"),
        (((SIZE + 24, len(NRO)),), "the title is outside of the file"),
        (((SIZE + 32, 100),), "the title cannot be read"), (((SIZE + 44, 1),), "the RomFS is outside of the file"),
        (((4, SIZE - 2),), "no module header"), (((4, 0xFFFFFFFF),), "no module header"),
    ],
)  # fmt: skip
def test_damage_that_is_no_reason_to_refuse_a_program(words: tuple[tuple[int, int], ...], warning: str) -> None:
    program = read_program(changed(*words), "x.nro")
    (found,) = program.warnings
    assert found.startswith(f"x.nro: {warning}")
    assert (program.romfs is None) == ("RomFS" in warning)
    assert (program.about is None) == ("title" in warning)


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (NRO[:0x40], "cut in the header", 0x40), (NRO[: SIZE - 1], "cut in the image", SIZE - 1),
        (changed((0x14, 1)), "no NRO has the version 1", 0x14), (changed((0x18, SIZE - 1)), "whole pages", 0x18),
        (changed((0x18, 0)), "whole pages", 0x18), (changed((0x38, 0xFFFFFFFF)), "larger than the memory", 0x38),
        (changed((0x20, 0x1000)), "text does not follow", 0x20), (changed((0x24, 0x10)), "text is not of whole", 0x20),
        (changed((0x28, 0)), "rodata does not follow", 0x28), (changed((0x30, 1)), "data is not of whole", 0x30),
        (changed((0x34, 0x7FFFF000)), "data is outside", 0x30),
        (changed((0x24, 0), (0x28, 0), (0x2C, DATA_AT)), "without code", 0x20),
    ],
)  # fmt: skip
def test_damaged_nro_files(data: bytes, message: str, offset: int) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        read_program(data, "x.nro")
    assert caught.value.file == "x.nro" and caught.value.offset == offset


def test_an_elf_goes_to_where_programs_are() -> None:
    program = read_program(ELF, "hello.elf")
    nro = read_program(NRO, "hello.nro", elf=ELF)
    assert program.entry == layout.CODE and [one.address for one in program.segments] == [
        one.address for one in nro.segments
    ]
    for one, other in zip(program.segments, nro.segments, strict=True):
        assert one.permission == other.permission and other.data[0x80:].startswith(one.data[0x80:])
    for which in (program, nro):
        main = which.symbols.named("main")
        assert main is not None and main.address > layout.CODE
        place = which.place(main.address + 4)
        assert (place.function, place.offset, place.source.split(":")[0]) == ("main", 4, "hello.c")
        rules = which.debug.rules(main.address) if which.debug is not None else None
        assert rules is not None and (rules.register, rules.offset, rules.return_register) == (31, 0, 30)
        start = which.debug.rules(layout.CODE + 0x80) if which.debug is not None else None
        assert start is not None and start.outermost and not rules.outermost


def test_an_elf_of_another_build_is_told() -> None:
    other = bytearray(ELF)
    other[0x1100] ^= 1
    arm = (PROGRAMS.parent / "n3ds" / "console.elf").read_bytes()
    for data, message in ((bytes(other), "its code differs"), (arm, "another processor"), (b"\x7fELF", "damaged")):
        program = read_program(NRO, "x.nro", elf=data, elf_name="x.elf")
        assert len(program.symbols) == 0 and program.debug is None
        (warning,) = program.warnings
        assert warning.startswith("no symbols of x.elf: ") and message in warning


@pytest.mark.parametrize(
    ("at", "format", "value", "message"),
    [
        (24, "<Q", 0x2000, "where it has no code"), (64 + 16, "<Q", 1 << 40, "not where a Switch has programs"),
        (64 + 40, "<Q", 1 << 62, "not where a Switch has programs"), (64 + 8, "<Q", 1 << 63, "cut in a segment"),
        (64 + 56 + 16, "<Q", 0x100, "two segments are at the same place"), (18, "<H", 40, "another processor"),
        (56, "<H", 0xFFFF, "cut in the table"),
    ],
)  # fmt: skip
def test_damaged_elf_files(at: int, format: str, value: int, message: str) -> None:
    data = bytearray(ELF)
    struct.pack_into(format, data, at, value)
    with pytest.raises(ProgramError, match=message):
        read_program(bytes(data), "x.elf")


def test_files_of_other_kinds() -> None:
    for data in (b"", b"3DSX" + bytes(100), bytes(5000)):
        with pytest.raises(ProgramError, match="not a program of the Switch"):
            read_program(data, "x.bin")


def test_damaged_headers_are_refused_or_read() -> None:
    """Whatever is in the headers: a typed error with a place, or segments that are where programs are."""
    r = random.Random(18)
    refused = 0
    for number in range(3000):
        source, header = ((NRO, 0x80), (ELF, 0x100))[number % 2]
        data = bytearray(source)
        for _ in range(r.randrange(1, 4)):
            at = r.choice([r.randrange(header), SIZE + r.randrange(0x38)]) if source is NRO else r.randrange(header)
            data[at] = r.choice([0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)])
        if r.random() < 0.2:
            del data[r.randrange(len(data)) :]
        try:
            program = read_program(bytes(data), "x", elf=ELF if source is NRO else None)
        except ProgramError as error:
            refused += 1
            assert error.file == "x" and len(str(error)) < 300
            continue
        assert sum(one.size for one in program.segments) <= 193 << 20 and repr(program)
        assert all(one.address >= layout.CODE and len(one.data) <= one.size for one in program.segments)
    assert 500 < refused < 2900
