"""The map of the external registers: what answers at each address (GPU/External Registers, "Map")."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from support.pica_gpu import Gpu

from pocketgpu.facts.external_init import start_writes
from pocketgpu.facts.pica import PICA

from .console import (
    BUSY,
    DEVICES,
    FCRAM,
    FINALIZE,
    HEAP_VA,
    PDC0,
    PDC1,
    PPF,
    PSC0,
    PSC1,
    VRAM,
    VRAM_VA,
    Console,
    both,
    explained,
)
from .gsp_client import Client

SERVICE = 0x1EB00000
"""What addresses of WriteHWRegs and ReadHWRegs are relative to."""
CORE = 0x1EF01000
COLOR = CORE + 4 * 0xC3


@pytest.fixture
def console() -> Console:
    return Console()


def by_service(console: Console, address: int, *words: int) -> tuple[int, ...]:
    """Write words with the call of the system software, and read them with the other one."""
    assert console.gsp.write_hw_regs(address - SERVICE, list(words)) == 0
    reply = console.gsp.read_hw_regs(address - SERVICE, 4 * len(words))
    assert reply.result == 0
    return struct.unpack(f"<{len(words)}I", reply.data)


# Registers of the map: address of programs, physical one, words that have a meaning of their own, and values to write
# that start nothing and that every bit of these registers keeps.
PLAIN = {
    "0x1EF00004": (0x10400004, [0x12345678]),
    "0x1EF00010": (0x10400010, [0x03000000, 0x03001000, 0x12345678, 0x200]),
    "0x1EF00020": (0x10400020, [0x03000010, 0x03001010, 0x9ABCDEF0, 0x100]),
    "0x1EF00030": (0x10400030, [0]),
    "0x1EF00050": (0x10400050, [0x01234567]),
    "0x1EF00054": (0x10400054, [0x0CBA]),
    "0x1EF000C0": (0x104000C0, [0x20000000]),
    "0x1EF00400": (0x10400400, [450, 210, 448, 447]),
    "0x1EF00500": (0x10400500, [451, 211, 449, 446]),
    "0x1EF00C00": (0x10400C00, [0x03000000, 0x04000000, 0x01900190, 0x01900198, 0x03011724]),
    "0x1EF01080": (0x10401080, [0x55667788]),
    "0x1EF010C0": (0x104010C0, [0xFFFFFF00]),
    "0x1EF010D0": (0x104010D0, [0]),
    "0x1EF014??": (0x10401400, [0x00E40100, 0x01010101, 3, 0x44332211, 0x71]),
    "0x1EF018E0": (0x104018E0, [0x10, 0x20, 0x04000000, 0x03000000]),
}


@pytest.mark.parametrize("row", [pytest.param(row, marks=both(f"map.{row}"), id=row) for row in PLAIN])
def test_programs_see_the_physical_registers_at_their_own_address(console: Console, row: str) -> None:
    """Three ways lead there: the program's address, the physical one, and the calls of the system software."""
    physical, words = PLAIN[row]
    virtual = int(row.replace("??", "00"), 16)
    assert virtual - physical == DEVICES
    assert by_service(console, virtual, *words) == tuple(words)
    for n, word in enumerate(words):
        assert console.n3ds.read_register(physical + 4 * n) == console.read(virtual + 4 * n) == word
    assert not console.events


@both("map.0x1EF00004")
def test_004_is_kept_and_has_no_effect(console: Console, capsys: Any) -> None:
    """Unknown to both revisions. GBATEK: clocks and timing of video memory; `regs` names who says so."""
    for word in (0, 0xFFFFFFFF):
        console.write(0x1EF00004, word)
        assert console.read(0x1EF00004) == word
        assert console.fill(0, VRAM, VRAM + 16, word) == {"PSC0": 1}
        assert console.get(VRAM, 16) == struct.pack("<4I", *[word] * 4)
    told = explained(capsys, "0x1EF00004", "0x00010100")
    assert (told["address"], told["source"], told["certainty"]) == (0x10400004, "GBATEK", "gbatek")


