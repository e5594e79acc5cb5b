"""Files of programs: 3DSX with all kinds of relocations, title and read-only files; ELF; files of other kinds."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.guests import run
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.n3ds.loader import ProgramError, read_program
from pocketgpu.guests.n3ds.smdh import read_smdh

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
ELF, HOMEBREW = (PROGRAMS / "tables.elf").read_bytes(), (PROGRAMS / "tables.3dsx").read_bytes()
HEADER, ENTRIES_AT = 44, 44 + 3 * 8
TEXT = """
one four
two five
three six
functions 320
zeros 1
distance 1
hello.txt: hello from the RomFS
second.txt: and from another file
"""


# -- 3DSX -------------------------------------------------------------------------------------------------------------
def test_a_3dsx_becomes_what_the_linker_made() -> None:
    """Pointers from all segments into all segments, and distances of 32 and 31 bits."""
    linked, loaded = read_program(ELF, "tables.elf"), read_program(HOMEBREW, "tables.3dsx")
    assert loaded.homebrew and not loaded.warnings
    for one, other in zip(linked.segments, loaded.segments, strict=True):
        assert (one.address, one.permission) == (other.address, other.permission)
        assert other.data.startswith(one.data) and not any(other.data[len(one.data) :]) and other.size >= one.size
    counts = struct.unpack_from("<6I", HOMEBREW, HEADER)
    assert min(counts[0], counts[2], counts[4]) >= 1 and counts[3] >= 10, "all kinds are there"


def test_a_3dsx_runs_and_reads_its_own_files() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    with run(PROGRAMS / "tables.3dsx") as app:
        app.frames(2)
        assert app.debug_text == TEXT.lstrip() and app.end is not None and app.end.well
    with run(PROGRAMS / "tables.3dsx", arguments=["fail"]) as app:
        app.frames(2)
        assert app.end is not None and app.end.trace[0].place.function == "sink"
        assert app.end.trace[0].place.source.startswith("tables.c:")


def test_an_elf_finds_the_files_of_the_3dsx_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    (tmp_path / "x.elf").write_bytes(ELF)
    (tmp_path / "x.3dsx").write_bytes(HOMEBREW.replace(b"hello from the RomFS", b"HELLO from the RomFS"))
    with run(tmp_path / "x.elf") as app:
        app.frames(2)
        assert app.debug_text == TEXT.lstrip().replace("hello from", "HELLO from")


def test_arguments_must_fit(tmp_path: Path) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    with pytest.raises(UsageError, match="arguments of the program take"):
        run(PROGRAMS / "tables.3dsx", arguments=["x" * 5000])


def test_names_that_are_no_text(tmp_path: Path) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    path = tmp_path / os.fsdecode(b"a\xff.3dsx")
    try:
        path.write_bytes(HOMEBREW)
    except OSError:
        pytest.skip("this host has no such names")
    with run(path) as app:
        app.frames(2)
        assert app.debug_text == TEXT.lstrip() and app.program.name == "a?.3dsx"


def test_a_start_block_at_the_end_of_the_code() -> None:
    """The words that the loader fills in would be outside of the memory."""
    from pocketgpu.guests.n3ds.abi.pages import fill_loader_page

    code = bytearray(struct.pack("<I4s", 0, b"_prm"))
    fill_loader_page(memoryview(bytearray(4096)), memoryview(code), ["x"])
    assert code == struct.pack("<I4s", 0, b"_prm")


def made(
    code: list[int], *, rodata: list[int] = (), data: list[int] = (), bss: int = 0,  # type: ignore[assignment]
    patches: dict[int, bytes] | None = None, header: int = 32, entry: int = 8,
) -> bytes:  # fmt: skip
    """A 3DSX. patches: entries by 2 * segment + kind; `entry` bytes are in a header of relocations."""
    known = patches or {}
    parts = [struct.pack(f"<{len(words)}I", *words) for words in (code, rodata, data)]
    sizes = (len(parts[0]), len(parts[1]), len(parts[2]) + bss, bss)
    heads = b"".join(
        struct.pack(f"<{entry // 4}I", *(len(known.get(entry // 4 * n + kind, b"")) // 4 for kind in range(entry // 4)))
        for n in range(3)
    )
    head = struct.pack("<4sHHII4I", b"3DSX", header, entry, 0, 0, *sizes).ljust(header, b"\0")
    return head + heads + b"".join(parts) + b"".join(known[key] for key in sorted(known))


def words_of(data: bytes, segment: int = 0, count: int = 4) -> list[int]:
    return list(struct.unpack_from(f"<{count}I", read_program(data, "x.3dsx").segments[segment].data))


def test_each_kind_of_relocation() -> None:
    one = struct.pack
    # Absolute: word 1 and 2; relative: word 0, as 32 bits, and word 3, as 31.
    data = made([0x1000, 4, 0x2008, 0x10001000], rodata=[7], patches={
        0: one("<HH", 1, 2), 1: one("<HHHH", 0, 1, 2, 1),
    })  # fmt: skip
    assert words_of(data) == [0x1000, 0x100004, 0x102008, 0x1000 - 12]
    # Backwards: from rodata to code, where bit 31 of the short form is cleared.
    data = made([1], rodata=[0, 0x10000000], patches={3: one("<HH", 0, 2)})
    assert words_of(data, 1, 2) == [0x100000000 - 0x1000, 0x80000000 - 0x1004]
    # Further counts of a longer header are of kinds that are left out.
    data = made([8], patches={0: one("<HH", 0, 1), 2: bytes(8)}, entry=12)
    assert words_of(data, 0, 1) == [0x100008]


def test_segments_follow_each_other_by_pages() -> None:
    program = read_program(made([1] * 1025, rodata=[2], data=[3], bss=0x2000), "x.3dsx")
    assert [(one.address, one.size) for one in program.segments] == [
        (0x100000, 0x2000), (0x102000, 0x1000), (0x103000, 0x3000),
    ]  # fmt: skip
    assert len(program.segments[2].data) == 0x1000, "zeros of bss take no memory of the host before they are used"
    assert [one.permission for one in program.segments] == [
        Permission.READ | Permission.EXECUTE, Permission.READ, Permission.READ | Permission.WRITE,
    ]  # fmt: skip
    assert [one.name for one in read_program(made([1]), "x.3dsx").segments] == ["code"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"3DSX", "cut in the header"), (made([1])[:40], "headers of relocations"), (made([1])[:-1], "in a segment"),
        (made([1], patches={0: bytes(4)})[:-1], "cut in the relocations"), (made([]), "without code"),
        (made([1], patches={0: struct.pack("<HH", 1024, 1)}), "outside its segment"),
        (made([1], patches={0: struct.pack("<HH", 0, 0xFFFF) * 3}), "outside its segment"),
        (made([0x10000000], patches={0: struct.pack("<HH", 0, 1)}), "no relocation has the kind 1"),
        (made([0x20000000], patches={1: struct.pack("<HH", 0, 1)}), "no relocation has the kind 2"),
        (made([1], bss=0x7FFFFFFF), "larger than the memory"), (made([1], entry=4), "no 3DSX has"),
    ],
)  # fmt: skip
def test_damaged_3dsx_files(data: bytes, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        read_program(data, "x.3dsx")
    assert caught.value.file == "x.3dsx" and caught.value.location


# -- what the longer header names -------------------------------------------------------------------------------------
def test_title_and_icon() -> None:
    about = read_program(HOMEBREW, "tables.3dsx").about
    assert about is not None and (about.title, about.publisher) == ("tables", "pocketgpu")
    assert repr(about) == "<Smdh 'tables' by 'pocketgpu'>"
    at, size, romfs = struct.unpack_from("<3I", HOMEBREW, 32)
    smdh = read_smdh(HOMEBREW[at : at + size])
    assert smdh is not None and list(smdh.titles) == ["English"]
    red, green = np.meshgrid(np.arange(48) * 31 // 47, np.arange(48) * 63 // 47)
    assert smdh.icon.array.shape == (48, 48, 3)
    assert (smdh.icon.array[..., 0] >> 3 == red).all() and (smdh.icon.array[..., 1] >> 2 == green).all()
    assert not smdh.icon.array[..., 2].any() and str(smdh.icon) == "icon: 48x48 RGB"
    assert read_program(HOMEBREW, "x").romfs == romfs


def test_a_damaged_title_is_no_reason_to_refuse_a_program() -> None:
    data = bytearray(HOMEBREW)
    struct.pack_into("<3I", data, 32, len(data) - 10, 0x36C0, len(data) + 1)
    program = read_program(bytes(data), "x.3dsx")
    assert program.about is None and program.romfs is None
    assert program.warnings == ("x.3dsx: title and icon cannot be read", "x.3dsx: the RomFS is outside of the file")


# -- ELF --------------------------------------------------------------------------------------------------------------
def segment(data: bytearray, number: int, field: int, value: int) -> None:
    """Change a word of a program header. field: 2 is the address, 5 the size in memory, 6 the flags."""
    struct.pack_into("<I", data, struct.unpack_from("<I", data, 28)[0] + 32 * number + 4 * field, value)


@pytest.mark.parametrize(
    ("number", "field", "value", "message"),
    [
        (1, 2, 0x1F000000, "not where a 3DS has programs"), (1, 2, 0x0000, "not where a 3DS has programs"),
        (3, 5, 0x05000000, "not where a 3DS has programs"), (1, 2, 0x00200000, "where it has no code"),
        (2, 2, 0x00100800, "two segments are at the same place"), (1, 6, 4, "where it has no code"),
        (1, 4, 0x00FFFFFF, "cut in a segment"), (1, 5, 4, "larger in the file"),
    ],
)  # fmt: skip
def test_damaged_elf_files(number: int, field: int, value: int, message: str) -> None:
    data = bytearray(ELF)
    segment(data, number, field, value)
    with pytest.raises(ProgramError, match=message):
        read_program(bytes(data), "x.elf")


def test_segments_that_share_a_page_become_one() -> None:
    data = bytearray(ELF)
    end = 0x100000 + read_program(ELF, "x").segments[0].size
    segment(data, 2, 2, end + 4)
    program = read_program(bytes(data), "x.elf")
    assert [one.name for one in program.segments] == ["segment 0 and segment 1", "segment 2"]
    joined = program.segments[0]
    assert joined.permission == Permission.READ | Permission.EXECUTE
    assert joined.data[end + 4 - joined.address :] == read_program(ELF, "x").segments[1].data


def test_an_elf_with_damaged_symbols_runs_without_them() -> None:
    data = bytearray(ELF)
    (at,) = struct.unpack_from("<I", data, 32)
    struct.pack_into("<I", data, at + 40 + 16, len(data))
    program = read_program(bytes(data), "x.elf")
    assert len(program.symbols) == 0 and program.warnings[0].startswith("no symbols, as the ELF is damaged")
    assert program.place(0x100000).name == "0x00100000"


def test_an_elf_of_another_processor() -> None:
    data = bytearray(ELF)
    data[18] = 183
    with pytest.raises(ProgramError, match="another processor"):
        read_program(bytes(data), "x.elf")


# -- places -----------------------------------------------------------------------------------------------------------
def test_places_of_code() -> None:
    program = read_program(HOMEBREW, "tables.3dsx", elf=ELF)
    main = program.symbols.named("main")
    assert main is not None
    place = program.place(main.address + 4)
    assert (place.function, place.offset, place.source.split(":")[0]) == ("main", 4, "tables.c")
    assert str(place) == f"main+0x4 ({place.source})" and place.line > 1 and program.place(main.address + 4) is place
    assert program.function(0x08000000) is None and str(program.place(0x08000000)) == "0x08000000"
    assert str(replace(program, symbols=type(program.symbols)()).place(main.address)) == f"{main.address:#010x}"


def test_an_elf_of_another_build_is_told() -> None:
    changed, moved = bytearray(ELF), bytearray(ELF)
    changed[0x1100] ^= 1
    segment(moved, 1, 2, 0x00200000)
    for data, message in (
        (bytes(changed), "its code differs"), (bytes(moved), "its code differs"),
        (b"\x7fELF", "it is damaged"), (b"", "it is damaged"),
    ):  # fmt: skip
        program = read_program(HOMEBREW, "x.3dsx", elf=data, elf_name="x.elf")
        assert len(program.symbols) == 0 and program.debug is None
        (warning,) = program.warnings
        assert warning.startswith("no symbols of x.elf: ") and message in warning


# -- files of other kinds ---------------------------------------------------------------------------------------------
def test_a_file_that_is_none_is_refused() -> None:
    with pytest.raises(ProgramError, match="not a program of the 3DS") as caught:
        read_program(b"int main(void) {}", "file.bin")
    assert "Known are" in str(caught.value) and "file.bin" in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "it is a folder"), (tmp_path / "absent.3dsx", "No such file"), (tmp_path / "x\0y", "cannot be read"),
    ):  # fmt: skip
        with pytest.raises(CaptureError, match=message):
            run(path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(CaptureError, match="no plain file"):
            run(tmp_path / "pipe")
    with (tmp_path / "large.3dsx").open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(CaptureError, match="larger than 1 GiB"):
        run(tmp_path / "large.3dsx")
