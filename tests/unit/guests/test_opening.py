"""Which console a file is for, and what lies beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.guests.kernel.elf_program import ProgramError
from pocketgpu.guests.opening import beside, kind_of, package

TESTS = Path(__file__).resolve().parents[2]


def at(offset: int, magic: bytes) -> bytes:
    return bytes(offset) + magic + bytes(0x200)


@pytest.mark.parametrize(
    ("name", "console", "place"),
    [("guests/n3ds/framebuffers.elf", "3DS", "/3ds/x"), ("guests/switch/hello.elf", "Switch", "/switch/x"),
     ("guests/switch/hello.nro", "Switch", "/switch/x")],
)  # fmt: skip
def test_a_console_is_known_by_first_bytes(name: str, console: str, place: str) -> None:
    kind = kind_of((TESTS / name).read_bytes(), name)
    assert (kind.console, kind.place("x")) == (console, place)
    assert kind_of(b"3DSX", "x").console == "3DS"
    assert kind.provider.read_program((TESTS / name).read_bytes(), name).segments


def test_files_beside_a_program(tmp_path: Path) -> None:
    for suffix, other, code in ((".3dsx", ".nro", b"\x28\0"), (".nro", ".3dsx", b"\xb7\0")):
        folder = tmp_path / suffix
        folder.mkdir()
        elf = folder / "app.elf"
        elf.write_bytes(b"\x7fELF" + bytes(14) + code)
        assert package(elf) == elf and beside(elf) is None
        (folder / "app.3dsx").write_bytes(b"3DSX")
        (folder / "app.nro").write_bytes(at(0x10, b"NRO0"))
        assert package(elf) == folder / f"app{suffix}" != folder / f"app{other}"
        assert beside(folder / f"app{suffix}") == elf
        (folder / f"app{suffix}").write_bytes(b"something else")
        assert package(elf) == elf
        elf.write_bytes(b"no ELF")
        assert beside(folder / f"app{suffix}") is None


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        (b"", "the file is empty", "Copy or build"), (at(0x100, b"NCSD"), "CCI file", "nothing is decrypted"),
        (at(0x100, b"NCCH"), "NCCH file", "Run a .3dsx"), (at(0, b"\x20\x20\0\0"), "CIA file", "Run a .3dsx"),
        (at(0, b"PFS0"), "NSP file", "nothing is decrypted"), (at(0x100, b"HEAD"), "XCI file", "Run a .3dsx"),
        (at(0, b"NSO0"), "NSO file", ".nro"), (at(0, b"PK\x03\x04"), "a zip archive", "Unpack it"),
        (at(0xC0, b"\x24\xff\xae\x51\x69\x9a\xa2\x21"), "Nintendo DS", "another console"),
        (at(0, b"\0\0\x01\0\0\0"), "GameCube or the Wii", "another console"), (at(0, b"\x1f\x8b"), "gzip", "Unpack"),
        (at(0, b"MZ"), "Windows", ".3dsx"), (at(0, b"7z\xbc\xaf\x27\x1c"), "7z", "Unpack"),
        (at(0, b"CiTr"), "a capture", "pocketgpu render"), (at(0, b"<!DOCTYPE"), "web page", "Download"),
        (bytes(5000), "begins with zeros", "Copy"), (b"int main(void) {}", "not a program of a 3DS", "Known are"),
        (bytes(range(256)) * 20, "encrypted or packed", "Nothing is decrypted"),
    ],
)  # fmt: skip
def test_files_of_other_kinds_are_refused_by_name(data: bytes, message: str, hint: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        kind_of(data, "file.bin")
    assert hint in str(caught.value) and "file.bin" in str(caught.value)