# -- fill ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "first"),
    [pytest.param(n, a, marks=both(f"map.{a:#010x}".replace("0x1ef", "0x1EF"))) for n, a in ((0, PSC0), (1, PSC1))],
)
def test_sixteen_bytes_of_a_fill_unit_are_what_gx_command_2_writes(console: Console, unit: int, first: int) -> None:
    client = Client(console)
    words = [2, *[0] * 7]
    words[1 + 3 * unit : 4 + 3 * unit] = VRAM_VA + 0x100, 0x89ABCDEF, VRAM_VA + 0x140
    words[7] = 0x201 << 16 * unit
    assert client.run(*words) == 0
    expected = [VRAM + 0x100 >> 3, VRAM + 0x140 >> 3, 0x89ABCDEF, 0x202]
    assert [console.read(first + 4 * n) for n in range(4)] == expected
    assert console.get(VRAM + 0x100, 0x44) == bytes.fromhex("efcdab89") * 16 + bytes(4)
    # The other unit, and what lies beyond the sixteen bytes, know nothing of it.
    other = PSC1 if unit == 0 else PSC0
    assert [console.read(other + 4 * n) for n in range(4)] == [0] * 4
    assert client.entries() == [unit]


# -- busy ------------------------------------------------------------------------------------------------------------


def put_units_to_work(console: Console) -> dict[str, int]:
    """Run each unit once; what the register said afterwards, by unit."""
    said = {}
    console.fill(0, VRAM, VRAM + 16, 1)
    said["psc0"] = console.read(BUSY)
    console.fill(1, VRAM, VRAM + 16, 1)
    said["psc1"] = console.read(BUSY) & ~said["psc0"]
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), 0)
    said["ppf"] = console.read(BUSY) & ~(said["psc0"] | said["psc1"])
    console.run_list(FINALIZE * 2)
    said["p3d"] = console.read(BUSY) & ~(said["psc0"] | said["psc1"] | said["ppf"])
    return said


@pytest.mark.row("ext.map.0x1EF00034", "ext2.map.0x1EF00034")
def test_034_has_a_bit_of_each_unit(console: Console) -> None:
    """Bit 26 is PSC0 and 27 PSC1, which the first revision has the other way round; 30 PPF, 31 P3D. Both revisions
    call the bits "busy"; measured (GBATEK), they are the interrupts that wait to be acknowledged."""
    assert console.read(BUSY) == 0
    assert put_units_to_work(console) == {"psc0": 1 << 26, "psc1": 1 << 27, "ppf": 1 << 30, "p3d": 1 << 31}
    console.write(BUSY, 0)
    assert console.read(BUSY) == 0xCC000000  # read only
    for address, left in ((PSC0 + 0xC, 0xC8000000), (PPF + 0x18, 0x88000000), (CORE, 0x08000000), (PSC1 + 0xC, 0)):
        console.write(address, 0)
        assert console.read(BUSY) == left


# -- the system's start ----------------------------------------------------------------------------------------------


INITIAL = {
    "0x1EF00004": 0x00070100,  # a driver library's; the page has no value
    "0x1EF00050": 0x22221200,
    "0x1EF00054": 0xFF2,
    "0x1EF01080": 0x12345678,
    "0x1EF010C0": 0xFFFFFFF0,
    "0x1EF010D0": 1,
}


@pytest.mark.parametrize("row", [pytest.param(row, marks=both(f"map.{row}"), id=row) for row in INITIAL])
def test_values_that_are_written_when_the_gpu_is_initialised(console: Console, row: str) -> None:
    """A new machine has them, and the table of start-up writes puts them where they are not."""
    address, value = int(row, 16), INITIAL[row]
    assert console.read(address) == value
    console.write(address, 0 if value else 0x77)
    assert console.read(address) != value
    for offset, word, mask in start_writes():
        if 0x1EF00000 + offset == address:
            console.write(address, console.read(address) & ~mask | word & mask)
            break
    else:
        pytest.fail("no start-up write to this address")
    assert console.read(address) == value


