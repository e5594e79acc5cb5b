"""The tables of the graphics module are consistent with themselves and with the other tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture.formats.gxlog import start_state
from pocketgpu.facts import external_init, gsp
from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA


@pytest.mark.parametrize("layout", [gsp.INTERRUPT_QUEUE, gsp.FRAMEBUFFER_INFO, gsp.GX_QUEUE], ids=lambda x: x.name)
def test_cells_fit_their_block(layout: gsp.BlockLayout) -> None:
    taken: set[int] = set()
    for cell in layout.cells:
        place = set(range(cell.offset, cell.offset + cell.size))
        assert not place & taken and max(place) < layout.size
        taken |= place
        assert layout[cell.name] is cell
    with pytest.raises(KeyError):
        layout["nothing"]


def test_blocks_do_not_overlap() -> None:
    taken: set[int] = set()
    for layout, screens in ((gsp.INTERRUPT_QUEUE, 1), (gsp.FRAMEBUFFER_INFO, 2), (gsp.GX_QUEUE, 1)):
        for client in range(gsp.CLIENTS):
            for screen in range(screens):
                start = layout.start(client, screen)
                place = set(range(start, start + layout.size))
                assert not place & taken and max(place) < gsp.SHARED_SIZE
                taken |= place
    assert gsp.INTERRUPT_QUEUE.start(3) == 0xC0
    assert (gsp.FRAMEBUFFER_INFO.start(1, 0), gsp.FRAMEBUFFER_INFO.start(1, 1)) == (0x280, 0x2C0)
    assert gsp.GX_QUEUE.start(2) == 0xC00


def test_rings_have_their_documented_sizes() -> None:
    assert gsp.INTERRUPT_QUEUE["entries"].size == gsp.RELAY_SIZE == 0x34
    assert gsp.RELAY_PDC_LIMIT == 0x20
    assert gsp.GX_QUEUE["slots"].size == 15 * 32
    assert gsp.FRAMEBUFFER_INFO["entry0"].size == gsp.FRAMEBUFFER_INFO["entry1"].size == 4 * len(gsp.ENTRY_WORDS)


def test_commands() -> None:
    assert [command.id for command in gsp.GX_COMMANDS] == [0, 1, 2, 3, 4, 5]
    for command in gsp.GX_COMMANDS:
        assert len(command.words) == 7
        assert set(command.interrupts) <= set(gsp.INTERRUPTS)
        assert command.aligned == (command.name not in ("RequestDMA", "FlushCacheRegions"))
        for word in command.words:
            assert word.kind in ("address", "end", "size", "value", "pair", "flags", "unused")
    fill = gsp.GX_COMMANDS[2]
    assert [fill.word(name) for name in ("start0", "value0", "end0", "start1", "value1", "end1", "control")] == [
        *range(1, 8)
    ]
    with pytest.raises(KeyError):
        fill.word("size")


def test_interrupts() -> None:
    assert gsp.INTERRUPTS == ("PSC0", "PSC1", "PDC0", "PDC1", "PPF", "P3D", "DMA")
    assert set(gsp.INTERRUPT_DOCS) == set(gsp.INTERRUPTS)


def test_calls() -> None:
    assert [call.id for call in gsp.CALLS] == list(range(1, 0x20))
    assert len({call.name for call in gsp.CALLS}) == len(gsp.CALLS)
    for call in gsp.CALLS:
        if call.request or not call.stub:
            assert len(call.request) == call.plain_words + call.descriptor_words, call.name
    swap = next(call for call in gsp.CALLS if call.name == "SetBufferSwap")
    assert swap.request == ("screen", *gsp.ENTRY_WORDS)


def test_every_call_that_is_no_stub_is_a_method() -> None:
    names = {
        "ReadHWRegs": "read_hw_regs", "WriteHWRegs": "write_hw_regs", "WriteHWRegsWithMask": "write_hw_regs_with_mask",
        "WriteHWRegRepeat": "write_hw_reg_repeat", "SetAxiConfigQoSMode": "set_axi_config_qos_mode",
    }  # fmt: skip
    for call in gsp.CALLS:
        name = names.get(call.name) or "".join(f"_{c.lower()}" if c.isupper() else c for c in call.name).lstrip("_")
        assert call.stub or hasattr(pocketgpu.pica.gsp.Gsp, name), call.name


def test_result_codes() -> None:
    assert len(gsp.RESULTS) == 14
    documented = (0xE0E02A01, 0xE0E02BEC, 0xE0E02BF2, 0xE0E02BF5, 0xC8402BF0, 0xD8202A06)
    assert all(gsp.RESULTS[code].certainty is Certainty.DOC and gsp.RESULTS[code].failed for code in documented)
    assert not gsp.RESULTS[0x2A07].failed and not gsp.RESULTS[0].failed
    for result in gsp.RESULTS.values():
        assert (result.certainty is Certainty.UNKNOWN) == (result.source == gsp.OURS)
        if result.failed:
            assert result.value >> 10 & 0xFF == 10  # they all come from the same module of the system


def test_start_up_leaves_what_the_register_tables_say() -> None:
    written: dict[int, int] = {}
    for offset, value, mask in external_init.start_writes():
        written[offset] = (written.get(offset, 0) & ~mask) | (value & mask)
    for offset, value in written.items():
        if offset >= 0x1000:
            register = PICA[(offset - 0x1000) // 4]
            assert register.name == "IRQ_ACK0" or external_init.CORE_START[register.name] == value
        elif offset & 0xFF not in (0x68, 0x6C, 0x78):
            register = EXTERNAL[offset]
            assert register.reset & register.writable == value & register.writable, register.name


def test_the_start_state_is_that_of_a_recording(shared_dir: Path) -> None:
    trace = pocketgpu.open(shared_dir / "captures" / "3ds" / "simple_tri.ctf.xz").trace
    ours = start_state()
    names = [register for register in EXTERNAL if register.name.startswith(("PDC", "PSC"))]
    for register in names:
        at = register.offset // 4
        assert ours.external[at] == trace.initial.external[at], register.name
    assert np.array_equal(ours.pica[:0x30], trace.initial.pica[:0x30])
    assert np.array_equal(ours.pica[0x32:], trace.initial.pica[0x32:])
    assert ours.lcd[LCD["TOP_FILL"].offset // 4] == 0
    assert not ours.vs_code.any() and not ours.gs_uniforms.any()


def test_the_start_state_is_that_of_a_new_machine() -> None:
    fresh, loaded = pocketgpu.N3DS(), pocketgpu.N3DS()
    loaded.load_initial(**vars(start_state()))
    skipped = ("PDC1_ADDRESS", "PDC0_LUT", "PDC1_LUT")
    for block in (EXTERNAL, LCD, PICA):
        for register in block:
            if not register.name.startswith(skipped):
                address = register.address
                assert fresh.read_register(address) == loaded.read_register(address), register.name
