"""Records: fields of bytes at offsets, as tables say."""

from __future__ import annotations

import struct

import pytest

from pocketgpu.facts.dialect.records import RecordTable
from pocketgpu.facts.dialect.tables import Entry, Tables

ROWS: dict[str, tuple[str, list[tuple[str, str, str, str]]]] = {
    "Mixed": ("0x30", [
        ("small", "0x00", "u8", "7"), ("signed", "0x04", "s32", "-2"), ("wide", "0x08", "u64", "0x123456789A"),
        ("pairs", "0x10", "u16*3/8", "1,2,3"), ("name", "0x28", "bytes*4", "abc"), ("word", "0x2C", "text*2", ""),
    ]),
    "Plain": ("0x4", [("value", "0x0", "u32", "")]),
}  # fmt: skip


class FakeTables(Tables):
    """Tables that are not in files."""

    def __init__(self) -> None:
        super().__init__("nowhere")

    def read(self, name: str) -> list[Entry]:
        return [
            Entry({"record": record, "size": size}, tuple(
                dict(zip(("field", "offset", "type", "value"), row, strict=True)) for row in rows
            ))
            for record, (size, rows) in ROWS.items()
        ]  # fmt: skip


RECORDS = RecordTable(FakeTables(), "test")


def test_a_new_record_holds_what_its_table_says() -> None:
    one = RECORDS.make("Mixed")
    assert (one["small"], one["signed"], one["wide"], one.numbers("pairs")) == (7, -2, 0x123456789A, (1, 2, 3))
    assert one.part("name") == b"abc\0" and one.text("word") == "" and RECORDS.size("Mixed") == len(one.data) == 0x30
    assert bytes(RECORDS.make("Mixed", b"\1").data) == b"\1".ljust(0x30, b"\0"), "given bytes are filled up with zeros"


def test_fields_are_stored_where_they_lie() -> None:
    one = RECORDS.make("Mixed", b"")
    one["signed"], one["wide"] = -1, 1 << 63
    one.set_number("pairs", 2, 0xABCD)
    one.set_part("name", b"longer")
    one.set_text("word", "xyz")
    wanted = bytearray(0x30)
    struct.pack_into("<iQ", wanted, 4, -1, 1 << 63)
    struct.pack_into("<H", wanted, 0x20, 0xABCD)
    wanted[0x28:0x30] = b"long" + "xy".encode("utf-16-le")
    assert one.data == wanted and one.text("word") == "xy"
    assert repr(one) == "<Record Mixed: 48 bytes>"


def test_numbers_that_do_not_fit_are_errors() -> None:
    one = RECORDS.make("Plain")
    with pytest.raises(struct.error):
        one["value"] = 1 << 32
    with pytest.raises(KeyError):
        one["nothing"] = 1
