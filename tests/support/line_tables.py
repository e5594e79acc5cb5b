"""Cubins with line tables, as NVIDIA's compiler writes them with `-lineinfo`: DWARF 2, addresses by relocation."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.bundles import offset_of

Row = tuple[int, int, int]
"""The number of an instruction, its file (from 1 on) and its line."""
_LINE_BASE, _LINE_RANGE, _FIRST_SPECIAL = -5, 14, 10
_LENGTHS = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1))
"""Operands of the standard instructions of a line program."""
TEXT, SYMBOL = 4, 1


def unsigned(value: int) -> bytes:
    """LEB128."""
    found = bytearray()
    while True:
        found.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(found)


def signed(value: int) -> bytes:
    found = bytearray()
    while True:
        byte, value = value & 127, value >> 7
        done = (value == 0 and not byte & 64) or (value == -1 and byte & 64)
        found.append(byte | (0 if done else 128))
        if done:
            return bytes(found)


def line_program(files: Sequence[str], rows: Sequence[Row], size: int) -> tuple[bytes, int]:
    """A table with one sequence, and where its address is, which a relocation sets. size: bytes of the code."""
    folders = sorted({file.rpartition("/")[0] for file in files} - {""})
    head = struct.pack("<BBbBB", 1, 1, _LINE_BASE, _LINE_RANGE, _FIRST_SPECIAL) + _LENGTHS
    head += b"".join(folder.encode() + b"\0" for folder in folders) + b"\0"
    for file in files:
        folder, _, name = file.rpartition("/")
        head += name.encode() + b"\0" + bytes((folders.index(folder) + 1 if folder else 0, 0, 0))
    head += b"\0"
    body = bytearray(b"\x00\x09\x02" + bytes(8))
    address, line, current = 0, 1, 1
    for number, file, wanted in rows:
        at = offset_of(number)
        body += b"\x02" + unsigned(at - address)  # advance_pc
        if file != current:
            body += b"\x04" + unsigned(file)
        body += b"\x03" + signed(wanted - line) + b"\x01"  # advance_line, copy
        address, line, current = at, wanted, file
    body += b"\x02" + unsigned(size - address) + b"\x00\x01\x01"  # end_sequence
    start = 4 + 2 + 4 + len(head)
    unit = struct.pack("<HI", 2, len(head)) + head + body
    return struct.pack("<I", len(unit)) + unit, start + 3


def cubin(text: str, files: Sequence[str], rows: Sequence[Row], table: bytes | None = None) -> bytes:
    """A cubin with the kernel `k`. table: instead of the one of these rows."""
    code = assemble(text).code
    made, place = line_program(files, rows, len(code))
    relocation = struct.pack("<QQ", place, SYMBOL << 32 | 2)
    names = [b"", b".shstrtab", b".strtab", b".symtab", b".text.k", b".debug_line", b".rel.debug_line"]
    strings = b"\0".join(names) + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0x10, TEXT, 0, len(code))
    data = [b"", strings, b"\0k\0", symbols, code, made if table is None else table, relocation]
    body, headers = b"", []
    for number, (name, kind, held) in enumerate(zip(names, (0, 3, 3, 2, 1, 1, 9), data, strict=True)):
        at = strings.index(b"\0" + name + b"\0") + 1 if name else 0
        info = {TEXT: 8 << 24 | 1, 6: 5}.get(number, 0)
        link = {3: 2, 6: 3}.get(number, 0)
        headers.append(struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(held), link, info, 4, 0))
        body += held
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7), 2, 190, 0x81, 0, 0, 64 + len(body), 0x350535,
        64, 56, 0, 64, len(headers), 1,
    )  # fmt: skip
    return head + body + b"".join(headers)