@pytest.mark.row("ext2.map.0x1EF01000.2", "ext.map.0x1EF01000")
def test_a_0_in_1000_acknowledges_the_last_list(console: Console) -> None:
    """Unknown to the page beyond that it is written before a list is run. GBATEK: it takes back the request bytes that
    raised the interrupt (they are the same storage as 0x1EF01040), so that only the next list raises it again."""
    client = Client(console)
    assert start_writes()[0] == (0x1000, 0, 0xFFFFFFFF)
    assert console.run_list(FINALIZE * 2) == {"P3D": 1}
    assert console.read(BUSY) == 1 << 31 and console.read(CORE + 0x40) == 0x12345678
    console.write(CORE, 0)
    assert console.read(BUSY) == 0 and console.read(CORE + 0x40) == 0
    # GX command 1 does it: after a list that asks for no interrupt none is pending.
    console.run_list(FINALIZE * 2)
    console.put(FCRAM, struct.pack("<4I", 1, 0x000F00C3, 2, 0x000F00C3))
    assert client.run(1, HEAP_VA, 16) == 0
    assert (console.read(BUSY), console.read(COLOR)) == (0, 2)


@pytest.mark.row("ext.map.0x1EF01080", "ext2.map.0x1EF01080")
def test_1080_is_what_the_end_of_a_list_is_compared_with(console: Console) -> None:
    """Unknown to the page. GBATEK: a write to register 0x010 raises the interrupt if one of its bytes is equal."""
    assert console.run_list(FINALIZE * 2) == {"P3D": 1}
    console.write(0x1EF01080, 0xA0B0C0D0)
    assert console.run_list(FINALIZE * 2) == {}
    for word in (0xA0B0C0D0, 0xA0345678, 0x123456D0):
        assert console.run_list((word, 0x000F0010) * 2) == {"P3D": 1}


@pytest.mark.row("ext.map.0x1EF010C0", "ext2.map.0x1EF010C0")
def test_10c0_chooses_the_bytes_that_count(console: Console) -> None:
    """Unknown to the page. GBATEK: a 1 takes a request byte out, so 0xFFFFFFF0 leaves the four of register 0x010."""
    for mask, word, raised in (
        (0xFFFFFFF0, 0x12000000, True), (0xFFFFFFF8, 0x12000000, False), (0xFFFFFFFE, 0x00000078, True),
        (0xFFFFFFFE, 0x12345600, False), (0xFFFFFFFF, 0x12345678, False),
    ):  # fmt: skip
        console.write(CORE, 0)
        console.write(0x1EF010C0, mask)
        assert console.run_list((word, 0x000F0010) * 2) == ({"P3D": 1} if raised else {})


@pytest.mark.row("ext.map.0x1EF010D0", "ext2.map.0x1EF010D0")
@pytest.mark.parametrize(("stop", "color"), [(1, 1), (0, 2)])
def test_10d0_stops_lists_at_their_end(console: Console, stop: int, color: int) -> None:
    """Unknown to the page. GBATEK: with 1 a list ends where it raises the interrupt, with 0 it goes on."""
    console.write(0x1EF010D0, stop)
    assert console.run_list((1, 0x000F00C3, *FINALIZE, 2, 0x000F00C3, 3, 0x000F0042)) == {"P3D": 1}
    assert console.read(COLOR) == color


