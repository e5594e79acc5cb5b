"""Files that are no homebrew of a console, by what they are: each has its own name and a word on what to do."""

from __future__ import annotations

from typing import Final, NamedTuple

_RUN: Final = "Run a .3dsx, .nro or .elf of homebrew."
_OTHER_CONSOLE: Final = "That is a program of another console. " + _RUN
_CAPTURE: Final = "pocketgpu render shows captures."
_UNPACK: Final = "Unpack it, and run the .3dsx, .nro or .elf in it."
_INSTALLED: Final = "Titles that are installed or sold are not run, and nothing is decrypted. " + _RUN


class _Stranger(NamedTuple):
    """Bytes at an offset, what has them, and what to do."""

    offset: int
    magic: bytes
    name: str
    hint: str


_STRANGERS: Final = (
    _Stranger(0x100, b"NCSD", "a CCI file (.3ds, .cci: the image of a game card)", _INSTALLED),
    _Stranger(0x100, b"NCCH", "an NCCH file (.cxi, .app)", _INSTALLED),
    _Stranger(0, b"\x20\x20\0\0", "a CIA file (.cia: a title to be installed)", _INSTALLED),
    _Stranger(0, b"PFS0", "an NSP file (.nsp: a title of the Switch)", _INSTALLED),
    _Stranger(0x100, b"HEAD", "an XCI file (.xci: a game card of the Switch)", _INSTALLED),
    _Stranger(0, b"NSO0", "an NSO file (.nso: code of the Switch)", _INSTALLED),
    _Stranger(0xC0, b"\x24\xff\xae\x51\x69\x9a\xa2\x21", "a program of the Nintendo DS (.nds)", _OTHER_CONSOLE),
    _Stranger(0x4, b"\x24\xff\xae\x51\x69\x9a\xa2\x21", "a program of the Game Boy Advance (.gba)", _OTHER_CONSOLE),
    _Stranger(0, b"\0\0\x01\0\0\0", "a program of the GameCube or the Wii (.dol)", _OTHER_CONSOLE),
    _Stranger(0, b"FIRM", "a FIRM file (firmware of a 3DS)", _INSTALLED),
    _Stranger(0, b"SMDH", "an SMDH file (title and icon of a program)", _RUN),
    _Stranger(0, b"IVFC", "a RomFS image (files of a program)", _RUN),
    _Stranger(0, b".CRO", "a CRO file (a library of a 3DS)", _RUN),
    _Stranger(0x80, b"CRO0", "a CRO file (a library of a 3DS)", _RUN),
    _Stranger(0, b"DVLB", "an SHBIN file (a shader of the 3DS)", _RUN + " pocketgpu shader shows shaders."),
    _Stranger(0, b"\x89PGC", "a capture (.pgc)", _CAPTURE),
    _Stranger(0, b"CiTr", "a capture (CiTrace)", _CAPTURE),
    _Stranger(0, b"PK\x03\x04", "a zip archive", _UNPACK),
    _Stranger(0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _Stranger(0, b"Rar!", "a rar archive", _UNPACK),
    _Stranger(0, b"\x1f\x8b", "a gzip file", _UNPACK),
    _Stranger(0, b"\xfd7zXZ\0", "an xz file", _UNPACK),
    _Stranger(0, b"\x28\xb5\x2f\xfd", "a zstd file", _UNPACK),
    _Stranger(0, b"BZh", "a bzip2 file", _UNPACK),
    _Stranger(0, b"MZ", "a program of Windows (.exe)", _RUN),
    _Stranger(0, b"\xca\xfe\xba\xbe", "a program of a Mac", _RUN),
    _Stranger(0, b"\xcf\xfa\xed\xfe", "a program of a Mac", _RUN),
    _Stranger(0, b"!<arch>\n", "a library of object files (.a)", "Link it to a program. " + _RUN),
    _Stranger(0, b"\x89PNG", "a PNG file (a picture)", _RUN),
    _Stranger(0, b"\xff\xd8\xff", "a JPEG file (a picture)", _RUN),
    _Stranger(0, b"GIF8", "a GIF file (a picture)", _RUN),
    _Stranger(0, b"%PDF", "a PDF file", _RUN),
    _Stranger(0, b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "Fetch it: git lfs pull."),
    _Stranger(0, b"<!DOCTYPE", "a web page", "Download the file itself."),
    _Stranger(0, b"<html", "a web page", "Download the file itself."),
)
_ENCRYPTED_SAMPLE: Final = 4096
_LEAST_KINDS: Final = 250
"""Different bytes among 4096: random ones have all 256, and programs hardly ever more than 230."""


def refusal(data: bytes) -> tuple[str, str]:
    """Why a file is not run, and what to do."""
    if not data:
        return "the file is empty", "Copy or build it again."
    for one in _STRANGERS:
        if data[one.offset : one.offset + len(one.magic)] == one.magic:
            return f"{one.name} is not run", one.hint
    if not any(data[:_ENCRYPTED_SAMPLE]):
        return "not a program of a console: it begins with zeros", "Copy or build the file again."
    sample = data[:_ENCRYPTED_SAMPLE]
    if len(sample) == _ENCRYPTED_SAMPLE and len(set(sample)) >= _LEAST_KINDS:
        return "not a program of a console: it is encrypted or packed", "Nothing is decrypted. " + _RUN
    return "not a program of a 3DS or a Switch", "Known are .3dsx, .nro, .elf and .axf."
