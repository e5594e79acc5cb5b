"""Tables that services of the 3DS use: settings, data of applets, memory of the sound processor."""

from __future__ import annotations

import struct

import pytest

from pocketgpu.facts import dsp
from pocketgpu.facts.applets import Applet
from pocketgpu.facts.n3ds import TABLES
from pocketgpu.facts.settings import SETTINGS


def test_a_setting_has_the_size_that_programs_ask_for() -> None:
    assert SETTINGS[0x000A0002] == b"\1"
    assert SETTINGS[0x000A0000].decode("utf-16-le").rstrip("\0") == "pocket" and len(SETTINGS[0x000A0000]) == 0x1C
    for row in TABLES.read("settings"):
        assert len(bytes.fromhex(row["value"])) <= int(row["size"], 0) == len(SETTINGS[int(row["number"], 0)]), row


def test_fields_of_applets_do_not_overlap() -> None:
    for name in ("keyboard", "error", "mii", "mii_answer", "capture"):
        view = Applet(name)
        rows = next(one.rows for one in TABLES.read("applets") if one["applet"] == name)
        for row in rows:
            if row["type"].startswith("text"):
                before = bytes(view.data)
                view.set_text(row["field"], "x" * 5000)
                length = int(row["type"].removeprefix("text*"))
                assert view.text(row["field"]) == "x" * length
                assert sum(a != b for a, b in zip(before, view.data, strict=True)) == length
            else:
                view[row["field"]] = 1
        assert len(view.data) == len(Applet(name).data)
        for row in rows:
            if row["type"][0] in "us":
                assert view[row["field"]] == 1, row


def test_data_of_applets_that_are_too_short_are_filled_up() -> None:
    assert Applet("keyboard", b"\1")["buttons"] == 0 and len(Applet("keyboard", b"\1").data) == 0x400
    assert len(Applet("mii", bytes(0x200)).data) == 0x200


def test_structures_of_the_sound_processor_follow_each_other() -> None:
    """The addresses of 3dbrew fit the sizes that libctru has: where a structure ends, another one begins."""
    ends = {
        "channel": dsp.SIZES["channel"] * 24, "status": dsp.SIZES["status"] * 24, "output": 160 * 2 * 2,
        "coefficients": 24 * 16 * 2,
    }  # fmt: skip
    names = [row["structure"] for row in TABLES.read("dsp") if row["field"] == "at"]
    places = dict(zip(names, dsp.ADDRESSES, strict=True))
    assert len(places) == 15
    for name, size in ends.items():
        assert places[name] + size // 2 in places.values(), name


@pytest.mark.parametrize(
    ("structure", "field", "value", "stored"),
    [("status", "position", 0x12345678, b"\x34\x12\x78\x56"), ("status", "sequence", 7, b"\7\0"),
     ("buffer", "samples", 1600, b"\0\0\x40\6")],
)  # fmt: skip
def test_fields_of_the_sound_processor(structure: str, field: str, value: int, stored: bytes) -> None:
    memory = memoryview(bytearray(64))
    dsp.write(memory, 8, structure, field, value)
    assert stored in bytes(memory) and dsp.read(memory, 8, structure, field) == value
    struct.pack_into("<f", memory, 0x34, 0.5)
    assert dsp.read(memory, 0, "channel", "rate") == 0.5
