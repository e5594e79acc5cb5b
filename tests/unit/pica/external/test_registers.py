"""The registers that the processor writes: what they keep, what reading them says, and what the screens show.

Source: 3dbrew GPU/External Registers; GBATEK for masks and flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.external_init import INITS
from pocketgpu.pica.n3ds import N3DS

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


@pytest.mark.parametrize("address", [0, 0x10000000, 0x10500000, 0x103FFFFC, 0x10203000, VRAM, 0xFFFFFFFC])
def test_writes_where_no_register_is_are_reported(gpu: Any, address: int) -> None:
    gpu.poke(address, 0xFFFFFFFF)
    assert gpu.peek(address) == 0
    (event,) = gpu.events
    assert (event.kind, event.id) == ("fault", "external.unmapped")
    assert f"{address:#010x}" in event.message


@pytest.mark.parametrize(
    "address, kind, id",
    [
        (0x10400600, "hang", "external.hang"),
        (0x104007FC, "hang", "external.hang"),
        (0x10400800, "fault", "external.abort"),
        (0x10400BFC, "fault", "external.abort"),
        (0x10402000, "fault", "external.abort"),
        (0x10403FFC, "fault", "external.abort"),
    ],
)
def test_where_nothing_answers_reads_and_writes_are_reported(gpu: Any, address: int, kind: str, id: str) -> None:
    assert gpu.peek(address) == 0
    gpu.poke(address, 1)
    (event,) = gpu.events
    assert (event.kind, event.id, event.count) == (kind, id, 2)
    assert f"{address:#010x}" in event.message


@pytest.mark.parametrize(
    "offset, home", [(0x134, 0x034), (0x250, 0x050), (0x31C, 0x01C), (0xE10, 0xC10), (0xF18, 0xC18)]
)
def test_registers_answer_at_their_mirrors(gpu: Any, offset: int, home: int) -> None:
    for word in (0x01234566, 0xFEDCBA98):  # nothing is started
        gpu.poke(GPU_BASE + offset, word)
        assert gpu.peek(GPU_BASE + offset) == gpu.peek(GPU_BASE + home)
        writable = EXTERNAL[home].writable & ~(1 | EXTERNAL[home].trigger * 0x102)
        assert gpu.peek(GPU_BASE + home) & writable == word & writable
    assert len(gpu.events) == 0


def test_a_fill_can_be_started_through_the_mirror(gpu: Any) -> None:
    for n, word in enumerate((FCRAM >> 3, FCRAM + 64 >> 3, 0x01020304, 0x201)):
        gpu.poke(GPU_BASE + 0x110 + 4 * n, word)
    assert gpu.memory.read(FCRAM, 64) == bytes([4, 3, 2, 1]) * 16
    assert gpu.peek(GPU_BASE + 0x21C) == 0x202


@pytest.mark.parametrize("bit, bank, side", [(8, 0, 0), (9, 0, 8), (10, 1, 0), (11, 1, 8)])
def test_half_a_bank_without_power_loses_what_it_held(make_gpu: Any, bit: int, bank: int, side: int) -> None:
    gpu = make_gpu()
    gpu.memory.write(VRAM, b"\xff" * (6 << 20))
    gpu.poke("VRAM_POWER", 1 << bit)
    assert gpu.peek("VRAM_POWER") == 1 << bit
    rows = np.frombuffer(gpu.memory.read(VRAM, 6 << 20), np.uint8).reshape(2, -1, 16)
    lost = np.zeros(rows.shape, bool)
    lost[bank, :, side : side + 8] = True
    assert (rows[lost] == 0).all() and (rows[~lost] == 255).all()
    assert [event.id for event in gpu.events] == ["vram.off"]
    # What units write there is lost; with power again, only what was written since then is there.
    start = VRAM + bank * (3 << 20)
    for name, word in (("START", start >> 3), ("END", start + 32 >> 3), ("VALUE", 0x01010101), ("CONTROL", 0x201)):
        gpu.poke(f"PSC0_{name}", word)
    half = [0] * 8, [1] * 8
    assert list(gpu.memory.read(start, 16)) == (half[0] + half[1] if side == 0 else half[1] + half[0])
    gpu.poke("VRAM_POWER", 0)
    gpu.poke("PSC0_CONTROL", 0x201)
    assert gpu.memory.read(start, 32) == b"\x01" * 32
    kept = make_gpu(vram__power_off="keep")
    kept.memory.write(VRAM, b"\xff" * 64)
    kept.poke("VRAM_POWER", 0xF00)
    assert kept.memory.read(VRAM, 64) == b"\xff" * 64


def test_traffic_counters_count_bytes(gpu: Any) -> None:
    for unit, size in ((0, 4096), (1, 96)):
        for name, word in (("START", FCRAM >> 3), ("END", FCRAM + size >> 3), ("VALUE", 0), ("CONTROL", 0x201)):
            gpu.poke(f"PSC{unit}_{name}", word)
    copy = {"PPF_INPUT_ADDRESS": FCRAM >> 3, "PPF_OUTPUT_ADDRESS": VRAM >> 3, "PPF_COPY_SIZE": 160, "PPF_FLAGS": 8}
    # 64x64 from RGBA8 to RGB565, each pixel the mean of four.
    scale = {**copy, "PPF_OUTPUT_SIZE": 64 << 16 | 64, "PPF_INPUT_SIZE": 64 << 16 | 64, "PPF_FLAGS": 0x02002000}
    for words in (copy, scale):
        for name, word in {**words, "PPF_CONTROL": 1}.items():
            gpu.poke(name, word)
    counts = {name: gpu.peek(f"TRAFFIC_{name}") for name in ("PSC0_WRITE", "PSC1_WRITE", "PPF_READ", "PPF_WRITE")}
    assert counts == {
        "PSC0_WRITE": 4096,
        "PSC1_WRITE": 96,
        "PPF_READ": 160 + 64 * 64 * 4,
        "PPF_WRITE": 160 + 32 * 32 * 2,
    }
    gpu.poke("TRAFFIC_PSC0_WRITE", 7)
    assert gpu.peek("TRAFFIC_PSC0_WRITE") == 4096
    assert gpu.peek("TRAFFIC_TEXTURE_READ") == 0


def test_which_model_it_is() -> None:
    def identity(**arguments: Any) -> int:
        return N3DS(**arguments).read_register(GPU_BASE)

    assert identity() == identity(model="old") == 0x00010002
    assert identity(model="new") == identity(fcram=256 << 20) == 0x00010006
    assert identity(model="old", fcram=256 << 20) == 0x00010002
    assert identity(model="new", switches={"external.hardware_id": "constant"}) == 0x00010002
    with pytest.raises(UsageError):
        N3DS(model="newest")


def test_backlights_as_registers_set_them(gpu: Any) -> None:
    light = gpu.n3ds.backlights["bottom"]
    assert (light.period, light.enabled, light.may_turn_off) == (0x23E, True, False)
    gpu.poke(LCD["BOTTOM_BACKLIGHT"].address, 0x11F)
    gpu.poke("BACKLIGHT", 0)
    assert gpu.n3ds.backlights["bottom"].level == 0.5
    assert gpu.n3ds.backlights["top"].level == 0
    assert gpu.n3ds.backlights["bottom"].may_turn_off
    gpu.poke(LCD["BOTTOM_BACKLIGHT_PWM"].address, 0x23E)
    assert gpu.n3ds.backlights["bottom"].level == 0


@pytest.mark.parametrize("name", INITS)
def test_sets_of_initial_values_are_what_registers_then_hold(gpu: Any, name: str) -> None:
    gpu.n3ds.initialise(name)
    for address, value in INITS[name].values.items():
        ack = 0x10401000
        assert gpu.peek(address) == value or address == ack, hex(address)
    with pytest.raises(UsageError):
        gpu.n3ds.initialise("nothing")


def test_a_select_bit_that_reads_as_zero(make_gpu: Any) -> None:
    for reading, read in (("stored", 1), ("zero", 0)):
        gpu = make_gpu(display__select_read=reading)
        gpu.memory.write(VRAM + 0x300000, b"\xff" * 720)
        gpu.n3ds.initialise("nngx")
        gpu.poke("PDC0_STRIDE", 720)
        gpu.poke("PDC0_FORMAT", 0x80341)
        assert gpu.peek("PDC0_SELECT") == read
        assert gpu.n3ds.screens["top"].array.any()


@pytest.mark.parametrize("unit, kept", [("16", 0xFFFFFFF0), ("8", 0xFFFFFFF8)])
def test_low_bits_of_the_stride(make_gpu: Any, unit: str, kept: int) -> None:
    gpu = make_gpu(display__stride_unit=unit)
    gpu.poke("PDC1_STRIDE", 0xFFFFFFFF)
    assert gpu.peek("PDC1_STRIDE") == kept


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
