"""The registers that the processor writes: what they keep, what reading them says, and what the screens show.

Source: 3dbrew GPU/External Registers; GBATEK for masks and flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.external import EXTERNAL, LCD

VRAM, FCRAM = 0x18000000, 0x20000000
GPU_BASE = 0x10400000
# Registers that start something, and what the display's colour table is written through.
ACTIVE = {"PSC0_CONTROL", "PSC1_CONTROL", "PPF_CONTROL", "PDC0_SELECT", "PDC1_SELECT", "PDC0_LUT_INDEX",
          "PDC1_LUT_INDEX",
          "PDC0_LUT_DATA", "PDC1_LUT_DATA", "STATUS"}  # fmt: skip


def test_reading_before_any_write_gives_what_system_software_leaves(gpu: Any) -> None:
    assert gpu.peek(GPU_BASE) == 0x00010002
    assert gpu.peek(GPU_BASE + 0x004) == 0x00070100
    assert (gpu.peek(GPU_BASE + 0x050), gpu.peek(GPU_BASE + 0x054)) == (0x22221200, 0xFF2)
    assert (gpu.peek(GPU_BASE + 0x0C4), gpu.peek(GPU_BASE + 0x0C8)) == (0x18000000, 0x18300000)
    assert [gpu.peek(GPU_BASE + 0x424 + 0x100 * i) for i in range(2)] == [0x19D, 0x19D]
    assert [gpu.peek(GPU_BASE + 0x470 + 0x100 * i) for i in range(2)] == [0x80340, 0x80300]
    assert gpu.peek(GPU_BASE + 0xC1C) == 0x3FFF
    assert gpu.peek(0x10401914) == 1
    assert gpu.peek(0x10401080) == 0x12345678
    assert gpu.peek(0x104010C0) == 0xFFFFFFF0


@pytest.mark.parametrize("word", [0xFFFFFFFF, 0, 0xA5A5A5A5])
def test_plain_registers_keep_their_writable_bits_only(gpu: Any, word: int) -> None:
    for register in EXTERNAL:
        if register.name in ACTIVE:
            continue
        gpu.poke(register.address, word)
        kept = gpu.peek(register.address)
        assert kept == (word & register.writable) | (register.reset & ~register.writable), register.name


def test_read_only_registers_stay_as_they_are(gpu: Any) -> None:
    gpu.poke(GPU_BASE, 0)
    gpu.poke(GPU_BASE + 0x034, 0xFFFFFFFF)
    assert gpu.peek(GPU_BASE) == 0x00010002
    assert gpu.peek(GPU_BASE + 0x034) == 0


@pytest.mark.parametrize("offset", [0x0D4, 0x4A0, 0x7FC, 0x800, 0xBFC, 0xC30, 0xFFC])
def test_unknown_offsets_read_as_last_written(gpu: Any, offset: int) -> None:
    assert gpu.peek(GPU_BASE + offset) == 0
    gpu.poke(GPU_BASE + offset, 0x12345678)
    assert gpu.peek(GPU_BASE + offset) == 0x12345678


@pytest.mark.parametrize("address", [0, 0x10000000, 0x10402000, 0x10403FFC, 0x103FFFFC, 0x10203000, VRAM, 0xFFFFFFFC])
def test_writes_where_no_register_is_are_reported(gpu: Any, address: int) -> None:
    gpu.poke(address, 0xFFFFFFFF)
    assert gpu.peek(address) == 0
    (event,) = gpu.events
    assert (event.kind, event.id) == ("fault", "external.unmapped")
    assert f"{address:#010x}" in event.message


def test_writes_in_bulk_act_in_order(gpu: Any) -> None:
    """Plain writes around a fill: it must see those before it, not those after it."""
    writes = [
        ("PSC0_START", FCRAM >> 3), ("PSC0_END", FCRAM + 32 >> 3), ("PSC0_VALUE", 1), ("PSC0_VALUE", 2),
        ("PSC0_CONTROL", 0x201), ("PSC0_VALUE", 3), ("PSC0_START", FCRAM + 16 >> 3), ("PSC0_CONTROL", 0x201),
        ("PSC0_VALUE", 4),
    ]  # fmt: skip
    addresses = np.array([EXTERNAL[name].address for name, _ in writes], np.uint32)
    gpu.n3ds.write_registers(addresses, np.array([value for _, value in writes], np.uint32))
    assert np.frombuffer(gpu.memory.read(FCRAM, 32), "<u4").tolist() == [2] * 4 + [3] * 4
    assert gpu.peek("PSC0_VALUE") == 4


def test_addresses_of_single_writes_are_cut_to_words(gpu: Any) -> None:
    gpu.poke(GPU_BASE + 0x18 + 3, 77)
    assert gpu.peek(GPU_BASE + 0x18 + 1) == 77


def test_vblank_raises_both_display_interrupts(gpu: Any) -> None:
    gpu.n3ds.take_interrupts()
    gpu.n3ds.step_vblank()
    gpu.n3ds.step_vblank()
    assert gpu.n3ds.take_interrupts() == {"PDC0": 2, "PDC1": 2}
    assert gpu.n3ds.take_interrupts() == {}


# -- screens ----------------------------------------------------------------------------------------------------------


def show(gpu: Any, address: int, select: int = 0, form: int = 1) -> None:
    gpu.poke("PDC0_ADDRESS_A0", address)
    gpu.poke("PDC0_STRIDE", 240 * (4, 3, 2, 2, 2)[form])
    gpu.poke("PDC0_FORMAT", 0x80340 | form)
    gpu.poke("PDC0_SELECT", select)


def test_first_byte_of_a_framebuffer_is_the_lower_left_pixel(gpu: Any) -> None:
    show(gpu, VRAM)
    gpu.memory.write(VRAM, b"\x01\x02\x03")  # blue, green, red
    gpu.memory.write(VRAM + 3 * 239, b"\x10\x20\x30")
    gpu.memory.write(VRAM + 720, b"\x40\x50\x60")
    picture = gpu.n3ds.screens["top"].array
    assert picture.shape == (240, 400, 3)
    assert picture[239, 0].tolist() == [3, 2, 1]
    assert picture[0, 0].tolist() == [0x30, 0x20, 0x10]
    assert picture[239, 1].tolist() == [0x60, 0x50, 0x40]
    assert int(picture.astype(int).sum()) == 6 + 0x60 + 0xF0


def test_select_chooses_the_first_or_second_address(gpu: Any) -> None:
    gpu.memory.write(VRAM, b"\xff" * 720)
    show(gpu, VRAM)
    gpu.poke("PDC0_ADDRESS_A1", VRAM + 0x100000)
    assert gpu.n3ds.screens["top"].array.any()
    gpu.poke("PDC0_SELECT", 1)
    assert not gpu.n3ds.screens["top"].array.any()


def test_interrupt_flags_of_the_display_are_cleared_by_writing_ones(gpu: Any) -> None:
    gpu.poke("PDC0_SELECT", 0x70001)
    assert gpu.peek("PDC0_SELECT") & 0x70001 == 1


def test_fill_colour_covers_the_screen(gpu: Any) -> None:
    gpu.memory.write(VRAM, b"\xff" * 720)
    show(gpu, VRAM)
    gpu.poke(LCD["TOP_FILL"].address, 0x010000FF)
    assert (gpu.n3ds.screens["top"].array == [255, 0, 0]).all()
    gpu.poke(LCD["TOP_FILL"].address, 0x000000FF)
    assert gpu.n3ds.screens["top"].array[239, 0].tolist() == [255, 255, 255]


def test_colour_table_index_counts_with_every_access(gpu: Any) -> None:
    show(gpu, VRAM)
    gpu.memory.write(VRAM, b"\x07\x07\x07")
    gpu.poke("PDC0_LUT_INDEX", 6)
    gpu.poke("PDC0_LUT_DATA", 0x00112233)
    gpu.poke("PDC0_LUT_DATA", 0x00445566)
    assert gpu.n3ds.screens["top"].array[239, 0].tolist() == [0x66, 0x55, 0x44]
    gpu.poke("PDC0_LUT_INDEX", 6)
    assert [gpu.peek("PDC0_LUT_DATA") for _ in range(2)] == [0x00112233, 0x00445566]


def test_a_rendered_frame_reaches_the_screen_upright(gpu: Any) -> None:
    """Core, transfer and scan-out together: window (0, 0) ends up at the lower left of the turned picture."""
    gpu.target(240, 400)
    gpu.draw([(-1, -1), (-0.5, -1), (-1, -0.9)], color=(1, 0, 0, 1))
    gpu.run()
    for name, value in {
        "PPF_INPUT_ADDRESS": VRAM >> 3, "PPF_OUTPUT_ADDRESS": FCRAM + 0x2000000 >> 3,
        "PPF_OUTPUT_SIZE": 400 << 16 | 240,
        "PPF_INPUT_SIZE": 400 << 16 | 240, "PPF_FLAGS": 1 << 12, "PPF_CONTROL": 1,
    }.items():  # fmt: skip
        gpu.poke(name, value)
    show(gpu, FCRAM + 0x2000000)
    picture = gpu.n3ds.screens["top"].array
    rows, columns = picture[..., 0].nonzero()
    # Window x (0..239) runs up the screen and y (0..399) leftwards: memory row 0 is window y = 399.
    assert (columns.max(), columns.min() > 370) == (399, True)
    assert (rows.max(), rows.min() > 170) == (239, True)
    assert picture[239, 399].tolist() == [255, 0, 0]