# -- the internal registers ------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.map.0x1EF01000")
def test_from_1000_on_stand_the_internal_registers(console: Console) -> None:
    """Four bytes for each id. What a list writes is read there, and what is written there a list finds.

    Left out are ids that do something when written, and those of the shader units, which can go to both at once.
    """
    plain = [
        register.offset
        for register in PICA
        if 0x280 > register.offset >= 0x40 and not register.trigger and register.known
    ]
    plain = [number for number in plain if PICA[number].access == "rw" and not 0x238 <= number < 0x23E]
    assert len(plain) > 230
    values = {number: 0x5A000000 | number * 0x111 & PICA[number].writable for number in plain}
    values = {number: value & PICA[number].writable for number, value in values.items()}
    words = [word for number, value in values.items() for word in (value, 0x000F0000 | number)]
    console.run_list([*words, *FINALIZE, *FINALIZE])
    assert {number: console.read(CORE + 4 * number) for number in plain} == values
    for number in plain:
        console.write(CORE + 4 * number, ~values[number] & PICA[number].writable)
    # A list that writes only the lowest byte of each keeps the others, as the processor wrote them.
    console.run_list([word for number in plain for word in (0, 0x00010000 | number)] + [*FINALIZE, *FINALIZE])
    expected = {number: ~values[number] & PICA[number].writable & 0xFFFFFF00 for number in plain}
    assert {number: console.read(CORE + 4 * number) for number in plain} == expected


@pytest.mark.row("ext2.map.0x1EF01000", "ext2.map.0x1EF018E0", "ext.map.0x1EF018E0")
def test_lists_are_started_through_internal_registers_too(console: Console) -> None:
    """The registers "P3D" at 0x1EF018E0 are the ids 0x238 to 0x23D: a list can start another one with them."""
    assert console.read(CORE + 4 * 0x238) == console.read(0x1EF018E0)
    second = FCRAM + 0x1000
    console.put(second, struct.pack("<4I", 0x777, 0x000F00C3, *FINALIZE))
    jump = [16 >> 3, 0x000F0239, second >> 3, 0x000F023B, 1, 0x000F023D, 0x999, 0x000F00C3]
    assert console.run_list(jump) == {"P3D": 1}
    assert console.read(COLOR) == 0x777
    assert (console.read(0x1EF018E4), console.read(0x1EF018EC)) == (2, second >> 3)


@pytest.mark.row("ext.map.0x1EF014??", "ext2.map.0x1EF014??")
def test_at_1400_stand_the_output_stage_and_not_the_transfer_engine(capsys: Any) -> None:
    """The page guesses "PPF", the transfer engine, whose registers are at 0x1EF00C00. By the rule for internal
    registers these five are ids 0x100 to 0x104: how a pixel is blended and whether it passes."""
    gpu = Gpu(8, 8)
    engine = [gpu.n3ds.read_register(0x10400C00 + at) for at in range(0, 0x30, 4)]
    gpu.run()
    names = []
    for n, word in enumerate((0x00E40100, 0x01010000, 3, 0xFF204080, 0x0000)):
        gpu.n3ds.write_register(0x10401400 + 4 * n, word)
        names.append(explained(capsys, f"{0x1EF01400 + 4 * n:#x}")["name"])
    assert names == ["COLOR_OPERATION", "BLEND_FUNC", "LOGIC_OP", "BLEND_COLOR", "FRAGOP_ALPHA_TEST"]
    # Blending with the factor "constant colour": white becomes that colour.
    gpu.n3ds.write_register(0x10401404, 0x0A0A0000)
    gpu.quad(color=(1, 1, 1, 1))
    assert gpu.one_color() == [0x80, 0x40, 0x20, 0xFF]
    # The alpha test "never": nothing is drawn.
    gpu.put_color(np.zeros((8, 8), np.uint32))
    gpu.n3ds.write_register(0x10401410, 0x0001)
    gpu.quad(color=(1, 1, 1, 1))
    assert gpu.one_color() == [0, 0, 0, 0]
    assert engine == [gpu.n3ds.read_register(0x10400C00 + at) for at in range(0, 0x30, 4)]


# -- units with registers of their own -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "shown", "other"),
    [
        pytest.param(PDC0, "top", "bottom", marks=both("map.0x1EF00400"), id="PDC0"),
        pytest.param(PDC1, "bottom", "top", marks=both("map.0x1EF00500"), id="PDC1"),
    ],
)
def test_each_display_controller_has_a_screen(console: Console, base: int, shown: str, other: str) -> None:
    console.put(FCRAM, b"\xc0" * (720 * 400))
    for at, value in ((0x68, FCRAM), (0x6C, FCRAM), (0x90, 720), (0x70, 0x80341 if shown == "top" else 0x80301)):
        console.write(base + at, value)
    console.n3ds.step_vblank()
    screens = console.n3ds.screens
    assert (screens[shown].array == 0xC0).all() and not screens[other].array.any()
    assert console.n3ds.take_interrupts() == {"PDC0": 1, "PDC1": 1}


@both("map.0x1EF00400", "map.0x1EF00500")
def test_controllers_are_0x100_bytes_apart(console: Console) -> None:
    for at in range(0, 0x100, 4):
        first, second = (console.n3ds.read_register(base - DEVICES + at) for base in (PDC0, PDC1))
        if at in (0x00, 0x1C, 0x24, 0x60, 0x74):
            assert first == second != 0
        console.write(PDC0 + at, 0x00000155)
        if at not in (0x84,):
            assert console.read(PDC1 + at) == second


@both("map.0x1EF00C00")
def test_the_transfer_engine_is_what_gx_commands_3_and_4_write(console: Console) -> None:
    client = Client(console)
    console.put(VRAM, b"\xaa" * 256)
    assert client.run(3, VRAM_VA, HEAP_VA, 8 << 16 | 8, 8 << 16 | 8, 0) == 0
    assert console.get(FCRAM, 256) == b"\xaa" * 256 and console.read(PPF + 0x18) == 0x100
    console.put(FCRAM, bytes(256))
    console.write(PPF + 0x18, 1)  # the registers still hold the command
    assert console.get(FCRAM, 256) == b"\xaa" * 256
    assert client.run(4, VRAM_VA, HEAP_VA + 0x1000, 128, 0, 0, 8) == 0
    assert console.get(FCRAM + 0x1000, 144) == b"\xaa" * 128 + bytes(16)
    console.put(FCRAM + 0x1000, bytes(256))
    console.write(PPF + 0x18, 1)
    assert console.get(FCRAM + 0x1000, 144) == b"\xaa" * 128 + bytes(16)


@both("map.0x1EF00C00")
@pytest.mark.parametrize("mirror", [0x100, 0x200, 0x300])
def test_the_transfer_engine_answers_up_to_1000(console: Console, mirror: int) -> None:
    """The page leaves the length open. GBATEK: twelve registers that come again every 0x100 bytes."""
    console.put(VRAM, b"\xaa" * 64)
    for at, word in ((0x00, VRAM >> 3), (0x04, FCRAM >> 3), (0x10, 8), (0x20, 64), (0x24, 0), (0x28, 0), (0x18, 1)):
        console.write(PPF + mirror + at, word)
    assert console.get(FCRAM, 80) == b"\xaa" * 64 + bytes(16)
    assert console.fired() == {"PPF": 1}
    for at in range(0, 0x30, 4):
        assert console.read(PPF + mirror + at) == console.read(PPF + at)


@both("map.0x1EF018E0")
def test_the_command_list_registers_are_what_gx_command_1_writes(console: Console) -> None:
    client = Client(console)
    console.put(FCRAM, struct.pack("<4I", 0x111, 0x000F00C3, *FINALIZE))
    assert client.run(1, HEAP_VA, 16) == 0
    words = [console.read(0x1EF018E0 + 4 * n) for n in range(5)]
    assert (words[0], words[2], words[4]) == (16 >> 3, FCRAM >> 3, 0)
    console.put(FCRAM, struct.pack("<I", 0x222))
    console.write(0x1EF018F0, 1)
    assert console.read(COLOR) == 0x222
